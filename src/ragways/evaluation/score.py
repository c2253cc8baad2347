"""Figures of a run, computed from its records and judgements alone, so that they can be computed again at any time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragways.evaluation.about import About
from ragways.evaluation.intervals import interval
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.resources.samples import Sample, Samples
from ragways.evaluation.resources.usage import Use, usage
from ragways.evaluation.scored import Scored, scored


def score(
    run: Iterable[Scored],
    *,
    built: Mapping[str, Mapping[str, float]] | None = None,
    samples: Iterable[Sample] = (),
) -> list[dict[str, Any]]:
    """A row a paradigm: means with intervals, by question type too; counts of scored, unscored by reason and failed;
    what it cost, with what the index had cost (`built`) and the machine's load (`samples`) where they are known.
    """
    by_paradigm: dict[str, list[Scored]] = defaultdict(list)
    for one in run:
        by_paradigm[one.record.paradigm].append(one)
    records = [row.record for rows in by_paradigm.values() for row in rows]
    used = usage(records, built=built, samples=samples)
    return [_row(name, rows, used[name]) for name, rows in by_paradigm.items()]


def score_run(folder: Path, *more: Metric) -> list[dict[str, Any]]:
    """The rows of a run, with all that its folder tells."""
    about = About.read(folder)
    return score(scored(folder, *more), built=about.construction if about else None, samples=Samples(folder))


def _row(name: str, rows: Sequence[Scored], used: Use) -> dict[str, Any]:
    answered = [row for row in rows if not row.record.error]
    types = sorted({row.record.type for row in answered if row.record.type})
    return {
        "paradigm": name,
        "records": len(rows),
        "questions": len({row.record.question for row in rows}),
        "repeats": len({row.record.repeat for row in rows}),
        "failed": len(rows) - len(answered),
        "metrics": _figures(answered, rows[0].values),
        "by_type": {
            type: _figures([row for row in answered if row.record.type == type], rows[0].values) for type in types
        },
        "resources": used.data(),
    }


def _figures(rows: Sequence[Scored], names: Iterable[str]) -> dict[str, Any]:
    return {name: _figure(rows, name) for name in names}


def _figure(rows: Sequence[Scored], name: str) -> dict[str, Any]:
    """The mean over questions, each the mean of its repeats, so that repeats do not make an interval look narrow."""
    found: dict[str, list[float]] = defaultdict(list)
    by_repeat: dict[int, list[float]] = defaultdict(list)
    why: Counter[str] = Counter()
    for row in rows:
        one: Score = row.values[name]
        if one.value is None:
            why[one.why] += 1
        else:
            found[row.record.question].append(one.value)
            by_repeat[row.record.repeat].append(one.value)
    unscored = {"unscored": sum(why.values()), "why": dict(sorted(why.items()))}
    if not found:
        return {"mean": None, "n": 0, **unscored}
    values = [sum(some) / len(some) for some in found.values()]
    low, high = interval(values)
    return {"mean": sum(values) / len(values), "low": low, "high": high, "n": len(values), **unscored,
            **_over_repeats(by_repeat)}  # fmt: skip


def _over_repeats(by_repeat: dict[int, list[float]]) -> dict[str, Any]:
    """Median and range of the repeats' means, where there was more than one."""
    from statistics import median

    if len(by_repeat) < 2:
        return {}
    means = [sum(values) / len(values) for values in by_repeat.values()]
    return {"repeats": {"median": median(means), "least": min(means), "most": max(means)}}
