"""Relations by the entities at their ends, while an index is changed: the arrays of the run to come are not there yet.

All of them are held in memory, or, where it is known what has changed, those alone: the arrays of the generation before
tell of the others. So the store needs no index of a relation's ends, which would take as much room as the rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.graph.graph_rows import MILLION
from ragways.index.graph.ids import ENTITIES, as_ids, as_numbers
from ragways.index.graph.relations import RELATIONS, RelationArrays
from ragways.index.ragged import stretches
from ragways.index.row_keys import RowKeys

Ints = NDArray[np.int64]
End = Literal["subject", "object"]

_ROW = np.dtype([("id", np.int64), ("subject", np.int64), ("object", np.int64), ("weight", np.int64)])
_ROWS = "SELECT id, subject, object, weight FROM graph_relations"


@dataclass(frozen=True)
class JoiningRows:
    """Relations, their ends and weights: numbers as the store has them."""

    ids: Ints
    subjects: Ints
    objects: Ints
    weights: Ints

    @classmethod
    def of(cls, rows: Iterator[tuple[int, int, int, int]]) -> JoiningRows:
        read = np.fromiter(rows, _ROW)
        return cls(*(np.ascontiguousarray(read[name]) for name in ("id", "subject", "object", "weight")))

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


class RelationEnds:
    """Relations as they are in the store now."""

    def __init__(self, db: sqlite3.Connection, before: Path | None = None, changed: Collection[int] = ()) -> None:
        """`before`: a derived folder whose arrays have all relations but those that `changed` since."""
        self._db, self._before, self._changed = db, before, changed

    @cached_property
    def _in_memory(self) -> _HeldRows:
        if self._before is None:
            return _HeldRows(JoiningRows.of(self._db.execute(_ROWS)))
        query = f"{_ROWS} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own words
        return _HeldRows(JoiningRows.of(self._db.execute(query, (json.dumps(list(self._changed)),))))

    @cached_property
    def _in_arrays(self) -> _RowsBefore | None:
        return None if self._before is None else _RowsBefore(self._before, self._changed)

    def forget(self) -> None:
        """Let go of what is held in memory; it is read again if it is asked for."""
        for held in ("_in_memory", "_in_arrays"):
            self.__dict__.pop(held, None)

    def all(self) -> JoiningRows:
        """Every relation."""
        return self._in_memory.rows if self._before is None else JoiningRows.of(self._db.execute(_ROWS))

    def with_end(self, end: End, entities: Collection[int]) -> JoiningRows:
        """Relations that have one of these entities at this end."""
        asked = np.array(sorted(entities), np.int64)
        found = self._in_memory.with_end(end, asked)
        return found if self._in_arrays is None else self._in_arrays.with_end(end, asked).and_(found)

    def counts(self, entities: Collection[int]) -> dict[int, int]:
        """How many relations each of these is in; it may count some that are no more."""
        asked = np.array(list(entities), np.int64)
        found = self._in_memory.counts(asked)
        if self._in_arrays is not None:
            found = found + self._in_arrays.counts(asked)
        return dict(zip(asked.tolist(), found.tolist(), strict=True))

    def between(self, entities: Collection[int]) -> JoiningRows:
        """Relations with both ends among these entities. Those of the one that has most are not gone through."""
        counts = self.counts(entities)
        *rest, most = sorted(counts, key=lambda entity: counts[entity]) or [0]
        asked, few = np.array(sorted([*rest, most]), np.int64), np.array(sorted(rest), np.int64)
        found = self._in_memory.between(asked, few)
        if self._in_arrays is not None:
            found = self._in_arrays.between(asked, few).and_(found)
        return found.at(np.argsort(found.ids))


class _HeldRows:
    """Rows in memory, sorted by either end."""

    def __init__(self, rows: JoiningRows) -> None:
        self.rows = rows.at(np.argsort(rows.subjects))
        self._by_object = np.argsort(self.rows.objects)
        self._sorted = {"subject": self.rows.subjects, "object": self.rows.objects[self._by_object]}

    def with_end(self, end: End, entities: Ints) -> JoiningRows:
        ends = self._sorted[end]
        first, last = np.searchsorted(ends, entities), np.searchsorted(ends, entities, side="right")
        places = stretches(first, last - first)
        return self.rows.at(places if end == "subject" else self._by_object[places])

    def between(self, entities: Ints, few: Ints) -> JoiningRows:
        """Relations with both ends among these, found by those of a few: by all but one."""
        out, into = self.with_end("subject", few), self.with_end("object", few)
        out = out.at(_among(out.objects, entities))
        into = into.at(_among(into.subjects, entities))
        both = out.and_(into)
        return both.at(np.unique(both.ids, return_index=True)[1])

    def counts(self, entities: Ints) -> Ints:
        one, other = (
            ends.searchsorted(entities, "right") - ends.searchsorted(entities) for ends in self._sorted.values()
        )
        return one + other


class _RowsBefore:
    """Relations of the generation before that have not changed."""

    def __init__(self, folder: Path, changed: Collection[int]) -> None:
        entities = ArrayTable(folder, ENTITIES)
        self._entities = RowKeys(entities.column("ids"), entities.column("alive"), entities.size.rows, entities.used)
        self._relations = RelationArrays.of(ArrayTable(folder, RELATIONS), entities)
        places = self._relations.rows.places(as_ids(np.array(sorted(changed), np.int64)))
        self._changed = np.sort(places[places >= 0])

    def with_end(self, end: End, entities: Ints) -> JoiningRows:
        return self._rows(self._with_end(end, self._places(entities)))

    def between(self, entities: Ints, few: Ints) -> JoiningRows:
        """Relations with both ends among these, found by those of a few: by all but one."""
        inside, ends = np.sort(self._places(entities)), self._places(few)
        out, into = self._with_end("subject", ends), self._with_end("object", ends)
        out = out[_among(self._relations.objects[out], inside)]
        into = into[_among(self._relations.subjects[into], inside)]
        return self._rows(np.unique(np.concatenate([out, into])))

    def _places(self, entities: Ints) -> Ints:
        """The numbers of those of these entities that are there."""
        places = self._entities.places(as_ids(entities))
        return places[places >= 0]

    def _with_end(self, end: End, entities: Ints) -> NDArray[np.int32]:
        """The numbers of relations with one of these at an end, changed or not."""
        ragged = self._relations.subject_of if end == "subject" else self._relations.object_of
        numbers: NDArray[np.int32] = ragged["relations"][ragged.places(entities)[0]]
        return numbers

    def _rows(self, numbers: NDArray[np.int32]) -> JoiningRows:
        """These, without those that changed."""
        numbers = numbers[~_is_among(numbers, self._changed)]
        arrays, keys = self._relations, self._entities.keys
        return JoiningRows(
            as_numbers(arrays.rows.keys[numbers]),
            as_numbers(keys[arrays.subjects[numbers]]),
            as_numbers(keys[arrays.objects[numbers]]),
            # Rules weigh in halves, which the arrays have as they are; a graph with other weights is made as a whole.
            np.rint(arrays.weights[numbers].astype(np.float64) * MILLION).astype(np.int64),
        )

    def counts(self, entities: Ints) -> Ints:
        places = self._entities.places(as_ids(entities))
        arrays, there = self._relations, np.maximum(places, 0)
        return np.where(places < 0, 0, arrays.subject_of.counts_of(there) + arrays.object_of.counts_of(there))


def _among(values: NDArray[np.integer], few: Ints) -> Ints:
    """The places of those values that are among a few, which are sorted."""
    return np.flatnonzero(_is_among(values, few))


def _is_among(values: NDArray[np.integer], few: Ints) -> NDArray[np.bool_]:
    if not len(few):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = few.take(few.searchsorted(values), mode="clip") == values
    return found
