"""Personalised PageRank on compressed rows: exact by power iteration, and approximate near the seeds.

Both follow π ← d·A·π + (1 − d)·p, with A column-normalised: the share d of a node's mass goes to its neighbours in
proportion to the weights of its edges, the rest goes home to the seeds. A node without edges sends all of it home.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Adjacency:
    """An undirected weighted graph: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, in rising order."""

    indptr: Ints
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def of_edges(cls, size: int, left: Ints, right: Ints, weights: Floats) -> Adjacency:
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

    @cached_property
    def unweighted(self) -> Adjacency:
        """The same graph with every edge counting as much as any other. Made once, as its transitions are."""
        return Adjacency(self.indptr, self.indices, np.ones(len(self.indices), dtype=np.float32))

    @cached_property
    def transitions(self) -> Transitions:
        """Made once for a graph: it takes as long as a few questions."""
        return Transitions.of(self)

    def save(self, folder: Path, name: str) -> None:
        for part in ("indptr", "indices", "weights"):
            np.save(folder / f"{name}-{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, folder: Path, name: str) -> Adjacency:
        parts = (np.load(folder / f"{name}-{part}.npy", mmap_mode="r") for part in ("indptr", "indices", "weights"))
        # Plain views of the mapped files: indexing a memmap costs as much again in bookkeeping.
        return cls(*map(np.asarray, parts))


def pagerank(
    links: Adjacency, start: Floats, *, damping: float = 0.85, rounds: int = 100, tolerance: float = 1e-9
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


def push(links: Adjacency, start: Floats, *, damping: float = 0.85, epsilon: float = 2e-5) -> Floats:
    """Approximate, near the seeds: work grows with 1 / epsilon and hardly with the graph. The result sums to 1.

    Mass is pushed outwards from the seeds while a node gets more than `epsilon` for each of its edges; that finds the
    nodes that count. Among these π is solved for nearly exactly. What leaves them is lost to sight: it is taken to
    mix, so that every node of the graph gets of it by its strength, as it does in the long run.
    """
    home = _normalised(start)
    walk = links.transitions
    steps = _steps(damping, epsilon)
    seen, near, local = _explore(walk, home, damping, epsilon, max(4, steps - 2))
    kept = np.flatnonzero((near > epsilon / 10) | (home.take(seen) > 0))
    kept = kept.take(np.argsort(seen.take(kept)))
    chosen, near = seen.take(kept), near.take(kept)
    local[seen] = -1
    local[chosen] = np.arange(len(chosen))
    places, counts = walk.edges(chosen)
    targets = walk.indices.take(places)
    columns = local.take(targets)
    # Numbers, not a mask: most edges lead out, and to take some by number costs as much as they are.
    inside = np.flatnonzero(columns >= 0)
    part = _Part.of(columns.take(inside), inside, counts, damping * walk.back.take(places.take(inside)))
    visits = part.solve(home.take(chosen), near, damping, steps)
    given = walk.shares.take(places)
    given *= np.repeat(damping * visits, counts)
    # One more step, over all edges, so that nodes around the chosen ones get their part as well.
    mass = _totals(targets, given, len(home))
    mass += home
    if damping > 0:
        given[inside] = 0.0
        mass += (float(given.sum()) * damping / (1.0 - damping)) * walk.stationary
    # Mass at a node without edges goes home; that only makes all of it larger in proportion.
    mass *= 1.0 / mass.sum()
    return mass


def _steps(damping: float, epsilon: float) -> int:
    """Steps of the solver until what is left is well below what counts. Its error falls by this rate at each."""
    root = math.sqrt((1.0 + damping) / (1.0 - damping))
    rate = max((root - 1.0) / (root + 1.0), 1e-3)
    return max(4, math.ceil(math.log(min(0.1, 1000.0 * epsilon)) / math.log(rate)))


def _explore(walk: Transitions, home: Floats, damping: float, epsilon: float, rounds: int) -> tuple[Ints, Floats, Ints]:
    """A rough count of visits: mass goes outwards round by round, and ends where there is little of it for an edge.

    The nodes that were seen, how often each was visited, and the place of every node among those seen, or -1.
    """
    local = np.full(len(home), -1, dtype=np.int64)
    seen = front = np.flatnonzero(home)
    visits = mass = home.take(seen)
    local[seen] = np.arange(len(seen))
    for _ in range(rounds):
        going = np.flatnonzero(mass > epsilon * walk.degrees.take(front))
        if not len(going):
            break
        front = front.take(going)
        places, counts = walk.edges(front)
        given = walk.shares.take(places)
        given *= np.repeat(damping * mass.take(going), counts)
        targets = walk.indices.take(places)
        new = _once(targets.take(np.flatnonzero(local.take(targets) < 0)), local)
        local[new] = np.arange(len(seen), len(seen) + len(new))
        seen = np.concatenate([seen, new])
        total = _totals(local.take(targets), given, len(seen))
        got = np.flatnonzero(total)
        front, mass = seen.take(got), total.take(got)
        total[: len(visits)] += visits
        visits = total
    return seen, visits, local


def _once(nodes: Ints, scratch: Ints) -> Ints:
    """Each of these nodes once, without sorting: of those that are equal, one is found where it was written last."""
    turns = np.arange(len(nodes))
    scratch[nodes] = turns
    return nodes.take(np.flatnonzero(scratch.take(nodes) == turns))


@dataclass(frozen=True)
class Transitions:
    """A graph made ready for walking, in memory: `shares[e]` of a node's mass goes along its edge e, and `back[e]` of
    the other end's mass comes back along it. `stationary` is where a walk without end is found.
    """

    indptr: Ints
    degrees: Ints
    indices: Ints
    shares: Floats
    back: Floats
    stationary: Floats

    @classmethod
    def of(cls, links: Adjacency) -> Transitions:
        indptr, indices = np.array(links.indptr), np.array(links.indices, dtype=np.int64)
        weights, degrees = np.array(links.weights, dtype=np.float64), np.diff(links.indptr)
        strengths = _row_sums(indptr, weights)
        share = np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)
        total = max(float(strengths.sum()), 1e-300)
        shares = weights * np.repeat(share, degrees)
        return cls(indptr, np.array(degrees), indices, shares, weights * share[indices], strengths / total)

    def edges(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The places of all edges of these nodes, and how many each has."""
        counts = self.degrees.take(nodes)
        ends = np.cumsum(counts)
        places = np.repeat(self.indptr.take(nodes) - ends + counts, counts)
        places += np.arange(len(places))
        return places, counts


@dataclass(frozen=True)
class _Part:
    """Some nodes of a graph and the edges between them, as rows: what each gets from the others."""

    columns: Ints
    values: Floats
    filled: Ints
    begins: Ints

    @classmethod
    def of(cls, columns: Ints, inside: Ints, counts: Ints, values: Floats) -> _Part:
        """`inside` are its edges, by number among all that its nodes have; `counts` tells how many each has."""
        ends = np.searchsorted(inside, np.cumsum(counts))
        begins = np.concatenate([np.zeros(1, dtype=ends.dtype), ends[:-1]])
        filled = np.flatnonzero(ends > begins)
        return cls(columns, values, filled, begins.take(filled))

    def solve(self, home: Floats, guess: Floats, damping: float, steps: int) -> Floats:
        """x = home + damping · A · x, by Chebyshev's semi-iteration: the graph is undirected, so all eigenvalues of A
        are real and between -1 and 1, and this needs a third of the steps that plain iteration takes.
        """
        before, now = guess, self._step(guess) + home
        factor = 1.0 / (1.0 - damping**2 / 2.0)
        for _ in range(steps - 1):
            before, now = now, factor * (self._step(now) + home - before) + before
            factor = 1.0 / (1.0 - damping**2 * factor / 4.0)
        return np.maximum(now, 0.0)

    def _step(self, visits: Floats) -> Floats:
        got = np.zeros_like(visits)
        if len(self.filled):
            given = visits.take(self.columns)
            given *= self.values
            got[self.filled] = np.add.reduceat(given, self.begins)
        return got


def _totals(places: Ints, values: Floats, size: int) -> Floats:
    return np.bincount(places, values, size).astype(np.float64, copy=False)


def _row_sums(indptr: Ints, values: Floats) -> Floats:
    """Sums of each row; `reduceat` gives an empty row the next row's first value, hence the mask."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def _normalised(start: Floats) -> Floats:
    given = np.asarray(start, dtype=np.float64)
    seeds = np.flatnonzero(given > 0)
    if not len(seeds):
        return np.full(len(given), 1.0 / max(len(given), 1))
    normalised = np.zeros(len(given))
    normalised[seeds] = given[seeds] / given[seeds].sum()
    return normalised
