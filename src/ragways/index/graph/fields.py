"""What infoboxes and tables say: facts that are written as such, a field or a cell each."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ragways.core import dates
from ragways.index.graph.facts import LONGEST_TEXT, Entity, PassageFacts, Relation, predicate_of
from ragways.index.graph.kinds import kind_of_field

_SPLIT = re.compile(r"\s*(?:\n|;|•|<br ?/?>|, (?=[^\W\d_]))\s*")
_SKIPPED = frozenset({"image", "caption", "logo", "map", "width", "size", "alt", "coordinates", "signature", "website"})
_BAR = " | "
_SHORTEST_FIELD = 3
"""Letters of a column's head that may say something."""
_LONGEST_VALUE = 80
"""Characters of a value or a cell that may be a name."""


def box_facts(title: str, fields: tuple[tuple[str, str], ...], anchors: Collection[str] = ()) -> PassageFacts:
    """A fact a value: the key is the predicate, and the value an entity where it is short enough to be a name."""
    entities, relations = [], []
    for key, value in fields:
        predicate = predicate_of(key)
        if predicate in _SKIPPED:
            continue
        parts = (name for part in _SPLIT.split(value)[:10] for name in _apart_by_links(part.strip(" ,.|"), anchors))
        for name in parts:
            if _is_value(name, anchors):
                entities.append(_value(name, predicate))
                relations.append(Relation(title, predicate, name, f"{key}: {value[:LONGEST_TEXT]}", by="infobox"))
    return PassageFacts(tuple(entities), tuple(relations))


def _value(name: str, field: str) -> Entity:
    """The value of a field or a cell: a date, a quantity where it has no letters, else something with a name."""
    if not any(map(str.isalpha, name)):
        return Entity(name, "date" if _date(name) else "quantity")
    return Entity(name, guess=kind_of_field(field))


def _date(cell: str) -> str:
    """A cell that is a date, as dates are written; a bare number only where it is a year of four digits."""
    date = dates.parse(cell)
    return date.iso if date is not None and (date.month or len(cell) == len("1868")) else ""


def _is_value(text: str, anchors: Collection[str]) -> bool:
    """Whether a value has a name or is a number: `solid` and `see below` are neither."""
    named = not text[:1].islower() and any(map(str.isalnum, text))
    return len(text) <= _LONGEST_VALUE and (named or text in anchors)


def _apart_by_links(value: str, anchors: Collection[str]) -> list[str]:
    """`Paul Sylbert Edwin O'Donovan`, where both are links: lines of a cell that ran together are taken apart."""
    words = value.split(" ") if len(value) <= _LONGEST_VALUE else []
    found, begin = [], 0
    while begin < len(words):
        ends = range(len(words), begin, -1)
        end = next((end for end in ends if " ".join(words[begin:end]).strip(",") in anchors), 0)
        if not end:
            return [value]
        found.append(" ".join(words[begin:end]).strip(","))
        begin = end
    return found or [value]


def row_facts(
    title: str, text: str, anchors: Collection[str] = (), header: Sequence[str] = ()
) -> tuple[PassageFacts, Sequence[str]]:
    """Rows of a table: the first cell with a name is what the row is about, the header's cells are the predicates.

    `header` is that of a table that goes on from the passage before; that of the last table comes back.
    """
    entities, relations = [], []
    for line in text.strip().split("\n"):
        cells = [cell.strip() for cell in line.split(_BAR)] if _BAR in line else []
        if len(cells) < 2 or not header:
            header = cells if len(cells) > 1 else ()
            continue
        # A number in front of a name is its place in a list; a date alone dates what the row says of the article.
        at = next((i for i, cell in enumerate(cells[:2]) if any(map(str.isalpha, cell))), 0)
        head, date = cells[at], ""
        if not head or len(head) > _LONGEST_VALUE:
            continue
        if any(map(str.isalpha, head)):
            entities.append(_value(head, ""))
            relations.append(Relation(title, "has_row", head, line, 0.5, by="table"))
        else:
            head, date = title, _date(head)
        for key, value in zip(header[at + 1 :], cells[at + 1 :], strict=False):
            predicate = predicate_of(key)
            if len(predicate) < _SHORTEST_FIELD or predicate[0].isdigit():
                continue
            for name in (part for part in _apart_by_links(value, anchors) if _is_value(part, anchors)):
                entities.append(_value(name, predicate))
                relations.append(Relation(head, predicate, name, line, 1.0, date, by="table"))
    return PassageFacts(tuple(entities), tuple(relations)), header
