"""All data of a server as one file and back: also while it writes.

A backup is a tar. Databases are copied by SQLite, each at one moment. An index is opened as a reader opens it, so its
rows and its views are of one moment, and no writer removes the views meanwhile. Other files are only ever replaced by
renaming, so an open file is whole. The last entry lists every file with its size, SHA-256 and time of change.

A collection that is made after the server's own database was copied is not in the backup. What that database says of
files is compared with them when a server next opens it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ragways import __version__
from ragways.core.errors import NoIndex, StoreFailed, UsageError, WrongVersion
from ragways.index.open import Index
from ragways.index.views import LIST, Views, published, sync
from ragways.layers.lexicon import FILE as LEXICON
from ragways.service.collections import files_below
from ragways.service.state import FILE
from ragways.store.cache import FILE as WORK_CACHE
from ragways.store.database import connect, has_table, store_errors
from ragways.store.place import MARK, VIEWS
from ragways.store.store import FILE as INDEX

MANIFEST = "MANIFEST.json"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """What a backup holds. `collections` are those of the server's own: indexes that were given to it are not in it.
    `damaged`, of one that was restored: databases and views that were damaged before they were copied.
    """

    made: str
    collections: int
    files: int
    bytes: int
    damaged: tuple[str, ...] = ()


def backup(data: Path, to: Path) -> BackupSummary:
    """Write all that is in a server's data folder to a file, which is there when it is whole and not before."""
    if not (data / FILE).is_file():
        raise UsageError(f"there is no data of a server in {data}", "name the folder with --data")
    if to.exists():
        raise UsageError(f"{to} is there already", "name another file")
    draft = to.with_name(f"{to.name}.draft")
    try:
        with store_errors(to), tempfile.TemporaryDirectory(prefix=f".{to.name}.", dir=to.parent) as scratch:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as stream, tarfile.open(fileobj=stream, mode="w|") as tar:
                summary = _Backup(tar, Path(scratch)).write(data)
                tar.close()
                stream.flush()
                os.fsync(stream.fileno())
            draft.rename(to)
            sync(to.parent)
            return summary
    finally:
        draft.unlink(missing_ok=True)


class _Backup:
    """A tar that is being written. Copies of databases are made in `scratch`, one after the other."""

    def __init__(self, tar: tarfile.TarFile, scratch: Path) -> None:
        self._tar = tar
        self._copy = scratch / "copy.sqlite"
        self._listed: dict[str, tuple[int, str, int]] = {}

    def write(self, data: Path) -> BackupSummary:
        """Everything; the server's own database first, which lists the collections."""
        made = datetime.now(UTC).isoformat(timespec="seconds")
        self._database(data / FILE, FILE)
        collections = _collections(self._copy)
        for id, managed in collections:
            place = f"{'collections' if managed else 'given'}/{id}"
            for path in files_below(data / place, skip=("incoming", "index")):
                if path.suffix != ".draft":
                    self._file(path, f"{place}/{path.relative_to(data / place).as_posix()}")
            if (data / place / "index" / INDEX).is_file():
                self._index(data / place / "index", f"{place}/index")
        text = json.dumps({"format": _FORMAT, "version": __version__, "made": made, "files": self._listed}).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(text)
        self._tar.addfile(entry, io.BytesIO(text))
        return _summary(made, collections, self._listed)

    def _index(self, folder: Path, place: str) -> None:
        """Rows with the views that show them, the work cache, and the small files beside them."""
        with ExitStack() as stack:
            try:
                index = stack.enter_context(closing(Index.open(folder)))
            except (NoIndex, WrongVersion):  # it is built anew by the next job
                self._database(folder / INDEX, f"{place}/{INDEX}")
            else:
                self._database(index.store.db, f"{place}/{INDEX}")
                if index.views is not None:
                    self._views(index.views, f"{place}/{VIEWS}/{index.views.folder.name}")
        if (folder / WORK_CACHE).is_file():
            self._database(folder / WORK_CACHE, f"{place}/{WORK_CACHE}")
        for path in sorted(folder.iterdir()):
            if path.name in (MARK, LEXICON) or path.suffix == ".json":
                self._file(path, f"{place}/{path.name}")

    def _views(self, views: Views, place: str) -> None:
        """A file may have grown since it was published: what a later generation added is left out."""
        for name, seal in views.files.items():
            self._file(views.folder / name, f"{place}/{name}", seal.size)
        self._file(views.folder / LIST, f"{place}/{LIST}")

    def _database(self, source: Path | sqlite3.Connection, name: str) -> None:
        """A database as it is now, or as this connection sees it, its log included. No writer waits for it."""
        self._copy.unlink(missing_ok=True)
        with ExitStack() as stack:
            if isinstance(source, Path):
                stack.enter_context(store_errors(source))
                source = stack.enter_context(closing(connect(source, write=False)))
            copy = stack.enter_context(closing(sqlite3.connect(self._copy)))
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        self._file(self._copy, name)

    def _file(self, path: Path, name: str, size: int | None = None) -> None:
        """A file, or its first `size` bytes. A link, and what was removed meanwhile, is left out."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = status.st_size if size is None else size, 0o600
            read = _HashedFile(file)
            self._tar.addfile(entry, read)
        self._listed[name] = entry.size, read.hash.hexdigest(), status.st_mtime_ns


class _HashedFile:
    """A file that is read once, and hashed on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.hash.update(block)
        return block


def _collections(database: Path) -> list[tuple[str, bool]]:
    """The collections that a server's database lists, by id, and whether each is its own."""
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        if not has_table(db, "collections"):  # keys were made, and no server was started yet
            return []
        rows = db.execute("SELECT id, managed FROM collections ORDER BY id").fetchall()
        return [(id, bool(managed)) for id, managed in rows]


def _summary(made: str, collections: list[tuple[str, bool]], listed: dict[str, Any]) -> BackupSummary:
    size = sum(each[0] for each in listed.values())
    return BackupSummary(made, sum(managed for _, managed in collections), len(listed), size)


# Back


def restore(archive: Path, data: Path) -> BackupSummary:
    """Put a backup into a folder that is missing or empty. All of it is checked before the folder has anything."""
    if data.is_symlink() or (data.exists() and (not data.is_dir() or any(data.iterdir()))):
        raise UsageError(f"{data} is not empty", "name a new folder with --data")
    if not archive.is_file():
        raise UsageError(f"there is no file {archive}", "name a backup")
    data.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{data.name}.", dir=data.parent))
    damaged = StoreFailed(f"{archive} is damaged: its content is not what was written", "name another backup")
    try:
        with store_errors(data):
            manifest = _extract(archive, draft)
            for name, (size, digest, changed) in manifest["files"].items():
                if not _as_written(draft / name, size, digest, changed):
                    raise damaged
            summary = _summary(str(manifest.get("made")), _collections(draft / FILE), manifest["files"])
            summary = replace(summary, damaged=tuple(_damaged_parts(draft)))
            if data.exists():
                data.rmdir()
            draft.rename(data)
            sync(data.parent)
            return summary
    except (tarfile.TarError, EOFError) as error:
        raise damaged from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _extract(archive: Path, folder: Path) -> dict[str, Any]:
    """Extract plain files, none of them outside of the folder; returns the list of what they must be."""
    names: set[str] = set()
    with tarfile.open(archive, mode="r|") as tar:
        for entry in tar:
            if not entry.isreg() or entry.name in names or entry.name.startswith("/"):
                raise UsageError("this is no backup of ragways: it has entries that none has", "name another file")
            names.add(entry.name)
            tar.extract(entry, folder, filter="data")
    if MANIFEST not in names:
        raise UsageError("the backup is not whole: its list is missing", "make it again, or name another file")
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT or "files" not in manifest:
        raise UsageError("this backup was made by another version of ragways", "restore it with that version")
    (folder / MANIFEST).unlink()
    if names - {MANIFEST} != manifest["files"].keys():
        raise StoreFailed(f"{archive} is damaged: it has not the files that it lists", "name another backup")
    return manifest


def _as_written(path: Path, size: int, digest: str, changed: int) -> bool:
    """Whether a file is what was written; it is brought to the disk, and gets its time of change again: an index knows
    by that, to the nanosecond, that a file has not changed.
    """
    try:
        with path.open("rb") as file:
            same = os.fstat(file.fileno()).st_size == size and hashlib.file_digest(file, "sha256").hexdigest() == digest
            os.fsync(file.fileno())
    except FileNotFoundError:  # an entry whose name led elsewhere
        return False
    os.utime(path, ns=(changed, changed))
    return same


def _damaged_parts(folder: Path) -> Iterator[str]:
    """Databases of indexes that SQLite reports as damaged; and views, which are removed: they are made from rows."""
    for index in sorted(folder.glob("collections/*/index")):
        for file in sorted(index.glob("*.sqlite")):
            try:
                with closing(connect(file, write=False)) as db:
                    problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            except StoreFailed as error:
                problem = error.message
            if problem != "ok":
                yield file.relative_to(folder).as_posix()
        views = published(index)
        if views is not None and any(views.damaged(layer, every=True) for layer in views.layers):
            shutil.rmtree(views.folder)
            yield views.folder.relative_to(folder).as_posix()
