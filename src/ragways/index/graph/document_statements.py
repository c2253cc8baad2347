"""What one document states, as its row of `graph_contents` has it.

Most relations are stated by one document alone: they are kept with it, and nowhere else. The ends of a relation are
places among the entities that the document's chunks name.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from ragways.index.packed_numbers import fits_count, packed_counts, unpacked_counts

MILLION = 1_000_000
HALF = MILLION // 2
"""Weights are in millionths, and most are halves."""
_AT_ONCE = 10_000  # documents whose rows are held
_ID = struct.Struct("=q")
"""A number of an entity among those that a document names."""

Said = tuple[int | None, int, str, str]
"""A statement: the number of its text in the document, its weight in millionths, its date and its way."""
Told = Sequence[tuple[int, int]]
"""Texts that describe something: their documents, and their numbers there."""


class KeptStatement(NamedTuple):
    """A statement as it is kept: the number of its predicate and way, that of its text, its weight in millionths, and
    its date.
    """

    predicate: int
    text: int | None
    weight: int
    date: str


class PackedStatements(NamedTuple):
    """The statements of a document, by relation: where the ends of each relation are among the entities; how many
    statements each has, nothing where it is one of each; of each statement its weight and text, and which of the dates
    (`dated`) it has, nothing where there are no dates. Predicates are packed beside it (`packed_counts`).
    """

    dated: str
    subjects: bytes
    objects: bytes
    times: bytes
    weights: bytes
    texts: bytes
    dates: bytes


def packed_statements(ends: Sequence[tuple[int, int]], said: Sequence[Sequence[Said]]) -> PackedStatements:
    """`ends`: the places of each relation's subject and object among the document's entities; `said`: its
    statements.
    """
    times = [len(some) for some in said]
    statements = [each for some in said for each in some]
    dated = dict.fromkeys(date for _, _, date, _ in statements if date)
    numbers = {date: n for n, date in enumerate(dated, start=1)}
    return PackedStatements(
        json.dumps(list(map(_as_number, dated)), separators=(",", ":")) if dated else "",
        packed_counts([subject for subject, _ in ends]),
        packed_counts([object for _, object in ends]),
        packed_counts(times) if len(times) < len(statements) else b"",
        packed_counts([_as_code(weight) for _, weight, _, _ in statements]),
        packed_counts([0 if text is None else text + 1 for text, _, _, _ in statements]),
        packed_counts([numbers.get(date, 0) for _, _, date, _ in statements]) if dated else b"",
    )


def _as_code(millionths: int) -> int:
    """A weight as it is kept: most are halves."""
    return millionths << 1 | 1 if millionths % HALF else millionths // HALF << 1


def _as_weight(code: int) -> int:
    return code >> 1 if code & 1 else (code >> 1) * HALF


class ContentsRow(NamedTuple):
    """What `graph_contents` has of a document. Predicates have their numbers when it is put into the store."""

    document: int
    chunks: str
    dated: str
    named: bytes
    counts: bytes
    stated: bytes
    again: bytes
    entities: bytes
    subjects: bytes
    objects: bytes
    times: bytes
    weights: bytes
    texts: bytes
    dates: bytes
    predicates: bytes = b""

    def stored(self) -> tuple[int | str | bytes, ...]:
        """The columns of the table: all that is told of statements is pressed together, which halves it."""
        parts = (self.subjects, self.objects, self.times, self.weights, self.texts, self.dates, self.predicates)
        sizes = packed_counts([len(part) for part in parts])
        press = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = press.compress(b"".join([sizes, *parts])) + press.flush()
        return *self[:_STATEMENTS], bytes([len(sizes) // len(parts)]) + packed

    @classmethod
    def of_stored(cls, columns: Sequence[Any]) -> ContentsRow:
        """From these columns; raises ValueError where they are damaged."""
        *others, packed = columns
        count = len(cls._fields) - _STATEMENTS
        try:
            plain = zlib.decompress(packed[1:], -zlib.MAX_WBITS)
        except zlib.error as error:
            raise ValueError(f"what document {others[0]} states is damaged") from error
        sizes = plain[: packed[0] * count]
        bounds = list(accumulate([len(sizes), *(unpacked_counts(sizes, count) if fits_count(sizes, count) else ())]))
        if len(bounds) <= count or bounds[-1] != len(plain):
            raise ValueError(f"what document {others[0]} states is not whole")
        return cls(*others, *(plain[begin:end] for begin, end in pairwise(bounds)))


_STATEMENTS = ContentsRow._fields.index("subjects")
"""Where what is told of statements begins."""
COLUMNS = ", ".join([*ContentsRow._fields[:_STATEMENTS], "statements"])


def contents_rows(db: sqlite3.Connection, documents: Collection[int] | None = None) -> Iterator[list[ContentsRow]]:
    """The rows of all documents, or of those of these that are there, by number, some at a time."""
    query = f"SELECT {COLUMNS} FROM graph_contents"  # noqa: S608 - our own words
    values = list[str]()
    if documents is not None:
        query += " WHERE document IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(sorted(documents)))
    rows = db.execute(f"{query} ORDER BY document", values)
    while some := rows.fetchmany(_AT_ONCE):
        yield list(map(ContentsRow.of_stored, some))


class DocumentStatements:
    """What a document states, read from its row. Relations go by their places, in the order of statements."""

    def __init__(self, row: ContentsRow) -> None:
        self._row = row
        self.document = row.document
        self._stated = unpacked_counts(row.stated, row.chunks.count("\n") + 1 if row.chunks else 0)
        count = sum(self._stated)
        times = unpacked_counts(row.times, count) if row.times else None
        self._begins = range(count + 1) if times is None else [0, *accumulate(times)]
        """Where the statements of each relation begin, and where the last ones end."""
        self._subjects, self._objects = unpacked_counts(row.subjects, count), unpacked_counts(row.objects, count)

    def ends(self, place: int) -> tuple[int, int]:
        """The numbers of a relation's subject and object."""
        [subject] = _ID.unpack_from(self._row.entities, _ID.size * self._subjects[place])
        [object] = _ID.unpack_from(self._row.entities, _ID.size * self._objects[place])
        return subject, object

    def between(self, subject: int, object: int) -> list[int]:
        """The places of relations from one entity to another."""
        wanted, subjects, objects = (self._place(subject), self._place(object)), self._subjects, self._objects
        if not (isinstance(subjects, bytes) and isinstance(objects, bytes)):
            packed = self._row.subjects, self._row.objects
            left, right = (np.frombuffer(each, f"u{len(each) // len(subjects)}") for each in packed)
            both = (left == wanted[0]) & (right == wanted[1])
            found: list[int] = both.nonzero()[0].tolist()
            return found
        if not (min(wanted) >= 0 and max(wanted) < 1 << 8):
            return []  # one of them is not named, or at no end
        # An article's own entity is at one end of most of what it states: those of the other end are gone through.
        (rare, one), (often, other) = sorted(
            zip((subjects, objects), wanted, strict=True), key=lambda end: end[0].count(end[1])
        )
        return [at for at in _all_of(rare, one) if often[at] == other]

    def _place(self, entity: int) -> int:
        """The first place of an entity among those that are named; -1 where it is not."""
        packed = _ID.pack(entity)
        at = self._row.entities.find(packed)
        while at > 0 and at % _ID.size:  # bytes of two others
            at = self._row.entities.find(packed, at + 1)
        return at // _ID.size

    @cached_property
    def _dated(self) -> list[str]:
        return [_as_date(date) for date in json.loads(self._row.dated)]

    def statements(self, place: int) -> list[KeptStatement]:
        """Those of a relation, in order."""
        row, count = self._row, self._begins[-1]
        texts, weights = unpacked_counts(row.texts, count), unpacked_counts(row.weights, count)
        predicates, dates = (
            unpacked_counts(row.predicates, count),
            unpacked_counts(row.dates, count) if row.dates else None,
        )
        return [
            KeptStatement(
                predicates[at],
                texts[at] - 1 if texts[at] else None,
                _as_weight(weights[at]),
                self._dated[dates[at] - 1] if dates is not None and dates[at] else "",
            )
            for at in range(self._begins[place], self._begins[place + 1])
        ]

    def stating(self, place: int) -> Iterator[str]:
        """The paths of the chunks that state a relation."""
        paths, pairs = self._row.chunks.split("\n"), array("I", self._row.again)
        yield paths[bisect_right(list(accumulate(self._stated)), place)]
        yield from (paths[at] for at, stated in zip(pairs[::2], pairs[1::2], strict=True) if stated == place)


def _all_of(numbers: bytes, wanted: int) -> Iterator[int]:
    """The places of a number in a list of bytes."""
    at = numbers.find(wanted)
    while at >= 0:
        yield at
        at = numbers.find(wanted, at + 1)


_DIGITS = "123456789"


def _as_number(date: str) -> int | str:
    """A date as it is kept: a year, or year, month and day as one number; any other as it is."""
    if date.isascii() and date[:1] in _DIGITS:
        if len(date) == len("1883") and date.isdigit():
            return int(date)
        year, month, day = date[:4], date[5:7], date[8:]
        if len(date) == len("1883-10-04") and f"{year}{month}{day}".isdigit() and date == f"{year}-{month}-{day}":
            return int(f"{year}{month}{day}")
    return date


def _as_date(kept: int | str) -> str:
    if isinstance(kept, int):
        return str(kept) if kept < 10000 else f"{kept // 10000}-{kept // 100 % 100:02}-{kept % 100:02}"
    return kept
