"""What a paradigm scored, question by question and repeat by repeat. What has no score says why, and is counted."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from statistics import median
from typing import Protocol

from ragways.core.types import title_name
from ragways.evaluation.question import Gold

NO_REASON = "no reason given"
NOT_ASKED = "not asked"
NOT_A_NUMBER = "not a number"


@dataclass(frozen=True, slots=True)
class Unscored:
    """Why there is no value: the metric says so, or (`failed`) there is no answer."""

    why: str = NO_REASON
    failed: bool = False


Value = float | Unscored | None
Values = Mapping[str, Sequence[Value]]
"""By question, a value for each repeat. None is `Unscored()`."""


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """Of a paradigm's answers to one metric. `answers` = `scored` + all of `unscored` + `failed`.

    `questions` are those asked of any paradigm, `not_asked` those of them that this one never got; `scored_questions`
    have a value in at least one repeat.
    """

    questions: int
    scored_questions: int
    not_asked: int
    answers: int
    scored: int
    failed: int
    unscored: Mapping[str, int] = field(default_factory=dict)


class _Record(Protocol):
    @property
    def question(self) -> str: ...
    @property
    def paradigm(self) -> str: ...
    @property
    def repeat(self) -> int: ...
    @property
    def error(self) -> str: ...
    @property
    def wanted(self) -> Sequence[Gold]: ...


class _Score(Protocol):
    @property
    def value(self) -> float | None: ...
    @property
    def why(self) -> str: ...


class ScoredRecord(Protocol):
    """A record with its values by metric."""

    @property
    def record(self) -> _Record: ...
    @property
    def values(self) -> Mapping[str, _Score]: ...


def gather(scored: Iterable[ScoredRecord], metric: str) -> dict[str, dict[str, list[Value]]]:
    """By paradigm and question, the values of one metric in the order of the repeats."""
    found: dict[str, dict[str, dict[int, Value]]] = defaultdict(lambda: defaultdict(dict))
    for one in scored:
        record = one.record
        found[record.paradigm][record.question][record.repeat] = _value(one, metric)
    return {
        paradigm: {question: [values[repeat] for repeat in sorted(values)] for question, values in questions.items()}
        for paradigm, questions in found.items()
    }


def source_documents(records: Iterable[_Record]) -> dict[str, tuple[str, ...]]:
    """By question, the documents that it shares with others: a cluster is made of those whose first one is the same.

    Questions that share none are left out. Of several documents that which most questions are about comes first: to put
    all together that are joined by any chain of documents would make one cluster of a whole set.
    """
    about: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for gold in record.wanted:
            if name := gold.key or title_name(gold.title) or gold.text or gold.quote:
                about[name].add(record.question)
    shared = {name: questions for name, questions in about.items() if len(questions) > 1}
    first: dict[str, str] = {}
    waiting = [(-len(questions), name) for name, questions in shared.items()]
    heapify(waiting)
    while waiting:
        size, name = heappop(waiting)
        left = shared[name] - first.keys()
        if len(left) == -size:
            first.update(dict.fromkeys(left, name))
        elif left:
            heappush(waiting, (-len(left), name))
    found = {question: [name] for question, name in first.items()}
    for name, questions in sorted(shared.items()):
        for question in questions:
            if name != first[question]:
                found[question].append(name)
    return {question: tuple(names) for question, names in found.items()}


def _value(one: ScoredRecord, metric: str) -> Value:
    if one.record.error:
        return Unscored(one.record.error, failed=True)
    score = one.values.get(metric)
    if score is None:
        return Unscored("the metric was not computed")
    return score.value if score.value is not None else Unscored(score.why or NO_REASON)


def lacking(value: Value) -> Unscored | None:
    """Why this is no value to reckon with, or None where it is one."""
    if value is None:
        return Unscored()
    if isinstance(value, Unscored):
        return value
    return None if math.isfinite(value) else Unscored(NOT_A_NUMBER)


def count(values: Values, questions: Iterable[str] = ()) -> ScoreCounts:
    """Counts of what was scored; `questions` are all that were asked of any paradigm."""
    answers = [value for row in values.values() for value in row]
    gaps = [gap for value in answers if (gap := lacking(value)) is not None]
    every = set(values) | set(questions)
    return ScoreCounts(
        questions=len(every),
        scored_questions=sum(any(lacking(value) is None for value in row) for row in values.values()),
        not_asked=sum(not values.get(question) for question in every),
        answers=len(answers),
        scored=len(answers) - len(gaps),
        failed=sum(gap.failed for gap in gaps),
        unscored=dict(sorted(Counter(gap.why for gap in gaps if not gap.failed).items())),
    )


def averaged(values: Values) -> tuple[dict[str, float], dict[str, str]]:
    """The mean of each question over its repeats that were scored; and for the others, why they have none."""
    found: dict[str, float] = {}
    gaps: dict[str, str] = {}
    for question, row in values.items():
        numbers = known(row)
        if numbers:
            found[question] = math.fsum(numbers) / len(numbers)
        else:
            gaps[question] = _why(row)
    return found, gaps


def known(row: Sequence[Value]) -> list[float]:
    """Those of the repeats that were scored."""
    return [float(value) for value in row if lacking(value) is None]  # type: ignore[arg-type]


def filled(row: Sequence[Value], value: float) -> float:
    """The mean over all repeats, had those without a value this one."""
    numbers = known(row)
    return math.fsum([*numbers, *[value] * (len(row) - len(numbers))]) / len(row)


def span_of(rows: Iterable[Sequence[Value]]) -> tuple[float, float]:
    """Between which values a metric lies: 0 and 1, or −1 and 1, as most do; else the least and the largest seen."""
    numbers = [number for row in rows for number in known(row)]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (-1.0, 1.0) if low >= -1 and high <= 1 else (low, high)


def _why(row: Sequence[Value]) -> str:
    reasons = sorted({"failed" if gap.failed else gap.why for value in row if (gap := lacking(value)) is not None})
    return "; ".join(reasons) or NOT_ASKED


@dataclass(frozen=True, slots=True)
class Repeats:
    """`means` of the repeats in their order, None where none of its answers was scored; `scored`: of how many each."""

    means: tuple[float | None, ...]
    scored: tuple[int, ...]
    median: float | None
    low: float | None
    high: float | None


def over_repeats(values: Values) -> Repeats:
    """Of one paradigm and one metric."""
    repeats = max((len(row) for row in values.values()), default=0)
    columns = [[float(row[at]) for row in values.values()  # type: ignore[arg-type]
                if at < len(row) and lacking(row[at]) is None] for at in range(repeats)]  # fmt: skip
    means = tuple(_mean(column) for column in columns)
    known = [mean for mean in means if mean is not None]
    return Repeats(
        means=means,
        scored=tuple(map(len, columns)),
        median=median(known) if known else None,
        low=min(known, default=None),
        high=max(known, default=None),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
