"""Texts of documents that a run has removed or replaced, until it commits: layers take back what these told.

They lie in a table of the connection alone, which holds few of them in memory and leaves nothing behind.
"""

from __future__ import annotations

import sqlite3

_TABLE = "CREATE TEMP TABLE IF NOT EXISTS gone (number INTEGER PRIMARY KEY, text TEXT NOT NULL)"
"""In the temporary database: SQLite keeps it for one connection, and rolls it back with the rest."""
_TEXT = "SELECT number, text FROM documents WHERE number = ?"


def note_gone(db: sqlite3.Connection, number: int) -> None:
    """Keep the text of a document that is about to be removed, if it is there.

    A run may put a document several times. The first text that goes is the one that was committed, and layers know no
    other: those that come after it are not kept.
    """
    db.execute(_TABLE)
    db.execute(f"INSERT OR IGNORE INTO temp.gone {_TEXT}", (number,))


def text_before(db: sqlite3.Connection, number: int) -> str:
    """The text that a document had at the last commit.

    One that the run did not touch has it still. Of a document that came with this run there is none: nobody may ask.
    """
    db.execute(_TABLE)
    row = db.execute("SELECT text FROM temp.gone WHERE number = ?", (number,)).fetchone()
    return text_now(db, number) if row is None else str(row[0])


def text_now(db: sqlite3.Connection, number: int) -> str:
    """The text of a document that is there."""
    return str(db.execute(_TEXT, (number,)).fetchone()[1])


def forget_gone(db: sqlite3.Connection) -> None:
    """At a commit: what was removed is wanted no longer, and must not be mixed up with what the next commit removes."""
    db.execute("DROP TABLE IF EXISTS temp.gone")
