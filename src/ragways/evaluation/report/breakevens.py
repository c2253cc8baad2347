"""After how many questions a layer has paid for itself, in every run that knows what its index cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragways.core.plain import to_plain
from ragways.evaluation.metric import Metric
from ragways.evaluation.record import RunInfo
from ragways.evaluation.report.runs import Run
from ragways.evaluation.resources.usage import usage
from ragways.evaluation.resources.worth import break_evens
from ragways.evaluation.statistics.comparison import compare_all
from ragways.evaluation.statistics.values import gather


def breakevens_data(runs: Sequence[Run], metric: Metric | None) -> dict[str, Any] | None:
    """Soonest first. None where nothing was paid for: then every layer pays from the first question."""
    lines = [line for run in runs for line in _lines(run, metric)] if metric is not None else []
    return {"metric": metric.name, "lines": lines} if metric is not None and lines else None


def _lines(run: Run, metric: Metric) -> list[dict[str, Any]]:
    about = RunInfo.read(run.folder)
    uses = usage(run.records, built=about.construction if about is not None else None)
    work_cache = any(
        use.total.tokens or (use.construction is not None and use.construction.tokens) for use in uses.values()
    )
    if about is None or not about.construction or not work_cache or len(uses) < 2:
        return []
    named = {run.paradigms[name]: replace(use, paradigm=run.paradigms[name]) for name, use in uses.items()}
    compared = compare_all(
        gather(run.rows, metric.name), metric=metric.name, less_is_better=metric.less_is_better
    )  # fmt: skip
    return [{"run": run.name, **to_plain(even)} for even in break_evens(named, compared.rows, about.construction)]
