"""The relations of an open graph as arrays: ends, weights and source chunks, for the many that a question touches.

Rows with names and descriptions are read for the few that are shown; reading hundreds of them for each question is
what costs time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.reader import Graph

Ints = NDArray[np.int64]


class Bond(NamedTuple):
    """A relation without its words, and the chunks that state it in the corpus's order."""

    id: str
    subject: str
    object: str
    weight: float
    chunks: tuple[str, ...]


class Bonds:
    """Relations by number. They are stored in the order of their ids, so equal weights go by number."""

    def __init__(self, graph: Graph) -> None:
        rows = list(graph.relation_ends())
        self._graph = graph
        self._ids: Sequence[str] = [row[0] for row in rows]
        self._subjects: Ints = np.array([row[1] for row in rows], dtype=np.int64)
        self._objects: Ints = np.array([row[2] for row in rows], dtype=np.int64)
        self._weights: NDArray[np.float64] = np.array([row[3] for row in rows], dtype=np.float64)
        self._first, self._stated = _grouped(len(rows), list(graph.statements()))
        ends = np.concatenate([self._subjects, self._objects])
        order = np.argsort(ends, kind="stable")
        self._at: Ints = order % max(1, len(rows))
        self._begin: Ints = np.searchsorted(ends[order], np.arange(len(graph.ids) + 1)).astype(np.int64)

    @classmethod
    def of(cls, graph: Graph) -> Bonds:
        """Those of a graph, read once while it is open."""
        if graph not in _OPEN:
            _OPEN[graph] = cls(graph)
        return _OPEN[graph]

    def touching(self, entities: Collection[str], limit: int) -> list[Bond]:
        """Relations with an end among these entities: heaviest first."""
        return self._heaviest(self._around(self._nodes(entities)), limit)

    def between(self, entities: Collection[str], limit: int) -> list[Bond]:
        """Relations with both ends among these entities: heaviest first."""
        nodes = self._nodes(entities)
        found = self._around(nodes)
        inside = np.zeros(len(self._graph.ids), dtype=np.bool_)
        inside[nodes] = True
        return self._heaviest(found[inside[self._subjects[found]] & inside[self._objects[found]]], limit)

    def _nodes(self, entities: Collection[str]) -> Ints:
        return np.array(sorted(self._graph.ordinals[id] for id in entities), dtype=np.int64)

    def _around(self, nodes: Ints) -> Ints:
        found = np.zeros(len(self._ids), dtype=np.bool_)
        for node in nodes.tolist():
            found[self._at[self._begin[node] : self._begin[node + 1]]] = True
        return np.flatnonzero(found)

    def _heaviest(self, numbers: Ints, limit: int) -> list[Bond]:
        chosen = numbers[np.argsort(-self._weights[numbers], kind="stable")][:limit]
        names, chunks = self._graph.ids, self._graph.chunks
        rows = zip(
            chosen.tolist(),
            self._subjects[chosen].tolist(),
            self._objects[chosen].tolist(),
            self._weights[chosen].tolist(),
            self._first[chosen].tolist(),
            self._first[chosen + 1].tolist(),
            strict=True,
        )
        return [
            Bond(
                self._ids[number],
                names[subject],
                names[object],
                weight,
                tuple([chunks[chunk] for chunk in self._stated[low:high].tolist()]),
            )
            for number, subject, object, weight, low, high in rows
        ]


def naming(graph: Graph, entity: str, limit: int) -> list[str]:
    """The chunks that name an entity: its own article's and those that name it most first."""
    nodes, weights = graph.passages.neighbours(graph.ordinals[entity])
    order = np.argsort(-weights, kind="stable")[:limit]
    return [graph.chunks[node - len(graph.ids)] for node in nodes[order].tolist()]


_OPEN: WeakKeyDictionary[Graph, Bonds] = WeakKeyDictionary()


def _grouped(size: int, pairs: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Pairs sorted by their first number, as rows: where each begins, and the second numbers."""
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.searchsorted(columns[:, 0], np.arange(size + 1)).astype(np.int64), columns[:, 1]
