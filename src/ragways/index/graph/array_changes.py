"""Arrays of the graph as a change leaves them: what it changed in their rows is put in a patch.

What came from the documents that were touched goes out of a row, and what they say now comes in. So what is read from
the store is those documents and the rows of their entities and relations, and of a hub's long row only where that
stands. Values of a row stand in the order that a graph made at once would have, whatever the numbers are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable, Change, Patch, patch_table
from ragways.index.graph.contents import MENTION_WEIGHTS, NODES, Contents, joins
from ragways.index.graph.graph_rows import GatheredEntity, Touched
from ragways.index.graph.ids import ENTITIES, as_ids
from ragways.index.graph.mentions import CHUNKS, DOCUMENTS, ChunkIds, ChunkNumbers
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.relations import RELATIONS, pairs_in
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.graph.weights import kept_as, link_weights, weights_of
from ragways.index.ragged import EditedRows, Keys, Order, Ragged, distinct, ragged, stretches
from ragways.index.row_keys import JoinedRanks, Ranks, RowKeys

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# ruff: noqa: S608 - queries are put together from our own words


def change_arrays(db: sqlite3.Connection, folder: Path, before: Path, touched: Touched) -> bool:
    """Write the arrays of a generation as those before and a patch; False, and nothing, where that does not fit."""
    try:
        change = _Change(db, before, touched)
        changes = {
            DOCUMENTS: change.documents(),
            CHUNKS: change.chunks(),
            RELATIONS: change.relations(),
            ENTITIES: change.entities(),
            NODES: change.nodes(),
        }
    except _NoRoom:
        return False
    names, later = change.names()
    patches = {name: change.tables[name].patch(new) for name, new in changes.items()}
    fits = all(change.tables[name].has_room(patch) for name, patch in patches.items())
    if not (fits and change.name_words.names.has_room(names)):
        return False
    for name, patch in patches.items():
        patch_table(folder, name, before, patch)
    NameWords.save_patch(folder, before, names, later)
    return True


class _NoRoom(Exception):
    """There are more rows than a table has room for, or finer weights."""


class _Numbered:
    """Rows of a table by their keys, those that come with this change included: they get the numbers that follow."""

    def __init__(self, table: ArrayTable, keys: NDArray, wanted: NDArray, there: NDArray) -> None:  # type: ignore[type-arg]
        """`wanted`: keys of rows that may be others now, sorted; `there`: those of them that have a row now."""
        known = RowKeys(keys, np.ones(len(keys), np.bool_), table.size.rows, table.used)
        self._known, self._new = known, there[known.places(there) < 0]
        self._first = table.used
        self.used = table.used + len(self._new)
        """Numbers up to here are or were those of rows."""
        if self.used > table.size.capacity:
            raise _NoRoom
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
        self._first_chunk = first = self.tables[ENTITIES].size.capacity
        self._linked = {name: self.tables[NODES].edited(name) for name in ("links", "others")}
        naming = [rows.now(np.sort(self._turned))["nodes"] for rows in self._linked.values()]
        turned = ids.documents[np.concatenate(naming) - first].tolist()
        self._documents = sorted({*self._touched.documents, *turned})
        old = {document: known.of_document(document) for document in self._documents}
        self._old_chunks = np.array(sorted(chunk for chunks in old.values() for chunk in chunks), dtype=np.int64)
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
        if used > table.size.capacity:
            raise _NoRoom
        firsts = np.array([self._firsts[document] for document in contents.documents.tolist()], dtype=np.int64)
        self._chunks = stretches(firsts, contents.lengths)
        """The number of each chunk of the contents."""
        self._chunk_documents = documents = ids.documents
        documents[self._chunks] = contents.of_chunks
        self._chunk_ranks = Ranks.of(documents[: table.size.rows], documents[table.size.rows : used])
        self._said_by = self._entities.of(as_ids(contents.entities))

    def _see_relations(self) -> None:
        table = self.tables[RELATIONS]
        touched = self._touched.relations | self._touched.stated
        # What touched documents state alone, and what others do since these do not state it any more.
        documents = self._touched.documents.union(self._touched.alone.values())
        rows = StoredRelations(self._db).joining(touched, documents)
        ids, alive = table.column("ids"), table.column("alive")
        there = as_ids(rows.ids)
        wanted = as_ids(np.array(sorted(touched), dtype=np.int64))
        self._relations = known = _Numbered(table, ids, wanted, there)
        columns = {name: table.column(name) for name in ("subjects", "objects", "weights")}
        columns |= {"ids": ids, "alive": alive}
        self._of_relations = columns
        self._old_relations = known.touched[alive[known.touched]]
        alive[known.touched] = False
        subjects, objects = (self._entities.of(as_ids(ends)) for ends in (rows.subjects, rows.objects))
        weights = kept_as(link_weights(rows.weights), columns["weights"].dtype)
        if weights is None:
            raise _NoRoom
        new = {"ids": there, "alive": True, "subjects": subjects, "objects": objects, "weights": weights}
        for name, values in new.items():
            columns[name][known.alive] = values
        self._relation_ranks = Ranks.of(columns["ids"][: table.size.rows], columns["ids"][table.size.rows : known.used])

    # Rows

    def documents(self) -> Change:
        table = self.tables[DOCUMENTS]
        there = self._contents.documents
        wanted = np.array(self._documents, dtype=np.int64)
        known = _Numbered(table, table.column("numbers"), wanted, there)
        columns = {name: table.column(name) for name in ("numbers", "firsts", "counts")}
        columns["counts"][known.touched] = 0
        columns["numbers"][known.alive] = there
        columns["firsts"][known.alive] = [self._firsts[number] for number in there.tolist()]
        columns["counts"][known.alive] = self._contents.lengths
        return Change(known.touched, {name: values[known.touched] for name, values in columns.items()})

    def chunks(self) -> Change:
        numbers = distinct(self._old_chunks, self._chunks)
        letters = self._of_chunks(numbers, self._contents.letters())
        edits = {"path": self.tables[CHUNKS].edited("path").replaced(numbers, letters)}
        return Change(numbers, {"documents": self._chunk_documents[numbers]}, edits)

    def _of_chunks(self, numbers: Ints, held: Ragged) -> Ragged:
        """What chunks of the contents hold, by their numbers; nothing of those that are no longer there."""
        at = np.full(len(numbers), -1)
        at[np.searchsorted(numbers, self._chunks)] = np.arange(len(self._chunks))
        there = at[at >= 0]
        places, _ = held.places(there)
        counts = np.zeros(len(numbers), np.int64)
        counts[at >= 0] = held.counts_of(there)
        return ragged(counts, **{name: values[places] for name, values in held.parts.items()})

    def relations(self) -> Change:
        touched, rows = self._relations.touched, self.tables[RELATIONS].edited("stating")
        before = rows.now(touched)
        old = np.flatnonzero(np.isin(before["chunks"], self._old_chunks))
        gone = touched[before.owners()[old]], before["chunks"][old].astype(np.int64)
        which = self._relations.of(as_ids(self._contents.relations))
        chunks = self._chunks[self._contents.stating]
        ours = np.flatnonzero(np.isin(which, touched))
        stating = rows.edited(
            Order("chunks", _keys(self._chunk_ranks)), gone, which[ours], {"chunks": chunks[ours].astype(np.int32)}
        )
        return Change(
            touched, {name: values[touched] for name, values in self._of_relations.items()}, {"stating": stating}
        )

    def entities(self) -> Change:
        table, of_relations = self.tables[ENTITIES], self._of_relations
        old, new = self._old_relations, self._relations.alive
        edits = dict[str, EditedRows]()
        for name, column, other in (("subject_of", "subjects", "objects"), ("object_of", "objects", "subjects")):
            gone, come = (of_relations[column][numbers].astype(np.int64) for numbers in (old, new))
            edits[name] = table.edited(name).edited(
                self._by_end(other), (gone, old), come, {"relations": new.astype(np.int32)}
            )
        strengths = table.column("strengths")
        edits["links"], joined = self._links(edits["subject_of"], strengths)
        numbers = distinct(self._entities.touched, joined)
        columns = {"ids": self._ids, "alive": self._alive, "joining": self._joining, "strengths": strengths}
        return Change(numbers, {name: values[numbers] for name, values in columns.items()}, edits)

    def _by_end(self, end: str) -> Order:
        """Relations by the entity at this end, and those of one entity by id."""
        entities, relations = _keys(self._entity_ranks), _keys(self._relation_ranks)

        def keys(numbers: Ints) -> Keys:
            return *entities(self._of_relations[end][numbers].astype(np.int64)), *relations(numbers)

        return Order("relations", keys)

    def _links(self, relations_of: EditedRows, strengths: Floats) -> tuple[EditedRows, Ints]:
        """The neighbours of entities, and which of these have others now, or other weights; their strengths are
        brought up to date.
        """
        touched = self._relations.touched
        ends = np.stack([self._of_relations[end][touched].astype(np.int64) for end in ("subjects", "objects")])
        pairs = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
        weights = (
            self._between(relations_of, pairs[0], pairs[1]) + self._between(relations_of, pairs[1], pairs[0])
        ).astype(np.float32)
        rows, others, weights = np.concatenate(pairs), np.concatenate(pairs[::-1]), np.tile(weights, 2)
        links, order = self.tables[ENTITIES].edited("links"), Order("nodes", _keys(self._entity_ranks))
        _, before = links.lookup(rows, others, order)
        none, some = np.flatnonzero(weights == 0), np.flatnonzero(weights)
        _add(strengths, rows, weights.astype(np.float64) - weights_of(before["weights"]))
        kept = kept_as(weights[some], links.written["weights"].dtype)
        if kept is None:
            raise _NoRoom
        new = {"nodes": others[some].astype(np.int32), "weights": kept}
        return links.edited(order, (rows[none], others[none]), rows[some], new), distinct(rows)

    def _between(self, relations_of: EditedRows, subjects: Ints, objects: Ints) -> Floats:
        """The weight of all relations from each subject to its object."""
        objects_of = self._of_relations["objects"]
        which, relations = pairs_in(relations_of, objects_of, self._entity_ranks, subjects, objects)
        weights = weights_of(self._of_relations["weights"][relations])
        return np.bincount(which, np.maximum(weights, 0), len(subjects)).astype(np.float64)

    def nodes(self) -> Change:
        """Entities and chunks as a walk goes over them."""
        strengths = self.tables[NODES].column("strengths")
        joins_passages = self._joining[self._said_by]
        links, touched = self._mentions("links", np.flatnonzero(joins_passages), strengths)
        others, _ = self._mentions("others", np.flatnonzero(~joins_passages))
        return Change(touched, {"strengths": strengths[touched]}, {"links": links, "others": others})

    def _mentions(self, name: str, which: Ints, strengths: Floats | None = None) -> tuple[EditedRows, Ints]:
        """What chunks name, and who names entities, when these of the mentions in the contents are there; and the nodes
        that may be linked to others than before. Their strengths are brought up to date.
        """
        rows, first = self._linked[name], self._first_chunk
        order = Order("nodes", _keys(JoinedRanks(self._entity_ranks, self._chunk_ranks, first)))
        before = rows.now(first + self._old_chunks)
        left, old = before["nodes"].astype(np.int64), first + self._old_chunks[before.owners()]
        named, chunks = self._said_by[which], first + self._chunks[self._contents.naming[which]]
        marks = self._contents.marks[which]
        rows = rows.edited(order, (left, old), named, {"nodes": chunks.astype(np.int32), "marks": marks})
        here = first + distinct(self._old_chunks, self._chunks)
        rows = rows.replaced(here, _grouped(here, chunks, order, named, marks))
        if strengths is not None:
            gone, come = (MENTION_WEIGHTS[each].astype(np.float64) for each in (before["marks"], marks))
            for nodes, change in ((left, -gone), (old, -gone), (named, come), (chunks, come)):
                _add(strengths, nodes, change)
        return rows, distinct(left, named, here)

    def names(self) -> tuple[Patch, NDArray[np.uint64]]:
        others = self._touched.called
        called = (
            (name, number)
            for (id, name, _, *rest), number in zip(self._rows, self._entities.alive.tolist(), strict=True)
            if id in others
            for name in sorted(row[0] for row in GatheredEntity.of_row((name, *rest)).called(id, _never))
        )
        numbers = self._entities.of(as_ids(np.array(sorted(others), dtype=np.int64)))
        return self.name_words.patched(numbers[numbers >= 0], called)


_ENTITIES = "SELECT id, name, type, count, names, told FROM graph_entities WHERE id"


def _some(db: sqlite3.Connection, query: str, ids: Collection[int]) -> list[tuple]:  # type: ignore[type-arg]
    """Rows by id, in rising order."""
    asked = (json.dumps(sorted(ids)),)
    return db.execute(f"{query} IN (SELECT value FROM json_each(?)) ORDER BY id", asked).fetchall()


def _keys(ranks: Callable[[Ints], Ints] | None) -> Callable[[Ints], Keys]:
    """Values by their ranks, or by themselves."""
    return lambda numbers: (numbers if ranks is None else ranks(numbers),)


def _grouped(rows: Ints, owners: Ints, order: Order, nodes: Ints, marks: NDArray[np.uint8]) -> Ragged:
    """Mentions by the row that each belongs to."""
    places = np.searchsorted(rows, owners)
    by = np.lexsort((*reversed(order.keys(nodes)), places))
    counts = np.bincount(places, minlength=len(rows))
    return ragged(counts, nodes=nodes[by].astype(np.int32), marks=marks[by])


def _add(strengths: Floats, rows: Ints, changes: Floats) -> None:
    """Weights are such that their sums are exact (`link_weights`), so that it does not matter what came first."""
    np.add.at(strengths, rows, changes)


def _never(_: str) -> bool:
    return False
