"""Hits → Hits: what keeps planted documents and copies from filling the evidence.

Who can add documents to a corpus can plant some that repeat a question and a false answer: they are most like the
question, so they come first, in all their paraphrases. Three rules, all of them settings, hold most of them back:

- of pieces that say the same in nearly the same words (near-duplicates), the best `copies` stay;
- pieces of several documents that repeat the question itself (echoes) are near-duplicates of each other, whatever else
  they say. The best stay, because a real list of questions and answers repeats it, too;
- sources that are trusted less count for less, or not at all, and take no more places than the settings say.

What is compared are sets of words: different passages on one subject share few (docs/figures.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from ragways.core.language import folded_words
from ragways.core.section import Section
from ragways.core.types import Hit, Hits, Piece, ranked

COMPARED = 50
"""Of the best pieces: what stands behind them is neither compared nor held back as a copy."""
FEWEST = 6
"""Different words from which on a piece is long enough to be a copy, and a question to be echoed."""
_VERBATIM = frozenset({"chunk", "sentence", "paragraph", "section", "article"})
"""Kinds that are a document's own words. Facts of a graph are short and alike by their nature."""


class GuardSettings(Section):
    """What holds back copies and planted documents. Sources are patterns of keys (`source.key` of evidence)."""

    copies: int = Field(1, ge=0, description="most pieces of each group of near-duplicates in evidence; 0 is no limit")
    alike: float = Field(
        0.7, gt=0, le=1, description="share of their words that two pieces have in common to be near-duplicates"
    )
    echo: float = Field(
        0.8,
        gt=0,
        le=1,
        description="share of the question's words that makes a piece an echo; echoes are near-duplicates",
    )
    trust: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict,
        description='what pieces of a source count, 0 leaves them out, e.g. `{"docs/uploads/*" = 0.3}`; the longest '
        "pattern that fits is taken, * fits / too, sources that none fits count 1",
    )
    most: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict,
        description='most pieces of all documents that a pattern fits, e.g. `{"docs/uploads/*" = 2}`',
    )


@dataclass(frozen=True, slots=True)
class GuardedHits:
    """`hits` are those that stay, in their order. `duplicates` counts the near-duplicates of each that were found, kept
    or not; `held_back` says of each that was held back why.
    """

    hits: Hits
    duplicates: Mapping[str, int]
    held_back: Mapping[str, str]


def guarded(hits: Hits, settings: GuardSettings, sources: Mapping[str, str]) -> GuardedHits:
    """The hits without those that the settings hold back. `sources` are the keys of documents, by id."""
    if settings.trust:
        hits = _trusted(hits, settings.trust, sources)
    groups = _Groups(hits.query.text, settings)
    taken: Counter[str] = Counter()
    kept: list[Hit] = []
    held_back: dict[str, str] = {}
    for rank, hit in enumerate(hits.items):
        piece, source = hit.piece, sources.get(hit.piece.document, "")
        limit = _fitting(settings.most, source) if settings.most and source else None
        if settings.trust and source and settings.trust.get(_fitting(settings.trust, source) or "") == 0:
            held_back[piece.id] = f"its source {source} is not trusted"
        elif limit is not None and taken[limit] >= settings.most[limit]:
            held_back[piece.id] = f"{settings.most[limit]} of {limit} stand before it"
        elif rank < COMPARED and piece.kind in _VERBATIM and (first := groups.held_by(piece)):
            held_back[piece.id] = f"near-duplicate of {first}"
        else:
            kept.append(hit)
            if limit is not None:
                taken[limit] += 1
    return GuardedHits(Hits(hits.query, tuple(kept)), groups.duplicates(), held_back)


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


@dataclass
class _Group:
    """The best of some near-duplicates, its words, and how many more there are."""

    first: Piece
    words: int
    count: int
    echo: bool
    more: int = 0


class _Groups:
    """Near-duplicates as they come, best first. A set of words is a number with a bit for each of them: so a piece is
    compared with the best of every group in less time than it takes to tell which ones it may belong to.
    """

    def __init__(self, question: str, settings: GuardSettings) -> None:
        self._bits: dict[str, int] = {}
        self._asked = self._words(question)
        self._settings = settings
        self._groups: list[_Group] = []

    def held_by(self, piece: Piece) -> str:
        """The id of the piece for whose sake this one is held back; nothing where it may stay."""
        words = self._words(piece.text)
        asked = self._asked.bit_count()
        echo = asked >= FEWEST and _at_least(words, self._asked, self._settings.echo * asked)
        here = _Group(piece, words, words.bit_count(), echo)
        group = next((group for group in self._groups if self._alike(here, group)), None)
        if group is None:
            self._groups.append(here)
            return ""
        group.more += 1
        return group.first.id if 0 < self._settings.copies <= group.more else ""

    def duplicates(self) -> dict[str, int]:
        return {group.first.id: group.more for group in self._groups if group.more}

    def _words(self, text: str) -> int:
        bits, found = self._bits, 0
        for word in set(folded_words(text)):
            found |= 1 << bits.setdefault(word, len(bits))
        return found

    def _alike(self, one: _Group, other: _Group) -> bool:
        if one.echo and other.echo:
            # A long article on what is asked names it in many places: only echoes of other documents are copies of it.
            return one.first.document != other.first.document
        fewer, more = (one.count, other.count) if one.count < other.count else (other.count, one.count)
        alike = self._settings.alike
        if fewer < FEWEST or fewer < alike * more:  # then they cannot share enough, and need not be compared
            return False
        # Shared words are this share of all words of the two.
        shared = alike / (1 + alike) * (fewer + more)
        return _at_least(one.words, other.words, shared) and not _overlap(one.first, other.first)


def _at_least(one: int, other: int, shared: float) -> bool:
    return (one & other).bit_count() >= shared - 1e-9


def _overlap(one: Piece, other: Piece) -> bool:
    """Whether they are the same place of a document, as chunks that overlap and sentences of a chunk are."""
    return one.document == other.document and one.start < other.end and other.start < one.end
