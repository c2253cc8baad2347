"""Names of documents, and what was found out about them, laid down between the passes over all documents.

To read this takes a quarter of the time that unpacking facts takes, and what a pass has found out no later one looks
for again. It is too much for memory: SQLite has it in tables that go with the connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ragways.index.database import create_tables
from ragways.index.graph.corpus_names import drop_tables
from ragways.index.graph.resolve import DocumentNames

HeldDocument = tuple[int, bytes, bytes | None]
"""A document's number, its packed names, and what a pass left of it (`DocumentMeaning.thought`)."""

TAKEN, KINDS = "taken", "kinds"
"""Passes that leave something."""
_TABLES = """
CREATE TABLE temp.graph_held_names (document INTEGER PRIMARY KEY, names BLOB NOT NULL);
CREATE TABLE temp.graph_held_taken (document INTEGER PRIMARY KEY, thought BLOB NOT NULL);
CREATE TABLE temp.graph_held_kinds (document INTEGER PRIMARY KEY, thought BLOB NOT NULL);
"""
_NAMES = ("temp.graph_held_names", "temp.graph_held_taken", "temp.graph_held_kinds")


class HeldNames:
    """Names are put once; then documents come with them, by number, as often as they are wanted."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.empty = True
        """Whether no document was put."""

    def close(self) -> None:
        """Drop all of it. Where that fails, as in the midst of a pass that failed, it goes with the connection."""
        if not self.empty:
            with suppress(sqlite3.Error):
                drop_tables(self._db, _NAMES)
            self.empty = True

    def put(self, number: int, names: bytes) -> None:
        """The packed names of a document."""
        if self.empty:  # a run that changes a few documents has none
            drop_tables(self._db, _NAMES)
            create_tables(self._db, _TABLES)
            self.empty = False
        self._db.execute("INSERT INTO temp.graph_held_names VALUES (?, ?)", (number, names))

    def put_all(self, documents: Iterable[tuple[int, DocumentNames]]) -> None:
        for number, names in documents:
            self.put(number, names.packed())

    def leave(self, step: str, thoughts: Iterable[tuple[int, bytes]]) -> None:
        """What a pass leaves of documents."""
        self._db.executemany(f"INSERT INTO temp.graph_held_{step} VALUES (?, ?)", thoughts)  # noqa: S608 - our own word

    def documents(self, after: str = "") -> Iterator[HeldDocument]:
        """All documents by number, with what this pass left of them; without one, with nothing."""
        if self.empty:
            return
        left = f"JOIN temp.graph_held_{after} USING (document)" if after else ""
        thought = "thought" if after else "NULL"
        yield from self._db.execute(
            f"SELECT document, names, {thought} FROM temp.graph_held_names {left} ORDER BY document"  # noqa: S608
        )
