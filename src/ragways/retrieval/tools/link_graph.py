"""Links as arrays: who is within some steps of a node, and a shortest chain between two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class LinkGraph:
    """A directed graph as arrays; nodes are 0 … n-1 and each edge stands once."""

    def __init__(self, nodes: int, edges: NDArray[np.int64]) -> None:
        self.size = nodes
        self._out = _rows(nodes, edges)
        self._in = _rows(nodes, edges[:, ::-1])
        self._both = _rows(nodes, distinct(nodes, np.concatenate([edges, edges[:, ::-1]])))

    def out(self, node: int) -> NDArray[np.int64]:
        return _row(self._out, node)

    def into(self, node: int) -> NDArray[np.int64]:
        return _row(self._in, node)

    def within(self, node: int, steps: int, direction: str = "both") -> dict[int, int]:
        """Nodes at most so many steps away, with their distance."""
        rows = {"out": self._out, "in": self._in}.get(direction, self._both)
        distance = np.full(self.size, -1, dtype=np.int64)
        distance[node] = 0
        frontier = np.array([node], dtype=np.int64)
        for step in range(1, steps + 1):
            _, reached = _expand(rows, frontier)
            frontier = np.unique(reached[distance[reached] < 0])
            distance[frontier] = step
        found = np.flatnonzero(distance > 0)
        return dict(zip(found.tolist(), distance[found].tolist(), strict=True))

    def path(self, start: int, end: int, limit: int) -> list[int] | None:
        """A shortest chain of at most so many edges, followed either way; among several, one is always the same."""
        if start == end:
            return [start]
        sides = (_Side(self.size, start), _Side(self.size, end))
        for _ in range(limit):
            here, there = sides if len(sides[0].frontier) <= len(sides[1].frontier) else (sides[1], sides[0])
            here.step(self._both)
            met = here.frontier[there.parents[here.frontier] >= 0]
            if len(met):
                middle = int(met[0])
                return [*reversed(sides[0].back(middle)), *sides[1].back(middle)[1:]]
            if not len(here.frontier):
                return None
        return None


class _Side:
    """One end's half of a search: who was reached from where."""

    def __init__(self, size: int, root: int) -> None:
        self.parents = np.full(size, -1, dtype=np.int64)
        self.parents[root] = root
        self.frontier = np.array([root], dtype=np.int64)

    def step(self, rows: _Rows) -> None:
        sources, reached = _expand(rows, self.frontier)
        new = self.parents[reached] < 0
        sources, reached = sources[new], reached[new]
        self.frontier, first = np.unique(reached, return_index=True)
        self.parents[self.frontier] = sources[first]

    def back(self, node: int) -> list[int]:
        chain = [node]
        while (parent := int(self.parents[chain[-1]])) != chain[-1]:
            chain.append(parent)
        return chain


_Rows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where each node's neighbours begin, and all neighbours."""


def distinct(nodes: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each edge once, in order: as single numbers, which sort ten times as fast as pairs."""
    numbers = np.sort(edges[:, 0] * nodes + edges[:, 1])
    return np.stack(np.divmod(numbers[np.diff(numbers, prepend=-1) != 0], max(1, nodes)), axis=1)


def _rows(nodes: int, edges: NDArray[np.int64]) -> _Rows:
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    begins = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(edges[:, 0], minlength=nodes), out=begins[1:])
    return begins, np.ascontiguousarray(edges[order, 1])


def _row(rows: _Rows, node: int) -> NDArray[np.int64]:
    begins, targets = rows
    return targets[begins[node] : begins[node + 1]]


def _expand(rows: _Rows, frontier: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All edges that leave these nodes: their sources and their targets."""
    begins, targets = rows
    counts = begins[frontier + 1] - begins[frontier]
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins[frontier] - (ends - counts), counts)
    return np.repeat(frontier, counts), targets[places]
