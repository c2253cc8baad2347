"""Relations as arrays: for the many that a question touches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable, Ragged
from ragways.index.row_keys import Ranks, RowKeys

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

RELATIONS = "graph-relations"
"""The table of relations: their ids, ends and weights, and the chunks that state them."""
DESCRIPTION = 240
"""Characters of a description that are shown of a relation, and whose words count."""


@dataclass(frozen=True)
class RelationArrays:
    """Relations by number. `subject_of` has the `relations` of each entity that is their subject, likewise `object_of`;
    `stating` the `chunks` that state each relation, in the corpus's order. Equal weights go by rank.
    """

    rows: RowKeys
    subjects: Small
    objects: Small
    weights: NDArray[np.float32]
    subject_of: Ragged
    object_of: Ragged
    stating: Ragged
    order: Ranks | None

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
        nodes, inside = self._chosen(entities)
        left = self.subject_of["relations"][self.subject_of.places(nodes)[0]]
        right = self.object_of["relations"][self.object_of.places(nodes)[0]]
        return self._heaviest(np.concatenate([left, right[~inside[self.subjects[right]]]]), limit)

    def between(self, entities: Iterable[int], limit: int | None = None) -> Ints:
        """Relations with both ends among these entities: all of them, or the `limit` heaviest; heaviest first."""
        nodes, inside = self._chosen(entities)
        found = self.subject_of["relations"][self.subject_of.places(nodes)[0]]
        found = found[inside[self.objects[found]]]
        return self._heaviest(found, len(found) if limit is None else limit)

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

    def _chosen(self, entities: Iterable[int]) -> tuple[Ints, NDArray[np.bool_]]:
        nodes = np.unique(np.fromiter(entities, dtype=np.int64))
        inside = np.zeros(len(self.subject_of), dtype=np.bool_)
        inside[nodes] = True
        return nodes, inside

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


_PREFIX = "relation:"
_DIGITS = re.compile("[0-9a-f]{16}")
