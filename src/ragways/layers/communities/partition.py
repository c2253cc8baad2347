"""The hierarchy of communities, by Leiden's algorithm in an order that the nodes' own ids decide.

A library visits nodes in an order drawn for the whole graph, so that one document more changes more than half of all
communities. Here a node's turn comes from its id, and modularity is counted within its connected part. Communities
that no path joins to a change stay the same, and nine of ten of the others do, with their reports. The modularity is
the library's (tests/layers/communities).

Phases, as in Traag, Waltman and van Eck (2019): nodes move to the community that gains most; each community is divided
again from within (refinement); the parts become nodes of a smaller graph, which begins with the communities found;
and so on until nothing moves. Communities are always connected.

Level 0 of the hierarchy is coarse, and each community too large is split into those inside it. It does not depend on
the order of documents, because entities are numbered by their ids. An entity without edges belongs to no community.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ragways.layers.graph.walk import Adjacency

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
Shared = TypeVar("Shared", np.int64, np.float64)

_ROUNDS = 64  # of moving; most graphs are at rest after 20
_GAIN = 1e-9  # a gain less than this is rounding
_SMALLEST = 10  # a part of a community has at least a tenth of the members that one may have


@dataclass(frozen=True)
class _Level:
    """The graph at one stage: a node is a set of entities, `strength` the weight of its edges, loops included."""

    links: Adjacency
    strength: Floats
    whole: Floats
    """Weight of all edges of the connected part that a node lies in, counted from both ends."""
    keys: Keys


def leiden(links: Adjacency, ids: Keys, *, resolution: float = 1.0, seed: int = 0) -> list[Ints]:
    """Divisions from fine to coarse, each made of whole communities of the one before: a community a node. `ids` are
    the numbers of the nodes' ids.

    The last one is that of the greatest modularity. Without edges there is none.
    """
    level = _first(links, ids, seed)
    groups = np.arange(len(links))  # the node of the present level that each entity belongs to
    labels = np.arange(len(links))
    found: list[Ints] = []
    while len(links.indices):
        labels = _connected(level.links, _moved(level, labels, resolution, inside=False))
        parts = _connected(level.links, _moved(level, labels, resolution, inside=True))
        count = int(parts.max()) + 1
        if count == len(level.keys):
            if not found or not np.array_equal(_relabelled(labels[groups]), found[-1]):
                found.append(_relabelled(labels[groups]))
            return found
        groups = parts[groups]
        found.append(_relabelled(groups))
        level, labels = _smaller(level, parts, count), _relabelled(_of_parts(labels, parts, count))
    return found


def connected(links: Adjacency) -> Ints:
    """For each node, the smallest node that it is connected to."""
    return _lowest(len(links), _rows(links), links.indices)


def _first(links: Adjacency, ids: Keys, seed: int) -> _Level:
    keys = mixed(ids ^ mixed(np.array([seed], np.uint64)))
    strength = links.strengths
    parts = connected(links)
    whole = np.bincount(parts, strength, len(links)).astype(np.float64)[parts]
    return _Level(links, strength, whole, keys)


def _moved(level: _Level, labels: Ints, resolution: float, *, inside: bool) -> Ints:
    """Let nodes move to the neighbouring community that gains most, until none wants to.

    Where `inside` is set they begin alone and stay inside the communities given. In each round about half of the nodes,
    by their keys, may move at once: were it all of them, two neighbours could change places for ever.
    """
    size = len(level.keys)
    rows, columns, weights = _rows(level.links), level.links.indices, np.asarray(level.links.weights, dtype=np.float64)
    if inside:
        same = labels[rows] == labels[columns]
        rows, columns, weights = rows[same], columns[same], weights[same]
        labels = np.arange(size)
    labels, awake = labels.copy(), np.bincount(rows, minlength=size) > 0
    for turn in range(_ROUNDS):
        chosen = awake & _heads(level.keys, turn)
        edges = chosen[rows]
        node, to, gain = _gains(level, labels, resolution, rows[edges], columns[edges], weights[edges])
        best = _best(node, gain, level.keys[to])
        stay = _staying(level, labels, resolution, node, to, gain)
        leaving = best[gain[best] > stay[node[best]] + _GAIN]
        labels[node[leaving]] = to[leaving]
        awake &= ~chosen
        went = np.zeros(size, bool)
        went[node[leaving]] = True
        awake[rows[went[columns]]] = True
        if not awake.any():
            break
    return labels


def _gains(
    level: _Level, labels: Ints, resolution: float, rows: Ints, columns: NDArray[np.int32], weights: Floats
) -> tuple[Ints, Ints, Floats]:
    """Node, community next to it, and what belonging there is worth."""
    size = len(level.keys)
    pairs, places = np.unique(rows * size + labels[columns], return_inverse=True)
    node, to = pairs // size, pairs % size
    others = np.bincount(labels, level.strength, size)[to] - np.where(labels[node] == to, level.strength[node], 0.0)
    joined = np.bincount(places, weights, len(pairs))
    return node, to, joined - resolution * level.strength[node] * others / level.whole[node]


def _best(node: Ints, gain: Floats, keys: Keys) -> Ints:
    """The place of each node's greatest gain; equal ones by the community's key. `node` rises."""
    if not len(node):
        return np.zeros(0, np.int64)
    begins = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
    greatest = np.repeat(np.maximum.reduceat(gain, begins), np.diff(np.append(begins, len(node))))
    # Nearly all nodes have one such place: so there is little to sort. No number counts as the greatest.
    places = np.flatnonzero((gain == greatest) | np.isnan(gain))
    order = places[np.lexsort((keys[places], node[places]))]
    best: Ints = order[np.append(node[order][1:] != node[order][:-1], True)]
    return best


def _staying(level: _Level, labels: Ints, resolution: float, node: Ints, to: Ints, gain: Floats) -> Floats:
    """What staying is worth to each node."""
    others = np.bincount(labels, level.strength, len(labels))[labels] - level.strength
    with np.errstate(invalid="ignore", divide="ignore"):
        worth: Floats = -resolution * level.strength * others / level.whole
    own = labels[node] == to
    worth[node[own]] = gain[own]
    return worth


def _heads(keys: Keys, turn: int) -> NDArray[np.bool_]:
    """A coin a node and round, thrown by the node's own key."""
    mixed = (keys ^ np.uint64(turn * 0x9E3779B97F4A7C15 % 2**64)) * np.uint64(0xBF58476D1CE4E5B9)
    up: NDArray[np.bool_] = (mixed >> np.uint64(40)) & np.uint64(1) == 1
    return up


def _connected(links: Adjacency, labels: Ints) -> Ints:
    """Communities cut into their connected parts, numbered from 0."""
    rows = _rows(links)
    inside = labels[rows] == labels[links.indices]
    return _relabelled(_lowest(len(links), rows[inside], links.indices[inside]))


def _smaller(level: _Level, parts: Ints, count: int) -> _Level:
    rows, columns = _rows(level.links), level.links.indices
    once = rows < columns
    links = Adjacency.of_edges(
        count, parts[rows[once]], parts[columns[once]], level.links.weights[once].astype(np.float64)
    )
    keys = np.full(count, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(keys, parts, level.keys)
    strength = np.bincount(parts, level.strength, count).astype(np.float64)
    return _Level(links, strength, _of_parts(level.whole, parts, count), keys)


def _of_parts(values: NDArray[Shared], parts: Ints, count: int) -> NDArray[Shared]:
    """What all members of a part have in common."""
    shared: NDArray[Shared] = np.zeros(count, values.dtype)
    shared[parts] = values
    return shared


def _lowest(size: int, rows: Ints, columns: NDArray[np.int32]) -> Ints:
    labels = np.arange(size)
    while True:
        lowest = labels.copy()
        np.minimum.at(lowest, labels[rows], labels[columns])
        # Follow each label to the end of its chain, so that long paths take few rounds.
        while not np.array_equal(lowest, jumped := lowest[lowest]):
            lowest = jumped
        if np.array_equal(lowest[labels], labels):
            return labels
        labels = lowest[labels]


def _relabelled(labels: Ints) -> Ints:
    """The same division, numbered from 0."""
    numbered: Ints = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return numbered


def _rows(links: Adjacency) -> Ints:
    """The node that each of `indices` is a neighbour of."""
    return np.repeat(np.arange(len(links)), links.degrees)


def mixed(numbers: Keys) -> Keys:
    """Each number as another that shows nothing of it (the end of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """A community: `nodes` in rising order. `parent` is its parent's place in the list of all, -1 at the top."""

    level: int
    parent: int
    nodes: Ints
    leaf: bool


def hierarchy(links: Adjacency, ids: Keys, *, size: int, resolution: float = 1.0, seed: int = 0) -> list[Group]:
    """All communities, level by level. One of more than `size` members is split where it can be."""
    divisions = leiden(links, ids, resolution=resolution, seed=seed)
    return _groups(links, divisions, _topmost(links, divisions, size), size)


def _groups(links: Adjacency, divisions: Sequence[Ints], tops: Sequence[Ints], size: int) -> list[Group]:
    found: list[Group] = []
    here = [(-1, nodes) for nodes in tops]
    level = 0
    while here:
        below = []
        for parent, nodes in here:
            parts = _inside(links, nodes, divisions, size // _SMALLEST) if divisions and len(nodes) > size else []
            below += [(len(found), part) for part in parts]
            found.append(Group(level, parent, nodes, not parts))
        here, level = below, level + 1
    return found


def _topmost(links: Adjacency, divisions: Sequence[Ints], size: int) -> list[Ints]:
    """Level 0. A connected part that is small enough is one community; a larger one is what Leiden made of it."""
    found = []
    for nodes in _split(np.arange(len(links)), connected(links)):
        if 1 < len(nodes) <= size:
            found.append(nodes)
        elif len(nodes) > size:
            found += _split(nodes, divisions[-1][nodes])
    return found


def _inside(links: Adjacency, nodes: Ints, divisions: Sequence[Ints], minimum: int) -> list[Ints]:
    """The communities inside one: of the coarsest division that leaves no part more than half of it, else the finest.
    Parts of fewer than `minimum` members say little by themselves; they go to the neighbour they are joined to most.
    """
    for division in reversed(divisions):
        labels = division[nodes]
        if 2 * int(np.bincount(labels - labels.min()).max()) <= len(nodes):
            break
    parts = _split(nodes, _joined(links, nodes, labels, minimum))
    return parts if len(parts) > 1 else []


def _joined(links: Adjacency, nodes: Ints, labels: Ints, minimum: int) -> Ints:
    _, labels = np.unique(labels, return_inverse=True)
    sizes = np.bincount(labels)
    count = len(sizes)
    if count == 1 or not (sizes < minimum).any():
        return labels
    rows, targets, weights = links.edges(nodes)
    columns = np.searchsorted(nodes, targets).clip(max=len(nodes) - 1)
    inside = nodes[columns] == targets
    rows, columns, weights = rows[inside], columns[inside], weights[inside]
    chosen = (sizes[labels[rows]] < minimum) & (sizes[labels[columns]] >= minimum)
    pairs, places = np.unique(labels[rows[chosen]] * count + labels[columns[chosen]], return_inverse=True)
    heavy = np.bincount(places, weights[chosen], len(pairs))
    target = np.arange(count)
    order = np.lexsort((-pairs, heavy))  # the heaviest last, so that it is what stays
    target[pairs[order] // count] = pairs[order] % count
    return target[labels]


def _split(nodes: Ints, labels: Ints) -> list[Ints]:
    """Nodes by label, in rising order; the groups by their first node. None where there is no node."""
    if not len(nodes):
        return []
    order = np.argsort(labels, kind="stable")
    borders = np.flatnonzero(np.diff(labels[order])) + 1
    return sorted((nodes[part] for part in np.split(order, borders)), key=lambda group: int(group[0]))
