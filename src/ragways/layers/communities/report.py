"""Reports of communities, and the table of a view that holds them with what each was written from."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ragways.core.plain import from_plain
from ragways.core.types import content_hash
from ragways.models.tokens import count_tokens
from ragways.store.database import store_errors

FILE = "reports.sqlite"
_EMBEDDED = 800  # characters: embedders read a few hundred tokens
_AMONG = "IN (SELECT value FROM json_each(?))"
_TABLES = """
-- By the id of the community. `way`: who wrote it, `tokens`: those of its text, `input`: the hash of what
-- a model was shown, `hash` that of what is embedded. `members` are those that the community had then, 8 bytes an id;
-- `lines` the members that its writer was shown, with a checksum of the line for each.
CREATE TABLE reports (
    id TEXT PRIMARY KEY, way TEXT NOT NULL, tokens INTEGER NOT NULL, rank REAL NOT NULL, title TEXT NOT NULL,
    summary TEXT NOT NULL, findings BLOB NOT NULL, input TEXT NOT NULL, hash TEXT NOT NULL, members BLOB NOT NULL,
    lines TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sources (document INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (document, id)) WITHOUT ROWID;
CREATE INDEX sources_by_id ON sources (id);
"""

Ids = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CommunityFinding:
    """Something that holds in a community: how much it matters, from 0 to 10, and the ids of entities it rests on."""

    text: str
    rating: float
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """`rating`, from 0 to 10, is how much the community matters; findings are sorted by theirs."""

    title: str
    summary: str
    rating: float
    findings: tuple[CommunityFinding, ...] = ()

    @property
    def text(self) -> str:
        """What is read of it as evidence: a line for the summary and for each finding."""
        return "\n".join(line for line in (self.summary, *(finding.text for finding in self.findings)) if line)

    @property
    def embedded(self) -> str:
        """What is embedded of it."""
        return f"{self.title}: {' '.join(self.text.splitlines())}"[:_EMBEDDED]

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> CommunityReport:
        return from_plain(cls, json.loads(text))

    @property
    def packed_findings(self) -> bytes:
        """Its findings as the table has them."""
        rows = [(finding.text, finding.rating, finding.entities) for finding in self.findings]
        return zlib.compress(
            json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        )

    @classmethod
    def of_row(cls, title: str, summary: str, rank: float, findings: bytes) -> CommunityReport:
        """As the table has it."""
        rows = json.loads(zlib.decompress(findings).decode("utf-8", "surrogatepass"))
        return cls(title, summary, rank, tuple(CommunityFinding(text, rate, tuple(ids)) for text, rate, ids in rows))


def rating_of_size(size: int) -> float:
    """How much a community of so many members matters, where no model rates it."""
    return round(min(10.0, 2 * math.log(size)), 1)


@dataclass(slots=True)
class ReportBasis:
    """What a report is written from: a hash of all that its writer was shown, the documents that this comes from, and
    the entities in it, by the number of their ids, with a checksum of the line that shows each.
    """

    input: str = ""
    documents: set[int] = field(default_factory=set)
    lines: dict[int, int] = field(default_factory=dict)

    def add(self, other: ReportBasis) -> None:
        """That of a report which this one is written from."""
        self.documents |= other.documents
        self.lines = other.lines | self.lines


class StoredReport(NamedTuple):
    """A report with who wrote it and what from."""

    way: str
    report: CommunityReport
    basis: ReportBasis


class ReportTable:
    """The reports of a view that is being folded."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._before = db.total_changes

    @classmethod
    @contextmanager
    def changing(cls, view: Path) -> Iterator[ReportTable]:
        """A copy of a view's table, which takes the place of the table at the end if anything was changed."""
        path = view / FILE
        draft = path.with_name(f"{FILE}.draft")
        with store_errors(path):
            try:
                made = not path.exists()
                if not made:
                    shutil.copyfile(path, draft)
                with closing(sqlite3.connect(draft, isolation_level=None)) as db:
                    db.execute("PRAGMA journal_mode = OFF")
                    db.execute("PRAGMA synchronous = OFF")
                    db.execute("PRAGMA secure_delete = ON")
                    if made:
                        db.executescript(_TABLES)
                    db.execute("BEGIN")
                    table = cls(db)
                    yield table
                    changed = table.changed
                    db.execute("COMMIT")
                if changed or made:
                    draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)

    # What there is

    def ids(self) -> set[str]:
        return {row[0] for row in self._db.execute("SELECT id FROM reports")}

    def members(self, ids: Collection[str] | None = None) -> dict[str, Ids]:
        """The members that communities had when their reports were written: of these or of all."""
        return {id: np.frombuffer(members, "<u8") for id, members in self._rows("SELECT id, members FROM reports", ids)}

    def lines(self, ids: Collection[str] | None = None) -> dict[str, dict[int, int]]:
        """The entities that reports show, with the checksums of their lines."""
        return {id: _lines(text) for id, text in self._rows("SELECT id, lines FROM reports", ids)}

    def written(self, ids: Collection[str]) -> dict[str, StoredReport]:
        """Reports with what they were written from."""
        found = {
            id: StoredReport(way, CommunityReport.of_row(*row), ReportBasis(input, set(), _lines(lines)))
            for id, way, input, lines, *row in self._rows(
                "SELECT id, way, input, lines, title, summary, rank, findings FROM reports", ids
            )
        }
        for id, document in self._rows("SELECT id, document FROM sources", ids):
            found[id].basis.documents.add(document)
        return found

    def of_documents(self, documents: Iterable[int]) -> set[str]:
        """Reports that were written from any of these documents."""
        query = f"SELECT DISTINCT id FROM sources WHERE document {_AMONG}"  # noqa: S608
        return {row[0] for row in self._db.execute(query, (json.dumps(sorted(documents)),))}

    def hashes(self) -> dict[str, str]:
        """Of every report the hash of what is embedded."""
        return dict(self._db.execute("SELECT id, hash FROM reports").fetchall())

    @property
    def changed(self) -> bool:
        """Whether it is not as it was."""
        return self._db.total_changes > self._before

    def _rows(self, query: str, ids: Collection[str] | None) -> Iterator[tuple]:  # type: ignore[type-arg]
        if ids is None:
            yield from self._db.execute(query)
        else:
            yield from self._db.execute(f"{query} WHERE id {_AMONG}", (json.dumps(sorted(ids)),))

    # Changes

    def put(self, id: str, members: Ids, written: StoredReport) -> None:
        """A report in the place of the one that there was."""
        report, basis = written.report, written.basis
        self.drop([id])
        self._db.execute(
            "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (id, written.way, count_tokens(report.text), report.rating, report.title, report.summary,
             report.packed_findings, basis.input, content_hash(report.embedded), members.astype("<u8").tobytes(),
             json.dumps({str(entity): line for entity, line in sorted(basis.lines.items())})),
        )  # fmt: skip
        self._db.executemany("INSERT INTO sources VALUES (?, ?)", [(each, id) for each in sorted(basis.documents)])

    def drop(self, ids: Iterable[str]) -> None:
        gone = [(id,) for id in ids]
        self._db.executemany("DELETE FROM reports WHERE id = ?", gone)
        self._db.executemany("DELETE FROM sources WHERE id = ?", gone)

    def move(self, ids: Mapping[str, str]) -> None:
        """Let reports be those of other communities. The ids that they get may be those of others that move."""
        for table in ("reports", "sources"):
            update = f"UPDATE {table} SET id = ? WHERE id = ?"  # noqa: S608 - names of our own
            self._db.executemany(update, [(f"to {to}", id) for id, to in ids.items()])
            self._db.execute(f"UPDATE {table} SET id = substr(id, 4) WHERE id LIKE 'to %'")  # noqa: S608


def _lines(text: str) -> dict[int, int]:
    return {int(entity): line for entity, line in json.loads(text).items()}


def read_reports(view: Path) -> sqlite3.Connection:
    """The table of a published view, for reading."""
    with store_errors(view / FILE):
        # No generation's files are written to, so no lock and no log is needed.
        uri = f"file:{quote(str((view / FILE).resolve()))}?immutable=1"
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
