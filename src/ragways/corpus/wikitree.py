"""Wikitext as a tree of templates, links and tables. One pass, no recursion, depth bounded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

MAX_DEPTH = 40
"""Openers below this are text. MediaWiki stops at 40 as well (its expansion depth)."""

_TOKEN = re.compile(
    r"\{\{|\}\}|\[\[(?!\[)|(?<!\])\]\]\](?!\])|\]\]|^[ \t:*#]*\{\|(?!\})|^[ \t]*\|\}(?!\})", re.MULTILINE
)
_PARAMETER = re.compile(r"\{\{\{[^{}|]*(?:\|([^{}]*))?\}\}\}")

Kind = Literal["template", "link", "table"]
_OPENERS: dict[str, Kind] = {"{{": "template", "[[": "link"}
_CLOSERS: dict[str, Kind] = {"}}": "template", "]]": "link"}


@dataclass(slots=True)
class Node:
    kind: Kind
    opener: str
    items: list[Item] = field(default_factory=list)


Item = str | Node


class _Parser:
    def __init__(self) -> None:
        self.items: list[Item] = []
        self.open: list[Node] = []

    def add(self, item: Item) -> None:
        (self.open[-1].items if self.open else self.items).append(item)

    def begin(self, kind: Kind, opener: str) -> None:
        if len(self.open) < MAX_DEPTH:
            self.open.append(Node(kind, opener))
        else:
            self.add(opener)

    def end(self, kind: Kind, closer: str) -> None:
        """Close the nearest open node of the kind; what was left open inside it becomes text."""
        for index in range(len(self.open) - 1, -1, -1):
            if self.open[index].kind == kind:
                while len(self.open) > index + 1:
                    self.give_up()
                self.add_closed()
                return
            if kind == "link" and self.open[index].kind == "table":
                break  # a stray ]] in a cell says nothing about what stands before the table
        self.add(closer)

    def add_closed(self) -> None:
        node = self.open.pop()
        self.add(node)

    def give_up(self) -> None:
        """The innermost open node never ends: its opener is text and its items belong to its parent."""
        node = self.open.pop()
        if node.kind == "table":
            node.items, rest = _up_to_heading(node.items)
            self.add(node)
        else:
            self.add(node.opener)
            rest = node.items
        for item in rest:
            self.add(item)

    def triple(self) -> None:
        """`]]]` ends an outer link after an outside link's `]`, or a link that stands in brackets."""
        last = self.open[-1].items[-1] if self.open and self.open[-1].items else ""
        if isinstance(last, str) and last.count("[") > last.count("]"):
            self.add("]")
            self.end("link", "]]")
        else:
            self.end("link", "]]")
            self.add("]")


def _up_to_heading(items: list[Item]) -> tuple[list[Item], list[Item]]:
    """A table without an end reaches to the next heading, not over the rest of the page."""
    for index, item in enumerate(items):
        if isinstance(item, str) and (place := item.find("\n==")) >= 0:
            return [*items[:index], item[:place]], [item[place:], *items[index + 1 :]]
    return items, []


def parse(source: str) -> list[Item]:
    """The items of a page. Unbalanced marks stay as text, as MediaWiki shows them."""
    source = _PARAMETER.sub(lambda match: match[1] or "", source)
    parser = _Parser()
    position = 0
    for match in _TOKEN.finditer(source):
        if match.start() > position:
            parser.add(source[position : match.start()])
        position = match.end()
        mark = match.group()
        if mark in _OPENERS:
            parser.begin(_OPENERS[mark], mark)
        elif mark in _CLOSERS:
            parser.end(_CLOSERS[mark], mark)
        elif mark.endswith("{|"):
            parser.begin("table", mark)
        elif mark.endswith("|}"):
            parser.end("table", mark)
        else:
            parser.triple()
    parser.add(source[position:])
    while parser.open:
        parser.give_up()
    return parser.items


def split(items: list[Item], separator: str, most: int = -1) -> list[list[Item]]:
    """Cut at a separator that stands in the items' own text, not inside their nodes."""
    parts: list[list[Item]] = [[]]
    for item in items:
        if isinstance(item, Node) or separator not in item:
            parts[-1].append(item)
            continue
        left = -1 if most < 0 else most - len(parts) + 1
        pieces = item.split(separator, left) if left else [item]
        parts[-1].append(pieces[0])
        parts.extend([piece] for piece in pieces[1:])
    return parts


def own_text(items: list[Item]) -> str:
    """Only the text that stands outside of nodes."""
    return "".join(item for item in items if isinstance(item, str))


def is_blank(items: list[Item]) -> bool:
    return all(isinstance(item, str) and not item.strip() for item in items)
