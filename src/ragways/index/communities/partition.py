"""The hierarchy of communities: level 0 is coarse, and each community too large is split into those inside it.

It does not depend on the order of documents, because entities are numbered by their ids, and hardly on what is far
away (`leiden.py`). An entity without edges belongs to no community.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash
from ragways.index.communities.leiden import connected, leiden
from ragways.index.pagerank import Links

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """A community: `members` are nodes in rising order; `parent` is empty at level 0, `children` in a leaf."""

    id: str
    level: int
    parent: str
    members: tuple[int, ...]
    children: tuple[str, ...]


def hierarchy(links: Links, ids: Sequence[str], *, size: int, resolution: float = 1.0, seed: int = 0) -> list[Group]:
    """All communities, level by level, each level by id. One of more than `size` members is split where it can be."""
    divisions = leiden(links, ids, resolution=resolution, seed=seed)
    here = [("", nodes) for nodes in _topmost(links, divisions, size)]
    found: list[Group] = []
    level = 0
    while here:
        named = sorted((community_id([ids[node] for node in nodes.tolist()]), parent, nodes) for parent, nodes in here)
        here = []
        for id, parent, nodes in named:
            parts = _inside(links, nodes, divisions, size // 10) if len(nodes) > size else []
            here += [(id, part) for part in parts]
            children = tuple(sorted(community_id([ids[node] for node in part.tolist()]) for part in parts))
            found.append(Group(id, level, parent, tuple(nodes.tolist()), children))
        level += 1
    return found


def community_id(members: Sequence[str]) -> str:
    """The same members, the same id: a community that did not change keeps it."""
    return f"community:{content_hash(*members)[:16]}"


def _topmost(links: Links, divisions: Sequence[Ints], size: int) -> list[Ints]:
    """Level 0. A connected part that is small enough is one community; a larger one is what Leiden made of it."""
    found = []
    for nodes in _split(np.arange(len(links)), connected(links)):
        if 1 < len(nodes) <= size:
            found.append(nodes)
        elif len(nodes) > size:
            found += _split(nodes, divisions[-1][nodes])
    return found


def _inside(links: Links, nodes: Ints, divisions: Sequence[Ints], least: int) -> list[Ints]:
    """The communities inside one: of the coarsest division that leaves no part more than half of it, else the finest.
    Parts of fewer than `least` members say little by themselves; they go to the neighbour they are joined to most.
    """
    for division in reversed(divisions):
        labels = division[nodes]
        if 2 * int(np.bincount(labels - labels.min()).max()) <= len(nodes):
            break
    parts = _split(nodes, _joined(links, nodes, labels, least))
    return parts if len(parts) > 1 else []


def _joined(links: Links, nodes: Ints, labels: Ints, least: int) -> Ints:
    _, labels = np.unique(labels, return_inverse=True)
    sizes = np.bincount(labels)
    count = len(sizes)
    if count == 1 or not (sizes < least).any():
        return labels
    rows, columns, weights = edges_among(links, nodes)
    chosen = (sizes[labels[rows]] < least) & (sizes[labels[columns]] >= least)
    pairs, places = np.unique(labels[rows[chosen]] * count + labels[columns[chosen]], return_inverse=True)
    heavy = np.bincount(places, weights[chosen], len(pairs))
    target = np.arange(count)
    order = np.lexsort((-pairs, heavy))  # the heaviest last, so that it is what stays
    target[pairs[order] // count] = pairs[order] % count
    return target[labels]


def edges_among(links: Links, nodes: Ints) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Edges among these nodes, as places in `nodes`, each from both ends."""
    counts = links.indptr[nodes + 1] - links.indptr[nodes]
    before = np.cumsum(counts) - counts
    edges = np.arange(int(counts.sum())) + np.repeat(links.indptr[nodes] - before, counts)
    rows, ends = np.repeat(np.arange(len(nodes)), counts), links.indices[edges]
    columns = np.searchsorted(nodes, ends).clip(max=len(nodes) - 1)
    inside = nodes[columns] == ends
    return rows[inside], columns[inside], links.weights[edges][inside]


def _split(nodes: Ints, labels: Ints) -> list[Ints]:
    """Nodes by label, in rising order; the groups by their first node."""
    order = np.argsort(labels, kind="stable")
    borders = np.flatnonzero(np.diff(labels[order])) + 1
    return sorted((nodes[part] for part in np.split(order, borders)), key=lambda group: int(group[0]))
