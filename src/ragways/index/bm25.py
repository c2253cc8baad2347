"""BM25 (k1 = 1.2, b = 0.75) over the postings of a segment: what a chunk scores, and which are the best.

A score is the sum of what each word of the question gives, in the question's order, in double precision. It is made of
numbers of the whole corpus and of the chunk alone: so it is the same to the last bit wherever a chunk lies.

The postings of common words are most of all postings and decide least. So words are added up from the rarest on, until
what the rest can give lifts no other chunk to the best that are known already; what is left is scored one by one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.postings import LENGTHS, Postings
from ragways.index.segment_ids import SegmentIds
from ragways.index.vectors import Scored

_K1, _B = 1.2, 0.75
_LOOK_UP = 16
"""Postings that are added up in the time in which one chunk is looked up among those of a word, or more."""
_ROUNDING = 1e-9
"""How far sums in another order may lie apart, as a share of the weights."""


Places = tuple[Sequence[int], Sequence[int]]
"""Where the postings of each word begin in a segment, and where they end."""


class AskedWord(NamedTuple):
    """A word of the question in a segment: what it weighs, and where its postings are."""

    weight: float
    start: int
    end: int


def weight_of(frequency: int, chunks: int) -> float:
    """What a word weighs that so many of the chunks hold. A chunk gets some part of it, never all."""
    return float((1 + _K1) * np.log1p((chunks - frequency + 0.5) / (frequency + 0.5)))


@lru_cache(maxsize=4)
def _parts(average: float) -> NDArray[np.float64]:
    """Which part of a word's weight a posting gets, by its code: more the more often, less the longer the chunk is
    beside the average.
    """
    times, length = np.arange(256)[:, None], LENGTHS[None, :]
    return np.asarray(times / (times + _K1 * (1 - _B + _B * length / (average or 1.0)))).ravel()


class Ranking:
    """The best chunks so far for the words of a question, as one segment after the other is looked at.

    `average` is how many words a chunk of the corpus has, and k how many chunks are wanted.
    """

    def __init__(self, weights: Sequence[float], average: float, k: int) -> None:
        self.best: Scored = []
        self._weights = weights
        self._table = _parts(average)
        self._k = k
        self._scores: NDArray[np.float64] = np.zeros(0)

    def add(self, segment: Postings, places: Places, kept: NDArray[np.bool_] | None = None) -> None:
        """Look at a segment, with the places of each word's postings. `kept` tells which rows may be found."""
        asked = map(AskedWord, self._weights, *places)
        words = [word for word in asked if word.start < word.end]
        rows = self._possible(segment, words, kept) if words else _NONE
        if not len(rows):
            return
        scores = np.zeros(len(rows))
        for word in words:
            scores += self._looked_up(segment, word, rows)
        first = _first(scores, rows, segment.ids, self._k)
        self.best += zip(segment.ids.take(rows[first]), scores[first].tolist(), strict=True)
        self.best = sorted(self.best, key=lambda pair: (-pair[1], pair[0]))[: self._k]

    def _possible(
        self, segment: Postings, words: Sequence[AskedWord], kept: NDArray[np.bool_] | None
    ) -> NDArray[np.intp]:
        """The rows that can be among the best, in order, and few others."""
        least = self.best[-1][1] if len(self.best) == self._k else 0.0
        rest = sum(word.weight for word in words)
        margin = _ROUNDING * rest
        left = sum(word.end - word.start for word in words)
        scores = self._cleared(len(segment))
        rarest = deque(sorted(words, key=lambda word: -word.weight))
        rows = None
        while rarest:
            if rest < least:
                rows = np.flatnonzero(scores >= least - rest - margin)
                if len(rows) * _LOOK_UP <= left:
                    break
                rows = None
            word = rarest.popleft()
            # No chunk is twice among the postings of a word; `add.at` is only the fastest way to add to some.
            there = slice(word.start, word.end)
            np.add.at(scores, segment.rows[there], self._table.take(segment.codes[there]) * word.weight)
            rest -= word.weight
            left -= word.end - word.start
        if rows is None:
            rows = np.flatnonzero(scores > max(0.0, least - margin))
        if kept is not None:
            rows = rows[kept[rows]]
        found = scores[rows]
        for word in rarest:
            if not len(rows):
                break
            found += self._looked_up(segment, word, rows)
            rest -= word.weight
            chosen = found >= least - rest - margin
            rows, found = rows[chosen], found[chosen]
        if len(rows) > self._k:
            rows = rows[found >= np.partition(found, -self._k)[-self._k] - margin]
        return rows

    def _cleared(self, size: int) -> NDArray[np.float64]:
        """A place for scores; the same for all segments, because the system takes its time to give another."""
        if len(self._scores) < size:
            self._scores = np.empty(size)
        scores = self._scores[:size]
        scores.fill(0.0)
        return scores

    def _looked_up(self, segment: Postings, word: AskedWord, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """What a word gives to rows, which are in order."""
        held = segment.rows[word.start : word.end]
        wanted = rows.astype(held.dtype)
        at = held.searchsorted(wanted)
        np.minimum(at, len(held) - 1, out=at)
        given = self._table.take(segment.codes[word.start : word.end][at]) * word.weight
        given *= held[at] == wanted
        return given


_NONE = np.zeros(0, np.intp)


def _first(scores: NDArray[np.float64], rows: NDArray[np.intp], ids: SegmentIds, k: int) -> NDArray[np.intp]:
    """Where the k largest scores are, which these rows have; of equal ones those with the first ids."""
    if len(scores) <= k:
        return np.arange(len(scores))
    border = np.partition(scores, -k)[-k]
    more, equal = np.flatnonzero(scores > border), np.flatnonzero(scores == border)
    return np.concatenate([more, equal[ids.first(rows[equal], k - len(more))]])
