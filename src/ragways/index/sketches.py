"""Sketches of vectors: a few bytes of each that tell which rows are worth an exact product.

A sketch is the signs of a vector's sums with fixed signs, 512 of them for vectors of 384 numbers (rows of a Hadamard
matrix, so that each says something that the others do not). The share of bits in which two sketches differ is near the
angle between the vectors. A question's sums that are near 0 tell little by their signs: those bits are passed over.

A search goes in three steps. A few words of all sketches are compared with the question's, those in which its sums are
largest; then the other words, of the rows that differ least in these; and the rows that differ least in all words are
multiplied.

Everything is whole numbers, what is compared depends on the question alone, and the rows of each step are all that
differ in at most so many bits (`SketchLimits`): the same rows in whatever parts a corpus lies, as long as the parts
count together (`SketchReach`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.packed import STEPS, Floats, integers

EXACT_ROWS = 65_536
"""Up to so many rows, each is multiplied: that takes no longer than 25 CPU ms."""
CANDIDATES = 5_000
"""Rows that are multiplied beyond that, at least; recall@10 of a million is .992 to .997 then (`docs/figures.md`)."""
_FOR_EACH = 100
"""Rows that are multiplied for each that is asked for, at least."""
_WHOLE = 8
"""Rows whose whole sketches are compared, for each that is multiplied."""
_FIRST = 3
"""Words of every sketch that are compared: three at most, whose bits are counted in a byte."""
_PASSED = 0.5
"""The share of a question's bits that are passed over."""
_SAMPLED = 16  # of so many rows, one tells about how far a search will reach
_WORD = 64
_MOST_BITS = 1024
_AT_ONCE = 16384  # rows compared at a time: they stay in the processor's cache

SketchWords = NDArray[np.uint64]
"""Sketches: a column for each row of the vectors, 64 bits in each number."""


@dataclass(frozen=True, eq=False)
class QuestionSketch:
    """The sketch of a question: its words, which bits of each are compared, and in which order the words are."""

    words: SketchWords
    compared: SketchWords
    order: Sequence[int]


class SketchLimits(NamedTuple):
    """In how many bits a row that is multiplied may differ from a question: of the first words, and of all."""

    first: int
    whole: int

    @classmethod
    def of(cls, reach: Callable[[int | None], SketchReach], k: int) -> SketchLimits:
        """The limits of a search for the k best; `reach` is that of all rows (`ComparedSketches.reach`)."""
        first = reach(None).bits(_WHOLE * _wanted(k))
        return cls(first, reach(first).bits(_wanted(k)))


@dataclass(frozen=True, eq=False)
class SketchReach:
    """How many rows differ from a question in how many bits; those of parts of a corpus add up. More bits than all
    the rows that are wanted differ in may be left out.
    """

    differing: NDArray[np.int64]

    def __add__(self, other: SketchReach) -> SketchReach:
        longest = max(len(self.differing), len(other.differing))
        padded = [np.pad(each.differing, (0, longest - len(each.differing))) for each in (self, other)]
        return SketchReach(padded[0] + padded[1])

    def bits(self, wanted: int) -> int:
        """In how many bits so many rows differ at most."""
        return int(np.searchsorted(np.cumsum(self.differing), wanted))


def is_exact(rows: int, k: int) -> bool:
    """Whether a search for the k best among so many rows multiplies them all."""
    return rows <= max(EXACT_ROWS, _wanted(k))


def _wanted(k: int) -> int:
    return max(CANDIDATES, _FOR_EACH * k)


class ComparedSketches:
    """A question's sketch beside those of rows, which lie in several parts of which one follows on the other."""

    def __init__(self, parts: Sequence[SketchWords], question: QuestionSketch) -> None:
        self._parts, self._question = parts, question
        self._first = first_differing(parts, question)
        # What was found last is kept for the step that comes next: the limit, and the rows within it.
        self._near: tuple[int, NDArray[np.intp]] | None = None
        self._whole: tuple[int, NDArray[np.intp], NDArray[np.uint16]] | None = None

    def reach(self, k: int, first: int | None = None) -> SketchReach:
        """How many rows differ in how many bits of their first words; or, of the rows that differ in at most `first` of
        these, in how many of all. It reaches as far as a search for the k best needs.
        """
        if first is not None:
            return SketchReach(np.bincount(self._compared(first)[1]).astype(np.int64))
        wanted = _WHOLE * _wanted(k)
        # Some rows tell about how far all will reach: to count those within that is quicker than to count all.
        limit, step = SketchReach(np.bincount(self._first[::_SAMPLED])).bits(wanted // _SAMPLED) + 1, 1
        while len(near := self._within(limit)) < min(wanted, len(self._first)):
            limit, step = limit + step, 2 * step
        return SketchReach(np.bincount(self._first[near]).astype(np.int64))

    def rows(self, limits: SketchLimits) -> NDArray[np.intp]:
        """The rows that are within both limits, in their order."""
        rows, differing = self._compared(limits.first)
        return rows[differing <= limits.whole]

    def _within(self, first: int) -> NDArray[np.intp]:
        """The rows that differ in at most so many bits of their first words."""
        near = self._near
        if near is None or near[0] < first:
            near = self._near = first, np.flatnonzero(self._first <= first)
        return near[1] if near[0] == first else near[1][self._first[near[1]] <= first]

    def _compared(self, first: int) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
        """These, and in how many bits of all each of them differs."""
        whole = self._whole
        if whole is None or whole[0] != first:
            rows = self._within(first)
            whole = self._whole = first, rows, self._first[rows] + self._rest(rows)
        return whole[1], whole[2]

    def _rest(self, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """In how many bits after the first words each of these rows, which are in order, differs."""
        found = np.zeros(len(rows), np.uint16)
        begin = done = 0
        for part in self._parts:
            end = begin + part.shape[1]
            more = int(np.searchsorted(rows, end))
            here, total = rows[done:more] - begin, found[done:more]
            for word in self._question.order[_FIRST:]:
                bits = part[word].take(here) ^ self._question.words[word]
                total += np.bitwise_count(bits & self._question.compared[word])
            begin, done = end, more
        return found


def sketches(numbers: NDArray[np.int8]) -> SketchWords:
    """Sketches of packed rows, without their factors."""
    signs = _signs(numbers.shape[1])
    found = np.empty((signs.shape[1] // _WORD, len(numbers)), np.uint64)
    for at in range(0, len(numbers), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        found[:, some] = _words(numbers[some].astype(np.float32) @ signs > 0)
    return found


def sketch(vector: Floats) -> QuestionSketch:
    """The sketch of one vector that is not packed."""
    upper, lower, _ = integers(vector[:, None])
    more, less = (np.hstack([upper, lower]).T.astype(np.float32) @ _signs(len(vector))).astype(np.float64)
    sums = (more * STEPS + less)[None]
    sizes = np.abs(sums)
    least = np.partition(sizes[0], int(_PASSED * sizes.size))[int(_PASSED * sizes.size)]
    order = np.argsort(-sizes.reshape(-1, _WORD).sum(axis=1), kind="stable").tolist()
    return QuestionSketch(_words(sums > 0)[:, 0], _words(sizes >= least)[:, 0], order)


def first_differing(parts: Sequence[SketchWords], of: QuestionSketch) -> NDArray[np.uint8]:
    """In how many bits of its first words each sketch differs from one, part after part."""
    found = np.zeros(sum(part.shape[1] for part in parts), np.uint8)
    bits, counts = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint8)
    begin = 0
    for part in parts:
        for at in range(0, part.shape[1], _AT_ONCE):
            size = min(_AT_ONCE, part.shape[1] - at)
            some, counted = bits[:size], counts[:size]
            for word in of.order[:_FIRST]:
                np.bitwise_xor(part[word, at : at + size], of.words[word], out=some)
                np.bitwise_and(some, of.compared[word], out=some)
                np.bitwise_count(some, out=counted)
                found[begin : begin + size] += counted
            begin += size
    return found


def _words(bits: NDArray[np.bool_]) -> SketchWords:
    """Rows of bits as columns of words."""
    words: SketchWords = np.packbits(bits, axis=1).view(np.uint64).T
    return words


@lru_cache(maxsize=4)
def _signs(dimension: int) -> Floats:
    """The signs to sum with, a column for each bit: those of a Hadamard matrix, whose rows are turned at random (but
    always the same, by a hash). A sum of bytes by signs is exact in float32.
    """
    size = _WORD
    while size < min(dimension, _MOST_BITS):
        size *= 2
    places = np.arange(size)
    hadamard = 1 - 2 * (np.bitwise_count(places[:, None] & places) % 2).astype(np.float32)
    turned = np.unpackbits(np.frombuffer(shake_256(b"sketch").digest(dimension // 8 + 1), np.uint8))[:dimension]
    signs: Floats = hadamard[np.arange(dimension) % size] * (1 - 2 * turned.astype(np.float32))[:, None]
    return signs
