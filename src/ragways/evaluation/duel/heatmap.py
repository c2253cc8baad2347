"""The heat map: relative win rates of every paradigm against every other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ragways.evaluation.duel.figures import Figures
from ragways.evaluation.duel.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Cell:
    """Of the row against the column."""

    rate: float | None
    adjusted: float | None
    outcome: str


@dataclass(frozen=True)
class HeatMap:
    """Above 0 the row beats the column. Both halves are there: a cell is the negative of its mirror."""

    names: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]

    def data(self) -> dict[str, Any]:
        def rows(what: str) -> list[list[Any]]:
            return [[getattr(self.cells.get((row, column)), what, None) for column in self.names] for row in self.names]

        return {"names": list(self.names), "rates": rows("rate"), "adjusted": rows("adjusted"),
                "outcomes": rows("outcome")}  # fmt: skip


def heat_map(names: tuple[str, ...], pairs: Iterable[tuple[str, str, Figures, Verdict]]) -> HeatMap:
    cells: dict[tuple[str, str], Cell] = {}
    for a, b, found, verdict in pairs:
        cells[a, b] = Cell(found.rate, verdict.adjusted, _outcome(verdict, a))
        cells[b, a] = Cell(None if found.rate is None else 0.0 - found.rate, verdict.adjusted, _outcome(verdict, b))
    return HeatMap(names, cells)


def _outcome(verdict: Verdict, row: str) -> str:
    if verdict.outcome != "win":
        return verdict.outcome
    return "win" if verdict.winner == row else "loss"
