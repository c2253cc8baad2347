"""The folder of an index: opened for writing by one process at a time, with a folder of derived files a generation.

SQLite holds the lock, and the system frees a dead process's. Derived files are made under a temporary name, and renamed
when they are whole; only then does the store's commit name them. So a reader that opened the generation before keeps
it, and a killed build leaves nothing but litter, which the next one clears.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragways.core.errors import NoIndex, StoreDamaged, StoreFailed, WrongVersion
from ragways.index.database import store_errors
from ragways.index.layer import BuildContext, Layer
from ragways.index.place import claim
from ragways.index.store import FILE, Store, derived_folder
from ragways.index.work_cache import FILE as WORK_CACHE
from ragways.index.work_cache import WorkCache


@contextmanager
def writing(folder: Path, rebuild: bool) -> Iterator[tuple[Store, WorkCache]]:
    if rebuild:
        claim(folder)
        _discard_other_version(folder)
    with store_errors(folder / FILE):
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
            with store_errors(store.path):
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


FORMAT = "2"
"""Which files a derived folder has and what is in them; a folder of another format is made again when it is opened."""

_MARK = "format-"
_NAME = re.compile(r"\d+(\.draft)?")

KEPT = 2
"""Generations that stay on disk: the newest, and one for readers that began before it."""


def is_current(folder: Path, generation: int) -> bool:
    """Whether the derived files of a generation are there, in the format that this version reads."""
    return _mark(derived_folder(folder, generation)).is_file()


def _mark(derived: Path) -> Path:
    """An empty file whose name tells the format, and that the folder was made here."""
    return derived / f"{_MARK}{FORMAT}"


def derive(context: BuildContext, generation: int, layers: Iterable[Layer]) -> None:
    """Make the derived files of a generation."""
    final = derived_folder(context.store.folder, generation)
    draft = final.with_name(f"{generation}.draft")
    with store_errors(final):
        _remove(draft, final)
        draft.mkdir(parents=True)
        _mark(draft).touch()
        for layer in layers:
            layer.derive(context, draft)
        # Until here, readers have what there was.
        _remove(final, draft)
        draft.rename(final)


def clear_old(folder: Path, generation: int, keep: int = KEPT) -> None:
    """Remove generations that no reader can have begun with lately, and drafts of killed builds.

    Where documents went, only the newest stays: it must hold nothing of them, and the older ones do.
    """
    names = {str(g) for g in range(generation - keep + 1, generation + 1)}
    for path in (folder / "derived").iterdir():
        if path.name not in names and _is_own(path, derived_folder(folder, generation)):
            shutil.rmtree(path, ignore_errors=True)


def _remove(path: Path, like: Path) -> None:
    """Remove a folder of ours to make room; what is not ours is never removed."""
    if not os.path.lexists(path):
        return
    if not _is_own(path, like):
        raise StoreFailed(f"{path} was not made by ragways, and is in its way", "move it elsewhere and run again")
    shutil.rmtree(path, ignore_errors=True)


def _is_own(path: Path, like: Path) -> bool:
    """Whether ragways made this folder. One of the time before there were marks has only files that `like` has too."""
    if path.is_symlink() or not path.is_dir() or not _NAME.fullmatch(path.name):
        return False
    held = {entry.name for entry in path.iterdir()}
    marked = path.suffix == ".draft" or any(name.startswith(_MARK) for name in held)
    return marked or (like.is_dir() and held <= {entry.name for entry in like.iterdir()})
