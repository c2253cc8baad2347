"""Relations as arrays: for the many that a question touches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.graph.ids import EntityIds
from ragways.index.ragged import Ragged, stretches
from ragways.index.row_keys import Ranks, RowKeys

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

RELATIONS = "graph-relations"
"""The table of relations: their ids, ends and weights, and the chunks that state them."""
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
    weights: NDArray[np.float32]
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
            relations.column("weights"),
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
        nodes = np.unique(np.fromiter(entities, dtype=np.int64))
        left = self.subject_of["relations"][self.subject_of.places(nodes)[0]]
        right = self.object_of["relations"][self.object_of.places(nodes)[0]]
        return self._heaviest(np.concatenate([left, right[~_among(nodes, self.subjects[right])]]), limit)

    def between(self, entities: Iterable[int], limit: int | None = None) -> Ints:
        """Relations with both ends among these entities: all of them, or the `limit` heaviest; heaviest first."""
        nodes = np.unique(np.fromiter(entities, dtype=np.int64))
        many = self.subject_of.counts_of(nodes) > _MANY
        found = self.subject_of["relations"][self.subject_of.places(nodes[~many])[0]]
        found = np.concatenate([found[_among(nodes, self.objects[found])], self._joining(nodes[many], nodes)])
        return self._heaviest(found, len(found) if limit is None else limit)

    def _joining(self, hubs: Ints, objects: Ints) -> Small:
        """Relations from one of these entities to another of those, looked up in the rows of the first."""
        rows, wanted = self.subject_of, np.tile(self._rank_of_ends(objects), len(hubs))
        first = np.repeat(rows.begins[hubs].astype(np.int64), len(objects))
        last = np.repeat(rows.ends[hubs].astype(np.int64), len(objects))
        # Where an object's relations begin, and where those of the next object do.
        low, high = np.tile(first, 2), np.tile(last, 2)
        wanted = np.concatenate([wanted, wanted + 1])
        for _ in range(int((last - first).max(initial=0)).bit_length()):
            middle = (low + high) // 2
            open_ = low < high
            at = rows["relations"].take(np.where(open_, middle, 0))
            below = open_ & (self._rank_of_ends(self.objects.take(at).astype(np.int64)) < wanted)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        begins, ends = low[: len(first)], low[len(first) :]
        places = stretches(begins, ends - begins)
        found: Small = rows["relations"][places]
        return found

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


def _among(nodes: Ints, entities: Small) -> NDArray[np.bool_]:
    """Which of the entities are among these nodes, which are in rising order."""
    if not len(nodes):
        return np.zeros(len(entities), dtype=np.bool_)
    found: NDArray[np.bool_] = nodes.take(np.searchsorted(nodes, entities), mode="clip") == entities
    return found


_MANY = 256
"""Relations of an entity beyond which it is asked for each object by itself."""
_PREFIX = "relation:"
_DIGITS = re.compile("[0-9a-f]{16}")
