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
from ragways.index.checksums import reading_before
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

    def of(self, relations: Collection[int]) -> dict[int, int]:
        """By relation, of those that one does. Of relations that several documents state, which have a row, any of
        these may be told.
        """


class DocumentsBefore:
    """As was told before anything was touched, and what has been touched since."""

    def __init__(self, before: StatingDocuments, touched: Touched) -> None:
        self._before, self.touched = before, touched

    @classmethod
    def changing(cls, db: sqlite3.Connection, before: Path | None) -> DocumentsBefore:
        """When rows will be changed, and none has been. `before`: the derived folder of the generation before, where
        nothing is but what the store has now; without arrays there, all documents are read at once.
        """
        return cls(_arrays(before) or DocumentsNow.read(db), Touched())

    def of(self, relations: Collection[int]) -> dict[int, int]:
        changed, alone = self.touched.relations, self.touched.alone
        asked = [id for id in relations if id not in changed]
        return self._before.of(asked) | {id: alone[id] for id in relations if id in alone}


def stating_now(db: sqlite3.Connection, before: Path | None, touched: Touched) -> StatingDocuments:
    """When rows have been changed. `before`: the derived folder of the generation before, if all but what was `touched`
    since is as it was.
    """
    arrays = _arrays(before)
    return DocumentsNow(db) if arrays is None else DocumentsBefore(arrays, touched)


def _arrays(before: Path | None) -> ArrayDocuments | None:
    if before is None or not (before / f"{RELATIONS}.json").is_file():
        return None
    with reading_before(before):
        return ArrayDocuments(before)


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

    @classmethod
    def read(cls, db: sqlite3.Connection) -> DocumentsNow:
        """With all that they state now, whatever comes after."""
        made = cls(db)
        _ = made._own
        return made

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
