"""What so many questions would miss: the least true difference that is found 4 times of 5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

ALPHA = 0.05
POWER = 0.8
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty"}


@dataclass(frozen=True, slots=True)
class LeastEffect:
    """`effect`: the least true difference of means that is found with this power; None where it cannot be told.

    `needed`: so many questions at least must differ, all to one side, or no test by signs can show anything.
    """

    n: int
    effect: float | None
    needed: int
    power: float = POWER
    alpha: float = ALPHA
    comparisons: int = 1

    def data(self) -> dict[str, Any]:
        return asdict(self)


def least_effect(
    n: int, deviation: float | None, *, alpha: float = ALPHA, power: float = POWER, comparisons: int = 1
) -> LeastEffect:
    """For n pairs whose differences have this standard deviation, two-sided.

    With several comparisons the level is that of Holm's first step, alpha / comparisons: what is least there is enough
    at every later step.
    """
    level = alpha / max(1, comparisons)
    needed = math.ceil(1 - math.log2(level))
    effect = None
    if deviation and n >= max(2, needed):
        spread = t_quantile(1 - level / 2, n - 1) + t_quantile(power, n - 1)
        effect = spread * deviation / math.sqrt(n)
    return LeastEffect(n, effect, needed, power, alpha, max(1, comparisons))


def t_quantile(share: float, degrees: int) -> float:
    """Student's quantile, from the normal one by the series of Cornish and Fisher: to 1 % from 5 degrees on."""
    z = NormalDist().inv_cdf(share)
    terms = (
        z,
        (z**3 + z) / (4 * degrees),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3),
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * degrees**4),
    )
    return sum(terms)


def in_words(least: LeastEffect | Sequence[LeastEffect], *, scale: float = 100.0, unit: str = "points") -> str:
    """A sentence on one comparison, or on all those of a table. `scale` makes a metric of 0 to 1 points of 100."""
    every = [least] if isinstance(least, LeastEffect) else list(least)
    if not every:
        return "Nothing was compared."
    known = sorted(one.effect * scale for one in every if one.effect is not None)
    if not known:
        return _nothing_shown(max(every, key=lambda one: one.n))
    sizes = sorted({one.n for one in every if one.effect is not None})
    questions = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    many = every[0].comparisons
    among = f", {many:,} comparisons" if many > 1 else ""
    said = _said(known[0]) if _said(known[0]) == _said(known[-1]) else f"{_said(known[0])} to {_said(known[-1])}"
    pairs = " (by pair)" if " to " in said else ""
    return (
        f"With {questions} questions a true difference below {said} {unit}{pairs} would be missed more than "
        f"{_often(1 - every[0].power)} ({every[0].power:.0%} power{among}).".replace("%", " %")
    )


def _nothing_shown(least: LeastEffect) -> str:
    if least.n < least.needed:
        return (
            f"With {least.n:,} questions no difference could have been shown, however large: "
            f"{least.needed:,} at least are needed."
        )
    return (
        f"The difference was the same on all {least.n:,} questions, so the least that would be found cannot be told; "
        f"had fewer than {least.needed:,} of them differed, nothing could have been shown."
    )


def _often(share: float) -> str:
    times = round(1 / share)
    return f"once in {_NUMBERS.get(times, times)} times"


def _said(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2g}" if figure < 1 else f"{figure:.1f}".removesuffix(".0")
