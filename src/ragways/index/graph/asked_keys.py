"""Which documents asked for something: a document leaves the keys of what it asked, and is found by them.

Documents have places, in the order in which they came (`graph_facts`), and so many places are a block. Keys of a block
are shared out to buckets by their first bits. A bucket is a row: in rising order, the other bits of each key with the
place of a document that left it, as one number; of each but the first the gap is kept.

With a document only the buckets of its keys are kept: they tell which keys it left.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragways.index.packed_numbers import packed_gaps, unpacked_gaps
from ragways.index.ragged import distinct, is_among

BLOCK = 1 << 14
Places = NDArray[np.uint16]
Keys = NDArray[np.uint32]
Pairs = NDArray[np.uint64]
"""A bucket, the other bits of a key, and a place each."""

_PLACE, _REST, _BUCKET = 14, 18, 14
"""Bits of a place in its block; of a key in its bucket; of a bucket in its block."""
_HIGH = 1 << _BUCKET - 8
"""Numbers of buckets are kept in two parts: the lower is a byte each."""
_HELD = 1 << 21
"""Keys that are gathered at most; each takes some hundred bytes in passing when they are written."""
_AT_ONCE = 1 << 15
"""Buckets that are read together, at most, or those of one block."""
_AMONG = "IN (SELECT value FROM json_each(?))"


def table_of_keys(name: str) -> str:
    """What makes a table of keys. `bucket` is the number of a block, and of a bucket in it."""
    return f"CREATE TABLE IF NOT EXISTS {name} (bucket INTEGER PRIMARY KEY, held BLOB NOT NULL);\n"


def packed_buckets(keys: Keys) -> bytes:
    """The buckets of a document's keys, which are in rising order."""
    buckets = distinct(keys >> _REST).astype(np.uint16)
    high = np.zeros(_HIGH + len(buckets), np.bool_)
    high[(buckets >> 8) + np.arange(len(buckets))] = True
    return buckets.astype(np.uint8).tobytes() + np.packbits(high).tobytes()


def unpacked_buckets(packed: bytes) -> NDArray[np.int64]:
    """What was packed."""
    count = (len(packed) - _HIGH // 8) * 8 // 9  # each takes nine bits
    held = np.frombuffer(packed, np.uint8)
    high = np.flatnonzero(np.unpackbits(held[count:])) - np.arange(count)
    return high << 8 | held[:count]


class AskedKeys:
    """A table of keys. What comes and goes is gathered until `flush`."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._db, self._table = db, table
        self._come: dict[int, Keys] = {}
        self._gone: dict[int, bytes] = {}
        self._size = 0

    def put(self, place: int, keys: Keys) -> None:
        """The document at this place left these keys, which are in rising order."""
        self._come[place] = keys
        self._size += len(keys)
        if len(self._come) >= BLOCK or self._size >= _HELD:
            self.flush()

    def drop(self, place: int, buckets: bytes) -> None:
        """The document at this place left keys in these packed buckets, and does no longer. Once for a place, and
        before another document has it: what is in the table then goes.
        """
        self._gone[place] = buckets

    def keys_of(self, place: int, buckets: bytes) -> Keys:
        """The keys that the document at this place left, all of which are in these packed buckets."""
        first = place // BLOCK << _BUCKET
        pairs = self._pairs([first + bucket for bucket in unpacked_buckets(buckets).tolist()])
        return _keys(pairs[_places(pairs) == place % BLOCK])

    def documents(self, keys: Collection[int]) -> set[int]:
        """Documents that left any of these keys."""
        found: set[int] = set()
        for block, places in self.places(blocks(self._db), keys).items():
            found.update(documents_at(self._db, (block * BLOCK + places.astype(np.int64)).tolist()).values())
        return found

    def documents_by_key(self, keys: Collection[int]) -> dict[int, set[int]]:
        """By key, the documents that left it; of these keys, without those that nobody left."""
        found: dict[int, set[int]] = defaultdict(set)
        for pairs in self._leading(blocks(self._db), keys):
            places = _blocks(pairs) * BLOCK + _places(pairs)
            numbers = documents_at(self._db, distinct(places).tolist())
            for key, place in zip(_keys(pairs).tolist(), places.tolist(), strict=True):
                if place in numbers:
                    found[key].add(numbers[place])
        return found

    def places(self, blocks: Iterable[int], keys: Iterable[int]) -> dict[int, Places]:
        """The places of these blocks whose documents left any of these keys, in rising order; of other blocks none."""
        found: dict[int, Places] = {}
        for pairs in self._leading(list(blocks), keys):
            of = _blocks(pairs)
            found |= {block: distinct(_places(pairs[of == block])) for block in distinct(of).tolist()}
        return found

    def _leading(self, blocks: Sequence[int], keys: Iterable[int]) -> Iterator[Pairs]:
        """What these blocks hold of these keys."""
        asked = distinct(np.fromiter(keys, np.uint32))
        buckets = distinct(asked >> _REST).tolist()
        step = max(1, _AT_ONCE // max(1, len(buckets)))
        for at in range(0, len(blocks) if buckets else 0, step):
            pairs = self._pairs([block << _BUCKET | bucket for block in blocks[at : at + step] for bucket in buckets])
            yield pairs[is_among(_keys(pairs), asked)]

    def flush(self) -> None:
        """Bring the table up to date with what came and went."""
        by_block: dict[int, list[int]] = defaultdict(list)
        for place in self._come.keys() | self._gone.keys():
            by_block[place // BLOCK].append(place)
        for block, places in sorted(by_block.items()):
            self._change(block, places)
        self._come, self._gone, self._size = {}, {}, 0

    def _change(self, block: int, places: Collection[int]) -> None:
        come = np.sort(np.concatenate([_EMPTY, *(_pairs(p, self._come[p]) for p in places if p in self._come)]))
        gone = sorted(place for place in places if place in self._gone)
        buckets = {*distinct(_buckets(come)).tolist()}.union(
            *(((block << _BUCKET) + unpacked_buckets(self._gone[place])).tolist() for place in gone)
        )
        known = self._pairs(buckets)
        went = is_among(_places(known), (np.array(gone, np.int64) % BLOCK).astype(np.uint16))
        # Most of what a document left it leaves again: only buckets that hold something else are written.
        changed = distinct(_buckets(_once(np.sort(np.concatenate([known[went], come])))))
        after = np.concatenate([known[~went], come])
        rows = dict(_rows(distinct(after[is_among(_buckets(after), changed)])))
        self._db.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", rows.items())  # noqa: S608 - our name
        empty = [(bucket,) for bucket in changed.tolist() if bucket not in rows]
        self._db.executemany(f"DELETE FROM {self._table} WHERE bucket = ?", empty)  # noqa: S608

    def _pairs(self, buckets: Collection[int]) -> Pairs:
        """What these buckets hold, in rising order."""
        query = f"SELECT bucket, held FROM {self._table} WHERE bucket {_AMONG} ORDER BY bucket"  # noqa: S608
        rows = dict(self._db.execute(query, (json.dumps(sorted(buckets)),)).fetchall())
        # All at once: each bucket by itself would take ten times as long.
        held, counts = unpacked_gaps(rows.values())
        of = np.repeat(np.fromiter(rows, np.uint64, len(rows)), counts)
        return of << np.uint64(_PLACE + _REST) | held


_EMPTY: Pairs = np.zeros(0, np.uint64)


def _pairs(place: int, keys: Keys) -> Pairs:
    """The keys of the document at a place."""
    first = np.uint64(place // BLOCK << _BUCKET + _REST)
    return (first | keys) << np.uint64(_PLACE) | np.uint64(place % BLOCK)


def _places(pairs: Pairs) -> Places:
    return (pairs & np.uint64(BLOCK - 1)).astype(np.uint16)


def _keys(pairs: Pairs) -> Keys:
    return (pairs >> np.uint64(_PLACE)).astype(np.uint32)  # what is above tells the block


def _buckets(pairs: Pairs) -> Pairs:
    return pairs >> np.uint64(_PLACE + _REST)


def _blocks(pairs: Pairs) -> NDArray[np.int64]:
    return (pairs >> np.uint64(_PLACE + _REST + _BUCKET)).astype(np.int64)


def _once(pairs: Pairs) -> Pairs:
    """Those that stand once among these, which are in rising order."""
    other = np.concatenate([[True], pairs[1:] != pairs[:-1], [True]])
    return pairs[other[1:] & other[:-1]] if len(pairs) else pairs


def _rows(pairs: Pairs) -> Iterator[tuple[int, bytes]]:
    """The rows of buckets that hold these, which are in rising order."""
    of = _buckets(pairs)
    begins = np.flatnonzero(np.diff(of, prepend=of[:1] + np.uint64(1)))
    packed, ends = packed_gaps(pairs & np.uint64((1 << _PLACE + _REST) - 1), begins)
    for bucket, (begin, end) in zip(of[begins].tolist(), pairwise([0, *ends.tolist()]), strict=True):
        yield bucket, packed[begin:end]


def blocks(db: sqlite3.Connection) -> range:
    """All blocks."""
    (last,) = db.execute("SELECT max(place) FROM graph_facts").fetchone()
    return range((last or 0) // BLOCK + 1)


def documents_at(db: sqlite3.Connection, places: Sequence[int]) -> dict[int, int]:
    """By place, the documents at these places, as far as they are still there."""
    query = f"SELECT place, document FROM graph_facts WHERE place {_AMONG}"  # noqa: S608
    return dict(db.execute(query, (json.dumps(places),)).fetchall())


def take_over_keys(db: sqlite3.Connection, table: str, holder: str) -> None:
    """Have the keys of an earlier version in the table: it had a row for each key of a block, and all keys with each
    document. `holder`: the table of the documents, by their places.
    """
    db.execute(f"ALTER TABLE {table} RENAME TO graph_keys_before")
    db.execute(f"ALTER TABLE {holder} RENAME COLUMN keys TO buckets")
    db.execute(table_of_keys(table))
    documents = dict(db.execute(f"SELECT place, document FROM {holder}").fetchall())  # noqa: S608
    kept = AskedKeys(db, table)
    for block in blocks(db):
        query = "SELECT key, places FROM graph_keys_before WHERE block = ? ORDER BY key"
        rows = [(key, np.frombuffer(places, np.uint16)) for key, places in db.execute(query, (block,))]
        places = np.concatenate([np.zeros(0, np.uint16), *(some for _, some in rows)])
        order = np.argsort(places, kind="stable")
        keys = np.repeat(np.array([key for key, _ in rows], np.uint32), [len(some) for _, some in rows])[order]
        bounds = np.searchsorted(places[order], np.arange(BLOCK + 1)).tolist()
        for at, (begin, end) in enumerate(pairwise(bounds), start=block * BLOCK):
            if at in documents:
                kept.put(at, keys[begin:end])
                now = packed_buckets(keys[begin:end]), documents[at]
                db.execute(f"UPDATE {holder} SET buckets = ? WHERE document = ?", now)  # noqa: S608
        kept.flush()
    db.execute("DROP TABLE graph_keys_before")
