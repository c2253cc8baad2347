"""Which document states a relation that no other document states.

Relations are shared out to buckets by the first bits of their numbers. A bucket holds, in order, the next sixteen bits
of each with the number of its document, as one number of eight bytes. Two relations may have the same bits: whoever
asks looks whether a document has the relation.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.relation_ids import SHIFT

TABLE = """
-- `bucket` is the first bits of relations behind a one; so the largest tells how many bits these are.
CREATE TABLE IF NOT EXISTS graph_relation_places (bucket INTEGER PRIMARY KEY, held BLOB NOT NULL);
"""
_FILLED = 32
"""Relations in a bucket when all are shared out: so many in the middle, or down to half of it."""
_LARGEST = 512
"""Relations of the largest bucket: where there are more, all are shared out anew."""
_TAG = 16
_DOCUMENT = 48
"""Bits of a relation and of a document's number in what a bucket holds."""
_MOST_BITS = 40

Ints = NDArray[np.int64]


class RelationPlaces:
    """The table of the store. Relations are the numbers of their ids."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def _bits(self) -> int:
        (largest,) = self._db.execute("SELECT max(bucket) FROM graph_relation_places").fetchone()
        return 0 if largest is None else int(largest).bit_length() - 1

    def documents(self, relations: Collection[int]) -> dict[int, list[int]]:
        """For each of these relations the documents one of which may state it, and alone; most often one or none."""
        bits = self._bits()
        asked = {id: _bucket(id, bits) for id in relations}
        numbers = sorted({bucket for bucket, _ in asked.values()})
        query = "SELECT bucket, held FROM graph_relation_places WHERE bucket IN (SELECT value FROM json_each(?))"
        rows = self._db.execute(query, (json.dumps(numbers),)).fetchall()
        # All at once: each bucket by itself would take ten times as long.
        held = np.frombuffer(b"".join(blob for _, blob in rows), np.uint64)
        of = np.repeat(np.array([bucket for bucket, _ in rows], np.uint64), [len(blob) // 8 for _, blob in rows])
        keys = of << np.uint64(_TAG) | held >> np.uint64(_DOCUMENT)
        order = np.argsort(keys, kind="stable")
        keys, numbers_of = keys[order], (held & np.uint64((1 << _DOCUMENT) - 1))[order].tolist()
        wanted = np.array([bucket << _TAG | tag for bucket, tag in asked.values()], np.uint64)
        begins, ends = (keys.searchsorted(wanted, side).tolist() for side in ("left", "right"))
        return {id: numbers_of[begin:end] for id, begin, end in zip(asked, begins, ends, strict=True)}

    def change(self, gone: Mapping[int, int], come: Mapping[int, int]) -> bool:
        """Relations that documents stated alone, and do no longer, and those that they do now. False where a bucket has
        become so large that all should be shared out anew (`fill`).
        """
        bits = self._bits()
        changed: dict[int, Counter[int]] = defaultdict(Counter)  # two relations of a document may have the same bits
        for some, more in ((gone, -1), (come, 1)):
            for id, document in some.items():
                bucket, tag = _bucket(id, bits)
                changed[bucket][tag << _DOCUMENT | document] += more
        largest = 0
        for bucket, counts in sorted(changed.items()):
            row = self._db.execute("SELECT held FROM graph_relation_places WHERE bucket = ?", (bucket,)).fetchone()
            counts.update(array("Q", b"" if row is None else row[0]))
            held = array("Q", sorted(counts.elements()))
            largest = max(largest, len(held))
            self._put(bucket, held.tobytes())
        return largest <= _LARGEST

    def _put(self, bucket: int, held: bytes) -> None:
        if held:
            self._db.execute("INSERT OR REPLACE INTO graph_relation_places VALUES (?, ?)", (bucket, held))
        else:
            self._db.execute("DELETE FROM graph_relation_places WHERE bucket = ?", (bucket,))

    def fill(self, relations: Ints, documents: Ints) -> None:
        """Share all out: relations in rising order, each with the document that states it."""
        self._db.execute("DELETE FROM graph_relation_places")
        bits = max(0, (len(relations) // _FILLED).bit_length())
        self._db.executemany(
            "INSERT INTO graph_relation_places VALUES (?, ?)", shared_out(relations, documents, min(bits, _MOST_BITS))
        )

    def is_of(self, relations: Ints, documents: Ints) -> bool:
        """Whether it holds these relations, and no others."""
        rows = self._db.execute("SELECT bucket, held FROM graph_relation_places ORDER BY bucket")
        return rows.fetchall() == list(shared_out(relations, documents, self._bits()))


def shared_out(relations: Ints, documents: Ints, bits: int) -> Iterator[tuple[int, bytes]]:
    """The rows of the table, for buckets of so many bits; relations in rising order."""
    ids = relations.astype(np.uint64) + np.uint64(SHIFT)
    first = ids >> np.uint64(63 - bits) >> np.uint64(1)  # a shift by all 64 bits at once is none
    tags = (ids << np.uint64(bits)) >> np.uint64(64 - _TAG)
    held = tags << np.uint64(_DOCUMENT) | documents.astype(np.uint64)
    bounds = np.flatnonzero(np.diff(first, prepend=first[:1] + np.uint64(1)))
    for bucket, some in zip(first[bounds].tolist(), np.split(held, bounds[1:]) if len(bounds) else (), strict=True):
        yield 1 << bits | bucket, np.sort(some).tobytes()


def _bucket(relation: int, bits: int) -> tuple[int, int]:
    """Its bucket, and what stands for it there."""
    id = relation + SHIFT
    return 1 << bits | id >> 64 - bits, (id >> 64 - bits - _TAG) & ((1 << _TAG) - 1)
