"""A run asked several times: the mean of each repeat, their median and range. One lucky repeat is no result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from ragways.evaluation.statistics.values import Values, lacking


@dataclass(frozen=True, slots=True)
class Repeats:
    """`means` of the repeats in their order, None where none of its answers was scored; `scored`: of how many each."""

    means: tuple[float | None, ...]
    scored: tuple[int, ...]
    median: float | None
    low: float | None
    high: float | None

    def data(self) -> dict[str, Any]:
        return asdict(self)


def over_repeats(values: Values) -> Repeats:
    """Of one paradigm and one metric."""
    most = max((len(row) for row in values.values()), default=0)
    columns = [[float(row[at]) for row in values.values()  # type: ignore[arg-type]
                if at < len(row) and lacking(row[at]) is None] for at in range(most)]  # fmt: skip
    means = tuple(_mean(column) for column in columns)
    known = [mean for mean in means if mean is not None]
    return Repeats(
        means=means,
        scored=tuple(map(len, columns)),
        median=median(known) if known else None,
        low=min(known, default=None),
        high=max(known, default=None),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
