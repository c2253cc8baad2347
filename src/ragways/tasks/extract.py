"""Answering without a model: the sentences that fit the question best, or none where the evidence does not cover it.

A sentence is scored by its cosine to the question, by the share of the question's words that it and its title hold
(rare words weigh more), and by whether it holds the kind of thing that the question wants (a date, a number). Whether
the evidence covers the question at all is a logistic of three figures: the shares of the question's words and of its
names and numbers that the passages hold together, and the cosine of the nearest sentence. Its weights were fitted once,
on questions about the corpus they were written for and about another. It recognises a question that the corpus does not
speak of, but not a near miss, a fact left out about a known thing. That takes a model.
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

PASSAGES, SENTENCES, COMPARED = 12, 200, 24
"""Most passages and sentences looked at, and sentences compared by meaning: bounds on time, which embedding takes."""

SEARCHED = 20_000
"""Characters of a passage that are looked at for the words of a question."""

ASKING = re.compile(
    r"\b(who|whom|whose|what|which|when|where|why|how|many|much|name|named|called|tell|describe|summari[sz]e|list|"
    r"give|explain|does|did|do|is|was|were|are|has|had|have|can|could|would|year|date)\b",
    re.IGNORECASE,
)
"""Words of asking, which do not say what a question is about."""
_ASKS_DATE = re.compile(
    r"\b(when|what (year|date|day|month)|which (year|date|day|month)|in what year)\b", re.IGNORECASE
)
_ASKS_NUMBER = re.compile(r"\bhow (many|much|long|tall|far|old|deep|high|large|big|heavy)\b", re.IGNORECASE)
_DATE = re.compile(r"\b(1\d{3}|20\d{2})\b")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’-]+|\b\d{3,4}\b")

SHARE, NAMES, NEAREST, CONSTANT = 2.2, 4.3, 5.35, -7.4
"""Weights of the support; a question without names counts as one with four of five found."""


@dataclass(frozen=True, slots=True)
class AnswerPassage:
    """A piece of evidence as it is shown: its title and date, and its text in sentences; `rating` is its score.

    What a model is shown: its `path`, title and headings, and the text as it was written (`shown`). What only answering
    without a model looks at: `section` is the heading it stands under, `retrievers` how many found it, `nearness` its
    cosine to the question where one of them gave it.
    """

    title: str
    date: str
    text: str
    sentences: tuple[str, ...]
    kind: str = "chunk"
    rating: float = 0.0
    section: str = ""
    retrievers: int = 0
    nearness: float | None = None
    path: str = ""
    shown: str = ""

    @property
    def searched(self) -> str:
        """All of it that is looked at for the words of a question."""
        return f"{self.heading} {self.date} {self.text[:SEARCHED]}"

    @property
    def heading(self) -> str:
        """Title and section as one line."""
        return self.title if self.section in ("", self.title) else f"{self.title}: {self.section}".lstrip(": ")


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


@dataclass(frozen=True, slots=True)
class ScoredSentences:
    """Candidates with how well they fit and how near they are to the question, the weights of the question's words, and
    all words of the evidence.
    """

    candidates: Sequence[Candidate]
    scores: Sequence[float]
    nearness: Sequence[float]
    weights: dict[str, float]
    together: frozenset[str]


async def score_sentences(
    question: str,
    passages: Sequence[AnswerPassage],
    *,
    embed: Embed | None,
    terms: Terms,
    compared: int = COMPARED,
    bonus: Callable[[Candidate], float | None] = lambda _: 0.0,
) -> ScoredSentences | None:
    """How well sentences fit a question; None where there are none, or no words to go by. `bonus` is added to the score
    of a candidate, and where it is None, the candidate is none. At most `compared` sentences are embedded. `embed` is
    None where the embedder cannot read the question: then a sentence is as near to it as the root of the share of its
    words that it holds, which lies where cosines do.
    """
    candidates = _candidates(passages, terms)
    wanted = terms(ASKING.sub(" ", question)) or terms(question)
    if not candidates or not wanted:
        return None
    weights = _weights(wanted, candidates)
    together = frozenset[str]().union(*(candidate.terms for candidate in candidates))
    extra = {candidate: more for candidate in candidates if (more := bonus(candidate)) is not None}
    candidates = _promising(extra, weights, compared)
    if not candidates:
        return None
    if embed is None:
        nearness = [math.sqrt(_share(weights, candidate.terms)) for candidate in candidates]
    else:
        vectors = await embed([question, *(candidate.text for candidate in candidates)])
        nearness = [float(x) for x in vectors[1:] @ vectors[0]]
    scores = [
        near
        + 0.5 * _share(weights, candidate.terms)
        + _kind_bonus(question, candidate.text)
        - 0.01 * candidate.passage
        + extra[candidate]
        for near, candidate in zip(nearness, candidates, strict=True)
    ]
    return ScoredSentences(candidates, scores, nearness, weights, together)


async def extract(
    question: str,
    passages: Sequence[AnswerPassage],
    *,
    embed: Embed | None,
    terms: Terms,
    threshold: float,
    maximum: int,
) -> Extraction:
    """The sentences that answer the question, and whether the evidence covers it."""
    scored = await score_sentences(question, passages, embed=embed, terms=terms)
    if scored is None:
        return Extraction(False, 0.0, ())
    chosen = _choose(scored, maximum)
    names = frozenset(term for name in _NAME.findall(question) for term in terms(name))
    support = _support(scored.weights, names, scored.together, max(scored.nearness))
    return Extraction(support >= needed_support(threshold), support, tuple((c.passage, c.sentence) for c in chosen))


def needed_support(threshold: float) -> float:
    """The support an answer needs: none at 0, nearly all there can be at 1. Support is no chance of being right but one
    of being spoken of, which is higher: the usual threshold of 0.1 asks for nearly half of what there can be.
    """
    return float(0.98 * threshold**0.301)


def _candidates(passages: Sequence[AnswerPassage], terms: Terms) -> list[Candidate]:
    found = []
    for number, passage in enumerate(passages[:PASSAGES]):
        for place, sentence in enumerate(passage.sentences):
            text = f"{passage.title}{f' ({passage.date})' if passage.date else ''}: {sentence}"
            found.append(Candidate(number, place, text, frozenset(terms(text))))
    return found[:SENTENCES]


def _weights(wanted: Sequence[str], candidates: Sequence[Candidate]) -> dict[str, float]:
    """Rare words weigh more, and words that no candidate holds weigh most: they are what is missing."""
    total = len(candidates)
    counts = {term: sum(term in candidate.terms for candidate in candidates) for term in wanted}
    return {term: math.log(1 + (total + 1) / (count + 0.5)) for term, count in counts.items()}


def _share(weights: dict[str, float], terms: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms) / sum(weights.values())


def _kind_bonus(question: str, sentence: str) -> float:
    if _ASKS_DATE.search(question):
        return 0.15 if _DATE.search(sentence) else 0.0
    if _ASKS_NUMBER.search(question):
        return 0.15 if _NUMBER.search(sentence) else 0.0
    return 0.0


def _choose(scored: ScoredSentences, maximum: int) -> list[Candidate]:
    """The best sentence, then those among the next best that bring further words of the question."""
    candidates, scores = scored.candidates, scored.scores
    order = sorted(range(len(candidates)), key=lambda i: (-scores[i], i))
    chosen = [candidates[order[0]]]
    covered_terms = set(chosen[0].terms)
    for i in order[1:]:
        if len(chosen) >= maximum or scores[i] < 0.6 * scores[order[0]]:
            break
        if any(term in scored.weights and term not in covered_terms for term in candidates[i].terms):
            chosen.append(candidates[i])
            covered_terms |= candidates[i].terms
    return chosen


def _promising(extra: dict[Candidate, float], weights: dict[str, float], most: int) -> list[Candidate]:
    """Those that hold most of the question's words, in their order; of equals, those of the better passage."""
    candidates = list(extra)
    order = sorted(
        range(len(candidates)),
        key=lambda i: (
            -_share(weights, candidates[i].terms) + 0.02 * candidates[i].passage - extra[candidates[i]],
            i,
        ),
    )
    return [candidates[i] for i in sorted(order[:most])]


def _support(weights: dict[str, float], names: frozenset[str], together: frozenset[str], nearest: float) -> float:
    named = len(names & together) / len(names) if names else 0.8
    return 1 / (1 + math.exp(-(SHARE * _share(weights, together) + NAMES * named + NEAREST * nearest + CONSTANT)))
