"""Wikitext as a tree of templates, links and tables. One pass, no recursion, depth bounded.

Before it is parsed, notes and comments go, and what must not be parsed is set aside.
"""

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
class WikiNode:
    """A template, a link or a table, and the items between its marks."""

    kind: Kind
    opener: str
    items: list[Item] = field(default_factory=list)


Item = str | WikiNode


class _Parser:
    def __init__(self) -> None:
        self.items: list[Item] = []
        self.open: list[WikiNode] = []

    def add(self, item: Item) -> None:
        (self.open[-1].items if self.open else self.items).append(item)

    def begin(self, kind: Kind, opener: str) -> None:
        if len(self.open) < MAX_DEPTH:
            self.open.append(WikiNode(kind, opener))
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
                break  # a stray ]] in a cell cannot close a link that began before the table
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


def split(items: list[Item], separator: str, limit: int = -1) -> list[list[Item]]:
    """Cut at a separator that stands in the items' own text, not inside their nodes."""
    parts: list[list[Item]] = [[]]
    for item in items:
        if isinstance(item, WikiNode) or separator not in item:
            parts[-1].append(item)
            continue
        left = -1 if limit < 0 else limit - len(parts) + 1
        pieces = item.split(separator, left) if left else [item]
        parts[-1].append(pieces[0])
        parts.extend([piece] for piece in pieces[1:])
    return parts


def own_text(items: list[Item]) -> str:
    """Only the text that stands outside of nodes."""
    return "".join(item for item in items if isinstance(item, str))


def is_blank(items: list[Item]) -> bool:
    return all(isinstance(item, str) and not item.strip() for item in items)


# Before parsing

_DROP = ("ref", "gallery", "references", "timeline", "imagemap", "score", "graph", "templatestyles", "mapframe",
         "includeonly", "indicator", "section", "maplink", "categorytree", "inputbox", "hiero")  # fmt: skip
_KEEP = ("nowiki", "math", "pre", "source", "syntaxhighlight", "chem", "ce")
_OPEN = re.compile(r"<!--|<(" + "|".join(_DROP + _KEEP) + r")\b([^<>]*)>", re.IGNORECASE)
_QUOTES = re.compile(r"'{2,}")
_SOUND = re.compile(
    r"(\([ ]?)?(?:\{\{(?:ipa|pron|respell|audio|listen)[^{}]{0,300}\}\}[;,]?[ ]?)+(?(1)(\))?|)", re.IGNORECASE
)
_TAG = re.compile(r"<(?:td|th|tr|table|div|span|font|p)\s[^<>]{0,500}>", re.IGNORECASE)
_FENCE = re.compile("[\x00-\x08\x0b-\x1f]")


def prepare(source: str) -> tuple[str, list[str]]:
    """The text to parse, and the parts set aside: `\\x02N\\x03` stands for part N."""
    source = _FENCE.sub("", source.replace("\r\n", "\n").replace("\r", "\n"))
    raw: list[str] = []
    text = _set_aside(source, raw)
    text = _SOUND.sub(lambda match: "" if match[2] or not match[1] else "(", text)
    text = _TAG.sub(lambda match: match.group().replace("\n", " "), text)
    return ("\n".join(map(_unquote, text.split("\n"))) if "''" in text else text), raw


def _set_aside(source: str, raw: list[str]) -> str:
    out: list[str] = []
    position = 0
    unclosed: set[str] = set()  # a tag that has no end further on is searched for only once
    while match := _OPEN.search(source, position):
        tag = (match[1] or "").lower()
        if not tag:
            out.append(source[position : match.start()])
            position = _after_comment(source, match.start(), out)
            continue
        start, end = _body(source, match, tag, unclosed)
        out.append(source[position : match.start()])
        if tag in _KEEP:
            raw.append(source[match.end() : start])
            out.append(f"\x02{len(raw) - 1}\x03")
        position = end
    out.append(source[position:])
    return "".join(out)


def _body(source: str, match: re.Match[str], tag: str, unclosed: set[str]) -> tuple[int, int]:
    """Where the tag's content ends and where the text goes on. Without an end only the tag itself goes."""
    if match[2].endswith("/") or tag in unclosed:
        return match.end(), match.end()
    close = re.compile(rf"</{tag}\s*>", re.IGNORECASE).search(source, match.end())
    if close is None:
        unclosed.add(tag)
        return match.end(), match.end()
    return close.start(), close.end()


def _after_comment(source: str, start: int, out: list[str]) -> int:
    """Past a comment. One that has lines to itself takes them along, so that it ends no paragraph."""
    end = source.find("-->", start)
    if end < 0:
        return len(source)
    end += 3
    before = out[-1].rstrip(" \t") if out else ""
    after = end
    while after < len(source) and source[after] in " \t":
        after += 1
    if ((not before and start == 0) or before.endswith("\n")) and source[after : after + 1] == "\n":
        out[-1] = before
        return after + 1
    return end


def _unquote(line: str) -> str:
    """Remove bold and italic marks; an apostrophe that belongs to the text stays."""
    if "''" not in line:
        return line
    marks = [len(match.group()) for match in _QUOTES.finditer(line)]
    bold = sum(mark in (3, 4) or mark >= 5 for mark in marks)
    italic = sum(mark == 2 or mark >= 5 for mark in marks)
    uneven = bold % 2 == 1 and italic % 2 == 1
    spare = _apostrophe(line) if uneven else -1

    def remove(match: re.Match[str]) -> str:
        size = len(match.group())
        extra = 1 if size == 4 or match.start() == spare else max(0, size - 5)
        return "'" * extra

    return _QUOTES.sub(remove, line)


def _apostrophe(line: str) -> int:
    """Where `'''` is an apostrophe and italics: after a one-letter word, else after a word, else after a space."""
    places = [match.start() for match in _QUOTES.finditer(line) if len(match.group()) == 3]
    for place in places:
        if place >= 2 and line[place - 1] != " " and line[place - 2] == " ":
            return place
    for place in places:
        if place and line[place - 1] != " ":
            return place
    return places[0] if places else -1
