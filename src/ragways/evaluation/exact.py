"""Exact metrics of an answer against the accepted ones, after normalising. None, unscored, where nothing is known.

`accuracy` asks whether an accepted answer stands in the answer, whole words in a row, which suits answers in sentences;
on a question without an answer it asks whether the system abstained. `em` and `f1` are those of SQuAD.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from ragways.evaluation.record import Record

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = re.compile(r"\[\d+\]")
_OTHER = re.compile(r"[^\w\s]")


def normal(text: str) -> str:
    """Lower case, without articles, punctuation and the marks of citations."""
    text = _OTHER.sub(" ", _MARKS.sub(" ", text.casefold()))
    return " ".join(_ARTICLES.sub(" ", text).split())


def unanswerable(record: Record) -> bool:
    return record.type.casefold() == "null" or any(
        normal(gold) in ("insufficient information", "") for gold in record.gold
    )


def accuracy(record: Record) -> float | None:
    if not record.gold:
        return None
    if unanswerable(record):
        return float(record.abstained)
    said = f" {normal(record.answer)} "
    return float(not record.abstained and any(f" {normal(gold)} " in said for gold in record.gold))


def exact_match(record: Record) -> float | None:
    if not record.gold or unanswerable(record):
        return None
    return float(any(normal(gold) == normal(record.answer) for gold in record.gold))


def token_f1(record: Record) -> float | None:
    if not record.gold or unanswerable(record):
        return None
    return max(_f1(normal(record.answer).split(), normal(gold).split()) for gold in record.gold)


def _f1(said: list[str], wanted: list[str]) -> float:
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def abstention(record: Record) -> float | None:
    """Of questions that have an answer, the share not answered."""
    return None if not record.gold or unanswerable(record) else float(record.abstained)


def hallucination(record: Record) -> float | None:
    """Of questions without an answer, the share answered all the same."""
    return float(not record.abstained) if record.gold and unanswerable(record) else None


EXACT: dict[str, Callable[[Record], float | None]] = {
    "accuracy": accuracy,
    "em": exact_match,
    "f1": token_f1,
    "abstained": abstention,
    "hallucinated": hallucination,
}
"""Metrics by name; for `abstained` and `hallucinated` less is better."""
