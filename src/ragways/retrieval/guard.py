"""Hits → Hits: a guard against planted documents and copies in the evidence.

Who can add documents to a corpus can plant some that repeat a question and a false answer: they are most like the
question, so they come first, in all their paraphrases. Three rules, all of them settings, leave most of them out:

- of pieces that say the same in nearly the same words (near-duplicates), the best `copies` stay;
- pieces of several documents that repeat the question itself (echoes) are near-duplicates of each other, whatever else
  they say. The best stay, because a real list of questions and answers repeats it, too;
- sources that are trusted less count for less, or not at all, and take no more places than the settings say.

What is compared are sets of words: different passages on one subject share few (docs/figures.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import reduce
from operator import or_

from ragways.core.language import folded_words
from ragways.core.types import Hit, Hits, Piece, ranked
from ragways.retrieval.resources import GuardSettings

COMPARED = 50
"""Of the best pieces: what stands behind them is neither compared nor held back as a copy."""
FEWEST = 6
"""Different words from which on a piece is long enough to be a copy, and a question to be echoed."""
_VERBATIM = frozenset({"chunk", "sentence", "paragraph", "section", "article"})
"""Kinds that are a document's own words. Facts of a graph are short and alike by their nature."""


@dataclass(frozen=True, slots=True)
class GuardedHits:
    """The remaining `hits`, in order. `duplicates` counts the near-duplicates of each, whether they remain or not;
    `held_back` gives the reason for each hit that was left out.
    """

    hits: Hits
    duplicates: Mapping[str, int]
    held_back: Mapping[str, str]


def guarded(hits: Hits, settings: GuardSettings, sources: Mapping[str, str]) -> GuardedHits:
    """The hits without those that the settings hold back. `sources` are the keys of documents, by id, which only
    patterns of sources need.
    """
    if settings.trust:
        hits = _trusted(hits, settings.trust, sources)
    ranks = [rank for rank, hit in enumerate(hits.items[:COMPARED]) if hit.piece.kind in _VERBATIM]
    groups = _Groups(hits.query.text, [hits.items[rank].piece for rank in ranks], settings)
    places = {rank: place for place, rank in enumerate(ranks)}
    taken: Counter[str] = Counter()
    passed: list[Hit] = []
    held_back: dict[str, str] = {}
    for rank, hit in enumerate(hits.items):
        piece, source = hit.piece, sources.get(hit.piece.document, "")
        limit = _fitting(settings.most, source) if settings.most and source else None
        if settings.trust and source and settings.trust.get(_fitting(settings.trust, source) or "") == 0:
            held_back[piece.id] = f"its source {source} is not trusted"
        elif limit is not None and taken[limit] >= settings.most[limit]:
            held_back[piece.id] = f"{settings.most[limit]} of {limit} stand before it"
        elif rank in places and (first := groups.held_by(places[rank])):
            held_back[piece.id] = f"near-duplicate of {first}"
        else:
            passed.append(hit)
            if limit is not None:
                taken[limit] += 1
    return GuardedHits(Hits(hits.query, tuple(passed)), groups.duplicates(), held_back)


def _trusted(hits: Hits, trust: Mapping[str, float], sources: Mapping[str, str]) -> Hits:
    """Hits by their scores times the trust in their sources."""

    def weighed(hit: Hit) -> Hit:
        pattern = _fitting(trust, sources.get(hit.piece.document, ""))
        weight = trust[pattern] if pattern is not None else 1.0
        # A score may be below 0, as a cosine can be: there less is a larger number.
        return replace(hit, score=hit.score * weight if hit.score > 0 or not weight else hit.score / weight)

    return ranked(hits.query, map(weighed, hits.items))


def _fitting(patterns: Mapping[str, object], source: str) -> str | None:
    """The longest pattern that a source fits; of equally long ones the first by its letters."""
    return min((p for p in patterns if fnmatchcase(source, p)), key=lambda p: (-len(p), p), default=None)


class _Groups:
    """Near-duplicates among pieces, best first: each group is known by the place of its best piece."""

    def __init__(self, question: str, pieces: Sequence[Piece], settings: GuardSettings) -> None:
        self._pieces, self._settings = pieces, settings
        query, *self._words = _bits([set(folded_words(text)) for text in (question, *(piece.text for piece in pieces))])
        most = settings.echo * query.bit_count() - _ROUNDING
        self._echoes = [query.bit_count() >= FEWEST and (query & words).bit_count() >= most for words in self._words]
        self._more: dict[int, int] = {}

    def held_by(self, place: int) -> str:
        """The id of the piece that this one duplicates; empty where it may stay."""
        group = next((first for first in self._more if self._are_copies(place, first)), None)
        if group is None:
            self._more[place] = 0
            return ""
        self._more[group] += 1
        return self._pieces[group].id if 0 < self._settings.copies <= self._more[group] else ""

    def duplicates(self) -> dict[str, int]:
        return {self._pieces[first].id: more for first, more in self._more.items() if more}

    def _are_copies(self, place: int, first: int) -> bool:
        if self._echoes[place] and self._echoes[first]:
            # A long article on what is in question names it often: only echoes of other documents are copies of it.
            return self._pieces[place].document != self._pieces[first].document
        return self._are_alike(place, first) and not _overlap(self._pieces[place], self._pieces[first])

    def _are_alike(self, place: int, first: int) -> bool:
        """Whether the two share enough words."""
        one, other = self._words[place], self._words[first]
        counts, alike = (one.bit_count(), other.bit_count()), self._settings.alike
        # Shared words are this share of all words of the two.
        enough = alike / (1 + alike) * sum(counts) - _ROUNDING
        return min(counts) >= max(FEWEST, enough) and (one & other).bit_count() >= enough


def _bits(texts: Sequence[set[str]]) -> list[int]:
    """Each text with a bit set for each of its words."""
    bits = {word: 1 << number for number, word in enumerate(set().union(*texts))}
    return [reduce(or_, map(bits.__getitem__, words), 0) for words in texts]


_ROUNDING = 1e-9


def _overlap(one: Piece, other: Piece) -> bool:
    """Whether they are the same place of a document, as chunks that overlap and sentences of a chunk are."""
    return one.document == other.document and one.start < other.end and other.start < one.end
