"""Entities joined by relations, as a walk sees them: read from the relations of each entity, and kept nowhere else."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.relations import RelationArrays
from ragways.index.pagerank import Adjacency, EdgeList, Floats, Ints, Links


def sums_at_ends(
    size: int, subjects: NDArray[np.integer], objects: NDArray[np.integer], weights: NDArray[np.floating]
) -> Floats:
    """What the relations between each of so many entities and others weigh in all."""
    counted = np.where(subjects == objects, 0.0, np.maximum(weights, 0.0))
    return sum((np.bincount(ends, counted, size).astype(np.float64) for ends in (subjects, objects)), np.zeros(size))


class RelationLinks(Links):
    """Node i is entity i. Each relation between two entities is an edge; those of an entity with itself are none."""

    def __init__(self, relations: RelationArrays, strengths: Floats | None = None) -> None:
        """`strengths`: those of the entities, where they are known."""
        self._relations = relations
        if strengths is not None:
            self.__dict__["strengths"] = strengths

    def __len__(self) -> int:
        return len(self._relations.subject_of)

    def ranks(self, nodes: Ints) -> NDArray[Any]:
        order = self._relations.ends
        return nodes if order is None else order(nodes)

    def counts_of(self, nodes: Ints) -> Ints:
        return self._relations.subject_of.counts_of(nodes) + self._relations.object_of.counts_of(nodes)

    def edges(self, nodes: Ints) -> EdgeList:
        """First those to the objects of what the entities are subjects of, then those to the subjects."""
        held = self._relations
        (begun, of_begun), (ended, of_ended) = (rows.places(nodes) for rows in (held.subject_of, held.object_of))
        begun, ended = held.subject_of["relations"].take(begun), held.object_of["relations"].take(ended)
        targets = np.concatenate([held.objects.take(begun), held.subjects.take(ended)])
        owners = np.repeat(np.tile(np.arange(len(nodes)), 2), np.concatenate([of_begun, of_ended]))
        weights = held.weights.take(np.concatenate([begun, ended])).astype(np.float64)
        weights[(targets == nodes.take(owners)) | (weights < 0)] = 0
        return EdgeList(owners, targets, weights)

    def merged(self, nodes: Ints) -> EdgeList:
        found = self.edges(nodes)
        there = np.flatnonzero(found.weights)
        owners, targets, weights = found.owners[there], found.targets[there], found.weights[there]
        order = np.lexsort((self.ranks(targets.astype(np.int64)), owners))
        keys = (owners << 32 | targets)[order]
        first = np.flatnonzero(np.append(keys[:1] == keys[:1], keys[1:] != keys[:-1]))
        summed = np.add.reduceat(weights[order], first) if len(first) else weights
        return EdgeList(owners[order[first]], targets[order[first]], summed)

    @cached_property
    def strengths(self) -> Floats:
        return sums_at_ends(len(self), *self._all())

    def compact(self) -> Adjacency:
        made = Adjacency.of_edges(len(self), *self._all())
        return made if self._relations.ends is None else made.ordered(self._relations.ends)

    @cached_property
    def unweighted(self) -> Adjacency:
        return self.compact().unweighted

    def _all(self) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
        """The ends and weights of all relations."""
        held = self._relations
        places, _ = held.subject_of.places(np.arange(len(self)))
        numbers = held.subject_of["relations"].take(places)
        return held.subjects.take(numbers), held.objects.take(numbers), held.weights.take(numbers).astype(np.float64)
