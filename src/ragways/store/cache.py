"""The work cache: what was computed or paid for, by content: vectors of texts, results of layers, replies of models.

A file of its own, committed as work is done and apart from the rows: a run that is killed finds its work again, and an
index that cannot be written still answers. Each row has a checksum; a damaged one is dropped, and its work done again.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import StoreDamaged
from ragways.core.trace import Meter, Usage, spending
from ragways.store.database import connect, empty_log, store_errors
from ragways.store.place import check_database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = "work_cache.sqlite"
CURE = "move it away: what was in it is made again by ragways index PATH"
_TABLES = """
CREATE TABLE IF NOT EXISTS embedders (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- `sum` is the CRC-32 of the rest of the row. `embedder` is the number of its name.
CREATE TABLE IF NOT EXISTS vectors (
    embedder INTEGER NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, sum INTEGER, PRIMARY KEY (embedder, hash)
);
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, sum INTEGER);
-- Results of a kind of work (facts of a chunk, a report of a community) by the hash of what they were made from.
CREATE TABLE IF NOT EXISTS results (
    kind TEXT NOT NULL, hash TEXT NOT NULL, value TEXT NOT NULL, sum INTEGER, PRIMARY KEY (kind, hash)
) WITHOUT ROWID;
-- Work that failed and is to be tried again: the error, the reply, and how often it was tried.
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
_BY_NAME = "(SELECT number FROM embedders WHERE name = ?)"
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
    """What a unit of work has cost and is not stored yet."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._stored = Usage()
        self._since = time.perf_counter()

    @property
    def open(self) -> bool:
        return self._meter.spent != self._stored

    def take(self) -> Spent:
        """The cost since the last call."""
        new, self._stored = self._meter.spent - self._stored, self._meter.spent
        began, self._since = self._since, time.perf_counter()
        return Spent(new.calls, new.input, new.output, new.usd, self._since - began)


class WorkCache:
    """Vectors, results and replies by their content hash. `came` and `failed` count the units of paid work that were
    stored since it was opened, by kind.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        check_database(self._path, {"vectors", "replies"})
        self._db = connect(self._path, write=True)
        try:
            self._create()
        except BaseException:
            self._db.close()
            raise

    @classmethod
    def in_memory(cls) -> WorkCache:
        """An empty one that is thrown away."""
        cache = cls.__new__(cls)
        cache._path, cache._db = Path(FILE), sqlite3.connect(":memory:", isolation_level=None)
        cache._create()
        return cache

    def _create(self) -> None:
        self.came, self.failed = Counter[str](), Counter[str]()
        with self._errors():
            self._db.executescript(_TABLES)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with store_errors(self._path):
                yield
        except StoreDamaged as error:
            raise StoreDamaged(error.message, CURE) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()

    # Vectors

    def known(self, embedder: str, hashes: Iterable[str]) -> set[str]:
        """Those of the hashes that have a vector already."""
        query = f"SELECT hash FROM vectors WHERE embedder = {_BY_NAME} AND hash {_AMONG}"  # noqa: S608
        with self._errors():
            return {row[0] for row in self._db.execute(query, (embedder, _json(hashes)))}

    def keep(
        self, embedder: str, vectors: Mapping[str, NDArray[np.float32]], kind: str = "embed", cost: Cost | None = None
    ) -> None:
        """Store vectors by the hash of their text, in a byte a number (`packed.py`)."""
        with self._writing():
            if vectors:
                import numpy as np

                from ragways.store.packed import pack

                self._db.execute("INSERT OR IGNORE INTO embedders (name) VALUES (?)", (embedder,))
                number = str(self._db.execute(f"SELECT {_BY_NAME}", (embedder,)).fetchone()[0])
                packed = pack(np.stack(list(vectors.values())))
                rows = [_summed(number, hash, row.tobytes()) for hash, row in zip(vectors, packed, strict=True)]
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
            self._add_cost(kind, cost)

    def vectors(self, embedder: str, hashes: Iterable[str]) -> dict[str, bytes]:
        """Packed vectors by hash, where there are some; raises where one is damaged, and drops it."""
        columns = "embedder, hash, vector, sum"
        query = f"SELECT {columns} FROM vectors WHERE embedder = {_BY_NAME} AND hash {_AMONG}"  # noqa: S608
        with self._errors():
            rows = self._db.execute(query, (embedder, _json(hashes))).fetchall()
        if self._drop_damaged("vectors", rows):
            raise StoreDamaged(
                f"vectors in {self._path} were damaged, and are dropped", "have them made again: ragways index PATH"
            )
        return {hash: vector for _, hash, vector, _ in rows}

    # Results of layers

    def results(self, kind: str, hashes: Iterable[str]) -> dict[str, str]:
        """What work of this kind gave for these hashes, where it has been done."""
        query = f"SELECT kind, hash, CAST(value AS BLOB), sum FROM results WHERE kind = ? AND hash {_AMONG}"  # noqa: S608
        with self._errors():
            rows = self._db.execute(query, (kind, _json(hashes))).fetchall()
        damaged = self._drop_damaged("results", rows)
        return {hash: value.decode() for _, hash, value, _ in rows if hash not in damaged}

    def all_results(self, kind: str) -> dict[str, str]:
        """All that work of a kind gave, of which there is little."""
        with self._errors():
            hashes = [row[0] for row in self._db.execute("SELECT hash FROM results WHERE kind = ?", (kind,))]
        return self.results(kind, hashes)

    def kinds(self, prefix: str) -> list[str]:
        """The kinds of results that begin so, by name."""
        query = "SELECT DISTINCT kind FROM results WHERE kind GLOB ? ORDER BY kind"
        with self._errors():
            return [row[0] for row in self._db.execute(query, (f"{prefix}*",))]

    def count(self, kind: str) -> int:
        """How many results of this kind there are."""
        with self._errors():
            return int(self._db.execute("SELECT count(*) FROM results WHERE kind = ?", (kind,)).fetchone()[0])

    def keep_results(self, kind: str, values: Mapping[str, str], cost: Cost | None = None) -> None:
        with self._writing():
            self._db.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", [_summed(kind, *row) for row in values.items()]
            )
            self._db.executemany("DELETE FROM failures WHERE kind = ? AND hash = ?", [(kind, hash) for hash in values])
            self._add_cost(kind, cost)
        if cost is not None:
            self.came[kind.partition(":")[0]] += len(values)

    def keep_failure(self, kind: str, hash: str, error: str, reply: str = "", cost: Cost | None = None) -> None:
        with self._writing():
            self._db.execute(
                "INSERT INTO failures VALUES (?1, ?2, 1, ?3, ?4) ON CONFLICT DO UPDATE "
                "SET tries = tries + 1, error = ?3, reply = ?4",
                (kind, hash, error, reply),
            )
            self._add_cost(kind, cost)
        self.failed[kind.partition(":")[0]] += 1

    def forget_failures(self) -> None:
        """When a run has left nothing undone, what failed before does not matter any more."""
        with self._writing():
            self._db.execute("DELETE FROM failures")

    # What work cost

    @contextmanager
    def costing(self, kind: str) -> Iterator[Cost]:
        """Meter a unit of work. Its cost is stored with its result; what is left of it, because it failed or the budget
        ended it, when the unit ends.
        """
        with spending() as meter:
            cost = Cost(meter)
            try:
                yield cost
            finally:
                if cost.open:
                    with self._writing():
                        self._add_cost(kind, cost)

    def _add_cost(self, kind: str, cost: Cost | None) -> None:
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

    # Replies of models

    def get(self, key: str) -> str | None:
        query = "SELECT key, CAST(reply AS BLOB), sum FROM replies WHERE key = ?"
        with self._errors():
            row = self._db.execute(query, (key,)).fetchone()
        # The model is asked again instead of a damaged reply.
        return row[1].decode() if row is not None and _is_whole(row) else None

    def put(self, key: str, reply: str) -> None:
        with self._writing():
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", _summed(key, reply))

    def forget_replies(self) -> None:
        """Forget every reply: any of them may have been written from a document that is removed."""
        with self._writing():
            self._db.execute("DELETE FROM replies")

    # Erasing

    def keep_only(self, used: Mapping[str, set[str]]) -> None:
        """Forget everything but these hashes of each kind of work, and every reply: no trace of a removed text stays.

        The kind `vectors` is that of embedding.
        """
        with self._writing():
            self._db.execute("DELETE FROM replies")
            self._db.execute("CREATE TEMP TABLE used (kind TEXT, hash TEXT, PRIMARY KEY (kind, hash)) WITHOUT ROWID")
            rows = ((kind, hash) for kind, hashes in used.items() for hash in hashes)
            self._db.executemany("INSERT INTO used VALUES (?, ?)", rows)
            # Not by NOT IN: for each row without a match, SQLite would go through all that are used.
            for table, kind in (("vectors", "'vectors'"), ("results", "results.kind"), ("failures", "failures.kind")):
                match = f"SELECT 1 FROM used u WHERE u.kind = {kind} AND u.hash = {table}.hash"  # noqa: S608
                self._db.execute(f"DELETE FROM {table} WHERE NOT EXISTS ({match})")  # noqa: S608 - names of our own
            self._db.execute("DROP TABLE used")

    def vacuum(self) -> bool:
        """Leave no byte of what was deleted in the file and its log; False where another process reads the file."""
        with self._errors():
            self._db.execute("VACUUM")
            return empty_log(self._db)

    def _drop_damaged(self, table: str, rows: Iterable[tuple[Any, ...]]) -> set[str]:
        """Delete those of the rows that are damaged, so that their work is done again; their hashes."""
        keys = [(row[0], row[1]) for row in rows if not _is_whole(row)]
        if keys:
            first = {"vectors": "embedder", "results": "kind"}[table]
            with self._writing():
                self._db.executemany(f"DELETE FROM {table} WHERE {first} = ? AND hash = ?", keys)  # noqa: S608
            logging.getLogger("ragways").warning(
                "ragways: %d damaged %s in %s are dropped, to be made again", len(keys), table, self._path
            )
        return {hash for _, hash in keys}


def damaged_rows(db: sqlite3.Connection) -> Iterator[str]:
    """Every damaged row of a work cache, by its table and hash."""
    for table, columns in _SUMMED.items():
        texts = ", ".join(f"CAST({column} AS BLOB)" for column in columns.split(", "))
        for row in db.execute(f"SELECT {texts}, sum FROM {table}"):  # noqa: S608 - names of our own
            if not _is_whole(row):
                yield f"{table}: {row[-3].decode(errors='replace')}"


def _summed(*values: str | bytes) -> tuple[str | bytes | int, ...]:
    """A row with its checksum."""
    return (*values, _sum(values))


def _is_whole(row: Sequence[Any]) -> bool:
    """Whether a row that was read, its texts as bytes or not, has the checksum that it was stored with."""
    return bool(row[-1] == _sum(row[:-1]))


def _sum(values: Iterable[str | bytes | int]) -> int:
    return zlib.crc32(b"\0".join(value if isinstance(value, bytes) else str(value).encode() for value in values))


def _json(hashes: Iterable[str]) -> str:
    """A list for `json_each`, sorted so that the database is read from one end to the other."""
    return json.dumps(sorted(set(hashes)))
