"""What documents hold of the graph, read from the store as arrays: their chunks, whom they name and what they state."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.document_statements import ContentsRow, contents_rows
from ragways.index.graph.names import coarse
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.stated_columns import StatedColumns, count_paths
from ragways.index.graph.weights import PARTS
from ragways.index.packed_numbers import joined_counts
from ragways.index.ragged import Ragged, ragged

Ints = NDArray[np.int64]

NODES = "graph-nodes"
"""The table of mentions, seen from both sides. Its rows are entities and then chunks, the nodes of a walk: `links`
tells whom a chunk names and who names an entity, and `others` the same of entities that join no passages.
"""
MOST_TIMES = (1 << 7) - 1
"""A chunk names an entity no more often than this, as far as it is counted."""
ABOUT = 6.0
"""What it counts for that a passage is the entity's own article: a walk that meets a name should look there first."""
MENTION_WEIGHTS = np.array(
    [round((1.0 + math.log(max(mark >> 1, 1)) + ABOUT * (mark & 1)) * PARTS) / PARTS for mark in range(1 << 8)],
    dtype=np.float32,
)
"""What it weighs that a chunk names an entity, by the mark of the mention (`Contents.marks`), in parts of which
sums are kept.
"""


class Contents:
    """What documents hold, by document: `named` tells of each chunk how many of the entities are its own; `stating`
    which chunk states each of the relations. Ids are numbers as the store has them.
    """

    def __init__(self, db: sqlite3.Connection, documents: Collection[int] | None = None) -> None:
        """Of all documents, or of those of these that are there."""
        numbers, self.paths, parts, chunks = list[int](), list[str](), [_Part.empty()], 0
        predicates = Predicates(db)
        for rows in contents_rows(db, documents):
            numbers += (row.document for row in rows)
            self.paths += (row.chunks for row in rows)
            parts.append(_Part.of(chunks, rows, StatedColumns.of(predicates, rows)))
            chunks += len(parts[-1].named)
        self.documents = np.array(numbers, dtype=np.int64)
        self.lengths, self.named, self.entities, self.counts, self.stating, self.relations = map(
            np.concatenate, zip(*parts, strict=True)
        )

    @property
    def of_chunks(self) -> Ints:
        """The document of each chunk."""
        return np.repeat(self.documents, self.lengths)

    @property
    def naming(self) -> Ints:
        """Which chunk names each of the entities."""
        return np.repeat(np.arange(len(self.named)), self.named)

    @property
    def marks(self) -> NDArray[np.uint8]:
        """Of each mention how many times the chunk names the entity, and in the lowest bit whether it is the entity's
        own article.
        """
        most = np.uint64(MOST_TIMES << 1) | self.counts & np.uint64(1)
        marks: NDArray[np.uint8] = np.minimum(self.counts, most).astype(np.uint8)
        return marks

    def letters(self) -> Ragged:
        """The paths of chunks."""
        paths = [path.encode() for paths in self.paths for path in (paths.split("\n") if paths else ())]
        counts = np.fromiter(map(len, paths), dtype=np.int32, count=len(paths))
        return ragged(counts, letters=np.frombuffer(b"".join(paths), dtype=np.uint8))


class _Part(NamedTuple):
    """What some documents hold, as `Contents` has it of all."""

    lengths: Ints
    named: Ints
    entities: Ints
    counts: NDArray[np.uint64]
    stating: Ints
    relations: Ints

    @classmethod
    def empty(cls) -> _Part:
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing, nothing.astype(np.uint64), nothing, nothing)

    @classmethod
    def of(cls, first: int, rows: Sequence[ContentsRow], stated: StatedColumns) -> _Part:
        """`first`: the number of the first chunk."""
        lengths = [count_paths(row.chunks) for row in rows]
        chunks, ids, sizes = np.array(lengths, dtype=np.int64), stated.relations, stated.counts
        firsts = first + np.cumsum(chunks) - chunks
        of_chunks = joined_counts([row.stated for row in rows], lengths).astype(np.int64)
        of_first = np.repeat(first + np.arange(chunks.sum()), of_chunks)
        # What a chunk states after another one of its document: the places of both in the document.
        times = [len(row.again) // 8 for row in rows]
        pairs = np.frombuffer(b"".join(row.again for row in rows), dtype=np.uint32).reshape(-1, 2).astype(np.int64)
        stating = np.concatenate([of_first, np.repeat(firsts, times) + pairs[:, 0]])
        relations_of = np.concatenate([ids, ids[np.repeat(np.cumsum(sizes) - sizes, times) + pairs[:, 1]]])
        by_chunk = np.argsort(stating, kind="stable")
        return cls(
            chunks,
            joined_counts([row.named for row in rows], lengths).astype(np.int64),
            np.frombuffer(b"".join(row.entities for row in rows), dtype=np.int64),
            joined_counts([row.counts for row in rows], [len(row.entities) // 8 for row in rows]),
            stating[by_chunk],
            relations_of[by_chunk],
        )


def chunk_ids(db: sqlite3.Connection) -> Iterator[str]:
    """The ids of all chunks of the graph, by document."""
    for document, paths in db.execute("SELECT document, chunks FROM graph_contents ORDER BY document"):
        for path in paths.split("\n") if paths else ():
            yield f"article:{document}:{path}"


def joins(type: str) -> bool:
    """Whether entities of a type join passages: dates and quantities do not."""
    return coarse(type) not in ("date", "quantity")
