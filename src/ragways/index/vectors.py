"""Vectors of one kind of thing as one array, memory-mapped and searched exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreFailed
from ragways.core.types import content_hash
from ragways.index.layer import (
    AGAIN,
    BuildContext,
    CheckContext,
    Finding,
    Layer,
    LayerEstimate,
    PlanContext,
    findings,
    rows_of_array,
)
from ragways.index.packed import PackedRows
from ragways.index.store import chunk_texts, number_of
from ragways.index.work_cache import kept_vectors

Scored = list[tuple[str, float]]
"""Ids with scores: best first, equal scores by id."""


class Vectors:
    """`matrix[i]`, of length 1, belongs to `ids[i]`."""

    def __init__(self, ids: Sequence[str], matrix: PackedRows | NDArray[np.float32]) -> None:
        self.ids = ids
        self.matrix = matrix if isinstance(matrix, PackedRows) else PackedRows.of(matrix)

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, vector: NDArray[np.float32], k: int, *, minimum: float = -1.0) -> Scored:
        """The k nearest by cosine that are at least `minimum` similar."""
        if not len(self) or k <= 0:
            return []
        return best(self.ids, self.matrix @ vector, k, minimum)

    def only(self, kept: NDArray[np.bool_]) -> Vectors:
        """Those of the rows that are kept, copied: so each search is exact among them, and takes less."""
        rows = np.flatnonzero(kept)
        return Vectors([self.ids[row] for row in rows.tolist()], PackedRows(self.matrix.packed[rows]))

    def save(self, folder: Path, name: str) -> None:
        np.save(folder / f"{name}.npy", self.matrix.packed)
        (folder / f"{name}.ids").write_text("\n".join(self.ids), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, name: str) -> Vectors:
        text = (folder / f"{name}.ids").read_text(encoding="utf-8")
        # A plain view of the mapped file: indexing a memmap costs as much again in bookkeeping.
        packed = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
        return cls(text.split("\n") if text else [], PackedRows(packed))

    @classmethod
    def stack(cls, ids: Sequence[str], rows: Sequence[bytes], dimension: int) -> Vectors:
        """From packed rows."""
        if not rows:
            return cls(ids, np.zeros((0, dimension), np.float32))
        return cls(ids, PackedRows(np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(ids), -1)))


def best(ids: Sequence[str], scores: NDArray[np.float32], k: int, minimum: float = -np.inf) -> Scored:
    """The k best scores; where several are equal at the border, the smallest ids are kept."""
    if k < len(scores):
        border = np.partition(scores, -k)[-k]
        chosen = np.flatnonzero(scores >= max(border, np.float32(minimum)))
    else:
        chosen = np.flatnonzero(scores >= minimum)
    found = sorted(((ids[i], float(scores[i])) for i in chosen.tolist()), key=lambda pair: (-pair[1], pair[0]))
    return found[:k]


def save_known(context: BuildContext, texts: Mapping[str, str], folder: Path, name: str) -> None:
    """Save the vectors of texts, by id, that have one: where a budget ended the work, the rest is found otherwise."""
    meta = context.store.meta()
    hashes = {id: content_hash(text) for id, text in texts.items()}
    known = context.work_cache.vectors(meta["embedder"], list(hashes.values()))
    ids = [id for id in sorted(hashes) if hashes[id] in known]
    if ids:
        Vectors.stack(ids, [known[hashes[id]] for id in ids], int(meta["dimension"])).save(folder, name)


# The layer


async def _embed(context: BuildContext) -> None:
    """Documents bring their vectors with them, except those stored before vectors were asked for."""
    if context.changes is not None:
        return  # as the generation before had them, too
    missing = {hash for _, hash in context.store.chunk_rows()}
    if context.embedder is not None:
        missing -= context.work_cache.known(context.embedder.name, missing)
    if missing:
        await context.embed({content_hash(text): text for _, text in chunk_texts(context.store)})


def _plan_vectors(planning: PlanContext) -> LayerEstimate:
    store = planning.context.store
    return LayerEstimate(store.count("chunks"), texts=(text for _, text in chunk_texts(store)))


def _derive_vectors(context: BuildContext, folder: Path) -> None:
    meta = context.store.meta()
    rows = list(context.store.chunk_rows())
    vectors = context.work_cache.vectors(meta["embedder"], [hash for _, hash in rows])
    missing = [id for id, hash in rows if hash not in vectors]
    if missing:
        raise StoreFailed(
            f"{len(missing)} chunks have no vector ({missing[0]} is the first)",
            "build again with: ragways index --rebuild PATH",
        )
    stacked = Vectors.stack([id for id, _ in rows], [vectors[hash] for _, hash in rows], int(meta["dimension"]))
    stacked.save(folder, "chunks")


def _used(context: BuildContext) -> dict[str, set[str]]:
    return {"vectors": {hash for _, hash in context.store.chunk_rows()}}


# Its checks

ROWS = 8192
_LENGTH = 1e-3
"""How far from 1 the length of a vector may be."""


def arrays(folder: Path) -> Iterator[tuple[str, Vectors]]:
    """Every array of vectors under a derived folder, by its name there; one that has no ids is no array of vectors."""
    for path in sorted(folder.rglob("*.ids")):
        yield str(path.relative_to(folder).with_suffix("")), Vectors.load(path.parent, path.stem)


def slices(matrix: PackedRows) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The rows, some at a time, each time with the number of the first."""
    return ((at, matrix[at : at + ROWS]) for at in range(0, len(matrix), ROWS))


def check_chunks(context: CheckContext) -> Iterator[Finding]:
    """Vectors of chunks."""
    known: set[str] = set()
    if context.work_cache is not None:
        known = {hash for by, hash, _ in kept_vectors(context.work_cache) if by == context.meta.get("embedder", "")}
    missing = (id for id, hash in context.store.chunk_rows() if hash not in known)
    yield from findings("chunks whose vector is not kept", "error", missing, AGAIN)
    if context.derived.is_dir():
        there = list(Vectors.load(context.derived, "chunks").ids)
        lacking, extra = sorted(set(context.chunks) - set(there)), sorted(set(there) - set(context.chunks))
        yield from findings("chunks without a vector", "error", lacking, context.cure_of_derived)
        yield from findings("vectors of chunks that are not there", "error", extra, context.cure_of_derived)
        if not lacking and not extra and there != context.chunks:
            yield Finding("vectors in another order than their chunks", "error", 1, there[0], context.cure_of_derived)


def check_arrays(context: CheckContext) -> Iterator[Finding]:
    """Arrays of vectors."""
    for name, vectors in arrays(context.derived):
        if len(vectors.ids) != len(vectors.matrix):
            example = f"{len(vectors.matrix):,} rows, {len(vectors.ids):,} ids"
            yield Finding(f"{name}: rows and ids differ", "error", 1, example, context.cure_of_derived)
            continue
        yield from findings(
            f"{name}: vectors that are no numbers", "error", _faulty(vectors, finite=False), context.cure_of_derived
        )
        yield from findings(
            f"{name}: vectors not of length 1", "error", _faulty(vectors, finite=True), context.cure_of_derived
        )
        yield from findings(
            f"{name}: vectors of documents that are gone", "error", _gone(context, vectors), context.cure_of_derived
        )


def _faulty(vectors: Vectors, *, finite: bool) -> Iterator[str]:
    """Ids of rows that are not finite, or of those that are but have another length than 1."""
    for at, some in slices(vectors.matrix):
        with np.errstate(over="ignore", invalid="ignore"):  # damaged numbers may be any
            lengths = np.linalg.norm(some, axis=1)
        bad = np.abs(lengths - 1) > _LENGTH if finite else ~np.isfinite(lengths)
        yield from (vectors.ids[at + row] for row in np.flatnonzero(bad).tolist())


def _gone(context: CheckContext, vectors: Vectors) -> Iterator[str]:
    return (id for id in vectors.ids if id.startswith("article:") and number_of(id) not in context.documents)


VECTORS = Layer(
    name="vectors",
    summary="a vector of each chunk, for search by meaning",
    needs=frozenset(),
    plan=_plan_vectors,
    work=_embed,
    derive=_derive_vectors,
    used=_used,
    still_used=lambda context, hashes: context.store.used_hashes(hashes),
    checks=(check_chunks, check_arrays),
    open=lambda derived: Vectors.load(derived, "chunks"),
    files=("chunks.*",),
    rows=rows_of_array("chunks.npy"),
)
