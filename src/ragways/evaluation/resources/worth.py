"""Which paradigms are worth their cost.

The Pareto front has those that no other beats in both quality and cost. The break-even says after how many questions
the layers of a paradigm have paid for themselves, against another that needs other ones. A saving counts only where
quality does not suffer: a paradigm that was shown to be worse pays for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ragways.core.table import Table
from ragways.core.text import counted
from ragways.evaluation.resources.usage import LayerCosts
from ragways.evaluation.statistics.comparison import Comparison, Quality
from ragways.store.cache import Spent

Unit = Literal["tokens", "USD"]
_QUALITY: dict[Quality, str] = {
    "better": "at better quality",
    "worse": "at worse quality",
    "no difference shown": "no difference in quality shown",
    "depends on missing values": "quality not known, values are missing",
    "not compared": "quality not compared",
}
_UNPAID: frozenset[Quality] = frozenset({"worse", "depends on missing values", "not compared"})
_TURNED: dict[Quality, Quality] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, slots=True)
class BreakEven:
    """`layers` are those that the other does not need; `construction` is their cost, less that of the other's own.

    `saved` is per question; `questions` how many pay for the layers, None where that never happens.
    """

    paradigm: str
    against: str
    layers: tuple[str, ...]
    construction: float
    saved: float
    quality: Quality
    questions: int | None
    words: str


def break_evens(
    costs: Table, comparisons: Iterable[Comparison], built: LayerCosts, *, unit: Unit = "tokens"
) -> list[BreakEven]:
    """For every two paradigms that were compared, the one that needs layers which the other does not; soonest first.

    `costs` are those of `usage`. What is cheaper to build and dearer to use is left out: the other one's line says it.
    """
    column = "usd" if unit == "USD" else "tokens"
    known = {row["paradigm"]: row for row in costs.to_plain() if None not in (row["index_layers"], row[column])}
    found = []
    for row in comparisons:
        for one, other, quality in ((row.a, row.b, row.verdict), (row.b, row.a, _TURNED.get(row.verdict, row.verdict))):
            if one in known and other in known:
                mine, theirs = (_layer_costs(known[name]["index_layers"], built, unit) for name in (one, other))
                cost, against = (float(known[name][column] or 0.0) for name in (one, other))
                even = break_even(one, other, layers=mine, layers_against=theirs, cost=cost, cost_against=against,
                                  quality=quality, unit=unit)  # fmt: skip
                if even.layers and not (even.construction < 0 and even.saved < 0):
                    found.append(even)
    never = float("inf")
    return sorted(found, key=lambda b: (never if b.questions is None else b.questions, b.paradigm, b.against))


def _layer_costs(layers: object, built: LayerCosts, unit: Unit) -> dict[str, float]:
    found = {layer: built.get(layer, Spent()) for layer in str(layers).split(", ") if layer}
    return {layer: cost.usd if unit == "USD" else float(cost.input + cost.output) for layer, cost in found.items()}


def break_even(
    paradigm: str,
    against: str,
    *,
    layers: Mapping[str, float],
    layers_against: Mapping[str, float],
    cost: float,
    cost_against: float,
    quality: Quality,
    unit: Unit = "tokens",
) -> BreakEven:
    """`layers`: the cost of each layer that a paradigm needs; `cost`: of one question, construction apart; `quality`:
    the verdict on the paradigm against the other.
    """
    own = tuple(sorted(set(layers) - set(layers_against)))
    built = sum(layers[name] for name in own)
    construction = built - sum(layers_against[name] for name in set(layers_against) - set(layers))
    saved = cost_against - cost
    questions = None if quality in _UNPAID else _questions(construction, saved)
    head = f"{' and '.join(own)} (for {paradigm})" if own else paradigm
    free = f"costs no {unit}; " if own and not built else ""
    words = f"{head}: {free}{_words(against, questions, saved, quality, unit)}"
    return BreakEven(paradigm, against, own, construction, saved, quality, questions, words)


def _questions(construction: float, saved: float) -> int | None:
    """The least n with construction ≤ n · saved; None where there is none, or where the lead does not last."""
    if construction <= 0 and saved >= 0:
        return 0
    return math.ceil(construction / saved - 1e-9) if saved > 0 else None


def _words(against: str, questions: int | None, saved: float, quality: Quality, unit: Unit) -> str:
    said = _QUALITY[quality]
    if quality in _UNPAID:
        return f"no break-even against {against}: {said}"
    price = f"${abs(saved):.4g}" if unit == "USD" else f"{abs(saved):,.0f} {unit}"
    if questions is None:
        loss = f"takes {price} more per question" if saved else f"saves no {unit}"
        return f"never pays for itself against {against}: {loss} ({said})"
    if not questions:
        return f"pays from the first question against {against} ({said})"
    return f"pays for itself after {counted(questions, 'question')} against {against}, {price} saved on each ({said})"


def pareto(points: Mapping[str, tuple[float | None, float | None]], *, less_is_better: bool = False) -> list[str]:
    """The names of the points, given as (quality, cost), that no other dominates; cheapest first.

    One dominates another where it is as good and as cheap at least, and better in one. Points without a figure take no
    part.
    """
    sign = -1.0 if less_is_better else 1.0
    placed = {
        name: (sign * quality, cost)
        for name, (quality, cost) in points.items()
        if quality is not None and cost is not None and math.isfinite(quality) and math.isfinite(cost)
    }

    def dominated(own: tuple[float, float]) -> bool:
        return any(other != own and other[0] >= own[0] and other[1] <= own[1] for other in placed.values())

    front = [name for name, own in placed.items() if not dominated(own)]
    return sorted(front, key=lambda name: (placed[name][1], name))
