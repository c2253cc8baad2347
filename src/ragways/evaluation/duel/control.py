"""The positive control of a judge: answers against answers to other questions, which must lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ragways.evaluation.duel.lengths import TOLERANCE, apart
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.sitting import ORDERS, Sitting
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.normal import normal
from ragways.evaluation.record import Record


def controls(drawn: Sequence[Record], rules: Rules) -> list[Sitting]:
    """Of the answers drawn for the judge's test as many as it takes, both orders; more often where they are few.

    Answers that are known to be right come first: a wrong one need not win against anything.
    """
    ordered = sorted(drawn, key=lambda record: not _right(record, answer_of(record)))  # stable: else as they were drawn
    pairs = list(islice(_pairs(ordered), -(-rules.control // len(ORDERS))))
    each = max(1, rules.control // max(1, len(ORDERS) * len(pairs)))
    return [
        Sitting("other", one.question, one.text, one.repeat, one.paradigm, one.paradigm, order, trial, answers)
        for one, answers in pairs
        for trial in range(each)
        for order in ORDERS
    ]


def _pairs(drawn: Sequence[Record]) -> Iterator[tuple[Record, tuple[str, str]]]:
    for at, record in enumerate(drawn):
        own = answer_of(record)
        # Each looks on from its own place, so that not all get the same one; the nearest in length are taken first.
        others = [answer_of(other) for other in (*drawn[at + 1 :], *drawn[:at]) if _another(record, other)]
        others.sort(key=lambda text: max(0, apart((own, text)) - TOLERANCE))
        wrong = next((text for text in others if not _right(record, text)), None)
        if wrong is not None:
            yield record, (own, wrong)


def _another(record: Record, other: Record) -> bool:
    """Whether it answers another question, and in other words."""
    return (
        other.question != record.question
        and normal(other.text) != normal(record.text)
        and normal(answer_of(other)) != normal(answer_of(record))
    )


def _right(record: Record, answer: str) -> bool:
    """Whether this would be an accepted answer to the record's question; False where nobody knows."""
    return METRICS["accuracy"].score(replace(record, answer=answer, abstained=False)).value == 1.0
