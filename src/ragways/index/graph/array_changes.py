"""Arrays of the graph as a change leaves them, from those of the generation before: only the rows of entities and
relations that it touched are read from the tables. What is made so equals what is made of all rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.graph_rows import GatheredEntity, Touched
from ragways.index.graph.ids import EntityIds, as_numbers
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.names import coarse
from ragways.index.graph.relations import DESCRIPTION, RelationArrays, RelationTerms, TextTerms

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
JOINING = "graph-joining.npy"

# ruff: noqa: S608 - queries are put together from our own words


class ChangedArrays:
    """`ids` and `joining` are those of all entities, as the tables have them now; the rest is made when it is asked."""

    def __init__(self, db: sqlite3.Connection, before: Path, touched: Touched) -> None:
        self._db, self._before, self._touched = db, before, touched
        self._old = as_numbers(EntityIds.load(before).numbers)
        self._rows = sorted(_rows(db, _ENTITIES, touched.entities))
        self._new = np.array([row[0] for row in self._rows], dtype=np.int64)
        kept = ~np.isin(self._old, np.array(sorted(touched.entities), dtype=np.int64))
        joining = np.array([joins(row[2]) for row in self._rows], dtype=np.bool_)
        self.ids = _merged(self._old[kept], self._old[kept], self._new, self._new)
        known = np.load(before / JOINING, mmap_mode="r")
        self.joining = _merged(self._old[kept], known[kept], self._new, joining)

    def name_words(self) -> NameWords:
        """The words of names and aliases."""
        names = [
            (id, sorted(called[0] for called in GatheredEntity.of_row((name, *rest)).called(id, _never)))
            for id, name, _, *rest in self._rows
        ]
        old = NameWords.load(self._before)
        return old.changed(self._old, self.ids, np.array(sorted(self._touched.entities), dtype=np.int64), names)

    def relations(self) -> tuple[Ints, Ints, Ints, NDArray[np.float64], TextTerms, Small]:
        """Numbers, subjects, objects and weights of all relations, and of which texts they are made."""
        old, terms = RelationArrays.load(self._before), RelationTerms.load(self._before)
        ids = as_numbers(old.ids)
        kept = np.flatnonzero(~np.isin(ids, np.array(sorted(self._touched.relations), dtype=np.int64)))
        ids, subjects, objects = ids[kept], self._old[old.subjects[kept]], self._old[old.objects[kept]]
        texts, parts = TextTerms(terms, all=True), terms.parts[kept]
        if len(self._new):  # they may have other names than before
            names = np.arange(len(texts), len(texts) + len(self._new), dtype=np.int32)
            texts.extend([row[1] for row in self._rows])
            for column, ends in ((0, subjects), (2, objects)):
                places = np.searchsorted(self._new, ends).clip(max=len(self._new) - 1)
                here = np.flatnonzero(self._new[places] == ends)
                parts[here, column] = names[places[here]]
        rows = sorted(_rows(self._db, _RELATIONS, self._touched.relations))
        new = np.array([row[0] for row in rows], dtype=np.int64)
        told = np.arange(len(texts), len(texts) + 5 * len(rows), dtype=np.int32).reshape(-1, 5)
        texts.extend([text for row in rows for text in _told(row[4:])])
        columns = (np.array([row[n] for row in rows], dtype=np.int64) for n in (1, 2, 3))
        left, right, weights = columns
        return (
            _merged(ids, ids, new, new),
            _merged(ids, subjects, new, left),
            _merged(ids, objects, new, right),
            _merged(ids, old.weights[kept], new, weights / 1e6),
            texts,
            _merged(ids, parts, new, told),
        )


_ENTITIES = "SELECT id, name, type, description, count, names, told FROM graph_entities WHERE id"
_RELATIONS = (
    "SELECT r.id, subject, object, weight, s.name, predicate, o.name, date, coalesce(r.description, text, '') "
    "FROM graph_relations r JOIN graph_entities s ON s.id = subject JOIN graph_entities o ON o.id = object "
    "LEFT JOIN graph_texts t ON t.document = r.document AND t.number = r.said WHERE r.id"
)


def joins(type: str) -> bool:
    """Whether entities of a type join passages: dates and quantities do not."""
    return coarse(type) not in ("date", "quantity")


def _told(row: Sequence[str]) -> list[str]:
    """The texts of a relation as they are shown."""
    subject, predicate, object, date, said = row
    return [subject, predicate.replace("_", " "), object, date, said[:DESCRIPTION]]


def _never(_: str) -> bool:
    return False


def _rows(db: sqlite3.Connection, query: str, ids: Collection[int]) -> list[tuple]:  # type: ignore[type-arg]
    return db.execute(f"{query} IN (SELECT value FROM json_each(?))", (json.dumps(sorted(ids)),)).fetchall()


def _merged(keys: Ints, values: NDArray, new_keys: Ints, new: NDArray) -> NDArray:  # type: ignore[type-arg]
    """Values in the order of their keys, joined by new ones."""
    return np.insert(values, np.searchsorted(keys, new_keys), new, axis=0)
