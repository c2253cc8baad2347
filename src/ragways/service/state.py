"""What a server must know after a restart: one SQLite file in its data folder.

Each part of the service makes its own tables here (`State.tables`). The server and the commands that change what it
may do (`ragways key`) open the same file at once; SQLite orders their writes, and the next request sees them.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragways.core.errors import StoreBusy, StoreFailed
from ragways.store.database import check_room

WAIT_SECONDS = 5.0
FILE = "service.sqlite"


class State:
    """The database of a server. `db` may be read by any thread; what must happen as a whole goes into `transaction`."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Only its owner may read it, and the folder when that is made here."""
        self.path = path
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            check_room(path)
            self.db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
            self.db.execute("PRAGMA journal_mode = WAL")
            # A commit survives the death of the process; what a power cut may take is the last of them, never the file.
            self.db.execute("PRAGMA synchronous = NORMAL")
            self.db.execute("PRAGMA secure_delete = ON")
        except (OSError, sqlite3.Error) as error:
            raise StoreFailed(f"cannot open {path}: {error}", "name another folder with --data") from error
        self._writing = threading.RLock()

    def tables(self, sql: str) -> None:
        """Make the tables of one part; `sql` says IF NOT EXISTS, because they may be there."""
        with self.transaction() as db:
            for statement in filter(str.strip, sql.split(";")):
                db.execute(statement)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """What is done inside is seen by others at once when it ends, or, after an error, not at all.

        It begins by taking SQLite's write lock, so that what is read inside is still true when it is written.
        """
        with self._writing:
            if self.db.in_transaction:  # inside another: one of them all
                yield self.db
                return
            try:
                self.db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise StoreBusy("the state of the server is being written", "try again in a moment") from error
            try:
                yield self.db
            except BaseException:
                self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")

    def compact(self) -> bool:
        """Write the file anew without what was deleted, and empty its log. False where others use it at the moment, so
        that bytes of it may be left.
        """
        try:
            self.db.execute("VACUUM")
            busy, _, _ = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        return not busy

    def close(self) -> None:
        self.db.close()
