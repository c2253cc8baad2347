"""Which windows are most similar: exact nearest neighbours among rows, and edges as readers have them.

Neighbours are searched in blocks; the whole matrix of similarities is never held. A block of rows times all columns in
float32 finds who can be among the nearest; what decides is the product in float64, rounded. So neither the size of a
block nor the library's way of adding up can change who is a neighbour of whom. Equal similarities go to the earlier
window: that of the document with the smaller number, and in a document the one that stands before the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.index.packed import Matrix, PackedRows

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]
Marks = NDArray[np.uint64]
Pairs = tuple[Rows, Rows, Floats]
"""Rows, for each a column, and how similar they are."""

CELLS = 8_000_000
"""Similarities held at once: 32 MB."""

SLACK = np.float32(1e-5)
"""More than a float32 product of two vectors of length 1 can be wrong."""
_PAIRS = 8192
_SCANNED = 8192
_ASKED = 512
_FOLD = 16


@dataclass(frozen=True)
class Nearest:
    """For each row its k nearest, best first; where there are fewer, −1 and −∞ fill up."""

    to: Rows
    similarity: Floats

    @classmethod
    def nothing(cls, rows: int, k: int) -> Nearest:
        return cls(np.full((rows, k), -1, np.int32), np.full((rows, k), -np.inf, np.float32))


@dataclass(frozen=True)
class Space:
    """Vectors of length 1 with the number of the group (document) of each row, and a mark of its text: equal texts have
    equal marks. The rows of a group lie together in their order; the groups may lie in any.
    """

    matrix: Matrix
    groups: NDArray[np.int64]
    marks: Marks

    def __len__(self) -> int:
        return len(self.matrix)

    def every(self) -> Rows:
        return np.arange(len(self), dtype=np.int32)

    def products(self, vectors: Floats) -> Iterator[tuple[int, Floats]]:
        """Products of vectors with all rows, some thousands at a time, each time with the number of the first."""
        if isinstance(self.matrix, PackedRows):
            yield from ((at, found.T.copy()) for at, found in self.matrix.products(vectors.T.copy(), _SCANNED))
        else:
            yield from ((at, vectors @ self.matrix[at : at + _SCANNED].T) for at in range(0, len(self), _SCANNED))

    def sorted(self, rows: Rows) -> Rows:
        """These rows from the earliest to the latest."""
        ordered: Rows = rows[np.lexsort((rows, self.groups[rows]))]
        return ordered


def nearest_elsewhere(
    space: Space, k: int, *, rows: Rows | None = None, columns: Rows | None = None, cells: int = CELLS
) -> Nearest:
    """For each of the rows, the k most similar columns of other groups."""
    rows = space.every() if rows is None else rows
    found = Nearest.nothing(len(rows), k)
    columns = space.every() if columns is None else columns
    if not k or not len(columns) or not len(rows):
        return found
    columns = space.sorted(columns)
    columns = columns[_worth_comparing(space, columns, k)]
    others, groups = space.matrix[columns], space.groups[columns]
    order = np.argsort(space.groups[rows], kind="stable")
    for at, some in _blocks(rows[order], len(columns), cells):
        sims = space.matrix[some] @ others.T
        own = space.groups[some]
        for group in np.unique(own):
            mine = slice(*np.searchsorted(own, [group, group + 1]))
            sims[mine, slice(*np.searchsorted(groups, [group, group + 1]))] = -np.inf
        _put(found, order[at : at + len(some)], space, some, columns, sims)
    return found


def _worth_comparing(space: Space, columns: Rows, k: int) -> NDArray[np.intp]:
    """Places of the columns, in their order, that any row can be near to. Of equal texts the earlier win: k of each
    group, and of those the first 2 k, have k outside of any group.
    """
    _, same = np.unique(space.marks[columns], return_inverse=True)
    _, groups = np.unique(space.groups[columns], return_inverse=True)
    some = _first_of_each(same * len(columns) + groups, k)
    return some[_first_of_each(same[some], 2 * k)]


def nearest_within(space: Space, k: int, *, cells: int = CELLS) -> Nearest:
    """For each row, the k most similar others of its own group."""
    found = Nearest.nothing(len(space), k)
    borders = np.flatnonzero(np.diff(space.groups, prepend=-1, append=-1)).tolist() if len(space) and k else []
    for first, end in pairwise(borders):
        rows = np.arange(first, end, dtype=np.int32)
        columns = (_first_of_each(space.marks[first:end], k + 1) + first).astype(np.int32)
        others = space.matrix[columns]
        for at, some in _blocks(rows, len(columns), cells):
            sims = space.matrix[some] @ others.T
            own = np.searchsorted(columns, some)
            there = np.flatnonzero(columns[np.minimum(own, len(columns) - 1)] == some)
            sims[there, own[there]] = -np.inf
            _put(found, first + at + np.arange(len(some)), space, some, columns, sims)
    return found


def nearest_and_offers(space: Space, rows: Rows, k: int, floor: Floats, offered: int) -> tuple[Nearest, Pairs]:
    """For each of some rows the k most similar of other groups; and of the first ones, as many as are offered, all
    pairs of any row and one of them that are at least as similar as the floor of the former. Reads all rows, once for
    some hundreds of those asked for.
    """
    nearest: list[Nearest] = []
    offers: list[Pairs] = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))]
    for at in range(0, len(rows), _ASKED):
        some = rows[at : at + _ASKED]
        found, pairs = _scan(space, some, k, floor, max(0, min(len(some), offered - at)))
        nearest.append(found)
        offers.append(pairs)
    taking, given, similarity = (np.concatenate(parts) for parts in zip(*offers, strict=True))
    both = Nearest(np.vstack([one.to for one in nearest]), np.vstack([one.similarity for one in nearest]))
    return both, (taking, given, similarity)


def _scan(space: Space, rows: Rows, k: int, floor: Floats, offered: int) -> tuple[Nearest, Pairs]:
    vectors, groups = space.matrix[rows], space.groups[rows]
    best = np.full((len(rows), k), -2, np.float32)
    near: list[tuple[NDArray[np.intp], Rows, Floats]] = []
    pairs: list[tuple[Rows, Rows]] = []
    for at, sims in space.products(vectors):
        theirs = space.groups[at : at + sims.shape[1]]
        own = np.flatnonzero(np.isin(theirs, groups))
        sims[:, own] = np.where(groups[:, None] == theirs[own], np.float32(-np.inf), sims[:, own])
        here, there = np.nonzero(sims[:offered] >= floor[at : at + sims.shape[1]] - SLACK)
        apart = groups[here] != theirs[there]
        pairs.append(((there[apart] + at).astype(np.int32), rows[here[apart]]))
        better = np.flatnonzero((sims > best.min(axis=1, keepdims=True)).any(axis=1))
        if len(better):
            both = np.hstack([best[better], sims[better]])
            best[better] = np.partition(both, both.shape[1] - k, axis=1)[:, -k:]
        here, there = np.nonzero(sims >= best.min(axis=1, keepdims=True) - SLACK)
        near.append((here, (there + at).astype(np.int32), sims[here, there]))
    taking, given = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    similarity = exact_similarity(space, taking, given)
    enough = similarity >= floor[taking]
    here, there, about = (np.concatenate(parts) for parts in zip(*near, strict=True))
    likely = about >= best.min(axis=1)[here] - SLACK
    found = _best(space, rows, k, here[likely], there[likely])
    return found, (taking[enough], given[enough], similarity[enough])


def _best(space: Space, rows: Rows, k: int, here: NDArray[np.intp], there: Rows) -> Nearest:
    """The k best of pairs of rows, by their places, and columns."""
    similarity = exact_similarity(space, rows[here], there)
    order = np.lexsort((there, space.groups[there], -similarity, here))
    here, there, similarity = here[order], there[order], similarity[order]
    place = np.arange(len(here)) - np.searchsorted(here, here)
    keep = place < k
    found = Nearest.nothing(len(rows), k)
    found.to[here[keep], place[keep]] = there[keep]
    found.similarity[here[keep], place[keep]] = similarity[keep]
    return found


def _first_of_each(same: NDArray[np.integer[Any]], count: int) -> NDArray[np.intp]:
    """Places of the first so many windows of each text. Of equal ones the earlier win, so no later one can be near."""
    order = np.argsort(same, kind="stable")
    place = np.arange(len(same)) - np.searchsorted(same[order], same[order])
    return np.sort(order[place < count])


def _blocks(rows: Rows, columns: int, cells: int) -> Iterator[tuple[int, Rows]]:
    height = max(1, cells // max(columns, 1))
    return ((at, rows[at : at + height]) for at in range(0, len(rows), height))


def _put(found: Nearest, places: NDArray[np.intp], space: Space, rows: Rows, columns: Rows, sims: Floats) -> None:
    """Write the nearest of a block, whose rows have these places."""
    k = found.to.shape[1]
    here, there = _candidates(sims, k)
    similarity = exact_similarity(space, rows[here], columns[there])
    order = np.lexsort((there, -similarity, here))
    here, there, similarity = here[order], there[order], similarity[order]
    place = np.arange(len(here)) - np.searchsorted(here, here)
    keep = place < k
    found.to[places[here[keep]], place[keep]] = columns[there[keep]]
    found.similarity[places[here[keep]], place[keep]] = similarity[keep]


def _candidates(sims: Floats, k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cells that can be among the k best of their row, those about level with the k-th included."""
    width = sims.shape[1]
    if width <= k:
        here, there = np.nonzero(sims > -np.inf)
        return here, there
    # The k-th best of the bests of groups is at most the k-th best of all, and much quicker to find.
    groups = width // _FOLD
    bests = sims[:, : groups * _FOLD].reshape(-1, _FOLD, groups).max(axis=1) if groups > 4 * k else sims
    last = bests.shape[1] - k
    border = np.partition(bests, last, axis=1)[:, last]
    # A border of −∞ (fewer than k others) must not let in what is barred.
    here, there = np.nonzero(sims >= np.maximum(border - SLACK, np.float32(-2))[:, None])
    return here, there


def exact_similarity(space: Space, left: Rows, right: Rows) -> Floats:
    """Similarity of each pair. Texts that occur often make many pairs, but few different ones."""
    if not len(left):
        return np.zeros(0, np.float32)
    _, first, same = np.unique(
        np.concatenate([space.marks[left], space.marks[right]]), return_index=True, return_inverse=True
    )
    of_text = np.concatenate([left, right])[first]
    pairs, back = np.unique(same[: len(left)] * len(first) + same[len(left) :], return_inverse=True)
    values = np.empty(len(pairs), np.float64)
    for at in range(0, len(pairs), _PAIRS):
        a, b = np.divmod(pairs[at : at + _PAIRS], len(first))
        one, other = space.matrix[of_text[a]].astype(np.float64), space.matrix[of_text[b]].astype(np.float64)
        values[at : at + _PAIRS] = np.einsum("ij,ij->i", one, other)
    return values.astype(np.float32)[back]


# Edges as readers have them


class EdgeRows(Protocol):
    """Edges by row, however they are kept."""

    def __len__(self) -> int:
        """How many rows there are."""

    def of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The rows that a row is joined to, best first, and how similar they are."""

    def packed(self) -> Edges:
        """All of them in memory."""


@dataclass(frozen=True)
class Edges:
    """Edges one row after the other: those of row i stand from `start[i]` to `start[i + 1]`."""

    start: NDArray[np.int64]
    to: NDArray[np.int32]
    similarity: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        first, end = self.start[row], self.start[row + 1]
        return self.to[first:end], self.similarity[first:end]

    def packed(self) -> Edges:
        return self

    def only(self, kept: NDArray[np.bool_]) -> Edges:
        """Edges between the rows that are kept, by their new numbers."""
        number = np.cumsum(kept) - 1
        stay = np.repeat(kept, np.diff(self.start)) & kept[self.to]
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(stay)])[self.start]
        start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.diff(ends)[kept])])
        return Edges(start, number[self.to[stay]].astype(np.int32), self.similarity[stay])

    @classmethod
    def pack(cls, nearest: Nearest) -> Edges:
        there = nearest.to >= 0
        start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        return cls(start, nearest.to[there], nearest.similarity[there])
