"""Personalised PageRank on compressed rows: exact by power iteration, and approximate by forward push.

Both follow π ← d·A·π + (1 − d)·p, with A column-normalised: the share d of a node's mass goes to its neighbours in
proportion to the weights of its edges, the rest goes home to the seeds. A node without edges sends all of it home.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """An undirected weighted graph: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, in rising order."""

    indptr: Ints
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def of_edges(cls, size: int, left: Ints, right: Ints, weights: Floats) -> Links:
        """From edges in any order. Those that stand twice add up; loops and weights of 0 or less are left out."""
        keep = (left != right) & (weights > 0)
        left, right, weights = left[keep], right[keep], weights[keep]
        rows, columns = np.concatenate([left, right]), np.concatenate([right, left])
        keys, places = np.unique(rows.astype(np.int64) * size + columns, return_inverse=True)
        summed = np.bincount(places, np.concatenate([weights, weights]), len(keys))
        indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size)
        return cls(indptr.astype(np.int64), (keys % max(size, 1)).astype(np.int32), summed.astype(np.float32))

    def neighbours(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        here = slice(int(self.indptr[node]), int(self.indptr[node + 1]))
        return self.indices[here], self.weights[here]

    def strengths(self) -> Floats:
        """The sum of the weights at each node."""
        return _row_sums(self.indptr, np.asarray(self.weights, dtype=np.float64))

    def damped(self, hubs: float) -> Links:
        """The same graph with edges divided by (strength · strength) ** hubs: a node that everything touches then
        takes less of its neighbours' mass. 0 changes nothing, 0.5 is the normalised Laplacian's weighting.
        """
        if hubs == 0:
            return self
        scale = np.maximum(self.strengths(), 1e-12) ** -hubs
        rows = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return Links(self.indptr, self.indices, (self.weights * scale[rows] * scale[self.indices]).astype(np.float32))

    def save(self, folder: Path, name: str) -> None:
        for part in ("indptr", "indices", "weights"):
            np.save(folder / f"{name}-{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, folder: Path, name: str) -> Links:
        parts = (np.load(folder / f"{name}-{part}.npy", mmap_mode="r") for part in ("indptr", "indices", "weights"))
        # Plain views of the mapped files: indexing a memmap costs as much again in bookkeeping.
        return cls(*map(np.asarray, parts))


def pagerank(
    links: Links, start: Floats, *, damping: float = 0.85, rounds: int = 100, tolerance: float = 1e-9
) -> Floats:
    """Exact, by power iteration, until a round changes less than `tolerance` in all. The result sums to 1."""
    home = _normalised(start)
    if len(home) == 0:
        return home
    weights, indices = np.asarray(links.weights, dtype=np.float64), np.asarray(links.indices, dtype=np.intp)
    strengths = _row_sums(links.indptr, weights)
    share = np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)
    lost = strengths <= 0
    filled = np.flatnonzero(np.diff(links.indptr))
    begins = links.indptr[filled]
    taken = weights * share[indices]
    spread = np.zeros_like(home)
    mass = home.copy()
    for _ in range(rounds):
        # The graph is undirected, so the column of a node is its row.
        if len(filled):
            spread[filled] = np.add.reduceat(taken * mass[indices], begins)
        new = damping * (spread + mass[lost].sum() * home) + (1.0 - damping) * home
        change = float(np.abs(new - mass).sum())
        mass = new
        if change < tolerance:
            break
    return mass


def push(links: Links, start: Floats, *, damping: float = 0.85, epsilon: float = 1e-5, rounds: int = 1000) -> Floats:
    """Approximate, by forward push: work grows with 1 / epsilon and not with the graph. The result sums to 1.

    A node passes its mass on while it holds more than `epsilon` for each of its edges; what nobody passed on stays
    where it lies. All nodes over the border go at once, so that numpy does the work.
    """
    home = _normalised(start)
    seeds = np.flatnonzero(home)
    done, waiting = np.zeros_like(home), home.copy()
    degrees = np.diff(links.indptr)
    border = epsilon * np.maximum(degrees, 1)
    front = seeds[waiting[seeds] > border[seeds]]
    for _ in range(rounds):
        if not len(front):
            break
        mass = waiting[front]
        waiting[front] = 0.0
        done[front] += (1.0 - damping) * mass
        touched = _spread(links, front, damping * mass, waiting)
        lost = degrees[front] == 0
        if lost.any():
            waiting[seeds] += damping * mass[lost].sum() * home[seeds]
            touched = np.union1d(touched, seeds)
        front = touched[waiting[touched] > border[touched]]
    result: Floats = done + waiting
    return result


def _spread(links: Links, front: Ints, mass: Floats, waiting: Floats) -> Ints:
    """Give each front node's mass to its neighbours by weight; returns who got some."""
    begins, counts = links.indptr[front], links.indptr[front + 1] - links.indptr[front]
    total = int(counts.sum())
    if not total:
        return np.empty(0, dtype=np.int64)
    # Positions of all the front's edges: a run from each node's first edge.
    firsts = np.cumsum(counts) - counts
    places = np.arange(total) + np.repeat(begins - firsts, counts)
    weights = links.weights[places].astype(np.float64)
    owner = np.repeat(np.arange(len(front)), counts)
    sums = np.bincount(owner, weights, len(front))
    given = weights * (mass / np.maximum(sums, 1e-300))[owner]
    targets = links.indices[places].astype(np.int64)
    if total > len(waiting) // 64:
        # Past so many edges, a pass over all nodes is quicker than sorting the targets.
        waiting += np.bincount(targets, given, len(waiting))
        return np.flatnonzero(waiting)
    unique, where = np.unique(targets, return_inverse=True)
    waiting[unique] += np.bincount(where, given, len(unique))
    return unique


def _row_sums(indptr: Ints, values: Floats) -> Floats:
    """Sums of each row; `reduceat` gives an empty row the next row's first value, hence the mask."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def _normalised(start: Floats) -> Floats:
    positive = np.maximum(np.asarray(start, dtype=np.float64), 0.0)
    total = positive.sum()
    if total <= 0:
        return np.full(len(positive), 1.0 / max(len(positive), 1))
    normalised: Floats = positive / total
    return normalised
