"""The graph as communities are made of it: who belongs together, what joins them and how much text stands behind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragways.index.communities.options import CommunityOptions
from ragways.index.communities.partition import Group, edges_among, hierarchy
from ragways.index.graph.draft import Draft, Edge, Node
from ragways.index.graph.kinds import coarse
from ragways.index.pagerank import Links
from ragways.index.store import Store

CENTRAL = 8
"""Entities that stand for a community."""


@dataclass(frozen=True)
class Landscape:
    """A draft of the graph with its communities. Nodes are places in `draft.entities`."""

    draft: Draft
    links: Links
    groups: tuple[Group, ...]
    text: NDArray[np.float64]
    """Tokens of the corpus that stand behind each entity: a chunk's are shared out among those it names."""
    plain: NDArray[np.bool_]
    """Dates and quantities join nothing: a year would join all that happened in it."""

    @cached_property
    def ids(self) -> list[str]:
        return [node.id for node in self.draft.entities]

    @cached_property
    def places(self) -> dict[str, int]:
        return {id: place for place, id in enumerate(self.ids)}

    @cached_property
    def by_id(self) -> dict[str, Group]:
        return {group.id: group for group in self.groups}

    @cached_property
    def stages(self) -> list[list[Group]]:
        """Groups by how much lies under them: leaves first, so that a report can rest on those below it."""
        height: dict[str, int] = {}
        stages: dict[int, list[Group]] = defaultdict(list)
        for group in reversed(self.groups):  # children stand behind their parents
            height[group.id] = 1 + max((height[child] for child in group.children), default=-1)
            stages[height[group.id]].append(group)
        return [sorted(stages[n], key=lambda group: group.id) for n in sorted(stages)]

    @cached_property
    def _touching(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.ids]
        for number, edge in enumerate(self.draft.relations):
            found[self.places[edge.subject]].append(number)
            found[self.places[edge.object]].append(number)
        return found

    def text_behind(self, group: Group) -> float:
        return float(self.text[list(group.members)].sum())

    def ranked(self, group: Group) -> list[tuple[Node, float]]:
        """Members with the weight that joins each to the others: the most central first."""
        nodes = np.array(group.members, np.int64)
        rows, _, weights = edges_among(self.links, nodes)
        strength = np.bincount(rows, weights, len(nodes)).tolist()
        entities = self.draft.entities
        found = [(entities[node], float(s)) for node, s in zip(group.members, strength, strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], -pair[0].count, pair[0].id))

    def relations(self, group: Group, strength: dict[str, float]) -> list[Edge]:
        """Relations inside a community, and of its members to dates and quantities: the strongest first."""
        members, relations = set(group.members), self.draft.relations
        numbers = {number for node in group.members for number in self._touching[node]}
        inside = [edge for edge in (relations[n] for n in numbers) if self._belongs(edge, members)]

        def weight(edge: Edge) -> float:
            return edge.weight * (strength.get(edge.subject, 0.0) + strength.get(edge.object, 0.0))

        return sorted(inside, key=lambda edge: (-weight(edge), edge.id))

    def _belongs(self, edge: Edge, members: set[int]) -> bool:
        return all(
            node in members or not self.plain[node] for node in (self.places[edge.subject], self.places[edge.object])
        )


def landscape(draft: Draft, store: Store, options: CommunityOptions) -> Landscape:
    plain = np.array([coarse(node.type) not in ("date", "quantity") for node in draft.entities], bool)
    places = {node.id: place for place, node in enumerate(draft.entities)}
    links = _links(draft.relations, places, plain)
    groups = hierarchy(links, list(places), size=options.size, resolution=options.resolution, seed=options.seed)
    return Landscape(draft, links, tuple(groups), _text(draft, store, places, plain), plain)


def _links(edges: Sequence[Edge], places: dict[str, int], plain: NDArray[np.bool_]) -> Links:
    ends = np.array([(places[edge.subject], places[edge.object]) for edge in edges], np.int64).reshape(-1, 2)
    weights = np.fromiter((edge.weight for edge in edges), np.float64, len(edges))
    kept = plain[ends[:, 0]] & plain[ends[:, 1]] if len(edges) else np.zeros(0, bool)
    return Links.of_edges(len(places), ends[kept, 0], ends[kept, 1], weights[kept])


def _text(draft: Draft, store: Store, places: dict[str, int], plain: NDArray[np.bool_]) -> NDArray[np.float64]:
    rows = store.db.execute("SELECT document, path, tokens FROM chunks")
    tokens = {f"article:{number}:{path}": count for number, path, count in rows}
    named = [mention for mention in draft.mentions if plain[places[mention.entity]]]
    shared = Counter(mention.chunk for mention in named)
    text = np.zeros(len(places))
    for mention in named:
        text[places[mention.entity]] += tokens.get(mention.chunk, 0) / shared[mention.chunk]
    return text
