"""Which paradigms are worth their cost.

The Pareto front holds those that no other beats in both quality and cost. The break-even says after how many questions
the layers of a paradigm have paid for themselves, against another that needs other ones. A saving counts only where
quality does not suffer: a paradigm that was shown to be worse pays for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ragways.core.text import counted
from ragways.evaluation.resources.usage import LayerCosts, ParadigmUsage, layer_costs
from ragways.evaluation.statistics.comparison import PairComparison, Quality

Pays = Literal["from the first question", "after some questions", "never"]
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

    `saved` is per question; `questions` how many must be asked, None where that is never enough.
    """

    paradigm: str
    against: str
    layers: tuple[str, ...]
    construction: float
    saved: float
    quality: Quality
    pays: Pays
    questions: int | None
    unit: str
    words: str


def break_evens(
    uses: Mapping[str, ParadigmUsage],
    rows: Iterable[PairComparison],
    built: LayerCosts,
    *,
    unit: Literal["tokens", "USD"] = "tokens",
) -> tuple[BreakEven, ...]:
    """For every two paradigms that were compared, the one that needs layers which the other does not; soonest first.

    What is cheaper to build and dearer to ask is left out: the other one's line says it.
    """
    found = []
    for row in rows:
        for one, other, quality in ((row.a, row.b, row.verdict), (row.b, row.a, _TURNED.get(row.verdict, row.verdict))):
            even = _between(uses.get(one), uses.get(other), built, quality, unit)
            if even is not None and even.layers and not (even.construction < 0 and even.saved < 0):
                found.append(even)
    never = float("inf")
    return tuple(sorted(found, key=lambda b: (never if b.questions is None else b.questions, b.paradigm, b.against)))


def _between(
    one: ParadigmUsage | None, other: ParadigmUsage | None, built: LayerCosts, quality: Quality, unit: str
) -> BreakEven | None:
    """None where a cost or the layers of either are not known."""
    if one is None or other is None or one.construction is None or other.construction is None:
        return None
    cost, against = _cost(one, unit), _cost(other, unit)
    if cost is None or against is None:
        return None
    return break_even(
        one.paradigm,
        other.paradigm,
        layers=layer_costs(one.construction.layers, built, unit=unit),
        layers_against=layer_costs(other.construction.layers, built, unit=unit),
        cost=cost,
        cost_against=against,
        quality=quality,
        unit=unit,
    )


def _cost(use: ParadigmUsage, unit: str) -> float | None:
    return use.total.usd if unit == "USD" else use.total.tokens


def break_even(
    paradigm: str,
    against: str,
    *,
    layers: Mapping[str, float],
    layers_against: Mapping[str, float],
    cost: float,
    cost_against: float,
    quality: Quality,
    unit: str = "tokens",
) -> BreakEven:
    """`layers`: the cost of each layer that a paradigm needs; `cost`: of one question, construction apart; `quality`:
    the verdict on the paradigm against the other.
    """
    own = tuple(sorted(set(layers) - set(layers_against)))
    others = set(layers_against) - set(layers)
    built = sum(layers[name] for name in own)
    construction = built - sum(layers_against[name] for name in others)
    saved = cost_against - cost
    questions = None if quality in _UNPAID else _questions(construction, saved)
    pays: Pays = (
        "never" if questions is None else "from the first question" if questions == 0 else "after some questions"
    )
    found = BreakEven(paradigm, against, own, construction, saved, quality, pays, questions, unit, "")
    return replace(found, words=_words(found, built))


def _questions(construction: float, saved: float) -> int | None:
    """The least n with construction ≤ n · saved; None where there is none, or where the lead does not last."""
    if construction <= 0 and saved >= 0:
        return 0
    if saved <= 0:
        return None
    return math.ceil(construction / saved - 1e-9)


def _words(found: BreakEven, built: float) -> str:
    name = " and ".join(found.layers) or found.paradigm
    head = f"{name} (for {found.paradigm})" if found.layers else name
    free = f"costs no {found.unit}" if found.layers and not built else ""
    quality = _QUALITY[found.quality]
    if found.quality in _UNPAID:
        tail = f"no break-even against {found.against}: {quality}"
    elif found.pays == "never":
        more = _amount(-found.saved, found.unit)
        loss = f"saves no {found.unit}" if not found.saved else f"takes {more} more per question"
        tail = f"never pays for itself against {found.against}: {loss} ({quality})"
    elif found.pays == "from the first question":
        tail = f"pays from the first question against {found.against} ({quality})"
    else:
        saved = _amount(found.saved, found.unit)
        tail = (
            f"pays for itself after {counted(found.questions or 0, 'question')} against {found.against}, "
            f"{saved} saved on each ({quality})"
        )
    return f"{head}: {'; '.join(part for part in (free, tail) if part)}"


def _amount(figure: float, unit: str) -> str:
    return f"${figure:.4g}" if unit == "USD" else f"{figure:,.0f} {unit}"


# The Pareto front


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """`dominated_by`: those at least as good and at most as dear, and better in one. None of two equal ones is so.

    A point without quality or cost is not `placed`: it is neither on the front nor off it, and dominates nothing.
    """

    name: str
    quality: float | None
    cost: float | None
    placed: bool
    on_front: bool
    dominated_by: tuple[str, ...] = ()


def pareto(
    points: Mapping[str, tuple[float | None, float | None]], *, less_is_better: bool = False
) -> tuple[ParetoPoint, ...]:
    """Points by name as (quality, cost); cheapest first, the better first of equally cheap ones, unplaced ones last."""
    sign = -1.0 if less_is_better else 1.0
    placed = {
        name: (sign * quality, cost)
        for name, (quality, cost) in points.items()
        if quality is not None and cost is not None and math.isfinite(quality) and math.isfinite(cost)
    }
    found = []
    for name in sorted(placed, key=lambda n: (placed[n][1], -placed[n][0], n)):
        by = tuple(sorted(other for other in placed if _dominates(placed[other], placed[name])))
        found.append(ParetoPoint(name, *points[name], placed=True, on_front=not by, dominated_by=by))
    rest = sorted(points.keys() - placed.keys())
    return (*found, *(ParetoPoint(name, *points[name], placed=False, on_front=False) for name in rest))


def _dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] >= other[0] and one[1] <= other[1]
