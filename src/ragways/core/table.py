"""A table as a value: made once by whoever has figures, rendered by whoever shows them.

Terminal rendering is in `apps/terminal.py`; Markdown, HTML, LaTeX, CSV and plain data are here, because notebooks need
them too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Literal

Cell = str | int | float | bool | None
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SIGNS = re.compile(r"([\\`*_\[\]#|~$!])")
_START = re.compile(r"^([-+=]+(?=\s|$)|\d+(?=[.)](?:\s|$)))")
_LINKS = re.compile(r"(?i)(://|www\.|@)")
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\n": " ",
}  # fmt: skip
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


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns, with a title above and notes below.

    `name` tells tables of a report apart; `by` names a column whose values are the headings of parts (`parts`).
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    name: str = ""
    by: str = ""
    _found: dict[tuple[str, ...], dict[tuple[Cell, ...], tuple[Cell, ...]]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @classmethod
    def of(
        cls,
        columns: Sequence[Column | str],
        rows: Sequence[Sequence[Cell] | Mapping[str, Cell]],
        *,
        title: str = "",
        notes: Sequence[str] = (),
        name: str = "",
        by: str = "",
    ) -> Table:
        """A table; a column may be given by its heading alone. A row has a cell for each column, or names its cells;
        cells that it does not name are missing values.
        """
        named = tuple(Column(column) if isinstance(column, str) else column for column in columns)
        cells = [[row.get(one.name) for one in named] if isinstance(row, Mapping) else row for row in rows]
        for row in cells:
            if len(row) != len(named):
                raise ValueError(f"a row of {len(row)} cells under {len(named)} columns")
        return cls(named, tuple(map(tuple, cells)), title, tuple(notes), name, by)

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, column: str) -> int:
        """The number of a column, by its name."""
        return [one.name for one in self.columns].index(column)

    def column(self, name: str) -> list[Any]:
        """The cells of a column, by its name."""
        place = self.place(name)
        return [row[place] for row in self.rows]

    def cell(self, column: str, **where: Cell) -> Any:  # noqa: ANN401 - a cell
        """The cell of a column in the first row with these values; None where there is no such row."""
        names = tuple(where)
        if names not in self._found:
            places = [self.place(name) for name in names]
            self._found[names] = {tuple(row[at] for at in places): row for row in reversed(self.rows)}
        row = self._found[names].get(tuple(where.values()))
        return None if row is None else row[self.place(column)]

    def where(self, **values: Cell) -> Table:
        """The table with the rows alone that have these values."""
        places = {self.place(name): value for name, value in values.items()}
        return replace(self, rows=tuple(row for row in self.rows if all(row[at] == v for at, v in places.items())))

    def only(self, *columns: str) -> Table:
        """The table with these columns alone, in this order."""
        places = [self.place(name) for name in columns]
        rows = tuple(tuple(row[at] for at in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in places), rows=rows)

    def parts(self) -> list[Table]:
        """A table for each value of the column `by`, under it as a title and without that column; else this one."""
        if not self.by:
            return [self]
        others = [one.name for one in self.columns if one.name != self.by]
        values = dict.fromkeys(self.column(self.by))
        parts = [self.where(**{self.by: value}).only(*others) for value in values]
        return [replace(part, title=str(value), notes=(), by="") for part, value in zip(parts, values, strict=True)]

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

    def csv(self) -> str:
        """The table as CSV with a line of column names, values as they are."""
        stream = io.StringIO()
        writer = csv.writer(stream)
        writer.writerow([column.name for column in self.columns])
        writer.writerows(self.rows)
        return stream.getvalue()

    def latex(self) -> str:
        """The table as LaTeX: a `tabular` with its title as a caption."""

        def line(cells: Sequence[str]) -> str:
            return " & ".join("".join(_LATEX.get(sign, sign) for sign in cell) for cell in cells) + r" \\"

        aligned = "".join("r" if self.right(n) else "l" for n in range(len(self.columns)))
        head = line([column.title for column in self.columns])
        body = [head, r"\hline", *map(line, self.texts())]
        caption = [rf"\caption{{{line([self.title])[:-3]}}}"] if self.title else []
        tabular = [rf"\begin{{tabular}}{{{aligned}}}", *body, r"\end{tabular}"]
        return "\n".join([r"\begin{table}", *caption, *tabular, r"\end{table}"]) + "\n"

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
