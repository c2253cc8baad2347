"""A store that is thrown away: the documents as a run would leave them, to plan the run on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from ragways.core.errors import NoIndex
from ragways.index.place import check_place
from ragways.index.schema import PARTS
from ragways.index.store import Store

SAMPLE_TOKENS = 20_000
"""What is tried out before it is planned for: enough for a rate, few enough for a second or two."""


def scratch_store(folder: Path) -> Store:
    """A copy of the store in this folder, or an empty one. SQLite keeps it in memory, and on disk what is too large."""
    check_place(folder)
    scratch = Store(folder, sqlite3.connect("", isolation_level=None))
    try:
        existing = Store.open(folder)
    except NoIndex:
        scratch.create()
        return scratch
    try:
        existing.db.backup(scratch.db)
    finally:
        existing.close()
    return scratch


def sample_store(store: Store) -> tuple[Store, float]:
    """A few documents in a store of their own, and their share of all tokens.

    Numbers come from hashes of keys, so the first documents by number are as good as drawn by lot.
    """
    sample = Store(store.folder, sqlite3.connect("", isolation_level=None))
    sample.create()
    kept = ("chunk_titles", "layers", "embedder", "windows")
    sample.set_meta({key: value for key, value in store.meta().items() if key in kept})
    tokens = taken = 0
    numbers: list[int] = []
    for number, count in store.db.execute("SELECT document, sum(tokens) FROM chunks GROUP BY document ORDER BY 1"):
        tokens += count
        if taken < SAMPLE_TOKENS:
            taken += count
            numbers.append(number)
    _copy(store, sample, numbers)
    return sample, taken / tokens if tokens else 1.0


def _copy(store: Store, target: Store, numbers: Iterable[int]) -> None:
    for number in numbers:
        for table, key in (("documents", "number"), *((part, "document") for part in PARTS)):
            rows = store.db.execute(f"SELECT * FROM {table} WHERE {key} = ?", (number,)).fetchall()  # noqa: S608
            if rows:
                marks = ",".join("?" * len(rows[0]))
                target.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
