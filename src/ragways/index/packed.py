"""Vectors in a byte a number: a quarter of the room of float32, and what they find is the same.

A packed vector is its numbers times 127 / the largest of them, rounded, and then a float32 that makes the whole of
length 1 again. The direction is off by about a hundredth of the length, and a cosine, in which such errors cancel, by
0.0003 on average (`docs/figures.md`). Packing is plain arithmetic, the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged

Floats = NDArray[np.float32]

_SCALE = np.dtype("<f4")
_LARGEST = np.float32(127)
_AT_ONCE = 8192  # rows unpacked at a time: 12 MB of 384 numbers each
KEPT = 64 * 1024**2
"""Bytes of float32 that rows may take to be kept unpacked once they were multiplied twice: a corpus that stays open is
asked again, and unpacking takes three times as long as the product itself.
"""


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


class PackedRows:
    """Packed vectors, read as if they were an array of float32: rows are unpacked as they are asked for."""

    def __init__(self, packed: NDArray[np.int8]) -> None:
        if packed.dtype != np.int8 or packed.ndim != 2 or packed.shape[1] < _SCALE.itemsize:
            raise StoreDamaged("vectors are not kept as this version keeps them", "ragways index --rebuild PATH")
        self.packed = packed
        self._numbers = packed[:, : -_SCALE.itemsize]
        self._scales = np.ascontiguousarray(packed[:, -_SCALE.itemsize :]).view(_SCALE)
        self._unscaled: Floats | None = None
        self._asked = 0

    @classmethod
    def of(cls, vectors: Floats) -> PackedRows:
        """From numbers that are not packed yet."""
        return cls(pack(vectors))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._numbers), self._numbers.shape[1]

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Floats]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, rows: Any) -> Floats:  # noqa: ANN401 - whatever NumPy takes for rows
        scales = self._scales[rows]
        unpacked: Floats = self._numbers[rows].astype(np.float32) * (scales if scales.ndim > 1 else scales[0])
        return unpacked

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        return self[:] if dtype is None else self[:].astype(dtype)

    def __matmul__(self, other: Floats) -> Floats:
        """Products with a vector, or with the columns of an array."""
        self._asked += 1
        if self._asked == 2 and 4 * self._numbers.size <= KEPT:
            self._unscaled = self._numbers.astype(np.float32)
        numbers = self._numbers if self._unscaled is None else self._unscaled
        found = np.empty((len(self), *other.shape[1:]), np.float32)
        # By the same stretches either way, so that the last bit does not hang on what was asked before.
        for at in range(0, len(self), _AT_ONCE):
            some = slice(at, at + _AT_ONCE)
            scales = self._scales[some] if other.ndim > 1 else self._scales[some, 0]
            np.multiply(numbers[some].astype(np.float32, copy=False) @ other, scales, out=found[some])
        return found


Matrix = Floats | PackedRows
"""Rows of numbers, packed or not: both are asked for rows, or for products, alike."""


def unpack(row: bytes) -> Floats:
    """One packed vector as numbers."""
    return PackedRows(np.frombuffer(row, dtype=np.int8)[None, :])[0]
