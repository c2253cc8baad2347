"""Arrays of the graph as a change leaves them: the rows that it touched are made anew, and put in a patch.

A row that changes is made from what it was: what came from the documents that were touched is taken out, and what they
say now is put in. So what is read from the store is those documents and the rows of their entities and relations.
Values of a row stand in the order that a graph made at once would have, whatever the numbers are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable, Parts, Ragged, Rows, Values, patch_table, ragged
from ragways.index.graph.contents import NODES, Contents, joins
from ragways.index.graph.graph_rows import GatheredEntity, Touched
from ragways.index.graph.ids import ENTITIES, as_ids
from ragways.index.graph.mentions import CHUNKS, DOCUMENTS, MOST_TIMES, ChunkIds, ChunkNumbers
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.relations import RELATIONS
from ragways.index.row_keys import JoinedRanks, Ranks, RowKeys

Ints = NDArray[np.int64]
Order = Callable[[Ints], Ints]

# ruff: noqa: S608 - queries are put together from our own words


def change_arrays(db: sqlite3.Connection, folder: Path, before: Path, touched: Touched) -> bool:
    """Write the arrays of a generation as those before and a patch; False, and nothing, where that does not fit."""
    change = _Change(db, before, touched)
    tables = {
        DOCUMENTS: change.documents(),
        CHUNKS: change.chunks(),
        RELATIONS: change.relations(),
        ENTITIES: change.entities(),
        NODES: change.nodes(),
    }
    names, later = change.names()
    rows = {name: _with_older(change.tables[name], new) for name, new in tables.items()}
    fits = all(change.tables[name].has_room(new) for name, new in rows.items())
    if not (fits and change.name_words.names.has_room(names)):
        return False
    for name, new in rows.items():
        patch_table(folder, name, before, new)
    NameWords.save_patch(folder, before, names, later)
    return True


def _with_older(table: ArrayTable, rows: Rows) -> Rows:
    return table.patch(list(rows.columns), list(rows.ragged)).joined(rows)


class _Numbered:
    """Rows of a table by their keys, those that come with this change included: they get the numbers that follow."""

    def __init__(self, table: ArrayTable, keys: NDArray, wanted: NDArray, there: NDArray) -> None:  # type: ignore[type-arg]
        """`wanted`: keys of rows that may be others now, sorted; `there`: those of them that have a row now."""
        known = RowKeys(keys, np.ones(len(keys), np.bool_), table.size.rows, table.used)
        self._known, self._new = known, there[known.places(there) < 0]
        self._first = table.used
        self.used = table.used + len(self._new)
        """Numbers up to here are or were those of rows."""
        places = self.of(wanted)
        self.touched = np.sort(places[places >= 0])
        """The numbers of the rows that may be others now, in rising order."""
        self.alive = self.of(there)

    def of(self, keys: NDArray) -> Ints:  # type: ignore[type-arg]
        """Numbers of rows by key; -1 where there never was one."""
        places = self._known.places(keys)
        if len(self._new):
            at = np.searchsorted(self._new, keys).clip(max=len(self._new) - 1)
            places = np.where((places < 0) & (self._new[at] == keys), self._first + at, places)
        return places


class _Change:
    """Arrays as they were, into which what is new is written as it is known: they are copies, page by page."""

    def __init__(self, db: sqlite3.Connection, before: Path, touched: Touched) -> None:
        self._db, self._touched = db, touched
        names = (ENTITIES, RELATIONS, CHUNKS, DOCUMENTS, NODES)
        self.tables = {name: ArrayTable(before, name, writable=True) for name in names}
        self.name_words = NameWords(before)
        self._see_entities()
        self._see_documents()
        self._see_relations()

    # Who is there now

    def _see_entities(self) -> None:
        table = self.tables[ENTITIES]
        touched = self._touched.entities | self._touched.named
        self._rows = _some(self._db, _ENTITIES, touched)
        self._ids, self._alive, self._joining = (table.column(name) for name in ("ids", "alive", "joining"))
        there = as_ids(np.array([row[0] for row in self._rows], dtype=np.int64))
        wanted = as_ids(np.array(sorted(touched), dtype=np.int64))
        self._entities = known = _Numbered(table, self._ids, wanted, there)
        self._ids, self._alive, self._joining = (
            _longer(values, known.used) for values in (self._ids, self._alive, self._joining)
        )
        joining = np.array([joins(row[2]) for row in self._rows], dtype=np.bool_)
        was_there = self._alive[known.alive]
        self._turned = known.alive[was_there & (self._joining[known.alive] != joining)]
        self._alive[known.touched] = False
        self._ids[known.alive], self._alive[known.alive], self._joining[known.alive] = there, True, joining
        self._entity_ranks = Ranks.of(self._ids[: table.size.rows], self._ids[table.size.rows : known.used])

    def _see_documents(self) -> None:
        """Documents whose chunks are linked otherwise than before: those that were touched, and those that name an
        entity which begins or ceases to join passages.
        """
        table = self.tables[CHUNKS]
        ids = ChunkIds(table)
        known = ChunkNumbers(ids, self.tables[DOCUMENTS])
        self._naming, self._named = self.tables[ENTITIES].ragged("naming"), table.ragged("named")
        places, _ = self._naming.places(self._turned)
        turned = ids.documents[self._naming["chunks"][places]].tolist()
        self._documents = sorted({*self._touched.documents, *turned})
        old = {document: known.of_document(document) for document in self._documents}
        self._old_chunks = np.array([chunk for chunks in old.values() for chunk in chunks], dtype=np.int64)
        self._contents = contents = Contents(self._db, self._documents)
        used = table.used
        self._firsts: dict[int, int] = {}
        for document, paths, count in zip(
            contents.documents.tolist(), contents.paths, contents.lengths.tolist(), strict=True
        ):
            here = old[document]
            same = len(here) == count and [f"article:{document}:{path}" for path in paths.split("\n")] == [
                ids[chunk] for chunk in here
            ]
            self._firsts[document] = here.start if same else used
            used += 0 if same else count
        firsts = np.array([self._firsts[document] for document in contents.documents.tolist()], dtype=np.int64)
        lengths = contents.lengths
        self._chunks = np.repeat(firsts - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(contents.named))
        """The number of each chunk of the contents."""
        self._chunk_documents = _longer(ids.documents, used)
        self._chunk_documents[self._chunks] = contents.of_chunks
        documents = self._chunk_documents
        self._chunk_ranks = Ranks.of(documents[: table.size.rows], documents[table.size.rows : used])
        self._said_by = self._entities.of(as_ids(contents.entities))
        self._times = np.minimum(contents.counts >> np.uint32(1), MOST_TIMES).astype(np.uint8)

    def _see_relations(self) -> None:
        table = self.tables[RELATIONS]
        touched = self._touched.relations | self._touched.stated
        rows = _some(self._db, _RELATIONS, touched)
        ids, alive = table.column("ids"), table.column("alive")
        there = as_ids(np.array([row[0] for row in rows], dtype=np.int64))
        wanted = as_ids(np.array(sorted(touched), dtype=np.int64))
        self._relations = known = _Numbered(table, ids, wanted, there)
        columns = {name: table.column(name) for name in ("subjects", "objects", "weights")}
        columns |= {"ids": ids, "alive": alive}
        self._of_relations = columns = {name: _longer(values, known.used) for name, values in columns.items()}
        columns["alive"][known.touched] = False
        subjects, objects = (
            self._entities.of(as_ids(np.array([row[n] for row in rows], dtype=np.int64))) for n in (1, 2)
        )
        weights = (np.array([row[3] for row in rows], dtype=np.int64) / 1e6).astype(np.float32)
        new = {"ids": there, "alive": True, "subjects": subjects, "objects": objects, "weights": weights}
        for name, values in new.items():
            columns[name][known.alive] = values
        self._relation_ranks = Ranks.of(columns["ids"][: table.size.rows], columns["ids"][table.size.rows : known.used])

    # Rows

    def documents(self) -> Rows:
        table = self.tables[DOCUMENTS]
        there = self._contents.documents
        wanted = np.array(self._documents, dtype=np.int64)
        known = _Numbered(table, table.column("numbers"), wanted, there)
        columns = {name: _longer(table.column(name), known.used) for name in ("numbers", "firsts", "counts")}
        columns["counts"][known.touched] = 0
        columns["numbers"][known.alive] = there
        columns["firsts"][known.alive] = [self._firsts[number] for number in there.tolist()]
        columns["counts"][known.alive] = self._contents.lengths
        return Rows(known.touched, {name: values[known.touched] for name, values in columns.items()})

    def chunks(self) -> Rows:
        numbers = np.union1d(self._old_chunks, self._chunks)
        at = np.argsort(self._chunks)
        path, letters = self.tables[CHUNKS].ragged("path"), self._contents.letters()
        named = ragged(self._contents.named, entities=self._said_by.astype(np.int32), times=self._times)
        new = {"path": _taken(letters, at), "named": _taken(named, at)}
        nothing = {"path": _none_of(path, len(numbers)), "named": _none_of(self._named, len(numbers))}
        rows = Rows(numbers, {}, nothing).joined(Rows(self._chunks[at], {}, new))
        return Rows(numbers, {"documents": self._chunk_documents[numbers]}, rows.ragged)

    def relations(self) -> Rows:
        touched = self._relations.touched
        which = self._relations.of(as_ids(self._contents.relations))
        chunks = self._chunks[self._contents.stating]
        ours = np.flatnonzero(np.isin(which, touched))
        stating = self._regrouped(
            self.tables[RELATIONS].ragged("stating"), touched, "chunks", self._old_chunks, self._chunk_ranks,
            which[ours], {"chunks": chunks[ours].astype(np.int32)},
        )  # fmt: skip
        columns = {name: values[touched] for name, values in self._of_relations.items()}
        return Rows(touched, columns, {"stating": stating})

    def entities(self) -> Rows:
        table, relations = self.tables[ENTITIES], self._relations
        changed: dict[str, tuple[Ints, Ragged]] = {"naming": self._who_names()}
        ends = {}
        for name, column, other in (("subject_of", "subjects", "objects"), ("object_of", "objects", "subjects")):
            ends[name] = np.unique(self._of_relations[column][relations.touched]).astype(np.int64)
            changed[name] = ends[name], self._regrouped(
                table.ragged(name), ends[name], "relations", relations.touched, self._by_end(other),
                self._of_relations[column][relations.alive].astype(np.int64),
                {"relations": relations.alive.astype(np.int32)},
            )  # fmt: skip
        joined = np.union1d(ends["subject_of"], ends["object_of"])
        changed["links"] = joined, self._links(joined, changed)
        numbers = np.unique(np.concatenate([self._entities.touched, *(rows for rows, _ in changed.values())]))
        held = {}
        for name, (rows, values) in changed.items():
            old = Rows(numbers, {}, {name: _taken(_as_long(table.ragged(name), self._entities.used), numbers)})
            held[name] = old.joined(Rows(rows, {}, {name: values})).ragged[name]
        columns = {"ids": self._ids, "alive": self._alive, "joining": self._joining}
        own = {name: values[numbers] for name, values in columns.items()}
        return Rows(numbers, {**own, "strengths": _sums(held["links"])}, held)

    def _by_end(self, end: str) -> Order:
        """Orders relations by the entity at this end, and those of one entity by id."""

        def places(relations: Ints) -> Ints:
            entities = _ordered(self._entity_ranks, self._of_relations[end][relations].astype(np.int64))
            found = np.empty(len(relations), dtype=np.int64)
            found[np.lexsort((_ordered(self._relation_ranks, relations), entities))] = np.arange(len(relations))
            return found

        return places

    def _who_names(self) -> tuple[Ints, Ragged]:
        """The chunks that name each entity which the documents name, or named."""
        places, _ = self._named.places(self._old_chunks)
        numbers = np.union1d(self._named["entities"][places], self._said_by)
        chunks = self._chunks[self._contents.naming].astype(np.int32)
        return numbers, self._regrouped(
            self._naming, numbers, "chunks", self._old_chunks, self._chunk_ranks,
            self._said_by, {"chunks": chunks, "times": self._times},
        )  # fmt: skip

    def _links(self, entities: Ints, changed: Mapping[str, tuple[Ints, Ragged]]) -> Ragged:
        """The neighbours of these entities. Weights are added up in the order in which `Adjacency.of_edges` does it."""
        owners, others, weights = list[Ints](), list[Ints](), list[NDArray[np.float64]]()
        table, columns = self.tables[ENTITIES], self._of_relations
        for name, other in (("subject_of", "objects"), ("object_of", "subjects")):
            old = Rows(entities, {}, {name: _taken(_as_long(table.ragged(name), self._entities.used), entities)})
            rows, values = changed[name]
            now = old.joined(Rows(rows, {}, {name: values})).ragged[name]
            relations = now["relations"]
            owners.append(now.owners())
            others.append(columns[other][relations].astype(np.int64))
            weights.append(columns["weights"][relations])
        owner, node, weight = np.concatenate(owners), np.concatenate(others), np.concatenate(weights)
        kept = np.flatnonzero((entities[owner] != node) & (weight > 0))
        owner, node, weight = owner[kept], node[kept], weight[kept]
        pairs, which = np.unique(owner << 32 | node, return_inverse=True)
        summed = np.bincount(which, weight, len(pairs)).astype(np.float32)
        owner, node = pairs >> 32, pairs & 0xFFFFFFFF
        order = np.lexsort((_ordered(self._entity_ranks, node), owner))
        counts = np.bincount(owner, minlength=len(entities))
        return ragged(counts, nodes=node[order].astype(np.int32), weights=summed[order])

    def nodes(self) -> Rows:
        """Entities and chunks as a walk goes over them."""
        table, first = self.tables[NODES], self.tables[ENTITIES].size.capacity
        links, order = table.ragged("links"), JoinedRanks(self._entity_ranks, self._chunk_ranks, first)
        places, _ = self._named.places(self._old_chunks)
        named = self._said_by
        entities = np.unique(np.concatenate([self._named["entities"][places], named, self._turned]))
        old, chunks = first + self._old_chunks, first + self._chunks[self._contents.naming]
        kept = np.flatnonzero(self._joining[named])
        weights = self._contents.weights[kept].astype(np.float32)
        of_entities = self._regrouped(
            links, entities, "nodes", old, order,
            named[kept], {"nodes": chunks[kept].astype(np.int32), "weights": weights},
        )  # fmt: skip
        here = first + np.union1d(self._old_chunks, self._chunks)
        of_chunks = self._regrouped(
            _none_of(links, 0), here, "nodes", old[:0], order,
            chunks[kept], {"nodes": named[kept].astype(np.int32), "weights": weights},
        )  # fmt: skip
        rows = Rows(entities, {"strengths": _sums(of_entities)}, {"links": of_entities})
        return rows.joined(Rows(here, {"strengths": _sums(of_chunks)}, {"links": of_chunks}))

    def names(self) -> tuple[Rows, NDArray[np.uint64]]:
        called = (
            (name, number)
            for (id, name, _, *rest), number in zip(self._rows, self._entities.alive.tolist(), strict=True)
            for name in sorted(row[0] for row in GatheredEntity.of_row((name, *rest)).called(id, _never))
        )
        return self.name_words.patched(self._entities.touched, called)

    def _regrouped(
        self,
        old: Ragged,
        rows: Ints,
        part: str,
        gone: Ints,
        order: Order | None,
        owners: Ints,
        new: Parts,
    ) -> Ragged:
        """These rows without the values whose `part` is gone, and with new values, in this order of their parts."""
        known = np.flatnonzero(rows < len(old))
        places, counts = old.places(rows[known])
        held = np.repeat(known, counts)
        kept = np.flatnonzero(~np.isin(old[part][places], gone))
        owner = np.concatenate([held[kept], np.searchsorted(rows, owners)])
        values = {name: np.concatenate([old[name][places[kept]], added]) for name, added in new.items()}
        sorted_by = np.lexsort((_ordered(order, values[part].astype(np.int64)), owner))
        counts = np.bincount(owner, minlength=len(rows))
        return ragged(counts, **{name: each[sorted_by] for name, each in values.items()})


_ENTITIES = "SELECT id, name, type, description, count, names, told FROM graph_entities WHERE id"
_RELATIONS = "SELECT id, subject, object, weight FROM graph_relations WHERE id"


def _some(db: sqlite3.Connection, query: str, ids: Collection[int]) -> list[tuple]:  # type: ignore[type-arg]
    """Rows by id, in rising order."""
    asked = (json.dumps(sorted(ids)),)
    return db.execute(f"{query} IN (SELECT value FROM json_each(?)) ORDER BY id", asked).fetchall()


def _ordered(order: Order | None, numbers: Ints) -> Ints:
    return numbers if order is None else order(numbers)


def _longer(values: Values, length: int) -> Values:
    """At least so long: more rows than there is room for are seen to when the patch is written."""
    missing = length - len(values)
    return np.concatenate([values, np.zeros(missing, values.dtype)]) if missing > 0 else values


def _as_long(held: Ragged, length: int) -> Ragged:
    return Ragged(_longer(held.begins, length), _longer(held.ends, length), held.parts)


def _taken(held: Ragged, rows: Ints) -> Ragged:
    places, counts = held.places(rows)
    return ragged(counts, **{name: values[places] for name, values in held.parts.items()})


def _none_of(held: Ragged, count: int) -> Ragged:
    """So many rows of the same parts, without values."""
    return ragged(np.zeros(count, np.int32), **{name: values[:0] for name, values in held.parts.items()})


def _sums(links: Ragged) -> NDArray[np.float64]:
    return np.bincount(links.owners(), links["weights"], len(links)).astype(np.float64)


def _never(_: str) -> bool:
    return False
