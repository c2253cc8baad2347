"""What the answers of each paradigm cost, and its share of what building the index cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragways.core.plain import to_plain
from ragways.evaluation.record import RunInfo
from ragways.evaluation.report.runs import Run
from ragways.evaluation.resources.sampler import samples_of
from ragways.evaluation.resources.usage import ParadigmUsage, usage

COSTS = {
    "tokens": "tokens per answer",
    "usd": "US dollars per answer",
    "cpu": "CPU seconds per answer",
    "seconds": "seconds per answer (median)",
    "evidence": "tokens of evidence per answer",
    "tokens_with_index": "tokens per answer with its share of the index",
    "usd_with_index": "US dollars per answer with its share of the index",
}
"""The first that is known is shown first. CPU stands before seconds, which hang on what else the machine did."""


def costs_data(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """By paradigm: `use` is all that is known, `cost` a figure for each kind of cost that is known."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        about = RunInfo.read(run.folder)
        built = about.construction if about is not None and about.construction else None
        for name, use in usage(run.records, built=built, samples=samples_of(run.folder)).items():
            here = run.paradigms[name]
            found[here] = {"use": to_plain(use) | {"paradigm": here}, "cost": _cost(use)}
    return found


def _cost(use: ParadigmUsage) -> dict[str, float]:
    full = use.with_construction
    cost = {
        "tokens": use.total.tokens,
        "usd": use.total.usd,
        "seconds": use.seconds_p50,
        "cpu": use.cpu,
        "evidence": use.evidence,
        "tokens_with_index": full.tokens if full is not None else None,
        "usd_with_index": full.usd if full is not None else None,
    }
    return {name: value for name, value in cost.items() if value is not None}
