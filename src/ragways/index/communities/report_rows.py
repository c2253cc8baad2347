"""Reports as rows of the store, by the ids of their communities: with who wrote them, from what, and their vectors.

What a report was embedded as, and what a model was shown for it, is paid for and kept by its hash in the work cache.
When a report goes, its hashes are remembered until what they lead to is forgotten.
"""

# ruff: noqa: S608 - queries are put together from our own words
from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from ragways.core.types import content_hash
from ragways.index.communities.report import CommunityReport
from ragways.index.database import create_tables
from ragways.models.tokens import count_tokens

_TABLES = """
-- `way` tells who wrote the report, `shown` what it was written from, `hash` what is embedded and `embedded` whether it
-- has its vector; `tokens` are those of its text.
CREATE TABLE IF NOT EXISTS community_reports (
    id INTEGER PRIMARY KEY, way TEXT NOT NULL, tokens INTEGER NOT NULL, rank REAL NOT NULL, title TEXT NOT NULL,
    summary TEXT NOT NULL, findings BLOB NOT NULL, shown TEXT NOT NULL, hash TEXT NOT NULL,
    embedded INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS reports_by_hash ON community_reports (hash);
CREATE INDEX IF NOT EXISTS reports_by_shown ON community_reports (shown) WHERE way = 'model';
CREATE INDEX IF NOT EXISTS reports_without_vector ON community_reports (id) WHERE NOT embedded;
CREATE TABLE IF NOT EXISTS community_vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
-- Hashes of reports that are no more, whose vectors and replies are still to be forgotten.
CREATE TABLE IF NOT EXISTS community_released (hash TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_BY_MODEL = "way = 'model'"


class WithoutVector(NamedTuple):
    """A report that has no vector yet: its id, the hash of what is to be embedded, and the report."""

    id: int
    hash: str
    report: CommunityReport


class ReportRows:
    """Reads and changes the rows of reports."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        create_tables(db, _TABLES)

    def has(self, id: int) -> bool:
        """Whether a community has a report."""
        return self._db.execute("SELECT 1 FROM community_reports WHERE id = ?", (id,)).fetchone() is not None

    def shown(self, id: int) -> str:
        """What a report was written from; nothing where there is none."""
        row = self._db.execute("SELECT shown FROM community_reports WHERE id = ?", (id,)).fetchone()
        return "" if row is None else str(row[0])

    def put(self, id: int, way: str, report: CommunityReport, shown: str) -> None:
        """Keep a report, in the place of the one that there was."""
        self.drop("id = ?", (id,))
        self._db.execute(
            "INSERT INTO community_reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (id, way, count_tokens(report.text), report.rating, report.title, report.summary, report.packed_findings,
             shown, content_hash(report.embedded)),
        )  # fmt: skip

    def move(self, before: int, id: int, rating: float) -> None:
        """Let a report be that of another community."""
        self._db.execute("UPDATE community_reports SET id = ?, rank = ? WHERE id = ?", (id, rating, before))
        self._db.execute("UPDATE community_vectors SET id = ? WHERE id = ?", (id, before))

    def drop(self, which: str, values: Sequence[object] = ()) -> None:
        """Forget some reports, and remember that what was made of them must be forgotten too."""
        which = f"FROM community_reports WHERE {which}"
        for made in (f"hash {which}", f"shown {which} AND {_BY_MODEL}"):
            self._db.execute(f"INSERT OR IGNORE INTO community_released SELECT {made}", values)
        self._db.execute(f"DELETE FROM community_vectors WHERE id IN (SELECT id {which})", values)
        self._db.execute(f"DELETE {which}", values)

    # Vectors

    def without_vector(self, limit: int = -1) -> list[WithoutVector]:
        """Reports that have none, or so many of them."""
        query = "SELECT id, hash, title, summary, rank, findings FROM community_reports WHERE NOT embedded LIMIT ?"
        rows = self._db.execute(query, (limit,))
        return [WithoutVector(id, hash, CommunityReport.of_row(*row)) for id, hash, *row in rows]

    def keep_vectors(self, vectors: Mapping[int, bytes]) -> None:
        """Keep the vectors of reports by id, as the work cache has them."""
        self._db.executemany("INSERT OR REPLACE INTO community_vectors VALUES (?, ?)", vectors.items())
        done = [(id,) for id in vectors]
        self._db.executemany("UPDATE community_reports SET embedded = 1 WHERE id = ?", done)

    # What is kept elsewhere of reports

    def embedded(self) -> set[str]:
        """The hashes of what all reports are embedded as."""
        return {row[0] for row in self._db.execute("SELECT hash FROM community_reports")}

    def shown_to_models(self) -> set[str]:
        """The hashes of all that models were shown for reports."""
        return {row[0] for row in self._db.execute(f"SELECT shown FROM community_reports WHERE {_BY_MODEL}")}

    def take_released(self) -> set[str]:
        """Hashes of reports that are no more. They are told once."""
        found = {row[0] for row in self._db.execute("SELECT hash FROM community_released")} - {""}
        self._db.execute("DELETE FROM community_released")
        return found

    def still_used(self, hashes: Set[str]) -> set[str]:
        """Those of these hashes that another report has."""
        asked = (json.dumps(list(hashes)),)
        columns = (("hash", "1"), ("shown", f"shown != '' AND {_BY_MODEL}"))
        query = "SELECT {0} FROM community_reports WHERE {1} AND {0} IN (SELECT value FROM json_each(?))"
        return {row[0] for column in columns for row in self._db.execute(query.format(*column), asked)}
