"""Random walks over the graph until so many different edges have been crossed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ragways.index.pagerank import Adjacency

HOPS = 50
"""Different edges that a walk must cross, else another is begun."""
_TRIES = 5
_STALE = 3
"""Steps for each edge wanted that a walk may take over edges it knows: then it has gone where it can."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Nodes in the order they were first reached, and the edges crossed; `whole` if they are as many as wanted."""

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    whole: bool


def random_walk(links: Adjacency, random: Random, hops: int = HOPS) -> Walk:
    """From a random node on; where five walks in a row fall short, the longest of them, and it says so."""
    best = Walk((), (), False)
    for _ in range(_TRIES if len(links) else 0):
        walk = _one(links, random, hops)
        if len(walk.edges) > len(best.edges):
            best = walk
        if best.whole:
            break
    return best


def _one(links: Adjacency, random: Random, hops: int) -> Walk:
    node = random.randrange(len(links))
    nodes, edges = {node: None}, dict[tuple[int, int], None]()
    stale = 0
    while len(edges) < hops and stale < hops * _STALE:
        near, _ = links.neighbours(node)
        if not len(near):
            break
        step = int(near[random.randrange(len(near))])
        edge = min(node, step), max(node, step)
        stale = stale + 1 if edge in edges else 0
        edges[edge] = nodes[step] = None
        node = step
    return Walk(tuple(nodes), tuple(edges), len(edges) >= hops)
