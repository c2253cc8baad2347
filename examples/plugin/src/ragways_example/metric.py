"""A metric: how short an answer is."""

from __future__ import annotations

from ragways.evaluation.metric import Metric
from ragways.evaluation.record import Record


def brevity(record: Record) -> float:
    """1 for an answer of one word, less for longer ones."""
    return 1 / max(1, len(record.answer.split()))


BREVITY = Metric("brevity", "exact", "1 divided by the words of the answer", of=brevity, refusal="left out")
