"""The vectors of chunks: in segments, so that a change writes what it changes, and searched as one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreFailed
from ragways.core.types import content_hash
from ragways.index.columns import JoinedTexts, mapped
from ragways.index.documents import chunk_texts
from ragways.index.layer import (
    AGAIN,
    BuildContext,
    CheckContext,
    Finding,
    Layer,
    LayerEstimate,
    PlanContext,
    findings,
)
from ragways.index.numbered_vectors import PREFIXES, NumberedVectors
from ragways.index.packed import PackedRows
from ragways.index.ragged import stretches
from ragways.index.segment_ids import SegmentIds
from ragways.index.segments import Rows, SegmentDocuments, renew, segments
from ragways.index.sketches import SketchWords, is_exact, sketches
from ragways.index.store import Store, number_of, path_of
from ragways.index.vectors import Vectors, best
from ragways.index.work_rows import kept_vectors

FOLDER = "vectors"


@dataclass(frozen=True, eq=False)
class VectorSegment:
    """The rows of some documents, by number and place. `packed` has a row for each chunk, `sketches` a column."""

    ids: SegmentIds
    packed: NDArray[np.int8]
    sketches: SketchWords

    @classmethod
    def load(cls, folder: Path) -> VectorSegment:
        return cls(SegmentIds.load(folder), mapped(folder / "rows.npy"), mapped(folder / "sketches.npy"))

    def save(self, folder: Path) -> None:
        """Write it into a folder that has its documents already."""
        self.ids.save(folder)
        np.save(folder / "rows.npy", self.packed)
        np.save(folder / "sketches.npy", self.sketches)

    @property
    def documents(self) -> SegmentDocuments:
        return self.ids.documents

    def only(self, numbers: Rows) -> VectorSegment:
        """Those of its documents that are among these, copied where they are not all."""
        held = self.documents.holds(numbers)
        if held.all():
            return self
        rows = np.flatnonzero(self.documents.rows(held))
        return VectorSegment(self.ids.only(held), self.packed[rows], self.sketches[:, rows])


class ChunkVectors(Vectors):
    """The vectors of all chunks. In which order the rows lie, beyond their documents, tells nothing."""

    def __init__(self, parts: Sequence[VectorSegment]) -> None:
        packed = [part.packed for part in parts] or [np.zeros((0, 4), np.int8)]
        super().__init__(
            JoinedTexts([part.ids for part in parts]), PackedRows(*packed), [part.sketches for part in parts]
        )
        self._parts = parts
        self._begins = np.cumsum([0, *(part.documents.size for part in parts)]).tolist()

    @classmethod
    def open(cls, derived: Path) -> ChunkVectors:
        """Those in a derived folder; next to nothing is read."""
        return cls([VectorSegment.load(path) for path in segments(derived / FOLDER)])

    def of_documents(self, numbers: Collection[int]) -> ChunkVectors:
        """Those of the documents with these numbers: a search among them is what a search in an index of them is."""
        wanted = np.array(sorted(numbers), dtype=np.int64)
        return ChunkVectors([left for part in self._parts if len((left := part.only(wanted)).ids)])

    def places(self, ids: Collection[str]) -> dict[str, int]:
        """The row of each of these chunks that has one."""
        wanted = frozenset(ids)
        found: dict[str, int] = {}
        for part, begin, documents in self._documents(number_of(id) for id in wanted if id.startswith("article:")):
            rows = stretches(*part.documents.stretches(documents))
            known = zip(part.ids.take(rows), (begin + rows).tolist(), strict=True)
            found.update((id, row) for id, row in known if id in wanted)
        return found

    def sizes(self, documents: Collection[str]) -> dict[str, int]:
        """How many chunks each of these documents has; one that has none is not there."""
        found: dict[str, int] = {}
        for part, _, places in self._documents(map(number_of, documents)):
            counts = part.documents.stretches(places)[1].tolist()
            numbers = part.documents.numbers[places].tolist()
            found.update((f"article:{number}", count) for number, count in zip(numbers, counts, strict=True))
        return found

    def owners(self) -> Rows:
        """The number of the document of every row."""
        of_parts = [np.repeat(part.documents.numbers, part.documents.counts) for part in self._parts]
        return np.concatenate([np.zeros(0, np.int64), *of_parts])

    def in_order(self) -> Rows:
        """All rows by document and place, however they lie."""
        return np.argsort(self.owners(), kind="stable")

    def openings(self) -> tuple[Rows, Rows]:
        """The number of each document that has chunks, in their order, and the row of its first chunk."""
        return np.unique(self.owners(), return_index=True)

    def in_memory(self) -> list[VectorSegment]:
        """Its segments with nothing mapped, so that they can be sent elsewhere."""
        return [
            VectorSegment(part.ids.in_memory(), np.array(part.packed), np.array(part.sketches)) for part in self._parts
        ]

    def _documents(self, numbers: Iterable[int]) -> Iterator[tuple[VectorSegment, int, NDArray[np.intp]]]:
        """Where the documents with these numbers are: a segment that holds some, its first row, and where among its
        documents they stand.
        """
        wanted = np.array(sorted(set(numbers)), dtype=np.int64)
        for part, begin in zip(self._parts, self._begins, strict=False):
            if len(places := part.documents.places(wanted)):
                yield part, begin, places


# The layer


class _Segments:
    """What a segment keeps of chunks (`SegmentKind`)."""

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        embedder = context.store.meta()["embedder"]
        rows = list(context.store.chunk_rows(documents))
        vectors = context.work_cache.vectors(embedder, [hash for _, hash in rows])
        ids = SegmentIds.of(SegmentDocuments.load(target), (path_of(id) for id, _ in rows))
        missing = [id for id, hash in rows if hash not in vectors]
        if missing:
            raise StoreFailed(
                f"{len(missing)} chunks have no vector ({missing[0]} is the first)",
                "build again with: ragways index --rebuild PATH",
            )
        packed = np.frombuffer(b"".join(vectors[hash] for _, hash in rows), np.int8).reshape(len(rows), -1)
        VectorSegment(ids, packed, sketches(packed[:, :-4])).save(target)

    def take(self, target: Path, sources: Sequence[Path], rows: Rows) -> None:
        parts = [VectorSegment.load(source) for source in sources]
        ids = SegmentIds.taken(SegmentDocuments.load(target), [part.ids for part in parts], rows)
        packed = PackedRows(*(part.packed for part in parts)).take(rows).packed
        words = np.concatenate([part.sketches for part in parts], axis=1)[:, rows]
        VectorSegment(ids, packed, words).save(target)


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
    before = None if context.before is None else context.before / FOLDER
    renew(folder / FOLDER, before, context, _Segments())


def _used(context: BuildContext) -> dict[str, set[str]]:
    return {"vectors": {hash for _, hash in context.store.chunk_rows()}}


def _rows(_: Store, derived: Path) -> int:
    folder = derived / FOLDER
    return sum(SegmentDocuments.load(path).size for path in segments(folder)) if folder.is_dir() else 0


# Its checks

ROWS = 8192
_LENGTH = 1e-3
"""How far from 1 the length of a vector may be."""
_ASKED = 32
"""Rows that are questions where recall is measured."""


def arrays(folder: Path) -> Iterator[tuple[str, Vectors]]:
    """Every array of vectors under a derived folder, by its name there; one that has no ids is no array of vectors."""
    if (folder / FOLDER).is_dir():
        yield FOLDER, ChunkVectors.open(folder)
    for name in PREFIXES:
        if (held := NumberedVectors.open(folder, name)) is not None:
            yield name, held
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
        there, chunks = sorted(ChunkVectors.open(context.derived).ids), set(context.chunks)
        lacking, extra = sorted(chunks - set(there)), sorted(set(there) - chunks)
        twice = (one for one, other in pairwise(there) if one == other)
        yield from findings("chunks without a vector", "error", lacking, context.cure_of_derived)
        yield from findings("vectors of chunks that are not there", "error", extra, context.cure_of_derived)
        yield from findings("chunks with two vectors", "error", twice, context.cure_of_derived)


def check_segments(context: CheckContext) -> Iterator[Finding]:
    """Segments of vectors."""
    folder = context.derived / FOLDER
    for path in segments(folder) if folder.is_dir() else []:
        part = VectorSegment.load(path)
        sizes = len(part.packed), len(part.ids), part.sketches.shape[1]
        if len(set(sizes)) > 1:
            example = "{:,} rows, {:,} ids, {:,} sketches".format(*sizes)
            yield Finding(f"segment {path.name}: rows and ids differ", "error", 1, example, context.cure_of_derived)
            continue
        numbers = part.documents.numbers
        unsorted = (f"article:{number}" for number in numbers[1:][numbers[1:] <= numbers[:-1]].tolist())
        name = f"segment {path.name}: documents not in their order"
        yield from findings(name, "error", unsorted, context.cure_of_derived)
        wrong = np.flatnonzero((sketches(part.packed[:, :-4]) != part.sketches).any(axis=0)).tolist()
        yield from findings(
            "sketches of other vectors", "error", (part.ids[row] for row in wrong), context.cure_of_derived
        )


def check_recall(context: CheckContext) -> Iterator[Finding]:
    """How many of the ten nearest chunks a search finds."""
    if not (context.derived / FOLDER).is_dir():
        return
    vectors = ChunkVectors.open(context.derived)
    if len(vectors):
        context.figures["recall_at_10"] = recall(vectors)
    yield from ()


def recall(vectors: Vectors, k: int = 10) -> float:
    """The share of the k nearest rows that a search finds, where the questions are rows from all over: exactly 1 where
    a search is exact.
    """
    if is_exact(len(vectors), k):
        return 1.0
    asked = vectors.matrix[np.linspace(0, len(vectors) - 1, _ASKED).astype(np.int64)]
    products = vectors.matrix @ asked.T
    found = 0
    for n, question in enumerate(asked):
        # What is as near as the last of these is as good.
        least = best(vectors.ids, products[:, n], k)[-1][1]
        found += sum(score >= least for _, score in vectors.search(question, k))
    return found / (k * len(asked))


def check_arrays(context: CheckContext) -> Iterator[Finding]:
    """Arrays of vectors."""
    for name, vectors in arrays(context.derived):
        yield from check_array(context, name, vectors)


def check_array(context: CheckContext, name: str, vectors: Vectors) -> Iterator[Finding]:
    """What does not hold of an array of vectors."""
    cure = context.cure_of_derived
    if len(vectors.ids) != len(vectors.matrix):
        example = f"{len(vectors.matrix):,} rows, {len(vectors.ids):,} ids"
        yield Finding(f"{name}: rows and ids differ", "error", 1, example, cure)
        return
    yield from findings(f"{name}: vectors that are no numbers", "error", _faulty(vectors, finite=False), cure)
    yield from findings(f"{name}: vectors not of length 1", "error", _faulty(vectors, finite=True), cure)
    yield from findings(f"{name}: vectors of documents that are gone", "error", _gone(context, vectors), cure)


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
    checks=(check_chunks, check_segments, check_recall, check_arrays),
    open=ChunkVectors.open,
    rows=_rows,
)
