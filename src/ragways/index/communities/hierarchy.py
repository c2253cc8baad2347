"""The communities of a graph: who belongs together, what joins them, their reports, and what a model is shown."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragways.core.plain import from_plain
from ragways.core.types import content_hash
from ragways.index.communities.partition import Group, edges_among, hierarchy
from ragways.index.graph.data import EntityRow, GraphData, RelationRow
from ragways.index.graph.facts import UNSTATED
from ragways.index.graph.names import coarse
from ragways.index.pagerank import Adjacency
from ragways.index.settings import CommunitySettings
from ragways.index.store import Store
from ragways.models.tokens import count_each

_EMBEDDED = 800  # characters: embedders read a few hundred tokens


@dataclass(frozen=True, slots=True)
class CommunityFinding:
    """Something that holds in a community: how much it matters, from 0 to 10, and the ids of entities it rests on."""

    text: str
    rating: float
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """`rating`, from 0 to 10, is how much the community matters; findings are sorted by theirs."""

    title: str
    summary: str
    rating: float
    findings: tuple[CommunityFinding, ...] = ()

    @property
    def text(self) -> str:
        """What is read of it as evidence: a line for the summary and for each finding."""
        return "\n".join(line for line in (self.summary, *(finding.text for finding in self.findings)) if line)

    @property
    def embedded(self) -> str:
        """What is embedded of it."""
        return f"{self.title}: {' '.join(self.text.splitlines())}"[:_EMBEDDED]

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> CommunityReport:
        return from_plain(cls, json.loads(text))


CENTRAL = 8
"""Entities that stand for a community."""


@dataclass(frozen=True)
class CommunityGraph:
    """A graph with its communities. Nodes are places in `data.entities`."""

    data: GraphData
    links: Adjacency
    groups: tuple[Group, ...]
    text: NDArray[np.float64]
    """Tokens of the corpus that stand behind each entity: a chunk's are shared out among those it names."""
    plain: NDArray[np.bool_]
    """Dates and quantities join nothing: a year would join all that happened in it."""

    @cached_property
    def ids(self) -> list[str]:
        return [node.id for node in self.data.entities]

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
        for number, edge in enumerate(self.data.relations):
            found[self.places[edge.subject]].append(number)
            found[self.places[edge.object]].append(number)
        return found

    def text_behind(self, group: Group) -> float:
        return float(self.text[list(group.members)].sum())

    def ranked(self, group: Group) -> list[tuple[EntityRow, float]]:
        """Members with the weight that joins each to the others: the most central first."""
        nodes = np.array(group.members, np.int64)
        rows, _, weights = edges_among(self.links, nodes)
        strength = np.bincount(rows, weights, len(nodes)).tolist()
        entities = self.data.entities
        found = [(entities[node], float(s)) for node, s in zip(group.members, strength, strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], -pair[0].count, pair[0].id))

    def relations(self, group: Group, strength: dict[str, float]) -> list[RelationRow]:
        """Relations inside a community, and of its members to dates and quantities: the strongest first."""
        members, relations = set(group.members), self.data.relations
        numbers = {number for node in group.members for number in self._touching[node]}
        inside = [edge for edge in (relations[n] for n in numbers) if self._belongs(edge, members)]

        def weight(edge: RelationRow) -> float:
            return edge.weight * (strength.get(edge.subject, 0.0) + strength.get(edge.object, 0.0))

        return sorted(inside, key=lambda edge: (-weight(edge), edge.id))

    def _belongs(self, edge: RelationRow, members: set[int]) -> bool:
        return all(
            node in members or not self.plain[node] for node in (self.places[edge.subject], self.places[edge.object])
        )


def community_graph(data: GraphData, store: Store, settings: CommunitySettings) -> CommunityGraph:
    plain = np.array([coarse(node.type) not in ("date", "quantity") for node in data.entities], bool)
    places = {node.id: place for place, node in enumerate(data.entities)}
    links = _links(data.relations, places, plain)
    groups = hierarchy(links, list(places), size=settings.size, resolution=settings.resolution, seed=settings.seed)
    return CommunityGraph(data, links, tuple(groups), _text(data, store, places, plain), plain)


def _links(edges: Sequence[RelationRow], places: dict[str, int], plain: NDArray[np.bool_]) -> Adjacency:
    ends = np.array([(places[edge.subject], places[edge.object]) for edge in edges], np.int64).reshape(-1, 2)
    weights = np.fromiter((edge.weight for edge in edges), np.float64, len(edges))
    kept = plain[ends[:, 0]] & plain[ends[:, 1]] if len(edges) else np.zeros(0, bool)
    return Adjacency.of_edges(len(places), ends[kept, 0], ends[kept, 1], weights[kept])


def _text(data: GraphData, store: Store, places: dict[str, int], plain: NDArray[np.bool_]) -> NDArray[np.float64]:
    rows = store.db.execute("SELECT document, path, tokens FROM chunks")
    tokens = {f"article:{number}:{path}": count for number, path, count in rows}
    named = [mention for mention in data.mentions if plain[places[mention.entity]]]
    shared = Counter(mention.chunk for mention in named)
    text = np.zeros(len(places))
    for mention in named:
        text[places[mention.entity]] += tokens.get(mention.chunk, 0) / shared[mention.chunk]
    return text


_ENTITY, _RELATION, _REPORT = 240, 320, 600  # characters of one line
_MINIMUM = 200  # tokens: below this a report would rest on nothing
_LINE = 12  # tokens; fewer does a line seldom have, so no more lines are looked at than could fit


@dataclass(frozen=True, slots=True)
class ReportInput:
    """`entities`, `relations` and `reports` as they are shown; `hash` names all of it."""

    entities: str
    relations: str
    reports: str

    @property
    def hash(self) -> str:
        return content_hash(self.entities, self.relations, self.reports)


def report_input(graph: CommunityGraph, group: Group, below: Mapping[str, CommunityReport], tokens: int) -> ReportInput:
    """In no more tokens than the text behind it has: so a level costs at most what the corpus does, and its prompts.

    A leaf is shown by its entities and relations, a community of communities by the reports below it first.
    """
    ranked = graph.ranked(group)
    strength = {node.id: weight for node, weight in ranked}
    budget = min(tokens, max(_MINIMUM, round(graph.text_behind(group))))
    known = sorted((below[child] for child in group.children if child in below), key=lambda r: (-r.rating, r.title))
    reports, used_by_reports = _packed((_report_line(report) for report in known), 2 * budget // 3)
    budget -= used_by_reports
    entities, used = _packed((_entity_line(node) for node, _ in ranked), budget // 3)
    relations, _ = _packed(_relation_lines(graph, graph.relations(group, strength)), budget - used)
    return ReportInput("\n".join(entities), "\n".join(relations), "\n".join(reports))


def _packed(lines: Iterator[str], tokens: int) -> tuple[list[str], int]:
    """The first lines that fit, and what they cost."""
    shown = [line for line, _ in zip(lines, range(max(1, tokens // _LINE)), strict=False)]
    kept, used = [], 0
    for line, cost in zip(shown, count_each(shown), strict=True):
        if used + cost + 1 > tokens:
            break
        kept.append(line)
        used += cost + 1  # and its line break
    return kept, used


def _entity_line(node: EntityRow) -> str:
    kind = f" ({node.type})" if node.type else ""
    said = f": {node.description}" if node.description else ""
    return _line(f"{node.name}{kind}{said}", _ENTITY)


def _relation_lines(graph: CommunityGraph, relations: Sequence[RelationRow]) -> Iterator[str]:
    """A sentence that states several relations is shown once; what stands in one with no more to say is left out."""
    entities, places = graph.data.entities, graph.places
    seen: set[str] = set()
    for edge in relations:
        subject, object = entities[places[edge.subject]].name, entities[places[edge.object]].name
        date = f" ({edge.date})" if edge.date else ""
        if edge.description in seen and edge.predicate in UNSTATED:
            continue
        said = f": {edge.description}" if edge.description and edge.description not in seen else ""
        seen.add(edge.description)
        yield _line(f"{subject} — {edge.predicate.replace('_', ' ')} — {object}{date}{said}", _RELATION)


def _report_line(report: CommunityReport) -> str:
    findings = " ".join(finding.text for finding in report.findings[:2])
    return _line(f"{report.title}: {report.summary} {findings}", _REPORT)


def _line(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
