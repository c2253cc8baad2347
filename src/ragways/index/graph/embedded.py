"""Which texts of the graph are embedded: of entities that join something, and of relations where that is wanted.

The store keeps the hash of each such text. So a change looks at what it touched alone: whose text is another than
before has a new vector, and a hash that nobody has any more is forgotten.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash
from ragways.index.database import create_tables, has_table
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.relation_ends import ENDS, RelationEnds
from ragways.index.graph.stating_documents import stating_now
from ragways.index.graph.stored_relations import StoredRelations, entity_names
from ragways.index.graph.told_texts import descriptions, entity_descriptions
from ragways.index.layer import BuildContext
from ragways.index.numbered_vectors import save_vectors
from ragways.index.packed_numbers import joined_counts

# ruff: noqa: S608 - queries are put together from our own words

_NAMED = """
-- How many chunks name an entity, those of its own article counted twice. One that is not here is named once.
CREATE TABLE IF NOT EXISTS graph_times_named (entity INTEGER PRIMARY KEY, times INTEGER NOT NULL);
"""
_TEXTS = """
-- The hash of the text that is embedded of each. `waits` is 1 where its vector could not be had yet.
CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, waits INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS {table}_by_hash ON {table} (hash);
CREATE INDEX IF NOT EXISTS {table}_waiting ON {table} (id) WHERE waits = 1;
"""
_AT_ONCE = 8192
_AMONG = "IN (SELECT value FROM json_each(?))"
_T = TypeVar("_T")

Texts = Iterator[tuple[int, str]]


# Texts


def _entity_texts(db: sqlite3.Connection, ids: Collection[int] | None = None, *, every: bool) -> Texts:
    """Texts of all entities, or of these, by number and in order. An entity joins something where several chunks name
    it, or one that its own article is; `every` one is embedded where that is wanted, but for dates and quantities.
    """
    named = "" if every else "JOIN graph_times_named ON entity = id"
    query = f"SELECT id, name FROM graph_entities {named} WHERE type NOT IN ('date', 'quantity')"
    for some in _batches(_rows(db, query, "id", ids)):
        said = entity_descriptions(db, (id for id, _ in some))
        yield from ((id, f"{name}: {said[id]}" if id in said else name) for id, name in some)


def _relation_texts(db: sqlite3.Connection, relations: StoredRelations, ids: Collection[int] | None = None) -> Texts:
    """Texts of all relations, or of these in order, by number."""
    for some in _batches(iter(relations.all() if ids is None else relations.rows(ids))):
        names = entity_names(db, {end for row in some for end in (row.subject, row.object)})
        for row, said in zip(some, descriptions(db, [row.told for row in some]), strict=True):
            yield row.id, said or f"{names[row.subject]} {row.predicate.replace('_', ' ')} {names[row.object]}"


def _rows(db: sqlite3.Connection, query: str, id: str, ids: Collection[int] | None) -> sqlite3.Cursor:
    """All rows of a query that has a condition, or those of some ids, in order."""
    if ids is None:
        return db.execute(f"{query} ORDER BY {id}")
    return db.execute(f"{query} AND {id} {_AMONG} ORDER BY {id}", (json.dumps(sorted(ids)),))


# How often entities are named


def _fill_named(db: sqlite3.Connection) -> None:
    found: list[NDArray[np.int64]] = []
    rows = db.execute("SELECT entities, counts FROM graph_contents")
    while some := rows.fetchmany(_AT_ONCE):
        named = np.frombuffer(b"".join(entities for entities, _ in some), dtype=np.int64)
        about = joined_counts([counts for _, counts in some], [len(entities) // 8 for entities, _ in some]) & np.uint64(
            1
        )
        found += [named, named[about > 0]]
    ids, times = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]), return_counts=True)
    several = times > 1
    db.execute("DELETE FROM graph_times_named")
    rows_of_named = zip(ids[several].tolist(), times[several].tolist(), strict=True)
    db.executemany("INSERT INTO graph_times_named VALUES (?, ?)", rows_of_named)


def _change_named(db: sqlite3.Connection, touched: Touched) -> None:
    for entity, more in touched.times.items():
        row = db.execute("SELECT times FROM graph_times_named WHERE entity = ?", (entity,)).fetchone()
        before = row[0] if row is not None else 0 if entity in touched.came else 1
        if before + more > 1:
            db.execute("INSERT OR REPLACE INTO graph_times_named VALUES (?, ?)", (entity, before + more))
        elif row is not None:
            db.execute("DELETE FROM graph_times_named WHERE entity = ?", (entity,))


# What a run does about them


class EmbeddedTexts:
    """The texts of one kind of thing that have vectors: `name` is that of their folder, `texts` gives those of all or
    of some ids as they are now.
    """

    def __init__(
        self, db: sqlite3.Connection, name: str, table: str, texts: Callable[[Collection[int] | None], Texts]
    ) -> None:
        self.name = name
        self._db, self._table, self._texts = db, table, texts
        self._put: set[int] = set()
        self.gone: set[int] | None = None
        """Those whose vectors of before are not theirs any more; None where that is not known."""
        self.freed: set[str] = set()
        """Hashes of texts that one of these had before, and has not now."""

    def fill(self) -> None:
        """Note the hashes of all texts anew."""
        self._db.execute(f"DROP TABLE IF EXISTS {self._table}")
        table, *indexes = filter(str.strip, _TEXTS.format(table=self._table).split(";\n"))
        self._db.execute(table)
        for some in _batches(self._texts(None)):
            rows = [(id, _packed(content_hash(text))) for id, text in some]
            self._db.executemany(f"INSERT INTO {self._table} VALUES (?, ?, 0)", rows)
        for index in indexes:
            self._db.execute(index)

    def change(self, ids: Collection[int]) -> None:
        """Note the hashes of texts that may be others than before."""
        self.gone = set()
        now = {id: _packed(content_hash(text)) for id, text in self._texts(ids)}
        query = f"SELECT id, hash FROM {self._table} WHERE id {_AMONG}"
        before = dict(self._db.execute(query, (json.dumps(sorted(ids)),)).fetchall())
        for id in sorted(before.keys() | now.keys()):
            if before.get(id) == now.get(id):
                continue
            if id in before:
                self.gone.add(id)
                self.freed.add(before[id].hex())
            if id in now:
                self._put.add(id)
                self._db.execute(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, 0)", (id, now[id]))
            else:
                self._db.execute(f"DELETE FROM {self._table} WHERE id = ?", (id,))
        self._put |= {id for (id,) in self._db.execute(f"SELECT id FROM {self._table} WHERE waits = 1")}

    @property
    def _wanted(self) -> Collection[int] | None:
        """Those whose vectors are to be written; None for all."""
        return None if self.gone is None else self._put

    def all(self) -> Iterator[str]:
        """The texts themselves."""
        return (text for _, text in self._texts(None))

    async def embed(self, context: BuildContext) -> None:
        """See to it that the texts whose vectors are to be written have one."""
        for some in _batches(self._texts(self._wanted)):
            await context.embed({content_hash(text): text for _, text in some})

    def save(self, context: BuildContext, folder: Path) -> None:
        """Write the vectors that are known: where a budget ended the work, the rest is found otherwise."""
        embedder, fresh, missing = context.store.meta()["embedder"], array("q"), list[int]()
        query = f"SELECT id, hash FROM {self._table} WHERE 1"
        for some in _batches(_rows(self._db, query, "id", self._wanted)):
            known = context.work_cache.known(embedder, [hash.hex() for _, hash in some])
            for id, hash in some:
                (fresh if hash.hex() in known else missing).append(id)
        self._db.execute(f"UPDATE {self._table} SET waits = 0 WHERE waits = 1")
        self._db.executemany(f"UPDATE {self._table} SET waits = 1 WHERE id = ?", ((id,) for id in missing))
        save_vectors(context, folder, self.name, self._hashes, fresh=fresh, gone=self.gone)

    def _hashes(self, ids: Sequence[int]) -> list[str]:
        query = f"SELECT id, hash FROM {self._table} WHERE id {_AMONG}"
        found = dict(self._db.execute(query, (json.dumps(ids),)).fetchall())
        return [found[id].hex() for id in ids]

    def used(self, hashes: Iterable[str]) -> set[str]:
        """Those of these hashes that a text has."""
        query = f"SELECT 1 FROM {self._table} WHERE hash = ?"
        return {hash for hash in hashes if self._db.execute(query, (_packed(hash),)).fetchone() is not None}

    def all_hashes(self) -> set[str]:
        return {hash.hex() for (hash,) in self._db.execute(f"SELECT hash FROM {self._table}")}


def see_to_texts(
    db: sqlite3.Connection,
    touched: Touched | None,
    *,
    before: Path | None = None,
    vectors: bool,
    every: bool,
    relations: bool,
) -> list[EmbeddedTexts]:
    """Bring the hashes of embedded texts up to date with the rows of the graph. `touched`: what is other than before;
    None where nothing of before may be taken over. `before`: the derived folder of the generation before, if any.
    `vectors`: whether anything is embedded at all.
    """
    kinds = []
    if vectors:
        kinds.append(EmbeddedTexts(db, "entities", _ENTITIES, lambda ids: _entity_texts(db, ids, every=every)))
    if vectors and relations:
        stored = StoredRelations(db, stating_now(db, None if touched is None else before, touched or Touched()))
        kinds.append(EmbeddedTexts(db, "relations", _RELATIONS, lambda ids: _relation_texts(db, stored, ids)))
    if touched is None or (vectors and not has_table(db, _TIMES)):
        for table in (_TIMES, _TIMES_BEFORE, _ENTITIES, _RELATIONS):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        if vectors:
            create_tables(db, _NAMED)
            _fill_named(db)
        for kind in kinds:
            kind.fill()
    elif vectors:
        _change_named(db, touched)
        for kind in kinds:
            entities = touched.entities | touched.times.keys()
            kind.change(entities if kind.name == "entities" else touched.relations | _of_names(db, before, touched))
    return kinds


_ENTITIES, _RELATIONS = "graph_entity_texts", "graph_relation_texts"
_TIMES, _TIMES_BEFORE = "graph_times_named", "graph_named"
"""The second is of an earlier version, which counted some entities once too often where a run had much to do."""


def _of_names(db: sqlite3.Connection, before: Path | None, touched: Touched) -> set[int]:
    """Relations of entities that have another name: where nothing describes one, its text is made of names."""
    if not touched.renamed:
        return set()
    ends = RelationEnds(db, before, touched)
    return {id for end in ENDS for id in ends.with_end(end, touched.renamed).ids.tolist()}


def _packed(hash: str) -> bytes:
    return bytes.fromhex(hash)


def _batches(rows: Iterator[_T]) -> Iterator[list[_T]]:
    while some := list(islice(rows, _AT_ONCE)):
        yield some
