"""MultiHop-RAG's own scorer, and a strict one beside it.

The official one counts an answer as right when it shares any word with the gold answer, so that "Yes, the second" is
right where "No, the first" was asked for. It is here to stand beside published figures; the strict one says how much of
them that leniency makes up.
"""

from __future__ import annotations

import re

from ragways.core.types import ABSTENTION
from ragways.evaluation.metric import Metric, accepted, unanswerable
from ragways.evaluation.normal import compared
from ragways.evaluation.record import Record

_STATED = re.compile(r'the answer to the question is:?\s*["“](.*?)["”]', re.IGNORECASE | re.DOTALL)


def _said(record: Record) -> str:
    """The answer, or the part of it that states the answer in the words the benchmark's prompt asks for."""
    if record.abstained:
        return ABSTENTION
    stated = _STATED.search(record.answer)
    return stated[1] if stated else record.answer


def _official(record: Record) -> float:
    said = set(_said(record).lower().split())
    return float(any(said & set(gold.lower().split()) for gold in accepted(record)))


def _strict(record: Record) -> float:
    if unanswerable(record):
        return float(record.abstained)
    pairs = (compared(_said(record), gold) for gold in accepted(record))
    return float(not record.abstained and any(said == wanted for said, wanted in pairs))


MULTIHOP_RAG = (
    Metric("accuracy-official", "exact", "MultiHop-RAG's own scorer: any word shared with the gold answer", ("gold",),
           of=_official),
    Metric("accuracy-strict", "exact", "the whole answer is the gold answer; on a null question: abstained", ("gold",),
           of=_strict),
)  # fmt: skip
