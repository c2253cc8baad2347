"""A metric as a value: it prints and parses as its name, and says which gold it needs and how a refusal counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragways.core.errors import UsageError
from ragways.core.types import ABSTENTION
from ragways.evaluation.question import text_gold
from ragways.evaluation.record import Record, Score

Family = Literal["exact", "retrieval", "embedding", "estimated", "judged"]
Need = Literal["gold", "short", "answer", "null", "ranks", "evidence", "citations"]
Refusal = Literal["defined", "wrong", "zero", "as text", "left out", "no matter"]
Refusals = Literal["declared", "source"]
"""As each metric declares it (`refusal`), or as the source of the metric counts (`source_refusal`)."""

REFUSALS: Mapping[Refusal, str] = {
    "defined": "is part of what it measures",
    "wrong": "is wrong, and right on a null question",
    "zero": "is 0",
    "as text": "is compared as any text",
    "left out": "is left out and counted as unscored",
    "no matter": "makes no difference",
}
"""How an answer that refuses counts, in words."""
SIGNED = frozenset({"crag-coarse", "crag-fine"})
"""Metrics from −1 to 1: their means are no shares, even where no answer happened to be wrong."""
ABSTAINED = "abstained"
"""Why a refusal that is left out has no value."""
AS_TEXT = "as_text"
"""Among the details of a refusal that is left out: the value it has where it is compared as any text."""

NO_ANSWER = "insufficient information"
"""The gold answer, normalised, of a question that the corpus does not answer."""


def unanswerable(record: Record) -> bool:
    """Whether the right answer is to abstain: by its type, or because the gold answer is that there is none."""
    if record.type.casefold() == "null":
        return True
    return bool(record.gold) and all(gold.casefold().strip().strip(" .") in (NO_ANSWER, "") for gold in record.gold)


def refused(record: Record) -> bool:
    """Whether there is no answer: it abstains, or is empty."""
    return record.abstained or not record.answer.strip()


def accepted(record: Record) -> tuple[str, ...]:
    """The accepted answers in words; where there is none because the question has none, that one abstains."""
    given = tuple(gold for gold in record.gold if gold.strip())
    return given or ((ABSTENTION,) if unanswerable(record) else ())


_NEEDS: dict[Need, tuple[Callable[[Record], bool], str]] = {
    "gold": (lambda r: bool(r.gold) or unanswerable(r), "no gold answer"),
    "short": (lambda r: not text_gold(r.type, r.gold), "the gold answer is a text: see coverage"),
    "answer": (lambda r: not unanswerable(r), "the question has no answer"),
    "null": (unanswerable, "the question has an answer"),
    "ranks": (lambda r: bool(r.ranks), "no gold evidence"),
    "evidence": (lambda r: bool(r.evidence), "nothing was found"),
    "citations": (lambda r: bool(r.citations), "nothing was cited"),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """`of` computes it from a record alone; a metric without it is scored by a judge (`ragways eval judge`).

    `refusal` says how a refusal counts, `source_refusal` how it does in the source that the metric comes from.
    `advisory`: a weak signal, which is shown and on which no verdict rests (`deciding`).
    """

    name: str
    family: Family
    summary: str
    needs: tuple[Need, ...] = ()
    less_is_better: bool = False
    of: Callable[[Record], float | None] | None = field(default=None, compare=False, repr=False)
    refusal: Refusal = "defined"
    source_refusal: Refusal | None = None
    advisory: bool = False

    def __str__(self) -> str:
        return self.name

    def missing(self, record: Record) -> str:
        """Why this record cannot be scored; empty where it can."""
        if record.error:
            return "failed"
        why = next((why for have, why in map(_NEEDS.__getitem__, self.needs) if not have(record)), "")
        unsaid = self.refusal == "left out" and self.source_refusal is None and refused(record)
        return why or (ABSTAINED if unsaid else "")

    def score(self, record: Record) -> Score:
        """From the record alone."""
        why = self.missing(record)
        if why or self.of is None:
            return Score(None, why or "not judged")
        if self.refusal == "zero" and refused(record):
            return Score(0.0)
        value = self.of(record)
        return Score(value, "" if value is not None else "the record does not have it")

    def counted(self, score: Score, record: Record, refusals: Refusals) -> Score:
        """The score of a record, with a refusal counted as `refusals` says; all other scores as they are."""
        if refusals == "source" and self.source_refusal == "as text" and refused(record) and AS_TEXT in score.details:
            return Score(score.details[AS_TEXT], details=score.details)
        return score


def deciding(metric: Metric) -> Metric:
    """The metric, where a verdict may rest on it: gate and comparisons ask here. UsageError for an advisory one."""
    if metric.advisory:
        raise UsageError(
            f"{metric} is an estimate, too weak for a verdict",
            "name another metric (ragways eval score shows this one; eval agreement compares it with people)",
        )
    return metric
