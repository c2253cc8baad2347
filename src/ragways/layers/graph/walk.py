"""Walks over the graph: personalised PageRank, exact or near its seeds, and shortest paths.

PageRank follows π ← d·A·π + (1 − d)·p, with A column-normalised: the share d of a node's mass goes to its neighbours in
proportion to the weights of its edges, the rest goes home to the seeds. A node without edges sends all of it home.
Nodes are numbers that are the same in every history, so sums and ties go by them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.files import load_arrays, save_arrays
from ragways.layers.graph.csr import (
    CODES,
    Floats,
    GraphArrays,
    Ints,
    among,
    begins,
    firsts,
    largest,
    row_counts,
    rows_of,
)

# Links


class EdgeList(NamedTuple):
    """Edges of some nodes: at which of these each begins, by its place among them, where it leads, and its weight."""

    owners: Ints
    targets: NDArray[np.int32]
    weights: Floats


class GraphLinks(ABC):
    """An undirected weighted graph as a walk from some nodes sees it."""

    @abstractmethod
    def __len__(self) -> int:
        """How many nodes there are."""

    @abstractmethod
    def counts_of(self, nodes: Ints) -> Ints:
        """How many edges `edges` has of each of these nodes."""

    @abstractmethod
    def edges(self, nodes: Ints) -> EdgeList:
        """All edges of these nodes, in an order that their numbers decide. Two may join the same nodes."""

    @property
    @abstractmethod
    def strengths(self) -> Floats:
        """The sum of the weights at each node."""

    def merged(self, nodes: Ints) -> EdgeList:
        """The same, row after row and by target: one edge for two nodes that are joined."""
        owners, targets, weights = self.edges(nodes)
        keys = owners << 32 | targets
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = firsts(keys)
        summed = np.add.reduceat(weights[order], first) if len(first) else weights
        return EdgeList(owners[order[first]], targets[order[first]], summed)

    @cached_property
    def compact(self) -> Adjacency:
        """The same graph with its rows one after the other, for what goes over all of it."""
        owners, targets, weights = self.merged(np.arange(len(self)))
        return Adjacency(begins(owners, len(self)), targets, weights)

    def neighbours(self, node: int) -> tuple[NDArray[np.int32], Floats]:
        """The nodes that are joined to this one, in rising order, and the weight of the edge to each."""
        _, targets, weights = self.merged(np.array([node]))
        return targets, weights

    def degrees_of(self, nodes: Ints) -> Ints:
        """How many others each of these nodes is joined to."""
        return np.bincount(self.merged(nodes).owners, minlength=len(nodes))

    @cached_property
    def strength(self) -> float:
        """That of all nodes together."""
        return float(self.strengths.sum())

    def strongest(self, count: int, first: int, end: int) -> Ints:
        """The nodes from `first` to `end` with the largest strengths above 0; of equals, the lower numbers."""
        wanted = count, first, end
        if wanted not in self._strongest:
            strengths = self.strengths[first:end]
            best = largest(strengths, count)
            self._strongest[wanted] = best[strengths[best] > 0] + first
        return self._strongest[wanted]

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


@dataclass(frozen=True)
class Adjacency(GraphLinks):
    """Compressed rows: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, in rising order."""

    indptr: NDArray[np.integer]
    indices: NDArray[np.int32]
    weights: NDArray[np.floating]

    @classmethod
    def of_edges(cls, size: int, left: NDArray[np.integer], right: NDArray[np.integer], weights: Floats) -> Self:
        """From edges in any order. Those that stand twice add up; loops and weights of 0 or less are left out."""
        able = (left != right) & (weights > 0)
        left, right, weights = left[able].astype(np.int64), right[able].astype(np.int64), weights[able]
        keys = np.concatenate([left * size + right, right * size + left])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        order %= max(len(weights), 1)
        first = np.concatenate([keys[:1] == keys[:1], keys[1:] != keys[:-1]])
        summed = np.bincount(np.cumsum(first) - 1, weights[order]).astype(np.float32)
        keys = keys[first]
        indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size)
        return cls(indptr.astype(np.int64), (keys % max(size, 1)).astype(np.int32), summed)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def degrees(self) -> NDArray[np.integer]:
        """How many neighbours each node has."""
        return np.diff(self.indptr)

    @cached_property
    def compact(self) -> Adjacency:
        return self

    @cached_property
    def strengths(self) -> Floats:
        sums = np.zeros(len(self))
        filled = np.flatnonzero(self.degrees)  # `reduceat` gives an empty row the next row's first value
        if len(filled):
            sums[filled] = np.add.reduceat(self.weights.astype(np.float64), self.indptr[filled])
        return sums

    @cached_property
    def unweighted(self) -> Adjacency:
        """The same graph with every edge counting as much as any other."""
        return Adjacency(self.indptr, self.indices, np.broadcast_to(np.float32(1), len(self.indices)))

    def counts_of(self, nodes: Ints) -> Ints:
        return row_counts(self.indptr, nodes)

    def edges(self, nodes: Ints) -> EdgeList:
        places, counts = rows_of(self.indptr, nodes)
        owners = np.repeat(np.arange(len(nodes)), counts)
        return EdgeList(owners, self.indices.take(places), self.weights.take(places).astype(np.float64))

    def merged(self, nodes: Ints) -> EdgeList:
        return self.edges(nodes)

    def only(self, nodes: Ints) -> Adjacency:
        """These nodes alone, in their order, and what joins them."""
        place = np.full(len(self), -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes))
        owners, targets, weights = self.edges(nodes)
        inside = np.flatnonzero(place[targets] >= 0)
        return Adjacency(begins(owners[inside], len(nodes)), place[targets[inside]], weights[inside])


MILLION = 1_000_000
"""Weights of relations are whole numbers of millionths."""
_FILE = "strengths.arrays"
_MOST_TIMES = 127
"""A chunk names an entity no more often than this, as far as a walk is concerned."""
_ABOUT = 6.0
"""What it counts for that a passage is the entity's own article: a walk that meets a name should look there first."""
_PARTS = 1 << 10
"""Weights of mentions are so many parts of one, so that their sums are exact in any order."""
_WEIGHTS = np.array(
    [round((1.0 + math.log(max(mark >> 1, 1)) + _ABOUT * (mark & 1)) * _PARTS) for mark in range(1 << 8)], np.int64
)
"""What it weighs that a chunk names an entity, in parts: by how often it does, and whether it is its own article."""
APART = (CODES["date"], CODES["quantity"])
"""Kinds of entities that join no passages."""


@dataclass(frozen=True)
class Strengths:
    """Sums over the rows of a graph: stored beside its arrays, so that a question need not go through all of them."""

    relations: Ints
    """Of each entity, the weight of all its relations, in millionths."""
    passages: Ints
    """Of each entity and then of each chunk, the weight of what joins it to the others, in parts."""
    joined: NDArray[np.int32]
    """Of each chunk, how many entities it names that join passages."""

    @classmethod
    def of(cls, arrays: GraphArrays) -> Self:
        size = len(arrays)
        weights = np.maximum(arrays.weights, 0)
        relations = np.zeros(size, np.int64)
        for ends in (arrays.subjects, arrays.objects):
            relations += np.bincount(ends, weights, size).astype(np.int64)
        joining = ~np.isin(arrays.kinds, APART)
        marks = mention_weights(arrays.naming_times, arrays.naming_own)
        marks[~np.repeat(joining, np.diff(arrays.naming_begins))] = 0
        chunks = arrays.chunks
        joined = np.bincount(arrays.naming_chunks[marks > 0], minlength=chunks).astype(np.int32)
        of_chunks = np.bincount(arrays.naming_chunks, marks, chunks).astype(np.int64)
        of_entities = np.zeros(size, np.int64)
        named = np.flatnonzero(np.diff(arrays.naming_begins))
        if len(named):
            of_entities[named] = np.add.reduceat(marks, arrays.naming_begins[named])
        return cls(relations, np.concatenate([of_entities, of_chunks]), joined)

    def save(self, view: Path) -> None:
        save_arrays(view / _FILE, vars(self))

    @classmethod
    def load(cls, view: Path) -> Self:
        return cls(**load_arrays(view / _FILE))


def mention_weights(times: NDArray[np.integer], own: NDArray[np.bool_]) -> Ints:
    """What mentions weigh, in parts."""
    weights: Ints = _WEIGHTS.take(np.minimum(times, _MOST_TIMES).astype(np.int64) << 1 | own)
    return weights


class RelationLinks(GraphLinks):
    """Node i is entity i. Each relation between two entities is an edge."""

    def __init__(self, arrays: GraphArrays, strengths: Strengths) -> None:
        self._arrays, self._strengths = arrays, strengths

    def __len__(self) -> int:
        return len(self._arrays)

    @cached_property
    def strengths(self) -> Floats:
        return self._strengths.relations / MILLION

    def counts_of(self, nodes: Ints) -> Ints:
        return row_counts(self._arrays.subject_begins, nodes) + row_counts(self._arrays.object_begins, nodes)

    def edges(self, nodes: Ints) -> EdgeList:
        """First those to the objects of what the entities are subjects of, then those to the subjects."""
        arrays = self._arrays
        begun, of_begun = rows_of(arrays.subject_begins, nodes)
        places, of_ended = rows_of(arrays.object_begins, nodes)
        ended = arrays.object_relations.take(places)
        targets = np.concatenate([arrays.objects.take(begun), arrays.subjects.take(ended)])
        owners = np.repeat(np.tile(np.arange(len(nodes)), 2), np.concatenate([of_begun, of_ended]))
        weights = np.maximum(arrays.weights.take(np.concatenate([begun, ended])), 0) / MILLION
        return EdgeList(owners, targets, weights)


class PassageLinks(GraphLinks):
    """Entities, and the chunks that name them: node i is entity i, and node `entities + j` chunk j. Dates and
    quantities join nothing.
    """

    def __init__(self, arrays: GraphArrays, strengths: Strengths) -> None:
        self._arrays, self._strengths = arrays, strengths
        self.entities = len(arrays)
        self._joining = np.ones(1 << 8, np.bool_)
        self._joining[list(APART)] = False

    def __len__(self) -> int:
        return self.entities + self._arrays.chunks

    @cached_property
    def strengths(self) -> Floats:
        return self._strengths.passages / _PARTS

    def joins(self, entities: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of these entities join passages."""
        return self._joining.take(self._arrays.kinds.take(entities))

    def counts_of(self, nodes: Ints) -> Ints:
        found = np.zeros(len(nodes), np.int64)
        entity = nodes < self.entities
        entities = nodes[entity]
        found[entity] = row_counts(self._arrays.naming_begins, entities) * self.joins(entities)
        found[~entity] = self._strengths.joined.take(nodes[~entity] - self.entities)
        return found

    def edges(self, nodes: Ints) -> EdgeList:
        """First those of entities, then those of chunks."""
        arrays, is_entity = self._arrays, nodes < self.entities
        here = np.flatnonzero(is_entity)
        here = here[self.joins(nodes[here])]
        there = np.flatnonzero(~is_entity)
        naming, of_naming = rows_of(arrays.naming_begins, nodes[here])
        named, of_named = rows_of(arrays.named_begins, nodes[there] - self.entities)
        entities, owners = arrays.named_entities.take(named), np.repeat(there, of_named)
        joining = np.flatnonzero(self.joins(entities))
        if len(joining) < len(named):
            named, entities, owners = named[joining], entities[joining], owners[joining]
        times = np.concatenate([arrays.naming_times.take(naming), arrays.named_times.take(named)])
        own = np.concatenate([arrays.naming_own.take(naming), arrays.named_own.take(named)])
        return EdgeList(
            np.concatenate([np.repeat(here, of_naming), owners]),
            np.concatenate([arrays.naming_chunks.take(naming) + np.int32(self.entities), entities]),
            mention_weights(times, own) / _PARTS,
        )


# Exact PageRank


def pagerank(
    links: GraphLinks, start: Floats, *, damping: float = 0.85, rounds: int = 100, tolerance: float = 1e-9
) -> Floats:
    """Exact, by power iteration, until a round changes less than `tolerance` in all. The result sums to 1. `start`:
    weights of all nodes; where none is above 0, every node has the same.
    """
    seeds = np.flatnonzero(start > 0)
    home = np.zeros(len(start)) if len(seeds) else np.full(len(start), 1.0 / max(len(start), 1))
    home[seeds] = start[seeds] / start[seeds].sum()
    rows = links.compact
    weights, indices = rows.weights.astype(np.float64), rows.indices.astype(np.intp)
    share = _shares(rows, np.arange(len(rows)))
    lost = share == 0
    filled = np.flatnonzero(rows.degrees)
    begins = rows.indptr[filled]
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


# PageRank near the seeds

_COUNTS = 0.1
"""A node counts from this part of epsilon on, and an edge of one that has many."""
_MANY = 64
"""Edges of a node from which on it may be a hub."""


@dataclass(frozen=True)
class Reached:
    """π near the seeds: the share of each of some `nodes`, in rising order. Any other node has `beyond` for each unit
    of its strength.
    """

    links: GraphLinks
    nodes: Ints
    mass: Floats
    beyond: float

    def best(self, count: int, *, minimum: float = 0.0, first: int = 0, end: int | None = None) -> tuple[Ints, Floats]:
        """The nodes from `first` to `end` that have the largest shares, of at least `minimum`: best first, equals by
        number.

        A node that was not reached has no more than as many that are stronger, so the strongest are enough of those.
        """
        end = len(self.links) if end is None else end
        here = slice(*np.searchsorted(self.nodes, [first, end]).tolist())
        others = self.links.strongest(count, first, end)
        others = others[~among(others, self.nodes)]
        nodes = np.concatenate([self.nodes[here], others])
        mass = np.concatenate([self.mass[here], self.beyond * self.links.strengths.take(others)])
        able = np.flatnonzero(mass >= minimum)
        best = able[largest(mass[able], count, nodes[able])]
        return nodes[best], mass[best]

    def of(self, nodes: Ints) -> Floats:
        """The shares of these nodes."""
        places = np.searchsorted(self.nodes, nodes).clip(max=len(self.nodes) - 1)
        others = self.beyond * self.links.strengths.take(nodes)
        return np.where(among(nodes, self.nodes), self.mass.take(places), others)


def reach(links: GraphLinks, start: Mapping[int, float], *, damping: float = 0.85, epsilon: float = 2e-5) -> Reached:
    """Approximate, near the seeds (nodes with weights above 0): neither work nor memory grow with the graph, only with
    1 / epsilon and the edges of the seeds.

    Mass is pushed outwards from the seeds while a node gets more than `epsilon` for each of its edges; that finds the
    nodes that count. Among these π is solved for nearly exactly. What leaves them is lost to sight: it is taken to
    mix, so that every node of the graph gets of it by its strength, as it does in the long run.

    A hub that counts has too little for each of its edges to go through them all: it gives to the nodes that count,
    whose own edges lead to it, and what it gives to all others is lost to sight.
    """
    seeds = np.array(sorted(start), np.int64)  # sums do not depend on who was named first
    home = np.array([start[node] for node in seeds.tolist()], np.float64)
    home /= home.sum()
    steps = _steps(damping, epsilon)
    with links.scratch() as local:
        seen, near = _explore(links, seeds, home, local, damping, epsilon, max(4, steps - 2))
        local[seen] = -1
        able = np.flatnonzero((near > epsilon * _COUNTS) | (np.arange(len(seen)) < len(seeds)))
        hub = _are_hubs(links, seen.take(able), near.take(able), epsilon) & (able >= len(seeds))
        able = able.take(np.lexsort((seen.take(able), hub)))  # hubs are the last
        chosen, near = seen.take(able), near.take(able)
        back = np.zeros(len(seen))
        back[: len(seeds)] = home
        at_home = back.take(able)
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


def _shares(links: GraphLinks, nodes: NDArray[np.int32] | Ints) -> Floats:
    """What a unit of weight at an edge of each of these nodes takes of the node's mass."""
    strengths = links.strengths.take(nodes)
    return np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)


def _steps(damping: float, epsilon: float) -> int:
    """Steps of the solver until what is left is well below what counts. Its error falls by this rate at each."""
    root = math.sqrt((1.0 + damping) / (1.0 - damping))
    rate = max((root - 1.0) / (root + 1.0), 1e-3)
    return max(4, math.ceil(math.log(min(0.1, 1000.0 * epsilon)) / math.log(rate)))


def _explore(
    links: GraphLinks,
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
    """Each of these nodes once, without sorting: of those that are equal, the one that was written last is taken."""
    turns = np.arange(len(nodes))
    scratch[nodes] = turns
    return nodes.take(np.flatnonzero(scratch.take(nodes) == turns)).astype(np.int64)


def _are_hubs(links: GraphLinks, nodes: Ints, near: Floats, epsilon: float) -> NDArray[np.bool_]:
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
    def of(cls, links: GraphLinks, nodes: Ints, plain: int, local: NDArray[np.int32], damping: float) -> Self:
        """`plain` nodes come before the hubs; `local` has the place of each node among all of them."""
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


# Shortest paths, found from both ends at once

Way = tuple[float, tuple[int, ...]]
"""The weight of all its edges, and its nodes."""
MOST_HOPS = 8
"""Farther apart than this, two entities have little to do with each other."""
CANDIDATES = 300
"""Nodes that are looked at where ways meet or fork, those with the heaviest edges: hubs have millions."""


def shortest_paths(
    links: GraphLinks, start: int, end: int, *, limit: int = 5, hops: int = MOST_HOPS
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

    def __init__(self, links: GraphLinks, root: int) -> None:
        self._links = links
        self.distance = np.full(len(links), -1, dtype=np.int8)
        self.distance[root] = 0
        self.border: Ints = np.array([root], dtype=np.int64)
        self._known: dict[int, list[Way]] = {root: [(0.0, (root,))]}

    def grow(self) -> None:
        found = self._links.edges(self.border)
        reached = np.unique(found.targets[found.weights > 0]).astype(np.int64)
        far = self.distance[self.border[0]] + 1
        self.border = reached[self.distance[reached] < 0]
        self.distance[self.border] = far

    def ways(self, node: int, limit: int) -> list[Way]:
        """The heaviest ways from this end to a node. As deep as the search has gone, so a few calls."""
        if node not in self._known:
            nodes, weights = self._links.neighbours(node)
            nearer = np.flatnonzero(self.distance[nodes] == self.distance[node] - 1)
            nearer = nearer[largest(weights[nearer], CANDIDATES)]
            found = [
                (weight + float(weights[at]), (*way, node))
                for at in nearer
                for weight, way in self.ways(int(nodes[at]), limit)
            ]
            self._known[node] = sorted(found, key=_heaviest)[:limit]
        return self._known[node]


def _joined(links: GraphLinks, sides: tuple[_Side, _Side], met: Ints, limit: int) -> list[tuple[int, ...]]:
    met = met[largest(links.strengths.take(met), CANDIDATES)]
    found: list[Way] = []
    for node in met.tolist():
        first, second = (side.ways(node, limit) for side in sides)
        found += [(a + b, (*one, *other[-2::-1])) for a, one in first for b, other in second]
    return [way for _, way in sorted(found, key=_heaviest)[:limit]]


def _heaviest(way: Way) -> tuple[float, tuple[int, ...]]:
    return (-round(way[0], 6), way[1])
