"""Files that were uploaded to a collection: whole or not there at all, inside their folder, within their quotas.

A body is written to a file of its own in `incoming`, hashed, brought to the disk and only then renamed to its place. So
a server that is killed leaves no half file, and what it leaves in `incoming` is cleared when the next one starts.
No name and no link leads out of the collection's folder.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import secrets
import sqlite3
import threading
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragways.core.errors import RagwaysError
from ragways.core.text import is_utf8
from ragways.index.views import sync
from ragways.service.collections import Collection, files_below
from ragways.service.config import Limits
from ragways.service.errors import BadRequest, Conflict, Full, NotFound, ServiceError, TooLarge
from ragways.service.state import State
from ragways.store.database import connect, store_errors
from ragways.store.store import FILE

FileState = Literal["new", "changed", "indexed", "failed"]
DEEPEST = 12
"""Folders in a name, the file included."""
LONGEST = 512
"""Bytes of a name; of one part of it, 200, which every disk takes."""
LONGEST_PART = 200
TOTAL = 32 << 30
"""Bytes of all files of a collection."""
_BLOCK = 1 << 20
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Kinds of characters that are invisible, or that turn the text around them."""
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "pyvenv.cfg", "index.sqlite", "ragways.toml"})
"""What an index run passes over, or takes for a mark of something that is no document."""
_TABLE = """
CREATE TABLE IF NOT EXISTS files (
    collection TEXT NOT NULL, path TEXT NOT NULL, folded TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
    modified INTEGER NOT NULL, indexed INTEGER, reason TEXT NOT NULL DEFAULT '', failed INTEGER,
    PRIMARY KEY (collection, path), UNIQUE (collection, folded)
) WITHOUT ROWID;
"""
# `indexed` and `failed` are the times of the versions that the index holds, and that it could not read.
_STATE = """CASE WHEN reason <> '' AND failed = modified THEN 'failed' WHEN indexed = modified THEN 'indexed'
    WHEN indexed IS NOT NULL THEN 'changed' ELSE 'new' END"""
_COLUMNS = f"path, size, sha256, {_STATE}, CASE WHEN failed = modified THEN reason ELSE '' END"


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of a collection. New and changed files wait for the next index job; failed ones could not be read by the
    last, and `reason` says why.
    """

    path: str
    size: int
    sha256: str
    state: FileState
    reason: str = ""


def check_path(path: str) -> str:
    """The name of a file as it is stored, or an error where it could lead elsewhere or be misread."""
    path = unicodedata.normalize("NFC", path)
    parts = path.split("/")
    if wrong := _wrong(path, parts):
        raise BadRequest(f"this cannot be the name of a file: {wrong}", "choose another name")
    return path


def _wrong(path: str, parts: Sequence[str]) -> str:
    if any(unicodedata.category(sign) in _UNSEEN or sign in '\\:*?"<>|\ufffd' for sign in path):
        return 'it has characters that cannot be seen, or one of \\ : * ? " < > |'
    if len(path.encode()) > LONGEST or any(len(part.encode()) > LONGEST_PART for part in parts):
        return f"it is longer than {LONGEST} bytes, or a part of it than {LONGEST_PART}"
    if len(parts) > DEEPEST:
        return f"it has more than {DEEPEST} parts"
    for part in parts:
        if not part or part != part.strip() or part.startswith(".") or part.endswith("."):
            return "a part of it is empty, hidden, or begins or ends with a space or a dot"
        small = part.casefold()
        if _DEVICE.fullmatch(small) or small in _LEFT_OUT or small.endswith((".dist-info", ".egg-info", ".draft")):
            return "a part of it is a reserved name"
    return ""


def _inside(files: Path, name: str) -> Path:
    """The place of a file below a collection's folder. A link on the way to it, which only the operator of the server
    can have made, is not followed.
    """
    path = files / name
    if path.parent.resolve() != files.resolve().joinpath(*name.split("/")[:-1]):
        raise OSError(errno.ELOOP, "a folder of uploads is a link")
    return path


class UploadDraft:
    """An upload under way. Blocks are written by threads, and one may still be at it when the request has ended."""

    def __init__(self, incoming: Path) -> None:
        incoming.mkdir(mode=0o700, exist_ok=True)
        self._path = incoming / secrets.token_hex(8)
        self._file = self._path.open("xb")
        self._lock = threading.Lock()
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, block: bytes) -> None:
        with self._lock:
            if not self._file.closed:
                self._file.write(block)
                self._hash.update(block)
                self.size += len(block)

    def finish(self) -> str:
        """Bring it to the disk; returns its checksum."""
        with self._lock:
            self._file.flush()
            os.fsync(self._file.fileno())
            return self._hash.hexdigest()

    def place(self, files: Path, name: str) -> int:
        """Give it its name, in one step; returns the time of its last change."""
        with self._lock:
            target = _inside(files, name)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            modified = os.fstat(self._file.fileno()).st_mtime_ns
            os.replace(self._path, target)
            sync(target.parent)
            return modified

    def discard(self) -> None:
        with self._lock:
            self._file.close()
            self._path.unlink(missing_ok=True)


class Uploads:
    """The files of all managed collections. A table lists what their folders have."""

    def __init__(self, state: State, limits: Limits, total: int = TOTAL) -> None:
        self._state = state
        self._limits = limits
        self._total = total
        self._turn = asyncio.Lock()
        """Held by whoever changes a folder and the table together."""
        state.tables(_TABLE)

    async def put(self, collection: Collection, path: str, blocks: AsyncIterator[bytes]) -> UploadedFile:
        """Take up a file, in the place of one of this name if there is one. The bytes are read as they come."""
        files, name = _files(collection), check_path(path)
        self._check_room(collection, name, 0)
        try:
            return await self._put(collection, files, name, blocks)
        except OSError as error:
            raise _meaning(error) from error

    async def _put(self, collection: Collection, files: Path, name: str, blocks: AsyncIterator[bytes]) -> UploadedFile:
        draft = await asyncio.to_thread(UploadDraft, collection.incoming)
        try:
            async for block in _gathered(blocks):
                if draft.size + len(block) > self._limits.upload:
                    raise TooLarge(f"a file may have {self._limits.upload:,} bytes", "split it, or leave it out")
                await asyncio.to_thread(draft.write, block)
            digest = await asyncio.to_thread(draft.finish)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(draft.discard))
            raise
        # Whole: from here on it comes to its end even when nobody waits for it any more.
        await asyncio.shield(self._place(collection, files, name, draft, digest))
        return self.find(collection, name)

    async def _place(self, collection: Collection, files: Path, name: str, draft: UploadDraft, digest: str) -> None:
        """Have the folder and the table hold a file that is whole: both, or neither."""
        try:
            async with self._turn:
                self._check_room(collection, name, draft.size)
                if not self._same(collection, name, draft.size, digest):
                    modified = await asyncio.to_thread(draft.place, files, name)
                    self._store_row(collection, name, draft.size, digest, modified)
        finally:
            await asyncio.to_thread(draft.discard)

    def find(self, collection: Collection, path: str) -> UploadedFile:
        """The file of this name; NotFound where there is none."""
        query = f"SELECT {_COLUMNS} FROM files WHERE collection = ? AND path = ?"  # noqa: S608 - columns of ours
        row = self._state.db.execute(query, (collection.id, unicodedata.normalize("NFC", path))).fetchone()
        if row is None:
            raise NotFound("file")
        return UploadedFile(*row)

    async def listed(
        self, collection: Collection, offset: int, limit: int, search: str = ""
    ) -> tuple[list[UploadedFile], int]:
        """Files by name whose name holds `search`, and how many there are of them."""
        _files(collection)
        where, values = "collection = ? AND instr(folded, ?)", (collection.id, search.casefold())
        query = f"SELECT {_COLUMNS} FROM files WHERE {where} ORDER BY path LIMIT ? OFFSET ?"  # noqa: S608 - ours
        rows = self._state.db.execute(query, (*values, limit, offset)).fetchall()
        total = self._state.db.execute(f"SELECT count(*) FROM files WHERE {where}", values).fetchone()[0]  # noqa: S608
        return [UploadedFile(*row) for row in rows], total

    async def opened(self, collection: Collection, path: str) -> int:
        """A descriptor of a file, to be read and closed."""
        files, name = _files(collection), self.find(collection, path).path
        try:
            return os.open(_inside(files, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            raise NotFound("file") from None

    async def delete(self, collection: Collection, path: str) -> None:
        """Remove a file. Its text leaves the index with the next index job."""
        files, name = _files(collection), self.find(collection, path).path
        await asyncio.shield(self._remove(collection, files, name))

    async def _remove(self, collection: Collection, files: Path, name: str) -> None:
        """Remove a file from the folder and from the table; this is not cancelled between the two."""
        async with self._turn:
            await asyncio.to_thread(remove_file, files, name)
            self._state.db.execute("DELETE FROM files WHERE collection = ? AND path = ?", (collection.id, name))

    async def indexed(self, collection: Collection, failures: Mapping[str, str]) -> None:
        """After an index job: note which versions the index has, and which could not be read and why."""
        if collection.files is None:
            return
        held = await asyncio.to_thread(_sources, collection.index, f"{collection.files.name}/")
        id = collection.id
        with self._state.transaction() as db:
            db.execute("UPDATE files SET indexed = NULL, reason = '', failed = NULL WHERE collection = ?", (id,))
            db.executemany(
                "UPDATE files SET indexed = ? WHERE collection = ? AND path = ?",
                [(modified, id, path) for path, modified in held.items()],
            )
            for path, reason in failures.items():
                # What could not be read in an archive is reported with the archive.
                names = [path[:end] for end, sign in enumerate(path) if sign == "/"] + [path]
                db.executemany(
                    "UPDATE files SET reason = ?, failed = modified WHERE collection = ? AND path = ?",
                    [(reason[:500], id, name) for name in names],
                )

    def forget(self, collection: Collection) -> None:
        """Forget the files of a collection that was deleted."""
        self._state.db.execute("DELETE FROM files WHERE collection = ?", (collection.id,))

    # Quotas

    def _check_room(self, collection: Collection, name: str, size: int) -> None:
        folded, id = name.casefold(), collection.id
        db = self._state.db
        twin = db.execute("SELECT path FROM files WHERE collection = ? AND folded = ?", (id, folded)).fetchone()
        if twin is not None and twin[0] != name:
            raise Conflict("there is a file whose name differs only by large and small letters", "use its name")
        count, total = db.execute(
            "SELECT count(*), coalesce(sum(size), 0) FROM files WHERE collection = ? AND path <> ?", (id, name)
        ).fetchone()
        if count >= self._limits.files:
            raise Conflict(f"a collection may have {self._limits.files:,} files", "delete some, or make another")
        if total + size > self._total:
            raise Conflict(f"the files of a collection may have {self._total:,} bytes", "delete some first")

    def _same(self, collection: Collection, name: str, size: int, digest: str) -> bool:
        row = self._state.db.execute(
            "SELECT size, sha256 FROM files WHERE collection = ? AND path = ?", (collection.id, name)
        ).fetchone()
        return row is not None and (row[0], row[1]) == (size, digest)

    # The table and the folder

    def mend(self, collection: Collection) -> None:
        """Make the table true of the folder: a server that was killed may have placed or removed a file and not noted
        it. Called before the first request.
        """
        if collection.files is None:
            return
        db, id = self._state.db, collection.id
        rows = db.execute("SELECT path, size, modified FROM files WHERE collection = ?", (id,)).fetchall()
        known = {path: (size, modified) for path, size, modified in rows}
        there = dict[str, tuple[int, int]]()
        for path in files_below(collection.files):
            if is_utf8(name := path.relative_to(collection.files).as_posix()):
                there[name] = path.stat().st_size, path.stat().st_mtime_ns
        for name in known.keys() - there.keys():
            db.execute("DELETE FROM files WHERE collection = ? AND path = ?", (id, name))
        for name, (size, modified) in there.items():
            if known.get(name) != (size, modified):
                with suppress(sqlite3.IntegrityError):  # differs from another only by large and small letters
                    self._store_row(collection, name, size, _digest(collection.files / name), modified)

    def _store_row(self, collection: Collection, name: str, size: int, digest: str, modified: int) -> None:
        self._state.db.execute(
            """INSERT INTO files (collection, path, folded, size, sha256, modified) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (collection, path) DO UPDATE SET size = excluded.size, sha256 = excluded.sha256,
            modified = excluded.modified""",
            (collection.id, name, name.casefold(), size, digest, modified),
        )


def _files(collection: Collection) -> Path:
    if collection.files is None:
        raise Conflict("this collection is only read, and has no files", "index its folder where it was made")
    return collection.files


def _meaning(error: OSError) -> ServiceError | OSError:
    """What went wrong on the disk, as a client may know it."""
    if error.errno in (errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EEXIST):
        return Conflict("a file and a folder would have one name", "choose another name")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Full("there is no room on the server's disk", "tell whoever runs the server", retry_after=60)
    if error.errno == errno.ENOENT:
        return NotFound("collection")  # it was deleted meanwhile
    return error


async def _gathered(blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in larger blocks, so that few threads have to be woken."""
    waiting = bytearray()
    async for block in blocks:
        waiting += block
        if len(waiting) >= _BLOCK:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_file(files: Path, name: str) -> None:
    """Remove a file, and the folders that are empty without it."""
    path = _inside(files, name)
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
        sync(path.parent)
    with suppress(OSError):  # one that is not empty ends it
        for folder in path.parents[: name.count("/")]:
            folder.rmdir()


def _sources(index: Path, prefix: str) -> dict[str, int]:
    """The versions of files that an index holds: their times, by name. Empty where no index can be read."""
    path = index / FILE
    if not path.is_file():
        return {}
    try:
        with store_errors(path), closing(connect(path, write=False)) as db:
            rows = db.execute("SELECT key, modified FROM sources").fetchall()
    except RagwaysError:
        return {}
    return {key.removeprefix(prefix): modified for key, modified in rows if key.startswith(prefix)}
