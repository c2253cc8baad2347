"""Vectors in a byte a number: a quarter of the room of float32, and what they find is the same.

A packed vector is its numbers times 127 / the largest of them, rounded, and then a float32 that makes the whole of
length 1 again. The direction is off by about a hundredth of the length, and a cosine, in which such errors cancel, by
0.0003 on average (`docs/figures.md`). Packing is plain arithmetic, the same on every machine.

Products are exact: a question's numbers become integers too, of 15 bits (a cosine is off by some 0.00001 then), so that
a product is a sum of integers, which is the same in whatever order a processor or a library adds them up. Rows that are
equal have equal products, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged
from ragways.store.database import REBUILD

Floats = NDArray[np.float32]

STEPS = 254  # so many of the lower half of an integer make one of the upper half
_SCALE = np.dtype("<f4")
_LARGEST = np.float32(127)
_AT_ONCE = 256  # rows made float32 at a time: they stay in the processor's cache, which is worth a factor of three
_TOGETHER = 65_536  # rows whose products are scaled together
_EXACT = 1040  # numbers whose products of two bytes, up to 127 * 127 each, add up to less than 2**24: exact in float32


def pack(vectors: Floats) -> NDArray[np.int8]:
    """Rows of numbers as rows of bytes, each with its factor behind it."""
    vectors = np.asarray(vectors, dtype=np.float32)
    peaks = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    # A number as small as float32 can hold has no inverse there: such a row, as one of zeros, stays zero.
    factors = np.divide(_LARGEST, peaks, out=np.zeros_like(peaks), where=peaks > np.float32(1e-30))
    numbers = np.rint(vectors * factors).astype(np.int8)
    squares = (numbers.astype(np.int64) ** 2).sum(axis=1)
    scales = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(vectors)), where=squares > 0).astype(_SCALE)
    return np.hstack([numbers, scales.view(np.int8).reshape(len(vectors), _SCALE.itemsize)])


def unpacked(packed: NDArray[np.int8]) -> Floats:
    """Packed rows as numbers."""
    return packed[:, : -_SCALE.itemsize].astype(np.float32) * _scales(packed)


def unpack(row: bytes) -> Floats:
    """One packed vector as numbers."""
    vector: Floats = unpacked(np.frombuffer(row, dtype=np.int8)[None, :])[0]
    return vector


class PackedRows:
    """Packed vectors, read as if they were an array of float32: rows are unpacked as they are asked for."""

    def __init__(self, packed: NDArray[np.int8]) -> None:
        if packed.dtype != np.int8 or packed.ndim != 2 or packed.shape[1] < _SCALE.itemsize:
            raise StoreDamaged("vectors are not stored as this version stores them", REBUILD)
        self.packed = packed
        """All rows, each with its factor."""

    @classmethod
    def of(cls, vectors: Floats) -> PackedRows:
        """From numbers that are not packed yet."""
        return cls(pack(vectors))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.packed.shape[1] - _SCALE.itemsize

    def __len__(self) -> int:
        return len(self.packed)

    def __iter__(self) -> Iterator[Floats]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, rows: Any) -> Floats:  # noqa: ANN401 - whatever NumPy takes for rows
        if isinstance(rows, int | np.integer):
            one: Floats = unpacked(self.packed[rows][None, :])[0]
            return one
        return unpacked(self.packed[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        return self[:] if dtype is None else self[:].astype(dtype)

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> PackedRows:
        """These rows, copied."""
        return PackedRows(self.packed[np.asarray(rows, dtype=np.int64)])

    def products(self, other: Floats, size: int) -> Iterator[tuple[int, Floats]]:
        """Products with the columns of an array, for so many rows at a time at most, each time with the number of the
        first. They are quicker than `@`, and as near as float32 is.
        """
        for at in range(0, len(self), size):
            rows = self.packed[at : at + size]
            found = products(rows[:, : -_SCALE.itemsize], other) * _scales(rows)
            yield at, found.astype(np.float32, copy=False)

    def __matmul__(self, other: Floats) -> Floats:
        """Products with a vector, or with the columns of an array: exact, so that equal rows have equal products
        wherever they stand.
        """
        columns = other.reshape(len(other), -1)
        upper, lower, factors = integers(columns)
        both = np.hstack([upper, lower]).astype(np.float32)
        found = np.empty((len(self), columns.shape[1]), np.float32)
        for at in range(0, len(self), _TOGETHER):
            rows = self.packed[at : at + _TOGETHER]
            more, less = np.split(products(rows[:, : -_SCALE.itemsize], both), 2, axis=1)
            found[at : at + len(rows)] = (more * np.float64(STEPS) + less) * factors * _scales(rows)
        return found.reshape(len(self), *other.shape[1:])


def _scales(packed: NDArray[np.int8]) -> Floats:
    """The factor of each packed row."""
    factors: Floats = np.ascontiguousarray(packed[:, -_SCALE.itemsize :]).view(_SCALE)
    return factors


def integers(columns: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Columns of numbers as integers: their upper and their lower halves, each within 127, and for each column the
    factor that makes its numbers of `STEPS` * upper + lower.
    """
    peaks = np.abs(columns).max(axis=0, initial=0.0).astype(np.float64)
    scaled = columns * np.divide(_LARGEST, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    upper = np.rint(scaled)
    return upper, np.rint((scaled - upper) * STEPS), peaks / (float(_LARGEST) * STEPS)


def products(numbers: NDArray[np.int8], integers: Floats) -> NDArray[np.floating]:
    """Products of rows of bytes with columns of integers that are within 127: exact, for no sum has too many bits."""
    found = np.zeros((len(numbers), integers.shape[1]), np.float32 if len(integers) <= _EXACT else np.float64)
    for first in range(0, len(integers), _EXACT):
        factors = integers[first : first + _EXACT]
        floats = np.empty((_AT_ONCE, len(factors)), np.float32)
        for at in range(0, len(numbers), _AT_ONCE):
            rows = numbers[at : at + _AT_ONCE, first : first + _EXACT]
            floats[: len(rows)] = rows
            found[at : at + _AT_ONCE] += floats[: len(rows)] @ factors
    return found


Matrix = Floats | PackedRows
"""Rows of numbers, packed or not: both are asked for rows, or for products, alike."""
