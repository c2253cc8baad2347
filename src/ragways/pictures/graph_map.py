"""A map of the knowledge graph: its best-connected entities, each at a place of its own.

Entities of a community stand together in a disc, the best-connected in the middle, and communities that are joined
stand near each other. Places come from the graph alone, so that the same graph always gives the same map.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.index.open import Index
from ragways.layers.graph.names import coarse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_NODES = 5000
MOST_EDGES = 20_000
_JOIN_NOTHING = frozenset({"date", "quantity"})
"""A year would join all that happened in it."""
_GOLDEN = math.pi * (3 - math.sqrt(5))
_MOVED = 300  # discs that are moved by what joins them; those beyond stand around them
_ROUNDS = 60
_LETTERS = 80
_REACH = 1000.0


@dataclass(frozen=True, slots=True)
class MapNode:
    """An entity on the map. `degree` counts the entities it is joined to in the whole graph; `community` is an id, or
    empty where it belongs to none.
    """

    id: str
    name: str
    type: str
    kind: str
    degree: int
    community: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class GraphMap:
    """`edges` join places in `nodes`, with the weight of all relations between the two. `entities` counts all of the
    graph.
    """

    nodes: tuple[MapNode, ...]
    edges: tuple[tuple[int, int, float], ...]
    entities: int


def graph_map(index: Index, limit: int = 1000) -> GraphMap:
    """The best-connected entities, at most `limit` and `MOST_NODES`, and the heaviest of what joins them.

    Dates and quantities are left out. Raises MissingLayer where the index has no graph.
    """
    graph = index.graph
    limit = max(1, min(limit, MOST_NODES))
    degrees = dict(graph.most_connected(2 * limit))
    entities = graph.entities(degrees, described=False)
    ids = [id for id in degrees if id in entities and coarse(entities[id].type) not in _JOIN_NOTHING][:limit]
    left, right, weights = graph.heaviest_links(ids, MOST_EDGES)
    own = communities_of(index, ids)
    kinds = [coarse(entities[id].type) for id in ids]
    groups = [own.get(id, "") or kind for id, kind in zip(ids, kinds, strict=True)]
    nodes = []
    for id, kind, (x, y) in zip(ids, kinds, places_of(groups, left, right).tolist(), strict=True):
        found, at = entities[id], (round(x, 1), round(y, 1))
        nodes.append(MapNode(id, found.name[:_LETTERS], found.type, kind, degrees[id], own.get(id, ""), *at))
    edges = zip(left.tolist(), right.tolist(), np.round(weights, 3).tolist(), strict=True)
    return GraphMap(tuple(nodes), tuple(edges), graph.counts()["entities"])


def communities_of(index: Index, ids: Sequence[str]) -> dict[str, str]:
    """The coarsest community of each entity; none where the index has no communities."""
    if "communities" not in index.layers:
        return {}
    levels = index.communities.levels()
    return index.communities.at_level(ids, levels[0]) if levels else {}


def places_of(groups: Sequence[str], left: Ints, right: Ints) -> Floats:
    """Where each node stands, up to `_REACH` from the middle. `groups` has the disc that each belongs to, and the
    best-connected nodes first.
    """
    if not groups:
        return np.zeros((0, 2))
    names, of = np.unique(np.array(groups), return_inverse=True)
    sizes = np.bincount(of)
    order = np.lexsort((np.arange(len(names)), -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    of = rank[of]  # discs by size, the largest first
    radii = np.sqrt(sizes[order].astype(np.float64))
    centres = _centres(radii, of[left], of[right])
    inside = np.empty(len(of), dtype=np.int64)
    for group in range(len(names)):
        members = np.flatnonzero(of == group)
        inside[members] = np.arange(len(members))
    places = centres[of] + _sunflower(inside) * 0.92
    reach = float(np.abs(places).max()) or 1.0
    scaled: Floats = places * (_REACH / reach)
    return scaled


def _sunflower(numbers: Ints) -> Floats:
    """Points in the order of a sunflower's seeds: point n is √n from the middle, and all are equally far apart."""
    angle = numbers * _GOLDEN
    points: Floats = np.sqrt(numbers)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points


def _centres(radii: Floats, left: Ints, right: Ints) -> Floats:
    """Middles of discs that do not overlap: pulled together by what joins them, pushed apart where they touch."""
    before = np.cumsum(radii**2) - radii**2 / 2
    angle = np.arange(len(radii)) * _GOLDEN
    centres: Floats = 1.5 * np.sqrt(before - before[0])[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    some = min(len(radii), _MOVED)
    joined = np.zeros((some, some))
    near = (left < some) & (right < some) & (left != right)
    np.add.at(joined, (left[near], right[near]), 1.0)
    joined += joined.T
    pull = joined / np.maximum(joined.sum(axis=1, keepdims=True), 1.0)
    apart = radii[:some, None] + radii[None, :some] + 0.8
    np.fill_diagonal(apart, 0.0)
    for left_over in np.linspace(0.25, 0.0, _ROUNDS):
        here = centres[:some]
        here += left_over * (pull @ here - here * (pull.sum(axis=1, keepdims=True) > 0))
        for _ in range(2):
            away = here[:, None] - here[None]
            far = np.sqrt((away**2).sum(axis=2)) + 1e-9
            push = np.maximum(apart - far, 0.0) / far * 0.5
            here += (away * push[:, :, None]).sum(axis=1) * 0.7
    return centres
