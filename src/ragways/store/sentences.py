"""Sentences of a document as its row in the store has them: all of them in one blob, of two or three bytes each.

A sentence begins soon after the one before, and is not long. So the gap before it and its length are kept, in as few
bytes as the largest of them needs. Ids are not kept: a sentence is numbered in the paragraph that it stands in.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

Span = tuple[int, int]
"""Start and end in the text of a document."""

_PLACES = 16
"""In the first byte of a blob: places are kept instead of gaps. The last two bits of that byte tell how many bytes a
gap has (1, 2, 4 or 8), and the two before them, how many a length has.
"""
_WIDTHS = [(1 << (head & 3), 1 << (head >> 2)) for head in range(_PLACES)]


def packed_sentences(spans: Iterable[Span]) -> bytes:
    """Sentences in their order. Where one begins before the one before it ends, which headings that are out of order
    bring about, their places are kept instead of gaps.
    """
    starts, gaps, lengths, before = [], [], [], 0
    for start, end in spans:
        starts.append(start)
        gaps.append(start - before)
        lengths.append(end - start)
        before = end
    if not starts:
        return b""
    places = min(gaps) < 0
    first, second = packed_counts(starts if places else gaps), packed_counts(lengths)
    wide, long = (len(each) // len(starts) for each in (first, second))
    return bytes([wide.bit_length() - 1 | long.bit_length() - 1 << 2 | _PLACES * places]) + first + second


def unpacked_sentences(packed: bytes, begin: int = -1, stop: float = math.inf) -> list[Span]:
    """What was packed, or those of it that end after `begin` and start before `stop`."""
    if not packed:
        return []
    wide, long = _WIDTHS[packed[0] % _PLACES]
    count, left = divmod(len(packed) - 1, wide + long)
    if left:
        raise ValueError(f"sentences in {len(packed)} bytes, of {wide} and {long} each")
    middle = 1 + count * wide
    pairs = zip(unpacked_counts(packed[1:middle], count), unpacked_counts(packed[middle:], count), strict=True)
    if packed[0] & _PLACES:
        return [(start, start + length) for start, length in pairs if start + length > begin and start < stop]
    spans, end = [], 0
    for gap, length in pairs:  # the quickest way: most documents are short, and few are read to their end
        start = end + gap
        end = start + length
        if end > begin:
            if start >= stop:
                break
            spans.append((start, end))
    return spans


_CODES: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Kinds of numbers, by bytes a number."""


def packed_counts(counts: Sequence[int]) -> bytes:
    """Numbers from zero on, each in one byte, or in two, four or eight where one of them needs so many."""
    most = max(counts, default=0)
    if most < 1 << 8:
        return bytes(counts)
    return array("H" if most < 1 << 16 else "I" if most < 1 << 32 else "Q", counts).tobytes()


def unpacked_counts(packed: bytes, count: int) -> Sequence[int]:
    """What was packed: so many numbers. Nothing is copied."""
    return packed if len(packed) == count else memoryview(packed).cast(_CODES[len(packed) // count])


# Sentences of the documents of a store


def sentences_of(db: sqlite3.Connection, number: int, begin: int = -1, stop: float = math.inf) -> list[Span]:
    """Where the sentences of a document are, or those of them that lie between two places; none where there is no such
    document.
    """
    row = db.execute("SELECT sentences FROM documents WHERE number = ?", (number,)).fetchone()
    return [] if row is None else unpacked_sentences(row[0], begin, stop)


def count_sentences(db: sqlite3.Connection) -> int:
    """How many sentences all documents have. SQLite adds up the bytes, so that a million documents take a moment."""
    query = "SELECT hex(substr(sentences, 1, 1)), sum(length(sentences) - 1) FROM documents GROUP BY 1"
    found = {head: size for head, size in db.execute(query) if head}
    return sum(size // sum(_WIDTHS[int(head, 16) % _PLACES]) for head, size in found.items())


def sentence_counts(db: sqlite3.Connection, numbers: Iterable[int] | None = None) -> Iterator[tuple[int, int]]:
    """Documents (of these numbers) that have sentences, with how many each has; all of them by number."""
    query = "SELECT number, sentences FROM documents"
    rows: Iterable[tuple[int, bytes]] = (
        db.execute(f"{query} ORDER BY number")
        if numbers is None
        else chain.from_iterable(db.execute(f"{query} WHERE number = ?", (number,)) for number in numbers)
    )
    return ((number, (len(packed) - 1) // sum(_WIDTHS[packed[0] % _PLACES])) for number, packed in rows if packed)


def sentence_rows(db: sqlite3.Connection, number: int) -> list[tuple[str, int, int]]:
    """Path, start and end of the sentences of a document: `s8:p2:t3` is the fourth of the paragraph `s8:p2`. One that
    begins in no paragraph has no more than its number, which tells that something is wrong.
    """
    query = "SELECT start, end, path FROM paragraphs WHERE document = ? ORDER BY ordinal"
    paragraphs = db.execute(query, (number,))
    begin, stop, prefix, ordinal, before, rows = 0, 0, "", 0, 0, []
    for start, end in sentences_of(db, number):
        # Paragraphs, and so sentences, may go back in the text: where headings are out of order.
        while (not begin <= start < stop or start < before) and (following := paragraphs.fetchone()) is not None:
            begin, stop, path = following
            prefix, ordinal, before = f"{path}:", 0, 0
        rows.append((f"{prefix}t{ordinal}", start, end))
        ordinal, before = ordinal + 1, end
    return rows
