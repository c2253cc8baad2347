"""Three dimensions in which windows differ most, from sums that a change adds to and takes from.

The sums are of whole numbers, and so exact: in whatever order windows came and went, the same windows give the same
sums, and the same sums give the same axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.packed import Matrix

DIMENSIONS = 3
_FINE = 2.0**14
"""Steps in a number of length 1. Sums of products of two stay below 2**53 up to 33 million windows."""
_AT_ONCE = 4096
_FILE = "moments.npy"
FEW = 8192
"""Up to so many windows the sums are made when they are asked for; their file is as large as the vectors of 3,000."""


@dataclass
class Moments:
    """How many windows there are; of their numbers, in steps, the sums, and the sums of products of any two."""

    count: int
    sums: NDArray[np.float64]
    products: NDArray[np.float64]

    @classmethod
    def nothing(cls, dimension: int) -> Moments:
        return cls(0, np.zeros(dimension), np.zeros((dimension, dimension)))

    def add(self, rows: Matrix, times: int = 1) -> None:
        """Count windows in, or with `times` at −1, out."""
        for at in range(0, len(rows), _AT_ONCE):
            steps = np.rint(np.asarray(rows[at : at + _AT_ONCE], np.float64) * _FINE)
            self.count += times * len(steps)
            self.sums += times * steps.sum(axis=0)
            self.products += times * (steps.T @ steps)

    @classmethod
    def of(cls, rows: Matrix) -> Moments:
        """Those of these windows."""
        moments = cls.nothing(rows.shape[1])
        moments.add(rows)
        return moments

    def save(self, folder: Path) -> None:
        head = np.zeros(len(self.sums))
        head[:1] = self.count
        np.save(folder / _FILE, np.vstack([head, self.sums, self.products]))

    @classmethod
    def load(cls, folder: Path) -> Moments | None:
        """Those in a folder, if they are kept there."""
        if not (folder / _FILE).is_file():
            return None
        rows = np.load(folder / _FILE)
        return cls(int(rows[0, 0]), rows[1], rows[2:])


@dataclass(frozen=True)
class Projection:
    """`axes` are the directions in which the windows differ most, as rows."""

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]

    @classmethod
    def of(cls, moments: Moments) -> Projection:
        """Axes with a fixed sign."""
        dimension = len(moments.sums)
        axes = np.zeros((DIMENSIONS, dimension))
        if not moments.count:
            return cls(np.zeros(dimension), axes)
        mean = moments.sums / moments.count / _FINE
        spread = moments.products / moments.count / _FINE**2 - np.outer(mean, mean)
        _, vectors = np.linalg.eigh(spread)  # the largest eigenvalue comes last
        found = vectors.T[::-1][:DIMENSIONS]
        largest = np.abs(found).argmax(axis=1)
        axes[: len(found)] = found * np.sign(found[np.arange(len(found)), largest])[:, None]
        return cls(mean, axes)

    @classmethod
    def fit(cls, matrix: Matrix) -> Projection:
        """That of these windows."""
        return cls.of(Moments.of(matrix))

    def apply(self, rows: Matrix) -> NDArray[np.float64]:
        projected: NDArray[np.float64] = (np.asarray(rows) - self.mean) @ self.axes.T
        return projected
