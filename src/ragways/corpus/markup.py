"""What a plain text was before it was made plain, and the Markdown made of both.

Documents are stored and searched as plain text. Beside it stands its markup: which stretches were code, list items,
tables, links and headings, with their offsets. Whoever shows a passage, to a model or to a person, renders the two
together; `markdown` is the one function that does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from ragways.core.types import Markup, MarkupKind

_LETTERS: Final[dict[MarkupKind, str]] = {
    "heading": "h", "code": "c", "gap": "g", "inline": "i", "item": "l", "table": "t", "link": "a",
}  # fmt: skip
_KINDS: Final = {letter: kind for kind, letter in _LETTERS.items()}
_TICKS: Final = re.compile("`+")
_BAR: Final = re.compile(r"(?<=\S)\||\|(?=\S)")
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>#~]")

Insertion = tuple[int, int, int, str]
"""Where a sign stands, whether it closes (0) or opens (1), which comes first there, and the sign."""


def packed_markup(markup: Sequence[Markup]) -> str:
    """Write markup as it is stored: kinds as letters, distances between starts, lengths, values; empty for none."""
    if not markup:
        return ""
    starts = [one.start for one in markup]
    steps = [b - a for a, b in zip([0, *starts], starts, strict=False)]
    columns = ["".join(_LETTERS[one.kind] for one in markup), steps, [one.end - one.start for one in markup],
               [one.value for one in markup]]  # fmt: skip
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


def unpacked_markup(stored: str, first: int = 0, last: int = 1 << 62) -> tuple[Markup, ...]:
    """Read markup as it was stored: all of it, or what touches a stretch of the text."""
    if not stored:
        return ()
    kinds, steps, lengths, values = json.loads(stored)
    return tuple(
        Markup(start, start + length, _KINDS[letter], value)
        for letter, start, length, value in zip(kinds, accumulate(steps), lengths, values, strict=True)
        if start <= last and start + length >= first
    )


def markdown(
    text: str,
    start: int,
    markup: Sequence[Markup],
    header: Callable[[Markup], str] = lambda _: "",
    *,
    escape: bool = False,
) -> str:
    """Render a stretch of a document, which begins at `start`, as Markdown.

    `header` gives the first row of a table in whose middle the stretch begins; that row is put above it. With `escape`,
    signs of the plain text that Markdown would take for its own are escaped, for those who parse what they get.
    """
    if not text:
        return text
    end = start + len(text)
    inside = [one for one in markup if one.start < end and (one.end > start or one.start == one.end == start)]
    signs: list[Insertion] = []
    for order, one in enumerate(inside):
        first, last = max(one.start, start), min(one.end, end)
        own = text[first - start : last - start]
        if one.kind == "code":
            fence = _fence(own, 3)
            signs += [(first, 1, order, f"{fence}{one.value}\n"), (last, 0, -order, f"\n{fence}")]
        elif one.kind == "inline":
            tick = _fence(own, 1)
            pad = " " if own.startswith("`") or own.endswith("`") else ""
            signs += [(first, 1, order, tick + pad), (last, 0, -order, pad + tick)]
        elif one.kind == "table":
            signs += _table_signs(text, start, one, order, header)
        elif one.kind == "link" and first == one.start and last == one.end and not set("[]\n") & set(own):
            signs += [(first, 1, order, "["), (last, 0, -order, f"]({_address(one.value)})")]
        elif one.kind == "gap" and one.start > start:
            signs.append((first, 1, order, "\n" * int(one.value)))
        elif one.start >= start and one.kind in ("item", "heading"):
            signs.append((first, 1, order, f"{one.value} "))
    raw = [(one.start, one.end) for one in inside if one.kind in ("code", "inline")] if escape else []
    return _with_signs(text, start, sorted(signs, key=lambda sign: sign[:3]), raw, escape=escape)


def _with_signs(
    text: str, start: int, signs: Sequence[Insertion], raw: Sequence[tuple[int, int]], *, escape: bool
) -> str:
    """Put signs into a text; what stands outside `raw` stretches is escaped on request."""
    borders = sorted({start, start + len(text), *(place for each in raw for place in each if place > start)})
    parts: list[str] = []
    here, at = start, 0
    for place, _, _, sign in [*signs, (start + len(text), 2, 0, "")]:
        while here < place:
            while at < len(borders) and borders[at] <= here:
                at += 1
            stop = min([place, *borders[at : at + 1]])
            stretch = text[here - start : stop - start]
            plain = escape and not any(first <= here < last for first, last in raw)
            parts.append(_SPECIAL.sub(r"\\\g<0>", stretch) if plain else stretch)
            here = stop
        parts.append(sign)
    return "".join(parts)


def _table_signs(text: str, start: int, table: Markup, order: int, header: Callable[[Markup], str]) -> list[Insertion]:
    """Return the bars of a table's rows, its rule and, where the stretch begins below it, its first row again."""
    first, last = max(table.start, start), min(table.end, start + len(text))
    signs: list[Insertion] = []
    begin = first
    rows = text[first - start : last - start].split("\n")
    if first == table.start and len(rows) > 1 and " | " not in rows[0] and " | " in rows[1]:
        signs.append((first + len(rows[0]), 0, -order, "\n"))  # a caption stands above the names of the columns
        begin += len(rows.pop(0)) + 1
    for number, row in enumerate(rows):
        stop = begin + len(row)
        top = "" if number else row if first == table.start else header(table)
        rule = f"|{' --- |' * (top.count(' | ') + 1)}"
        above = f"| {top} |\n{rule}\n" if top and first > table.start else ""
        below = f"\n{rule}" if top and first == table.start else ""
        signs += [(begin, 1, order, f"{above}| "), (stop, 0, -order, f" |{below}")]
        # A bar that stands in a cell; those between cells have blanks around them.
        signs += [(begin + bar.start(), 1, order, "\\") for bar in _BAR.finditer(row)]
        begin = stop + 1
    return signs


def _fence(text: str, least: int) -> str:
    """Return as many backticks as no run of them in a text has."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    if least == 1:
        return "`" * (longest + 1)
    return "`" * max(least, longest + 1)


def _address(url: str) -> str:
    return f"<{url}>" if set(url) & set(" ()") else url
