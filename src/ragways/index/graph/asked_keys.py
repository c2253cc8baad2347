"""Which documents asked for something: a document leaves the keys of what it asked, and is found by them.

Documents have places, in the order in which they came (`graph_facts`), and so many places are a block: for each block
and key, the places of the documents that left the key are one row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 14
Places = NDArray[np.uint16]
Keys = NDArray[np.uint32]

NO_PLACES: Places = np.zeros(0, dtype=np.uint16)


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
        self._come: list[tuple[int, Keys]] = []
        self._gone: list[tuple[int, Keys]] = []

    def put(self, place: int, keys: Keys) -> None:
        """The document at this place left these keys."""
        self._come.append((place, keys))
        if len(self._come) >= BLOCK:
            self.flush()

    def drop(self, place: int, keys: Keys) -> None:
        """The document at this place left these keys, and does no longer."""
        self._gone.append((place, keys))

    def flush(self) -> None:
        """Bring the table up to date with what came and went."""
        come, gone = _by_block(self._come), _by_block(self._gone)
        for block in sorted(come.keys() | gone.keys()):
            new, old = come.get(block, {}), gone.get(block, {})
            query = f"SELECT 1 FROM {self._table} WHERE block = ? LIMIT 1"  # noqa: S608 - a name of ours
            if not old and not self._db.execute(query, (block,)).fetchone():
                rows = ((block, key, places.tobytes()) for key, places in new.items())
                self._db.executemany(f"INSERT INTO {self._table} VALUES (?, ?, ?)", rows)  # noqa: S608
                continue
            for key in sorted(new.keys() | old.keys()):
                self._change(block, key, new.get(key, NO_PLACES), old.get(key, NO_PLACES))
        self._come, self._gone = [], []

    def _change(self, block: int, key: int, new: Places, old: Places) -> None:
        if np.array_equal(new, old):
            return
        places = np.union1d(np.setdiff1d(self.places(block, key), old), new).astype(np.uint16)
        if len(places):
            row = (block, key, places.tobytes())
            self._db.execute(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", row)  # noqa: S608
        else:
            self._db.execute(f"DELETE FROM {self._table} WHERE block = ? AND key = ?", (block, key))  # noqa: S608

    def places(self, block: int, key: int) -> Places:
        """The places of a block whose documents left this key."""
        query = f"SELECT places FROM {self._table} WHERE block = ? AND key = ?"  # noqa: S608
        row = self._db.execute(query, (block, key)).fetchone()
        return NO_PLACES if row is None else np.frombuffer(row[0], dtype=np.uint16)

    def documents(self, keys: Collection[int]) -> set[int]:
        """Documents that left any of these keys."""
        found: set[int] = set()
        for block in blocks(self._db):
            here = {place for key in keys for place in self.places(block, key).tolist()}
            found.update(documents_at(self._db, block, here))
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


def _by_block(documents: Sequence[tuple[int, Keys]]) -> dict[int, dict[int, Places]]:
    """The places in each block by key; both in order."""
    found: dict[int, dict[int, Places]] = {}
    for block, some in groupby(sorted(documents, key=lambda item: item[0]), key=lambda item: item[0] // BLOCK):
        here = list(some)
        keys = np.concatenate([keys for _, keys in here])
        places = np.repeat([place % BLOCK for place, _ in here], [len(keys) for _, keys in here]).astype(np.uint16)
        order = np.argsort(keys, kind="stable")
        unique, begins = np.unique(keys[order], return_index=True)
        # Of nothing, `split` makes one part: documents that asked nothing have no keys.
        parts = np.split(places[order], begins[1:]) if len(unique) else []
        found[block] = dict(zip(unique.tolist(), parts, strict=True))
    return found
