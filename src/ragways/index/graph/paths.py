"""The shortest ways between two entities, found from both ends at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragways.index.pagerank import Links
from ragways.index.ragged import distinct

Ints = NDArray[np.int64]
Way = tuple[float, tuple[int, ...]]
"""The weight of all its edges, and its nodes."""

MOST_HOPS = 8
"""Farther apart than this, two entities have little to do with each other."""
CANDIDATES = 300
"""Nodes that are looked at where ways meet or fork, those with the heaviest edges: hubs have millions."""


def shortest_paths(
    links: Links, start: int, end: int, *, limit: int = 5, hops: int = MOST_HOPS
) -> list[tuple[int, ...]]:
    """The shortest paths from node to node, each with both ends: heaviest in all first, equal ones by their nodes.

    None where the ends are more than so many hops apart.
    """
    if start == end:
        return [(start,)]
    sides = (_Side(links, start), _Side(links, end))
    for _ in range(hops):
        here, there = sides if len(sides[0].border) <= len(sides[1].border) else sides[::-1]
        here.grow()
        met = here.border[there.distance[here.border] >= 0]
        if len(met):
            return _joined(links, sides, met, limit)
        if not len(here.border):
            return []
    return []


class _Side:
    """One end's half of the search: how far each node is from it, -1 where it was not reached."""

    def __init__(self, links: Links, root: int) -> None:
        self._links = links
        self.distance = np.full(len(links), -1, dtype=np.int8)
        self.distance[root] = 0
        self.border: Ints = np.array([root], dtype=np.int64)
        self._known: dict[int, list[Way]] = {root: [(0.0, (root,))]}

    def grow(self) -> None:
        found = self._links.edges(self.border)
        reached = distinct(found.targets[found.weights > 0]).astype(np.int64)
        far = self.distance[self.border[0]] + 1
        self.border = reached[self.distance[reached] < 0]
        self.distance[self.border] = far

    def ways(self, node: int, limit: int) -> list[Way]:
        """The heaviest ways from this end to a node. As deep as the search has gone, so a few calls."""
        if node not in self._known:
            nodes, weights = self._links.neighbours(node)
            nearer = np.flatnonzero(self.distance[nodes] == self.distance[node] - 1)
            nearer = nearer[np.lexsort((nodes[nearer], -weights[nearer]))][:CANDIDATES]
            found = [
                (weight + float(weights[at]), (*way, node))
                for at in nearer
                for weight, way in self.ways(int(nodes[at]), limit)
            ]
            self._known[node] = sorted(found, key=_heaviest)[:limit]
        return self._known[node]


def _joined(links: Links, sides: tuple[_Side, _Side], met: Ints, limit: int) -> list[tuple[int, ...]]:
    if len(met) > CANDIDATES:
        met = met[np.lexsort((met, -links.strengths.take(met)))][:CANDIDATES]
    found: list[Way] = []
    for node in met.tolist():
        first, second = (side.ways(node, limit) for side in sides)
        found += [(a + b, (*one, *other[-2::-1])) for a, one in first for b, other in second]
    return [way for _, way in sorted(found, key=_heaviest)[:limit]]


def _heaviest(way: Way) -> tuple[float, tuple[int, ...]]:
    return (-round(way[0], 6), way[1])
