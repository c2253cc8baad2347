"""Vectors: one of each chunk, and whatever arrays of vectors other layers derived."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.index.check.finding import AGAIN, Finding, Place, found
from ragways.index.store import number_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.index.vectors import Vectors

ROWS = 8192
_LENGTH = 1e-3
"""How far from 1 the length of a vector may be."""


def arrays(folder: Path) -> Iterator[tuple[str, Vectors]]:
    """Every array of vectors under a derived folder, by its name there; one that has no ids is no array of vectors."""
    from ragways.index.vectors import Vectors

    for path in sorted(folder.rglob("*.ids")):
        yield str(path.relative_to(folder).with_suffix("")), Vectors.load(path.parent, path.stem)


def slices(matrix: NDArray[np.float32]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The rows, some at a time, each time with the number of the first."""
    return ((at, matrix[at : at + ROWS]) for at in range(0, len(matrix), ROWS))


def chunks(place: Place) -> Iterator[Finding]:
    """Vectors of chunks."""
    if "vectors" in place.layers:
        known: set[str] = set()
        if place.work_cache is not None:
            query = "SELECT hash FROM vectors WHERE embedder = ?"
            known = {row[0] for row in place.work_cache.execute(query, (place.meta.get("embedder", ""),))}
        missing = (id for id, hash in place.store.chunk_rows() if hash not in known)
        yield from found("chunks whose vector is not kept", "error", missing, AGAIN)
    if place.has("vectors"):
        from ragways.index.vectors import Vectors

        there = list(Vectors.load(place.derived, "chunks").ids)
        lacking, extra = sorted(set(place.chunks) - set(there)), sorted(set(there) - set(place.chunks))
        yield from found("chunks without a vector", "error", lacking, place.derive)
        yield from found("vectors of chunks that are not there", "error", extra, place.derive)
        if not lacking and not extra and there != place.chunks:
            yield Finding("vectors in another order than their chunks", "error", 1, there[0], place.derive)


def rows(place: Place) -> Iterator[Finding]:
    """Arrays of vectors."""
    for name, vectors in arrays(place.derived):
        if len(vectors.ids) != len(vectors.matrix):
            example = f"{len(vectors.matrix):,} rows, {len(vectors.ids):,} ids"
            yield Finding(f"{name}: rows and ids differ", "error", 1, example, place.derive)
            continue
        yield from found(f"{name}: vectors that are no numbers", "error", _faulty(vectors, finite=False), place.derive)
        yield from found(f"{name}: vectors not of length 1", "error", _faulty(vectors, finite=True), place.derive)
        yield from found(f"{name}: vectors of documents that are gone", "error", _gone(place, vectors), place.derive)


def _faulty(vectors: Vectors, *, finite: bool) -> Iterator[str]:
    """Ids of rows that are not finite, or of those that are but have another length than 1."""
    import numpy as np

    for at, some in slices(vectors.matrix):
        lengths = np.linalg.norm(some, axis=1)
        bad = np.abs(lengths - 1) > _LENGTH if finite else ~np.isfinite(lengths)
        yield from (vectors.ids[at + row] for row in np.flatnonzero(bad).tolist())


def _gone(place: Place, vectors: Vectors) -> Iterator[str]:
    return (id for id in vectors.ids if id.startswith("article:") and number_of(id) not in place.documents)
