"""Exact metrics of an answer against the accepted ones, after normalising.

`accuracy` asks whether an accepted answer stands in the answer, whole words in a row, which suits answers in sentences;
on a question without an answer it asks whether the system abstained. A short accepted answer stands in many: "no" is
found in "there is no doubt: yes", so that `accuracy` flatters where those are accepted. `em` and `f1` are those of
SQuAD.
"""

from __future__ import annotations

from collections import Counter

from ragways.evaluation.metric import Metric, accepted, unanswerable
from ragways.evaluation.normal import compared
from ragways.evaluation.record import Record


def _accuracy(record: Record) -> float:
    if unanswerable(record):
        return float(record.abstained)
    return float(not record.abstained and any(_stands(*pair) for pair in _pairs(record)))


def _stands(said: str, wanted: str) -> bool:
    return f" {wanted} " in f" {said} "


def _exact_match(record: Record) -> float:
    return float(any(said == wanted for said, wanted in _pairs(record)))


def _token_f1(record: Record) -> float:
    return max(_f1(said.split(), wanted.split()) for said, wanted in _pairs(record))


def _pairs(record: Record) -> list[tuple[str, str]]:
    return [compared(record.answer, gold) for gold in accepted(record)]


def _f1(said: list[str], wanted: list[str]) -> float:
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def _abstained(record: Record) -> float:
    return float(record.abstained)


def _hallucinated(record: Record) -> float:
    return float(not record.abstained)


EXACT = (
    Metric("accuracy", "exact",
           "an accepted answer stands in the answer (a short one, yes or no, soon does); on a null question: abstained",
           ("gold",), of=_accuracy),
    Metric("em", "exact", "the answer is an accepted one, word for word", ("gold", "answer"), of=_exact_match),
    Metric("f1", "exact", "words shared with the best accepted answer", ("gold", "answer"), of=_token_f1),
    Metric("abstained", "exact", "questions with an answer that were not answered", ("gold", "answer"),
           less_is_better=True, of=_abstained),
    Metric("hallucinated", "exact", "questions without an answer that were answered all the same", ("gold", "null"),
           less_is_better=True, of=_hallucinated),
)  # fmt: skip
