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
from ragways.index.graph.relations import RELATIONS
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.graph.weights import Kept, kept_as, link_weights, sums_as, sums_of, weights_of
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
        self._old_weights = weights_of(columns["weights"][self._old_relations])
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
        rows, changes = self._weighed()
        numbers = distinct(self._entities.touched, rows)
        columns = {"ids": self._ids, "alive": self._alive, "joining": self._joining}
        of_rows = {name: values[numbers] for name, values in columns.items()}
        of_rows["strengths"] = _added(table.column("strengths")[numbers], np.searchsorted(numbers, rows), changes)
        return Change(numbers, of_rows, edits)

    def _weighed(self) -> tuple[Ints, Floats]:
        """Entities at the ends of relations that went or came, and what the sum of weights there changes by."""
        old, new = self._old_relations, self._relations.alive
        numbers = np.concatenate([old, new])
        gone, come = (
            np.maximum(each, 0.0) for each in (self._old_weights, weights_of(self._of_relations["weights"][new]))
        )
        changes = np.concatenate([-gone, come])
        ends = [self._of_relations[end][numbers].astype(np.int64) for end in ("subjects", "objects")]
        apart = ends[0] != ends[1]  # what joins an entity to itself does not count
        return np.concatenate([each[apart] for each in ends]), np.tile(changes[apart], 2)

    def _by_end(self, end: str) -> Order:
        """Relations by the entity at this end, and those of one entity by id."""
        entities, relations = _keys(self._entity_ranks), _keys(self._relation_ranks)

        def keys(numbers: Ints) -> Keys:
            return *entities(self._of_relations[end][numbers].astype(np.int64)), *relations(numbers)

        return Order("relations", keys)

    def nodes(self) -> Change:
        """Entities and chunks as a walk goes over them."""
        strengths = self.tables[NODES].column("strengths")
        joins_passages = self._joining[self._said_by]
        links, rows, changes = self._mentions("links", np.flatnonzero(joins_passages))
        others, *_ = self._mentions("others", np.flatnonzero(~joins_passages))
        touched = distinct(rows)
        new = _added(strengths[touched], np.searchsorted(touched, rows), changes)
        return Change(touched, {"strengths": new}, {"links": links, "others": others})

    def _mentions(self, name: str, which: Ints) -> tuple[EditedRows, Ints, Floats]:
        """What chunks name, and who names entities, when these of the mentions in the contents are there; and the nodes
        whose strengths change, each as often as a mention went or came, and by how much.
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
        gone, come = (MENTION_WEIGHTS[each].astype(np.float64) for each in (before["marks"], marks))
        return rows, np.concatenate([left, old, named, chunks]), np.concatenate([-gone, -gone, come, come])

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


def _added(kept: Kept, places: Ints, changes: Floats) -> Kept:
    """Sums of weights, as they are kept, when these are added at such places. Weights are such that their sums are
    exact (`link_weights`), so that it does not matter what came first.
    """
    sums = sums_of(kept)
    np.add.at(sums, places, changes)
    now = sums_as(sums, kept.dtype)
    if now is None:
        raise _NoRoom
    return now


def _never(_: str) -> bool:
    return False
