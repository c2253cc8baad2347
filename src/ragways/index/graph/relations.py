"""Relations as arrays: for the many that a question touches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.graph.ids import EntityIds
from ragways.index.graph.weights import readable
from ragways.index.pagerank import Weights
from ragways.index.ragged import EditedRows, Order, Ragged, distinct, stretches
from ragways.index.row_keys import Ranks, RowKeys

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

RELATIONS = "graph-relations"
"""The table of relations: their ids, ends and weights, and the chunks that state them."""
MANY = 256
"""Relations of an entity beyond which those to another one are looked up, not gone through."""
DESCRIPTION = 240
"""Characters of a description that are shown of a relation, and whose words count."""


@dataclass(frozen=True)
class RelationArrays:
    """Relations by number. `subject_of` has the `relations` of each entity that is their subject, in the order of their
    objects, and `object_of` likewise; `stating` the `chunks` that state each relation, in the corpus's order. Equal
    weights go by rank; `ends` has the ranks of entities.
    """

    rows: RowKeys
    subjects: Small
    objects: Small
    weights: Weights
    subject_of: Ragged
    object_of: Ragged
    stating: Ragged
    order: Ranks | None
    ends: Callable[[Ints], Ints] | None

    @classmethod
    def of(cls, relations: ArrayTable, entities: ArrayTable) -> RelationArrays:
        rows = RowKeys(relations.column("ids"), relations.column("alive"), relations.size.rows, relations.used)
        return cls(
            rows,
            relations.column("subjects"),
            relations.column("objects"),
            readable(relations.column("weights")),
            entities.ragged("subject_of"),
            entities.ragged("object_of"),
            relations.ragged("stating"),
            rows.ranks,
            EntityIds.load(entities).ranks,
        )

    def __len__(self) -> int:
        """How many relations there are."""
        return len(self.rows)

    def all_numbers(self) -> Ints:
        """The numbers of all relations, in the order of their ids."""
        return self.rows.numbers()

    def ranks(self, numbers: Ints) -> Ints:
        """What decides between relations that are equal otherwise: the smaller first. They go by id."""
        return numbers if self.order is None else self.order(numbers)

    def touching(self, entities: Iterable[int], limit: int) -> Ints:
        """Relations with an end among these entities: the `limit` heaviest, heaviest first."""
        nodes = distinct(np.fromiter(entities, dtype=np.int64))
        left = self.subject_of["relations"][self.subject_of.places(nodes)[0]]
        right = self.object_of["relations"][self.object_of.places(nodes)[0]]
        return self._heaviest(np.concatenate([left, right[~_among(nodes, self.subjects[right])]]), limit)

    def between(self, entities: Iterable[int], limit: int | None = None) -> Ints:
        """Relations with both ends among these entities: all of them, or the `limit` heaviest; heaviest first."""
        found = self.joining(entities)
        return self._heaviest(found, len(found) if limit is None else limit)

    def joining(self, entities: Iterable[int]) -> Small:
        """Relations with both ends among these entities, in no order."""
        nodes = distinct(np.fromiter(entities, dtype=np.int64))
        few_to, few_from = (rows.counts_of(nodes) <= MANY for rows in (self.subject_of, self.object_of))
        hubs = nodes[~few_to]
        begun = self.subject_of["relations"][self.subject_of.places(nodes[few_to])[0]]
        ended = self.object_of["relations"][self.object_of.places(nodes[few_from] if len(hubs) else hubs)[0]]
        found: Small = np.concatenate(
            [
                begun[_among(nodes, self.objects[begun])],
                ended[_among(hubs, self.subjects[ended])],
                self._looked_up(hubs, nodes[~few_from]),
            ]
        )
        return found

    def _looked_up(self, subjects: Ints, objects: Ints) -> Small:
        """Relations from one of these entities to one of those, which have many: looked up in the rows of the first."""
        rows, wanted = self.subject_of, np.tile(self._rank_of_ends(objects), len(subjects))
        first, last = (np.repeat(ends[subjects].astype(np.int64), len(objects)) for ends in (rows.begins, rows.ends))
        begins = self._bisected(first, last, wanted)
        there = np.flatnonzero(begins < last)
        there = there[self._objects_at(begins[there]) == wanted[there]]
        begins = begins[there]
        ends = self._ends_of(begins, last[there], wanted[there])
        found: Small = rows["relations"][stretches(begins, ends - begins)]
        return found

    def _ends_of(self, begins: Ints, last: Ints, wanted: Ints) -> Ints:
        """Where the relations to the same object end that begin there: most have few, the others are bisected."""
        ends, going = begins.copy(), np.arange(len(begins))
        for _ in range(_FEW):
            ends[going] += 1
            going = going[ends[going] < last[going]]
            going = going[self._objects_at(ends[going]) == wanted[going]]
        ends[going] = self._bisected(ends[going], last[going], wanted[going] + 1)
        return ends

    def _bisected(self, low: Ints, high: Ints, wanted: Ints) -> Ints:
        """Of each stretch of `subject_of`, where the objects begin whose rank is not below this one."""
        for _ in range(int((high - low).max(initial=0)).bit_length()):
            middle = (low + high) // 2
            open_ = low < high
            below = open_ & (self._objects_at(np.where(open_, middle, 0)) < wanted)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        return low

    def _objects_at(self, places: Ints) -> Ints:
        """The ranks of objects at places of `subject_of`."""
        return self._rank_of_ends(self.objects.take(self.subject_of["relations"].take(places)).astype(np.int64))

    def _rank_of_ends(self, entities: Ints) -> Ints:
        return entities if self.ends is None else self.ends(entities)

    def sources(self, numbers: Ints, most: int | None = None) -> tuple[Ints, Ints]:
        """The chunks that state these relations, one after the other, and for each, which of `numbers` it states: all
        of them, or the `most` first.
        """
        if most is not None:
            ends = np.cumsum(self.stating.counts_of(numbers))
            numbers = numbers[: int(np.searchsorted(ends, most)) + 1]
        places, counts = self.stating.places(numbers)
        which = np.repeat(np.arange(len(numbers)), counts)
        return self.stating["chunks"][places[:most]].astype(np.int64), which[:most]

    def names(self, numbers: Ints) -> list[str]:
        """The ids of these relations."""
        return [f"{_PREFIX}{id:016x}" for id in self.rows.keys[numbers].tolist()]

    def numbers(self, ids: Sequence[str]) -> Ints:
        """The numbers of relations by id; -1 of one that is not there."""
        digits = [id.removeprefix(_PREFIX) for id in ids]
        known = np.array([_DIGITS.fullmatch(each) is not None for each in digits], dtype=np.bool_)
        ids_as_numbers = np.array(
            [int(each, 16) if there else 0 for each, there in zip(digits, known.tolist(), strict=True)], dtype=np.uint64
        )
        return np.where(known, self.rows.places(ids_as_numbers), -1)

    def _heaviest(self, found: Small, limit: int) -> Ints:
        """A hub has relations by the ten thousand, many of the same weight, so only what is kept is sorted."""
        numbers, weights = found.astype(np.int64), self.weights[found]
        if limit < len(numbers):
            border = np.partition(weights, -limit)[-limit] if limit > 0 else np.inf
            above, equal = numbers[weights > border], numbers[weights == border]
            wanted = max(0, limit - len(above))
            if wanted < len(equal):
                equal = equal[np.argpartition(self.ranks(equal), wanted)[:wanted]]
            numbers = np.concatenate([above, equal])
            weights = self.weights[numbers]
        return numbers[np.lexsort((self.ranks(numbers), -weights))]


def pairs_in(
    rows: EditedRows, others: Small, ranks: Ranks | None, ones: Ints, with_: Ints
) -> tuple[Ints, NDArray[np.int32]]:
    """Relations from each of some entities to the one with it, looked up in `rows`, which has those of each by the
    ranks of their `others`: for each relation that is found, which of the pairs it is of, and its number.
    """

    def rank(entities: NDArray[np.integer]) -> Ints:
        return entities.astype(np.int64) if ranks is None else ranks(entities)

    order, wanted = Order("relations", lambda relations: (rank(others.take(relations)),)), rank(with_)
    begins, ends = (rows.found(ones, order, (wanted + after,)) for after in (0, 1))
    places, which = stretches(begins, ends - begins), np.repeat(np.arange(len(ones)), ends - begins)
    there = ~np.isin(places, rows.edits.gone)
    came = rows.edits.parts["relations"]
    known, asked = rows.edits.rows << 32 | others[came], ones << 32 | with_
    sorted_by = np.argsort(asked)
    at = sorted_by.take(np.searchsorted(asked, known, sorter=sorted_by), mode="clip") if len(asked) else known[:0]
    ours = np.flatnonzero(asked[at] == known) if len(asked) else at
    return np.concatenate([which[there], at[ours]]), np.concatenate(
        [rows.written["relations"][places[there]], came[ours]]
    )


def _among(nodes: Ints, entities: Small) -> NDArray[np.bool_]:
    """Which of the entities are among these nodes, which are in rising order."""
    if not len(nodes):
        return np.zeros(len(entities), dtype=np.bool_)
    found: NDArray[np.bool_] = nodes.take(np.searchsorted(nodes, entities), mode="clip") == entities
    return found


_FEW = 4
"""Relations of two entities that are looked at one after the other."""
_PREFIX = "relation:"
_DIGITS = re.compile("[0-9a-f]{16}")
