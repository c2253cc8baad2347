"""Versions of the store. One of the version before is brought up to date from its own rows: nothing is read, cut or
embedded again for it.

Version 2 had a row for each sentence, with its path, and hashes as hexadecimal digits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ragways.core.errors import WrongVersion
from ragways.index.database import create_tables, has_table, store_errors
from ragways.index.schema import INDEXES, TABLES, VERSION
from ragways.index.sentences import packed_sentences

EARLIER = 2
"""The version that is brought up to date by a run."""
_INDEXES = ("documents_by_source", "documents_by_name", "chunks_by_hash")  # stores of version 2 may lack the last


def create_store(db: sqlite3.Connection) -> None:
    """Make the tables of an empty store of this version."""
    create_tables(db, f"{TABLES}{INDEXES}")


def is_earlier(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the store in this file is of the version before; raises where it is of neither that nor this."""
    with store_errors(path):
        rows = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchall() if has_table(db, "meta") else []
    version = str(rows[0][0]) if rows else "unknown"
    if version not in (str(EARLIER), str(VERSION)):
        raise WrongVersion(
            _told(path, version),
            "build it again with: ragways index --rebuild PATH, or choose another folder with --index",
        )
    return version == str(EARLIER)


def check_current(db: sqlite3.Connection, path: Path) -> None:
    """Raise where the store in this file is not of this version."""
    if is_earlier(db, path):
        raise WrongVersion(
            _told(path, str(EARLIER)), "bring it up to date with: ragways index PATH, which embeds nothing again for it"
        )


def _told(path: Path, version: str) -> str:
    return f"{path.parent} holds an index of version {version}; this ragways reads version {VERSION}"


def upgrade(db: sqlite3.Connection) -> None:
    """Bring a store of version 2 up to date, in the transaction of whoever calls: all of it is seen, or nothing."""
    for index in _INDEXES:
        db.execute(f"DROP INDEX IF EXISTS {index}")
    db.execute("ALTER TABLE documents RENAME TO documents_before")
    db.execute("ALTER TABLE chunks RENAME TO chunks_before")
    create_tables(db, TABLES)  # indexes at last: row by row they would be written all over
    db.create_function("from_hex", 1, bytes.fromhex, deterministic=True)
    db.executemany(
        "INSERT INTO documents SELECT number, key, source, title, name, format, metadata, redirect, from_hex(hash),"
        " places, ?, text FROM documents_before WHERE number = ?",
        _sentences(db),
    )
    db.execute(
        "INSERT INTO chunks SELECT document, ordinal, path, start, end, tokens, from_hex(hash) FROM chunks_before"
        " ORDER BY document, ordinal"
    )
    db.create_function("from_hex", 1, None)
    for table in ("documents_before", "chunks_before", "sentences"):
        db.execute(f"DROP TABLE {table}")
    create_tables(db, INDEXES)
    db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(VERSION),))


def _sentences(db: sqlite3.Connection) -> Iterator[tuple[bytes, int]]:
    """The sentences of every document, packed, and its number."""
    query = "SELECT start, end FROM sentences WHERE document = ? ORDER BY ordinal"
    for (number,) in db.execute("SELECT number FROM documents_before ORDER BY number"):
        yield packed_sentences(db.execute(query, (number,))), number
