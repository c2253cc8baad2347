"""Figures of a knowledge graph's structure. Edges are the pairs of entities that any relation joins, either way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragways.evaluation.diagnostics.sample import Sample, take
from ragways.index.pagerank import Adjacency

Ints = NDArray[np.int64]

MOST_WEDGES = 20_000_000
"""Pairs of edges at one node that are looked at; where a graph has more, its clustering is estimated."""
_WEDGES_AT_ONCE = 2_000_000
_DRAWN = 200_000


@dataclass(frozen=True, slots=True)
class Structural:
    """None is a figure that is not defined for this graph, never 0."""

    nodes: int
    edges: int
    relations: int
    relation_types: int
    density: float | None
    """2E / (V(V − 1))"""
    mean_degree: float | None
    largest_degree_centrality: float | None
    """The largest share of all other nodes that one node is joined to."""
    components: int
    largest_component_share: float | None
    mean_clustering: float | None
    """Over all nodes; one with fewer than two neighbours counts as 0."""
    clustering_of: Sample


def structural(links: Adjacency, *, relations: int, relation_types: int, seed: int = 0) -> Structural:
    nodes, ends = len(links), len(links.indices)
    degrees = np.diff(links.indptr)
    sizes = component_sizes(links)
    clustering, sample = mean_clustering(links, seed=seed)
    pairs = nodes * (nodes - 1)
    return Structural(
        nodes=nodes,
        edges=ends // 2,
        relations=relations,
        relation_types=relation_types,
        density=ends / pairs if pairs else None,
        mean_degree=ends / nodes if nodes else None,
        largest_degree_centrality=int(degrees.max()) / (nodes - 1) if nodes > 1 else None,
        components=len(sizes),
        largest_component_share=int(sizes[0]) / nodes if nodes else None,
        mean_clustering=clustering,
        clustering_of=sample,
    )


def component_sizes(links: Adjacency) -> Ints:
    """Nodes of each component, largest first.

    Each tree of joined nodes hooks itself under the smallest it touches, then all paths are cut short: a few rounds
    over the edges, where a search from node to node would take a step for each.
    """
    parent = np.arange(len(links), dtype=np.int64)
    one, two = _edges(links)
    while len(one):
        low, high = np.minimum(parent[one], parent[two]), np.maximum(parent[one], parent[two])
        apart = low != high
        one, two = one[apart], two[apart]
        np.minimum.at(parent, high[apart], low[apart])
        while not np.array_equal(shorter := parent[parent], parent):
            parent = shorter
    return np.sort(np.unique(parent, return_counts=True)[1])[::-1].astype(np.int64)


def mean_clustering(links: Adjacency, *, most: int = MOST_WEDGES, seed: int = 0) -> tuple[float | None, Sample]:
    """The mean of each node's share of pairs of neighbours that are joined themselves."""
    nodes = len(links)
    if not nodes:
        return None, Sample(0, 0, seed)
    # Numbered by degree, each edge from its lower end: so no hub has many edges outward, and few pairs are looked at.
    order = np.argsort(np.diff(links.indptr), kind="stable")
    rank = np.empty(nodes, dtype=np.int64)
    rank[order] = np.arange(nodes)
    one, two = (rank[ends] for ends in _edges(links))
    keys = np.sort(np.minimum(one, two) * nodes + np.maximum(one, two))
    ways = np.bincount(keys // nodes, minlength=nodes)
    if int((ways * (ways - 1) // 2).sum()) > most:
        return _drawn_clustering(links, seed)
    degrees = np.diff(links.indptr)[order]
    pairs = degrees * (degrees - 1) / 2
    shares = np.divide(_triangles(keys, nodes), pairs, out=np.zeros(nodes), where=pairs > 0)
    return float(shares.mean()), Sample(nodes, nodes, seed)


def _edges(links: Adjacency) -> tuple[Ints, Ints]:
    """The ends of each edge, once."""
    rows = np.repeat(np.arange(len(links), dtype=np.int64), np.diff(links.indptr))
    columns = np.asarray(links.indices, dtype=np.int64)
    once = rows < columns
    return rows[once], columns[once]


def _triangles(keys: Ints, nodes: int) -> Ints:
    """Triangles at each node. `keys` are edges low · nodes + high, in rising order.

    Every two edges that leave one node for a higher one make a wedge, and a triangle where the edge that closes it is
    among the keys too: each triangle is met once, at its lowest corner.
    """
    found = np.zeros(nodes, dtype=np.int64)
    low, high = keys // nodes, keys % nodes
    later = np.searchsorted(low, low, side="right") - np.arange(len(keys)) - 1
    borders = np.searchsorted(np.cumsum(later), np.arange(0, int(later.sum()), _WEDGES_AT_ONCE), side="right")
    for begin, end in pairwise([*borders.tolist(), len(keys)]):
        counts = later[begin:end]
        first = np.repeat(np.arange(begin, end), counts)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        wanted = high[first] * nodes + high[second]
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        closed = keys[places] == wanted
        for corners in (low[first[closed]], high[first[closed]], high[second[closed]]):
            found += np.bincount(corners, minlength=nodes)
    return found


def _drawn_clustering(links: Adjacency, seed: int) -> tuple[float, Sample]:
    """One pair of neighbours of each of many nodes: whether it is joined has the mean that is looked for."""
    nodes = len(links)
    chosen, sample = take(nodes, _DRAWN, seed)
    begins, degrees = links.indptr[chosen], np.diff(links.indptr)[chosen]
    begins, degrees = begins[degrees > 1], degrees[degrees > 1]
    random = np.random.default_rng(seed)
    first = random.integers(0, degrees)
    second = (first + random.integers(1, degrees)) % degrees
    one = links.indices[begins + first].astype(np.int64)
    two = links.indices[begins + second].astype(np.int64)
    rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(links.indptr))
    keys = rows * nodes + links.indices
    places = np.minimum(np.searchsorted(keys, one * nodes + two), max(len(keys) - 1, 0))
    return float((keys[places] == one * nodes + two).sum()) / sample.size, sample
