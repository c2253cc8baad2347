"""Vectors of one kind of thing, memory-mapped and searched: exactly, or by sketches where they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash
from ragways.index.columns import mapped
from ragways.index.layer import BuildContext
from ragways.index.packed import PackedRows
from ragways.index.sketches import ComparedSketches, SketchLimits, SketchReach, SketchWords, is_exact, sketch

Scored = list[tuple[str, float]]
"""Ids with scores: best first, equal scores by id."""


class Vectors:
    """`matrix[i]`, of length 1, belongs to `ids[i]`.

    A search is exact, except in more rows than are soon multiplied, if they have sketches: there it is exact among
    the rows that are nearest by their sketches (`sketches.py`).
    """

    def __init__(
        self, ids: Sequence[str], matrix: PackedRows | NDArray[np.float32], sketches: Sequence[SketchWords] = ()
    ) -> None:
        self.ids = ids
        self.matrix = matrix if isinstance(matrix, PackedRows) else PackedRows.of(matrix)
        self._sketches = sketches
        self._last: tuple[bytes, ComparedSketches] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def search(
        self, vector: NDArray[np.float32], k: int, *, minimum: float = -1.0, limits: SketchLimits | None = None
    ) -> Scored:
        """The k nearest by cosine that are at least `minimum` similar.

        Where these are a part of a corpus, `limits` are those of the whole: then the k best of what the parts find are
        what the whole would find.
        """
        return self._search(vector, k, minimum, np.inf, limits)

    def searches(self, vectors: NDArray[np.float32], k: int, *, minimum: float, most: float) -> list[Scored]:
        """What `search` finds for each of several vectors, where a cosine of more than `most` counts as `most`. Where
        all rows are multiplied, they are once for all.
        """
        if not self._is_exact(k):
            return [self._search(vector, k, minimum, most, None) for vector in vectors]
        scores = np.minimum((self.matrix @ vectors.T).T, np.float32(most))
        return [best(self.ids, row, k, minimum) for row in scores]

    def _search(
        self, vector: NDArray[np.float32], k: int, minimum: float, most: float, limits: SketchLimits | None
    ) -> Scored:
        if not len(self) or k <= 0:
            return []
        limits = limits or self.limits(vector, k)
        if limits is None:
            return best(self.ids, np.minimum(self.matrix @ vector, np.float32(most)), k, minimum)
        rows = self._compared(vector).rows(limits)
        scores = np.minimum(self.matrix.take(rows) @ vector, np.float32(most))
        near = _at_the_top(scores, k, minimum)
        return _sorted([self.ids[row] for row in rows[near].tolist()], scores[near])[:k]

    def limits(self, vector: NDArray[np.float32], k: int) -> SketchLimits | None:
        """How far from a vector the sketches of rows may lie that are multiplied; None where all rows are."""
        return None if self._is_exact(k) else SketchLimits.of(lambda first: self.reach(vector, k, first), k)

    def reach(self, vector: NDArray[np.float32], k: int, first: int | None = None) -> SketchReach:
        """How far from a vector these rows lie by their sketches (`ComparedSketches.reach`). Those of parts of a corpus
        add up, and tell the limits of a search in it.
        """
        return self._compared(vector).reach(k, first)

    def _is_exact(self, k: int) -> bool:
        return not self._sketches or is_exact(len(self), k)

    def _compared(self, vector: NDArray[np.float32]) -> ComparedSketches:
        """The sketches beside a vector's; kept for the step that comes next."""
        last, key = self._last, vector.tobytes()
        if last is None or last[0] != key:
            last = self._last = key, ComparedSketches(self._sketches, sketch(vector))
        return last[1]

    def only(self, kept: NDArray[np.bool_]) -> Vectors:
        """Those of the rows that are kept, copied: so each search is exact among them, and takes less."""
        rows = np.flatnonzero(kept)
        return Vectors([self.ids[row] for row in rows.tolist()], self.matrix.take(rows))

    def save(self, folder: Path, name: str) -> None:
        np.save(folder / f"{name}.npy", self.matrix.packed)
        (folder / f"{name}.ids").write_text("\n".join(self.ids), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, name: str) -> Vectors:
        text = (folder / f"{name}.ids").read_text(encoding="utf-8")
        return cls(text.split("\n") if text else [], PackedRows(mapped(folder / f"{name}.npy")))

    @classmethod
    def stack(cls, ids: Sequence[str], rows: Sequence[bytes], dimension: int) -> Vectors:
        """From packed rows."""
        if not rows:
            return cls(ids, np.zeros((0, dimension), np.float32))
        return cls(ids, PackedRows(np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(ids), -1)))


def best(ids: Sequence[str], scores: NDArray[np.float32], k: int, minimum: float = -np.inf) -> Scored:
    """The k best scores; where several are equal at the border, the smallest ids are kept."""
    chosen = _at_the_top(scores, k, minimum)
    return _sorted([ids[i] for i in chosen.tolist()], scores[chosen])[:k]


def _at_the_top(scores: NDArray[np.float32], k: int, minimum: float) -> NDArray[np.intp]:
    """The rows of the k best scores, and of those that equal the last of these."""
    if k < len(scores):
        border = np.partition(scores, -k)[-k]
        return np.flatnonzero(scores >= max(border, np.float32(minimum)))
    return np.flatnonzero(scores >= minimum)


def _sorted(ids: Sequence[str], scores: NDArray[np.float32]) -> Scored:
    return sorted(zip(ids, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def save_known(context: BuildContext, texts: Mapping[str, str], folder: Path, name: str) -> None:
    """Save the vectors of texts, by id, that have one: where a budget ended the work, the rest is found otherwise."""
    meta = context.store.meta()
    hashes = {id: content_hash(text) for id, text in texts.items()}
    known = context.work_cache.vectors(meta["embedder"], list(hashes.values()))
    ids = [id for id in sorted(hashes) if hashes[id] in known]
    if ids:
        Vectors.stack(ids, [known[hashes[id]] for id in ids], int(meta["dimension"])).save(folder, name)
