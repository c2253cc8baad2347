"""What was worked or paid for, found again by content: vectors of texts and replies of models.

Committed as it comes, apart from the index itself: a build that is killed finds its vectors again, and an index that
cannot be written still answers.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import StoreDamaged, StoreError
from ragways.core.trace import Meter, Usage, spending
from ragways.index.database import Transaction, connect, descriptor_of, empty_log, log_size, store_errors
from ragways.index.page_gaps import clear_gaps
from ragways.index.place import check_database
from ragways.index.seal import pages_of_log, salt_of_log
from ragways.index.work_rows import BY_NAME, create_tables, is_whole, keep_packed, summed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = "work_cache.sqlite"
CURE = "move it away: what it kept is made again by ragways index PATH"
_MOST_OPEN = 64  # work caches of others that are kept open
_TIDY, _CLEAR = 1, 2
"""Bits of SQLite's `user_version`: a work cache that holds nothing but what is used; and one whose file has no byte of
what was removed from it (`page_gaps.py`).
"""
_AMONG = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Spent:
    """What work has cost. `seconds` are those of all units, many of which may have run side by side."""

    calls: int = 0
    input: int = 0
    output: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


class Cost:
    """What a unit of work has cost and nobody has written down yet."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._written = Usage()
        self._since = time.perf_counter()

    @property
    def open(self) -> bool:
        return self._meter.spent != self._written

    def take(self) -> Spent:
        """What came since it was last asked for."""
        new, self._written = self._meter.spent - self._written, self._meter.spent
        began, self._since = self._since, time.perf_counter()
        return Spent(new.calls, new.input, new.output, new.usd, self._since - began)


class WorkCache:
    """Vectors and replies by their content hash."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        check_database(self._path, {"vectors", "replies"})
        self._db = connect(self._path, write=True)
        self._beside: dict[Path, sqlite3.Connection | None] = {}
        self._log = b""
        """The salt of the log that has all pages which were written since the file was clear, if there is one."""
        self._create()

    @classmethod
    def in_memory(cls) -> WorkCache:
        """Where nothing was paid for yet, and nothing is to be kept."""
        work_cache = cls.__new__(cls)
        work_cache._path, work_cache._db = Path(FILE), sqlite3.connect(":memory:", isolation_level=None)
        work_cache._beside, work_cache._log = {}, b""
        work_cache._create()
        return work_cache

    def _create(self) -> None:
        with self._errors():
            if not self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                self._set_state(_TIDY)
            create_tables(self._db)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with store_errors(self._path):
                yield
        except StoreDamaged as error:
            raise StoreDamaged(error.message, CURE) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction. From the first on, the file may have bytes of what is removed, until `settle`."""
        with self._errors():
            with Transaction(self._db):
                clear, known = self._state & _CLEAR, self._others_commits
                if clear:
                    self._set_state(self._state & ~_CLEAR)
                yield
            if clear:
                self._log = salt_of_log(self._log_file)
                if self._others_commits != known:
                    self._log = b""  # it may be another log by now

    @property
    def _log_file(self) -> Path:
        return self._path.with_name(f"{self._path.name}-wal")

    @property
    def _others_commits(self) -> int:
        """Is another number whenever another connection has committed something."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    @property
    def _state(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _set_state(self, state: int) -> None:
        self._db.execute(f"PRAGMA user_version = {state}")

    def close(self) -> None:
        for db in (*self._beside.values(), self._db):
            if db is not None:
                db.close()

    def read_also(self, folder: Path) -> None:
        """Find vectors and results in the work cache of another folder too; what is new is kept here alone."""
        self._beside.setdefault(folder / FILE, None)

    def _others(self) -> Iterator[sqlite3.Connection]:
        """Those work caches, opened when they are first read. Of many, some stay open: each takes three descriptors."""
        for path, db in list(self._beside.items()):
            if db is not None:
                yield db
            elif path.is_file():
                opened = connect(path, write=False)
                if sum(kept is not None for kept in self._beside.values()) < _MOST_OPEN:
                    self._beside[path] = opened
                    yield opened
                else:
                    with closing(opened):
                        yield opened

    def known(self, embedder: str, hashes: Iterable[str]) -> set[str]:
        """Those of the hashes that have a vector already."""
        query = f"SELECT hash FROM vectors WHERE embedder = {BY_NAME} AND hash {_AMONG}"  # noqa: S608
        wanted = set(hashes)
        with self._errors():
            found = {row[0] for row in self._db.execute(query, (embedder, _json(wanted)))}
            for db in self._others() if wanted - found else ():
                found |= {row[0] for row in db.execute(query, (embedder, _json(wanted - found)))}
        return found

    def keep(
        self, embedder: str, vectors: Mapping[str, NDArray[np.float32]], kind: str = "embed", cost: Cost | None = None
    ) -> None:
        """Keep vectors by the hash of their text, in a byte a number (`packed.py`)."""
        with self._writing():
            keep_packed(self._db, embedder, vectors)
            self._write_down(kind, cost)

    def vectors(self, embedder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """Packed vectors by hash, where they are kept; raises where one is not what was kept, and drops it."""
        columns = "embedder, hash, vector, sum"
        query = f"SELECT {columns} FROM vectors WHERE embedder = {BY_NAME} AND hash {_AMONG}"  # noqa: S608
        with self._errors():
            rows = self._db.execute(query, (embedder, _json(hashes))).fetchall()
        if self._drop_damaged("vectors", rows):
            raise StoreDamaged(
                f"vectors in {self._path} were damaged, and are dropped", "have them made again: ragways index PATH"
            )
        return {hash: vector for _, hash, vector, _ in (*rows, *self._rows_beside(query, embedder, hashes, rows))}

    def results(self, kind: str, hashes: Iterable[str]) -> dict[str, str]:
        """What work of this kind gave for these hashes, where it has been done."""
        query = f"SELECT kind, hash, CAST(value AS BLOB), sum FROM results WHERE kind = ? AND hash {_AMONG}"  # noqa: S608
        wanted = set(hashes)
        with self._errors():
            rows = self._db.execute(query, (kind, _json(wanted))).fetchall()
        damaged = self._drop_damaged("results", rows)
        rows = [row for row in rows if row[1] not in damaged]
        return {hash: value.decode() for _, hash, value, _ in (*rows, *self._rows_beside(query, kind, wanted, rows))}

    def _rows_beside(self, query: str, kind: str, hashes: Iterable[str], known: Iterable[Any]) -> list[Any]:
        """Rows of other work caches for the hashes that have none here."""
        found: list[Any] = []
        missing = set(hashes) - {row[1] for row in known} if self._beside else set()
        with self._errors():
            for db in self._others() if missing else ():
                rows = [row for row in db.execute(query, (kind, _json(missing))) if is_whole(row)]
                missing -= {row[1] for row in rows}
                found += rows
        return found

    def all_results(self, kind: str) -> dict[str, str]:
        """All that work of a kind gave, of which there is little."""
        with self._errors():
            hashes = [row[0] for row in self._db.execute("SELECT hash FROM results WHERE kind = ?", (kind,))]
        return self.results(kind, hashes)

    def count(self, kind: str) -> int:
        """How many results of this kind there are."""
        with self._errors():
            return int(self._db.execute("SELECT count(*) FROM results WHERE kind = ?", (kind,)).fetchone()[0])

    def keep_results(self, kind: str, values: Mapping[str, str], cost: Cost | None = None) -> None:
        with self._writing():
            self._db.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", [summed(kind, *row) for row in values.items()]
            )
            self._db.executemany("DELETE FROM failures WHERE kind = ? AND hash = ?", [(kind, hash) for hash in values])
            self._write_down(kind, cost)

    def keep_failure(self, kind: str, hash: str, error: str, reply: str = "", cost: Cost | None = None) -> None:
        with self._writing():
            self._db.execute(
                "INSERT INTO failures VALUES (?1, ?2, 1, ?3, ?4) ON CONFLICT DO UPDATE "
                "SET tries = tries + 1, error = ?3, reply = ?4",
                (kind, hash, error, reply),
            )
            self._write_down(kind, cost)

    @contextmanager
    def costing(self, kind: str) -> Iterator[Cost]:
        """Meter a unit of work. Its cost is written with its result; what is left of it, because it failed or the
        budget ended it, when the unit ends.
        """
        with spending() as meter:
            cost = Cost(meter)
            try:
                yield cost
            finally:
                if cost.open:
                    with self._writing():
                        self._write_down(kind, cost)

    def _write_down(self, kind: str, cost: Cost | None) -> None:
        if cost is not None:
            new = cost.take()
            self._db.execute(
                "INSERT INTO spent VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET calls = calls + ?2, "
                "input = input + ?3, output = output + ?4, usd = usd + ?5, seconds = seconds + ?6",
                (kind, new.calls, new.input, new.output, new.usd, new.seconds),
            )

    def spent(self, kind: str) -> Spent:
        """What work of this kind has cost so far."""
        query = "SELECT calls, input, output, usd, seconds FROM spent WHERE kind = ?"
        with self._errors():
            row = self._db.execute(query, (kind,)).fetchone()
        return Spent() if row is None else Spent(*row)

    def failures(self, kind: str) -> list[tuple[str, int, str, str]]:
        """Hash, tries, error and reply of work that could not be done yet."""
        query = "SELECT hash, tries, error, reply FROM failures WHERE kind = ? ORDER BY hash"
        with self._errors():
            return self._db.execute(query, (kind,)).fetchall()

    def forget_failures(self) -> None:
        """When a run has left nothing undone, what failed before does not matter any more."""
        with self._writing():
            self._db.execute("DELETE FROM failures")

    def settle(self) -> bool:
        """Bring what was committed into the file, so that what was deleted is gone from the log too, and from what
        pages of the file do not use. False where somebody else is at work on the file.
        """
        try:
            with self._errors():
                known, written = self._others_commits, self._pages_written()
                if not empty_log(self._db) or self._state & _CLEAR:
                    return bool(self._state & _CLEAR)
                with Transaction(self._db):  # so that nobody writes meanwhile
                    if log_size(self._path):
                        return False
                    same = self._others_commits == known
                    clear_gaps(descriptor_of(self._path, write=True), written if same else None)
                    self._set_state(self._state | _CLEAR)
                return empty_log(self._db)
        except StoreError:
            return False

    def _pages_written(self) -> set[int] | None:
        """Pages that were written since the file was clear, where the log tells all of them."""
        log, self._log = self._log, b""  # which is emptied now
        pages = pages_of_log(self._log_file)
        return pages if log and log == salt_of_log(self._log_file) else None

    def keep_only(self, used: Mapping[str, set[str]]) -> None:
        """Forget everything but these hashes of each kind of work, and every reply: no trace of a removed text stays.

        The kind `vectors` is that of embedding.
        """
        with self._writing():
            self._db.execute("DELETE FROM replies")
            self._db.execute("CREATE TEMP TABLE used (kind TEXT, hash TEXT, PRIMARY KEY (kind, hash)) WITHOUT ROWID")
            rows = ((kind, hash) for kind, hashes in used.items() for hash in hashes)
            self._db.executemany("INSERT INTO used VALUES (?, ?)", rows)
            # Not by NOT IN: for each that is not found, SQLite would go through all that are used.
            for table, kind in (("vectors", "'vectors'"), ("results", "results.kind"), ("failures", "failures.kind")):
                known = f"SELECT 1 FROM used u WHERE u.kind = {kind} AND u.hash = {table}.hash"  # noqa: S608
                self._db.execute(f"DELETE FROM {table} WHERE NOT EXISTS ({known})")  # noqa: S608 - names of our own
            self._db.execute("DROP TABLE used")

    def forget(self, hashes: Iterable[str], *, replies: bool = True) -> None:
        """Forget what was made of texts with these hashes, whatever kind of work it was, and every reply."""
        gone = sorted(hashes)
        with self._writing():
            if replies:
                self._db.execute("DELETE FROM replies")
            for table, column in (("vectors", "embedder"), ("results", "kind"), ("failures", "kind")):
                for first in self._firsts(table, column):
                    query = f"DELETE FROM {table} WHERE {column} = ? AND hash = ?"  # noqa: S608 - names of our own
                    self._db.executemany(query, [(first, hash) for hash in gone])

    def _firsts(self, table: str, column: str) -> Iterator[str | int]:
        """The values that a column, the first of a table's key, has: each is looked up after the one before."""
        query = f"SELECT min({column}) FROM {table}"  # noqa: S608 - names of our own
        [value] = self._db.execute(query).fetchone()
        while value is not None:
            yield value
            [value] = self._db.execute(f"{query} WHERE {column} > ?", (value,)).fetchone()

    @property
    def tidy(self) -> bool:
        """Whether all that is kept is used. It is not where a run began to keep work here and did not end, and cannot
        be told of what earlier versions kept.
        """
        with self._errors():
            return bool(self._state & _TIDY)

    @tidy.setter
    def tidy(self, tidy: bool) -> None:
        if self.tidy != tidy:
            with self._errors(), Transaction(self._db):  # in which nobody else changes it
                self._set_state(self._state & ~_TIDY | (_TIDY if tidy else 0))

    def get(self, key: str) -> str | None:
        query = "SELECT key, CAST(reply AS BLOB), sum FROM replies WHERE key = ?"
        with self._errors():
            row = self._db.execute(query, (key,)).fetchone()
        # A damaged reply is asked for again.
        return row[1].decode() if row is not None and is_whole(row) else None

    def put(self, key: str, reply: str) -> None:
        with self._writing():
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", summed(key, reply))

    def _drop_damaged(self, table: str, rows: Iterable[tuple[Any, ...]]) -> set[str]:
        """Hashes of rows that are not what was kept; they are forgotten, so that their work is done again."""
        keys = [(row[0], row[1]) for row in rows if not is_whole(row)]
        if keys:
            first = {"vectors": "embedder", "results": "kind"}[table]
            with self._writing():
                self._db.executemany(f"DELETE FROM {table} WHERE {first} = ? AND hash = ?", keys)  # noqa: S608
            logging.getLogger("ragways").warning(
                "ragways: %d damaged %s in %s are dropped, to be made again", len(keys), table, self._path
            )
        return {hash for _, hash in keys}


def _json(hashes: Iterable[str]) -> str:
    """A list for `json_each`, sorted so that the database is read from one end to the other."""
    return json.dumps(sorted(set(hashes)))
