"""Which documents asked for something: a document leaves the keys of what it asked, and is found by them.

Documents have places, in the order in which they came (`graph_facts`), and so many places are a block: for each block
and key, the places of the documents that left the key are one row.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 14
Places = NDArray[np.uint16]
Keys = NDArray[np.uint32]

NO_PLACES: Places = np.zeros(0, dtype=np.uint16)
_OF_BLOCKS = "WHERE block IN (SELECT value FROM json_each(?)) AND key IN (SELECT value FROM json_each(?))"


def table_of_keys(name: str) -> str:
    """What makes a table of keys."""
    return f"""
CREATE TABLE IF NOT EXISTS {name} (
    block INTEGER NOT NULL, key INTEGER NOT NULL, places BLOB NOT NULL, PRIMARY KEY (block, key)
) WITHOUT ROWID;
"""


class AskedKeys:
    """A table of keys. What comes and goes is gathered until `flush`."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._db, self._table = db, table
        self._come: dict[int, Keys] = {}
        self._gone: dict[int, Keys] = {}

    def put(self, place: int, keys: Keys) -> None:
        """The document at this place left these keys."""
        self._come[place] = keys
        if len(self._come) >= BLOCK:
            self.flush()

    def drop(self, place: int, keys: Keys) -> None:
        """The document at this place left these keys, and does no longer."""
        self._gone[place] = keys

    def flush(self) -> None:
        """Bring the table up to date with what came and went."""
        for block, some in groupby(sorted(self._come.keys() | self._gone.keys()), key=lambda place: place // BLOCK):
            here = list(some)
            query = f"SELECT 1 FROM {self._table} WHERE block = ? LIMIT 1"  # noqa: S608 - a name of ours
            if self._gone or self._db.execute(query, (block,)).fetchone():
                self._change(block, here)
            else:
                rows = ((block, key, places) for key, places in self._by_key(here))
                self._db.executemany(f"INSERT INTO {self._table} VALUES (?, ?, ?)", rows)  # noqa: S608
        self._come, self._gone = {}, {}

    def _by_key(self, here: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """The places in a block of what came, as they are kept, by key; both in order."""
        keys = np.concatenate([self._come[place] for place in here])
        if not len(keys):  # documents that asked nothing have no keys
            return
        places = np.repeat([place % BLOCK for place in here], [len(self._come[place]) for place in here])
        order = np.argsort(keys, kind="stable")
        unique, begins = np.unique(keys[order], return_index=True)
        packed = places[order].astype(np.uint16).tobytes()
        bounds = [*(begins * np.dtype(np.uint16).itemsize).tolist(), len(packed)]
        for key, (begin, end) in zip(unique.tolist(), pairwise(bounds), strict=True):
            yield key, packed[begin:end]

    def _change(self, block: int, here: Iterable[int]) -> None:
        """Only keys that a document left before and not now, or now and not before, are looked at."""
        changed: dict[int, set[int]] = defaultdict(set)
        for place in here:
            come, gone = (set(each[place].tolist()) if place in each else set() for each in (self._come, self._gone))
            for key in come ^ gone:
                changed[key].add(place % BLOCK)
        known = dict(self._rows(block, changed))
        put, empty = list[tuple[int, int, bytes]](), list[tuple[int, int]]()
        for key, places in sorted(changed.items()):
            # A place that had the key has it no longer, and one that had it not has it now.
            if now := sorted(places.symmetric_difference(known.get(key, NO_PLACES).tolist())):
                put.append((block, key, np.array(now, dtype=np.uint16).tobytes()))
            else:
                empty.append((block, key))
        self._db.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", put)  # noqa: S608
        self._db.executemany(f"DELETE FROM {self._table} WHERE block = ? AND key = ?", empty)  # noqa: S608

    def _rows(self, block: int, keys: Iterable[int]) -> Iterator[tuple[int, Places]]:
        """Those of these keys that documents of a block left, with their places."""
        among = "IN (SELECT value FROM json_each(?))"
        query = f"SELECT key, places FROM {self._table} WHERE block = ? AND key {among}"  # noqa: S608
        for key, places in self._db.execute(query, (block, json.dumps(list(keys)))):
            yield key, np.frombuffer(places, dtype=np.uint16)

    def places(self, blocks: Iterable[int], keys: Iterable[int]) -> dict[int, Places]:
        """The places of these blocks whose documents left any of these keys, in rising order; of other blocks none."""
        asked = (json.dumps(list(blocks)), json.dumps(list(keys)))
        found: dict[int, list[Places]] = defaultdict(list)
        for block, places in self._db.execute(f"SELECT block, places FROM {self._table} {_OF_BLOCKS}", asked):  # noqa: S608
            found[block].append(np.frombuffer(places, dtype=np.uint16))
        return {block: some[0] if len(some) == 1 else np.unique(np.concatenate(some)) for block, some in found.items()}

    def documents(self, keys: Collection[int]) -> set[int]:
        """Documents that left any of these keys."""
        found: set[int] = set()
        for block, places in self.places(blocks(self._db), keys).items():
            found.update(documents_at(self._db, block, places.tolist()))
        return found


def blocks(db: sqlite3.Connection) -> range:
    """All blocks."""
    (last,) = db.execute("SELECT max(place) FROM graph_facts").fetchone()
    return range((last or 0) // BLOCK + 1)


def documents_at(db: sqlite3.Connection, block: int, places: Iterable[int]) -> Iterator[int]:
    """The documents at these places of a block, as far as they are still there."""
    for place in places:
        yield from (row[0] for row in db.execute(_AT_PLACE, (block * BLOCK + place,)))


_AT_PLACE = "SELECT document FROM graph_facts WHERE place = ?"
