"""What a figure is worth: intervals of means, p of paired differences, and what so many questions would miss.

An interval is Student's with a correction for skewness, or Wilson's for shares of yes and no. p is that of a sign-flip
test: were two paradigms alike, each question's difference could as well have had the other sign. On metrics
of yes and no that is McNemar's exact test. Several p are corrected by Holm's step-down procedure.

Questions on one document are not independent. Where they are grouped by it (`clusters`), signs are flipped by document
and an interval is that of documents drawn again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEED = 7
FLIPS = 20_000
ENUMERATED = 16
"""Differences other than 0 up to which every choice of signs is looked at: 65,536 of them."""
COUNTED = 20_000
"""Differences of one size up to which p is summed from binomial coefficients."""
ROUNDING = 1e-9
"""Means over repeats, and sums in another order, that differ by no more than this share are the same."""
ALPHA = 0.05
POWER = 0.8
Clusters = Sequence[tuple[str, ...]]
"""The cluster of each value, and by what else it depends on values of other clusters. Empty: all are independent."""
FEWEST = 6
"""Clusters below which no test by their signs could show anything at the usual level: 2 / 2⁵ > 0.05."""
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty"}


# Intervals


def interval(
    values: Sequence[float],
    *,
    share: bool = False,
    level: float = 0.95,
    clusters: Clusters = (),
    span: tuple[float, float] | None = None,
) -> tuple[float, float] | tuple[None, None]:
    """The interval of the mean in which it falls when the questions are drawn again.

    One question tells nothing of others, and values that are all alike do not tell how they might differ: both have no
    interval, rather than one of no width. `span`: between what the values lie, and the interval too. `share`: between 0
    and 1. Where each *is* 0 or 1 the interval is Wilson's, which has a width even then. `clusters` are those of the
    values (`shared_clusters`).
    """
    import numpy as np

    if len(values) < 2:
        return None, None
    data = np.asarray(values, dtype=np.float64)
    units = cluster_values(data, clusters) if clusters else data
    if len(units) < 2:
        return None, None
    if share and all(value in (0, 1) for value in values):
        return _wilson(float(data.mean()), len(data), units, level)
    low, high = studentised(units, level=level)
    if low is None or high is None:
        return None, None
    least, most = span or ((0.0, 1.0) if share else (low, high))
    return max(least, low), min(most, high)


def _wilson(right: float, n: int, units: Floats, level: float) -> tuple[float, float]:
    """Wilson's interval of a share. Clusters count as so many independent questions as would tell as much."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    size = float(n)
    if len(units) < n:
        z = t_quantile((1 + level) / 2, len(units) - 1)
        spread = float(units.var(ddof=1)) / len(units)
        size = min(size, right * (1 - right) / spread) if spread and 0 < right < 1 else float(len(units))
    middle = (right + z * z / (2 * size)) / (1 + z * z / size)
    half = z * math.sqrt(right * (1 - right) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    # Rounding must not leave a share of 1 a little above its own interval.
    return (0.0 if right == 0 else max(0.0, middle - half)), (1.0 if right == 1 else min(1.0, middle + half))


def shared_clusters(questions: Sequence[str], documents: Mapping[str, tuple[str, ...]]) -> Clusters:
    """The documents of each question, or a name of its own; empty where none share one, or the documents are too few.

    Of few documents nothing can be said about others: questions are taken one by one then, and figures hold for these
    documents alone.
    """
    clusters = [documents.get(question) or (f"question {question}",) for question in questions]
    return clusters if FEWEST <= len({names[0] for names in clusters}) < len(clusters) else []


def cluster_sums(values: Floats, clusters: Clusters) -> tuple[Floats, Floats]:
    """The sum of the values of each cluster, and how many there are in it."""
    import numpy as np

    _, place = np.unique([names[0] for names in clusters], return_inverse=True)
    return np.bincount(place, weights=values).astype(np.float64), np.bincount(place).astype(np.float64)


def cluster_values(values: Floats, clusters: Clusters) -> Floats:
    """A value for each cluster, of the same mean: how far the mean of all would move without it, so many times."""
    sums, sizes = cluster_sums(values, clusters)
    mean = float(values.mean())
    scale = overlap(values - mean, clusters) * len(sums) / len(values)
    return mean + (sums - mean * sizes) * scale


def overlap(values: Floats, clusters: Clusters) -> float:
    """How much more a sum of values varies than its clusters tell, since those of different ones may share a document:
    1 where none do. The variance of a sum is that of all pairs of values which have a document in common.
    """
    own: dict[str, float] = defaultdict(float)
    every: dict[str, float] = defaultdict(float)
    twice = 0.0
    for value, names in zip(values.tolist(), clusters, strict=True):
        own[names[0]] += value
        for name in names:
            every[name] += value
        twice += (len(names) - 1) * value * value
    scale = sum(value * value for value in own.values())
    return math.sqrt(max(1.0, (sum(value * value for value in every.values()) - twice) / scale)) if scale else 1.0


def studentised(values: Floats, *, level: float = 0.95, least: float = 0.0) -> tuple[float, float] | tuple[None, None]:
    """The interval of the mean of independent values: that of Hall (1992), Student's with t transformed by a cubic of
    the skewness.

    Two values are added first, one to each side of the mean, as far from it as values that differ from the median lie
    from that (at least `least`): what is rare may not have come yet. Agresti and Min (2005) do so for yes and no.
    """
    import numpy as np

    if len(values) < 2:
        return None, None
    middle, seen = float(np.median(values)), float(values.mean())
    apart = np.abs(values - middle)
    apart = apart[apart > ROUNDING * max(1.0, abs(middle))]
    size = max(least, math.sqrt(float((apart**2).mean())) if len(apart) else 0.0)
    if not size:
        return None, None
    padded = np.concatenate([np.sort(values), [seen - size, seen + size]])
    n, spread = len(padded), float(padded.var())
    skewness = float(((padded - seen) ** 3).mean()) / spread**1.5 / math.sqrt(n)
    error, t = math.sqrt(spread / (n - 1)), t_quantile((1 + level) / 2, n - 1)
    return seen - error * _unskewed(t, skewness), seen - error * _unskewed(-t, skewness)


def _unskewed(t: float, skewness: float) -> float:
    """The inverse of Hall's transformation: the t of skewed values that is as rare as this one of even ones."""
    if abs(skewness) < 1e-6:
        return t
    inner = 1 + skewness * (t - skewness / 6)
    return 3 / skewness * (math.copysign(abs(inner) ** (1 / 3), inner) - 1)


# p of differences


def sign_flip(
    differences: Sequence[float] | Floats, *, flips: int = FLIPS, seed: int = SEED, overlap: float = 1.0
) -> tuple[float, bool]:
    """Two-sided p of the mean difference, and whether it is exact rather than drawn.

    The share of choices of signs whose sum is at least as far from 0 as the one seen; of drawn ones with 1 added above
    and below, so that p is never 0. Differences of 0 have no sign and change nothing. The sum is as many times less
    far from 0 as it varies more than the differences tell (`overlap`).
    """
    import numpy as np

    apart = np.asarray(differences, dtype=np.float64)
    apart = apart[apart != 0]
    if not len(apart):
        return 1.0, True
    sizes = np.abs(apart)
    if overlap == 1 and len(apart) <= COUNTED and np.ptp(sizes) <= ROUNDING * sizes[0]:
        return _binomial(len(apart), int((apart < 0).sum())), True
    threshold = abs(float(apart.sum())) / overlap - ROUNDING * float(sizes.sum())
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


@dataclass(frozen=True, slots=True)
class Inference:
    """What paired differences show: their mean, p (`exact` rather than drawn), and an interval. `deviation` is that of
    independent ones: by document where questions share them.
    """

    mean: float
    p: float
    exact: bool
    low: float | None
    high: float | None
    deviation: float | None

    @property
    def apart(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def infer(
    differences: Sequence[float] | Floats,
    clusters: Clusters = (),
    *,
    level: float = 0.95,
    least: float = 0.0,
    span: tuple[float, float] | None = None,
    seed: int = SEED,
) -> Inference:
    """A test by signs and an interval for differences by question; `clusters` are flipped and drawn as a whole."""
    import numpy as np

    apart = np.asarray(differences, dtype=np.float64)
    sums, units, wider = apart, apart, 1.0
    if clusters:
        sums, units = cluster_sums(apart, clusters)[0], cluster_values(apart, clusters)
        wider = overlap(apart, clusters)
        sums[np.abs(sums) <= ROUNDING * float(np.abs(apart).max())] = 0.0
    p, exact = sign_flip(sums, seed=seed, overlap=wider)
    low, high = studentised(units, level=level, least=least)
    if span is not None and low is not None and high is not None:
        low, high = max(span[0], low), min(span[1], high)
    deviation = float(units.std(ddof=1)) if len(units) > 1 else None
    return Inference(float(apart.mean()), p, exact, low, high, deviation)


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


# What would be missed


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
    n: int,
    deviation: float | None,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
    comparisons: int = 1,
    clusters: int = 0,
    differing: int | None = None,
) -> DetectableEffect:
    """For n pairs whose differences have this standard deviation, two-sided.

    With several comparisons the level is that of Holm's first step, alpha / comparisons: what is least there is enough
    at every later step. `clusters`: so many there are, and the deviation is that of their values. `differing`: the
    outcomes are yes and no, and so many pairs differ.
    """
    level = alpha / max(1, comparisons)
    needed = math.ceil(1 - math.log2(level))
    units = clusters or n
    effect = None
    if differing is not None and not clusters and n >= needed:
        effect = _yes_no_effect(n, differing, level, power)
    elif deviation and units >= max(2, needed):
        spread = t_quantile(1 - level / 2, units - 1) + t_quantile(power, units - 1)
        effect = spread * deviation / math.sqrt(units)
    return DetectableEffect(n, effect, needed, power, alpha, max(1, comparisons))


def _yes_no_effect(n: int, differing: int, level: float, power: float) -> float:
    """The effect that McNemar's test finds. Its questions differ beside those that differ anyway; and the test, being
    exact, wants one question more than the normal curve does (wins less losses move in steps of two).
    """
    spread = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
    usual = (differing + 2) * n / (n + 2)
    # n · effect = 1 + spread · sqrt(usual + n · effect), solved for the root.
    root = (spread + math.sqrt(spread * spread + 4 * (1 + usual))) / 2
    return min(1.0, (root * root - usual) / n)


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
    least, most = _figure(known[0]), _figure(known[-1])
    size, pairs = (least, "") if least == most else (f"{least} to {most}", " (by pair)")
    return (
        f"With {questions} questions a true difference below {size} {unit}{pairs} would be missed more than "
        f"{_often(1 - every[0].power)} ({every[0].power:.0%} power{among}).".replace("%", " %")
    )


def _nothing_shown(effect: DetectableEffect) -> str:
    if effect.n < effect.needed:
        return (
            f"With {effect.n:,} questions no difference could have been shown, however large: "
            f"{effect.needed:,} at least are needed."
        )
    return (
        f"The difference was the same on all {effect.n:,} questions, so no smallest difference that would be found can "
        f"be estimated; to show any, {effect.needed:,} questions at least must differ."
    )


def _often(share: float) -> str:
    times = round(1 / share)
    return f"once in {_NUMBERS.get(times, times)} times"


def _figure(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2g}" if figure < 1 else f"{figure:.1f}".removesuffix(".0")
