"""All data of a server as one file and back: also while it writes.

A backup is a tar. Databases are copied by SQLite, each at one moment. Of an index, the views are the newest that show
the rows that were copied: what was published of a file never changes, and all are opened before the first is read, so
that a writer who clears them away takes nothing from us. Other files are replaced by renaming alone, so what is open is
whole. Logs are copied up to the length they have when they are opened. The last entry lists every file with its size
and SHA-256.

What the copy of the server's own database does not list (a collection made meanwhile) is not in the backup; what it
says of files is compared with them when a server next opens it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ragways import __version__
from ragways.core.errors import StoreFailed, UsageError
from ragways.index.open import views_of
from ragways.index.views import LIST, published, sync
from ragways.layers.lexicon import FILE as LEXICON
from ragways.service.state import FILE, WAIT_SECONDS
from ragways.store.cache import FILE as WORK_CACHE
from ragways.store.database import connect, has_table, store_errors
from ragways.store.place import MARK, VIEWS
from ragways.store.store import FILE as INDEX
from ragways.store.store import Store

MANIFEST = "MANIFEST.json"
_FORMAT = 1
_TRIES = 10
_BLOCK = 1 << 20
_NANO = "RAGWAYS.mtime_ns"
_NAME = re.compile(r"service\.sqlite|audit(\.\d+)?\.jsonl|(collections|given)/[0-9a-f]{16}/.+")
_LONGEST_NAME = 1000
_LARGEST_MANIFEST = 1 << 30


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
                made = _Backup(tar, Path(scratch)).all(data)
                tar.close()
                stream.flush()
                os.fsync(stream.fileno())
            draft.rename(to)
            sync(to.parent)
            return made
    finally:
        draft.unlink(missing_ok=True)


class _Backup:
    """A tar that is being written."""

    def __init__(self, tar: tarfile.TarFile, scratch: Path) -> None:
        self._tar = tar
        self._scratch = scratch
        self._listed: dict[str, tuple[int, str]] = {}

    def all(self, data: Path) -> BackupSummary:
        """Everything; the server's own database first, which lists the rest."""
        made = datetime.now(UTC).isoformat(timespec="seconds")
        with ExitStack() as stack:
            with _no_writer(data / FILE):
                # A line of the audit log and its row are written under one lock.
                opened = [(path.name, stack.enter_context(_open(path))) for path in sorted(data.glob("audit*.jsonl"))]
                logs = [(name, log, os.fstat(log.fileno()).st_size) for name, log in opened]
                seen = stack.enter_context(_one_moment(data / FILE))
            # From here on others write again: what is copied below stays as it was under the lock.
            copy = self._copied(seen)
            seen.close()
            self._file(copy, FILE)
            for name, log, size in logs:
                self._add(name, log, size)
        with closing(sqlite3.connect(copy)) as db:
            rows = []
            if has_table(db, "collections"):  # else keys were made, and no server was started yet
                rows = db.execute("SELECT id, managed FROM collections ORDER BY id").fetchall()
        for id, managed in rows:
            place = f"{'collections' if managed else 'given'}/{id}"
            self._collection(data / place, place)
        listed = json.dumps({"format": _FORMAT, "version": __version__, "made": made, "files": self._listed}).encode()
        total = sum(size for size, _ in self._listed.values())
        summary = BackupSummary(made, sum(bool(managed) for _, managed in rows), len(self._listed), total)
        self._add(MANIFEST, io.BytesIO(listed), len(listed))
        return summary

    def _collection(self, folder: Path, place: str) -> None:
        for path in _files_below(folder, skip=("incoming", "index")):
            self._file(path, f"{place}/{path.relative_to(folder).as_posix()}")
        if (folder / "index" / INDEX).is_file():
            self._index(folder / "index", f"{place}/index")

    def _index(self, folder: Path, place: str) -> None:
        """Rows, and the views that show them. Where a writer clears those away again and again, they are left out:
        they are made again when the index is opened.
        """
        with ExitStack() as stack:
            for _ in range(_TRIES):
                with _one_moment(folder / INDEX) as seen:
                    copy = self._copied(seen)
                    views = _opened_views(Store(folder, seen), stack)
                if views is not None:
                    break
            self._file(copy, f"{place}/{INDEX}")
            for name, (file, size) in (views or {}).items():
                self._add(f"{place}/{name}", file, size)
        if (folder / WORK_CACHE).is_file():
            with _one_moment(folder / WORK_CACHE) as seen:
                self._file(self._copied(seen), f"{place}/{WORK_CACHE}")
        for path in sorted(folder.iterdir()):
            if path.name in (MARK, LEXICON) or path.suffix == ".json":
                self._file(path, f"{place}/{path.name}")

    # One file

    def _copied(self, seen: sqlite3.Connection) -> Path:
        """A database as this connection sees it, its log included. It takes the place of the copy before."""
        copy = self._scratch / "copy.sqlite"
        copy.unlink(missing_ok=True)
        with closing(sqlite3.connect(copy)) as target:
            seen.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        return copy

    def _file(self, path: Path, name: str) -> None:
        try:
            with _open(path) as file:
                self._add(name, file, os.fstat(file.fileno()).st_size)
        except FileNotFoundError:
            return  # it was removed while we came to it

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        with suppress(io.UnsupportedOperation):
            # To the nanosecond: an index knows by it that a file has not changed.
            entry.pax_headers = {_NANO: str(os.fstat(file.fileno()).st_mtime_ns)}
        read = _Hashed(file)
        self._tar.addfile(entry, read)
        if name != MANIFEST:
            self._listed[name] = (size, read.hash.hexdigest())


class _Hashed:
    """A file that is read once, and hashed on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.hash.update(block)
        return block


@contextmanager
def _no_writer(database: Path) -> Iterator[None]:
    """Keep other writers out of the database; its readers go on."""
    with store_errors(database), closing(sqlite3.connect(database, timeout=WAIT_SECONDS, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            db.execute("ROLLBACK")


@contextmanager
def _one_moment(database: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees the database as it is now, whatever others write meanwhile. No writer waits for it."""
    with store_errors(database), closing(connect(database, write=False)) as db:
        db.execute("BEGIN")
        db.execute("SELECT 1 FROM sqlite_master").fetchone()  # the first read chooses the moment
        yield db


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """A file that is no link."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _opened_views(store: Store, stack: ExitStack) -> dict[str, tuple[IO[bytes], int]] | None:
    """All files of the views of these rows, open, by their path below the index, each with how many bytes of it were
    published; None where they are not there any more.
    """
    views = views_of(store) if has_table(store.db, "meta") else None
    if views is None:
        return None if published(store.folder) is not None else {}
    opened: dict[str, tuple[IO[bytes], int]] = {}
    try:
        for name in (*views.files, LIST):
            file = stack.enter_context(_open(views.folder / name))
            there = os.fstat(file.fileno()).st_size
            size = views.files[name].size if name in views.files else there
            if there < size:
                return None
            opened[f"{VIEWS}/{views.folder.name}/{name}"] = file, size
    except FileNotFoundError:
        return None
    return opened


def _files_below(folder: Path, skip: tuple[str, ...] = ()) -> Iterator[Path]:
    """Every file below a folder but for these folders right in it; no link is followed or given."""
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name not in skip]
        for name in sorted(names):
            path = Path(parent) / name
            try:
                if stat.S_ISREG(os.lstat(path).st_mode) and not name.endswith(".draft"):
                    yield path
            except FileNotFoundError:
                continue


# Back


def restore(archive: Path, data: Path) -> BackupSummary:
    """Put a backup into a folder that is missing or empty. All of it is checked before the folder has anything."""
    if data.is_symlink() or (data.exists() and (not data.is_dir() or any(data.iterdir()))):
        raise UsageError(f"{data} is not empty", "name a new folder with --data")
    if not archive.is_file():
        raise UsageError(f"there is no file {archive}", "name a backup")
    data.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{data.name}.", dir=data.parent))
    try:
        with store_errors(data), archive.open("rb") as stream:
            found, listed = _unpack(stream, draft)
            if found != {name: (size, digest) for name, (size, digest) in listed["files"].items()}:
                raise _damaged(archive)
            total = sum(size for size, _ in found.values())
            damaged = tuple(_damaged_parts(draft))
            summary = BackupSummary(str(listed.get("made")), _managed(draft / FILE), len(found), total, damaged)
            if data.exists():
                data.rmdir()
            draft.rename(data)
            sync(data.parent)
            return summary
    except (tarfile.TarError, EOFError) as error:
        raise _damaged(archive) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _unpack(stream: IO[bytes], folder: Path) -> tuple[dict[str, tuple[int, str]], dict[str, Any]]:
    found: dict[str, tuple[int, str]] = {}
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for entry in tar:
            file = tar.extractfile(entry) if entry.isreg() else None
            if file is None or (entry.name != MANIFEST and not _is_ours(entry.name)) or entry.name in found:
                raise UsageError("this is no backup of ragways: it holds what none has", "name another file")
            if entry.name == MANIFEST:
                if entry.size > _LARGEST_MANIFEST:
                    break
                return found, _manifest(file.read())
            found[entry.name] = _extract(file, folder / entry.name, entry)
    raise UsageError("the backup is not whole: its list is missing", "make it again, or name another file")


def _is_ours(name: str) -> bool:
    """Whether a backup can hold a file of this name; none of them leads out of a folder."""
    parts = name.split("/")
    return (
        _NAME.fullmatch(name) is not None
        and len(name) <= _LONGEST_NAME
        and not any(part in ("", ".", "..") or any(ord(sign) < 32 or sign == "\x7f" for sign in part) for part in parts)
        and str(PurePosixPath(name)) == name
    )


def _extract(file: IO[bytes], path: Path, entry: tarfile.TarInfo) -> tuple[int, str]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as target:
        while block := file.read(_BLOCK):
            target.write(block)
            digest.update(block)
            size += len(block)
        target.flush()
        os.fsync(target.fileno())
    nano = entry.pax_headers.get(_NANO, "")
    if nano.isdecimal() and len(nano) < 20:
        os.utime(path, ns=(int(nano), int(nano)))
    return size, digest.hexdigest()


def _manifest(text: bytes) -> dict[str, Any]:
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, dict) or listed.get("format") != _FORMAT or not isinstance(listed.get("files"), dict):
        raise UsageError("this backup was made by another version of ragways", "restore it with that version")
    return listed


def _managed(database: Path) -> int:
    """How many collections a server's database has of its own; what is there is only read."""
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        if not has_table(db, "collections"):
            return 0
        return int(db.execute("SELECT count(*) FROM collections WHERE managed").fetchone()[0])


def _damaged_parts(folder: Path) -> Iterator[str]:
    """Databases of indexes that SQLite finds damaged; and views, which are removed: they are made again from rows."""
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


def _damaged(archive: Path) -> StoreFailed:
    return StoreFailed(f"{archive} is damaged: what it holds is not what was written", "name another backup")
