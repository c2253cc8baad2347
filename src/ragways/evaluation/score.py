"""Figures of a run, computed from its records alone, so that they can be computed again at any time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ragways.evaluation.exact import EXACT
from ragways.evaluation.intervals import interval
from ragways.evaluation.ranking import USUAL as RANKINGS
from ragways.evaluation.record import Record

Scored = Callable[[Record], float | None]


def metrics() -> dict[str, Scored]:
    """Every metric that needs no model, by name."""
    found: dict[str, Scored] = dict(EXACT)
    for metric in RANKINGS:
        found[str(metric)] = lambda record, metric=metric: metric.score(record.ranks)  # type: ignore[misc]
    return found


def score(records: Iterable[Record]) -> list[dict[str, Any]]:
    """A row a paradigm: means with intervals, by question type too, counts of scored and unscored, and what it cost."""
    by_paradigm: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_paradigm[record.paradigm].append(record)
    return [_row(name, rows) for name, rows in by_paradigm.items()]


def _row(name: str, rows: Sequence[Record]) -> dict[str, Any]:
    answered = [row for row in rows if not row.error]
    types = sorted({row.type for row in answered if row.type})
    return {
        "paradigm": name,
        "records": len(rows),
        "failed": len(rows) - len(answered),
        "metrics": {metric: _figure(answered, value) for metric, value in metrics().items()},
        "by_type": {
            type: {metric: _figure([r for r in answered if r.type == type], EXACT[metric]) for metric in EXACT}
            for type in types
        },
        "resources": _resources(answered),
    }


def _figure(rows: Sequence[Record], metric: Scored) -> dict[str, Any]:
    values = [value for row in rows if (value := metric(row)) is not None]
    if not values:
        return {"mean": None, "n": 0, "unscored": len(rows)}
    low, high = interval(values)
    return {"mean": sum(values) / len(values), "low": low, "high": high, "n": len(values),
            "unscored": len(rows) - len(values)}  # fmt: skip


def _resources(rows: Sequence[Record]) -> dict[str, float]:
    import numpy as np

    if not rows:
        return {}
    seconds = [row.seconds for row in rows]
    return {
        "calls": float(np.mean([row.usage["calls"] for row in rows])),
        "input": float(np.mean([row.usage["input"] for row in rows])),
        "output": float(np.mean([row.usage["output"] for row in rows])),
        "evidence": float(np.mean([row.usage["evidence"] for row in rows])),
        "usd": float(np.sum([row.usage["usd"] for row in rows])),
        "seconds_p50": float(np.percentile(seconds, 50)),
        "seconds_p95": float(np.percentile(seconds, 95)),
        "cpu": float(np.mean([row.cpu for row in rows])),
    }
