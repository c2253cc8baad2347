"""Sketches of vectors: a few bytes of each that tell which rows are worth an exact product.

A sketch is the signs of a vector's sums with fixed signs, 512 of them for vectors of 384 numbers (rows of a Hadamard
matrix, so that each says something that the others do not). The share of bits in which two sketches differ is near the
angle between the vectors. A search takes the rows that differ least from the question and multiplies those alone.

Everything is whole numbers, and the rows that are multiplied are all that differ in at most so many bits: the same rows
in whatever parts a corpus lies, as long as the parts count together (`SketchReach`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from ragways.index.packed import STEPS, Floats, integers

EXACT_ROWS = 65_536
"""Up to so many rows, each is multiplied: that takes no longer than 25 CPU ms."""
CANDIDATES = 6_000
"""Rows that are multiplied beyond that, at least; recall@10 of a million is .997 then (`docs/figures.md`)."""
_FOR_EACH = 120
"""Rows that are multiplied for each that is asked for, at least."""
_WORD = 64
_MOST_BITS = 1024
_AT_ONCE = 16384  # rows compared at a time: they stay in the processor's cache

SketchWords = NDArray[np.uint64]
"""Sketches: a column for each row of the vectors, 64 bits in each number."""


@dataclass(frozen=True, eq=False)
class SketchReach:
    """How many rows differ from a question in how many bits; those of parts of a corpus add up."""

    rows: int
    differing: NDArray[np.int64]

    def __add__(self, other: SketchReach) -> SketchReach:
        longest = max(len(self.differing), len(other.differing))
        padded = [np.pad(each.differing, (0, longest - len(each.differing))) for each in (self, other)]
        return SketchReach(self.rows + other.rows, padded[0] + padded[1])

    def bits(self, k: int) -> int | None:
        """In how many bits a row may differ to be multiplied, where k are asked for; None where all rows are."""
        return None if is_exact(self.rows, k) else int(np.searchsorted(np.cumsum(self.differing), _wanted(k)))


def is_exact(rows: int, k: int) -> bool:
    """Whether a search for the k best among so many rows multiplies them all."""
    return rows <= max(EXACT_ROWS, _wanted(k))


def _wanted(k: int) -> int:
    return max(CANDIDATES, _FOR_EACH * k)


def sketches(numbers: NDArray[np.int8]) -> SketchWords:
    """Sketches of packed rows, without their factors."""
    signs = _signs(numbers.shape[1])
    found = np.empty((signs.shape[1] // _WORD, len(numbers)), np.uint64)
    for at in range(0, len(numbers), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        found[:, some] = _words(numbers[some].astype(np.float32) @ signs)
    return found


def sketch(vector: Floats) -> SketchWords:
    """The sketch of one vector that is not packed."""
    upper, lower, _ = integers(vector[:, None])
    return _words((upper * STEPS + lower).T @ _signs(len(vector)))[:, 0]


def differing(parts: Sequence[SketchWords], of: SketchWords) -> NDArray[np.uint16]:
    """In how many bits each sketch differs from one, part after part."""
    found = np.empty(sum(part.shape[1] for part in parts), np.uint16)
    bits, counts, some = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    begin = 0
    for part in parts:
        for at in range(0, part.shape[1], _AT_ONCE):
            columns = part[:, at : at + _AT_ONCE]
            size = columns.shape[1]
            total = found[begin : begin + size]
            total[:] = 0
            for first in range(0, len(columns), 3):  # the bits of three words, 192 at most, are counted in a byte
                for word in range(first, min(first + 3, len(columns))):
                    np.bitwise_xor(columns[word], of[word], out=bits[:size])
                    counted = some if word == first else counts
                    np.bitwise_count(bits[:size], out=counted[:size])
                    if word > first:
                        some[:size] += counts[:size]
                total += some[:size]
            begin += size
    return found


def _words(sums: NDArray[np.floating]) -> SketchWords:
    """The signs of rows of sums, as columns."""
    words: SketchWords = np.packbits(sums > 0, axis=1).view(np.uint64).T
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
