"""Relations by the entities at their ends, while an index is changed: the arrays of the run to come are not there yet.

All of them are held in memory, or, where it is known what has changed, those alone: the arrays of the generation before
tell of the others. So the store needs no index of a relation's ends, which would take as much room as the rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.checksums import reading_before
from ragways.index.graph.document_statements import MILLION
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.ids import ENTITIES, as_ids, as_numbers
from ragways.index.graph.relations import MANY, RELATIONS, pairs_in
from ragways.index.graph.stating_documents import stating_now
from ragways.index.graph.stored_relations import JoiningRows, StoredRelations, all_joining
from ragways.index.graph.weights import weights_of
from ragways.index.ragged import distinct, is_among, stretches
from ragways.index.row_keys import RowKeys

Ints = NDArray[np.int64]
End = Literal["subject", "object"]
ENDS: tuple[End, End] = ("subject", "object")


class RelationEnds:
    """Relations as they are in the store now."""

    def __init__(self, db: sqlite3.Connection, before: Path | None = None, touched: Touched | None = None) -> None:
        """`before`: a derived folder whose arrays have all relations but those that were `touched` since."""
        self._db, self._before, self._touched = db, before, touched or Touched()

    @cached_property
    def _in_memory(self) -> _HeldRows:
        if self._before is None:
            return _HeldRows(all_joining(self._db))
        touched = self._touched
        return _HeldRows(StoredRelations(self._db).joining(touched.relations, {*touched.alone.values()}))

    @cached_property
    def _in_arrays(self) -> _RowsBefore | None:
        if self._before is None:
            return None
        with reading_before(self._before):
            return _RowsBefore(self._before, self._touched.relations)

    @cached_property
    def stored(self) -> StoredRelations:
        """The rows of relations."""
        return StoredRelations(self._db, stating_now(self._db, self._before, self._touched))

    def forget(self) -> None:
        """Let go of what is held in memory; it is read again if it is asked for."""
        for held in ("_in_memory", "_in_arrays", "stored"):
            self.__dict__.pop(held, None)

    def all(self) -> JoiningRows:
        """Every relation."""
        return self._in_memory.rows if self._before is None else all_joining(self._db)

    def with_end(self, end: End, entities: Collection[int]) -> JoiningRows:
        """Relations that have one of these entities at this end."""
        asked = np.array(sorted(entities), np.int64)
        found = self._in_memory.with_end(end, asked)
        return found if self._in_arrays is None else self._in_arrays.with_end(end, asked).and_(found)

    def counts(self, entities: Collection[int]) -> dict[int, int]:
        """How many relations each of these is in; it may count some that are no more."""
        asked = np.array(list(entities), np.int64)
        return dict(zip(asked.tolist(), self._counts(asked).tolist(), strict=True))

    def _counts(self, entities: Ints) -> Ints:
        found = self._in_memory.counts(entities)
        return found if self._in_arrays is None else found + self._in_arrays.counts(entities)

    def inside(self, groups: Sequence[Collection[int]]) -> tuple[JoiningRows, Ints]:
        """Relations with both ends in one of these groups of entities, none of which is in two, and the number of each
        one's group; by group and id.
        """
        members = np.array([entity for group in groups for entity in group], np.int64)
        sizes = np.array([len(group) for group in groups], np.int64)
        of, order = np.repeat(np.arange(len(groups)), sizes), np.argsort(members)
        inside = _Groups(members[order], of[order], self._counts(members[order]))
        found = self._in_memory.inside(inside)
        if self._in_arrays is not None:
            found = self._in_arrays.inside(inside).and_(found)
        numbers = inside.of(found.subjects)
        order = np.lexsort((found.ids, numbers))
        return found.at(order), numbers[order]


@dataclass(frozen=True)
class _Groups:
    """Keys in rising order, the number of each one's group, and how many relations each one is in."""

    keys: Ints
    numbers: Ints
    counts: Ints

    def all_but_one(self) -> Ints:
        """The keys of each group but that of the one that is in most relations."""
        order = np.lexsort((self.keys, self.counts, self.numbers))
        last = np.flatnonzero(np.diff(self.numbers[order], append=-1))
        return np.sort(np.delete(self.keys[order], last))

    def pairs(self, chosen: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """All pairs of two of these keys that are in one group."""
        order = np.flatnonzero(chosen)[np.argsort(self.numbers[chosen], kind="stable")]
        keys, (_, sizes) = self.keys[order], np.unique(self.numbers[order], return_counts=True)
        firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        ones = np.repeat(np.arange(len(keys)), np.repeat(sizes, sizes))
        others = stretches(firsts, np.repeat(sizes, sizes))
        different = ones != others
        return keys[ones[different]], keys[others[different]]

    def of(self, values: NDArray[np.integer]) -> Ints:
        """The numbers of these values' groups, -1 where they are in none."""
        if not len(self.keys):
            return np.full(len(values), -1)
        at = self.keys.searchsorted(values)
        return np.where(self.keys.take(at, mode="clip") == values, self.numbers.take(at, mode="clip"), -1)

    def within(self, ends: NDArray[np.integer], others: NDArray[np.integer]) -> Ints:
        """Where both ends are in one group; the first of the two is in one."""
        return np.flatnonzero(self.of(ends) == self.of(others))


class _HeldRows:
    """Rows in memory, sorted by either end."""

    def __init__(self, rows: JoiningRows) -> None:
        self.rows = rows.at(np.argsort(rows.subjects))
        self._by_object = np.argsort(self.rows.objects)
        self._sorted = {"subject": self.rows.subjects, "object": self.rows.objects[self._by_object]}

    def with_end(self, end: End, entities: Ints) -> JoiningRows:
        return self.rows.at(self._with_end(end, entities))

    def _with_end(self, end: End, entities: Ints) -> Ints:
        ends = self._sorted[end]
        first, last = np.searchsorted(ends, entities), np.searchsorted(ends, entities, side="right")
        places = stretches(first, last - first)
        return places if end == "subject" else self._by_object[places]

    def inside(self, groups: _Groups) -> JoiningRows:
        """Relations inside groups."""
        few = groups.all_but_one()
        out, into = self._with_end("subject", few), self._with_end("object", few)
        out = out[groups.within(self.rows.subjects[out], self.rows.objects[out])]
        into = into[groups.within(self.rows.objects[into], self.rows.subjects[into])]
        return self.rows.at(distinct(out, into))

    def counts(self, entities: Ints) -> Ints:
        one, other = (
            ends.searchsorted(entities, "right") - ends.searchsorted(entities) for ends in self._sorted.values()
        )
        return one + other


class _RowsBefore:
    """Relations of the generation before that have not changed. What came into the rows of entities since these were
    written is looked up for those that are asked for: to have it in all would take longer than most changes.
    """

    def __init__(self, folder: Path, changed: Collection[int]) -> None:
        entities, relations = ArrayTable(folder, ENTITIES), ArrayTable(folder, RELATIONS)
        self._entities = RowKeys(entities.column("ids"), entities.column("alive"), entities.size.rows, entities.used)
        self._ids = relations.column("ids")
        self._subjects, self._objects = relations.column("subjects"), relations.column("objects")
        self._weights = relations.column("weights")
        self._of = {"subject": entities.edited("subject_of"), "object": entities.edited("object_of")}
        alive, sizes = relations.column("alive"), (relations.size.rows, relations.used)
        places = RowKeys(self._ids, alive, *sizes).places(as_ids(np.array(sorted(changed), np.int64)))
        self._changed = np.sort(places[places >= 0])

    def with_end(self, end: End, entities: Ints) -> JoiningRows:
        return self._rows(self._with_end(end, self._places(entities)))

    def inside(self, groups: _Groups) -> JoiningRows:
        """Relations inside groups. Those of two hubs are looked up in the row of one, so that none is gone through."""
        places = self._entities.places(as_ids(groups.keys))
        order = np.argsort(places)
        order = order[places[order] >= 0]
        there = _Groups(places[order], groups.numbers[order], groups.counts[order])
        hubs = there.counts > MANY
        out, into = (self._with_end(end, there.keys[~hubs]) for end in ENDS)
        out = out[there.within(self._subjects[out], self._objects[out])]
        into = into[there.within(self._objects[into], self._subjects[into])]
        _, between = pairs_in(self._of["subject"], self._objects, self._entities.ranks, *there.pairs(hubs))
        return self._rows(distinct(out, into, between))

    def _places(self, entities: Ints) -> Ints:
        """The numbers of those of these entities that are there, in rising order."""
        places = self._entities.places(as_ids(entities))
        return np.sort(places[places >= 0])

    def _with_end(self, end: End, entities: Ints) -> NDArray[np.int32]:
        """The numbers of relations with one of these, in rising order, at an end, changed or not."""
        numbers: NDArray[np.int32] = self._of[end].now(entities)["relations"]
        return numbers

    def _rows(self, numbers: NDArray[np.int32]) -> JoiningRows:
        """These, without those that changed."""
        numbers = numbers[~is_among(numbers, self._changed)]
        keys = self._entities.keys
        return JoiningRows(
            as_numbers(self._ids[numbers]),
            as_numbers(keys[self._subjects[numbers]]),
            as_numbers(keys[self._objects[numbers]]),
            # Rules weigh in halves, which the arrays have as they are; a graph with other weights is made as a whole.
            np.rint(weights_of(self._weights[numbers]) * MILLION).astype(np.int64),
        )

    def counts(self, entities: Ints) -> Ints:
        places = self._entities.places(as_ids(entities))
        there = np.maximum(places, 0)
        return np.where(places < 0, 0, sum(rows.counts_of(there) for rows in self._of.values()))
