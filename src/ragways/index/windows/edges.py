"""Edges between windows: exact nearest neighbours, kept as CSR arrays, and brought up to date with the documents.

Neighbours are searched in blocks; the whole matrix of similarities is never held. A block of rows times all columns in
float32 finds who can be among the nearest; what decides is the product in float64, rounded. So neither the size of a
block nor the library's way of adding up can change who is a neighbour of whom. Equal similarities go to the smaller
row, which is the earlier window.

What cannot have changed since the generation before is taken over. A document whose windows are the same keeps its
edges within. A window of it keeps its edges to other documents, joined by those to windows that came, unless a
neighbour went: only then can one that had no place before move up, and the row is computed anew. The result equals
that of computing all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.plain import from_plain
from ragways.index.packed import Matrix

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

    matrix: Matrix
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
    columns = space.every() if columns is None else columns
    if not k or not len(columns):
        return found
    # Of equal texts the earlier win: k of each group, and of those the first 2 k, have k outside of any group.
    some = _first_of_each(space.same[columns].astype(np.int64) * len(space) + space.groups[columns], k)
    columns = columns[some]
    columns = columns[_first_of_each(space.same[columns], 2 * k)]
    others = space.matrix[columns]
    groups = space.groups[columns]
    if groups[0] == groups[-1] and (space.groups[rows] == groups[0]).all():
        return found
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
        rows = np.arange(first, end, dtype=np.int32)
        columns = _first_of_each(space.same[first:end], k + 1) + np.int32(first)
        others = space.matrix[columns]
        for at, some in _blocks(rows, len(columns), cells):
            sims = space.matrix[some] @ others.T
            own = np.searchsorted(columns, some)
            there = np.flatnonzero(columns[np.minimum(own, len(columns) - 1)] == some)
            sims[there, own[there]] = -np.inf
            _put(found, int(first) + at, space, some, columns, sims)
    return found


def _first_of_each(same: NDArray[np.integer[Any]], count: int) -> Rows:
    """Places of the first so many windows of each text. Of equal ones the earlier win, so no later one can be near."""
    order = np.argsort(same, kind="stable")
    place = np.arange(len(same)) - np.searchsorted(same[order], same[order])
    return np.sort(order[place < count]).astype(np.int32)


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


FOLDER = "windows"


def write_json(folder: Path, name: str, value: object) -> None:
    (folder / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False, sort_keys=True), encoding="utf-8")


def read_json(folder: Path, name: str) -> Any:  # noqa: ANN401
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Edges:
    start: NDArray[np.int64]
    to: NDArray[np.int32]
    similarity: NDArray[np.float32]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.start) - 1

    def of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        first, end = self.start[row], self.start[row + 1]
        return self.to[first:end], self.similarity[first:end]

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

    def unpack(self, k: int) -> Nearest:
        """As rows of k again."""
        found = Nearest.nothing(len(self), k)
        rows = np.repeat(np.arange(len(self)), np.diff(self.start))
        places = np.arange(len(self.to)) - self.start[rows]
        found.to[rows, places] = self.to
        found.similarity[rows, places] = self.similarity
        return found

    def save(self, folder: Path, name: str) -> None:
        for part in ("start", "to", "similarity"):
            np.save(folder / f"edges_{name}_{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, folder: Path, name: str) -> Edges:
        return cls(*(np.load(folder / f"edges_{name}_{part}.npy", mmap_mode="r")
                     for part in ("start", "to", "similarity")))  # fmt: skip


@dataclass(frozen=True, slots=True)
class EdgeInputs:
    """What edges are made from: settings, embedder, and the documents with a print of each one's windows."""

    embedder: str
    size: int
    slide: int
    top_k: int
    top_x: int
    documents: tuple[str, ...]
    prints: tuple[str, ...]

    def made_alike(self, other: EdgeInputs) -> bool:
        def settings(known: EdgeInputs) -> tuple[object, ...]:
            return known.embedder, known.size, known.slide, known.top_k, known.top_x

        return settings(self) == settings(other)


def renew(space: Space, known: EdgeInputs, before: Path | None) -> tuple[Nearest, Nearest]:
    """Edges within documents and across them, from those of the generation before where that can help."""
    if before is not None and (before / "known.json").is_file():
        old = from_plain(EdgeInputs, read_json(before, "known"))
        if known.made_alike(old):
            return _renewed(space, known, old, before)
    return nearest_within(space, known.top_k), nearest_elsewhere(space, known.top_x)


def _renewed(space: Space, known: EdgeInputs, old: EdgeInputs, before: Path) -> tuple[Nearest, Nearest]:
    old_groups: Rows = np.load(before / "window_at.npy")[:, 2]
    place = _moved(space.groups, old_groups, known, old)
    from_old = np.flatnonzero(place >= 0)
    kept = place[from_old]
    fresh = np.setdiff1d(space.every(), kept).astype(np.int32)

    within = nearest_within(space, known.top_k, groups=np.unique(space.groups[fresh]))
    _fill(within, kept, _mapped(Edges.load(before, "within").unpack(known.top_k), from_old, place))

    across = Nearest.nothing(len(space), known.top_x)
    taken = _mapped(Edges.load(before, "across").unpack(known.top_x), from_old, place)
    lost = ((taken.to < 0) & (taken.similarity > -np.inf)).any(axis=1)
    stays = kept[~lost]
    if known.top_x and len(stays):
        own = Nearest(taken.to[~lost], taken.similarity[~lost])
        _fill(across, stays, merged(own, nearest_elsewhere(space, known.top_x, rows=stays, columns=fresh)))
    again = np.sort(np.concatenate([fresh, kept[lost]]))
    _fill(across, again, nearest_elsewhere(space, known.top_x, rows=again))
    return within, across


def _moved(groups: Rows, old_groups: Rows, known: EdgeInputs, old: EdgeInputs) -> Rows:
    """For each old row its row now, or −1 where its document went or changed."""
    place = np.full(len(old_groups), -1, np.int32)
    now = {document: number for number, document in enumerate(known.documents)}
    for number, (document, print_) in enumerate(zip(old.documents, old.prints, strict=True)):
        here = now.get(document)
        if here is not None and known.prints[here] == print_:
            first, end = np.searchsorted(old_groups, [number, number + 1])
            start = np.searchsorted(groups, here)
            place[first:end] = np.arange(start, start + end - first)
    return place


def _mapped(nearest: Nearest, rows: np.ndarray[Any, np.dtype[np.intp]], place: Rows) -> Nearest:
    """Old rows with their neighbours' numbers of now; a neighbour that went is −1 and keeps its similarity."""
    to = nearest.to[rows]
    return Nearest(np.where(to >= 0, place[to], -1).astype(np.int32), nearest.similarity[rows])


def _fill(whole: Nearest, rows: Rows, part: Nearest) -> None:
    whole.to[rows] = part.to
    whole.similarity[rows] = part.similarity
