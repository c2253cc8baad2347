"""A weighted graph on compressed rows, and personalised PageRank on it, exact by power iteration.

It follows π ← d·A·π + (1 − d)·p, with A column-normalised: the share d of a node's mass goes to its neighbours in
proportion to the weights of its edges, the rest goes home to the seeds. A node without edges sends all of it home.
`reached.py` has the approximate one, near the seeds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.ragged import Ragged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


Order = Callable[[Ints], NDArray[Any]]
"""Gives for nodes what they are sorted by."""


@dataclass(frozen=True)
class CodedWeights:
    """Weights of which there are few different ones: `values`, and of each weight which one it is."""

    codes: NDArray[np.unsignedinteger]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: NDArray[np.integer] | NDArray[np.bool_] | slice) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self.values[self.codes[places]]
        return found

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> NDArray[Any]:
        values: NDArray[Any] = self.values[self.codes]
        return values if dtype is None else values.astype(dtype, copy=False)

    def take(self, places: Ints) -> NDArray[np.float32]:
        return self.values.take(self.codes.take(places))


Weights = NDArray[np.floating] | CodedWeights
"""A weight an edge."""


class EdgeList(NamedTuple):
    """Edges of some nodes: at which of these each begins, by its place among them, where it leads, and its weight."""

    owners: Ints
    targets: NDArray[np.int32]
    weights: Floats


class Links(ABC):
    """An undirected weighted graph as a walk from some nodes sees it."""

    @abstractmethod
    def __len__(self) -> int:
        """How many nodes there are."""

    @abstractmethod
    def ranks(self, nodes: Ints) -> NDArray[Any]:
        """What decides between nodes that are equal otherwise: the smaller first."""

    @abstractmethod
    def counts_of(self, nodes: Ints) -> Ints:
        """How many edges `edges` has of each of these nodes."""

    @abstractmethod
    def edges(self, nodes: Ints) -> EdgeList:
        """All edges of these nodes, in an order that the ranks of nodes decide. Two may join the same nodes, and what
        is no edge has a weight of 0.
        """

    @abstractmethod
    def merged(self, nodes: Ints) -> EdgeList:
        """The same, row after row and by the ranks of targets: one edge for two nodes that are joined, and no other."""

    @abstractmethod
    def compact(self) -> Adjacency:
        """The same graph with its rows one after the other."""

    @property
    @abstractmethod
    def strengths(self) -> Floats:
        """The sum of the weights at each node."""

    @property
    @abstractmethod
    def unweighted(self) -> Adjacency:
        """The same graph with every edge counting as much as any other."""

    def neighbours(self, node: int) -> tuple[NDArray[np.int32], Floats]:
        """The nodes that are joined to this one, by rank, and the weight of the edge to each."""
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


@dataclass(frozen=True)
class Adjacency(Links):
    """An undirected weighted graph: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, in rising order.

    A graph whose rows were changed one by one has them in any place: with `ends`, those of i stand from `indptr[i]` to
    `ends[i]`. Then numbers tell nothing of the order of nodes, and `order` does.
    """

    indptr: NDArray[np.integer]
    indices: NDArray[np.int32]
    weights: Weights
    ends: NDArray[np.integer] | None = None
    order: Order | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1 if self.ends is None else len(self.ends)

    @property
    def degrees(self) -> NDArray[np.integer]:
        """How many neighbours each node has."""
        return np.diff(self.indptr) if self.ends is None else self.ends.astype(np.int64) - self.indptr

    def ranks(self, nodes: Ints) -> NDArray[Any]:
        return nodes if self.order is None else self.order(nodes)

    def compact(self) -> Adjacency:
        if self.ends is None:
            return self
        places, counts = self._places(np.arange(len(self)))
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
        places, counts = self._places(nodes)
        targets = place[self.indices[places]]
        kept = np.flatnonzero(targets >= 0)
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        return Adjacency(np.searchsorted(kept, ends), targets[kept], self.weights[places[kept]])

    @classmethod
    def of_edges(cls, size: int, left: NDArray[np.integer], right: NDArray[np.integer], weights: Floats) -> Adjacency:
        """From edges in any order. Those that stand twice add up; loops and weights of 0 or less are left out."""
        keep = (left != right) & (weights > 0)
        left, right, weights = left[keep].astype(np.int64), right[keep].astype(np.int64), weights[keep]
        keys = np.concatenate([left * size + right, right * size + left])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        order %= max(len(weights), 1)
        first = np.concatenate([keys[:1] == keys[:1], keys[1:] != keys[:-1]])
        summed = np.bincount(np.cumsum(first) - 1, weights[order]).astype(np.float32)
        keys = keys[first]
        indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size)
        return cls(indptr.astype(np.int64), (keys % max(size, 1)).astype(np.int32), summed)

    def neighbours(self, node: int) -> tuple[NDArray[np.int32], Floats]:
        begin = int(self.indptr[node])
        end = int(self.indptr[node + 1] if self.ends is None else self.ends[node])
        return self.indices[begin:end], self.weights[begin:end].astype(np.float64)

    @cached_property
    def strengths(self) -> Floats:
        links = self.compact()
        return _row_sums(links.indptr, np.asarray(links.weights, dtype=np.float64))

    @cached_property
    def unweighted(self) -> Adjacency:
        even = np.broadcast_to(np.float32(1), len(self.indices))
        return Adjacency(self.indptr, self.indices, even, self.ends, self.order)

    def edges(self, nodes: Ints) -> EdgeList:
        places, counts = self._places(nodes)
        owners = np.repeat(np.arange(len(nodes)), counts)
        return EdgeList(owners, self.indices.take(places), self.weights.take(places).astype(np.float64))

    def merged(self, nodes: Ints) -> EdgeList:
        return self.edges(nodes)

    def _places(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The places of all edges of these nodes, and how many each has."""
        first = self.indptr.take(nodes).astype(np.int64, copy=False)
        counts = self.counts_of(nodes)
        ends = np.cumsum(counts)
        places = np.repeat(first - ends + counts, counts)
        places += np.arange(len(places))
        return places, counts

    def counts_of(self, nodes: Ints) -> Ints:
        ends = self.indptr.take(nodes + 1) if self.ends is None else self.ends.take(nodes)
        return ends.astype(np.int64, copy=False) - self.indptr.take(nodes)

    @classmethod
    def of_rows(cls, links: Ragged, weights: Weights, strengths: Floats, order: Order | None) -> Adjacency:
        """From the neighbours of each node, their weights, and the sums of these."""
        made = cls(links.begins, links["nodes"], weights, links.ends, order)
        made.__dict__["strengths"] = strengths
        return made


def pagerank(
    links: Links, start: Floats, *, damping: float = 0.85, rounds: int = 100, tolerance: float = 1e-9
) -> Floats:
    """Exact, by power iteration, until a round changes less than `tolerance` in all. The result sums to 1."""
    home = normalised(start)
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


def _row_sums(indptr: NDArray[np.integer], values: Floats) -> Floats:
    """Sums of each row; `reduceat` gives an empty row the next row's first value, hence the mask."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def normalised(start: Floats) -> Floats:
    """The weights above 0 as shares of all of them; where there are none, every node has the same."""
    given = np.asarray(start, dtype=np.float64)
    seeds = np.flatnonzero(given > 0)
    if not len(seeds):
        return np.full(len(given), 1.0 / max(len(given), 1))
    shares = np.zeros(len(given))
    shares[seeds] = given[seeds] / given[seeds].sum()
    return shares
