"""Everything a report shows, as one plain dict: what JSON has, Markdown tells and the page draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ragways
from ragways.core.plain import to_plain
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.report.breakevens import breakevens_data
from ragways.evaluation.report.comparisons import TELLING, best_of, comparisons_data, telling_first
from ragways.evaluation.report.costs import COSTS, costs_data
from ragways.evaluation.report.duels import duels_data
from ragways.evaluation.report.questions import questions_data
from ragways.evaluation.report.runs import Run, read_runs
from ragways.evaluation.report.timeline import timeline_data
from ragways.evaluation.score import Scored, gaps, score


def report_data(folders: Sequence[Path], *, baseline: str = "") -> dict[str, Any]:
    """One or more runs side by side. `missing` says of each section that is not there why, and how to get it."""
    runs = read_runs(folders)
    rows = [row for run in runs for row in run.rows]
    metrics = telling_first(_metrics(rows))
    found: dict[str, Any] = {
        "comparisons": comparisons_data(rows, metrics, baseline=baseline),
        "timeline": _timeline(runs),
        "tools": _tools(rows),
        "duels": duels_data(runs),
        "breakevens": breakevens_data(runs, next((one for one in metrics if one.name in TELLING), None)),
    }
    costs, figures = costs_data(runs), score(rows)
    data = {
        "ragways": ragways.__version__,
        "runs": [run.data() for run in runs],
        "asked": len({row.record.question for row in rows}),
        "notes": _notes(rows),
        "paradigms": list(dict.fromkeys(row.record.paradigm for row in rows)),
        "types": sorted({type for row in figures for type in row.by_type}),
        "metrics": [_metric(one) for one in metrics],
        "main": [one.name for one in metrics if one.name in TELLING],
        "costs": _known(costs),
        "rows": [to_plain(row) | costs[row.paradigm] for row in figures],
        "gaps": [to_plain(gap) | {"whose": gap.whose} for gap in gaps(figures)],
        "best": best_of(figures, found["comparisons"]),
        **{name: section for name, section in found.items() if section},
        "missing": {name: why for name, why in MISSING.items() if not found.get(name)},
    }
    finite: dict[str, Any] = _finite(data)
    return finite | questions_data(rows)


_NAMED = 8
MISSING = {
    "comparisons": "there is one paradigm, and nothing to compare it with: ragways eval run --paradigms NAME,NAME",
    "timeline": "CPU and memory were not sampled in this run: they are when it is made with ragways eval run",
    "tools": "no answer called a tool: only agents do (ragways eval run --paradigms agent)",
    "duels": "no duel was run: ragways eval duel RUN",
    "breakevens": "no layer or answer cost a token, or there is one paradigm: ragways eval run --paradigms NAME,NAME",
}


def _notes(rows: Sequence[Scored]) -> list[str]:
    """What a reader must know before setting one mean beside another."""
    asked: dict[str, set[str]] = {}
    for row in rows:
        asked.setdefault(row.record.paradigm, set()).add(row.record.question)
    every = set().union(*asked.values())
    few = [f"{name} {len(some):,}" for name, some in asked.items() if len(some) < len(every)]
    if not few:
        return []
    more = f" and {len(few) - _NAMED} more" if len(few) > _NAMED else ""
    return [
        f"Not every paradigm was asked all {len(every):,} questions ({', '.join(few[:_NAMED])}{more}): their means are "
        "over different questions. Comparisons take only those that both were asked."
    ]


def _metrics(rows: Sequence[Scored]) -> list[Metric]:
    return [find_metric(name) for name in dict.fromkeys(name for row in rows for name in row.values)]


def _metric(one: Metric) -> dict[str, Any]:
    return {"name": one.name, "family": one.family, "summary": one.summary, "less_is_better": one.less_is_better}


def _known(costs: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Kinds of cost that tell paradigms apart: where all are free, nothing is to be weighed against it."""
    return {name: said for name, said in COSTS.items() if any(one["cost"].get(name) for one in costs.values())}


def _timeline(runs: Sequence[Run]) -> list[dict[str, Any]]:
    from ragways.evaluation.resources.sampler import samples_of

    drawn = [(run.name, timeline_data(list(samples_of(run.folder)), run.paradigms)) for run in runs]
    return [{"run": name, **line} for name, line in drawn if line is not None]


def _tools(rows: Sequence[Scored]) -> list[dict[str, Any]]:
    """Calls of each tool, by paradigm, in all and for an answer."""
    found: dict[str, dict[str, int]] = {}
    answers: dict[str, int] = {}
    for row in rows:
        record = row.record
        if record.error:
            continue
        answers[record.paradigm] = answers.get(record.paradigm, 0) + 1
        for tool, calls in record.tools.items():
            counts = found.setdefault(record.paradigm, {})
            counts[tool] = counts.get(tool, 0) + calls
    return [
        {"paradigm": name, "answers": answers[name], "calls": dict(sorted(calls.items()))}
        for name, calls in found.items()
    ]


def _finite(value: Any) -> Any:  # noqa: ANN401
    """Without what JSON has no word for, and no more digits than anyone reads."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value
