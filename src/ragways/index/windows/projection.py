"""Principal component analysis to three dimensions, made once when the layer is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 3
_AT_ONCE = 4096


@dataclass(frozen=True)
class Projection:
    """`axes` are the directions in which the windows differ most, as rows."""

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]

    @classmethod
    def fit(cls, matrix: NDArray[np.float32]) -> Projection:
        """Sums in a fixed order and a fixed sign, so that the same windows give the same axes."""
        dimension = matrix.shape[1]
        axes = np.zeros((DIMENSIONS, dimension))
        if not len(matrix):
            return cls(np.zeros(dimension), axes)
        mean = sum((block.sum(axis=0) for block in _blocks(matrix)), np.zeros(dimension)) / len(matrix)
        spread = np.zeros((dimension, dimension))
        for block in _blocks(matrix):
            centred = block - mean
            spread += centred.T @ centred
        _, vectors = np.linalg.eigh(spread)  # the largest eigenvalue comes last
        found = vectors.T[::-1][:DIMENSIONS]
        largest = np.abs(found).argmax(axis=1)
        axes[: len(found)] = found * np.sign(found[np.arange(len(found)), largest])[:, None]
        return cls(mean, axes)

    def apply(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        projected: NDArray[np.float64] = (rows - self.mean) @ self.axes.T
        return projected

    def save(self, folder: Path) -> None:
        np.save(folder / "projection.npy", np.vstack([self.mean, self.axes]))

    @classmethod
    def load(cls, folder: Path) -> Projection:
        rows = np.load(folder / "projection.npy")
        return cls(rows[0], rows[1:])


def _blocks(matrix: NDArray[np.float32]) -> Iterator[NDArray[np.float64]]:
    return (matrix[at : at + _AT_ONCE].astype(np.float64) for at in range(0, len(matrix), _AT_ONCE))
