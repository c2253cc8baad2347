"""A table as a value: made once by whoever has figures, rendered by whoever shows them.

Terminal rendering is in `apps/terminal.py`; Markdown, HTML and plain data are here, because notebooks need them too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

Cell = str | int | float | bool | None
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SIGNS = re.compile(r"([\\`*_\[\]#|~$!])")
_START = re.compile(r"^([-+=]+(?=\s|$)|\d+(?=[.)](?:\s|$)))")
_LINKS = re.compile(r"(?i)(://|www\.|@)")
_WIDEST = 60
"""Characters to which a cell of Markdown is padded."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, how its numbers are written (a format such as `.3f`, or a function), how it is aligned.

    `key` is its name in plain data; unset, it is the heading.
    """

    title: str
    format: str | Callable[[Any], str] = ""
    align: Literal["left", "right", ""] = ""
    key: str = ""

    @property
    def name(self) -> str:
        return self.key or self.title

    def text(self, cell: Cell) -> str:
        """A cell in words: a missing value is an en dash, never 0."""
        if cell is None:
            return "–"
        if callable(self.format):
            return self.format(cell)
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, int | float):
            return format(cell, self.format or ("," if isinstance(cell, int) else ".3g"))
        return cell


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns, with a title above and notes below."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[Column | str],
        rows: Sequence[Sequence[Cell]],
        *,
        title: str = "",
        notes: Sequence[str] = (),
    ) -> Table:
        """A table; a column may be given by its heading alone. Every row must have a cell for each column."""
        named = tuple(Column(column) if isinstance(column, str) else column for column in columns)
        for row in rows:
            if len(row) != len(named):
                raise ValueError(f"a row of {len(row)} cells under {len(named)} columns")
        return cls(named, tuple(map(tuple, rows)), title, tuple(notes))

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[list[str]]:
        """The cells in words, row by row."""
        return [[column.text(cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]

    def right(self, number: int) -> bool:
        """Whether a column stands to the right: as it says, or because it holds numbers."""
        column = self.columns[number]
        cells = [row[number] for row in self.rows if row[number] is not None]
        numbers = bool(cells) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
        return column.align == "right" or (not column.align and numbers)

    def to_plain(self) -> list[dict[str, Cell]]:
        """A dict a row, with values as they are."""
        return [{column.name: cell for column, cell in zip(self.columns, row, strict=True)} for row in self.rows]

    def markdown(self) -> str:
        """The table in Markdown, its title as a heading line in bold. Cells are text: markup in them is escaped."""
        lines = [[column.title for column in self.columns], *self.texts()]
        cells = [[markdown_text(text) for text in line] for line in lines]
        # Padded, so that it reads as well where nothing renders it.
        widths = [min(_WIDEST, max(len(line[n]) for line in cells)) for n in range(len(self.columns))]
        right = [self.right(n) for n in range(len(self.columns))]

        def row(line: list[str]) -> str:
            padded = (
                cell.rjust(width) if end else cell.ljust(width)
                for cell, width, end in zip(line, widths, right, strict=True)
            )
            return f"| {' | '.join(padded)} |"

        rule = (f"{'-' * (width + 1)}{':' if end else '-'}" for width, end in zip(widths, right, strict=True))
        table = "\n".join([row(cells[0]), f"|{'|'.join(rule)}|", *map(row, cells[1:])])
        title = [f"**{markdown_text(self.title)}**"] if self.title else []
        return "\n\n".join([*title, table, *self.notes])

    def html(self) -> str:
        """The table as HTML, everything in it escaped."""
        heads = "".join(f"<th>{escape(column.title)}</th>" for column in self.columns)
        rows = []
        for row in self.texts():
            styles = [' style="text-align:right"' if self.right(n) else "" for n in range(len(row))]
            cells = (f"<td{style}>{escape(text)}</td>" for style, text in zip(styles, row, strict=True))
            rows.append(f"<tr>{''.join(cells)}</tr>")
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>{notes}"

    def _repr_html_(self) -> str:
        return self.html()

    def __str__(self) -> str:
        """The table in plain text, columns lined up."""
        texts = [[column.title for column in self.columns], *self.texts()]
        widths = [max(len(row[n]) for row in texts) for n in range(len(self.columns))]

        def line(row: list[str], head: bool = False) -> str:
            cells = [
                text.rjust(width) if self.right(n) and not head else text.ljust(width)
                for n, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            return "  ".join(cells).rstrip()

        body = [line(texts[0], head=True), "  ".join("-" * width for width in widths), *map(line, texts[1:])]
        return "\n".join([*([self.title] if self.title else []), *body, *self.notes])

    __repr__ = __str__


def markdown_text(text: object, length: int = 2000) -> str:
    """Text as Markdown may show it: on one line, no sign of it markup and no address a link; past `length` characters
    it is cut.
    """
    flat = " ".join(str(text)[: length + 1].split())
    flat = _CONTROLS.sub("\ufffd", flat[:length] + ("…" if len(str(text)) > length else ""))
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    flat = _SIGNS.sub(r"\\\1", flat)
    flat = _LINKS.sub(lambda match: "".join(f"&#{ord(sign)};" for sign in match[0]), flat)
    return _START.sub(lambda match: "".join(f"&#{ord(sign)};" for sign in match[0]), flat)
