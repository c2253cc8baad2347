"""Which community each entity belongs to: found anew by Leiden, or brought up to date with the graph.

Brought up to date, a new entity joins the community that most of the weight of its relations leads to, and one that is
gone leaves. `CommunityTree.change_since` says how many did; when that is a tenth of the entities, communities are found
anew. Communities are numbered by their places, entities by their ids, so neither order nor history decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.layers.communities.partition import Ints, Keys, hierarchy, mixed
from ragways.layers.files import load_array, save_array
from ragways.layers.graph.csr import CODES, WIDE, GraphArrays, whole_sums
from ragways.layers.graph.walk import MILLION, Adjacency
from ragways.layers.settings import CommunitySettings

_NODES, _MEMBERS = "communities.npy", "members.npy"
NODE = np.dtype([("id", "<u8"), ("parent", "<i4"), ("level", "<i4"), ("size", "<i4"), ("leaf", "?")])
"""A community; `parent` is the place of the one around it, -1 at level 0."""
MEMBER = np.dtype([("entity", "<u8"), ("leaf", "<i4"), ("count", "<i4"), ("new", "?")])
"""An entity: the place of the smallest community that it is in, how often documents name it, and whether it came after
all communities were found.
"""


def community_id(number: int) -> str:
    return f"community:{number:016x}"


def entity_id(number: int) -> str:
    return f"entity:{number:016x}"


@dataclass(frozen=True)
class JoinedEntities:
    """The entities of a graph that relations join to others, in the order of their ids, and these relations.

    Dates and quantities join nothing: a year would join all that happened in it.
    """

    arrays: GraphArrays
    places: Ints
    """Of each entity, its number in the graph."""
    ids: Keys
    left: Ints
    """Of each relation, the place of its subject here; `right` is that of its object."""
    right: Ints
    weights: Ints
    """In millionths: whole numbers, so that sums are the same in any order."""
    relations: Ints
    """Of each relation, its number in the graph."""

    @classmethod
    def of(cls, arrays: GraphArrays) -> JoinedEntities:
        joins = (arrays.kinds != CODES["date"]) & (arrays.kinds != CODES["quantity"])
        subjects, objects = np.asarray(arrays.subjects), np.asarray(arrays.objects)
        apart = (subjects != objects) & (arrays.weights > 0) & joins[subjects] & joins[objects]
        relations = np.flatnonzero(apart)
        subjects, objects = subjects[relations], objects[relations]
        there = np.zeros(len(arrays), np.bool_)
        there[subjects] = there[objects] = True
        place = np.cumsum(there) - 1
        places = np.flatnonzero(there)
        codes = arrays.codes[places]
        # As in `GraphArrays.ids`: the hash of the name, and the kind in its last digit.
        ids = arrays.names[codes // WIDE] >> np.uint64(4) << np.uint64(4) | (codes % WIDE).astype(np.uint64)
        return cls(arrays, places, ids, place[subjects], place[objects], arrays.weights[relations], relations)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def strengths(self) -> Ints:
        """The weight of all relations of each entity."""
        size = len(self)
        return whole_sums(self.left, self.weights, size) + whole_sums(self.right, self.weights, size)

    @property
    def counts(self) -> Ints:
        """How often each entity is named."""
        return self.arrays.counts[self.places]

    def named_in(self, documents: frozenset[int]) -> NDArray[np.bool_]:
        """Which entities these documents name."""
        arrays, seen = self.arrays, np.zeros(len(self.arrays), np.bool_)
        for place in (arrays.document(number) for number in documents):
            if place >= 0:
                chunks = arrays.first_chunk[place : place + 2]
                begin, end = arrays.named_begins[chunks].tolist()
                seen[arrays.named_entities[begin:end]] = True
        return seen[self.places]

    def whole_in(self, documents: frozenset[int]) -> Keys:
        """Ids of the entities that no other document names."""
        arrays = self.arrays
        others = np.array([number not in documents for number in arrays.documents.tolist()], np.bool_)
        entities = arrays.named_entities[np.repeat(np.repeat(others, np.diff(arrays.first_chunk)), _rows(arrays))]
        partly = np.zeros(len(arrays), np.bool_)
        partly[entities] = True
        return self.ids[~partly[self.places]]


def _rows(arrays: GraphArrays) -> Ints:
    """How many entities each chunk names."""
    return np.diff(arrays.named_begins)


def joined_in(view: Path) -> JoinedEntities:
    """The joined entities of the graph whose view stands beside this one."""
    return JoinedEntities.of(GraphArrays.load(view.parent / "graph"))


class CommunityAge(NamedTuple):
    """How old communities are: how many entities they were found with, and how many are new or gone since."""

    found: int
    new: int
    gone: int

    @property
    def share(self) -> float:
        """New and gone ones for each that they were found with."""
        return (self.new + self.gone) / max(1, self.found)


@dataclass(frozen=True, eq=False)
class CommunityTree:
    """All communities, each behind the one around it, and their members by id."""

    nodes: NDArray[Any]
    members: NDArray[Any]

    @classmethod
    def load(cls, view: Path) -> CommunityTree:
        return cls(load_array(view / _NODES), load_array(view / _MEMBERS))

    def save(self, view: Path) -> None:
        save_array(view / _NODES, self.nodes)
        save_array(view / _MEMBERS, self.members)

    @cached_property
    def ids(self) -> list[str]:
        """The id of each community, by place."""
        return [community_id(number) for number in self.nodes["id"].tolist()]

    @cached_property
    def place_of(self) -> dict[str, int]:
        return {id: place for place, id in enumerate(self.ids)}

    def levels(self) -> list[int]:
        """From the coarse to the fine."""
        return sorted(set(self.nodes["level"].tolist()))

    def of_level(self, level: int) -> Ints:
        """The communities of a level and those above it that are not split."""
        nodes = self.nodes
        return np.flatnonzero((nodes["level"] == level) | ((nodes["level"] < level) & nodes["leaf"]))

    def chain(self, place: int) -> list[int]:
        """A community and all around it."""
        found = []
        while place >= 0:
            found.append(place)
            place = int(self.nodes["parent"][place])
        return found

    def around(self, places: Ints) -> Ints:
        """These communities and all around them."""
        found = np.zeros(len(self.nodes), np.bool_)
        while len(places):
            found[places] = True
            parents = self.nodes["parent"][places]
            places = np.unique(parents[parents >= 0])
        return np.flatnonzero(found)

    def labels(self, level: int) -> Ints:
        """Of each member its community at this level, -1 where it is in none so far down."""
        label = self.members["leaf"].astype(np.int64)
        while len(deeper := np.flatnonzero((label >= 0) & (self.nodes["level"][label] > level))):
            label[deeper] = self.nodes["parent"][label[deeper]]
        return np.where(self.nodes["level"][label] == level, label, -1) if len(self.nodes) else label

    def inside(self, place: int) -> Ints:
        """The places of the members of a community, in order."""
        order, begins = self._by_community
        return np.sort(order[begins[place] : begins[place] + int(self.nodes["size"][place])])

    def entities(self, place: int) -> Keys:
        """The numbers of the ids of the members of a community, in order."""
        found: Keys = self.members["entity"][self.inside(place)]
        return found

    def places(self, entities: Keys) -> Ints:
        """The places of those of these entities that are members."""
        there = self.members["entity"]
        at = np.searchsorted(there, entities)
        found: Ints = at[np.append(there, np.uint64(0))[at] == entities]
        return found

    @cached_property
    def _by_community(self) -> tuple[Ints, list[int]]:
        """Members in such an order that those of each community stand together, and where they begin."""
        begins: list[int] = []
        free = [0] * (len(self.nodes) + 1)  # for the next one inside each; the last for those at the top
        for parent, size in zip(self.nodes["parent"].tolist(), self.nodes["size"].tolist(), strict=True):
            free[len(begins)] = free[parent]
            begins.append(free[parent])
            free[parent] += size
        return np.argsort(np.array([*begins, 0])[self.members["leaf"]], kind="stable"), begins

    def change_since(self, found: int, joined: JoinedEntities | None = None) -> CommunityAge:
        """How many entities are new or gone since communities were found with so many, now or in another graph."""
        members = self.members
        if joined is None:
            new = int(members["new"].sum())
            return CommunityAge(found, new, found - (len(members) - new))
        first = members["entity"][~members["new"]]
        stayed = int(np.isin(first, joined.ids, assume_unique=True).sum())
        return CommunityAge(found, len(joined) - stayed, found - stayed)


def find(joined: JoinedEntities, settings: CommunitySettings) -> CommunityTree:
    """All communities of a graph, found anew."""
    members = np.zeros(len(joined), MEMBER)
    members["entity"], members["count"] = joined.ids, joined.counts
    nodes, members["leaf"] = _found_among(np.arange(len(joined)), joined, settings, 0)
    return CommunityTree(nodes, members)


def brought_up(tree: CommunityTree, joined: JoinedEntities, settings: CommunitySettings) -> CommunityTree:
    """The communities with those entities that are there now."""
    before = tree.members
    members = np.zeros(len(joined), MEMBER)
    members["entity"], members["count"], members["leaf"], members["new"] = joined.ids, joined.counts, -1, True
    _, old, now = np.intersect1d(before["entity"], joined.ids, assume_unique=True, return_indices=True)
    members["leaf"][now], members["new"][now] = before["leaf"][old], before["new"][old]
    leaf = _with_neighbours(members["leaf"].astype(np.int64), joined, tree.nodes["id"])
    nodes = tree.nodes
    rest = np.flatnonzero(leaf < 0)
    if len(rest):  # parts of the graph that are new altogether
        added, its = _found_among(rest, joined, settings, len(nodes))
        leaf[rest] = its
        nodes = np.concatenate([nodes, added])
    members["leaf"] = leaf
    return _without_empty(nodes, members)


def _with_neighbours(leaf: Ints, joined: JoinedEntities, ids: Keys) -> Ints:
    """Entities without a community put into that to which they are joined by most; of equals into that with the
    smaller id. In rounds, as some are joined to nothing but new ones.
    """
    new = leaf < 0
    edges = np.flatnonzero(new[joined.left] | new[joined.right])
    one = np.concatenate([joined.left[edges], joined.right[edges]])
    other = np.concatenate([joined.right[edges], joined.left[edges]])
    weights = np.tile(joined.weights[edges], 2)
    while len(able := np.flatnonzero((leaf[one] < 0) & (leaf[other] >= 0))):
        pairs, which = np.unique(one[able] * len(ids) + leaf[other[able]], return_inverse=True)
        entity, community = np.divmod(pairs, len(ids))
        order = np.lexsort((ids[community], -whole_sums(which, weights[able], len(pairs)), entity))
        entity, community = entity[order], community[order]
        best = np.append(True, entity[1:] != entity[:-1])
        leaf[entity[best]] = community[best]
    return leaf


def _found_among(
    places: Ints, joined: JoinedEntities, settings: CommunitySettings, first: int
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Communities, from place `first` on, of entities that only relations among themselves join; and the place of the
    smallest that each is in.
    """
    place, ids = np.full(len(joined), -1), joined.ids[places]
    place[places] = np.arange(len(places))
    edges = np.flatnonzero(place[joined.left] >= 0)
    left, right = place[joined.left[edges]], place[joined.right[edges]]
    links = Adjacency.of_edges(len(places), left, right, joined.weights[edges] / MILLION)
    groups = hierarchy(links, ids, size=settings.size, resolution=settings.resolution, seed=settings.seed)
    nodes, leaf, marks = np.zeros(len(groups), NODE), np.zeros(len(places), np.int32), mixed(ids)
    for n, group in enumerate(groups):
        size = len(group.nodes)
        # The same members, the same id: the sum does not depend on their order.
        id = mixed(np.array([marks[group.nodes].sum()]) + np.uint64(size))[0]
        nodes[n] = id, group.parent + first if group.parent >= 0 else -1, group.level, size, group.leaf
        if group.leaf:
            leaf[group.nodes] = first + n
    return nodes, leaf


def _without_empty(nodes: NDArray[Any], members: NDArray[Any]) -> CommunityTree:
    """The sizes as they are, and no community that has lost all members."""
    sizes = np.bincount(members["leaf"], minlength=len(nodes))
    for level in range(int(nodes["level"].max(initial=0)), 0, -1):
        here = np.flatnonzero(nodes["level"] == level)
        np.add.at(sizes, nodes["parent"][here], sizes[here])
    left = sizes > 0
    place = np.append(np.cumsum(left) - 1, -1)  # -1 stays -1
    nodes = nodes.copy()
    nodes["size"] = sizes
    nodes["parent"] = place[nodes["parent"]]
    members["leaf"] = place[members["leaf"]]
    return CommunityTree(nodes[left], members)
