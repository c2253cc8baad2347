"""Vectors of one kind of thing as one array, memory-mapped and searched exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Scored = list[tuple[str, float]]
"""Ids with scores: best first, equal scores by id."""


class Vectors:
    """`matrix[i]`, of length 1, belongs to `ids[i]`."""

    def __init__(self, ids: Sequence[str], matrix: NDArray[np.float32]) -> None:
        self.ids = ids
        self.matrix = matrix

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, vector: NDArray[np.float32], k: int, *, least: float = -1.0) -> Scored:
        """The k nearest by cosine that are at least `least` similar."""
        if not len(self) or k <= 0:
            return []
        return best(self.ids, self.matrix @ vector, k, least)

    def save(self, folder: Path, name: str) -> None:
        np.save(folder / f"{name}.npy", self.matrix)
        (folder / f"{name}.ids").write_text("\n".join(self.ids), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, name: str) -> Vectors:
        text = (folder / f"{name}.ids").read_text(encoding="utf-8")
        return cls(text.split("\n") if text else [], np.load(folder / f"{name}.npy", mmap_mode="r"))

    @classmethod
    def stack(cls, ids: Sequence[str], rows: Iterable[bytes], dimension: int) -> Vectors:
        joined = b"".join(rows)
        return cls(ids, np.frombuffer(joined, dtype=np.float32).reshape(len(ids), dimension))


def best(ids: Sequence[str], scores: NDArray[np.float32], k: int, least: float = -np.inf) -> Scored:
    """The k best scores; where several are equal at the border, the smallest ids are kept."""
    if k < len(scores):
        border = np.partition(scores, -k)[-k]
        chosen = np.flatnonzero(scores >= max(border, np.float32(least)))
    else:
        chosen = np.flatnonzero(scores >= least)
    found = sorted(((ids[i], float(scores[i])) for i in chosen.tolist()), key=lambda pair: (-pair[1], pair[0]))
    return found[:k]
