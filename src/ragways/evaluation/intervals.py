"""How far a mean over questions can be believed: percentile bootstrap, seeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DRAWS = 2000
SEED = 7
FEW = 12
"""Distinct values up to which it is cheaper to draw how often each comes than to draw the questions one by one."""
KEPT = 2000
"""Values up to which the draws are kept for the next metric or pair of as many: 32 MB at most, for two sizes."""
_AT_ONCE = 1 << 18
"""Values drawn at once: what fits a processor's cache. Ten thousand questions would take 160 MB otherwise."""


def interval(values: Sequence[float], *, level: float = 0.95, seed: int = SEED) -> tuple[float, float]:
    """The interval of the mean in which it falls when the questions are drawn again."""
    import numpy as np

    if not len(values):
        return (0.0, 0.0)
    low, high = np.quantile(means(values, seed=seed), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


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
