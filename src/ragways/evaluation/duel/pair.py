"""Two records of the same question and repeat, by two paradigms; and those that make no pair, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ragways.core.types import content_hash
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.record import Record

ALONE = "only one of the two was asked"
FAILED = "an answer failed"
EMPTY = "an answer is empty"
SPARE = "more repeats than trials"


@dataclass(frozen=True)
class Pair:
    """`a` and `b` answer the same question."""

    a: Record
    b: Record

    @property
    def question(self) -> str:
        return self.a.question

    @property
    def repeat(self) -> int:
        return self.a.repeat

    @property
    def answers(self) -> tuple[str, str]:
        return answer_of(self.a), answer_of(self.b)


def print_of(*texts: str) -> str:
    """A short name for texts, so that a line judged of other texts is not taken for one of these."""
    return content_hash(*texts)[:16]


def pairs_of(records: Iterable[Record], a: str, b: str, *, trials: int) -> tuple[list[Pair], Counter[str]]:
    """Pairs in the order of the records. Of several repeats each trial takes one in turn, so no more than `trials`."""
    sides: dict[tuple[str, int], dict[str, Record]] = {}
    for record in records:
        if record.paradigm in (a, b):
            sides.setdefault((record.question, record.repeat), {})[record.paradigm] = record
    pairs: list[Pair] = []
    left_out: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for (question, _), side in sorted(sides.items(), key=lambda item: item[0][1]):
        why = _unfit(side, a, b) or (SPARE if taken[question] >= trials else "")
        if why:
            left_out[why] += 1
        else:
            taken[question] += 1
            pairs.append(Pair(side[a], side[b]))
    return pairs, left_out


def _unfit(side: dict[str, Record], a: str, b: str) -> str:
    if a not in side or b not in side:
        return ALONE
    if side[a].error or side[b].error:
        return FAILED
    return "" if answer_of(side[a]) and answer_of(side[b]) else EMPTY
