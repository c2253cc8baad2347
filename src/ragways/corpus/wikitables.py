"""Tables of wikitext: a row a line, cells joined by a bar, the caption first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragways.corpus.wikitree import Item, Node, is_blank, split

if TYPE_CHECKING:
    from ragways.corpus.wikirender import Renderer


def write(renderer: Renderer, table: Node) -> None:
    builder = renderer.builder
    builder.paragraph()
    for row in _rows(table):
        builder.row()
        for cell in row:
            builder.cell()
            builder.flat()
            renderer.listed(cell)
            builder.unflat()
    builder.paragraph()


def _rows(table: Node) -> list[list[list[Item]]]:
    """Rows of cells. The first line holds the table's attributes and is no row."""
    rows: list[list[list[Item]]] = [[]]
    for line in split(table.items, "\n")[1:]:
        first = line[0].lstrip() if isinstance(line[0], str) else ""
        if first.startswith("|-"):
            rows.append([])
        elif first.startswith("|+"):
            rows.append([_without_attributes([first[2:], *line[1:]])])
            rows.append([])
        elif first.startswith(("|", "!")):
            rows[-1].extend(_cells([first[1:], *line[1:]], header=first[0] == "!"))
        elif rows[-1]:
            rows[-1][-1] += [f"\n{line[0]}", *line[1:]] if isinstance(line[0], str) else ["\n", *line]
        elif not is_blank(line):
            rows[-1].append(line)  # text outside of any cell: a browser shows it as well
    return [row for row in rows if row]


def _cells(items: list[Item], *, header: bool) -> list[list[Item]]:
    parts = split(items, "||")
    if header:
        parts = [cell for part in parts for cell in split(part, "!!")]
    return [_without_attributes(part) for part in parts]


def _without_attributes(cell: list[Item]) -> list[Item]:
    """`style="…" | text` → `text`. A bar after a link or a template belongs to the text."""
    if cell and isinstance(cell[0], str) and "|" in cell[0]:
        return [cell[0].split("|", 1)[1], *cell[1:]]
    parts = split(cell, "|", 1)
    attributes = len(parts) == 2 and all(not isinstance(item, Node) or item.kind == "template" for item in parts[0])
    return parts[1] if attributes else cell
