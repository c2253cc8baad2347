"""How far a mean over questions can be believed: percentile bootstrap, seeded."""

from __future__ import annotations

from collections.abc import Sequence

DRAWS = 2000
SEED = 7


def interval(values: Sequence[float], *, level: float = 0.95, seed: int = SEED) -> tuple[float, float]:
    """The interval of the mean in which it falls when the questions are drawn again."""
    import numpy as np

    if not values:
        return (0.0, 0.0)
    data = np.asarray(values, dtype=np.float64)
    chance = np.random.default_rng(seed)
    means = data[chance.integers(0, len(data), size=(DRAWS, len(data)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
