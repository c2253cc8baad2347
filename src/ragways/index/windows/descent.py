"""The nearest of many rows without comparing all with all: whoever is near to a neighbour is likely near.

Up to `EXACT_ROWS`, all rows are compared. Beyond, rows are first joined to those that have the same pivot, a row of the
space itself, nearest. Then, round by round, every row looks at the neighbours of its neighbours, those that it has and
those that have it, and keeps the best (W. Dong and others, "Efficient k-nearest neighbor graph construction for generic
similarity measures", 2011). What is found is exact among all that was looked at; a share of the true neighbours, less
than one in a hundred, is not looked at (`ragways check` tells how many).
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from ragways.index.ragged import distinct
from ragways.index.windows.edges import Nearest, Rows, Space, exact_similarity

EXACT_ROWS = 65_536
"""Up to so many rows are all compared with all. Comparing all grows by the square; where looking around begins to take
less was not measured: it took 2.7 times as long at 40,000 (`benchmarks/windows.py`)."""
_PIVOTS = 4
"""Pivots for each of the square root of the rows."""
_LISTS = 8
"""Pivots whose rows are compared with those of one: its own and those nearest to it."""
_MOST = 4096
"""Rows of those pivots that are compared, at most."""
_TOGETHER = 512
"""Rows that look around together: they are near each other, so that they look at the same."""
_ROUNDS = 8
_STILL = 0.05
"""Where the last of fewer rows than this share changed in a round, it was the last round."""
_WIDER = 8
"""So many more neighbours than are asked for are kept from round to round."""
_AT_ONCE = 4096


def pivots_of(space: Space) -> Rows:
    """Rows at even distances."""
    count = min(len(space), _PIVOTS * isqrt(len(space)))
    return np.linspace(0, len(space) - 1, count).astype(np.int32)


def nearest_around(space: Space, k: int, width: int) -> Nearest:
    """For each row `width` of the most similar of other groups; what counts are the first k."""
    pivots = pivots_of(space)
    home = _homes(space, pivots)
    order = np.argsort(home, kind="stable").astype(np.int32)
    found = Nearest.nothing(len(space), width + _WIDER)
    _join_lists(space, pivots, order, home, found)
    for _ in range(_ROUNDS):
        last = found.similarity[:, k - 1].copy()
        found = _round(space, order, found)
        if (found.similarity[:, k - 1] > last + 1e-6).mean() < _STILL:
            break
    best = Nearest(found.to[:, :width].copy(), found.similarity[:, :width].copy())
    for at in range(0, len(space), _AT_ONCE):
        rows = np.arange(at, min(at + _AT_ONCE, len(space)), dtype=np.int32)
        _put_exact(space, rows, Nearest(best.to[rows[0] : rows[-1] + 1], best.similarity[rows[0] : rows[-1] + 1]))
    return best


def _homes(space: Space, pivots: Rows) -> Rows:
    """The nearest pivot of each row."""
    vectors = space.matrix[pivots]
    found = np.empty(len(space), np.int32)
    for at in range(0, len(space), _AT_ONCE):
        found[at : at + _AT_ONCE] = (space.matrix[at : at + _AT_ONCE] @ vectors.T).argmax(axis=1)
    return found


def _join_lists(space: Space, pivots: Rows, order: Rows, home: Rows, found: Nearest) -> None:
    """Join rows to those of the same pivot and of the nearest others."""
    vectors = space.matrix[pivots]
    ends = np.searchsorted(home[order], np.arange(len(pivots) + 1))
    for at in range(0, len(pivots), _TOGETHER):
        products = vectors[at : at + _TOGETHER] @ vectors.T
        some = min(_LISTS, products.shape[1]) - 1
        near = np.argpartition(-products, some, axis=1)[:, : some + 1]
        for place, lists in enumerate(near):
            rows = order[ends[at + place] : ends[at + place + 1]]
            if len(rows):
                columns = np.concatenate([order[ends[each] : ends[each + 1]] for each in lists])
                columns = columns[np.linspace(0, len(columns) - 1, min(len(columns), _MOST)).astype(np.int64)]
                _compare(space, rows, columns, found)


def _compare(space: Space, rows: Rows, columns: Rows, found: Nearest) -> None:
    """Have rows be joined to the best of the columns."""
    width = found.to.shape[1]
    others, groups = space.matrix[columns], space.groups[columns]
    for at in range(0, len(rows), _TOGETHER):
        some = rows[at : at + _TOGETHER]
        sims = space.matrix[some] @ others.T
        sims[space.groups[some][:, None] == groups] = -np.inf
        best = np.argpartition(-sims, min(width, sims.shape[1]) - 1, axis=1)[:, :width]
        similarity = np.take_along_axis(sims, best, 1)
        sorted_ = np.argsort(-similarity, axis=1)
        similarity = np.take_along_axis(similarity, sorted_, 1)
        to = np.where(similarity > -np.inf, columns[np.take_along_axis(best, sorted_, 1)], np.int32(-1))
        found.to[some, : to.shape[1]], found.similarity[some, : to.shape[1]] = to, similarity


def _round(space: Space, order: Rows, found: Nearest) -> Nearest:
    """What rows find that look at the neighbours of their neighbours."""
    both = np.hstack([found.to, _reverse(found)])
    new = Nearest.nothing(*found.to.shape)
    seen = np.zeros(len(space) + 1, np.bool_)  # the last is that of no row, −1
    for at in range(0, len(order), _TOGETHER):
        rows = order[at : at + _TOGETHER]
        around = distinct(both[rows].ravel())
        seen[around] = True
        seen[both[around[around >= 0]].ravel()] = True
        seen[-1] = False
        columns = np.flatnonzero(seen).astype(np.int32)
        seen[columns] = False
        if len(columns):
            _compare(space, rows, columns, new)
    return new


def _reverse(found: Nearest) -> Rows:
    """For each row those that are joined to it, the most similar ones, as many as it is joined to itself."""
    size, width = found.to.shape
    near = found.to.ravel()
    there = np.flatnonzero(near >= 0)
    there = there[np.lexsort((-found.similarity.ravel()[there], near[there]))]
    place = np.arange(len(there)) - np.searchsorted(near[there], near[there])
    there, place = there[place < width], place[place < width]
    reverse = np.full((size, width), -1, np.int32)
    reverse[near[there], place] = there // width
    return reverse


def _put_exact(space: Space, rows: Rows, found: Nearest) -> None:
    """Have what is found of rows be as similar as it is, and stand in its order."""
    here, place = np.nonzero(found.to >= 0)
    to = found.to[here, place]
    similarity = exact_similarity(space, rows[here], to)
    order = np.lexsort((to, space.groups[to], -similarity, here))
    place = np.arange(len(here)) - np.searchsorted(here, here)  # they come row by row
    found.to[:], found.similarity[:] = -1, -np.inf
    found.to[here, place], found.similarity[here, place] = to[order], similarity[order]
