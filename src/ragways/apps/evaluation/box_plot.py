"""Box plots of relative win rates in the columns of a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragways.core.text import printable

if TYPE_CHECKING:
    from ragways.evaluation.duel.box import Box
    from ragways.evaluation.duel.result import PairResult

PLOT = 41
"""Columns of a box plot; odd, so that 0 has one of its own."""
NAMED = 12
"""Characters of a paradigm's name at the side of a plot."""


def plots(pairs: Sequence[PairResult]) -> Iterator[str]:
    """Box plots under one scale: [ and ] the quartiles, | the median, - the whiskers, o outliers, : nobody ahead."""
    boxes = [(pair, pair.figures.box) for pair in pairs if pair.figures.box is not None]
    if not boxes:
        return
    widest = max(max(abs(v) for v in (one.low, one.high, *one.outliers)) for _, one in boxes)
    reach = max(0.1, math.ceil(10 * widest) / 10)
    for pair, one in boxes:
        yield f"{_short(pair.b):>{NAMED}} {plot(one, reach)} {_short(pair.a)}"
    low, high, half = f"{-100 * reach:+.0f}", f"{100 * reach:+.0f}", PLOT // 2
    yield f"{'':>{NAMED}} {low:<{half}}0{high:>{half}}"


def plot(one: Box, reach: float) -> str:
    def at(value: float) -> int:
        return round((value + reach) / (2 * reach) * (PLOT - 1))

    row = [" "] * PLOT
    row[at(0.0)] = ":"
    for column in range(at(one.low), at(one.high) + 1):
        row[column] = "-"
    for column in range(at(one.first), at(one.third) + 1):
        row[column] = "="
    row[at(one.first)], row[at(one.third)] = "[", "]"
    row[at(one.median)] = "|"
    for value in one.outliers:
        row[at(value)] = "o"
    return "".join(row)


def _short(name: str) -> str:
    name = printable(name)
    return name if len(name) <= NAMED else name[: NAMED - 1] + "…"
