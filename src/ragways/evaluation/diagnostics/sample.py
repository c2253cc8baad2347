"""A part taken for the whole, and said to be one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Sample:
    """`size` things were looked at, out of `of`, chosen with `seed`."""

    size: int
    of: int
    seed: int

    @property
    def whole(self) -> bool:
        return self.size >= self.of

    def __str__(self) -> str:
        return f"all {self.of:,}" if self.whole else f"a sample of {self.size:,} of {self.of:,} (seed {self.seed})"


def take(of: int, most: int, seed: int) -> tuple[NDArray[np.int64], Sample]:
    """Numbers below `of` in rising order: all of them, or `most` drawn without putting back."""
    if of <= most:
        return np.arange(of, dtype=np.int64), Sample(of, of, seed)
    drawn = np.random.default_rng(seed).choice(of, most, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.int64), Sample(most, of, seed)
