"""Which chunks name which entities, as arrays: found from either side without reading all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import TextColumn
from ragways.index.graph.relations import Ints, Small, places_of
from ragways.index.store import number_of

_CHUNKS = "graph-chunks"
_DOCUMENTS_KEPT = 256  # whose chunks are kept by id


@dataclass(frozen=True)
class MentionArrays:
    """Mentions in the order of chunks: chunk i names `entities[begins[i]:begins[i + 1]]`, each as often as `counts`
    says. Those of entity j are `of_entity[by_entity[j]:by_entity[j + 1]]`, in the order of chunks.
    """

    begins: Ints
    entities: Small
    counts: NDArray[np.unsignedinteger]
    by_entity: Ints
    of_entity: Small

    def __len__(self) -> int:
        return len(self.entities)

    @classmethod
    def of(cls, size: int, named: Ints, entities: Small, counts: NDArray[np.unsignedinteger]) -> MentionArrays:
        """From how many entities each chunk names, which of `size` entities, and how often."""
        order = np.argsort(entities, kind="stable").astype(np.int32)
        by_entity = np.searchsorted(entities[order], np.arange(size + 1)).astype(np.int64)
        small = np.min_scalar_type(int(counts.max())) if len(counts) else np.dtype(np.uint8)
        return cls(begins_of(named), entities, counts.astype(small), by_entity, order)

    def chunks(self, mentions: NDArray[np.integer]) -> Ints:
        """The chunks that hold these mentions."""
        return np.searchsorted(self.begins, mentions, side="right").astype(np.int64) - 1

    def naming(self, entities: Ints) -> tuple[Ints, Ints]:
        """The chunks that name any of these entities, in rising order, and how often each does."""
        mentions = self.of_entity[places_of(self.by_entity, entities)[0]]
        return _summed(self.chunks(mentions), self.counts[mentions])

    def named(self, chunks: Ints) -> tuple[Ints, Ints]:
        """The entities that any of these chunks names, in rising order, and how often they do."""
        mentions = places_of(self.begins, chunks)[0]
        return _summed(self.entities[mentions].astype(np.int64), self.counts[mentions])

    def save(self, folder: Path) -> None:
        for part in fields(self):
            np.save(_file(folder, part.name), getattr(self, part.name))

    @classmethod
    def load(cls, folder: Path) -> MentionArrays:
        # Plain views of the mapped files: indexing a memmap costs as much again in bookkeeping.
        return cls(*(np.asarray(np.load(_file(folder, part.name), mmap_mode="r")) for part in fields(cls)))


def _file(folder: Path, part: str) -> Path:
    return folder / f"graph-mentions-{part.replace('_', '-')}.npy"


def _summed(numbers: Ints, counts: NDArray[np.unsignedinteger]) -> tuple[Ints, Ints]:
    different, which = np.unique(numbers, return_inverse=True)
    return different, np.bincount(which, counts, len(different)).astype(np.int64)


def begins_of(lengths: NDArray[np.integer]) -> Ints:
    """Where rows of these lengths begin, and where the last ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])


class ChunkNumbers(Mapping[str, int]):
    """Numbers of chunks by id: those of a document follow one another, and are looked through."""

    def __init__(self, ids: TextColumn, documents: Ints, begins: Ints, first: int = 0) -> None:
        self.ids = ids
        self._first = first
        self._documents, self._begins = documents, begins
        self._numbers = lru_cache(_DOCUMENTS_KEPT)(self._of_document)

    @staticmethod
    def save(folder: Path, ids: Iterable[str], documents: Ints, lengths: Ints) -> None:
        """Write ids of chunks, by document in rising order; `lengths` tells how many each document has."""
        TextColumn.write(folder, _CHUNKS, ids)
        np.save(folder / f"{_CHUNKS}-documents.npy", documents)
        np.save(folder / f"{_CHUNKS}-begins.npy", begins_of(lengths))

    @classmethod
    def load(cls, folder: Path) -> ChunkNumbers:
        documents, begins = (
            np.asarray(np.load(folder / f"{_CHUNKS}-{part}.npy", mmap_mode="r")) for part in ("documents", "begins")
        )
        return cls(TextColumn.load(folder, _CHUNKS), documents, begins)

    def after(self, others: int) -> ChunkNumbers:
        """The numbers of the same chunks where so many others come before them."""
        return ChunkNumbers(self.ids, self._documents, self._begins, self._first + others)

    def __getitem__(self, id: str) -> int:
        try:
            document = number_of(id)
        except (ValueError, IndexError):
            raise KeyError(id) from None
        return self._first + self._numbers(document)[id]

    def _of_document(self, document: int) -> dict[str, int]:
        place = int(np.searchsorted(self._documents, document))
        if place == len(self._documents) or self._documents[place] != document:
            return {}
        rows = range(int(self._begins[place]), int(self._begins[place + 1]))
        return dict(zip(self.ids.take(rows), rows, strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)
