"""What many documents state, as arrays."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.document_statements import HALF, ContentsRow, DocumentStatements, contents_rows
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.relation_ids import relation_numbers
from ragways.index.packed_numbers import joined_counts
from ragways.index.ragged import is_among

Ints = NDArray[np.int64]


def count_paths(paths: str) -> int:
    """How many chunks have these paths."""
    return paths.count("\n") + 1 if paths else 0


class StatedColumns(NamedTuple):
    """Relations that documents state, in the order of these and of their statements: how many each document states,
    and of each relation its number, the numbers of its ends, and its weight there in millionths.
    """

    counts: Ints
    relations: Ints
    subjects: Ints
    objects: Ints
    weights: Ints

    @classmethod
    def of(cls, names: Predicates, rows: Sequence[ContentsRow]) -> StatedColumns:
        """From the rows of some documents."""
        lengths = [count_paths(row.chunks) for row in rows]
        counts = _sums(
            joined_counts([row.stated for row in rows], lengths).astype(np.int64), np.array(lengths, np.int64)
        )
        of_each = counts.tolist()
        sizes = np.array([len(row.entities) // 8 for row in rows], np.int64)
        firsts = np.repeat(np.cumsum(sizes) - sizes, counts)
        named = np.frombuffer(b"".join(row.entities for row in rows), np.int64)
        left, right = (
            named[firsts + joined_counts(places, of_each).astype(np.int64)]
            for places in ([row.subjects for row in rows], [row.objects for row in rows])
        )
        filled = [row.times or b"\x01" * count for row, count in zip(rows, of_each, strict=True)]
        times = joined_counts(filled, of_each).astype(np.int64)
        begins, of_document = np.cumsum(times) - times, _sums(times, counts).tolist()
        codes = joined_counts([row.weights for row in rows], of_document)
        whole = codes >> np.uint64(1)
        millionths = np.where(codes & np.uint64(1), whole, whole * np.uint64(HALF)).astype(np.int64)
        predicates = joined_counts([row.predicates for row in rows], of_document)
        relations = relation_numbers(left, names.hashes(predicates[begins]), right)
        return cls(counts, relations, left, right, _sums(millionths, times))

    def at(self, found: Ints) -> tuple[Ints, Ints]:
        """Which of the documents these relations, by their places here, are of, and their places there."""
        ends = np.cumsum(self.counts)
        which = np.searchsorted(ends, found, side="right")
        return which, found - (ends - self.counts)[which]


def _sums(values: Ints, lengths: Ints) -> Ints:
    """The sums of so many values each, one stretch after the other."""
    ends = np.cumsum(lengths)
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    found: Ints = sums[ends] - sums[ends - lengths]
    return found


def stated_columns(db: sqlite3.Connection) -> Iterator[StatedColumns]:
    """What all documents state, by number, some documents at a time."""
    names = Predicates(db)
    return (StatedColumns.of(names, rows) for rows in contents_rows(db))


def stated_among(
    db: sqlite3.Connection,
    names: Predicates,
    relations: Ints | Collection[int],
    documents: Collection[int] | None = None,
) -> Iterator[tuple[int, int, DocumentStatements]]:
    """Those of these relations that documents state, all or some: the number of each, its place in the document, and
    the document, by number. The ids of all that they state are made for it.
    """
    asked = np.sort(np.fromiter(relations, np.int64, len(relations)))
    for rows in contents_rows(db, documents) if len(asked) else ():
        columns = StatedColumns.of(names, rows)
        found = np.flatnonzero(is_among(columns.relations, asked))
        which, places = columns.at(found)
        stated = {n: DocumentStatements(rows[n]) for n in set(which.tolist())}
        for id, n, place in zip(columns.relations[found].tolist(), which.tolist(), places.tolist(), strict=True):
            yield id, place, stated[n]
