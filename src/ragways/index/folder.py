"""The folder of an index: opened for writing by one process at a time, with a folder of derived files a generation.

SQLite holds the lock, and the system frees a dead process's. Derived files are made under a temporary name, and renamed
when they are whole, on the disk, and listed with their checksums; only then does the store's commit name them. So a
reader that opened the generation before keeps it, and a killed build leaves nothing but litter, which the next clears.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from ragways.core.errors import NoIndex, StoreDamaged, StoreError, StoreFailed, WrongVersion
from ragways.index.checksums import DamagedBefore, damaged_files, fitting, is_linked, listed_files, seal_files, sync
from ragways.index.database import connect, store_errors
from ragways.index.layer import BuildContext, Layer
from ragways.index.place import claim
from ragways.index.seal import seal_of
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
    before = store.meta()["generation"]
    try:
        # Any statement and any file may be the one that finds the disk full or broken.
        with closing(store), store_errors(store.path), closing(WorkCache(folder)) as work_cache:
            if rebuild:
                store.clear()
            yield store, work_cache
    except StoreFailed as error:
        stands = _what_stands(folder, before)
        if stands in error.cure:  # as a shard has said already
            raise
        raise type(error)(error.message, f"{error.cure}; {stands}") from error


def _what_stands(folder: Path, before: str) -> str:
    """The state that a run which failed has left, looked up and not supposed."""
    try:
        with closing(Store.open(folder, earlier=True)) as store:
            if store.meta()["generation"] != before:
                return "what the run changed is in place, and only clearing up after it is left for the next one"
            return "what was there is unharmed"
    except NoIndex:
        return "nothing was there before"
    except (StoreError, sqlite3.Error, OSError):
        return "see how the index is with: ragways check"


def _discard_other_version(folder: Path) -> None:
    """`--rebuild` is the cure for files that this version cannot read, so it must not fail on them."""
    for file, check in ((FILE, _check_store), (WORK_CACHE, _check_work_cache)):
        if not (folder / file).is_file():
            continue
        try:
            check(folder)
        except (WrongVersion, StoreDamaged):
            for path in (folder / file, *(folder / f"{file}{end}" for end in ("-wal", "-shm")), seal_of(folder / file)):
                path.unlink(missing_ok=True)
        except NoIndex:
            pass  # another process is building it for the first time; the lock decides


def _check_store(folder: Path) -> None:
    Store.open(folder, earlier=True).close()


def _check_work_cache(folder: Path) -> None:
    WorkCache(folder).close()
    with store_errors(folder / WORK_CACHE), closing(connect(folder / WORK_CACHE, write=False)) as db:
        if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise StoreDamaged(f"{folder / WORK_CACHE} is damaged")


FORMAT = "21"
"""Which files a derived folder has and what is in them; a folder of another format is made again when it is opened."""

FORMAT_MARK = "format-"
"""Begins the name of the list of derived files."""
_NAME = re.compile(r"\d+(\.draft)?")

KEPT = 2
"""Generations that stay on disk: the newest, and one for readers that began before it."""


_LIST = f"{FORMAT_MARK}{FORMAT}"
"""The list of a folder's files with their checksums. Its name tells the format, and that the folder was made here."""


def is_current(folder: Path, generation: int) -> bool:
    """Whether the derived files of a generation are there, in the format that this version reads."""
    return (derived_folder(folder, generation) / _LIST).is_file()


def damaged_parts(derived: Path, patterns: Sequence[str] = ("*",), *, every: bool = False) -> list[str]:
    """Names of derived files that are not what was written: of all, or of those that fit a pattern. Of large ones not
    `every` block is compared. A folder of an older format has no checksums to compare with.
    """
    if not (derived / _LIST).is_file():
        return [] if derived.is_dir() else [derived.name]
    listed = listed_files(derived, _LIST)
    if listed is None:
        return [_LIST]
    return damaged_files(derived, {name: listed[name] for name in fitting(listed, patterns)}, every=every)


def derive(
    context: BuildContext, generation: int, layers: Iterable[Layer], *, ready: Callable[[], None] = lambda: None
) -> None:
    """Make the derived files of a generation. `ready` is called when they are whole, before anybody can see them.
    Raises `DamagedBefore` where something may have been made of damaged files of the generation before.
    """
    final = derived_folder(context.store.folder, generation)
    draft = final.with_name(f"{generation}.draft")
    with store_errors(final):
        _remove(draft, final)
        draft.mkdir(parents=True)
        for layer in layers:
            layer.derive(context, draft)
        _check_arrays(draft)
        if context.before is not None:
            _check_read(context.before, draft)
        seal_files(draft, _LIST, context.before)
        ready()
        # Until here, readers have what there was.
        _remove(final, draft)
        draft.rename(final)
        sync(final.parent)


def _check_read(before: Path, draft: Path) -> None:
    """Compare what may have been read to make the draft: all that has no hard link in it. What has one keeps its
    checksum, which tells of damage whenever it is opened.
    """
    listed = listed_files(before, _LIST)
    if listed is None:
        return  # of an older format, or none there: nothing of it is taken over
    read = {name: known for name, known in listed.items() if not is_linked(draft / name, before / name)}
    if damaged := damaged_files(before, read, every=True):
        raise DamagedBefore(f"{before / damaged[0]} is damaged")


def _check_arrays(draft: Path) -> None:
    """NumPy writes by C's buffers, and may not hear that the last of them did not fit on the disk. What has another
    name, in the generation before, was looked at when it was written.
    """
    for file in draft.rglob("*.npy"):
        known = file.stat()
        if known.st_nlink > 1:
            continue
        try:
            whole = known.st_size >= _size_by_header(file)
        except (ValueError, EOFError):
            whole = False
        if not whole:
            raise StoreFailed(f"{file} was not written whole", "check the disk and its room, then run again")


def _size_by_header(file: Path) -> int:
    """Bytes that an array has on the disk, header included; to open it would take three times as long."""
    from numpy.lib import format

    with file.open("rb") as stream:
        read = format.read_array_header_1_0 if format.read_magic(stream) == (1, 0) else format.read_array_header_2_0
        shape, _, kind = read(stream)
        return stream.tell() + math.prod(shape) * kind.itemsize


def clear_old(folder: Path, generation: int, keep: int = KEPT, hold: int = 0) -> None:
    """Remove generations that no reader can have begun with lately, and drafts of killed builds.

    Where documents went, only the newest stays: it must hold nothing of them, and the older ones do. `hold` is one that
    stays in any case: a shard's, which the whole still shows.
    """
    names = {str(g) for g in (*range(generation - keep + 1, generation + 1), hold)}
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
    marked = path.suffix == ".draft" or any(name.startswith(FORMAT_MARK) for name in held)
    return marked or (like.is_dir() and held <= {entry.name for entry in like.iterdir()})
