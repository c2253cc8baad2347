"""Relations as the store has them: those that one document states are kept with it (`document_statements`), those that
several state have a row of their own.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.document_statements import DocumentStatements, Told, contents_rows
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.relation_ids import relation_number
from ragways.index.graph.stated_columns import StatedColumns, stated_among, stated_columns
from ragways.index.graph.stating_documents import StatingDocuments
from ragways.index.ragged import is_among

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
_FEW = 50
"""Relations of one document that are looked for by their ends."""
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

    def is_named(self) -> bool:
        """Whether its id is that of its ends and predicate."""
        return self.id == relation_number(self.subject, self.predicate, self.object)


@dataclass(frozen=True)
class JoiningRows:
    """Relations, their ends and weights: numbers as the store has them."""

    ids: Ints
    subjects: Ints
    objects: Ints
    weights: Ints

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

    def __init__(self, db: sqlite3.Connection, documents: StatingDocuments | None = None) -> None:
        """`documents` tells which one states a relation; without it, `rows` looks at all of them."""
        self._db, self._alone = db, documents
        self._predicates = Predicates(db)

    def rows(self, ids: Collection[int]) -> list[RelationRow]:
        """Those of these relations that are there, in the order of their numbers."""
        found = {row.id: row for row in self._shared(ids)}
        rest = [id for id in ids if id not in found]
        alone = None if self._alone is None else self._alone.of(rest)
        read = None if alone is None else {*alone.values()}
        for id, place, stated in stated_among(self._db, self._predicates, rest, read):
            found[id] = self._own(id, place, stated)
        return [found[id] for id in sorted(found)]

    def rows_of(self, asked: Mapping[int, tuple[int, int, int]]) -> list[RelationRow]:
        """The same of relations of which the ends are known, and the first document that states each: so their ids need
        not be made, which takes as long as all the rest.
        """
        found = {row.id: row for row in self._shared(asked)}
        by_document: dict[int, list[int]] = defaultdict(list)
        for id, (_, _, document) in asked.items():
            if id not in found:
                by_document[document].append(id)
        # Of which much is asked, all ids are made: to look for each would take the square of it.
        much = {document: by_document.pop(document) for document, ids in [*by_document.items()] if len(ids) > _FEW}
        for id, place, stated in stated_among(self._db, self._predicates, [*chain(*much.values())], much):
            found[id] = self._own(id, place, stated)
        for stated in map(DocumentStatements, chain.from_iterable(contents_rows(self._db, by_document))):
            for id in by_document[stated.document]:
                rows = (self._own(id, place, stated) for place in stated.between(*asked[id][:2]))
                found.update((row.id, row) for row in rows if row.is_named())
        return [found[id] for id in sorted(found)]

    def joining(self, ids: Collection[int], documents: Collection[int]) -> JoiningRows:
        """The ends and weights of those of these relations that are there, in the order of their numbers. `documents`:
        those by which some of them are stated alone, or more.
        """
        shared = _joining_shared(self._db, f" WHERE id {_AMONG}", (json.dumps(list(ids)),))
        asked = np.setdiff1d(np.fromiter(ids, np.int64, len(ids)), shared.ids)
        parts = [shared]
        for rows in contents_rows(self._db, documents):
            columns = StatedColumns.of(self._predicates, rows)
            parts.append(_joining(columns, is_among(columns.relations, asked)))
        return _in_order(parts)

    def all(self) -> Iterator[RelationRow]:
        """Every relation: first those that several documents state, then the others, document by document."""
        shared = list[int]()
        for row in self._shared():
            shared.append(row.id)
            yield row
        known = np.array(sorted(shared), np.int64)
        for rows in contents_rows(self._db):
            columns = StatedColumns.of(self._predicates, rows)
            found = np.flatnonzero(~is_among(columns.relations, known))
            which, places = columns.at(found)
            for n, some in groupby(
                zip(which.tolist(), columns.relations[found].tolist(), places.tolist(), strict=True), key=itemgetter(0)
            ):
                stated = DocumentStatements(rows[n])
                yield from (self._own(id, place, stated) for _, id, place in some)

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

    def _shared(self, ids: Collection[int] | None = None) -> Iterator[RelationRow]:
        """Relations that several documents state: all, or those of these."""
        where, values = ("", ()) if ids is None else (f" WHERE id {_AMONG}", (json.dumps(list(ids)),))
        for id, subject, object, number, weight, date, told in self._db.execute(f"{_ROWS}{where}", values):
            predicate, way = self._predicates.meaning(number)
            texts = tuple((document, number) for document, number in json.loads(told))
            yield RelationRow(id, subject, predicate, object, weight, date, way, texts, None)

    def _own(self, id: int, place: int, stated: DocumentStatements) -> RelationRow:
        """A relation that one document states."""
        subject, object = stated.ends(place)
        first, *more = stated.statements(place)
        predicate, way = self._predicates.meaning(first.predicate)
        document, weight, date = stated.document, first.weight, first.date
        told: Told = () if first.text is None else ((document, first.text),)
        if more:
            ways = {way, *(self._predicates.meaning(each.predicate)[1] for each in more)}
            # Texts of a document have one number each.
            texts = dict.fromkeys(each.text for each in (first, *more) if each.text is not None)
            way, told = "+".join(sorted(ways)), tuple((document, text) for text in texts)[:DESCRIPTIONS]
            weight += sum(each.weight for each in more)
            date = next((each.date for each in (first, *more) if each.date), "")
        return RelationRow(id, subject, predicate, object, weight, date, way, told, document, place)


def entity_names(db: sqlite3.Connection, ids: Collection[int]) -> dict[int, str]:
    """The names of entities."""
    query = f"SELECT id, name FROM graph_entities WHERE id {_AMONG}"
    return dict(db.execute(query, (json.dumps(list(ids)),)).fetchall())


def all_joining(db: sqlite3.Connection) -> JoiningRows:
    """Every relation, in rising order of their numbers."""
    shared = _joining_shared(db)
    parts = (_joining(columns, ~is_among(columns.relations, shared.ids)) for columns in stated_columns(db))
    return _in_order([shared, *parts])


def _joining_shared(db: sqlite3.Connection, where: str = "", values: Sequence[str] = ()) -> JoiningRows:
    rows = db.execute(f"SELECT id, subject, object, weight FROM graph_shared_relations{where} ORDER BY id", values)
    return JoiningRows(*np.array(rows.fetchall(), np.int64).reshape(-1, 4).T.copy())


def _joining(columns: StatedColumns, which: NDArray[np.bool_]) -> JoiningRows:
    return JoiningRows(columns.relations, columns.subjects, columns.objects, columns.weights).at(np.flatnonzero(which))


def _in_order(parts: Sequence[JoiningRows]) -> JoiningRows:
    found = JoiningRows(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "subjects", "objects", "weights"))
    )
    return found.at(np.argsort(found.ids))
