"""Exact nearest neighbours in blocks: the whole matrix of similarities is never held.

A block of rows times all columns in float32 finds who can be among the nearest; what decides is the product in float64,
rounded. So neither the size of a block nor the library's way of adding up can change who is a neighbour of whom. Equal
similarities go to the smaller row, which is the earlier window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]

CELLS = 8_000_000
"""Similarities held at once: 32 MB."""

_SLACK = np.float32(1e-5)  # more than a float32 product of two vectors of length 1 can be wrong
_PAIRS = 8192
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
    """Vectors of length 1, the group (document) of each row in rising order, and the first row of the same text."""

    matrix: Floats
    groups: Rows
    same: Rows

    def __len__(self) -> int:
        return len(self.matrix)

    def every(self) -> Rows:
        return np.arange(len(self), dtype=np.int32)


def nearest_elsewhere(
    space: Space, k: int, *, rows: Rows | None = None, columns: Rows | None = None, cells: int = CELLS
) -> Nearest:
    """For each of the rows, the k most similar columns of other groups."""
    rows = space.every() if rows is None else rows
    found = Nearest.nothing(len(rows), k)
    others = space.matrix if columns is None else space.matrix[columns]
    columns = space.every() if columns is None else columns
    if not k or not len(columns):
        return found
    groups = space.groups[columns]
    for at, some in _blocks(rows, len(columns), cells):
        sims = space.matrix[some] @ others.T
        own = space.groups[some]
        for group in np.unique(own):
            mine = slice(*np.searchsorted(own, [group, group + 1]))
            sims[mine, slice(*np.searchsorted(groups, [group, group + 1]))] = -np.inf
        _put(found, at, space, some, columns, sims)
    return found


def nearest_within(space: Space, k: int, *, groups: NDArray[np.int32] | None = None, cells: int = CELLS) -> Nearest:
    """For each row, the k most similar others of its own group (only rows of these groups are filled in)."""
    found = Nearest.nothing(len(space), k)
    if not k:
        return found
    for group in np.unique(space.groups) if groups is None else groups:
        first, end = np.searchsorted(space.groups, [group, group + 1])
        columns = np.arange(first, end, dtype=np.int32)
        for at, some in _blocks(columns, len(columns), cells):
            sims = space.matrix[some] @ space.matrix[first:end].T
            sims[np.arange(len(some)), some - first] = -np.inf
            _put(found, int(first) + at, space, some, columns, sims)
    return found


def merged(one: Nearest, other: Nearest) -> Nearest:
    """The nearest of two searches over different columns."""
    k = one.to.shape[1]
    to = np.hstack([one.to, other.to])
    similarity = np.hstack([one.similarity, other.similarity])
    order = np.lexsort((to, -similarity), axis=-1)[:, :k]
    return Nearest(np.take_along_axis(to, order, 1), np.take_along_axis(similarity, order, 1))


def _blocks(rows: Rows, columns: int, cells: int) -> Iterator[tuple[int, Rows]]:
    height = max(1, cells // max(columns, 1))
    return ((at, rows[at : at + height]) for at in range(0, len(rows), height))


def _put(found: Nearest, at: int, space: Space, rows: Rows, columns: Rows, sims: Floats) -> None:
    """Write the nearest of a block, from `at` on."""
    k = found.to.shape[1]
    here, there = _candidates(sims, k)
    similarity = _exact(space, rows[here], columns[there])
    order = np.lexsort((there, -similarity, here))
    here, there, similarity = here[order], there[order], similarity[order]
    place = np.arange(len(here)) - np.searchsorted(here, here)
    keep = place < k
    found.to[at + here[keep], place[keep]] = columns[there[keep]]
    found.similarity[at + here[keep], place[keep]] = similarity[keep]


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
    here, there = np.nonzero(sims >= np.maximum(border - _SLACK, np.float32(-2))[:, None])
    return here, there


def _exact(space: Space, left: Rows, right: Rows) -> Floats:
    """Similarity of each pair. Texts that occur often make many pairs, but few different ones."""
    size = len(space)
    keys = space.same[left].astype(np.int64) * size + space.same[right]
    pairs, back = np.unique(keys, return_inverse=True)
    values = np.empty(len(pairs), np.float64)
    for at in range(0, len(pairs), _PAIRS):
        a, b = np.divmod(pairs[at : at + _PAIRS], size)
        one, other = space.matrix[a].astype(np.float64), space.matrix[b].astype(np.float64)
        values[at : at + _PAIRS] = np.einsum("ij,ij->i", one, other)
    return values.astype(np.float32)[back]
