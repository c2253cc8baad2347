"""Sketches of vectors: a few bytes of each that say which rows are worth an exact product.

A sketch is the signs of a vector's sums with fixed signs, 512 of them for vectors of 384 numbers (rows of a Hadamard
matrix, so that each says something that the others do not). The share of bits in which two sketches differ is near the
angle between the vectors. A question's sums that are near 0 say little by their signs: those bits are passed over.

A search goes in three steps. A few words of all sketches are compared with the question's, those in which its sums are
largest; then the other words, of the rows that differ least in these; and the rows that differ least in all words are
multiplied. Each step takes all rows that differ in at most so many bits, so that the order of the rows has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from ragways.store.packed import STEPS, Floats, integers

EXACT_ROWS = 16_384
"""Up to so many rows, each is multiplied: that takes about a CPU millisecond."""
CANDIDATES = 5_000
"""Rows that are multiplied beyond that, at least; recall@10 of a million is .992 to .997 then (`docs/figures.md`)."""
_FOR_EACH = 100
"""Rows that are multiplied for each that is wanted, at least."""
_WHOLE = 8
"""Rows whose whole sketches are compared, for each that is multiplied."""
_FIRST = 3
"""Words of every sketch that are compared: three at most, whose bits are counted in a byte."""
_PASSED = 0.5
"""The share of a question's bits that are passed over."""
_SAMPLED = 16  # of so many rows, one estimates how far a search will reach
_WORD = 64
_MOST_BITS = 1024
_AT_ONCE = 16384  # rows compared at a time: they stay in the processor's cache

SketchWords = Sequence[NDArray[np.uint64]]
"""Sketches: for each of their words an array with a number of 64 bits for each row."""


def is_exact(rows: int, k: int) -> bool:
    """Whether a search for the k best among so many rows multiplies them all."""
    return rows <= max(EXACT_ROWS, _wanted(k))


def _wanted(k: int) -> int:
    return max(CANDIDATES, _FOR_EACH * k)


def words_of(dimension: int) -> int:
    """How many words the sketch of a vector has."""
    return len(_signs(dimension)[0]) // _WORD


def sketches(numbers: NDArray[np.int8]) -> list[NDArray[np.uint64]]:
    """Sketches of packed rows, given without their factors."""
    signs = _signs(numbers.shape[1])
    found = np.empty((signs.shape[1] // _WORD, len(numbers)), np.uint64)
    for at in range(0, len(numbers), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        found[:, some] = _words(numbers[some].astype(np.float32) @ signs > 0)
    return list(found)


def near_rows(words: SketchWords, vector: Floats, k: int, among: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Rows that may be among the k nearest to a vector, in order; `among`: of these, which are in order."""
    question = _QuestionSketch.of(vector)
    first = _first_differing(words, question)
    if among is not None:
        first = first[among]
    near = np.flatnonzero(first <= _limit(first, _WHOLE * _wanted(k)))
    differing = first[near].astype(np.uint16)
    rows = near if among is None else among[near]
    for word in question.order[_FIRST:]:
        bits = words[word].take(rows) ^ question.words[word]
        differing += np.bitwise_count(bits & question.compared[word])
    return rows[differing <= _limit(differing, _wanted(k))]


def _limit(differing: NDArray[np.unsignedinteger], wanted: int) -> int:
    """In how many bits so many rows differ at most."""
    # Some rows estimate the limit: to count the rows within it is quicker than to count those of every limit.
    counts = np.cumsum(np.bincount(differing[::_SAMPLED]))
    limit = int(np.searchsorted(counts, wanted // _SAMPLED))
    wanted = min(wanted, len(differing))
    while np.count_nonzero(differing <= limit) < wanted:
        limit += 1
    while limit and np.count_nonzero(differing <= limit - 1) >= wanted:
        limit -= 1
    return limit


@dataclass(frozen=True, eq=False)
class _QuestionSketch:
    """The sketch of a question: its words, which bits of each are compared, and in which order the words are."""

    words: NDArray[np.uint64]
    compared: NDArray[np.uint64]
    order: Sequence[int]

    @classmethod
    def of(cls, vector: Floats) -> _QuestionSketch:
        """Of a vector that is not packed."""
        upper, lower, _ = integers(vector[:, None])
        more, less = (np.hstack([upper, lower]).T.astype(np.float32) @ _signs(len(vector))).astype(np.float64)
        sums = (more * STEPS + less)[None]
        sizes = np.abs(sums)
        least = np.partition(sizes[0], int(_PASSED * sizes.size))[int(_PASSED * sizes.size)]
        order = np.argsort(-sizes.reshape(-1, _WORD).sum(axis=1), kind="stable").tolist()
        return cls(_words(sums > 0)[:, 0], _words(sizes >= least)[:, 0], order)


def _first_differing(words: SketchWords, of: _QuestionSketch) -> NDArray[np.uint8]:
    """In how many bits of its first words each sketch differs from one."""
    found = np.zeros(len(words[0]), np.uint8)
    bits, counts = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint8)
    for at in range(0, len(found), _AT_ONCE):
        size = min(_AT_ONCE, len(found) - at)
        some, counted = bits[:size], counts[:size]
        for word in of.order[:_FIRST]:
            np.bitwise_xor(words[word][at : at + size], of.words[word], out=some)
            np.bitwise_and(some, of.compared[word], out=some)
            np.bitwise_count(some, out=counted)
            found[at : at + size] += counted
    return found


def _words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits as columns of words."""
    words: NDArray[np.uint64] = np.packbits(bits, axis=1).view(np.uint64).T
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
