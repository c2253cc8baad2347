"""The values of a paradigm by question and repeat. What has no value says why, and is counted."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from statistics import median

from ragways.core.types import title_name
from ragways.evaluation.record import Record, Score

NO_REASON = "no reason given"
NOT_ASKED = "not asked"
NOT_A_NUMBER = "not a number"
FAILED = "failed"
"""The reason where there is no answer."""

Value = float | Score | None
"""A number, or a score that may have none; None has no reason."""
Values = Mapping[str, Sequence[Value]]
"""By question, a value for each repeat."""


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """Counts of a paradigm's answers by one metric. `answers` = `scored` + all of `unscored` + `failed`.

    `questions` are those asked of any paradigm, `not_asked` those of them that this one never got; `scored_questions`
    have a value in at least one repeat. `median`, `low` and `high` are of the means of the `repeats`.
    """

    questions: int
    scored_questions: int
    not_asked: int
    answers: int
    scored: int
    failed: int
    unscored: Mapping[str, int] = field(default_factory=dict)
    repeats: int = 0
    median: float | None = None
    low: float | None = None
    high: float | None = None


def gather(records: Iterable[Record], metric: str) -> dict[str, dict[str, list[Value]]]:
    """By paradigm and question, the values of one metric in the order of the repeats."""
    found: dict[str, dict[str, dict[int, Value]]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        score = record.values.get(metric, Score(None, "the metric was not computed"))
        found[record.paradigm][record.question][record.repeat] = Score(None, FAILED) if record.error else score
    return {
        paradigm: {question: [values[repeat] for repeat in sorted(values)] for question, values in questions.items()}
        for paradigm, questions in found.items()
    }


def source_documents(records: Iterable[Record]) -> dict[str, tuple[str, ...]]:
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


def number(value: Value) -> float | None:
    """The value as a finite number; None where there is none."""
    plain = value.value if isinstance(value, Score) else value
    return float(plain) if plain is not None and math.isfinite(plain) else None


def reason(value: Value) -> str:
    """Why a value is no number."""
    if isinstance(value, Score) and value.value is None:
        return value.why or NO_REASON
    return NO_REASON if value is None else NOT_A_NUMBER


def count(values: Values, questions: Iterable[str] = ()) -> ScoreCounts:
    """Counts of what was scored; `questions` are all that were asked of any paradigm."""
    answers = [value for row in values.values() for value in row]
    gaps = Counter(reason(value) for value in answers if number(value) is None)
    every = set(values) | set(questions)
    repeats = max((len(row) for row in values.values()), default=0)
    columns = [known([row[at] for row in values.values() if at < len(row)]) for at in range(repeats)]
    means = [math.fsum(column) / len(column) for column in columns if column]
    return ScoreCounts(
        questions=len(every),
        scored_questions=sum(bool(known(row)) for row in values.values()),
        not_asked=sum(not values.get(question) for question in every),
        answers=len(answers),
        scored=len(answers) - gaps.total(),
        failed=gaps.pop(FAILED, 0),
        unscored=dict(sorted(gaps.items())),
        repeats=repeats,
        median=median(means) if means else None,
        low=min(means, default=None),
        high=max(means, default=None),
    )


def averaged(values: Values) -> tuple[dict[str, float], dict[str, str]]:
    """The mean of each question over its repeats that were scored; and for the others, why they have none."""
    found: dict[str, float] = {}
    gaps: dict[str, str] = {}
    for question, row in values.items():
        if numbers := known(row):
            found[question] = math.fsum(numbers) / len(numbers)
        else:
            gaps[question] = "; ".join(sorted(set(map(reason, row)))) or NOT_ASKED
    return found, gaps


def known(row: Iterable[Value]) -> list[float]:
    """Those of the repeats that were scored."""
    return [found for value in row if (found := number(value)) is not None]


def unscored_share(row: Sequence[Value]) -> float:
    """The share of the repeats that were not scored."""
    return 1 - len(known(row)) / len(row)


def filled(row: Sequence[Value], value: float) -> float:
    """The mean over all repeats, had those without a value this one."""
    numbers = known(row)
    return math.fsum([*numbers, *[value] * (len(row) - len(numbers))]) / len(row)


def span_of(rows: Iterable[Sequence[Value]]) -> tuple[float, float]:
    """Between which values a metric lies: 0 and 1, or −1 and 1, as most do; else the least and the largest seen."""
    numbers = [number for row in rows for number in known(row)]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (-1.0, 1.0) if low >= -1 and high <= 1 else (low, high)
