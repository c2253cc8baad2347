"""Answering without a model: the sentences that fit the question best, or none where the evidence does not cover it.

A sentence is scored by its cosine to the question, by the share of the question's words that it and its title hold
(rare words weigh more), and by whether it holds the kind of thing that is asked for (a date, a number). Whether the
evidence covers the question at all is decided by two figures, calibrated on the bundled questions
(benchmarks/abstention.py): how much of the question the best passages hold together, and how near the best sentence is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], Awaitable["NDArray[np.float32]"]]
Terms = Callable[[str], list[str]]
Shown = tuple[str, str, Sequence[str]]
"""A passage: title, date, sentences."""

PASSAGES, SENTENCES = 12, 72
"""Most passages and sentences looked at: a bound on time."""

_ASKING = re.compile(
    r"\b(who|whom|whose|what|which|when|where|why|how|many|much|name|named|called|tell|describe|summari[sz]e|list|"
    r"give|explain|does|did|do|is|was|were|are|has|had|have|can|could|would|year|date)\b",
    re.IGNORECASE,
)
_ASKS_DATE = re.compile(
    r"\b(when|what (year|date|day|month)|which (year|date|day|month)|in what year)\b", re.IGNORECASE
)
_ASKS_NUMBER = re.compile(r"\bhow (many|much|long|tall|far|old|deep|high|large|big|heavy)\b", re.IGNORECASE)
_DATE = re.compile(r"\b(1\d{3}|20\d{2})\b")
_NUMBER = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Sentence `sentence` of passage `passage`, with the words that it and its title hold."""

    passage: int
    sentence: int
    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Extraction:
    """Places (passage, sentence) in the order to say them; `support` is between 0 and 1."""

    covered: bool
    support: float
    sentences: tuple[tuple[int, int], ...]


async def extract(
    question: str, passages: Sequence[Shown], *, embed: Embed, terms: Terms, care: float, most: int
) -> Extraction:
    candidates = _candidates(passages, terms)
    wanted = terms(_ASKING.sub(" ", question)) or terms(question)
    if not candidates or not wanted:
        return Extraction(False, 0.0, ())
    vectors = await embed([question, *(candidate.text for candidate in candidates)])
    nearness = [float(x) for x in vectors[1:] @ vectors[0]]
    weights = _weights(wanted, candidates)
    scores = [
        near + 0.5 * _share(weights, candidate.terms) + _kind_bonus(question, candidate.text) - 0.01 * candidate.passage
        for near, candidate in zip(nearness, candidates, strict=True)
    ]
    chosen = _choose(candidates, scores, weights, most)
    support = _support(weights, candidates, max(nearness))
    return Extraction(support >= threshold(care), support, tuple((c.passage, c.sentence) for c in chosen))


def threshold(care: float) -> float:
    """The support an answer needs: 0 at no care, and all of it at the greatest."""
    return care


def _candidates(passages: Sequence[Shown], terms: Terms) -> list[Candidate]:
    found = []
    for number, (title, date, sentences) in enumerate(passages[:PASSAGES]):
        for place, sentence in enumerate(sentences):
            text = f"{title}{f' ({date})' if date else ''}: {sentence}"
            found.append(Candidate(number, place, text, frozenset(terms(text))))
    return found[:SENTENCES]


def _weights(wanted: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, float]:
    """Rare words weigh more, and words that no candidate holds weigh most: they are what is missing."""
    total = len(candidates)
    held = {term: sum(term in candidate.terms for candidate in candidates) for term in wanted}
    return {term: math.log(1 + (total + 1) / (count + 0.5)) for term, count in held.items()}


def _share(weights: dict[str, float], terms: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms) / sum(weights.values())


def _kind_bonus(question: str, sentence: str) -> float:
    if _ASKS_DATE.search(question):
        return 0.15 if _DATE.search(sentence) else 0.0
    if _ASKS_NUMBER.search(question):
        return 0.15 if _NUMBER.search(sentence) else 0.0
    return 0.0


def _choose(
    candidates: Sequence[Candidate], scores: Sequence[float], weights: dict[str, float], most: int
) -> list[Candidate]:
    """The best sentence, then those among the next best that bring words of the question not yet said."""
    order = sorted(range(len(candidates)), key=lambda i: (-scores[i], i))
    chosen = [candidates[order[0]]]
    said = set(chosen[0].terms)
    for i in order[1:]:
        if len(chosen) >= most or scores[i] < 0.6 * scores[order[0]]:
            break
        if any(term in weights and term not in said for term in candidates[i].terms):
            chosen.append(candidates[i])
            said |= candidates[i].terms
    return chosen


def _support(weights: dict[str, float], candidates: Sequence[Candidate], nearest: float) -> float:
    """How much of the question the best passages hold together, and how near the best sentence is, as one figure."""
    together: set[str] = set()
    for candidate in candidates:
        together |= candidate.terms
    coverage = _share(weights, frozenset(together))
    return 1 / (1 + math.exp(-(6.0 * coverage + 5.0 * nearest - 7.5)))
