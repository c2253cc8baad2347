"""Postings of a segment of chunks: which chunks hold a word, how often, and how long they are.

A word is known by a hash of 64 bits, so that segments are joined by arithmetic and no word of a text lies on the disk.
Two words with one hash would be one word; among ten million there are such two in one corpus of some hundred thousand.

A posting is a row (a chunk of the segment) and a code of 16 bits: how often the word stands there, and a byte for how
many words the chunk has. The byte is Lucene's, as tantivy has it: up to 40 words it is exact, beyond it tells eight
lengths of each doubling. So all that BM25 says of a posting is one look into a table of codes.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import mapped
from ragways.index.segment_ids import SegmentIds
from ragways.index.segments import SegmentDocuments

Array = NDArray[Any]

MOST = 255
"""Times that a word is counted in a chunk at most."""


def _lengths() -> Array:
    """How many words a byte stands for."""
    at = np.arange(256)
    bits, shift = (at - 24) & 7, ((at - 24) >> 3) - 1
    large = 24 + np.where(shift < 0, bits, (bits | 8) << np.maximum(shift, 0))
    return np.where(at < 24, at, large)


LENGTHS = _lengths()
"""How many words a chunk has, by its byte."""


def hash_of(word: str) -> int:
    """What a word is known by."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")


class Postings:
    """A segment that was written; its files are mapped, so opening reads next to nothing."""

    def __init__(self, folder: Path) -> None:
        self._words = mapped(folder / "words.npy")
        self._ends = mapped(folder / "ends.npy")
        self.rows = mapped(folder / "rows.npy")
        self.codes = mapped(folder / "codes.npy")
        self.lengths = mapped(folder / "lengths.npy")
        self.ids = SegmentIds.load(folder)
        if len(self._words) != len(self._ends) or not len(self.rows) == len(self.codes) == sum(self._ends[-1:]):
            raise ValueError("arrays of postings do not belong together")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def length(self) -> int:
        """Words of all chunks together."""
        return int(self.lengths[-1]) if len(self.lengths) else 0

    def find(self, hashes: Array) -> tuple[list[int], list[int]]:
        """Where the postings of each word begin and end; at one place where there are none."""
        if not len(self._words):
            return [0] * len(hashes), [0] * len(hashes)
        at = np.minimum(np.searchsorted(self._words, hashes), len(self._words) - 1)
        ends = self._ends[at].astype(np.int64)
        starts = np.where(at > 0, self._ends[np.maximum(at - 1, 0)], 0).astype(np.int64)
        known = self._words[at] == hashes
        return np.where(known, starts, ends).tolist(), ends.tolist()


# Writing


def write_postings(folder: Path, chunks: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Write a segment of chunks into a folder that has their documents, each with its path in the document and its
    words, of which any may stand more than once.
    """
    paths: list[str] = []
    lengths, tokens = array("q"), array("q")
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    for path, words in chunks:
        paths.append(path)
        lengths.append(len(words))
        tokens.extend(map(numbers.__getitem__, words))
    hashes, place = np.unique(np.fromiter(map(hash_of, numbers), np.uint64, len(numbers)), return_inverse=True)
    words_in = np.frombuffer(lengths, np.int64)
    bits = len(paths).bit_length()
    keys = (place[np.frombuffer(tokens, np.int64)] << bits) | np.repeat(np.arange(len(paths)), words_in)
    keys, times = np.unique(keys, return_counts=True)
    rows = keys & ((1 << bits) - 1)
    codes = (np.minimum(times, MOST) << 8) | (np.searchsorted(LENGTHS, words_in, side="right") - 1)[rows]
    counts = np.bincount(keys >> bits, minlength=len(hashes))
    _save(folder, hashes, counts, rows, codes, words_in)
    SegmentIds.of(SegmentDocuments.load(folder), paths).save(folder)


def take_postings(folder: Path, sources: Sequence[Path], rows: Array) -> None:
    """Write a segment of these rows of others, laid end to end, in this order; the folder has their documents."""
    parts = [Postings(source) for source in sources]
    size = sum(map(len, parts))
    new = np.full(size, -1, np.int64)
    new[rows] = np.arange(len(rows))
    postings = _thinned(parts[0], new) if len(parts) == 1 else _merged(parts, new)
    lengths = np.concatenate([np.diff(part.lengths.astype(np.int64), prepend=0) for part in parts])
    _save(folder, *postings, lengths[rows])
    SegmentIds.taken(SegmentDocuments.load(folder), [part.ids for part in parts], rows).save(folder)


def _thinned(part: Postings, new: Array) -> tuple[Array, Array, Array, Array]:
    """Words, counts, rows and codes without the rows that have no new number; the others are in their order."""
    kept = (new >= 0)[part.rows]
    ends = part._ends.astype(np.int64)
    counts = np.add.reduceat(kept, np.concatenate([[0], ends[:-1]]), dtype=np.int64) if len(ends) else ends
    left = counts > 0
    return part._words[left], counts[left], new[part.rows[kept]], part.codes[kept]


def _merged(parts: Sequence[Postings], new: Array) -> tuple[Array, Array, Array, Array]:
    """Words, counts, rows and codes of all, where the rows have a new number."""
    words, place = np.unique(np.concatenate([part._words for part in parts]), return_inverse=True)
    bits = len(new).bit_length()
    keys, at, first = [], 0, 0
    for part in parts:
        counts: Array = np.diff(part._ends.astype(np.int64), prepend=0)
        rows = new[first : first + len(part)][part.rows]
        kept = rows >= 0
        number = np.repeat(place[at : at + len(counts)], counts)[kept]
        # A posting as one number, so that they are sorted by word and row, and bring their code.
        keys.append((((number << bits) | rows[kept]) << 16) | part.codes[kept])
        at, first = at + len(counts), first + len(part)
    merged = np.sort(np.concatenate(keys))
    held = np.bincount(merged >> (bits + 16), minlength=len(words))
    left = held > 0
    return words[left], held[left], (merged >> 16) & ((1 << bits) - 1), merged & 0xFFFF


def _save(folder: Path, words: Array, counts: Array, rows: Array, codes: Array, lengths: Array) -> None:
    np.save(folder / "words.npy", words)
    np.save(folder / "ends.npy", _sums(counts))
    np.save(folder / "rows.npy", rows.astype(np.uint16 if len(lengths) <= 2**16 else np.uint32))
    np.save(folder / "codes.npy", codes.astype(np.uint16))
    np.save(folder / "lengths.npy", _sums(lengths))


def _sums(counts: Array) -> Array:
    """What these come to, one after the other."""
    sums = np.cumsum(counts, dtype=np.int64)
    return sums.astype(np.uint32 if not len(sums) or sums[-1] < 2**32 else np.uint64)
