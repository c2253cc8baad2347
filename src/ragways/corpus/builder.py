"""The one way to write a document's text: it keeps the layout rule and remembers where links, headings, code, lists and
tables stand, and where in the file each stretch stood.

Layout: paragraphs are separated by a blank line; a heading is a paragraph of its own; a table and an infobox are one
paragraph with a line a row; list items are lines of one paragraph. White space is written only before a run, so no
line ends in a blank and every mark starts on its first character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import TypeVar

from ragways.core.errors import LoadError
from ragways.core.text import clean, normal_lines, one_line
from ragways.core.types import Document, Heading, Infobox, Link, Markup, MarkupKind, Place

Item = TypeVar("Item")
_WEB = re.compile(r"https?://[^\s<>]+\Z", re.IGNORECASE)
_LONGEST_ADDRESS = 300
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{0,20}")
_ORDER = {kind: order for order, kind in enumerate(("table", "heading", "item", "code", "gap", "link", "inline"))}
"""Which of several begins first at one place."""
UNTITLED = "-"
"""The title of a part that has none of its own."""


@dataclass(slots=True)
class Mark:
    """A place that will be known when the next run is written."""

    start: int = -1


class TextBuilder:
    """Append runs and breaks, then ask for the document."""

    def __init__(self, limit: int, *, flat: bool = False, language: str = "") -> None:
        self._limit = limit
        self._language = language  # of code whose own is not given
        self._parts: list[str] = []
        self.length = 0
        self._line_start = 0
        self._break = 0  # 1: a new line is due, 2: a blank line
        self._space = self._comma = False
        self._label = ""
        self._cells = self._bars = 0
        self._flat = int(flat)
        self._lists = 0
        self._block_marks: list[Mark] = []
        self._run_marks: list[Mark] = []
        self._headings: list[tuple[int, int, int]] = []
        self._links: list[tuple[int, int, str]] = []
        self._infoboxes: list[tuple[int, int, str, tuple[tuple[str, str], ...]]] = []
        self._at = (0, 0)  # page and line of the next run
        self._places: list[tuple[int, int, int]] = []
        self._markup: list[tuple[Mark, Mark | None, MarkupKind, str]] = []
        self._item = Mark()

    # --- breaks -----------------------------------------------------------------------------------------------

    @property
    def is_flat(self) -> bool:
        return self._flat > 0

    def flat(self) -> None:
        """From here to `unflat` every break is a space: cells and headings stay on one line."""
        self._flat += 1

    def unflat(self) -> None:
        self._flat -= 1

    def _due(self, size: int) -> None:
        if self._flat:
            self._space = True
            return
        self._break = max(self._break, size)
        self._space = self._comma = False
        self._label = ""
        self._cells = self._bars = 0

    def space(self) -> None:
        self._space = True

    def unspace(self) -> None:
        """Forget a space that is due: what stood before it is gone."""
        self._space = self._comma = False

    def comma(self) -> None:
        """A comma if something stands before and something follows."""
        self._space = self._comma = True

    def line(self) -> None:
        self._due(1)

    def paragraph(self) -> None:
        self._due(2)

    def separate(self) -> None:
        """The break between two blocks: a new line inside a list, else a blank line."""
        self._due(1 if self._lists else 2)

    def begin_list(self) -> None:
        """From here to `end_list`, blocks are separated by new lines."""
        self._lists += 1

    def end_list(self) -> None:
        self._forget(self._run_marks, self._item)  # an item without text has no sign
        self._lists -= 1

    def cell(self) -> None:
        """The next cell of a row; bars are written only when text follows, so empty tails vanish."""
        if self._flat:
            self._space = True
            return
        self._bars += self._cells > 0
        self._cells += 1
        self._space = False

    def table(self, rows: Iterable[Iterable[Item]], write: Callable[[Item], None], *, header: bool = False) -> None:
        """A paragraph with a line a row; `write` writes what is in a cell, which stays on that line. `header`: whether
        the first row names the columns.
        """
        mark = self.block()
        for row in rows:
            self.line()
            for cell in row:
                self.cell()
                self.flat()
                write(cell)
                self.unflat()
        self.end_table(mark, header=header)

    def label(self, text: str) -> None:
        """Written before the next run of this line, or not at all if none comes."""
        self._label = text

    # --- runs -------------------------------------------------------------------------------------------------

    def text(self, run: str) -> None:
        """A run of inline text; white space in it collapses."""
        run = clean(run)
        words = run.split()
        if not words:
            self._space = self._space or bool(run)
            return
        if run[0].isspace():
            self._space = True
        self._put(" ".join(words))
        self._space = run[-1].isspace()

    def preformatted(self, text: str, *, line: int = 0, language: str = "") -> None:
        """Code: lines and indents stay, blank lines go, since a blank line would end the paragraph.

        `line` is the line of the file that it begins on, where that is known.
        """
        mark = self.block()
        self._verbatim(dedent(text), line)
        if self._ended(mark) and not self._flat:
            self._markup.append((mark, Mark(self.length), "code", _fence_name(language or self._language)))

    def _verbatim(self, text: str, line: int = 0) -> None:
        self.paragraph()
        first, blank = True, 0
        for number, row in enumerate(normal_lines(text)):
            if not row.strip():
                blank += not first
                continue
            if blank and not self._flat:
                self._markup.append((self.mark(), None, "gap", str(blank)))
            blank = 0
            self.line()
            if line:
                self.at(page=self._at[0], line=line + number)
            if self._flat:
                self.text(row)
            else:
                self._put(row.strip() if first else row.rstrip())
            first = False
        self.paragraph()

    def plain_text(self, text: str, *, line: int = 0) -> None:
        """Append plain text, paragraph by paragraph. `line` is the line of the file that it begins on; 0: not known."""
        if "\n" not in text and "\r" not in text:
            self.paragraph()
            if line:
                self.at(line=line)
            self.text(text)
            return
        block: list[str] = []
        for number, row in enumerate([*normal_lines(text), ""]):
            if row.strip():
                block.append(row.strip())
            elif block:
                self._plain_block(block, line and line + number - len(block))
                block = []

    def _plain_block(self, lines: list[str], first: int) -> None:
        """Long lines are paragraphs, lines of nearly equal width were wrapped, other lines (lists, verse) stay.

        `first` is the number of the first line; 0: not known.
        """
        self.paragraph()
        width = max(map(len, lines))
        wrapped = 40 <= width <= 120 and all(len(line) >= width * 0.6 for line in lines[:-1])
        for number, line in enumerate(lines, start=first):
            if first:
                self.at(line=number)
            if width > 200:
                self.paragraph()
            elif wrapped:
                self.space()
            else:
                self.line()
            self.text(line)

    def _emit(self, run: str) -> None:
        self._parts.append(run)
        self.length += len(run)
        if self.length > self._limit:
            raise LoadError(f"holds more than {self._limit:,} characters of text", "split it, or raise max_text")

    def _put(self, run: str) -> None:
        if not run.isascii():
            run = unicodedata.normalize("NFC", run)
        if self._break:
            if self.length:
                self._emit("\n\n" if self._break == 2 else "\n")
            self._break = 0
            self._line_start = self.length
            self._space = self._comma = False
        if self._block_marks:
            self._start(self._block_marks)
        if self._at != (self._places[-1][1:] if self._places else (0, 0)):
            self._places.append((self.length, *self._at))
        if self._label:
            self._emit(self._label)
            self._line_start = self.length
            self._label = ""
        if self._bars:
            self._emit("| " * self._bars if self.length == self._line_start else " |" * self._bars + " ")
            self._bars = 0
        elif self._space and self.length > self._line_start:
            bare = self._comma and self._parts[-1][-1] not in ",;:(" and run[0] not in ",;)"
            self._emit(", " if bare else " ")
        self._space = self._comma = False
        if self._run_marks:
            self._start(self._run_marks)
        self._emit(run)

    def _start(self, marks: list[Mark]) -> None:
        for mark in marks:
            mark.start = self.length
        marks.clear()

    # --- marks ------------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """The start of a link: the first character written after this."""
        mark = Mark()
        self._run_marks.append(mark)
        return mark

    def at(self, *, page: int = 0, line: int = 0) -> None:
        """The next run begins on this page or line of the file; so does all that follows, up to the next call.
        Both count from 1; 0 is not known.
        """
        self._at = (page, line)

    def _forget(self, marks: list[Mark], mark: Mark) -> None:
        for index, other in enumerate(marks):
            if other is mark:
                del marks[index]
                return

    def link(self, mark: Mark, target: str, address: str = "") -> None:
        """Everything written since the mark links to the article called target, or to an address of the web. Nothing
        written, no link.
        """
        if mark.start < 0:
            self._forget(self._run_marks, mark)
        elif self.length > mark.start:
            if target:
                self._links.append((mark.start, self.length, target))
            if _WEB.match(address) and len(address) <= _LONGEST_ADDRESS:
                self._markup.append((mark, Mark(self.length), "link", address))

    def code(self, text: str) -> None:
        """Write code within a line."""
        mark = self.mark()
        self.text(text)
        self.end_code(mark)

    def end_code(self, mark: Mark) -> None:
        """Everything written since the mark is code within a line."""
        if mark.start < 0:
            self._forget(self._run_marks, mark)
        elif self.length > mark.start:
            self._markup.append((mark, Mark(self.length), "inline", ""))

    def item(self, sign: str = "-") -> None:
        """The next run begins an item of a list, which had this sign."""
        self._forget(self._run_marks, self._item)
        if not self._flat:
            self._item = self.mark()
            self._markup.append((self._item, None, "item", "  " * max(self._lists - 1, 0) + sign))

    def begin_table(self) -> Mark:
        """The start of a table, a paragraph with a line a row; `end_table` takes the mark."""
        return self.block()

    def end_table(self, mark: Mark, *, header: bool = False) -> None:
        if self._ended(mark) and not self._flat:
            self._markup.append((mark, Mark(self.length), "table", "header" if header else ""))

    def block(self) -> Mark:
        """The start of a heading or an infobox: a paragraph of its own."""
        self.paragraph()
        mark = Mark()
        self._block_marks.append(mark)
        return mark

    def heading(self, mark: Mark, level: int) -> None:
        if self._ended(mark) and not self._flat:
            self._headings.append((mark.start, self.length, level))

    def titled(self, title: str, level: int) -> None:
        """Write a heading."""
        mark = self.block()
        self.text(title)
        self.heading(mark, level)

    def infobox(self, mark: Mark, kind: str, fields: Iterable[tuple[str, str]]) -> None:
        if self._ended(mark) and not self._flat:
            self._infoboxes.append((mark.start, self.length, kind, tuple(fields)))

    def _ended(self, mark: Mark) -> bool:
        if mark.start < 0:
            self._forget(self._block_marks, mark)
        self.paragraph()
        return mark.start >= 0

    def append(self, document: Document, *, levels: int = 0) -> None:
        """Write the text of a finished document, with its links, and its headings so many levels deeper.
        Its title is the heading above it, unless it is UNTITLED.
        """
        if document.title != UNTITLED:
            self.titled(document.title, 1 + levels)
        headings = {heading.start: heading.level for heading in document.headings}
        markup = iter(one for one in document.markup if one.kind != "heading")
        mark_up = next(markup, None)
        links = iter(document.links)
        link = next(links, None)
        here = 0
        for paragraph in document.text.split("\n\n"):
            level = headings.get(here)
            mark = self.mark() if level is None else self.block()
            if level is None:
                self._verbatim(paragraph)
            else:
                self.text(paragraph)
                self.heading(mark, min(level + levels, 6))
            while link is not None and link.start < here + len(paragraph):
                self._links.append((link.start - here + mark.start, link.end - here + mark.start, link.target))
                link = next(links, None)
            while mark_up is not None and mark_up.start < here + len(paragraph):
                shift = mark.start - here
                start, end = Mark(mark_up.start + shift), Mark(mark_up.end + shift)
                self._markup.append((start, end, mark_up.kind, mark_up.value))
                mark_up = next(markup, None)
            here += len(paragraph) + 2

    # --- results ----------------------------------------------------------------------------------------------

    def since(self, position: int) -> str:
        """What was written since a length that was read before."""
        missing, taken = self.length - position, []
        for part in reversed(self._parts):
            if missing <= 0:
                break
            taken.append(part)
            missing -= len(part)
        return "".join(reversed(taken))[-missing if missing < 0 else 0 :]

    def plain(self) -> str:
        return "".join(self._parts)

    def document(self, key: str, title: str, form: str, metadata: Mapping[str, str]) -> Document:
        """The finished document. Marks that hold nothing are dropped; a link ends with its line."""
        plain = self.plain()
        places = _places(plain, self._edges())
        text = unicodedata.normalize("NFC", plain)
        headings = [(places[start], places[end], level) for start, end, level in self._headings]
        links = [(places[start], _line_end(text, places[start], places[end]), to) for start, end, to in self._links]
        markup = [
            Markup(places[start.start], places[(end or start).start], kind, value)
            for start, end, kind, value in self._markup
            if start.start >= 0
            and (end is None or kind in ("code", "table") or "\n" not in plain[start.start : end.start])
        ]
        markup += [Markup(s, e, "heading", "#" * level) for s, e, level in headings if s < e]
        return Document(
            key=clean(key),
            title=one_line(title, 300) or clean(key),
            text=text,
            format=form,
            metadata=tidy(metadata),
            headings=tuple(Heading(s, e, level, text[s:e]) for s, e, level in headings if s < e),
            links=tuple(Link(s, e, to) for s, e, to in sorted(links) if s < e),
            infoboxes=tuple(Infobox(places[s], places[e], kind, facts) for s, e, kind, facts in self._infoboxes),
            markup=tuple(sorted(markup, key=lambda one: (one.start, -one.end, _ORDER[one.kind]))),
            places=tuple({places[s]: Place(places[s], page, line) for s, page, line in self._places}.values()),
        )

    def _edges(self) -> set[int]:
        edges = {place for start, end, _ in self._headings for place in (start, end)}
        edges.update(place for start, end, _ in self._links for place in (start, end))
        edges.update(place for box in self._infoboxes for place in box[:2])
        edges.update(start for start, _, _ in self._places)
        edges.update(mark.start for one in self._markup for mark in one[:2] if mark is not None and mark.start >= 0)
        return edges


def _fence_name(given: str) -> str:
    """The language of a block as a fence names it."""
    found = _LANGUAGE.match(given.strip())
    return found[0] if found else ""


def tidy(metadata: Mapping[str, str]) -> dict[str, str]:
    """Lower-case keys, short one-line values, nothing empty."""
    short = ((one_line(key, 100).lower(), one_line(value)) for key, value in metadata.items())
    return {key: value for key, value in short if key and value}


def _line_end(text: str, start: int, end: int) -> int:
    newline = text.find("\n", start, end)
    return end if newline < 0 else newline


def _combines(character: str) -> bool:
    """May the character melt into the one before it under NFC? Marks do, and Hangul vowels and finals."""
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"


def _places(text: str, edges: set[int]) -> dict[int, int]:
    """Old offset → offset in the NFC text. Runs are NFC already; only a mark right after a run can still join it."""
    if unicodedata.is_normalized("NFC", text):
        return {edge: edge for edge in edges}
    places: dict[int, int] = {}
    done = length = 0
    for edge in sorted(edges):
        safe = edge
        while 0 < safe < len(text) and text[safe - 1] != "\n" and _combines(text[safe]):
            safe += 1
        if safe > done:
            length += len(unicodedata.normalize("NFC", text[done:safe]))
            done = safe
        places[edge] = length
    return places
