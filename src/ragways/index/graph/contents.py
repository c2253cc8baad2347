"""What documents hold of the graph, read from the store as arrays: their chunks, whom they name and what they state."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.names import coarse
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
    [1.0 + math.log(max(mark >> 1, 1)) + ABOUT * (mark & 1) for mark in range(1 << 8)], dtype=np.float32
)
"""What it weighs that a chunk names an entity, by the mark of the mention (`Contents.marks`)."""
_AT_ONCE = 10_000  # documents whose rows are held
CONTENTS = "SELECT document, chunks, named, entities, counts, stated, relations FROM graph_contents"


class Contents:
    """What documents hold, by document: `named` and `stated` tell of each chunk how much of it is its own. Ids are
    numbers as the store has them.
    """

    def __init__(self, db: sqlite3.Connection, documents: Collection[int] | None = None) -> None:
        """Of all documents, or of those of these that are there."""
        where, values = "", list[str]()
        if documents is not None:
            where, values = " WHERE document IN (SELECT value FROM json_each(?))", [json.dumps(sorted(documents))]
        rows = db.execute(f"{CONTENTS}{where} ORDER BY document", values)
        numbers, self.paths, parts = list[int](), list[str](), [_Part.empty()]
        while some := rows.fetchmany(_AT_ONCE):
            more, paths, *rest = zip(*some, strict=True)
            numbers += more
            self.paths += paths
            parts.append(_Part.of([count_paths(each) for each in paths], *rest))
        self.documents = np.array(numbers, dtype=np.int64)
        self.lengths, self.named, self.entities, self.counts, self.stated, self.relations = map(
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
    def stating(self) -> Ints:
        """Which chunk states each of the relations."""
        return np.repeat(np.arange(len(self.stated)), self.stated)

    @property
    def marks(self) -> NDArray[np.uint8]:
        """Of each mention how many times the chunk names the entity, and in the lowest bit whether it is the entity's
        own article.
        """
        most = np.uint32(MOST_TIMES << 1) | self.counts & np.uint32(1)
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
    counts: NDArray[np.uint32]
    stated: Ints
    relations: Ints

    @classmethod
    def empty(cls) -> _Part:
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing, nothing.astype(np.uint32), nothing, nothing)

    @classmethod
    def of(
        cls,
        lengths: Sequence[int],
        named: Sequence[bytes],
        entities: Sequence[bytes],
        counts: Sequence[bytes],
        stated: Sequence[bytes],
        relations: Sequence[bytes],
    ) -> _Part:
        return cls(
            np.array(lengths, dtype=np.int64),
            joined_counts(named, lengths).astype(np.int64),
            np.frombuffer(b"".join(entities), dtype=np.int64),
            joined_counts(counts, [len(each) // 8 for each in entities]),
            joined_counts(stated, lengths).astype(np.int64),
            np.frombuffer(b"".join(relations), dtype=np.int64),
        )


def count_paths(paths: str) -> int:
    """How many chunks have these paths."""
    return paths.count("\n") + 1 if paths else 0


def joined_counts(packed: Sequence[bytes], lengths: Sequence[int]) -> NDArray[np.uint32]:
    """Those of all documents (`packed_counts`), one after the other."""
    wide = [each if len(each) != length else None for each, length in zip(packed, lengths, strict=True)]
    if not any(wide):
        return np.frombuffer(b"".join(packed), dtype=np.uint8).astype(np.uint32)
    return np.concatenate(
        [
            np.frombuffer(each, dtype=np.uint8).astype(np.uint32) if large is None else np.frombuffer(large, np.uint32)
            for each, large in zip(packed, wide, strict=True)
        ]
    )


def chunk_ids(db: sqlite3.Connection) -> Iterator[str]:
    """The ids of all chunks of the graph, by document."""
    for document, paths in db.execute("SELECT document, chunks FROM graph_contents ORDER BY document"):
        for path in paths.split("\n") if paths else ():
            yield f"article:{document}:{path}"


def joins(type: str) -> bool:
    """Whether entities of a type join passages: dates and quantities do not."""
    return coarse(type) not in ("date", "quantity")
