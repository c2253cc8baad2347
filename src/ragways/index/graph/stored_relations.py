"""Relations as the store has them: those that one document states are kept with it (`document_statements`), those that
several state have a row of their own.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.document_statements import DocumentStatements, Told, contents_rows
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.relation_places import RelationPlaces
from ragways.index.graph.stated_columns import StatedColumns, is_among, stated_among, stated_columns

Ints = NDArray[np.int64]

TABLES = """
-- Relations that several documents state. `told`: the documents and numbers of the texts that describe it; `weight` is
-- in millionths: so the order in which they are added cannot show.
CREATE TABLE IF NOT EXISTS graph_shared_relations (
    id INTEGER PRIMARY KEY, subject INTEGER NOT NULL, object INTEGER NOT NULL, predicate INTEGER NOT NULL,
    weight INTEGER NOT NULL, date TEXT NOT NULL, told TEXT NOT NULL
);
-- The documents that state them.
CREATE TABLE IF NOT EXISTS graph_statements (
    relation INTEGER NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (relation, document)
) WITHOUT ROWID;
"""
DESCRIPTIONS = 3
"""Texts that describe a relation, or an entity, at most."""
_AMONG = "IN (SELECT value FROM json_each(?))"
_ROWS = "SELECT id, subject, object, predicate, weight, date, told FROM graph_shared_relations"

# ruff: noqa: S608 - queries are put together from our own words


class RelationRow(NamedTuple):
    """A relation, by the numbers of ids; `weight` is in millionths. `document` states it alone, and has it at `place`:
    None where several do.
    """

    id: int
    subject: int
    predicate: str
    object: int
    weight: int
    date: str
    way: str
    told: Told
    document: int | None
    place: int = -1


@dataclass(frozen=True)
class JoiningRows:
    """Relations, their ends and weights: numbers as the store has them."""

    ids: Ints
    subjects: Ints
    objects: Ints
    weights: Ints

    @classmethod
    def of(cls, rows: Iterable[RelationRow]) -> JoiningRows:
        found = [(row.id, row.subject, row.object, row.weight) for row in rows]
        return cls(*np.array(found, np.int64).reshape(-1, 4).T.copy())

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, places: Ints) -> JoiningRows:
        return JoiningRows(self.ids[places], self.subjects[places], self.objects[places], self.weights[places])

    def and_(self, more: JoiningRows) -> JoiningRows:
        """These, and others behind them."""
        return JoiningRows(
            np.concatenate([self.ids, more.ids]),
            np.concatenate([self.subjects, more.subjects]),
            np.concatenate([self.objects, more.objects]),
            np.concatenate([self.weights, more.weights]),
        )


class StoredRelations:
    """Reads relations, at the commit that a connection reads."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._predicates, self._places = Predicates(db), RelationPlaces(db)

    def rows(self, ids: Collection[int]) -> list[RelationRow]:
        """Those of these relations that are there, in the order of their numbers."""
        found = {row.id: row for row in self._shared(f"{_ROWS} WHERE id {_AMONG}", (json.dumps(list(ids)),))}
        rest = [id for id in ids if id not in found]
        documents = {document for some in self._places.documents(rest).values() for document in some}
        for id, place, stated in stated_among(self._db, self._predicates, rest, documents):
            found[id] = self._own(id, place, stated)
        return [found[id] for id in sorted(found)]

    def all(self) -> Iterator[RelationRow]:
        """Every relation: first those that several documents state, then the others, document by document."""
        shared = set[int]()
        for row in self._shared(_ROWS):
            shared.add(row.id)
            yield row
        for rows in contents_rows(self._db):
            columns = StatedColumns.of(self._predicates, rows)
            ids = iter(columns.relations.tolist())
            for contents, count in zip(rows, columns.counts.tolist(), strict=True):
                stated = DocumentStatements(contents)
                for place, id in enumerate(islice(ids, count)):
                    if id not in shared:
                        yield self._own(id, place, stated)

    def stating(self, rows: Sequence[RelationRow], most: int) -> list[list[tuple[int, str]]]:
        """The documents and paths of the first chunks that state each of these relations, so many at most."""
        several = {row.id: self._documents(row.id, most) for row in rows if row.document is None}
        found: dict[int, list[tuple[int, str]]] = {id: [] for id in several}
        documents = {document for some in several.values() for document in some}
        for id, place, stated in stated_among(self._db, self._predicates, several, documents):
            if stated.document in several[id]:
                found[id] += ((stated.document, path) for path in stated.stating(place))
        alone = {row.document for row in rows if row.document is not None}
        read = {row.document: DocumentStatements(row) for some in contents_rows(self._db, alone) for row in some}
        for row in rows:
            if row.document is not None:
                found[row.id] = [(row.document, path) for path in read[row.document].stating(row.place)]
        return [found[row.id][:most] for row in rows]

    def _documents(self, relation: int, most: int) -> list[int]:
        """The first of several documents that state a relation."""
        query = "SELECT document FROM graph_statements WHERE relation = ? ORDER BY document LIMIT ?"
        return [document for (document,) in self._db.execute(query, (relation, most))]

    def _shared(self, query: str, values: Sequence[str] = ()) -> Iterator[RelationRow]:
        for id, subject, object, number, weight, date, told in self._db.execute(query, values):
            predicate, way = self._predicates.meaning(number)
            texts = tuple((document, number) for document, number in json.loads(told))
            yield RelationRow(id, subject, predicate, object, weight, date, way, texts, None)

    def _own(self, id: int, place: int, stated: DocumentStatements) -> RelationRow:
        """A relation that one document states."""
        subject, object = stated.ends(place)
        statements = stated.statements(place)
        meant = [self._predicates.meaning(each.predicate) for each in statements]
        # Texts of a document have one number each.
        texts = tuple(dict.fromkeys(each.text for each in statements if each.text is not None))[:DESCRIPTIONS]
        return RelationRow(
            id,
            subject,
            meant[0][0],
            object,
            sum(each.weight for each in statements),
            next((each.date for each in statements if each.date), ""),
            "+".join(sorted({way for _, way in meant})),
            tuple((stated.document, text) for text in texts),
            stated.document,
            place,
        )


def entity_names(db: sqlite3.Connection, ids: Collection[int]) -> dict[int, str]:
    """The names of entities."""
    query = f"SELECT id, name FROM graph_entities WHERE id {_AMONG}"
    return dict(db.execute(query, (json.dumps(list(ids)),)).fetchall())


def all_joining(db: sqlite3.Connection) -> JoiningRows:
    """Every relation, in rising order of their numbers."""
    rows = db.execute("SELECT id, subject, object, weight FROM graph_shared_relations ORDER BY id")
    shared = JoiningRows(*np.array(rows.fetchall(), np.int64).reshape(-1, 4).T.copy())
    parts = [shared]
    for stated in stated_columns(db):
        part = JoiningRows(stated.relations, stated.subjects, stated.objects, stated.weights)
        parts.append(part.at(np.flatnonzero(~is_among(part.ids, shared.ids))))
    found = JoiningRows(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "subjects", "objects", "weights"))
    )
    return found.at(np.argsort(found.ids))
