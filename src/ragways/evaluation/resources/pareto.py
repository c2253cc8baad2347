"""Which paradigms are worth their cost: those that no other beats in both quality and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Point:
    """`dominated_by`: those at least as good and at most as dear, and better in one. None of two equal ones is so.

    A point without quality or cost is not `placed`: it is neither on the front nor off it, and dominates nothing.
    """

    name: str
    quality: float | None
    cost: float | None
    placed: bool
    on_front: bool
    dominated_by: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        return asdict(self)


def pareto(
    points: Mapping[str, tuple[float | None, float | None]], *, less_is_better: bool = False
) -> tuple[Point, ...]:
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
        found.append(Point(name, *points[name], placed=True, on_front=not by, dominated_by=by))
    rest = sorted(points.keys() - placed.keys())
    return (*found, *(Point(name, *points[name], placed=False, on_front=False) for name in rest))


def _dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] >= other[0] and one[1] <= other[1]
