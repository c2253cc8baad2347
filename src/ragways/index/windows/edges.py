"""Edges as CSR arrays: those of row `r` are `to[start[r]:start[r + 1]]`, most similar first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.windows.neighbours import Nearest


@dataclass(frozen=True)
class Edges:
    start: NDArray[np.int64]
    to: NDArray[np.int32]
    similarity: NDArray[np.float32]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.start) - 1

    def of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        first, end = self.start[row], self.start[row + 1]
        return self.to[first:end], self.similarity[first:end]

    @classmethod
    def pack(cls, nearest: Nearest) -> Edges:
        there = nearest.to >= 0
        start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        return cls(start, nearest.to[there], nearest.similarity[there])

    def unpack(self, k: int) -> Nearest:
        """As rows of k again."""
        found = Nearest.nothing(len(self), k)
        rows = np.repeat(np.arange(len(self)), np.diff(self.start))
        places = np.arange(len(self.to)) - self.start[rows]
        found.to[rows, places] = self.to
        found.similarity[rows, places] = self.similarity
        return found

    def save(self, folder: Path, name: str) -> None:
        for part in ("start", "to", "similarity"):
            np.save(folder / f"edges_{name}_{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, folder: Path, name: str) -> Edges:
        return cls(*(np.load(folder / f"edges_{name}_{part}.npy", mmap_mode="r")
                     for part in ("start", "to", "similarity")))  # fmt: skip
