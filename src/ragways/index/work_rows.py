"""The rows of a work cache: its tables, the checksum that each row has, and vectors packed into a byte a number.

A row that a disk has changed is told by its checksum, and what an earlier version kept is brought into today's form: it
may have been paid for.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragways.index.database import Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TABLES = """
CREATE TABLE IF NOT EXISTS embedders (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- `sum` is the CRC-32 of the rest of the row; that of a row of an earlier version is not known.
CREATE TABLE IF NOT EXISTS vectors (
    embedder INTEGER NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, sum INTEGER, PRIMARY KEY (embedder, hash)
);
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, sum INTEGER);
-- Results of a kind of work (facts of a chunk, a report of a community) by the hash of what they were made from.
CREATE TABLE IF NOT EXISTS results (
    kind TEXT NOT NULL, hash TEXT NOT NULL, value TEXT NOT NULL, sum INTEGER, PRIMARY KEY (kind, hash)
) WITHOUT ROWID;
-- Work that was tried and could not be done, to be tried again: what was said, and how often.
CREATE TABLE IF NOT EXISTS failures (
    kind TEXT NOT NULL, hash TEXT NOT NULL, tries INTEGER NOT NULL, error TEXT NOT NULL, reply TEXT NOT NULL,
    PRIMARY KEY (kind, hash)
) WITHOUT ROWID;
-- What each kind of work has cost so far, failures included. Numbers alone: nothing of a text that may have to go.
CREATE TABLE IF NOT EXISTS spent (
    kind TEXT PRIMARY KEY, calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, usd REAL NOT NULL,
    seconds REAL NOT NULL
) WITHOUT ROWID;
"""
_SUMMED = {"vectors": "embedder, hash, vector", "results": "kind, hash, value", "replies": "key, reply"}
BY_NAME = "(SELECT number FROM embedders WHERE name = ?)"
"""The number of an embedder, whose name is given."""


def create_tables(db: sqlite3.Connection) -> None:
    """The tables of a new work cache; those of an earlier version are brought into today's form."""
    _pack_older(db)
    db.executescript(_TABLES)
    for table in _SUMMED:
        if "sum" not in {row[1] for row in db.execute(f"PRAGMA table_info({table})")}:
            db.execute(f"ALTER TABLE {table} ADD COLUMN sum INTEGER")


# Checksums


def summed(*values: str | bytes) -> tuple[str | bytes | int, ...]:
    """A row with its checksum."""
    return (*values, _sum(values))


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a row that was read, its texts as bytes or not, is the one that was kept."""
    return row[-1] is None or row[-1] == _sum(row[:-1])


def _sum(values: Iterable[str | bytes | int]) -> int:
    return zlib.crc32(b"\0".join(value if isinstance(value, bytes) else str(value).encode() for value in values))


def damaged_rows(db: sqlite3.Connection) -> Iterator[str]:
    """Every row of a work cache that is not what was kept, by its table and hash."""
    for table, columns in _SUMMED.items():
        if "sum" in {row[1] for row in db.execute(f"PRAGMA table_info({table})")}:
            texts = ", ".join(f"CAST({column} AS BLOB)" for column in columns.split(", "))
            for row in db.execute(f"SELECT {texts}, sum FROM {table}"):  # noqa: S608 - names of our own
                if not is_whole(row):
                    yield f"{table}: {row[-3].decode(errors='replace')}"


# Vectors


def keep_packed(db: sqlite3.Connection, embedder: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    if not vectors:
        return
    import numpy as np

    from ragways.index.packed import pack

    db.execute("INSERT OR IGNORE INTO embedders (name) VALUES (?)", (embedder,))
    number = str(db.execute(f"SELECT {BY_NAME}", (embedder,)).fetchone()[0])
    packed = pack(np.stack(list(vectors.values())))
    rows = [summed(number, hash, row.tobytes()) for hash, row in zip(vectors, packed, strict=True)]
    db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)


def _pack_older(db: sqlite3.Connection) -> None:
    """Pack what an earlier version kept in four bytes a number: it may have been paid for."""
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    if "vectors" not in names or "embedders" in names:
        return
    import numpy as np

    with Transaction(db):
        db.execute("ALTER TABLE vectors RENAME TO older")
        for statement in _TABLES.split(";\n")[:2]:
            db.execute(statement)
        columns = [row[1] for row in db.execute("PRAGMA table_info(older)")]
        rows = db.execute(f"SELECT embedder, hash, vector, {'sum' if 'sum' in columns else 'NULL'} FROM older")  # noqa: S608
        while some := rows.fetchmany(1024):
            for embedder in {row[0] for row in some}:
                whole = {
                    row[1]: np.frombuffer(row[2], np.float32) for row in some if row[0] == embedder and is_whole(row)
                }
                keep_packed(db, embedder, whole)
        db.execute("DROP TABLE older")
    db.execute("VACUUM")


def kept_vectors(db: sqlite3.Connection) -> Iterator[tuple[str, str, bytes]]:
    """Embedder, hash and packed vector of all that a work cache keeps."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'embedders'").fetchone():
        query = "SELECT name, hash, vector FROM vectors JOIN embedders ON number = embedder"
        yield from ((name, hash, bytes(vector)) for name, hash, vector in db.execute(query))
