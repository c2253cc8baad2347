"""What a judge is worth, by what people said: its agreement with them, and means that their labels correct.

Agreement is Cohen's kappa with linear weights: right for wrong is twice as bad as right for partly, and what chance
alone would give is taken off. Its interval is that of questions drawn again.

A corrected mean is that of prediction-powered inference (Angelopoulos and others, 2023) with power tuning (PPI++): the
judge scored every answer, people a random part of them. What they say there of the judge's error corrects the
mean of all, so far (`weight`) as the judge is worth it: a useless one leaves the mean of the labels alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragways.evaluation.statistics.inference import SEED, Clusters, cluster_values, studentised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVELS = (0.0, 0.5, 1.0)
"""Wrong, partly, right."""
DRAWS = 2000
FEWEST_LABELS = 20
"""Labelled questions below which no mean is corrected: with fewer its interval says too much."""
WORST = 1.0
"""The most that a label differs from a judge's value: one that was never wrong among few labels may yet be, by this."""


# Agreement


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with linear weights: 1 where all agree, 0 where no more than by chance. `agreed` is the share of
    answers with the same level. `why` says why there is no kappa, or no interval.
    """

    kappa: float | None
    low: float | None
    high: float | None
    n: int
    agreed: float | None
    why: str = ""


def level(value: float) -> int:
    """The level nearest to a value of 0 to 1: wrong below 0.25, right from 0.75, partly between."""
    return 0 if value < 0.25 else 1 if value < 0.75 else 2


def weighted_kappa(
    pairs: Sequence[tuple[float, float]], groups: Sequence[str], *, draws: int = DRAWS, seed: int = SEED
) -> Kappa:
    """The agreement of two who gave values of 0 to 1 to the same answers, each value taken at its nearest level.

    `groups` are the questions of the answers, which are drawn again as a whole: answers to one question are alike. One
    who never differs from the other has no interval, rather than one of no width.
    """
    import numpy as np

    n = len(pairs)
    if n < 2:
        return Kappa(None, None, None, n, None, "fewer than 2 answers have both")
    names, place = np.unique(np.asarray(groups), return_inverse=True)
    cells = np.asarray([3 * level(a) + level(b) for a, b in pairs])
    tables = np.bincount(9 * place + cells, minlength=9 * len(names)).astype(np.float64).reshape(-1, 9)
    whole = tables.sum(axis=0, keepdims=True)
    agreed = float(whole[0, [0, 4, 8]].sum()) / n
    (kappa,) = _kappas(whole)
    if not math.isfinite(kappa):
        return Kappa(None, None, None, n, agreed, "all have one value")
    square = whole.reshape(3, 3)
    if max(square.sum(axis=0).max(), square.sum(axis=1).max()) == n:
        return Kappa(float(kappa), None, None, n, agreed, "one of the two has one value for all")
    low = high = None
    if agreed < 1 and len(names) > 1:
        times = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
        again = _kappas(times @ tables)
        # Where all drawn have one value there is no kappa: so few differ that some draws leave all of them out.
        again = again[np.isfinite(again)]
        low, high = (float(end) for end in np.quantile(again, [0.025, 0.975]))
    return Kappa(float(kappa), low, high, n, agreed)


def _kappas(tables: Floats) -> Floats:
    """Of each row: a table of 3 × 3 counts, flat."""
    import numpy as np

    square = tables.reshape(-1, 3, 3)
    n = square.sum(axis=(1, 2))
    weights = np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
    seen = (square * weights).sum(axis=(1, 2))
    chance = np.einsum("ti,tj,ij->t", square.sum(axis=2), square.sum(axis=1), weights) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1 - seen / chance)


# Corrected means


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The mean that people would have given, were all answers labelled, with its 95 % interval.

    `raw` is the judge's own mean of all `n`; `labels` is that of the `labelled` alone, with `labels_low` and
    `labels_high`. `weight` is how much the judge counted, from 0 to 1. `why` says why `mean` is None.
    """

    raw: float | None
    mean: float | None
    low: float | None
    high: float | None
    weight: float | None
    labels: float | None
    labels_low: float | None
    labels_high: float | None
    labelled: int
    n: int
    why: str = ""

    def among(self, more: int, total: float) -> CorrectedMean:
        """The mean of these and of so `more` values that are known, whose sum is `total`."""
        every = self.n + more

        def shifted(value: float | None) -> float | None:
            return None if value is None else (self.n * value + total) / every

        return replace(self, raw=shifted(self.raw), mean=shifted(self.mean), low=shifted(self.low),
                       high=shifted(self.high), n=every)  # fmt: skip


def corrected_mean(
    labels: Sequence[float],
    judged: Sequence[float],
    others: Sequence[float],
    *,
    clusters: Clusters = (),
    other_clusters: Clusters = (),
    span: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> CorrectedMean:
    """The mean of labels over all questions, of which a random part was labelled.

    `labels` and `judged` are of the same questions, `others` what the judge said of those without a label. `clusters`
    are those of either (`shared_clusters`), where questions are not independent. `span`: between what values lie.
    """
    import numpy as np

    people, seen, rest = (np.asarray(values, dtype=np.float64) for values in (labels, judged, others))
    every = np.concatenate([seen, rest])
    n, raw = len(every), float(every.mean()) if len(every) else None
    if len(people) < FEWEST_LABELS:
        why = f"fewer than {FEWEST_LABELS} questions have a label"
        return CorrectedMean(raw, None, None, None, None, None, None, None, len(people), n, why)
    weight = _weight(people, seen, rest, every)
    corrected = people - weight * seen
    mean = float(corrected.mean()) + (weight * float(rest.mean()) if weight else 0.0)
    alone = _half_widths(people, clusters, level)
    below, above = _half_widths(corrected, clusters, level)
    if weight:
        # Two independent means: their intervals add up as their errors do (Zou and Donner, 2008).
        more = _half_widths(weight * rest, other_clusters, level, least=0.0)
        below, above = math.hypot(below, more[0]), math.hypot(above, more[1])
    middle = float(people.mean())
    lowest, highest = span
    return CorrectedMean(
        raw=raw,
        mean=min(highest, max(lowest, mean)),
        low=max(lowest, mean - below),
        high=min(highest, mean + above),
        weight=weight,
        labels=middle,
        labels_low=max(lowest, middle - alone[0]),
        labels_high=min(highest, middle + alone[1]),
        labelled=len(people),
        n=n,
    )


def _weight(people: Floats, seen: Floats, rest: Floats, every: Floats) -> float:
    """How much of the judge makes the interval narrowest; none where all were labelled, or it tells nothing."""
    import numpy as np

    spread = float(every.var(ddof=1))
    if len(rest) < 2 or not spread:
        return 0.0
    together = float(np.cov(people, seen)[0, 1])
    return min(1.0, max(0.0, together / (spread * (1 + len(people) / len(rest)))))


def _half_widths(values: Floats, clusters: Clusters, level: float, *, least: float = WORST) -> tuple[float, float]:
    """How far the interval of the mean reaches below it and above."""
    units = cluster_values(values, clusters) if clusters else values
    low, high = studentised(units, level=level, least=least)
    if low is None or high is None:
        return 0.0, 0.0
    middle = float(units.mean())
    return middle - low, high - middle
