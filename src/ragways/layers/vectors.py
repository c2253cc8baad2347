"""Vectors, searched by meaning: those of chunks, which are a layer, and those of any other things with ids.

The vectors of chunks are one file of packed rows (`store/packed.py`), appended to and mapped. Rows of documents that
were removed stay in it and are listed in a small file, until they are a quarter of all.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import BudgetExceeded, StoreDamaged, StoreFailed
from ragways.layers.files import load_array, load_json, replacing, save_array, save_json
from ragways.layers.layer import CheckContext, Estimate, Finding, Layer, Sample, Scored, Use, findings
from ragways.layers.sketches import EXACT_ROWS, SketchWords, is_exact, near_rows, sketches, words_of
from ragways.store.database import REBUILD, raise_exhausted
from ragways.store.packed import Floats, PackedRows
from ragways.store.source import Source
from ragways.store.store import Change, Facts, Store, chunk_id, number_of, path_of, place_of

Rows = NDArray[np.int64]

_UNPACKED = 32 << 20
"""Bytes of a matrix of float32 that a reader makes for itself when it is searched again."""
_AT_ONCE = 8192  # rows of products at a time


class VectorSearch:
    """The nearest of packed rows by cosine, for what stands at a row in a subclass.

    A search is exact up to `EXACT_ROWS`, or where there are no sketches; else it is exact among the rows whose sketches
    are nearest. What it finds does not depend on the order of the rows.
    """

    def __init__(self, matrix: PackedRows, sketches: SketchWords = (), live: Rows | None = None) -> None:
        self.matrix = matrix
        """All rows, of length 1; some of chunks may be of removed documents."""
        self._sketches = sketches
        self._live = live  # rows that are searched, in order, where they are not all
        self._unpacked: Floats | None = None
        self._searched = False

    def __len__(self) -> int:
        return len(self.matrix) if self._live is None else len(self._live)

    def search(self, vector: Floats, k: int, *, minimum: float = -1.0, most: float = math.inf) -> Scored:
        """The k nearest by cosine that are at least `minimum` similar. One of more than `most` counts as `most`."""
        if not len(self) or k <= 0:
            return []
        if self._sketches and not is_exact(len(self), k):
            rows = near_rows(self._sketches, vector, k, self._live)
        else:
            rows = self._nearly_best(vector, k, most)
        scores = np.minimum(self.matrix.take(rows) @ vector, np.float32(most))
        chosen = _at_the_top(scores, k, minimum)
        return self._scored(rows[chosen], scores[chosen])[:k]

    def cosines(self, vector: Floats, ids: Collection[str]) -> dict[str, float]:
        """How near each of these is to a vector; one that has none itself is left out."""
        places = self.places(ids)
        if not places:
            return {}
        return dict(zip(places, (self.matrix.take(list(places.values())) @ vector).tolist(), strict=True))

    def nearest_to(self, id: str, k: int) -> Scored:
        """The k nearest one of them, itself the first; none where it has no vector."""
        return [hit for row in self.places([id]).values() for hit in self.search(self.matrix[row], k)]

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """The row of each of these that has one."""
        raise NotImplementedError

    def _nearly_best(self, vector: Floats, k: int, most: float) -> NDArray[np.intp]:
        """All rows that may be among the k best: products of float32 are quick, and near the exact ones."""
        scores = self._near_products(vector)
        if self._live is not None:
            scores = scores[self._live]
        if k < len(scores):
            # How far they may be off: by the rounding of the question to integers, and by that of float32.
            size, peak = float(np.linalg.norm(vector)), float(np.abs(vector).max())
            off = math.sqrt(len(vector)) * peak / 64_516 + len(vector) * size * 2.0**-22
            near = np.flatnonzero(scores >= min(float(np.partition(scores, -k)[-k]), most) - 2 * off)
        else:
            near = np.arange(len(scores))
        return near if self._live is None else self._live[near]

    def _near_products(self, vector: Floats) -> Floats:
        vector = np.ascontiguousarray(vector, np.float32)
        if self._unpacked is not None:
            found: Floats = self._unpacked @ vector
            return found
        rows, dimension = self.matrix.shape
        if self._searched and len(self) == rows and 4 * rows * dimension <= _UNPACKED:
            self._unpacked = self.matrix[:]
        self._searched = True
        return np.concatenate([some[:, 0] for _, some in self.matrix.products(vector[:, None], _AT_ONCE)])

    def _scored(self, rows: NDArray[np.intp], scores: Floats) -> Scored:
        """Ids of rows with their scores, in order."""
        raise NotImplementedError


class StoredVectors(VectorSearch):
    """`matrix[i]`, of length 1, belongs to `ids[i]`; equal scores are ordered by id."""

    def __init__(self, ids: Sequence[str], matrix: PackedRows | Floats, sketches: SketchWords = ()) -> None:
        super().__init__(matrix if isinstance(matrix, PackedRows) else PackedRows.of(matrix), sketches)
        self.ids = ids

    def _scored(self, rows: NDArray[np.intp], scores: Floats) -> Scored:
        return _sorted([self.ids[row] for row in rows.tolist()], scores)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self.ids)}

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """The row of each of these that has one."""
        return {id: self._rows[id] for id in ids if id in self._rows}

    def only(self, kept: NDArray[np.bool_]) -> StoredVectors:
        """Those of the rows that are kept, copied."""
        rows = np.flatnonzero(kept)
        words = [word[rows] for word in self._sketches]
        return StoredVectors([self.ids[row] for row in rows.tolist()], self.matrix.take(rows), words)

    def save(self, folder: Path, name: str) -> None:
        """Write them as files of this name, with sketches where they are many."""
        save_array(folder / f"{name}.npy", self.matrix.packed)
        with replacing(folder / f"{name}.ids") as draft:
            draft.write_text("\n".join(self.ids), encoding="utf-8")
        if len(self) > EXACT_ROWS:
            save_array(folder / f"{name}.sketches.npy", np.stack(sketches(self.matrix.packed[:, :-4])))

    @classmethod
    def load(cls, folder: Path, name: str) -> StoredVectors:
        text = (folder / f"{name}.ids").read_text(encoding="utf-8")
        words = folder / f"{name}.sketches.npy"
        return cls(
            text.split("\n") if text else [],
            PackedRows(load_array(folder / f"{name}.npy")),
            list(load_array(words)) if words.is_file() else (),
        )

    @classmethod
    def stack(cls, ids: Sequence[str], rows: Sequence[bytes], dimension: int) -> StoredVectors:
        """From packed rows."""
        if not rows:
            return cls(ids, np.zeros((0, dimension), np.float32))
        return cls(ids, PackedRows(np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(ids), -1)))


def best(ids: Sequence[str], scores: Floats, k: int, minimum: float = -np.inf) -> Scored:
    """The k best scores; where several are equal at the border, the smallest ids are kept."""
    chosen = _at_the_top(scores, k, minimum)
    return _sorted([ids[i] for i in chosen.tolist()], scores[chosen])[:k]


def _at_the_top(scores: Floats, k: int, minimum: float) -> NDArray[np.intp]:
    """The rows of the k best scores, and of those that equal the last of these."""
    if k < len(scores):
        border = np.partition(scores, -k)[-k]
        return np.flatnonzero(scores >= max(border, np.float32(minimum)))
    return np.flatnonzero(scores >= minimum)


def _sorted(ids: Sequence[str], scores: Floats) -> Scored:
    return sorted(zip(ids, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


# Vectors of chunks

_STATE, _ROWS, _KEYS, _GONE = "vectors.json", "rows.i8", "keys.i64", "gone.npy"


@dataclass(frozen=True, slots=True)
class _State:
    """What a view's files are: how many rows of how many bytes, how many are of removed documents, and how many have a
    sketch. `left_out` are documents whose vectors were missing.
    """

    rows: int = 0
    width: int = 4
    gone: int = 0
    sketched: int = 0
    left_out: tuple[int, ...] = field(default=())

    @classmethod
    def load(cls, view: Path) -> _State:
        try:
            values = load_json(view / _STATE)
            return cls(**{**values, "left_out": tuple(values["left_out"])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise_exhausted(view / _STATE, error)
            raise StoreDamaged(f"{view / _STATE} is missing or damaged", REBUILD) from error

    def save(self, view: Path) -> None:
        save_json(view / _STATE, asdict(self))

    def packed(self, view: Path) -> NDArray[np.int8]:
        return _mapped(view / _ROWS, "i1", (self.rows, self.width))

    def keys(self, view: Path) -> NDArray[np.int64]:
        """Document and place of every row."""
        return _mapped(view / _KEYS, "<i8", (self.rows, 2))

    def sketches(self, view: Path) -> list[NDArray[np.uint64]]:
        count = words_of(self.width - 4) if self.sketched else 0
        return [_mapped(view / _sketch_file(word), "<u8", (self.sketched,)) for word in range(count)]

    def gone_rows(self, view: Path) -> Rows:
        return load_array(view / _GONE) if self.gone else np.zeros(0, np.int64)


def _sketch_file(word: int) -> str:
    return f"sketches-{word}.u64"


def _mapped(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if not math.prod(shape):
        return np.zeros(shape, dtype)
    try:
        return np.memmap(path, dtype, "r", shape=shape)
    except (OSError, ValueError) as error:
        raise_exhausted(path, error)
        raise StoreDamaged(f"{path} is missing or too short", REBUILD) from error


class ChunkVectors(VectorSearch):
    """The vectors of all chunks (`protocols.Vectors`). Equal scores are ordered by document and place; the order of
    rows has no meaning.
    """

    def __init__(
        self,
        matrix: PackedRows,
        documents: Rows,
        places: Rows,
        sketches: SketchWords = (),
        live: Rows | None = None,
    ) -> None:
        super().__init__(matrix, sketches, live)
        self._documents, self._places = documents, places

    @classmethod
    def open(cls, view: Path) -> ChunkVectors:
        """Those of a view; next to nothing is read."""
        state = _State.load(view)
        keys = state.keys(view)
        live = np.delete(np.arange(state.rows), state.gone_rows(view)) if state.gone else None
        sketches = state.sketches(view) if state.sketched == state.rows else ()
        return cls(PackedRows(state.packed(view)), keys[:, 0], keys[:, 1], sketches, live)

    def _scored(self, rows: NDArray[np.intp], scores: Floats) -> Scored:
        documents, places = self._documents[rows], self._places[rows]
        order = np.lexsort((places, documents, -scores))
        found = zip(documents[order].tolist(), places[order].tolist(), scores[order].tolist(), strict=True)
        return [(chunk_id(document, place), score) for document, place, score in found]

    @cached_property
    def in_order(self) -> Rows:
        """All rows by document and place."""
        rows: Rows = np.arange(len(self.matrix)) if self._live is None else self._live
        return rows[np.argsort(self._documents[rows], kind="stable")]

    @cached_property
    def _ordered_documents(self) -> Rows:
        return self._documents[self.in_order]

    @cached_property
    def ids(self) -> list[str]:
        """Ids of all chunks, by document and place."""
        rows = self.in_order
        return [*map(chunk_id, self._documents[rows].tolist(), self._places[rows].tolist())]

    def only(self, documents: Collection[int]) -> ChunkVectors:
        """Those of these documents, by number: a search among them is what a search in an index of them is."""
        wanted = np.array(sorted(documents), dtype=np.int64)
        rows = np.sort(self.in_order[_is_among(self._ordered_documents, wanted)])
        if len(rows) <= EXACT_ROWS:
            return ChunkVectors(self.matrix.take(rows), self._documents[rows], self._places[rows])
        return ChunkVectors(self.matrix, self._documents, self._places, self._sketches, rows)

    def _stretch(self, document: int) -> slice:
        """Where a document's rows are in order."""
        first, end = self._ordered_documents.searchsorted([document, document + 1]).tolist()
        return slice(first, end)

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """The row of each of these chunks that has one."""
        found: dict[str, int] = {}
        for id in ids:
            if id.startswith("article:"):
                rows = self.in_order[self._stretch(number_of(id))]
                at = np.flatnonzero(self._places[rows] == place_of(path_of(id)))
                found.update((id, int(rows[one])) for one in at)
        return found

    def sizes(self, documents: Iterable[str]) -> dict[str, int]:
        stretches = ((id, self._stretch(number_of(id))) for id in documents)
        return {id: some.stop - some.start for id, some in stretches if some.stop > some.start}

    def openings(self, vector: Floats, k: int) -> Scored:
        ids, rows = self._openings
        return best(ids, self.matrix.take(rows) @ vector, k, 0.0)

    @cached_property
    def _openings(self) -> tuple[list[str], Rows]:
        """Each document that has chunks, in order, and the row of its first chunk."""
        numbers = self._ordered_documents
        first = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
        return [f"article:{number}" for number in numbers[first].tolist()], self.in_order[first]


def _is_among(values: Rows, few: Rows) -> NDArray[np.bool_]:
    """Which of the values are among these, which are in rising order: quicker than `isin`."""
    if not len(few):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = few.take(few.searchsorted(values), mode="clip") == values
    return found


# The layer

_DOCUMENTS = 1000  # whose vectors are looked up at a time


class VectorLayer(Layer):
    """A vector of each chunk's searched text."""

    name = "vectors"
    summary = "a vector of each chunk, for search by meaning"

    async def extract(self, documents: Sequence[Source], use: Use) -> list[Facts | None]:
        await use.embed({passage.hash: passage.searched for source in documents for passage in source.passages})
        return [{} for _ in documents]

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        if change is None:
            await _append(view, _State(), store, store.numbers(), use)
            return
        state = _State.load(view)
        again = [number for number in state.left_out if store.has(number)]
        state = _removed(view, state, {*change.removed, *change.added})
        state = await _append(view, state, store, sorted({*change.added, *again}), use)
        if 4 * state.gone >= max(1, state.rows):
            _compact(view, state)

    def open(self, view: Path, store: Store) -> ChunkVectors:
        return ChunkVectors.open(view)

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        return Estimate(sample.chunks, texts=(one.searched for source in sample.every() for one in source.passages))

    def count(self, view: Path, store: Store) -> int:
        state = _State.load(view)
        return state.rows - state.gone

    def used(self, store: Store, view: Path, use: Use) -> Mapping[str, set[str]]:
        return {"vectors": {hash for *_, hash in store.chunk_rows()}}

    def check(self, context: CheckContext) -> Iterator[Finding]:
        vectors = ChunkVectors.open(context.views / self.name)
        there, chunks = vectors.ids, set(context.chunks)
        cure = context.cure_of_view
        yield from findings("chunks without a vector", "error", sorted(chunks.difference(there)), cure)
        yield from findings("vectors of chunks that are not there", "error", sorted(set(there) - chunks), cure)
        twice = (one for one, other in pairwise(there) if one == other)
        yield from findings("chunks with two vectors", "error", twice, cure)
        if len(vectors):
            context.figures["recall_at_10"] = recall(vectors)


VECTORS = VectorLayer()


def _removed(view: Path, state: _State, documents: Collection[int]) -> _State:
    """Mark the rows of these documents as removed."""
    numbers = np.array(sorted(documents), dtype=np.int64)
    gone = np.union1d(state.gone_rows(view), np.flatnonzero(_is_among(state.keys(view)[:, 0], numbers)))
    if len(gone) > state.gone:
        save_array(view / _GONE, gone)
    return replace(state, gone=len(gone))


async def _append(view: Path, state: _State, store: Store, numbers: Sequence[int], use: Use) -> _State:
    """Add the rows of documents, in order. One whose vectors are missing is left out, and tried again the next time."""
    left_out: list[int] = []
    for at in range(0, len(numbers), _DOCUMENTS):
        some = numbers[at : at + _DOCUMENTS]
        rows = list(store.chunk_rows(some))
        known = await _vectors(store, rows, use)
        lacking = {number for number, _, _, hash in rows if hash not in known}
        left_out += sorted(lacking)
        rows = [row for row in rows if row[0] not in lacking]
        if rows:
            packed = np.frombuffer(b"".join(known[hash] for *_, hash in rows), np.int8).reshape(len(rows), -1)
            if state.rows and packed.shape[1] != state.width:
                raise StoreFailed("vectors of different lengths cannot be in one index", REBUILD)
            keys = np.array([(number, place_of(path)) for number, _, path, _ in rows], dtype="<i8")
            _write(view / _ROWS, state.rows * packed.shape[1], packed)
            _write(view / _KEYS, state.rows * keys.itemsize * 2, keys)
            state = replace(state, rows=state.rows + len(rows), width=packed.shape[1])
    if left_out:
        use.fail("embedding: vectors are missing", len(left_out))
    state = _sketch(view, replace(state, left_out=tuple(left_out)))
    state.save(view)
    return state


async def _vectors(store: Store, rows: Sequence[tuple[int, int, str, str]], use: Use) -> dict[str, bytes]:
    """Packed vectors of chunks by hash. Those that the cache has lost are made again, where the run may."""
    embedder = store.meta().get("embedder", "")
    hashes = [hash for *_, hash in rows]
    known = use.cache.vectors(embedder, hashes)
    lost = {number for number, _, _, hash in rows if hash not in known}
    if lost and use.pays:
        with suppress(BudgetExceeded):
            for source in store.sources(sorted(lost)):
                await use.embed({one.hash: one.searched for one in source.passages if one.hash not in known})
        known = use.cache.vectors(embedder, hashes)
    return known


def _sketch(view: Path, state: _State) -> _State:
    """Make the sketches that are lacking, where there are enough rows to need them."""
    if state.rows <= EXACT_ROWS and not state.sketched:
        return state
    packed = state.packed(view)
    for at in range(state.sketched, state.rows, _AT_ONCE):
        for word, found in enumerate(sketches(packed[at : at + _AT_ONCE, :-4])):
            _write(view / _sketch_file(word), at * found.itemsize, np.ascontiguousarray(found))
    return replace(state, sketched=state.rows)


def _write(path: Path, at: int, array: NDArray[Any]) -> None:
    """Append to a file of so many bytes. Behind them there may be what a killed run has left."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with os.fdopen(descriptor, "r+b") as file:
        file.seek(at)
        file.write(array.data)
        file.truncate()


def _compact(view: Path, state: _State) -> None:
    """Write the files anew without the rows of removed documents, by document and place."""
    packed, keys, words = state.packed(view), state.keys(view), state.sketches(view)
    rows = ChunkVectors.open(view).in_order
    files: dict[str, NDArray[Any]] = {_ROWS: packed, _KEYS: keys}
    files.update((_sketch_file(word), each) for word, each in enumerate(words))
    for name, array in files.items():
        (view / name).unlink()
        for at in range(0, len(rows), _AT_ONCE):
            some = np.ascontiguousarray(array[rows[at : at + _AT_ONCE]])
            _write(view / name, at * array.nbytes // len(array), some)
    (view / _GONE).unlink(missing_ok=True)
    replace(state, rows=len(rows), gone=0, sketched=len(rows) if words else 0).save(view)


# Checks

_QUESTIONS = 32
"""Rows that are questions where recall is measured."""


def recall(vectors: VectorSearch, k: int = 10) -> float:
    """The share of the k nearest rows that a search finds, where the questions are rows from all over: exactly 1 where
    a search is exact.
    """
    if is_exact(len(vectors), k) or not vectors._sketches:
        return 1.0
    rows = np.arange(len(vectors.matrix)) if vectors._live is None else vectors._live
    chosen = rows[np.linspace(0, len(rows) - 1, _QUESTIONS).astype(np.int64)]
    found = 0
    for question in vectors.matrix[chosen]:
        # What is as near as the last of these is as good.
        least = float(np.partition((vectors.matrix @ question)[rows], -k)[-k])
        found += sum(score >= least for _, score in vectors.search(question, k))
    return found / (k * len(chosen))
