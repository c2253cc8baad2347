"""A metric as a value: it prints and parses as its name, and says which gold it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragways.core.types import ABSTENTION
from ragways.evaluation.record import Record

Family = Literal["exact", "retrieval", "embedding", "judged"]
Need = Literal["gold", "answer", "null", "ranks", "evidence", "said", "citations"]

NO_ANSWER = "insufficient information"
"""The gold answer, normalised, of a question that the corpus does not answer."""


def unanswerable(record: Record) -> bool:
    """Whether the right answer is to abstain: the type says so, or the gold answer does and no other stands by it."""
    if record.type.casefold() == "null":
        return True
    return bool(record.gold) and all(gold.casefold().strip().strip(" .") in (NO_ANSWER, "") for gold in record.gold)


def accepted(record: Record) -> tuple[str, ...]:
    """The accepted answers in words; where there is none because the question has none, that one abstains."""
    given = tuple(gold for gold in record.gold if gold.strip())
    return given or ((ABSTENTION,) if unanswerable(record) else ())


_NEEDS: dict[Need, tuple[Callable[[Record], bool], str]] = {
    "gold": (lambda r: bool(r.gold) or unanswerable(r), "no gold answer"),
    "answer": (lambda r: not unanswerable(r), "the question has no answer"),
    "null": (unanswerable, "the question has an answer"),
    "ranks": (lambda r: bool(r.ranks), "no gold evidence"),
    "evidence": (lambda r: bool(r.evidence), "nothing was found"),
    "said": (lambda r: bool(r.answer.strip()) and not r.abstained, "abstained"),
    "citations": (lambda r: bool(r.citations), "nothing was cited"),
}


@dataclass(frozen=True, slots=True)
class Score:
    """A value, or None and why there is none. `details` are what the value was made from."""

    value: float | None
    why: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metric:
    """`of` computes it from a record alone; a metric without it is scored by a judge (`ragways eval judge`)."""

    name: str
    family: Family
    summary: str
    needs: tuple[Need, ...] = ()
    less_is_better: bool = False
    of: Callable[[Record], float | None] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name

    def missing(self, record: Record) -> str:
        """Why this record cannot be scored; empty where it can."""
        if record.error:
            return "failed"
        return next((why for have, why in map(_NEEDS.__getitem__, self.needs) if not have(record)), "")

    def score(self, record: Record) -> Score:
        """From the record alone."""
        why = self.missing(record)
        if why or self.of is None:
            return Score(None, why or "not judged")
        value = self.of(record)
        return Score(value, "" if value is not None else "the record does not tell")
