"""What a figure is worth: intervals of means, p of paired differences, and what so many questions would miss.

An interval is a percentile bootstrap over questions, seeded, or Wilson's for shares of yes and no. p is that of a
sign-flip permutation test: were two paradigms alike, each question's difference could as well have had the other sign.
On metrics of yes and no that is McNemar's exact test. Several p are corrected by Holm's step-down procedure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEED = 7
DRAWS = 2000
FEW = 12
"""Distinct values up to which it is cheaper to draw how often each comes than to draw the questions one by one."""
KEPT = 2000
"""Values up to which the draws are kept for the next metric or pair of as many: 32 MB at most, for two sizes."""
_AT_ONCE = 1 << 18
"""Values drawn at once: what fits a processor's cache. Ten thousand questions would take 160 MB otherwise."""
FLIPS = 20_000
ENUMERATED = 16
"""Differences other than 0 up to which every choice of signs is looked at: 65,536 of them."""
COUNTED = 20_000
"""Differences of one size up to which p is summed from binomial coefficients."""
ROUNDING = 1e-9
"""Means over repeats, and sums in another order, that differ by no more than this share are the same."""
ALPHA = 0.05
POWER = 0.8
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty"}


def interval(
    values: Sequence[float], *, share: bool = False, level: float = 0.95, seed: int = SEED
) -> tuple[float, float] | tuple[None, None]:
    """The interval of the mean in which it falls when the questions are drawn again.

    One question tells nothing of others, and of values that are all alike every draw is alike: both have no interval,
    rather than one of no width. `share`: the values lie between 0 and 1. Where each *is* 0 or 1 the interval is
    Wilson's, which has a width even then: the bootstrap's held a share of 0.95 in but 64 % of samples of 20.
    """
    import numpy as np

    if len(values) < 2:
        return None, None
    if share and all(value in (0, 1) for value in values):
        return _wilson(sum(values), len(values), level)
    if max(values) - min(values) <= ROUNDING:
        return None, None
    low, high = np.quantile(means(values, seed=seed), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _wilson(right: float, n: int, level: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (right + z * z / 2) / (n + z * z)
    half = z * math.sqrt(right * (n - right) / n + z * z / 4) / (n + z * z)
    # Rounding must not leave a share of 1 a little above its own interval.
    return (0.0 if right == 0 else middle - half), (1.0 if right == n else middle + half)


def means(values: Sequence[float] | Floats, *, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """The means of as many values, drawn with putting back, so many times. They do not depend on the values' order."""
    import numpy as np

    data = np.sort(np.asarray(values, dtype=np.float64))
    chance = np.random.default_rng(seed)
    distinct, counts = np.unique(data, return_counts=True)
    if len(distinct) == 1:
        return np.full(draws, distinct[0])
    if len(distinct) <= FEW:
        # How often each value comes when n are drawn with putting back is multinomial: the same distribution.
        drawn = chance.multinomial(len(data), counts / len(data), size=draws)
        return np.asarray(drawn @ distinct / len(data))
    if len(data) <= KEPT:
        return np.asarray(_weights(len(data), draws, seed) @ data)
    found = np.empty(draws)
    for at, drawn in _drawn(len(data), draws, chance):
        found[at : at + len(drawn)] = data.take(drawn).mean(axis=1)
    return found


def _drawn(n: int, draws: int, chance: np.random.Generator) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Numbers below n, n of them a draw: some draws at a time, and the number of the first of them."""
    rows = max(1, _AT_ONCE // n)
    for at in range(0, draws, rows):
        yield at, chance.integers(0, n, size=(min(rows, draws - at), n))


@lru_cache(maxsize=2)
def _weights(n: int, draws: int, seed: int) -> Floats:
    """How much each of n values weighs in each draw. All metrics and pairs of a run have the same n, or nearly so."""
    import numpy as np

    weights = np.empty((draws, n))
    for at, drawn in _drawn(n, draws, np.random.default_rng(seed)):
        flat = drawn + np.arange(len(drawn))[:, None] * n
        counts = np.bincount(flat.ravel(), minlength=len(drawn) * n)
        weights[at : at + len(drawn)] = counts.reshape(len(drawn), n)
    weights /= n
    return weights


def sign_flip(differences: Sequence[float] | Floats, *, flips: int = FLIPS, seed: int = SEED) -> tuple[float, bool]:
    """Two-sided p of the mean difference, and whether it is exact rather than drawn.

    The share of choices of signs whose sum is at least as far from 0 as the one seen; of drawn ones with 1 added above
    and below, so that p is never 0. Differences of 0 have no sign and change nothing.
    """
    import numpy as np

    apart = np.asarray(differences, dtype=np.float64)
    apart = apart[apart != 0]
    if not len(apart):
        return 1.0, True
    sizes = np.abs(apart)
    if len(apart) <= COUNTED and np.ptp(sizes) <= ROUNDING * sizes[0]:
        return _binomial(len(apart), int((apart < 0).sum())), True
    threshold = abs(float(apart.sum())) - ROUNDING * float(sizes.sum())
    if len(apart) <= ENUMERATED:
        return float((np.abs(_every_sum(apart)) >= threshold).mean()), True
    beyond = int((np.abs(_drawn_sums(apart, flips, seed)) >= threshold).sum())
    return (beyond + 1) / (flips + 1), False


def _binomial(n: int, k: int) -> float:
    """Two-sided: how often n coins fall at least as unevenly as k to n − k."""
    few = min(k, n - k)
    term = total = 1
    for i in range(few):
        term = term * (n - i) // (i + 1)
        total += term
    return min(1.0, 2 * total / (1 << n))


def _every_sum(apart: Floats) -> Floats:
    import numpy as np

    sums = np.zeros(1)
    for size in apart:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _drawn_sums(apart: Floats, flips: int, seed: int) -> Floats:
    """Sums under drawn signs: eight differences at a time, whose 256 sums are looked up by one drawn byte."""
    import numpy as np

    chance = np.random.default_rng(seed)
    eights = np.zeros((-(-len(apart) // 8), 8))
    eights.ravel()[: len(apart)] = apart
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    sums = np.zeros(flips)
    for table in eights @ signs.T:
        sums += table.take(chance.integers(0, 256, size=flips, dtype=np.uint8))
    return sums


def p_text(p: float | None) -> str:
    """p with three digits, or `<0.001`; a dash where there is none."""
    return "–" if p is None else f"{p:.3f}" if p >= 0.001 else "<0.001"


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted p in the order given: the chance that even one of those so small is found where nothing differs."""
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError("p lies between 0 and 1")
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = largest
    return adjusted


@dataclass(frozen=True, slots=True)
class DetectableEffect:
    """The minimum detectable effect. `effect`: the least true difference of means that is found with this power; None
    where it cannot be told.

    `needed`: so many questions at least must differ, all to one side, or no test by signs can show anything.
    """

    n: int
    effect: float | None
    needed: int
    power: float = POWER
    alpha: float = ALPHA
    comparisons: int = 1


def detectable_effect(
    n: int, deviation: float | None, *, alpha: float = ALPHA, power: float = POWER, comparisons: int = 1
) -> DetectableEffect:
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
    return DetectableEffect(n, effect, needed, power, alpha, max(1, comparisons))


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


def in_words(
    effect: DetectableEffect | Sequence[DetectableEffect], *, scale: float = 100.0, unit: str = "points"
) -> str:
    """A sentence on one comparison, or on all those of a table. `scale` makes a metric of 0 to 1 points of 100."""
    every = [effect] if isinstance(effect, DetectableEffect) else list(effect)
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


def _nothing_shown(effect: DetectableEffect) -> str:
    if effect.n < effect.needed:
        return (
            f"With {effect.n:,} questions no difference could have been shown, however large: "
            f"{effect.needed:,} at least are needed."
        )
    return (
        f"The difference was the same on all {effect.n:,} questions, so the least that would be found cannot be told; "
        f"had fewer than {effect.needed:,} of them differed, nothing could have been shown."
    )


def _often(share: float) -> str:
    times = round(1 / share)
    return f"once in {_NUMBERS.get(times, times)} times"


def _said(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2g}" if figure < 1 else f"{figure:.1f}".removesuffix(".0")
