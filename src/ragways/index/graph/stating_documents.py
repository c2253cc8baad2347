"""Which document states a relation that no other document states: found in arrays, or by going through what all
documents state. The store does not tell it, for that would take as much room as a good part of the statements.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.ids import as_ids
from ragways.index.graph.mentions import CHUNKS
from ragways.index.graph.relations import RELATIONS
from ragways.index.graph.stated_columns import stated_columns
from ragways.index.ragged import distinct
from ragways.index.row_keys import RowKeys

Ints = NDArray[np.int64]


class StatingDocuments(Protocol):
    """Tells which document states each of some relations that no two documents state."""

    def of(self, relations: Collection[int]) -> dict[int, int] | None:
        """By relation, of those that one does; None where it is not known of all. Of relations that several documents
        state, which have a row, any of these may be told.
        """


class DocumentsBefore:
    """As the arrays of the generation before tell, and what has been touched since: while an index is changed."""

    def __init__(self, before: Path | None, touched: Touched) -> None:
        """`before`: the derived folder of the generation before, where nothing is but what the store had then."""
        self._before, self.touched = before, touched

    def of(self, relations: Collection[int]) -> dict[int, int] | None:
        changed, alone = self.touched.relations, self.touched.alone
        found = {id: alone[id] for id in relations if id in alone}
        if asked := [id for id in relations if id not in changed]:
            if self._arrays is None:
                return None
            found |= self._arrays.of(asked)
        return found

    @cached_property
    def _arrays(self) -> ArrayDocuments | None:
        before = self._before
        return None if before is None or not (before / f"{RELATIONS}.json").is_file() else ArrayDocuments(before)


class ArrayDocuments:
    """As the arrays of a derived folder tell. Mapped: what is looked for is bisected."""

    def __init__(self, folder: Path) -> None:
        relations, chunks = ArrayTable(folder, RELATIONS), ArrayTable(folder, CHUNKS)
        self._rows = RowKeys(relations.column("ids"), relations.column("alive"), relations.size.rows, relations.used)
        self._stating = relations.edited("stating")
        self._documents = chunks.column("documents")

    def of(self, relations: Collection[int]) -> dict[int, int]:
        """The first document that states each of those of these relations that are there."""
        ids, documents = self.first(np.fromiter(relations, np.int64, len(relations)))
        return dict(zip(ids.tolist(), documents.tolist(), strict=True))

    def first(self, ids: Ints) -> tuple[Ints, Ints]:
        """The same as arrays: those of the relations that are there, in any order, and the document of each."""
        numbers = self._rows.places(as_ids(ids))
        order = np.argsort(numbers)
        order = order[numbers[order] >= 0]
        stating = self._stating.now(numbers[order])
        chunks = stating["chunks"].take(stating.begins, mode="clip")
        return ids[order], self._documents.take(chunks, mode="clip")


class DocumentsNow:
    """As the rows of all documents tell, which are read when first asked: sixteen bytes a relation are held then."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @cached_property
    def _own(self) -> OwnRelations:
        return own_relations(self._db)

    def of(self, relations: Collection[int]) -> dict[int, int]:
        own, ids = self._own, np.fromiter(relations, np.int64, len(relations))
        if not len(own.relations):
            return {}
        at = own.relations.searchsorted(ids)
        there = np.flatnonzero(own.relations.take(at, mode="clip") == ids)
        return dict(zip(ids[there].tolist(), own.documents[at[there]].tolist(), strict=True))


class OwnRelations(NamedTuple):
    """Relations that one document states each, in rising order, and the documents; and those that several state."""

    relations: Ints
    documents: Ints
    shared: Ints


def own_relations(db: sqlite3.Connection) -> OwnRelations:
    """As the rows of all documents tell."""
    numbers = np.fromiter(
        (row[0] for row in db.execute("SELECT document FROM graph_contents ORDER BY document")), np.int64
    )
    parts = [(stated.counts, stated.relations) for stated in stated_columns(db)]
    nothing = np.zeros(0, np.int64)
    sizes, ids = (np.concatenate([nothing, *some]) for some in (zip(*parts, strict=True) if parts else ((), ())))
    order = np.argsort(ids, kind="stable")
    ids, of = ids[order], np.repeat(np.arange(len(numbers), dtype=np.int32), sizes)[order]
    again = np.zeros(len(ids) + 1, np.bool_)
    again[1:-1] = ids[1:] == ids[:-1]
    once = np.flatnonzero(~again[:-1] & ~again[1:])
    return OwnRelations(ids[once], numbers[of[once]], distinct(ids[again[:-1]]))
