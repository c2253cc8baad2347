"""Which chunks name which entities, as arrays: found from either side without reading all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.ragged import Ragged, stretches
from ragways.index.row_keys import Ranks, RowKeys
from ragways.index.store import number_of

Ints = NDArray[np.int64]
CHUNKS = "graph-chunks"
"""The table of chunks: the document and path of each."""
DOCUMENTS = "graph-documents"
"""The table of documents: the number of the first chunk of each, and how many it has."""
_DOCUMENTS_KEPT = 256  # whose chunks are kept by id


@dataclass(frozen=True)
class MentionArrays:
    """The rows of the table `NODES`: entities, and from `first_chunk` on chunks. What they are linked to stands in
    `joining`, or in `others` where the entity is one that joins no passages.
    """

    joining: Ragged
    others: Ragged
    first_chunk: int

    def __len__(self) -> int:
        return int(self.counts_of(np.arange(self.first_chunk)).sum())

    def counts_of(self, entities: Ints) -> Ints:
        """How many chunks name each of these entities."""
        return self.joining.counts_of(entities) + self.others.counts_of(entities)

    def naming(self, entity: int) -> tuple[Ints, Ints]:
        """The chunks that name an entity, in the corpus's order, and how often each does."""
        nodes, times = self._linked(np.array([entity]))
        return nodes - self.first_chunk, times

    def chunks_of(self, entities: Ints) -> tuple[Ints, Ints]:
        """The chunks that name any of these entities, in the order of their numbers, and how often they do."""
        nodes, times = self._linked(entities)
        return _summed(nodes - self.first_chunk, times)

    def entities_of(self, chunks: Ints) -> tuple[Ints, Ints]:
        """The entities that any of these chunks names, in the order of their numbers, and how often they do."""
        return _summed(*self._linked(self.first_chunk + chunks))

    def pairs(self) -> tuple[Ints, Ints]:
        """Of every mention the numbers of its entity and of its chunk."""
        entities, parts = np.arange(self.first_chunk), (self.joining, self.others)
        owners = np.concatenate([np.repeat(entities, rows.counts_of(entities)) for rows in parts])
        return owners, self._linked(entities)[0] - self.first_chunk

    def _linked(self, nodes: Ints) -> tuple[Ints, Ints]:
        """What any of these nodes is linked to, and by how many mentions."""
        links = [(rows, rows.places(nodes)[0]) for rows in (self.joining, self.others)]
        others, marks = (np.concatenate([rows[part][at] for rows, at in links]) for part in ("nodes", "marks"))
        return others.astype(np.int64), (marks >> np.uint8(1)).astype(np.int64)


def _summed(numbers: Ints, counts: Ints) -> tuple[Ints, Ints]:
    different, which = np.unique(numbers, return_inverse=True)
    return different, np.bincount(which, counts, len(different)).astype(np.int64)


class ChunkIds:
    """The ids of chunks by number; a document has its chunks one after the other."""

    def __init__(self, table: ArrayTable) -> None:
        self.documents = table.column("documents")
        self._paths = table.ragged("path")
        self._written, self._used, self.capacity = table.size.rows, table.used, table.size.capacity

    def __getitem__(self, number: int) -> str:
        path = self._paths["letters"][self._paths.row(number)].tobytes().decode()
        return f"article:{int(self.documents[number])}:{path}"

    def take(self, numbers: NDArray[np.integer]) -> list[str]:
        """The ids of these chunks, in their order: one by one, each takes several times as long."""
        places, counts = self._paths.places(numbers)
        letters = self._paths["letters"].take(places).tobytes().decode("ascii")
        ends = zip(self.documents.take(numbers).tolist(), pairwise([0, *np.cumsum(counts).tolist()]), strict=True)
        return [f"article:{document}:{letters[begin:end]}" for document, (begin, end) in ends]

    @property
    def ranks(self) -> Ranks | None:
        """The order of chunks, by document and place, where numbers do not tell it."""
        return Ranks.of(self.documents[: self._written], self.documents[self._written : self._used])


class ChunkNumbers(Mapping[str, int]):
    """Numbers of chunks by id, in the corpus's order: those of a document follow one another, and are looked through.
    `before` is added to each number.
    """

    def __init__(self, ids: ChunkIds, documents: ArrayTable, before: int = 0) -> None:
        self.ids = ids
        self._before, self._table = before, documents
        self._firsts, self._counts = documents.column("firsts"), documents.column("counts")
        keys = documents.column("numbers")
        self._keys = RowKeys(keys, self._counts > 0, documents.size.rows, documents.used)
        self._numbers = lru_cache(_DOCUMENTS_KEPT)(self._of_document)

    def after(self, others: int) -> ChunkNumbers:
        """The numbers of the same chunks where so many others come before them."""
        return ChunkNumbers(self.ids, self._table, self._before + others)

    def __getitem__(self, id: str) -> int:
        try:
            document = number_of(id)
        except (ValueError, IndexError):
            raise KeyError(id) from None
        return self._before + self._numbers(document)[id]

    def of_document(self, document: int) -> range:
        """The numbers of a document's chunks."""
        place = -1 if abs(document) >> 63 else self._keys.place(np.int64(document))
        first, count = (int(self._firsts[place]), int(self._counts[place])) if place >= 0 else (0, 0)
        return range(self._before + first, self._before + first + count)

    def _of_document(self, document: int) -> dict[str, int]:
        rows = self.of_document(document)
        return {self.ids[row - self._before]: row - self._before for row in rows}

    def __iter__(self) -> Iterator[str]:
        return (self.ids[number] for number in self.numbers().tolist())

    def __len__(self) -> int:
        return int(self._counts.sum())

    def numbers(self) -> Ints:
        """The numbers of all chunks, without those before them, in the corpus's order."""
        places = self._keys.numbers()
        first, counts = self._firsts[places].astype(np.int64), self._counts[places].astype(np.int64)
        return stretches(first, counts)
