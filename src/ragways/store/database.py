"""SQLite opened the way this project needs it, with its errors turned into ours."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import sqlite3
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import quote

from ragways.core.errors import (
    FREE_SPACE,
    LACKS,
    TOO_FEW_HANDLES,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreExhausted,
    StoreFailed,
)

WAIT_SECONDS = 5.0
SYNCHRONOUS = "FULL"
"""What was paid for must survive a power cut; commits are few, so syncing each costs little."""
_SHARED = 1 << 16
_PAGE_CACHE = 256 << 20
REBUILD = "build it again with: ragways index --rebuild PATH"


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection in WAL mode: readers see the last whole commit while one writer works."""
    with store_errors(path):
        if write:
            check_room(path)
            connection = sqlite3.connect(path.resolve(), timeout=WAIT_SECONDS, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
            # What is removed must not be readable in the file's free pages.
            connection.execute("PRAGMA secure_delete = ON")
            return connection
        # A folder that cannot be written has no writer either, so the file will not change under us. A log beside it
        # has commits that a killed writer could not bring into the file.
        mode = "mode=ro" if _can_write(path.parent) or log_size(path) else "immutable=1"
        if mode == "mode=ro":
            check_room(path)
        uri = f"file:{quote(os.fsencode(path.resolve()))}?{mode}"
        # Whole questions run in one thread at a time; the connection may have been opened in another.
        reading = sqlite3.connect(
            uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, factory=_Reading
        )
        assert isinstance(reading, _Reading)  # noqa: S101 - what the factory makes
        reading.path = path
        return reading


class _Reading(sqlite3.Connection):
    """Turns errors into ours wherever they come up: of a damaged file, any row may be the one that cannot be read."""

    path: Path

    def execute(self, *query: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3 has it
        return self.cursor(_ReadingCursor).execute(*query)


class _ReadingCursor(sqlite3.Cursor):
    def execute(self, *query: Any) -> Self:  # noqa: ANN401 - as sqlite3 has it
        try:
            return super().execute(*query)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._meaning(error) from error

    def fetchone(self) -> Any:  # noqa: ANN401
        return next(self, None)

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._meaning(error) from error

    def __next__(self) -> Any:  # noqa: ANN401
        try:
            return super().__next__()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._meaning(error) from error

    def _meaning(self, error: sqlite3.DatabaseError | UnicodeDecodeError) -> Exception:
        if isinstance(error, UnicodeDecodeError):  # SQLite's own message quotes what is damaged
            error = sqlite3.DatabaseError("a text is no UTF-8")
        known = isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError
        return _sqlite_meaning(cast(_Reading, self.connection).path, error) if known else error


_numbers = count(1)


class PartOfDatabase:
    """A connection that sees only some rows. `tables` tells of each table which column decides, and by which function.

    Each query is put behind common table expressions that bear the tables' names and hide the tables themselves; so no
    query has to know, and none can forget. SQLite takes them apart again, and uses its indexes as before.
    """

    def __init__(self, db: sqlite3.Connection, tables: Mapping[str, tuple[str, Callable[[Any], int]]]) -> None:
        self._db = db
        names = {id(decide): f"seen_{next(_numbers)}" for _, decide in tables.values()}
        for _, decide in tables.values():
            db.create_function(names[id(decide)], 1, decide, deterministic=True)
        for name in names.values():
            weakref.finalize(self, _forget, db, name)
        hidden = (
            f"{table} AS NOT MATERIALIZED (SELECT * FROM main.{table} WHERE {names[id(decide)]}({column}))"  # noqa: S608
            for table, (column, decide) in tables.items()
        )
        self._tables = f"WITH {', '.join(hidden)} "

    def execute(self, query: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """What a SELECT finds among the rows that are seen."""
        return self._db.execute(self._tables + query, values)


def _forget(db: sqlite3.Connection, name: str) -> None:
    with suppress(sqlite3.Error):  # the connection may be closed already
        db.create_function(name, 1, None)


def has_table(db: sqlite3.Connection, table: str) -> bool:
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone())


def delete_database(path: Path) -> None:
    """Delete a database with its log."""
    for end in ("-wal", "-shm", ""):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def log_size(path: Path) -> int:
    """Bytes of commits that have not been brought into the file of a database, or of one that was never made."""
    try:
        return os.stat(f"{path}-wal").st_size
    except FileNotFoundError:
        return 0


def empty_log(db: sqlite3.Connection) -> bool:
    """Bring what was committed into the file; False where a reader still needs the file as it was."""
    return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]


def page_cache() -> int:
    """Return how many bytes of pages a writer may hold: a sixteenth of the memory, within bounds."""
    return min(_PAGE_CACHE, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 16)


def _can_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def check_room(path: Path) -> None:
    """Raise where the disk has no room for the file beside a database that SQLite maps into memory. SQLite makes sure
    of one byte a page. Where blocks of the disk are smaller than pages, a process that touches the rest of a page dies.
    """
    # Reserved by opening that file, its room would be lost: SQLite shortens the file when it opens it first, and a
    # process that closes a file loses all its locks on it.
    if 0 < os.statvfs(path.parent).f_frsize < mmap.PAGESIZE and not _has_room(path):
        raise _disk_full(path)


def _has_room(path: Path) -> bool:
    """Whether a disk has room for the file that processes share, without which SQLite speaks of an I/O error. It grows
    with the log, by 8 bytes for each page of 4 KiB. What the file has already is not needed again.
    """
    needed = _SHARED + log_size(path) // 512
    with suppress(FileNotFoundError):
        needed -= os.stat(f"{path}-shm").st_blocks * 512
    try:
        return shutil.disk_usage(path.parent).free >= needed
    except OSError:
        return True


@contextmanager
def store_errors(place: Path) -> Iterator[None]:
    """Turn what the disk or SQLite says into an error with a cure."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _sqlite_meaning(place, error) from error
    except (ConnectionError, TimeoutError):
        raise  # of a network, not of a disk
    except OSError as error:
        raise os_meaning(place, error) from error


def _sqlite_meaning(place: Path, error: sqlite3.DatabaseError) -> StoreError:
    message = str(error)
    if not isinstance(error, sqlite3.OperationalError) or "decode" in message:
        return StoreDamaged(f"{place} is damaged ({' '.join(message.split())[:100]})", REBUILD)
    if "locked" in message or "busy" in message:
        return StoreBusy(f"another process is writing to {place.parent}", "wait for it to end, then run again")
    if "full" in message or ("I/O" in message and not _has_room(place)):
        return _disk_full(place)
    if "readonly" in message or ("unable to open" in message and not _can_write(place.parent)):
        return _no_access(place)
    if "unable to open" in message:
        return StoreExhausted(f"{place} could not be opened", TOO_FEW_HANDLES)
    return StoreFailed(f"{place}: {message}", "check the disk, then run again")


def os_meaning(place: Path, error: OSError) -> StoreError:
    """What an error of the system means for a file at this place, with the cure."""
    if (cure := LACKS.get(error.errno or 0)) == FREE_SPACE:
        return _disk_full(place)
    if cure is not None:
        return StoreExhausted(f"{error.filename or place} could not be opened: {error.strerror}", cure)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _no_access(place)
    return StoreFailed(f"{error.filename or place}: {error.strerror or error}", "check the disk, then run again")


def raise_exhausted(place: Path, error: BaseException) -> None:
    """Raise where the system lacks room or handles: then an error says nothing of the file that was to be read."""
    meaning = error
    if isinstance(error, sqlite3.DatabaseError):
        meaning = _sqlite_meaning(place, error)
    elif isinstance(error, OSError):
        meaning = os_meaning(place, error)
    if isinstance(meaning, StoreExhausted):
        raise meaning from error


def _disk_full(place: Path) -> StoreExhausted:
    return StoreExhausted(f"the disk that holds {place.parent} is full", FREE_SPACE)


def _no_access(place: Path) -> StoreFailed:
    return StoreFailed(
        f"cannot write to {place.parent}", "choose another folder with --index, or change its permissions"
    )
