"""Two paradigms on the same questions: the difference, how far it can be believed, and what could not be paired.

The interval is a paired bootstrap: questions are drawn again with putting back. p is that of a sign-flip permutation
test: were the two alike, each question's difference could as well have had the other sign. On metrics of yes and no
that is McNemar's exact test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ragways.evaluation.intervals import DRAWS, SEED, means
from ragways.evaluation.statistics.values import NOT_ASKED, averaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLIPS = 20_000
ENUMERATED = 16
"""Differences other than 0 up to which every choice of signs is looked at: 65,536 of them."""
COUNTED = 20_000
"""Differences of one size up to which p is summed from binomial coefficients."""
_SAME = 1e-9
"""Sums of the same numbers in another order may differ by this share of them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`difference` is a's mean less b's over the n questions that both have; None where nothing could be computed.

    `missing_a` and `missing_b` count, by reason, the questions left out because that side has no value for them;
    `dropped` is the number of questions left out, of which either or both sides had none.
    """

    n: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    exact: bool = False
    deviation: float | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    dropped: int = 0
    missing_a: Mapping[str, int] = field(default_factory=dict)
    missing_b: Mapping[str, int] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        return asdict(self)


def compare(
    a: Mapping[str, float | Sequence[float]],
    b: Mapping[str, float | Sequence[float]],
    *,
    seed: int = SEED,
    level: float = 0.95,
    why_a: Mapping[str, str] | None = None,
    why_b: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare values by question; several of one question are averaged first. `why_a`: questions without a value."""
    import numpy as np

    first, gaps_a = averaged(_rows(a))
    second, gaps_b = averaged(_rows(b))
    gaps_a, gaps_b = {**(why_a or {}), **gaps_a}, {**(why_b or {}), **gaps_b}
    every = sorted(first.keys() | second.keys() | gaps_a.keys() | gaps_b.keys())
    shared = [question for question in every if question in first and question in second]
    missing = {
        "dropped": len(every) - len(shared),
        "missing_a": _reasons(every, first, gaps_a),
        "missing_b": _reasons(every, second, gaps_b),
    }
    if not shared:
        return Comparison(0, **missing)  # type: ignore[arg-type]
    one, two = np.array([first[q] for q in shared]), np.array([second[q] for q in shared])
    return _compared(one, two, seed=seed, level=level, missing=missing)


def _rows(values: Mapping[str, float | Sequence[float]]) -> dict[str, Sequence[float]]:
    return {q: value if isinstance(value, Sequence) else (value,) for q, value in values.items()}


def _reasons(every: Sequence[str], found: Mapping[str, float], gaps: Mapping[str, str]) -> dict[str, int]:
    return dict(sorted(Counter(gaps.get(q, NOT_ASKED) for q in every if q not in found).items()))


def _compared(one: Floats, two: Floats, *, seed: int, level: float, missing: Mapping[str, Any]) -> Comparison:
    import numpy as np

    apart = one - two
    # What rounding left of a difference of means over repeats is none.
    apart[np.abs(apart) <= _SAME * np.maximum(np.abs(one), np.abs(two))] = 0.0
    n = len(apart)
    low = high = deviation = None
    if n > 1:
        deviation = float(apart.std(ddof=1))
    if n > 1 and np.ptp(apart) > _SAME:  # all alike tell nothing of how they might differ
        low, high = map(float, np.quantile(means(apart, draws=DRAWS, seed=seed), [(1 - level) / 2, (1 + level) / 2]))
    p, exact = sign_flip(apart, seed=seed)
    return Comparison(
        n=n, mean_a=float(one.mean()), mean_b=float(two.mean()), difference=float(apart.mean()), low=low, high=high,
        p=p, exact=exact, deviation=deviation, wins=int((apart > 0).sum()), ties=int((apart == 0).sum()),
        losses=int((apart < 0).sum()), **missing,
    )  # fmt: skip


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
    if len(apart) <= COUNTED and np.ptp(sizes) <= _SAME * sizes[0]:
        return _binomial(len(apart), int((apart < 0).sum())), True
    least = abs(float(apart.sum())) - _SAME * float(sizes.sum())
    if len(apart) <= ENUMERATED:
        return float((np.abs(_every_sum(apart)) >= least).mean()), True
    beyond = int((np.abs(_drawn_sums(apart, flips, seed)) >= least).sum())
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
