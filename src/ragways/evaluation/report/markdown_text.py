"""Text of documents and models as Markdown may show it: as text, on one line, whatever signs it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SIGNS = re.compile(r"([\\`*_\[\]#|~$!])")
_START = re.compile(r"^([-+=]+(?=\s|$)|\d+(?=[.)](?:\s|$)))")
_FIGURE = re.compile(r"[*$+−-]*\d|–")
_WIDEST = 60
_LINKS = re.compile(r"(?i)(://|www\.|@)")


def said(text: object, length: int = 2000) -> str:
    """No sign of it is markup, no address a link."""
    flat = " ".join(str(text)[: length + 1].split())
    flat = _CONTROLS.sub("\ufffd", flat[:length] + ("…" if len(str(text)) > length else ""))
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    flat = _SIGNS.sub(r"\\\1", flat)
    flat = _LINKS.sub(lambda match: "".join(f"&#{ord(sign)};" for sign in match[0]), flat)
    return _START.sub(lambda match: "".join(f"&#{ord(sign)};" for sign in match[0]), flat)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Cells are Markdown already. Padded, so that it reads as well where nothing renders it."""
    cells = [list(heads), *map(list, rows)]
    widths = [min(_WIDEST, max(len(row[at]) for row in cells)) for at in range(len(heads))]
    right = [at > 0 and all(_FIGURE.match(row[at]) for row in cells[1:]) for at in range(len(heads))]

    def line(row: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if end else cell.ljust(width) for cell, width, end in zip(row, widths, right, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = (f"{'-' * (width + 1)}{':' if end else '-'}" for width, end in zip(widths, right, strict=True))
    return [line(cells[0]), f"|{'|'.join(rule)}|", *map(line, cells[1:]), ""]


def scored(found: Mapping[str, Any] | None) -> str:
    """A mean, its interval, and how many it is of."""
    if not found or found["mean"] is None:
        return f"– ({found['unscored']} unscored)" if found and found["unscored"] else "–"
    unscored = f", {found['unscored']} unscored" if found["unscored"] else ""
    between = f"{interval(found)}; " if found["low"] is not None else ""
    return f"{found['mean']:.3f} ({between}n {found['n']}{unscored})"


def interval(found: Mapping[str, Any]) -> str:
    return "–" if found.get("low") is None else f"{found['low']:.2f} to {found['high']:.2f}"


def amount(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def counted(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{said(why) or 'no reason given'}: {count:,}" for why, count in reasons.items()) or "none"
