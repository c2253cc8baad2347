"""Support, estimated: a chance that passages bear out a claim, without a language model. A weak signal.

Three things are put together: the share of the claim's words that the passages hold, the share of its names and
numbers that they hold, and the reader's output. None of them understands the claim. They tell a copied sentence from
one with a fact exchanged, which the reader was trained for; on claims of a kind that it does not know it is hardly
better than chance, and its chances are far off (docs/figures.md). It may be shown, or point a person to what is worth a
look. It decides nothing alone: metrics made of it are advisory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragways.core.errors import MissingPart
from ragways.core.types import content_hash
from ragways.models.encoder import known_hash
from ragways.models.reader import FILE
from ragways.reading.answers import PassageReader
from ragways.reading.windows import content_stems, stems, windows

Feature = Literal["always", "words", "missing", "reader"]
Method = Literal["with the reader", "without the reader"]

WEIGHTS: Mapping[Method, Mapping[Feature, float]] = {
    "with the reader": {"always": -0.24, "words": 0.22, "missing": -0.06, "reader": 0.66},
    "without the reader": {"always": -1.39, "words": 2.52, "missing": -2.6},
}
"""A logistic model of the features: `python -m training.support fit` prints this table."""
PASSAGES = 2
"""Passages that are looked at: those that hold most of the claim's words."""
SIZE = 500
"""Characters of a passage that are looked at: the stretch that holds most of the claim's words."""
LARGEST = 6.0
"""The reader's logit is cut here: it is sure of itself more often than it is right."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
Sentences = Sequence[str]


@dataclass(frozen=True, slots=True)
class SupportEstimate:
    """`chance`: that the passages support the claim, estimated. Made of `words`, the share of the claim's words that
    stand there; `facts`, that of its names and numbers, None where it has none; and `reader`, the logit of the reader,
    None where there was none to ask.
    """

    chance: float
    words: float
    facts: float | None
    reader: float | None


async def estimate_support(
    reader: PassageReader | None, claim: str, passages: Sequence[tuple[str, Sentences]], *, size: int = SIZE
) -> SupportEstimate:
    """The estimate for a claim and passages, each a title and sentences; one pass of the reader at most.

    Without a reader, or where its weights are not installed, words and names alone are looked at.
    """
    claimed = _meaningful(claim)
    near = [window.shown for window in windows(claim, passages, size)]
    near.sort(key=lambda passage: -len(claimed & stems(passage.shown)))
    shown = near[:PASSAGES]
    text = "\n".join(passage.shown for passage in shown)
    words = len(claimed & stems(text)) / len(claimed) if claimed else 0.0
    facts = share_of_facts(claim, text)
    reader_logit = None
    if reader is not None and shown and claim.strip():
        try:
            reader_logit = (await reader.read(claim, [shown], most=1))[0].supports
        except MissingPart:
            reader_logit = None  # reported by `reader` being None
    return SupportEstimate(chance_of(words, facts, reader_logit), words, facts, reader_logit)


def chance_of(words: float, facts: float | None, reader: float | None) -> float:
    """The chance by the table of weights."""
    found = features(words, facts, reader)
    weights = WEIGHTS["without the reader" if reader is None else "with the reader"]
    return 1 / (1 + math.exp(-sum(weight * found[name] for name, weight in weights.items())))


def features(words: float, facts: float | None, reader: float | None) -> dict[Feature, float]:
    """What is weighed. A claim without names and numbers misses none."""
    logit = max(-LARGEST, min(LARGEST, reader or 0.0))
    return {"always": 1.0, "words": words, "missing": 0.0 if facts is None else 1 - facts, "reader": logit}


def share_of_facts(claim: str, text: str) -> float | None:
    """The share of a claim's names and numbers that stand in a text; None where it has none."""
    numbers = _numbers(claim)
    names = frozenset[str]().union(*map(_meaningful, _names(claim))) - numbers
    found_facts = len(numbers & _numbers(text)) + len(names & stems(text))
    return found_facts / (len(numbers) + len(names)) if numbers or names else None


def _meaningful(text: str) -> frozenset[str]:
    """Words with a meaning, without the s of a genitive, which is cut off from its word."""
    return frozenset(stem for stem in content_stems(text) if stem != "s")


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", "") for number in _NUMBER.findall(text))


def _names(claim: str) -> list[str]:
    """Words written large; the first only where the second is too, for every sentence begins so."""
    words = _WORD.findall(claim)
    large = [word[0].isupper() and bool(content_stems(word)) for word in words]
    return [word for at, word in enumerate(words) if large[at] and (at > 0 or any(large[1:2]))]


def support_method(reader: PassageReader | None) -> str:
    """By what estimates are made, in words: they compare only where that is the same."""
    table = content_hash(repr(WEIGHTS))[:8]
    try:
        return f"words and names ({table})" if reader is None else f"reader {known_hash(FILE)[:8]} ({table})"
    except MissingPart:
        return f"words and names ({table})"
