"""A box plot in numbers: median, quartiles, whiskers and outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

WHISKER = 1.5
"""Quartile distances beyond which a value is an outlier."""


@dataclass(frozen=True, slots=True)
class Box:
    """`low` and `high` are the outermost values that are no outliers."""

    n: int
    median: float
    first: float
    third: float
    low: float
    high: float
    outliers: tuple[float, ...] = ()

    def data(self) -> dict[str, Any]:
        return asdict(self)


def box(values: Sequence[float]) -> Box | None:
    """None where there is nothing to show."""
    if not values:
        return None
    ordered = sorted(values)
    first, median, third = (_quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    reach = WHISKER * (third - first)
    inside = [value for value in ordered if first - reach <= value <= third + reach] or [median]
    outside = tuple(value for value in ordered if value < inside[0] or value > inside[-1])
    return Box(len(ordered), median, first, third, inside[0], inside[-1], outside)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two values around it, by how near it is to each (numpy's usual way)."""
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])
