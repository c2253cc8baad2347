"""What a model is shown of a community: packed to a budget, and the name of what was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragways.core.types import content_hash
from ragways.index.communities.landscape import Landscape
from ragways.index.communities.partition import Group
from ragways.index.communities.report import Report
from ragways.index.graph.draft import Edge, Node
from ragways.models.tokens import count_each

_ENTITY, _RELATION, _REPORT = 240, 320, 600  # characters of one line
_LEAST = 200  # tokens: below this a report would rest on nothing
_LINE = 12  # tokens; fewer does a line seldom have, so no more lines are looked at than could fit


@dataclass(frozen=True, slots=True)
class Content:
    """`entities`, `relations` and `reports` as they are shown; `hash` names all of it."""

    entities: str
    relations: str
    reports: str

    @property
    def hash(self) -> str:
        return content_hash(self.entities, self.relations, self.reports)


def content(land: Landscape, group: Group, below: Mapping[str, Report], tokens: int) -> Content:
    """In no more tokens than the text behind it has: so a level costs at most what the corpus does, and its prompts.

    A leaf is shown by its entities and relations, a community of communities by the reports below it first.
    """
    ranked = land.ranked(group)
    strength = {node.id: weight for node, weight in ranked}
    budget = min(tokens, max(_LEAST, round(land.text_behind(group))))
    known = sorted((below[child] for child in group.children if child in below), key=lambda r: (-r.rating, r.title))
    reports, traced = _packed((_report_line(report) for report in known), 2 * budget // 3)
    budget -= traced
    entities, used = _packed((_entity_line(node) for node, _ in ranked), budget // 3)
    relations, _ = _packed(_relation_lines(land, land.relations(group, strength)), budget - used)
    return Content("\n".join(entities), "\n".join(relations), "\n".join(reports))


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


def _entity_line(node: Node) -> str:
    kind = f" ({node.type})" if node.type else ""
    said = f": {node.description}" if node.description else ""
    return _line(f"{node.name}{kind}{said}", _ENTITY)


def _relation_lines(land: Landscape, relations: Sequence[Edge]) -> Iterator[str]:
    """A sentence that states several relations is shown once; what stands in one with no more to say is left out."""
    entities, places = land.draft.entities, land.places
    seen: set[str] = set()
    for edge in relations:
        subject, object = entities[places[edge.subject]].name, entities[places[edge.object]].name
        date = f" ({edge.date})" if edge.date else ""
        if edge.description in seen and edge.predicate == "related_to":
            continue
        said = f": {edge.description}" if edge.description and edge.description not in seen else ""
        seen.add(edge.description)
        yield _line(f"{subject} — {edge.predicate.replace('_', ' ')} — {object}{date}{said}", _RELATION)


def _report_line(report: Report) -> str:
    findings = " ".join(finding.text for finding in report.findings[:2])
    return _line(f"{report.title}: {report.summary} {findings}", _REPORT)


def _line(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
