"""Vectors and words of an index that lie in shards: asked of each, and joined to what one index of all would say.

A score does not depend on where a chunk lies: how rare a word is, and how long chunks are, is told by all shards
together before any of them is searched, and the product of two vectors is the same wherever it is made. So the best of
all are the best of the shards' best.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from heapq import merge
from itertools import islice
from operator import add
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import RagwaysError, StoreDamaged
from ragways.index.packed import PackedRows
from ragways.index.shards import ShardList
from ragways.index.store import number_of
from ragways.index.vectors import Scored, Vectors
from ragways.index.words import Words, WordStatistics, terms

SoundFolder = Callable[[Path, int, str], Path]
"""The derived folder of an index (its folder, a generation, a layer), once the files of that layer are whole."""


class ShardReader:
    """What one shard is asked. Its files are opened when they are first needed."""

    def __init__(self, folder: Path, generation: int, sound: SoundFolder) -> None:
        self._derived: Callable[[str], Path] = lambda layer: sound(folder, generation, layer)
        self.folder = folder

    @cached_property
    def vectors(self) -> Vectors:
        return Vectors.load(self._derived("vectors"), "chunks")

    @cached_property
    def words(self) -> Words:
        return Words(self._derived("words") / "words")

    def nearest(self, vector: NDArray[np.float32], k: int, minimum: float) -> Scored:
        """The k nearest chunks."""
        return self.vectors.search(vector, k, minimum=minimum)

    def ids(self) -> list[str]:
        return list(self.vectors.ids)

    def products(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of every row with a vector."""
        return self.vectors.matrix @ vector

    def packed(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Rows as they are kept."""
        return self.vectors.matrix.packed[rows]

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


class JoinedVectors(Vectors):
    """The vectors of all shards. Rows are in the order of one index: by document, and in it by place."""

    def __init__(self, shards: ShardAsker) -> None:
        self._shards = shards

    def search(self, vector: NDArray[np.float32], k: int, *, minimum: float = -1.0) -> Scored:
        return _best(self._shards.ask("nearest", vector, k, minimum).values(), k) if k > 0 else []

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _rows(self) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
        """Ids in order; and the shard, and the row in it, of each."""
        ids: list[str] = []
        shards: list[NDArray[np.int64]] = []
        rows: list[NDArray[np.int64]] = []
        for shard, some in self._shards.ask("ids").items():
            ids += some
            shards.append(np.full(len(some), shard, np.int64))
            rows.append(np.arange(len(some), dtype=np.int64))
        order = np.argsort(np.fromiter(map(number_of, ids), np.int64, len(ids)), kind="stable")
        return [ids[row] for row in order.tolist()], np.concatenate(shards)[order], np.concatenate(rows)[order]

    @property
    def ids(self) -> Sequence[str]:  # type: ignore[override]
        return self._rows[0]

    @cached_property
    def matrix(self) -> PackedRows:  # type: ignore[override]
        _, shards, rows = self._rows
        return JoinedRows(self._shards, shards, rows)

    def only(self, kept: NDArray[np.bool_]) -> Vectors:
        rows = np.flatnonzero(kept)
        return Vectors([self.ids[row] for row in rows.tolist()], self.matrix.take(rows))


class JoinedRows(PackedRows):
    """The rows of all shards, fetched as they are asked for."""

    def __init__(self, asker: ShardAsker, shards: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        self._asker = asker
        self._shard_of = shards
        self._row_of = rows

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.take([0] if len(self) else []).shape[1]

    @property
    def packed(self) -> NDArray[np.int8]:  # type: ignore[override]
        return self.take(np.arange(len(self))).packed

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> PackedRows:
        wanted = np.asarray(rows, dtype=np.intp)
        found: NDArray[np.int8] | None = None
        shards, inside = self._shard_of[wanted], self._row_of[wanted]
        each = [inside[shards == shard] for shard in range(len(self._asker))]
        for shard, some in self._asker.ask("packed", each=each).items():
            if found is None:
                found = np.zeros((len(wanted), some.shape[1]), np.int8)
            found[shards == shard] = some
        return PackedRows(cast(NDArray[np.int8], found))

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:  # noqa: ANN401 - whatever NumPy takes for rows
        chosen = np.arange(len(self))[rows]
        unpacked = self.take(np.atleast_1d(chosen))[:]
        return cast(NDArray[np.float32], unpacked[0] if np.ndim(chosen) == 0 else unpacked)

    def __matmul__(self, other: NDArray[np.float32]) -> NDArray[np.float32]:
        # A shard that has gone since is nothing like anything.
        found = np.full((len(self), *other.shape[1:]), -1, np.float32)
        for shard, products in self._asker.ask("products", other).items():
            here = self._shard_of == shard
            found[here] = products[self._row_of[here]]
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
