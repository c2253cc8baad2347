"""An index opened for writing, by one process at a time: SQLite holds the lock, and the system frees a dead one's."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragways.core.errors import NoIndex, StoreDamaged, WrongVersion
from ragways.index.database import explained
from ragways.index.place import claim
from ragways.index.store import FILE, Store
from ragways.index.work_cache import FILE as WORK_CACHE
from ragways.index.work_cache import WorkCache


@contextmanager
def writing(folder: Path, rebuild: bool) -> Iterator[tuple[Store, WorkCache]]:
    if rebuild:
        claim(folder)
        _discard_other_version(folder)
    with explained(folder / FILE):
        store = Store.create_or_open(folder)
    try:
        work_cache = WorkCache(folder)
        try:
            if rebuild:
                store.clear()
            yield store, work_cache
        finally:
            work_cache.close()
    except (sqlite3.Error, OSError) as error:
        # Any statement and any file may be the one that finds the disk full.
        if isinstance(error, sqlite3.Error) or error.errno in (errno.ENOSPC, errno.EDQUOT):
            with explained(store.path):
                raise
        raise
    finally:
        store.close()


def _discard_other_version(folder: Path) -> None:
    """`--rebuild` is the cure for a store that this version cannot read, so it must not fail on one."""
    for file, opened in ((FILE, Store.open), (WORK_CACHE, WorkCache)):
        if not (folder / file).is_file():
            continue
        try:
            opened(folder).close()
        except (WrongVersion, StoreDamaged):
            for suffix in ("", "-wal", "-shm"):
                (folder / f"{file}{suffix}").unlink(missing_ok=True)
        except NoIndex:
            pass  # another process is building it for the first time; the lock decides
