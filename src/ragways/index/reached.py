"""Personalised PageRank near the seeds: neither work nor memory grow with the graph.

It follows the same equation as `pagerank`, which says it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.index.pagerank import Floats, Ints, Links, normalised

_COUNTS = 0.1
"""A node counts from this part of epsilon on, and an edge of one that has many."""
_MANY = 64
"""Edges of a node from which on it may be a hub."""


@dataclass(frozen=True)
class Reached:
    """π near the seeds: the share of each of some `nodes`, in rising order. Any other node has `beyond` for each unit
    of its strength.
    """

    links: Links
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


def push(links: Links, start: Floats, *, damping: float = 0.85, epsilon: float = 2e-5) -> Floats:
    """As `reach`, from a weight for every node: the share of every node. The result sums to 1."""
    home = normalised(start)
    seeds = np.flatnonzero(home)
    return reach(links, seeds, home[seeds], damping=damping, epsilon=epsilon).dense() if len(seeds) else home


def reach(links: Links, seeds: Ints, weights: Floats, *, damping: float = 0.85, epsilon: float = 2e-5) -> Reached:
    """Approximate, near the seeds (different nodes, with weights above 0): neither work nor memory grow with the graph,
    only with 1 / epsilon and the edges of the seeds.

    Mass is pushed outwards from the seeds while a node gets more than `epsilon` for each of its edges; that finds the
    nodes that count. Among these π is solved for nearly exactly. What leaves them is lost to sight: it is taken to
    mix, so that every node of the graph gets of it by its strength, as it does in the long run.

    A hub that counts has too little for each of its edges to go through them all: it gives to the nodes that count,
    whose own edges lead to it, and what it gives to all others is lost to sight.
    """
    first = np.argsort(links.ranks(seeds))  # sums do not depend on who was named first
    seeds, weights = seeds[first], weights[first]
    home = np.asarray(weights, dtype=np.float64) / float(np.sum(weights))
    steps = _steps(damping, epsilon)
    with links.scratch() as local:
        seen, near = _explore(links, seeds, home, local, damping, epsilon, max(4, steps - 2))
        local[seen] = -1
        kept = np.flatnonzero((near > epsilon * _COUNTS) | (np.arange(len(seen)) < len(seeds)))
        hub = _are_hubs(links, seen.take(kept), near.take(kept), epsilon) & (kept >= len(seeds))
        kept = kept.take(np.lexsort((links.ranks(seen.take(kept)), hub)))  # hubs are the last
        chosen, near = seen.take(kept), near.take(kept)
        back = np.zeros(len(seen))
        back[: len(seeds)] = home
        at_home = back.take(kept)
        local[chosen] = np.arange(len(chosen))
        part = _Part.of(links, chosen, len(chosen) - int(np.count_nonzero(hub)), local, damping)
        visits = part.solve(at_home, near, damping, steps)
        given = part.weights * (visits * part.sends).take(part.owners)
        # One more step, over all edges, so that nodes around the chosen ones get their part as well.
        around = _once(part.targets.take(part.outside), local)
        nodes = np.concatenate([chosen, around])
        local[around] = np.arange(len(chosen), len(nodes))
        mass = _totals(local.take(part.targets), given, len(nodes))
        local[nodes] = -1
    returned = part.weights.take(part.to_hubs) * (visits * part.sends).take(part.columns.take(part.to_hubs))
    mass[: part.plain] += _totals(part.of_hubs, returned, part.plain)
    mass[: len(chosen)] += at_home
    beyond = 0.0
    if damping > 0 and links.strength > 0:
        hubs = visits[part.plain :]
        unseen = max(0.0, damping * float(hubs.sum()) - float(returned.sum()))
        beyond = (float(given.take(part.outside).sum()) * damping + unseen) / (1.0 - damping) / links.strength
        mass += beyond * links.strengths.take(nodes)
    # Mass at a node without edges goes home; that only makes all of it larger in proportion.
    total = float(mass.sum()) + beyond * (links.strength - float(links.strengths.take(nodes).sum()))
    order = np.argsort(nodes)
    return Reached(links, nodes[order], mass[order] / total, beyond / total)


def seeds_of(weights: Mapping[int, float]) -> tuple[Ints, Floats]:
    """Nodes and their weights as `reach` takes them."""
    return np.array(list(weights), dtype=np.int64), np.array(list(weights.values()), dtype=np.float64)


def _shares(links: Links, nodes: NDArray[np.int32] | Ints) -> Floats:
    """What a unit of weight at an edge of each of these nodes takes of the node's mass."""
    strengths = links.strengths.take(nodes)
    return np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)


def _steps(damping: float, epsilon: float) -> int:
    """Steps of the solver until what is left is well below what counts. Its error falls by this rate at each."""
    root = math.sqrt((1.0 + damping) / (1.0 - damping))
    rate = max((root - 1.0) / (root + 1.0), 1e-3)
    return max(4, math.ceil(math.log(min(0.1, 1000.0 * epsilon)) / math.log(rate)))


def _explore(
    links: Links,
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
        owners, targets, given = links.edges(front)
        given *= (damping * mass.take(going) * _shares(links, front)).take(owners)
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


def _are_hubs(links: Links, nodes: Ints, near: Floats, epsilon: float) -> NDArray[np.bool_]:
    """Which nodes have many edges, and little for each of them."""
    counts = links.counts_of(nodes)
    found: NDArray[np.bool_] = (counts > _MANY) & (near <= epsilon * _COUNTS * counts)
    return found


@dataclass(frozen=True)
class _Part:
    """Some nodes of a graph, hubs last, and the edges between them, but for those between two hubs.

    Of the first nodes, the `plain` ones that are no hubs, there are all edges: `owners`, `targets` and `weights`.
    `columns` tells which of the nodes a target is, -1 for none of them, and `outside` numbers those edges. `to_hubs`
    are the edges that end at a hub, by hub, and `of_hubs` the nodes that they begin at. `sends` is what a node gives of
    each visit to a unit of weight. What each node gets from the others stands in rows of `sources` and `values`, of
    which those that are `filled` begin at `begins`.
    """

    plain: int
    owners: Ints
    targets: NDArray[np.int32]
    weights: Floats
    columns: NDArray[np.int32]
    outside: Ints
    to_hubs: Ints
    of_hubs: Ints
    sends: Floats
    sources: NDArray[np.integer]
    values: Floats
    filled: Ints
    begins: Ints

    @classmethod
    def of(cls, links: Links, nodes: Ints, plain: int, local: NDArray[np.int32], damping: float) -> _Part:
        """`plain` nodes come before the hubs; `local` tells the place of each node among all of them."""
        owners, targets, weights = links.edges(nodes[:plain])
        columns = local.take(targets)
        # Numbers, not a mask: most edges lead out, and to take some by number costs as much as they are.
        inside = np.flatnonzero(columns >= 0)
        inside = inside.take(np.argsort(owners.take(inside), kind="stable"))  # row after row
        got = np.searchsorted(owners.take(inside), np.arange(plain), side="right")
        sources = columns.take(inside)
        to_hubs = inside.take(np.flatnonzero(sources >= plain))
        to_hubs = to_hubs.take(np.argsort(columns.take(to_hubs), kind="stable"))
        of_hubs = owners.take(to_hubs)
        sends = damping * _shares(links, nodes)
        sources = np.concatenate([sources, of_hubs])
        values = np.concatenate([weights.take(inside), weights.take(to_hubs)])
        values *= sends.take(sources)
        at_hubs = np.bincount(columns.take(to_hubs) - plain, minlength=len(nodes) - plain)
        ends = np.concatenate([got, len(inside) + np.cumsum(at_hubs)])
        begins = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
        filled = np.flatnonzero(ends > begins)
        outside = np.flatnonzero(columns < 0)
        begins = begins.take(filled)
        edges = owners, targets, weights, columns, outside, to_hubs, of_hubs
        return cls(plain, *edges, sends, sources, values, filled, begins)

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
            given = visits.take(self.sources)
            given *= self.values
            got[self.filled] = np.add.reduceat(given, self.begins)
        return got


def _totals(places: NDArray[np.integer], values: Floats, size: int) -> Floats:
    return np.bincount(places, values, size).astype(np.float64, copy=False)
