"""The files of an index: where each lies, and what it was when it was last read.

Whatever is stored of a file has a row here, so that it goes when the file is gone: also of one that could not be read
to its end.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from ragways.core.text import is_utf8, printable_name

UNREAD = -1
"""In place of the size of a file: it was not read, or not all of it."""
_WEB = ("http", "httq")
"""Where addresses begin and end among the keys of files."""


def file_hash(path: Path) -> bytes:
    """Return the SHA-256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


class IndexedFiles:
    """The table `sources`. A key is a path below the folder that was named (the root), whose name it begins with; or an
    address.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __bool__(self) -> bool:
        """Whether any file was read."""
        return self._db.execute("SELECT 1 FROM sources LIMIT 1").fetchone() is not None

    def known(self, key: str) -> tuple[str, int, int, bytes] | None:
        """Root, size, time and hash of a file as it was last read."""
        row = self._db.execute("SELECT root, size, modified, hash FROM sources WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], row[1], row[2], row[3])

    def changed(self) -> Iterator[str]:
        """Yield the keys of files that are there with other bytes than when they were last read."""
        rows = self._db.execute("SELECT key, root, hash FROM sources WHERE size != ? ORDER BY key", (UNREAD,))
        for key, root, hash in rows:
            path = Path(root).parent / key
            if path.is_absolute() and path.is_file() and file_hash(path) != hash:
                yield key

    def place(self, path: Path) -> tuple[str, str] | None:
        """Root and key of the file that lies here, if it was read: by its own name, or below one of its folders."""
        for root in (path, *path.parents) if is_utf8(str(path)) else ():
            key = printable_name(path.relative_to(root.parent).as_posix())
            row = self._db.execute("SELECT root FROM sources WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] == str(root):
                return row[0], key
        return None

    def roots(self) -> set[str]:
        """Where the files of the index lie: the folders and files that were named for it."""
        return {row[0] for row in self._db.execute("SELECT DISTINCT root FROM sources")}

    def of_root(self, root: str) -> set[str]:
        """Keys of the files that were read below a folder or address, or under a name."""
        first, end = "", "\U0010ffff"
        if os.path.isabs(root):  # the keys begin with the name of the folder, or are that of the file
            first = printable_name(Path(root).name)
            end = f"{first}0"  # which follows on a slash
        elif "://" in root:
            first, end = _WEB
        rows = self._db.execute("SELECT key FROM sources WHERE root = ? AND key >= ? AND key < ?", (root, first, end))
        return {row[0] for row in rows}

    def documents(self, key: str) -> int:
        """How many documents a file gave."""
        return int(self._db.execute("SELECT count(*) FROM documents WHERE source = ?", (key,)).fetchone()[0])

    def records(self, key: str, documents: Collection[int]) -> dict[bytes, int]:
        """Hashes of the records of a file with the numbers of their documents, of these documents alone."""
        rows = self._db.execute("SELECT record, document FROM records WHERE source = ?", (key,))
        return {record: number for record, number in rows if number in documents}

    def pages(self) -> set[str]:
        """Addresses of the pages that were read."""
        return {row[0] for row in self._db.execute("SELECT key FROM sources WHERE key >= ? AND key < ?", _WEB)}

    # Changes

    def put(self, key: str, root: str, size: int, modified: int, hash: bytes) -> None:
        """Note a file that was read, with the hash of its bytes."""
        self._db.execute("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?)", (key, root, size, modified, hash))

    def put_records(self, key: str, records: Mapping[bytes, int]) -> None:
        """Note the records of a file, in place of those that it had."""
        known = dict(self._db.execute("SELECT record, document FROM records WHERE source = ?", (key,)).fetchall())
        gone = [(key, record) for record in known.keys() - records.keys()]
        self._db.executemany("DELETE FROM records WHERE source = ? AND record = ?", gone)
        new = [(key, record, number) for record, number in records.items() if known.get(record) != number]
        self._db.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", new)

    def begin(self, key: str, root: str) -> None:
        """Note a file of which not all is read yet: the next run reads it, or finds that it is gone."""
        self.put(key, root, UNREAD, 0, b"")

    def remove(self, key: str) -> None:
        self._db.execute("DELETE FROM sources WHERE key = ?", (key,))
        self._db.execute("DELETE FROM records WHERE source = ?", (key,))

    def forget(self, numbers: Iterable[int]) -> None:
        """Forget that the files of these documents, which are about to go, were read, so that the next run reads them
        again. One of which nothing stays is forgotten altogether.
        """
        gone = set(numbers)
        keys = {row[0] for number in gone for row in self._db.execute(_FILE, (number,))}
        for key in sorted(keys):
            if all(number in gone for (number,) in self._db.execute(_DOCUMENTS, (key,))):
                self.remove(key)
            else:
                self._db.execute("UPDATE sources SET size = ? WHERE key = ?", (UNREAD, key))


_FILE = "SELECT source FROM documents WHERE number = ?"
_DOCUMENTS = "SELECT number FROM documents WHERE source = ?"
