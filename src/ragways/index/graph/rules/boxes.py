"""Facts of infoboxes and table rows."""

from __future__ import annotations

import re

from ragways.index.graph.facts import Entity, Facts, Relation, predicate_of

_SPLIT = re.compile(r"\s*(?:\n|;|•|<br ?/?>|, (?=[^\W\d_]))\s*")
_SKIPPED = frozenset({"image", "caption", "logo", "map", "width", "size", "alt", "coordinates", "signature", "website"})
_BAR = " | "


def box_facts(title: str, fields: tuple[tuple[str, str], ...]) -> Facts:
    """A fact a value: the key is the predicate, and the value an entity where it is short enough to be a name."""
    entities, relations = [], []
    for key, value in fields:
        predicate = predicate_of(key)
        if predicate in _SKIPPED:
            continue
        for part in _SPLIT.split(value)[:10]:
            name = part.strip(" ,.")
            if name and len(name) <= 80:
                entities.append(Entity(name))
                relations.append(Relation(title, predicate, name, f"{key}: {value}", by="infobox"))
    return Facts(tuple(entities), tuple(relations))


def row_facts(title: str, text: str) -> Facts:
    """Rows of a table: the first cell is what the row is about, the header's cells are the predicates."""
    entities, relations = [], []
    header: list[str] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split(_BAR)] if _BAR in line else []
        if len(cells) < 2:
            header = []
            continue
        if not header:
            header = cells
            continue
        head = cells[0]
        if not head or len(head) > 80:
            continue
        entities.append(Entity(head))
        relations.append(Relation(title, "has_row", head, line, 0.5, by="table"))
        for key, value in zip(header[1:], cells[1:], strict=False):
            if value and len(value) <= 80:
                entities.append(Entity(value))
                relations.append(Relation(head, predicate_of(key), value, line, by="table"))
    return Facts(tuple(entities), tuple(relations))
