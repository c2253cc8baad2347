"""The layer's file: `communities.sqlite`, written anew for each generation."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from ragways.index.communities.writing import Book
from ragways.index.database import explained
from ragways.models.tokens import count_tokens

FILE = "communities.sqlite"

_TABLES = """
-- `way` tells who wrote the report; where it is empty there is none. `tokens` are those of the report's text.
CREATE TABLE communities (
    id TEXT PRIMARY KEY, level INTEGER NOT NULL, parent TEXT NOT NULL, leaf INTEGER NOT NULL, size INTEGER NOT NULL,
    title TEXT NOT NULL, summary TEXT NOT NULL, rank REAL NOT NULL, way TEXT NOT NULL, tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE members (community TEXT NOT NULL, entity TEXT NOT NULL, PRIMARY KEY (entity, community)) WITHOUT ROWID;
CREATE TABLE findings (
    community TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL, rating REAL NOT NULL, entities TEXT NOT NULL,
    PRIMARY KEY (community, ordinal)
) WITHOUT ROWID;
CREATE INDEX communities_by_level ON communities (level);
CREATE INDEX members_by_community ON members (community);
"""


def write(book: Book, folder: Path) -> None:
    with explained(folder / FILE):
        db = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            # The folder is a draft until it is renamed, so a journal would protect nothing.
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("BEGIN")
            for statement in _TABLES.split(";\n"):
                db.execute(statement)
            _fill(db, book)
            db.execute("COMMIT")
        finally:
            db.close()


def _fill(db: sqlite3.Connection, book: Book) -> None:
    ids = book.land.ids
    for group in sorted(book.land.groups, key=lambda group: group.id):
        report = book.reports.get(group.id)
        said = (report.title, report.summary, report.rating) if report is not None else ("", "", 0.0)
        tokens = count_tokens(report.text) if report is not None else 0
        row = (group.id, group.level, group.parent, not group.children, len(group.members), *said)
        db.execute("INSERT INTO communities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, book.way(group), tokens))
        db.executemany("INSERT INTO members VALUES (?, ?)", ((group.id, ids[node]) for node in group.members))
        db.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?)",
            (
                (group.id, n, finding.text, finding.rating, json.dumps(finding.entities))
                for n, finding in enumerate(report.findings if report is not None else ())
            ),
        )
