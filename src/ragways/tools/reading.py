"""Tools that read: an article, its outline, sections by id, and what stands around a paragraph or a section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragways.tools.catalogue import shown
from ragways.tools.error import ToolError
from ragways.tools.queries import Span
from ragways.tools.results import Box, Outline, Paragraphs, Quote, SectionTitle
from ragways.tools.shelf import Shelf, page

MOST = 50
"""Paragraphs, or section titles, in one result."""
_BOXES = 10
_FIELDS = 60
_FIELD = 300
_SECTION = re.compile(r"(article:[0-9]{1,18}):(s[0-9]{1,9})(:.*)?", re.ASCII | re.DOTALL)
_PARAGRAPH = re.compile(r"(article:[0-9]{1,18}):(s[0-9]{1,9}:p[0-9]{1,9})(:[ct][0-9]{1,9})?", re.ASCII)


def whole(shelf: Shelf, article: str, offset: int) -> Paragraphs:
    number = shelf.catalogue.find(article)
    quotes, following = page(shelf.quotes(number, shelf.queries.paragraphs(number)), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def outline(shelf: Shelf, article: str, offset: int) -> Outline:
    number = shelf.catalogue.find(article)
    rows = shelf.queries.sections(number)
    titles = tuple(
        SectionTitle(f"article:{number}:{path}", title, level, end - start)
        for _, path, start, end, title, level in rows[offset : offset + MOST]
    )
    boxes = tuple(_boxes(shelf, number)) if offset == 0 else ()
    return Outline(shelf.listed(number), titles, boxes, offset + MOST if len(rows) > offset + MOST else None)


def _boxes(shelf: Shelf, number: int) -> Iterator[Box]:
    for start, kind, fields in shelf.queries.infoboxes(number)[:_BOXES]:
        row = shelf.queries.paragraph_at(number, start)
        source = next(shelf.quotes(number, [row]), None) if row is not None else None
        yield Box(kind[:_FIELD], {key[:_FIELD]: value[:_FIELD] for key, value in fields[:_FIELDS]}, source)


def sections(shelf: Shelf, ids: Sequence[str], offset: int) -> Paragraphs:
    found = [_section(shelf, id) for id in dict.fromkeys(ids)]
    quotes, following = page(_in_sections(shelf, found), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def section_window(shelf: Shelf, id: str, around: int, offset: int) -> Paragraphs:
    number, at = _section(shelf, id)
    count = len(shelf.queries.sections(number))
    near = [(number, near) for near in range(max(0, at - around), min(count, at + around + 1))]
    quotes, following = page(_in_sections(shelf, near), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def paragraph_window(shelf: Shelf, id: str, around: int, offset: int) -> Paragraphs:
    number, row = _paragraph(shelf, id)
    rows = shelf.queries.paragraphs_near(number, row[0] - around, row[0] + around)
    quotes, following = page(shelf.quotes(number, rows), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def _section(shelf: Shelf, id: str) -> tuple[int, int]:
    """The article and the place among its sections that an id means."""
    match = _SECTION.fullmatch(id.strip())
    number = shelf.catalogue.find(match[1] if match else id)
    rows = shelf.queries.sections(number)
    wanted = match[2] if match else ""
    for at, row in enumerate(rows):
        if row[1] == wanted:
            return number, at
    near = sorted(rows, key=lambda row: abs(row[0] - _place(wanted)))[:5]
    labels = [f"article:{number}:{row[1]} ({row[4][:100]})" for row in sorted(near)]
    raise ToolError(f"{shown(id)} is not the id of a section", labels)


def _paragraph(shelf: Shelf, id: str) -> tuple[int, Span]:
    match = _PARAGRAPH.fullmatch(id.strip())
    number = shelf.catalogue.find(match[1] if match else id)
    row = shelf.queries.paragraph(number, match[2]) if match else None
    if row is not None:
        return number, row
    section = _SECTION.fullmatch(id.strip())
    rows = shelf.queries.paragraphs(number)
    inside = [row for row in rows if section and row[1].startswith(f"{section[2]}:")] or rows
    wanted = int(match[2].rpartition("p")[2]) if match else 0
    near = sorted(inside, key=lambda row: abs(_place(row[1].rpartition(":")[2]) - wanted))[:5]
    raise ToolError(f"{shown(id)} is not the id of a paragraph", [f"article:{number}:{row[1]}" for row in sorted(near)])


def _place(part: str) -> int:
    return int(part[1:]) if part[1:].isdecimal() else 0


def _in_sections(shelf: Shelf, places: Sequence[tuple[int, int]]) -> Iterator[Quote]:
    for number, at in places:
        _, _, start, end, _, _ = shelf.queries.sections(number)[at]
        yield from shelf.quotes(number, shelf.queries.paragraphs_in(number, start, end))


def _past(quotes: Sequence[Quote], offset: int) -> str:
    if quotes:
        return ""
    return "there is nothing from that offset on" if offset else "there is no text here"
