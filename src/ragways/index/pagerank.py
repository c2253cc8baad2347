"""Personalised PageRank on compressed rows: exact by power iteration, and approximate near the seeds.

Both follow π ← d·A·π + (1 − d)·p, with A column-normalised: the share d of a node's mass goes to its neighbours in
proportion to the weights of its edges, the rest goes home to the seeds. A node without edges sends all of it home.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import Ragged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


Order = Callable[[Ints], NDArray[Any]]
"""Gives for nodes what they are sorted by."""


@dataclass(frozen=True)
class Adjacency:
    """An undirected weighted graph: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, in rising order.

    A graph whose rows were changed one by one has them in any place: with `counts`, those of i begin at `indptr[i]` and
    are so many. Then numbers tell nothing of the order of nodes, and `order` does.
    """

    indptr: NDArray[np.integer]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    counts: NDArray[np.int32] | None = None
    order: Order | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1 if self.counts is None else len(self.counts)

    @property
    def degrees(self) -> NDArray[np.integer]:
        """How many neighbours each node has."""
        return np.diff(self.indptr) if self.counts is None else self.counts

    def ranks(self, nodes: Ints) -> NDArray[Any]:
        """What decides between nodes that are equal otherwise: the smaller first."""
        return nodes if self.order is None else self.order(nodes)

    def compact(self) -> Adjacency:
        """The same graph with its rows one after the other."""
        if self.counts is None:
            return self
        places, counts = self.edges(np.arange(len(self)))
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        return Adjacency(ends, self.indices[places], self.weights[places])

    def ordered(self, order: Order) -> Adjacency:
        """The same graph, where this is the order of nodes: that of each node's neighbours, too."""
        rows = np.repeat(np.arange(len(self)), self.degrees)
        by_rank = np.lexsort((order(self.indices.astype(np.int64)), rows))
        return Adjacency(self.indptr, self.indices[by_rank], self.weights[by_rank], order=order)

    def only(self, nodes: Ints) -> Adjacency:
        """These nodes alone, in their order, and what joins them."""
        place = np.full(len(self), -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes))
        places, counts = self.edges(nodes)
        targets = place[self.indices[places]]
        kept = np.flatnonzero(targets >= 0)
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        return Adjacency(np.searchsorted(kept, ends), targets[kept], self.weights[places[kept]])

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
        begin = int(self.indptr[node])
        end = int(self.indptr[node + 1]) if self.counts is None else begin + int(self.counts[node])
        return self.indices[begin:end], self.weights[begin:end]

    @cached_property
    def strengths(self) -> Floats:
        """The sum of the weights at each node."""
        links = self.compact()
        return _row_sums(links.indptr, np.asarray(links.weights, dtype=np.float64))

    @cached_property
    def strength(self) -> float:
        """That of all nodes together."""
        return float(self.strengths.sum())

    @cached_property
    def unweighted(self) -> Adjacency:
        """The same graph with every edge counting as much as any other."""
        even = np.broadcast_to(np.float32(1), len(self.indices))
        return Adjacency(self.indptr, self.indices, even, self.counts, self.order)

    def strongest(self, count: int, first: int, end: int) -> Ints:
        """The nodes from `first` to `end` with the largest strengths above 0; of equals, those of the lower ranks."""
        asked = count, first, end
        if asked not in self._strongest:
            strengths = self.strengths[first:end]
            border = np.partition(strengths, -count)[-count] if 0 < count < len(strengths) else 0.0
            above = np.flatnonzero(strengths > border) + first
            equal = np.flatnonzero(strengths == border) + first if border > 0 else above[:0]
            equal = equal[np.argsort(self.ranks(equal))]
            self._strongest[asked] = np.concatenate([above, equal[: max(0, count - len(above))]])
        return self._strongest[asked]

    @cached_property
    def _strongest(self) -> dict[tuple[int, int, int], Ints]:
        return {}

    @cached_property
    def _scratch(self) -> list[NDArray[np.int32]]:
        """Arrays of -1 for each node, which whoever takes one puts back so: a question touches a few nodes of many."""
        return []

    @contextmanager
    def scratch(self) -> Iterator[NDArray[np.int32]]:
        """An array of -1 for each node; the caller puts -1 back wherever it wrote."""
        try:
            taken = self._scratch.pop()
        except IndexError:
            taken = np.full(len(self), -1, dtype=np.int32)
        yield taken
        self._scratch.append(taken)  # after a failure it may not be clean, and is left to go

    def edges(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The places of all edges of these nodes, and how many each has."""
        first = self.indptr.take(nodes).astype(np.int64, copy=False)
        counts = self.counts_of(nodes)
        ends = np.cumsum(counts)
        places = np.repeat(first - ends + counts, counts)
        places += np.arange(len(places))
        return places, counts

    def counts_of(self, nodes: Ints) -> Ints:
        """How many neighbours each of these nodes has."""
        if self.counts is None:
            return self.indptr.take(nodes + 1) - self.indptr.take(nodes)
        return self.counts.take(nodes).astype(np.int64)

    @classmethod
    def of_rows(cls, links: Ragged, strengths: Floats, order: Order | None) -> Adjacency:
        """From the neighbours of each node and their weights, and the sums of these."""
        made = cls(links.begins, links["nodes"], links["weights"], links.counts, order)
        made.__dict__["strengths"] = strengths
        return made


def pagerank(
    links: Adjacency, start: Floats, *, damping: float = 0.85, rounds: int = 100, tolerance: float = 1e-9
) -> Floats:
    """Exact, by power iteration, until a round changes less than `tolerance` in all. The result sums to 1."""
    home = _normalised(start)
    if len(home) == 0:
        return home
    links = links.compact()
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


@dataclass(frozen=True)
class Reached:
    """π near the seeds: the share of each of some `nodes`, in rising order. Any other node has `beyond` for each unit
    of its strength.
    """

    links: Adjacency
    nodes: Ints
    mass: Floats
    beyond: float

    def dense(self) -> Floats:
        """The share of every node."""
        mass = self.beyond * self.links.strengths
        mass[self.nodes] = self.mass
        return mass

    def best(self, count: int, *, minimum: float = 0.0, first: int = 0, end: int | None = None) -> tuple[Ints, Floats]:
        """The nodes from `first` to `end` that have the largest shares, of at least `minimum`: best first, equals by
        rank.
        """
        nodes, mass = self.candidates(count, first=first, end=end)
        able = np.flatnonzero(mass >= minimum)
        if count < len(able):
            able = able[mass[able] >= np.partition(mass[able], -count)[-count]]
        best = able[np.lexsort((self.links.ranks(nodes[able]), -mass[able]))][:count]
        return nodes[best], mass[best]

    def candidates(self, count: int, *, first: int = 0, end: int | None = None) -> tuple[Ints, Floats]:
        """Nodes from `first` to `end` among which the `count` best are, and their shares, in no order.

        A node that was not reached has no more than as many that are stronger, so the strongest are enough of those.
        """
        end = len(self.links) if end is None else end
        here = slice(*np.searchsorted(self.nodes, [first, end]).tolist())
        others = self.links.strongest(count, first, end)
        others = others[~self._reached(others)]
        nodes = np.concatenate([self.nodes[here], others])
        return nodes, np.concatenate([self.mass[here], self.beyond * self.links.strengths.take(others)])

    def of(self, nodes: Ints) -> Floats:
        """The shares of these nodes."""
        places = np.searchsorted(self.nodes, nodes).clip(max=len(self.nodes) - 1)
        others = self.beyond * self.links.strengths.take(nodes)
        return np.where(self._reached(nodes), self.mass.take(places), others)

    def _reached(self, nodes: Ints) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.nodes.take(np.searchsorted(self.nodes, nodes), mode="clip") == nodes
        return found


def push(links: Adjacency, start: Floats, *, damping: float = 0.85, epsilon: float = 2e-5) -> Floats:
    """As `reach`, from a weight for every node: the share of every node. The result sums to 1."""
    home = _normalised(start)
    seeds = np.flatnonzero(home)
    return reach(links, seeds, home[seeds], damping=damping, epsilon=epsilon).dense() if len(seeds) else home


def reach(links: Adjacency, seeds: Ints, weights: Floats, *, damping: float = 0.85, epsilon: float = 2e-5) -> Reached:
    """Approximate, near the seeds (different nodes, with weights above 0): neither work nor memory grow with the graph,
    only with 1 / epsilon.

    Mass is pushed outwards from the seeds while a node gets more than `epsilon` for each of its edges; that finds the
    nodes that count. Among these π is solved for nearly exactly. What leaves them is lost to sight: it is taken to
    mix, so that every node of the graph gets of it by its strength, as it does in the long run.
    """
    first = np.argsort(links.ranks(seeds))  # sums do not depend on who was named first
    seeds, weights = seeds[first], weights[first]
    home = np.asarray(weights, dtype=np.float64) / float(np.sum(weights))
    steps = _steps(damping, epsilon)
    with links.scratch() as local:
        seen, near = _explore(links, seeds, home, local, damping, epsilon, max(4, steps - 2))
        kept = np.flatnonzero((near > epsilon / 10) | (np.arange(len(seen)) < len(seeds)))
        kept = kept.take(np.argsort(links.ranks(seen.take(kept))))
        chosen, near = seen.take(kept), near.take(kept)
        back = np.zeros(len(seen))
        back[: len(seeds)] = home
        at_home = back.take(kept)
        local[seen] = -1
        local[chosen] = np.arange(len(chosen))
        places, counts = links.edges(chosen)
        targets = links.indices.take(places)
        columns = local.take(targets)
        # Numbers, not a mask: most edges lead out, and to take some by number costs as much as they are.
        inside = np.flatnonzero(columns >= 0)
        weight = links.weights.take(places).astype(np.float64)
        coming = damping * weight.take(inside) * _shares(links, targets.take(inside))
        part = _Part.of(columns.take(inside), inside, counts, coming)
        visits = part.solve(at_home, near, damping, steps)
        weight *= np.repeat(damping * visits * _shares(links, chosen), counts)
        # One more step, over all edges, so that nodes around the chosen ones get their part as well.
        around = _once(targets.take(np.flatnonzero(columns < 0)), local)
        nodes = np.concatenate([chosen, around])
        local[around] = np.arange(len(chosen), len(nodes))
        mass = _totals(local.take(targets), weight, len(nodes))
        local[nodes] = -1
    mass[: len(chosen)] += at_home
    beyond = 0.0
    if damping > 0 and links.strength > 0:
        weight[inside] = 0.0
        beyond = float(weight.sum()) * damping / (1.0 - damping) / links.strength
        mass += beyond * links.strengths.take(nodes)
    # Mass at a node without edges goes home; that only makes all of it larger in proportion.
    total = float(mass.sum()) + beyond * (links.strength - float(links.strengths.take(nodes).sum()))
    order = np.argsort(nodes)
    return Reached(links, nodes[order], mass[order] / total, beyond / total)


def seeds_of(weights: Mapping[int, float]) -> tuple[Ints, Floats]:
    """Nodes and their weights as `reach` takes them."""
    return np.array(list(weights), dtype=np.int64), np.array(list(weights.values()), dtype=np.float64)


def _shares(links: Adjacency, nodes: NDArray[np.int32] | Ints) -> Floats:
    """What a unit of weight at an edge of each of these nodes takes of the node's mass."""
    strengths = links.strengths.take(nodes)
    return np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)


def _steps(damping: float, epsilon: float) -> int:
    """Steps of the solver until what is left is well below what counts. Its error falls by this rate at each."""
    root = math.sqrt((1.0 + damping) / (1.0 - damping))
    rate = max((root - 1.0) / (root + 1.0), 1e-3)
    return max(4, math.ceil(math.log(min(0.1, 1000.0 * epsilon)) / math.log(rate)))


def _explore(
    links: Adjacency,
    seeds: Ints,
    home: Floats,
    local: NDArray[np.int32],
    damping: float,
    epsilon: float,
    rounds: int,
) -> tuple[Ints, Floats]:
    """A rough count of visits: mass goes outwards round by round, and ends where there is little of it for an edge.

    The nodes that were seen, the seeds first, and how often each was visited. `local` is left with the place of each of
    them among those seen.
    """
    seen = front = np.asarray(seeds, dtype=np.int64)
    visits = mass = home
    local[seen] = np.arange(len(seen))
    for _ in range(rounds):
        going = np.flatnonzero(mass > epsilon * links.counts_of(front))
        if not len(going):
            break
        front = front.take(going)
        places, counts = links.edges(front)
        given = links.weights.take(places).astype(np.float64)
        given *= np.repeat(damping * mass.take(going) * _shares(links, front), counts)
        targets = links.indices.take(places)
        new = _once(targets.take(np.flatnonzero(local.take(targets) < 0)), local)
        local[new] = np.arange(len(seen), len(seen) + len(new))
        seen = np.concatenate([seen, new])
        total = _totals(local.take(targets), given, len(seen))
        got = np.flatnonzero(total)
        front, mass = seen.take(got), total.take(got)
        total[: len(visits)] += visits
        visits = total
    return seen, visits


def _once(nodes: NDArray[np.int32], scratch: NDArray[np.int32]) -> Ints:
    """Each of these nodes once, without sorting: of those that are equal, one is found where it was written last."""
    turns = np.arange(len(nodes))
    scratch[nodes] = turns
    return nodes.take(np.flatnonzero(scratch.take(nodes) == turns)).astype(np.int64)


@dataclass(frozen=True)
class _Part:
    """Some nodes of a graph and the edges between them, as rows: what each gets from the others."""

    columns: NDArray[np.int32]
    values: Floats
    filled: Ints
    begins: Ints

    @classmethod
    def of(cls, columns: NDArray[np.int32], inside: Ints, counts: Ints, values: Floats) -> _Part:
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


def _totals(places: NDArray[np.int32], values: Floats, size: int) -> Floats:
    return np.bincount(places, values, size).astype(np.float64, copy=False)


def _row_sums(indptr: NDArray[np.integer], values: Floats) -> Floats:
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
