"""Figures of a run, computed from its records and judgements alone, so that they can be computed again at any time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragways.evaluation.about import About
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.resources.samples import Sample, Samples
from ragways.evaluation.resources.usage import Use, usage
from ragways.evaluation.scored import Scored, scored
from ragways.evaluation.statistics.inference import interval

UNTYPED = "(none)"
"""What questions without a type are called where others have one."""
SIGNED = frozenset({"crag-coarse", "crag-fine"})
"""Metrics from −1 to 1: their means are no shares, even where no answer happened to be wrong."""


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
    return {
        "paradigm": name,
        "records": len(rows),
        "questions": len({row.record.question for row in rows}),
        "repeats": len({row.record.repeat for row in rows}),
        **_failed(rows),
        "metrics": _figures(answered, rows[0].values),
        "by_type": _by_type(rows),
        "resources": used.data(),
    }


def _failed(rows: Sequence[Scored]) -> dict[str, int]:
    """Answers that failed, and questions of which every answer did: these are in no mean and in no other count."""
    answered = {row.record.question for row in rows if not row.record.error}
    return {
        "failed": sum(bool(row.record.error) for row in rows),
        "failed_questions": len({row.record.question for row in rows} - answered),
    }


def _by_type(rows: Sequence[Scored]) -> dict[str, Any]:
    """The figures of each type by metric, with its own count of what failed: all of its answers may have."""
    by: dict[str, list[Scored]] = defaultdict(list)
    for row in rows:
        by[row.record.type or UNTYPED].append(row)
    if set(by) == {UNTYPED}:
        return {}
    return {
        type: {**_failed(some), **_figures([row for row in some if not row.record.error], some[0].values)}
        for type, some in sorted(by.items())
    }


def _figures(rows: Sequence[Scored], names: Iterable[str]) -> dict[str, Any]:
    return {name: _figure(rows, name) for name in names}


def _figure(rows: Sequence[Scored], name: str) -> dict[str, Any]:
    """The mean over questions, each the mean of its repeats, so that repeats do not make an interval look narrow.

    `n` and `unscored_questions`, those without a value in any repeat, count questions; `unscored` and `why` answers.
    """
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
    without = {row.record.question for row in rows} - found.keys()
    unscored = {"unscored": sum(why.values()), "unscored_questions": len(without), "why": dict(sorted(why.items()))}
    if not found:
        return {"mean": None, "n": 0, **unscored}
    values = [sum(some) / len(some) for some in found.values()]
    low, high = interval(values, share=name not in SIGNED)
    return {"mean": sum(values) / len(values), "low": low, "high": high, "n": len(values), **unscored,
            **_over_repeats(by_repeat)}  # fmt: skip


def _over_repeats(by_repeat: dict[int, list[float]]) -> dict[str, Any]:
    """Median and range of the repeats' means, where there was more than one."""
    from statistics import median

    if len(by_repeat) < 2:
        return {}
    means = [sum(values) / len(values) for values in by_repeat.values()]
    return {"repeats": {"median": median(means), "least": min(means), "most": max(means)}}
