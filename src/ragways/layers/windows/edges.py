"""Which windows are most similar: exact nearest neighbours, and how they are brought up to date.

A similarity is a product of whole numbers times the two factors of its rows: the same whatever block it is computed in,
and in either direction. Equal similarities go to the earlier row, by document and place. So neighbours that are brought
up to date are those of a fresh search, to the bit: a row that lost none keeps its own and is offered the new rows; one
that is new, or lost a neighbour, is compared with all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.store.packed import products

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

ROWS_AT_ONCE, COLUMNS_AT_ONCE = 1024, 8192
"""Rows and columns that are compared at a time: 32 MB of similarities."""
_FACTOR = np.dtype("<f4")
_GROUP = 16
_BARRED = np.float32(-np.inf)
_LEAST = np.float32(-2)
"""Less than any similarity."""


@dataclass(frozen=True)
class Nearest:
    """For each row up to k others, best first, and how similar they are; −1 and −∞ fill up."""

    to: NDArray[np.int32]
    similarity: Floats

    @classmethod
    def none(cls, rows: int, k: int) -> Nearest:
        return cls(np.full((rows, k), -1, np.int32), np.full((rows, k), _BARRED))

    def __len__(self) -> int:
        return len(self.to)

    @property
    def width(self) -> int:
        """How many others a row has at most."""
        return int(self.to.shape[1])

    def of(self, row: int) -> list[tuple[int, float]]:
        """The rows that a row is joined to, best first, and how similar they are."""
        pairs = zip(self.to[row].tolist(), self.similarity[row].tolist(), strict=True)
        return [(to, similar) for to, similar in pairs if to >= 0]

    def only(self, chosen: NDArray[np.bool_]) -> Nearest:
        """The chosen rows, numbered anew, with those of their neighbours that are chosen."""
        places = np.append(np.where(chosen, np.cumsum(chosen) - 1, -1), -1).astype(np.int32)
        to = places[self.to[chosen]]
        return Nearest(to, np.where(to >= 0, self.similarity[chosen], _BARRED))

    def offer(self, rows: Rows, to: Rows, similarity: Floats) -> None:
        """Take in, for each of these rows, one that it may be near to: none of those that it has already."""
        touched, k = np.unique(rows), self.width
        here = np.concatenate([np.repeat(touched, k), rows])
        there = np.concatenate([self.to[touched].ravel(), to])
        similar = np.concatenate([self.similarity[touched].ravel(), similarity])
        order = np.lexsort((there, -similar, here))
        order = order[(np.arange(len(order)) - np.searchsorted(here[order], here[order])) < k]
        self.to[touched] = there[order].reshape(-1, k)
        self.similarity[touched] = similar[order].reshape(-1, k)


@dataclass(frozen=True)
class Space:
    """Packed vectors with a group (document) each; the rows of a group lie together, and groups rise."""

    packed: NDArray[np.int8]
    groups: NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return len(self.packed)

    def group_spans(self, rows: Rows) -> NDArray[np.int64]:
        """First row and end of the group of each of the rows."""
        own = self.groups[rows]
        ends = [np.searchsorted(self.groups, own, side=side) for side in ("left", "right")]
        return np.stack(ends, axis=1)

    def similarities(self, rows: Rows, columns: range, barred: NDArray[np.int64]) -> Iterator[tuple[Rows, int, Floats]]:
        """Blocks of rows, first column and similarities, those of each row with columns rising. `barred` are a first
        column and an end for each row: between them, similarities are −∞.
        """
        for at in range(0, len(rows), ROWS_AT_ONCE):
            some, bars = rows[at : at + ROWS_AT_ONCE], barred[at : at + ROWS_AT_ONCE]
            left = self.packed[some]
            for first in range(columns.start, columns.stop, COLUMNS_AT_ONCE):
                right = self.packed[first : min(first + COLUMNS_AT_ONCE, columns.stop)]
                found = products(_numbers(left), _numbers(right).astype(np.float32).T)
                # Two factors first: their product is the same in both directions.
                found = (found * np.multiply.outer(_factors(left), _factors(right))).astype(np.float32, copy=False)
                for row in np.flatnonzero((bars[:, 0] < first + len(right)) & (bars[:, 1] > first)).tolist():
                    begin, end = (bars[row] - first).tolist()
                    found[row, max(begin, 0) : end] = _BARRED
                yield some, first, found


def _numbers(packed: NDArray[np.int8]) -> NDArray[np.int8]:
    return packed[:, : -_FACTOR.itemsize]


def _factors(packed: NDArray[np.int8]) -> Floats:
    factors: Floats = np.ascontiguousarray(packed[:, -_FACTOR.itemsize :]).view(_FACTOR)[:, 0]
    return factors


# Searching


def renewed_within(space: Space, old: Nearest, places: Rows) -> Nearest:
    """For each row the most similar others of its group, as many as `old`, which was found before, has room for.
    `places` has the rows of then as they are numbered now, or −1. A group comes and goes whole, so its rows stay as
    they are.
    """
    found, known = _moved(old, places, len(space))
    new = np.flatnonzero(~known)
    for group in np.split(new, np.flatnonzero(np.diff(space.groups[new])) + 1) if len(new) and found.width else ():
        columns = range(int(group[0]), int(group[-1]) + 1)
        for some, first, similar in space.similarities(group, columns, np.stack([group, group + 1], axis=1)):
            _take_best(found, some, first, similar)
    return found


def renewed_elsewhere(space: Space, old: Nearest, places: Rows) -> Nearest:
    """For each row the most similar of other groups; `old` and `places` are as in `renewed_within`."""
    found, known = _moved(old, places, len(space))
    if not found.width:
        return found
    fresh = np.full(len(space), known.any())
    fresh[places[places >= 0]] = False
    searched = np.flatnonzero(~known)
    # What a row must have to be taken in by one that keeps its neighbours; the others find out themselves.
    least = np.where(known, np.maximum(found.similarity[:, -1], _LEAST), np.float32(np.inf))
    for some, first, similar in space.similarities(searched, range(len(space)), space.group_spans(searched)):
        _take_best(found, some, first, similar)
        new = np.flatnonzero(fresh[some])
        here, there = _where(similar[new] >= least[first : first + similar.shape[1]])
        if len(here):
            taking = there + first
            found.offer(taking, some[new[here]], similar[new[here], there])
            least[taking] = np.maximum(found.similarity[taking, -1], _LEAST)
    return found


def _moved(old: Nearest, places: Rows, size: int) -> tuple[Nearest, NDArray[np.bool_]]:
    """What is known of rows that stay and lost no neighbour, by their places now; and which rows these are."""
    found, known = Nearest.none(size, old.width), np.zeros(size, np.bool_)
    to = np.append(places, -1)[old.to]
    stay = np.flatnonzero((places >= 0) & ((to >= 0) | (old.to < 0)).all(axis=1))
    found.to[places[stay]], found.similarity[places[stay]] = to[stay], old.similarity[stay]
    known[places[stay]] = True
    return found, known


def _where(chosen: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Rows and columns of the chosen cells; `np.nonzero` takes ten times as long where they are few."""
    return np.divmod(np.flatnonzero(chosen), chosen.shape[1])


def _take_best(found: Nearest, rows: Rows, first: int, similar: Floats) -> None:
    """Take in what a block has for its rows, whose earlier columns were taken in before."""
    k, width = found.width, similar.shape[1]
    last = found.similarity[rows, -1]
    # Of equal ones the earlier wins, so a later column must be better than the last.
    near = similar > last[:, None]
    if width > 4 * _GROUP * k and (last == _BARRED).any():
        # The k-th best of the bests of groups is at most the k-th best of all, and much quicker to find.
        groups = width // _GROUP
        bests = similar[:, : groups * _GROUP].reshape(-1, _GROUP, groups).max(axis=1)
        near &= similar >= np.partition(bests, groups - k, axis=1)[:, groups - k, None]
    here, there = _where(near)
    if len(here):
        found.offer(rows[here], there + first, similar[here, there])
