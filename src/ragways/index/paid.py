"""What was worked or paid for, found again by content: vectors of texts and replies of models.

Committed as it comes, apart from the index itself: a build that is killed finds its vectors again, and an index that
cannot be written still answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.index.database import Transaction, connect, explained
from ragways.index.schema import PAID

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = "paid.sqlite"
_AT_ONCE = 500  # SQLite bounds the variables of one statement.


class Paid:
    """Vectors and replies by their content hash."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._db = connect(self._path, write=True)
        with explained(self._path):
            self._db.executescript(PAID)

    def close(self) -> None:
        self._db.close()

    def known(self, embedder: str, hashes: Iterable[str]) -> set[str]:
        """Those of the hashes that have a vector already."""
        return {
            row[0]
            for some in _slices(sorted(set(hashes)))
            for row in self._db.execute(
                f"SELECT hash FROM vectors WHERE embedder = ? AND hash IN ({_marks(some)})",  # noqa: S608
                (embedder, *some),
            )
        }

    def keep(self, embedder: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        rows = [(embedder, hash, vector.tobytes()) for hash, vector in vectors.items()]
        with explained(self._path), Transaction(self._db):
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def vectors(self, embedder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for some in _slices(sorted(set(hashes))):
            query = f"SELECT hash, vector FROM vectors WHERE embedder = ? AND hash IN ({_marks(some)})"  # noqa: S608
            found.update(self._db.execute(query, (embedder, *some)).fetchall())
        return found

    def results(self, kind: str, hashes: Iterable[str]) -> dict[str, str]:
        """What work of this kind gave for these hashes, where it has been done."""
        found: dict[str, str] = {}
        for some in _slices(sorted(set(hashes))):
            query = f"SELECT hash, value FROM results WHERE kind = ? AND hash IN ({_marks(some)})"  # noqa: S608
            found.update(self._db.execute(query, (kind, *some)).fetchall())
        return found

    def keep_results(self, kind: str, values: Mapping[str, str]) -> None:
        with explained(self._path), Transaction(self._db):
            self._db.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?)", [(kind, hash, v) for hash, v in values.items()]
            )
            self._db.executemany("DELETE FROM failures WHERE kind = ? AND hash = ?", [(kind, hash) for hash in values])

    def keep_failure(self, kind: str, hash: str, error: str, reply: str = "") -> None:
        with explained(self._path):
            self._db.execute(
                "INSERT INTO failures VALUES (?1, ?2, 1, ?3, ?4) ON CONFLICT DO UPDATE "
                "SET tries = tries + 1, error = ?3, reply = ?4",
                (kind, hash, error, reply),
            )

    def failures(self, kind: str) -> list[tuple[str, int, str, str]]:
        """Hash, tries, error and reply of work that could not be done yet."""
        query = "SELECT hash, tries, error, reply FROM failures WHERE kind = ? ORDER BY hash"
        return self._db.execute(query, (kind,)).fetchall()

    def keep_only(self, used: Mapping[str, set[str]]) -> None:
        """Forget everything but these hashes of each kind of work, and every reply: no trace of a removed text stays.

        The kind `vectors` is that of embedding.
        """
        with explained(self._path), Transaction(self._db):
            self._db.execute("DELETE FROM replies")
            self._db.execute("CREATE TEMP TABLE used (kind TEXT, hash TEXT, PRIMARY KEY (kind, hash)) WITHOUT ROWID")
            rows = ((kind, hash) for kind, hashes in used.items() for hash in hashes)
            self._db.executemany("INSERT INTO used VALUES (?, ?)", rows)
            self._db.execute("DELETE FROM vectors WHERE ('vectors', hash) NOT IN (SELECT kind, hash FROM used)")
            for table in ("results", "failures"):
                self._db.execute(f"DELETE FROM {table} WHERE (kind, hash) NOT IN (SELECT kind, hash FROM used)")  # noqa: S608
            self._db.execute("DROP TABLE used")

    def get(self, key: str) -> str | None:
        row = self._db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, reply: str) -> None:
        with explained(self._path):
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, reply))

    def evict(self, key: str) -> None:
        with explained(self._path):
            self._db.execute("DELETE FROM replies WHERE key = ?", (key,))


def _slices(items: list[str]) -> Iterable[list[str]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _marks(items: Sequence[str]) -> str:
    return ",".join("?" * len(items))
