"""Small numbers as bytes: lists of them in rows of the store take as many bytes a number as the largest needs."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_CODES: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Kinds of numbers, by bytes a number."""


def packed_counts(counts: Sequence[int]) -> bytes:
    """Numbers from zero on, each in one byte, or in two, four or eight where one of them needs so many."""
    most = max(counts, default=0)
    if most < 1 << 8:
        return bytes(counts)
    return array("H" if most < 1 << 16 else "I" if most < 1 << 32 else "Q", counts).tobytes()


def unpacked_counts(packed: bytes, count: int) -> Sequence[int]:
    """What was packed: so many numbers. Nothing is copied, so that one of them may be looked up in a long list."""
    return packed if len(packed) == count else memoryview(packed).cast(_CODES[len(packed) // count])


def fits_count(packed: bytes, count: int) -> bool:
    """Whether so many numbers may have been packed so."""
    return len(packed) in {size * count for size in _CODES}


def joined_counts(packed: Sequence[bytes], lengths: Sequence[int]) -> NDArray[np.uint64]:
    """The numbers of many lists, one after the other; `lengths` tells how many each has."""
    wide = [len(each) != length for each, length in zip(packed, lengths, strict=True)]
    if not any(wide):
        return np.frombuffer(b"".join(packed), dtype=np.uint8).astype(np.uint64)
    return np.concatenate(
        [
            np.frombuffer(each, dtype=f"u{len(each) // length}" if large else np.uint8).astype(np.uint64)
            for each, length, large in zip(packed, lengths, wide, strict=True)
        ]
    )
