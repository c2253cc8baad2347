"""The shape of a graph and of vectors, as mathematics: how dense a graph is, in how many pieces and how clustered; how
many dimensions vectors fill, whether some are near everything, how far apart they lie.

What takes too long for all is taken from a sample, and called one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragways.store.packed import Matrix

if TYPE_CHECKING:
    from ragways.layers.graph.walk import Adjacency

POINTS = 10_000
"""Points whose neighbours are sought among each other: time grows with the square."""
WEDGES = 20_000_000
"""Pairs of edges at one node that are looked at; where a graph has more, its clustering is estimated."""
_WEDGES_AT_ONCE = 2_000_000
_DRAWN = 200_000
_ROWS = 512
_ROWS_OF_CENTROID = 8192

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Order = NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class SampledPart:
    """A part taken for the whole, and called one: `size` things were looked at, out of `of`, chosen with `seed`."""

    size: int
    of: int
    seed: int

    @property
    def whole(self) -> bool:
        return self.size >= self.of

    def __str__(self) -> str:
        return f"all {self.of:,}" if self.whole else f"a sample of {self.size:,} of {self.of:,} (seed {self.seed})"


def take(of: int, limit: int, seed: int) -> tuple[NDArray[np.int64], SampledPart]:
    """Numbers below `of` in rising order: all of them, or `limit` drawn without putting back."""
    if of <= limit:
        return np.arange(of, dtype=np.int64), SampledPart(of, of, seed)
    drawn = np.random.default_rng(seed).choice(of, limit, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.int64), SampledPart(limit, of, seed)


# The structure of a graph: edges are the pairs of entities that any relation joins, either way


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
    clustering_of: SampledPart


def without_loops(links: Adjacency) -> Adjacency:
    """The same graph without what joins a node to itself, or weighs nothing."""
    rows = np.repeat(np.arange(len(links)), np.diff(links.indptr))
    stay = (rows != links.indices) & (links.weights > 0)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[stay], minlength=len(links)))]).astype(np.int64)
    return replace(links, indptr=indptr, indices=links.indices[stay], weights=links.weights[stay])


def structural(
    links: Adjacency, *, relations: int, relation_types: int, seed: int = 0, wedges: int = WEDGES
) -> Structural:
    nodes, ends = len(links), len(links.indices)
    degrees = np.diff(links.indptr)
    sizes = component_sizes(links)
    clustering, sample = mean_clustering(links, limit=wedges, seed=seed)
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
    """Nodes of each component, largest first."""
    from ragways.layers.communities.partition import connected

    return np.sort(np.unique(connected(links), return_counts=True)[1])[::-1].astype(np.int64)


def mean_clustering(links: Adjacency, *, limit: int = WEDGES, seed: int = 0) -> tuple[float | None, SampledPart]:
    """The mean of each node's share of pairs of neighbours that are joined themselves."""
    nodes = len(links)
    if not nodes:
        return None, SampledPart(0, 0, seed)
    # Numbered by degree, each edge from its lower end: so no hub has many edges outward, and few pairs are looked at.
    order = np.argsort(np.diff(links.indptr), kind="stable")
    rank = np.empty(nodes, dtype=np.int64)
    rank[order] = np.arange(nodes)
    one, two = (rank[ends] for ends in _edges(links))
    keys = np.sort(np.minimum(one, two) * nodes + np.maximum(one, two))
    outward = np.bincount(keys // nodes, minlength=nodes)
    if int((outward * (outward - 1) // 2).sum()) > limit:
        return _drawn_clustering(links, seed)
    degrees = np.diff(links.indptr)[order]
    pairs = degrees * (degrees - 1) / 2
    shares = np.divide(_triangles(keys, nodes), pairs, out=np.zeros(nodes), where=pairs > 0)
    return float(shares.mean()), SampledPart(nodes, nodes, seed)


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


def _drawn_clustering(links: Adjacency, seed: int) -> tuple[float, SampledPart]:
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


# How vectors lie: how many dimensions they fill, whether some are near everything, how far apart


@dataclass(frozen=True, slots=True)
class CentroidDistance:
    """Cosine distance (1 − cosine) of each chunk to the mean of all."""

    mean: float
    deviation: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Semantic:
    """None is a figure that is not defined for these vectors, never 0."""

    chunks: int
    dimension: int
    """Numbers of a vector."""
    intrinsic_dimension: float | None
    """TwoNN: 1 / mean of ln(r2 / r1), r1 and r2 the distances to the two nearest others."""
    duplicates: int
    """Chunks with another in the very same place (r1 = 0), which TwoNN leaves out."""
    hubness: float | None
    """Skewness of how often a chunk is among the k nearest of another; 0 where none is preferred."""
    hubness_k: int
    centroid_distance: CentroidDistance | None
    neighbours_of: SampledPart
    """What dimension, duplicates and hubness were taken from. The distances to the centroid are of all chunks."""


def semantic(
    vectors: Matrix, order: Order = None, *, limit: int = POINTS, seed: int = 0, centre: bool = True
) -> Semantic:
    """Of vectors in an order of rows, by default their own. `centre`: distances to the centroid are of them all."""
    order = np.arange(len(vectors)) if order is None else order
    rows, sample = take(len(order), limit, seed)
    points = np.asarray(vectors[order if sample.whole else order[rows]], dtype=np.float32)
    near, distances = nearest(points, 10)
    dimension, duplicates = intrinsic_dimension(distances)
    return Semantic(
        chunks=len(order),
        dimension=vectors.shape[1],
        intrinsic_dimension=dimension,
        duplicates=duplicates,
        hubness=hubness(near, len(points)),
        hubness_k=near.shape[1],
        centroid_distance=centroid_distance(vectors, order) if centre else centroid_distance(points),
        neighbours_of=sample,
    )


def nearest(points: Vectors, k: int) -> tuple[NDArray[np.int64], Floats]:
    """The k nearest others of each point, exactly, and how far they are: nearest first, equal ones by number."""
    size = len(points)
    k = max(0, min(k, size - 1))
    near, distances = np.empty((size, k), np.int64), np.empty((size, k))
    if not k:
        return near, distances
    # Moved to their mean, points lose no digits to a common part.
    points = points - points.mean(axis=0)
    squares = np.einsum("ij,ij->i", points, points)
    for begin in range(0, size, _ROWS):
        rows = points[begin : begin + _ROWS]
        here = squares - 2 * (rows @ points.T)
        here[np.arange(len(rows)), np.arange(begin, begin + len(rows))] = np.inf
        found = np.sort(np.argpartition(here, k - 1, axis=1)[:, :k], axis=1)
        # The square trick rounds small distances away, and r1 / r2 of near points is what TwoNN lives on.
        exact = np.linalg.norm(rows[:, None, :].astype(np.float64) - points[found], axis=2)
        order = np.argsort(exact, axis=1, kind="stable")
        near[begin : begin + len(rows)] = np.take_along_axis(found, order, axis=1)
        distances[begin : begin + len(rows)] = np.take_along_axis(exact, order, axis=1)
    return near, distances


def intrinsic_dimension(distances: Floats) -> tuple[float | None, int]:
    """TwoNN from distances to the nearest others, and the number of points left out because one lies upon them."""
    if distances.shape[1] < 2:
        return None, int((distances[:, :1] == 0).sum())
    apart = distances[:, 0] > 0
    mean = float(np.log(distances[apart, 1] / distances[apart, 0]).mean()) if apart.any() else 0.0
    return (1 / mean if mean > 0 else None), int((~apart).sum())


def hubness(near: NDArray[np.int64], size: int) -> float | None:
    """Skewness of k-occurrence: in how many lists of the k nearest each point stands."""
    counts = np.bincount(near.ravel(), minlength=size).astype(np.float64)
    if not near.size or not counts.std():
        return None
    return float((((counts - counts.mean()) / counts.std()) ** 3).mean())


def centroid_distance(vectors: Matrix, order: Order = None) -> CentroidDistance | None:
    """Of all vectors, a slice at a time, so that they need not fit into memory."""
    order = np.arange(len(vectors)) if order is None else order
    slices = range(0, len(order), _ROWS_OF_CENTROID)
    sums = (vectors[order[at : at + _ROWS_OF_CENTROID]].sum(axis=0, dtype=np.float64) for at in slices)
    total = sum(sums, np.zeros(vectors.shape[1]))
    length = float(np.linalg.norm(total))
    if not length:
        return None
    centre = (total / length).astype(np.float32)
    found = np.empty(len(order))
    for at in slices:
        rows = np.asarray(vectors[order[at : at + _ROWS_OF_CENTROID]])
        lengths = np.linalg.norm(rows, axis=1)
        found[at : at + len(rows)] = 1 - (rows @ centre) / np.where(lengths, lengths, 1)
    return CentroidDistance(float(found.mean()), float(found.std()), float(found.min()), float(found.max()))
