"""Relations by number: which touch or join some entities, which chunks state them, and their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragways.layers.graph.csr import UNSIGNED, WIDE, GraphArrays, Hashes, Ints, Mask, Small
from ragways.layers.graph.walk import rows_of

Floats = NDArray[np.float64]

MANY = 256
"""Relations of an entity beyond which those to another one are looked up, not gone through."""
DESCRIPTION = 240
"""Characters of a description that are shown of a relation, and whose words count."""
_PREFIX = "relation:"
_DIGITS = re.compile("relation:([0-9a-f]{16})")
_OF_SUBJECT = 20
"""First bits of an id: those of the subject's, so that a relation is found among those of a few subjects."""
_REST = np.uint64(64 - _OF_SUBJECT)
_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST = np.uint64(31)
"""Of the finalizer of SplitMix64: each bit of what it is given changes half of the bits of what it gives."""
_KEPT = 50_000
"""Ids that were given out, and are asked for next."""


class Relations:
    """The relations of a graph's arrays; equal weights go by number."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays
        self._known: dict[str, int] = {}

    # Ids

    def ids(self, numbers: Ints) -> list[str]:
        """The ids of these relations."""
        ids = [f"{_PREFIX}{id:016x}" for id in self._keys(numbers).tolist()]
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known.update(zip(ids, numbers.tolist(), strict=True))
        return ids

    def numbers(self, ids: Sequence[str]) -> Ints:
        """The numbers of relations by id; -1 of one that is not there."""
        known = self._known
        return np.array([known[id] if id in known else self._number(id) for id in ids], np.int64)

    def _number(self, id: str) -> int:
        digits = _DIGITS.fullmatch(id)
        if digits is None:
            return -1
        arrays, key = self._arrays, int(digits[1], 16)
        prefix = key >> int(_REST)
        ends = np.array([prefix << int(_REST), min((prefix + 1) << int(_REST), UNSIGNED)], np.uint64)
        names = np.searchsorted(arrays.names, ends).astype(np.int64)
        if ends[1] == np.uint64(UNSIGNED):
            names[1] = len(arrays.names)
        first, end = arrays.subject_begins[np.searchsorted(arrays.codes, names * WIDE)].tolist()
        numbers = np.arange(first, end)
        found = numbers[self._keys(numbers) == np.uint64(key)]
        return int(found[0]) if len(found) else -1

    def _keys(self, numbers: Ints) -> Hashes:
        arrays = self._arrays
        subjects, objects = (self._hashes(ends[numbers]) for ends in (arrays.subjects, arrays.objects))
        predicates = arrays.predicates[arrays.relation_predicates[numbers]]
        mixed = _mixed(_mixed(_mixed(subjects) + predicates) + objects)
        keys: Hashes = subjects >> _REST << _REST | mixed >> np.uint64(_OF_SUBJECT)
        return keys

    def _hashes(self, entities: NDArray[np.integer]) -> Hashes:
        names, kinds = np.divmod(self._arrays.codes[entities], WIDE)
        hashes: Hashes = self._arrays.names[names] & ~np.uint64(WIDE - 1) | kinds.astype(np.uint64)
        return hashes

    # Of entities

    def touching(self, entities: Ints, limit: int) -> Ints:
        """Relations with an end among these entities, which are in order: the `limit` heaviest, heaviest first."""
        begun, ended = self._begun(entities), self._ended(entities)
        ended = ended[~_among(entities, self._arrays.subjects[ended])]
        return self._heaviest(np.concatenate([begun, ended]), limit)

    def between(self, entities: Ints, limit: int | None = None) -> Ints:
        """Relations with both ends among these entities: all of them, or the `limit` heaviest; heaviest first."""
        found = self.joining(entities)
        return self._heaviest(found, len(found) if limit is None else limit)

    def joining(self, entities: Ints) -> Ints:
        """Relations with both ends among these entities, in order."""
        arrays, nodes = self._arrays, distinct(entities)
        few_to, few_from = (
            begins[nodes + 1] - begins[nodes] <= MANY for begins in (arrays.subject_begins, arrays.object_begins)
        )
        hubs = nodes[~few_to]
        begun = self._begun(nodes[few_to])
        ended = self._ended(nodes[few_from] if len(hubs) else hubs)
        return np.sort(
            np.concatenate(
                [
                    begun[_among(nodes, arrays.objects[begun])],
                    ended[_among(hubs, arrays.subjects[ended])],
                    self._looked_up(hubs, nodes[~few_from]),
                ]
            )
        )

    def _begun(self, entities: Ints) -> Ints:
        return rows_of(self._arrays.subject_begins, entities)[0]

    def _ended(self, entities: Ints) -> Ints:
        return self._arrays.object_relations[rows_of(self._arrays.object_begins, entities)[0]].astype(np.int64)

    def _looked_up(self, subjects: Ints, objects: Ints) -> Ints:
        """Relations from one of these entities to one of those, which have many: by objects, which are in order."""
        found = [np.zeros(0, np.int64)]
        for subject in subjects.tolist():
            first, end = self._arrays.subject_begins[subject : subject + 2].tolist()
            row = self._arrays.objects[first:end]
            begins, ends = np.searchsorted(row, objects), np.searchsorted(row, objects, side="right")
            for at in np.flatnonzero(begins < ends).tolist():
                found.append(np.arange(first + begins[at], first + ends[at]))
        return np.concatenate(found)

    def _heaviest(self, numbers: Ints, limit: int) -> Ints:
        """A hub has relations by the ten thousand, many of the same weight, so only a few of them are sorted."""
        weights = self._arrays.weights[numbers]
        if limit < len(numbers):
            able = np.flatnonzero(weights >= np.partition(weights, -limit)[-limit]) if limit > 0 else numbers[:0]
            numbers, weights = numbers[able], weights[able]
        return numbers[np.lexsort((numbers, -weights))][:limit]

    def of_ends(self, numbers: Ints, nodes: Ints, *scores: Iterable[float]) -> list[tuple[Floats, Floats]]:
        """Of each of several scores of these entities, that of the subject and of the object of each of these
        relations; 0 for an entity that is none of them.
        """
        order = np.append(np.argsort(nodes), len(nodes))
        known = np.append(nodes, -1)[order]
        places = []
        for ends in (self._arrays.subjects[numbers], self._arrays.objects[numbers]):
            at = np.searchsorted(known[:-1], ends)
            places.append(np.where(known.take(at) == ends, order.take(at), len(nodes)))
        given = [np.array([*each, 0.0]) for each in scores]
        return [(each.take(places[0]), each.take(places[1])) for each in given]

    # Chunks

    def sources(self, numbers: Ints, most: int | None = None) -> tuple[Ints, Ints]:
        """The chunks that state these relations, one after the other, and for each, which of `numbers` it states: all
        of them, or the `most` first. A number below 0 is of no relation.
        """
        there = np.flatnonzero(numbers >= 0)
        places, counts = rows_of(self._arrays.stating_begins, numbers[there])
        which = np.repeat(there, counts)
        return self._arrays.stating_chunks[places[:most]].astype(np.int64), which[:most]


def summed(chunks: Ints, which: Ints, scores: Floats) -> tuple[Ints, Ints, Floats]:
    """Each chunk once, where it stands first, and all of its scores in sum: to the last bit, whatever their order.
    `which`: of each place of `chunks`, which of the scores is its own.
    """
    if not len(chunks):
        return chunks, which, scores[:0]
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    order = np.argsort(chunks * len(scores) + ranks.take(which), kind="stable")  # the smallest are added first
    known = chunks.take(order)
    begins = np.flatnonzero(np.diff(known, prepend=-1))
    total = np.add.reduceat(scores.take(which.take(order)), begins)
    return known.take(begins), np.minimum.reduceat(order, begins), total


def distinct(values: Ints) -> Ints:
    """The different values, in order. By sorting: `np.unique` takes ten times as long for many."""
    ordered = np.sort(values)
    found: Ints = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


def _among(nodes: Ints, entities: Small) -> Mask:
    """Which of the entities are among these nodes, which are in rising order."""
    if not len(nodes):
        return np.zeros(len(entities), dtype=np.bool_)
    found: Mask = nodes.take(np.searchsorted(nodes, entities), mode="clip") == entities
    return found


def _mixed(numbers: Hashes) -> Hashes:
    for shift, factor in _STEPS:
        numbers = (numbers ^ numbers >> shift) * factor
    mixed: Hashes = numbers ^ numbers >> _LAST
    return mixed
