"""Vectors and words of an index that lie in shards: asked of each, and joined to what one index of all would say.

A score does not depend on where a chunk lies: how rare a word is, and how long chunks are, is told by all shards
together before any of them is searched, and the product of two vectors is the same wherever it is made. So the best of
all are the best of the shards' best.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, reduce
from heapq import merge
from itertools import islice
from operator import add
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import RagwaysError, StoreBusy, StoreDamaged
from ragways.index.chunk_vectors import ChunkVectors, VectorSegment
from ragways.index.columns import JoinedTexts
from ragways.index.packed import PackedRows
from ragways.index.shards import ShardList
from ragways.index.sketches import SketchLimits, SketchReach, is_exact
from ragways.index.vectors import Scored
from ragways.index.words import Words, WordStatistics, terms

SoundFolder = Callable[[Path, int, str], Path]
"""The derived folder of an index (its folder, a generation, a layer), once the files of that layer are whole."""


class ShardReader:
    """What one shard is asked. Its files are opened when they are first needed."""

    def __init__(self, folder: Path, generation: int, sound: SoundFolder) -> None:
        self._derived: Callable[[str], Path] = lambda layer: sound(folder, generation, layer)
        self.folder = folder

    @cached_property
    def vectors(self) -> ChunkVectors:
        return ChunkVectors.open(self._derived("vectors"))

    @cached_property
    def words(self) -> Words:
        return Words(self._derived("words") / "words")

    def reach(self, vector: NDArray[np.float32], k: int, first: int | None) -> SketchReach:
        """How far from a vector the chunks lie."""
        return self.vectors.reach(vector, k, first)

    def nearest(self, vector: NDArray[np.float32], k: int, minimum: float, limits: SketchLimits | None) -> Scored:
        """The k nearest chunks."""
        return self.vectors.search(vector, k, minimum=minimum, limits=limits)

    def ids(self) -> list[str]:
        return list(self.vectors.ids)

    def owners(self) -> NDArray[np.int64]:
        """The number of the document of every row."""
        return self.vectors.owners()

    def size(self) -> int:
        """How many rows there are."""
        return len(self.vectors)

    def places(self, ids: Collection[str]) -> dict[str, int]:
        return self.vectors.places(ids)

    def sizes(self, documents: Collection[str]) -> dict[str, int]:
        return self.vectors.sizes(documents)

    def part(self, numbers: Collection[int]) -> list[VectorSegment]:
        """The rows of some documents, to be sent."""
        return self.vectors.of_documents(numbers).in_memory()

    def products(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of every row with a vector."""
        return self.vectors.matrix @ vector

    def packed(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Rows as they are kept."""
        return self.vectors.matrix.take(rows).packed

    def statistics(self, words: Sequence[str]) -> WordStatistics:
        """How often these words are here, among how much."""
        return self.words.statistics(words)

    def lexical(self, question: str, k: int, statistics: WordStatistics, documents: frozenset[int] | None) -> Scored:
        """The k best chunks by words (of these documents), scored by what all shards say of the words."""
        words = self.words if documents is None else self.words.only(documents)
        return words.search(question, k, statistics)


class ShardAsker(Protocol):
    """Asks every shard the same. `missing` are those that could not answer, by number, with why."""

    missing: dict[int, str]

    def __len__(self) -> int: ...

    def ask(self, method: str, *arguments: object, each: Sequence[object] | None = None) -> dict[int, Any]:
        """What a method of `ShardReader` gives, by shard, of those that answer. `each` is a last argument of every
        shard's own.
        """
        ...

    def close(self) -> None: ...


class ShardsHere:
    """Shards that are read in this process."""

    def __init__(self, shards: ShardList, sound: SoundFolder) -> None:
        self.missing: dict[int, str] = {}
        self._readers = {
            shard: ShardReader(shards.place(shard), generation, sound)
            for shard, generation in enumerate(shards.generations)
        }

    def __len__(self) -> int:
        return len(self._readers)

    def ask(self, method: str, *arguments: object, each: Sequence[object] | None = None) -> dict[int, Any]:
        answers: dict[int, Any] = {}
        for shard, reader in self._readers.items():
            if shard in self.missing:
                continue
            try:
                own = () if each is None else (each[shard],)
                answers[shard] = getattr(reader, method)(*arguments, *own)
            except StoreBusy:
                raise  # overtaken by a commit: the index is to be opened anew, and nothing is missing
            except (RagwaysError, OSError, ValueError, EOFError) as error:
                note_missing(self, shard, f"{reader.folder} cannot be read ({error})")
        return checked(self, answers)

    def close(self) -> None:
        """Nothing is held."""


def note_missing(shards: ShardAsker, shard: int, why: str) -> None:
    """Note that a shard cannot answer: for good, as long as this reader of the index is open."""
    shards.missing[shard] = why
    logging.getLogger("ragways").warning("ragways: shard %d of %d does not answer: %s", shard, len(shards), why)


def checked(shards: ShardAsker, answers: dict[int, Any]) -> dict[int, Any]:
    """The answers, or an error where no shard gave one."""
    if not answers and len(shards):
        why = next(iter(shards.missing.values()), "none answered")
        raise StoreDamaged(f"none of {len(shards)} shards can answer: {why}", "bring them back, and ask again")
    return answers


def note_of(shards: ShardAsker | None) -> str:
    """What a result must say where not all shards took part in it; else nothing."""
    if shards is None or not shards.missing:
        return ""
    there = len(shards) - len(shards.missing)
    return f"{there} of {len(shards)} shards answered: what only the others hold is not in this result"


def _best(lists: Iterable[Scored], k: int) -> Scored:
    """The best of lists that are sorted already."""
    return list(islice(merge(*lists, key=lambda pair: (-pair[1], pair[0])), k))


class JoinedVectors(ChunkVectors):
    """The vectors of all shards, of which the rows of one follow on those of the other."""

    def __init__(self, shards: ShardAsker) -> None:
        self._shards = shards

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """The first row of each shard, and how many rows there are."""
        sizes = self._shards.ask("size")
        return np.cumsum([0, *(sizes.get(shard, 0) for shard in range(len(self._shards)))], dtype=np.int64)

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def search(
        self, vector: NDArray[np.float32], k: int, *, minimum: float = -1.0, limits: SketchLimits | None = None
    ) -> Scored:
        if k <= 0:
            return []
        limits = limits or self.limits(vector, k)
        return _best(self._shards.ask("nearest", vector, k, minimum, limits).values(), k)

    def reach(self, vector: NDArray[np.float32], k: int, first: int | None = None) -> SketchReach:
        reaches: dict[int, SketchReach] = self._shards.ask("reach", vector, k, first)
        return reduce(add, reaches.values())

    def _is_exact(self, k: int) -> bool:
        return is_exact(len(self), k)

    @cached_property
    def ids(self) -> Sequence[str]:  # type: ignore[override]
        found: dict[int, list[str]] = self._shards.ask("ids")
        sizes = np.diff(self._firsts).tolist()
        return JoinedTexts([found.get(shard, [""] * size) for shard, size in enumerate(sizes)])

    @cached_property
    def matrix(self) -> PackedRows:  # type: ignore[override]
        return JoinedRows(self._shards, self._firsts)

    def places(self, ids: Collection[str]) -> dict[str, int]:
        found: dict[int, dict[str, int]] = self._shards.ask("places", list(ids))
        return {id: row + int(self._firsts[shard]) for shard, rows in found.items() for id, row in rows.items()}

    def sizes(self, documents: Collection[str]) -> dict[str, int]:
        found: dict[int, dict[str, int]] = self._shards.ask("sizes", list(documents))
        return {id: size for sizes in found.values() for id, size in sizes.items()}

    def owners(self) -> NDArray[np.int64]:
        found: dict[int, NDArray[np.int64]] = self._shards.ask("owners")
        gone = [np.full(size, -1, np.int64) for size in np.diff(self._firsts).tolist()]
        return np.concatenate([found.get(shard, rows) for shard, rows in enumerate(gone)])

    def of_documents(self, numbers: Collection[int]) -> ChunkVectors:
        parts: dict[int, list[VectorSegment]] = self._shards.ask("part", frozenset(numbers))
        return ChunkVectors([part for some in parts.values() for part in some])


class JoinedRows(PackedRows):
    """The rows of all shards, fetched as they are asked for."""

    def __init__(self, asker: ShardAsker, firsts: NDArray[np.int64]) -> None:
        self._asker = asker
        self._firsts = firsts

    def __len__(self) -> int:
        return int(self._firsts[-1])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.take([0] if len(self) else []).shape[1]

    @property
    def packed(self) -> NDArray[np.int8]:
        return self.take(np.arange(len(self))).packed

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> PackedRows:
        wanted = np.asarray(rows, dtype=np.int64)
        shards = np.searchsorted(self._firsts, wanted, side="right") - 1
        each = [wanted[shards == shard] - self._firsts[shard] for shard in range(len(self._asker))]
        answers: dict[int, NDArray[np.int8]] = self._asker.ask("packed", each=each)
        # An empty shard does not know how long a row is.
        found = np.zeros((len(wanted), max(some.shape[1] for some in answers.values())), np.int8)
        for shard, some in answers.items():
            if len(some):
                found[shards == shard] = some
        return PackedRows(found)

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:  # noqa: ANN401 - whatever NumPy takes for rows
        chosen = np.arange(len(self))[rows]
        unpacked = self.take(np.atleast_1d(chosen))[:]
        return cast(NDArray[np.float32], unpacked[0] if np.ndim(chosen) == 0 else unpacked)

    def __matmul__(self, other: NDArray[np.float32]) -> NDArray[np.float32]:
        # A shard that has gone since is nothing like anything.
        found = np.full((len(self), *other.shape[1:]), -1, np.float32)
        for shard, products in self._asker.ask("products", other).items():
            found[self._firsts[shard] : self._firsts[shard + 1]] = products
        return found


class JoinedWords(Words):
    """The lexical index of all shards."""

    def __init__(self, shards: ShardAsker) -> None:
        self._shards = shards
        self._among: frozenset[int] | None = None

    def __len__(self) -> int:
        return self.statistics(()).chunks

    def statistics(self, words: Sequence[str]) -> WordStatistics:
        told: list[WordStatistics] = list(self._shards.ask("statistics", words).values())
        return reduce(add, told)

    def search(self, question: str, k: int, statistics: WordStatistics | None = None) -> Scored:
        words = terms(question)
        if not words or k <= 0:
            return []
        by = statistics or self.statistics(words)
        return _best(self._shards.ask("lexical", question, k, by, self._among).values(), k)

    def only(self, documents: frozenset[int]) -> Words:
        part = copy.copy(self)
        part._among = documents
        return part
