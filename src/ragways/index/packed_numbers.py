"""Numbers as bytes: small ones in as many as the largest of a list needs, rising ones in as many as their gaps do."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
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


# A number by itself, and lists of rising ones, whose gaps are kept: seven bits a byte, the first of a number first


def packed_number(number: int) -> bytes:
    """A number from zero on."""
    found = bytearray()
    while number >= _MORE:
        found.append(number & _MORE - 1 | _MORE)
        number >>= _SEVEN
    found.append(number)
    return bytes(found)


def unpacked_number(packed: bytes, at: int) -> tuple[int, int]:
    """The number that was packed so and begins at this place, and the place behind it."""
    number = bits = 0
    while packed[at] >= _MORE:
        number |= (packed[at] & _MORE - 1) << bits
        bits += _SEVEN
        at += 1
    return number | packed[at] << bits, at + 1


def packed_gaps(numbers: NDArray[np.uint64], begins: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
    """Lists one after the other, each in rising order and in as few bytes as its gaps need; a list begins at each of
    `begins`, the first of which is 0. Also where each one's bytes end.
    """
    gaps = np.diff(numbers, prepend=np.uint64(0))
    gaps[begins] = numbers[begins]
    sizes = np.ones(len(gaps), np.int64)
    for bits in range(_SEVEN, int(gaps.max(initial=0)).bit_length(), _SEVEN):
        sizes += gaps >> np.uint64(bits) > 0
    ends = np.cumsum(sizes)
    packed = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    left = np.arange(len(gaps))
    for at in range(int(sizes.max(initial=0))):
        left = left[sizes[left] > at]
        more = (sizes[left] > at + 1) * np.uint64(_MORE)
        packed[(ends - sizes)[left] + at] = gaps[left] >> np.uint64(_SEVEN * at) & np.uint64(_MORE - 1) | more
    return packed.tobytes(), ends[np.append(begins[1:], len(gaps)) - 1] if len(begins) else ends


def unpacked_gaps(packed: Collection[bytes]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The numbers of lists that were packed so, one after the other, and how many each has."""
    held = np.frombuffer(b"".join(packed), np.uint8)
    last = np.flatnonzero(held < _MORE)
    starts = np.append(0, last[:-1] + 1) if len(last) else last
    sizes = last - starts + 1
    gaps, left = np.zeros(len(last), np.uint64), np.arange(len(last))
    for at in range(int(sizes.max(initial=0))):
        left = left[sizes[left] > at]
        gaps[left] |= (held[starts[left] + at] & np.uint64(_MORE - 1)).astype(np.uint64) << np.uint64(_SEVEN * at)
    bounds = np.cumsum([0, *map(len, packed)])
    firsts = np.searchsorted(starts, bounds)
    counts = np.diff(firsts)
    sums = np.append(np.uint64(0), np.cumsum(gaps, dtype=np.uint64))
    return sums[1:] - np.repeat(sums[firsts[:-1]], counts), counts


_SEVEN = 7
_MORE = 1 << _SEVEN
"""The bit of a byte that is not the last of its number."""
