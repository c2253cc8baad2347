"""Edges brought up to date: what cannot have changed since the generation before is taken over.

A document whose windows are the same keeps its edges within. A window of it keeps its edges to other documents, joined
by those to windows that came, unless a neighbour went: only then can one that had no place before move up, and the row
is computed anew. The result equals that of computing all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragways.index.windows.edges import Edges
from ragways.index.windows.files import read_json
from ragways.index.windows.neighbours import Nearest, Rows, Space, merged, nearest_elsewhere, nearest_within


@dataclass(frozen=True, slots=True)
class Known:
    """What edges are made from: settings, embedder, and the documents with a print of each one's windows."""

    embedder: str
    size: int
    slide: int
    top_k: int
    top_x: int
    documents: tuple[str, ...]
    prints: tuple[str, ...]

    @classmethod
    def parse(cls, values: dict[str, Any]) -> Known:
        return cls(**values | {name: tuple(values[name]) for name in ("documents", "prints")})

    def made_alike(self, other: Known) -> bool:
        def settings(known: Known) -> tuple[object, ...]:
            return known.embedder, known.size, known.slide, known.top_k, known.top_x

        return settings(self) == settings(other)


def renew(space: Space, known: Known, before: Path | None) -> tuple[Nearest, Nearest]:
    """Edges within documents and across them, from those of the generation before where that can help."""
    if before is not None and (before / "known.json").is_file():
        old = Known.parse(read_json(before, "known"))
        if known.made_alike(old):
            return _renewed(space, known, old, before)
    return nearest_within(space, known.top_k), nearest_elsewhere(space, known.top_x)


def _renewed(space: Space, known: Known, old: Known, before: Path) -> tuple[Nearest, Nearest]:
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


def _moved(groups: Rows, old_groups: Rows, known: Known, old: Known) -> Rows:
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
