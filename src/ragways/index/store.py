"""The system of record: documents and their parts in `index.sqlite`, one writer and many readers.

A build is one transaction, so a reader sees the corpus before it or after it and nothing between.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

from ragways.core.errors import NoIndex, StoreDamaged, StoreError
from ragways.core.types import Document, Part, Structure, content_hash, title_name
from ragways.index.database import REBUILD, Beside, connect, empty_log, log_size, page_cache, store_errors
from ragways.index.gone_texts import forget_gone, note_gone
from ragways.index.indexed_files import IndexedFiles
from ragways.index.origin import packed
from ragways.index.place import MARK, check_parts, claim
from ragways.index.schema import PARTS, VERSION
from ragways.index.seal import Seal
from ragways.index.sentences import count_sentences, packed_sentences
from ragways.index.versions import check_current, create_store, is_earlier, upgrade

FILE = "index.sqlite"
_WORTH_PACKING = 1 << 20
"""Bytes of a file that is packed when most of it was written anew: a smaller one has little to gain."""


class Store:
    """Rows in and rows out; what they mean is decided elsewhere."""

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.db = db
        self.seal = Seal(self.path)
        self._file: os.stat_result | None = None
        self.released: set[str] = set()
        """Hashes of chunks that were removed; other chunks may have the same."""
        self.settled = True
        """Whether all that was committed has reached the file: until then, what was deleted can still be read in it."""
        self.beside = Beside(db)
        self.files = IndexedFiles(db)

    @classmethod
    def create_or_open(cls, folder: Path) -> Store:
        """Open for writing. An empty or missing folder becomes a new index, and one of the version before is brought up
        to date; any other is refused.
        """
        claim(folder)
        store = cls(folder, connect(folder / FILE, write=True))
        # The log stays whole until `settle`, so that the seal can tell from it what a commit has written.
        store.db.execute("PRAGMA wal_autocheckpoint = 0")
        store.db.execute(f"PRAGMA cache_size = -{page_cache() // 1024}")
        try:
            store.begin()
            if not store._has_tables():
                store.create()
            else:
                if not store._is_sealed():
                    store._check_integrity()
                if is_earlier(store.db, store.path):
                    logging.getLogger("ragways").warning("ragways: %s is brought up to date", folder)
                    upgrade(store.db)
                    store.commit(settle=False)
                    store.settle(pack=True)
                    store.begin()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open(cls, folder: Path, *, earlier: bool = False) -> Store:
        """Open for reading, at the last whole commit; what is committed later stays out of sight. `earlier`: also one
        of the version before, for whoever reads nothing of it before it is brought up to date.
        """
        if not (folder / FILE).is_file():
            raise NoIndex(f"there is no index in {folder}", f"build one with: ragways index PATH --index {folder}")
        check_parts(folder)
        finish(folder)
        store = cls(folder, connect(folder / FILE, write=False))
        try:
            with store_errors(store.path):
                store.db.execute("BEGIN")
                if not store._has_tables():
                    raise NoIndex(
                        f"the index in {folder} is not whole yet",
                        "wait for its build to end; if none is running, run ragways index again",
                    )
                # The snapshot that this began with keeps the file as it is.
                store._is_sealed()
                if not earlier or not is_earlier(store.db, store.path):
                    check_current(store.db, store.path)
                store._file = os.stat(store.path)
        except BaseException:
            store.close()
            raise
        return store

    def _has_tables(self) -> bool:
        """Whether it is an index; raises where a seal says that there should be one."""
        found = bool(self.db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone())
        if not found:
            self._is_sealed()
        return found

    def _is_sealed(self) -> bool:
        """Whether the file is what was last committed to it; raises where it should be and is not."""
        known = self.seal.read()
        if known is None:
            return False  # made before there were seals, or the seal is lost
        if known.broken_by:  # a run is committing, could not settle, or was killed
            return self.seal.is_whole(known.was, every=True) or self.seal.is_whole_but_for_log(known.was)
        if not self.seal.is_whole(known.was):
            raise StoreDamaged(f"{self.path} is not what was written to it: it is damaged", REBUILD)
        return True

    def _check_integrity(self) -> None:
        """What can be told of a file that has no seal: whether SQLite finds it whole."""
        with store_errors(self.path):
            said = self.db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if said != "ok":
            raise StoreDamaged(f"{self.path} is damaged ({' '.join(said.split())})", REBUILD)

    def create(self) -> None:
        """Make the tables of an empty index."""
        create_store(self.db)
        self.set_meta({"version": str(VERSION), "generation": "0"})

    def begin(self) -> None:
        with store_errors(self.path):
            self.db.execute("BEGIN IMMEDIATE")

    def commit(self, *, settle: bool = True) -> None:
        """Make all changes visible. Without `settle`, another commit must follow, which settles both."""
        with store_errors(self.path):
            self.seal.unseal()
            forget_gone(self.db)
            # A power cut after this returns must not undo it; the many small steps before need no sync.
            self.db.execute("COMMIT")
            self.beside.leave()
            self.seal.note_commit()
        self.settled = False
        if settle:
            self.settle()

    def commit_changes(self) -> None:
        """Commit, unless nothing was written."""
        if self.db.total_changes:
            self.commit()

    def settle(self, *, pack: bool | None = None) -> None:
        """Bring what was committed into the file, and seal it. Where a reader still needs the file as it was, or the
        disk fails, that is left to whoever opens the store next: the commit stands without it. `pack`: whether to fill
        half-empty pages; where nothing is said, if most of the file was written anew.
        """
        try:
            with store_errors(self.path):
                written, known = log_size(self.path), self.seal.read()
                if written and known is not None and not known.broken_by:
                    self._break_seal()  # of a run that was killed when it had just packed the file
                if not empty_log(self.db):
                    return
                if pack is None:
                    pack = written > max(_WORTH_PACKING, os.stat(self.path).st_size) // 2
                if pack:
                    self._pack()
                self.begin()  # so that nobody writes meanwhile
                if not log_size(self.path):
                    known = self.seal.read()
                    if known is None or known.broken_by:  # else nothing was committed since
                        self.seal.write()
                    self.settled = True
        except StoreError:
            pass
        finally:
            self.rollback()

    def _pack(self) -> None:
        """Rows came in any order, so pages were split and left half empty: fill them, if there is room for a copy."""
        with suppress(StoreError), store_errors(self.path):
            self.db.execute("VACUUM")
        self._break_seal()  # whoever came to read in between may have sealed the file
        empty_log(self.db)  # also of what was begun and did not fit

    def _break_seal(self) -> None:
        """Have all of the file sealed anew, for something was committed of which the seal does not know."""
        self.begin()
        try:
            self.seal.unseal()
            self.seal.forget_pages()
        finally:
            self.rollback()

    def resume(self, generation: int) -> bool:
        """Begin to read again: whether it is still of this generation."""
        with store_errors(self.path):
            if self._file is None or not os.path.samestat(self._file, os.stat(self.path)):
                return False  # another file has taken its place
            if not self.db.in_transaction:
                self.db.execute("BEGIN")
            return generation_of(self.db) == generation

    def rollback(self) -> None:
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")
            self.beside.leave()

    def close(self) -> None:
        self.rollback()
        self.db.close()

    def meta(self) -> dict[str, str]:
        return dict(self.db.execute("SELECT key, value FROM meta").fetchall())

    def set_meta(self, values: Mapping[str, str]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def clear(self) -> None:
        for table in ("sources", "documents", *PARTS):
            self.db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own tables

    # Documents

    def put(self, structure: Structure, source: str, tokens: Iterable[int], hashes: Iterable[str]) -> None:
        """Add a document or put it in the place of its earlier version."""
        document = structure.document
        number = number_of(document.id)
        with store_errors(self.path):
            self.remove([number])
            self.db.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    document.key,
                    source,
                    document.title,
                    title_name(document.title),
                    document.format,
                    _json(dict(document.metadata)),
                    document.redirect,
                    bytes.fromhex(document_hash(document)),
                    packed(document.places),
                    packed_sentences((part.start, part.end) for part in structure.sentences),
                    document.text,
                ),
            )
            self._put_parts(number, structure, tokens, hashes)
            self._put_links(number, document)

    def _put_parts(self, number: int, structure: Structure, tokens: Iterable[int], hashes: Iterable[str]) -> None:
        rows = self.db.executemany
        rows(
            "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, *row, p.title, p.level) for p, row in _rows(structure.sections)],
        )
        rows(
            "INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?)", [(number, *row) for _, row in _rows(structure.paragraphs)]
        )
        rows(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (number, *row, count, bytes.fromhex(hash))
                for (_, row), count, hash in zip(_rows(structure.chunks), tokens, hashes, strict=True)
            ],
        )

    def _put_links(self, number: int, document: Document) -> None:
        self.db.executemany(
            "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)",
            [
                (number, i, link.start, link.end, link.target, title_name(link.target))
                for i, link in enumerate(document.links)
            ],
        )
        self.db.executemany(
            "INSERT INTO infoboxes VALUES (?, ?, ?, ?, ?, ?)",
            [(number, i, box.start, box.end, box.kind, _json(box.fields)) for i, box in enumerate(document.infoboxes)],
        )

    def remove(self, numbers: Iterable[int]) -> None:
        with store_errors(self.path):
            for number in numbers:
                hashes = self.db.execute("SELECT hash FROM chunks WHERE document = ?", (number,))
                self.released.update(row[0].hex() for row in hashes)
                note_gone(self.db, number)
                self.db.execute("DELETE FROM documents WHERE number = ?", (number,))
                for table in PARTS:
                    self.db.execute(f"DELETE FROM {table} WHERE document = ?", (number,))  # noqa: S608

    def has(self, number: int) -> bool:
        """Whether there is a document of this number."""
        return self.db.execute("SELECT 1 FROM documents WHERE number = ?", (number,)).fetchone() is not None

    def hashes_of_source(self, source: str) -> dict[int, str]:
        """The documents that a file gave, with their content hashes."""
        rows = self.db.execute("SELECT number, hash FROM documents WHERE source = ?", (source,))
        return {number: hash.hex() for number, hash in rows}

    # Chunks in their one order, which the derived layers share

    def used_hashes(self, hashes: Iterable[str]) -> set[str]:
        """Those of the hashes that are of a chunk."""
        query = "SELECT 1 FROM chunks WHERE hash = ?"
        return {hash for hash in hashes if self.db.execute(query, (bytes.fromhex(hash),)).fetchone() is not None}

    def chunk_rows(self, documents: Iterable[int] | None = None) -> Iterator[tuple[str, str]]:
        """Id and hash of every chunk (of these documents), by document number and place."""
        query = "SELECT document, path, hash FROM chunks"
        rows: Iterable[tuple[int, str, bytes]] = (
            self.db.execute(f"{query} ORDER BY document, ordinal")
            if documents is None
            else chain.from_iterable(
                self.db.execute(f"{query} WHERE document = ? ORDER BY ordinal", (number,)) for number in documents
            )
        )
        return ((f"article:{number}:{path}", hash.hex()) for number, path, hash in rows)

    def count(self, table: str) -> int:
        """How many rows there are of a table, or sentences of all documents."""
        if table == "sentences":
            return count_sentences(self.db)
        if table not in ("documents", "sources", *PARTS):
            raise ValueError(table)
        return int(self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def generation_of(db: sqlite3.Connection) -> int:
    """The generation that a connection reads."""
    return int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])


def finish(folder: Path) -> None:
    """Settle what a run had to leave unsettled, if nobody is writing now and this folder can be written to."""
    path = folder / FILE
    known = Seal(path).read()
    sealed = known is not None and not known.broken_by and not log_size(path)
    if sealed or not (folder / MARK).is_file() or not os.access(folder, os.W_OK):
        return
    try:
        store = Store(folder, connect(path, write=True, wait=0.0))
    except StoreDamaged:
        raise
    except StoreError:
        return
    with closing(store):
        try:
            store.begin()
        except StoreDamaged:
            raise
        except StoreError:
            return  # somebody is writing, and will settle it
        if not store._is_sealed():
            store._check_integrity()
        store.rollback()
        store.settle(pack=False)  # whoever waits has come to read


def derived_folder(folder: Path, generation: int) -> Path:
    """Where the derived files of a generation are, in the folder of an index."""
    return folder / "derived" / str(generation)


def number_of(id: str) -> int:
    """The document's number in an id of it or of any of its parts."""
    return int(id.split(":", 2)[1])


def path_of(id: str) -> str:
    """What follows the document in the id of a part: `s8:p2:c0`."""
    return id.split(":", 2)[2]


def document_hash(document: Document) -> str:
    """Changes when anything that is stored of a document changes."""
    return content_hash(
        document.title,
        document.text,
        document.format,
        _json(dict(document.metadata)),
        document.redirect or "",
        repr(document.headings),
        repr(document.links),
        repr(document.infoboxes),
        packed(document.places),
    )


def _rows(parts: Iterable[Part]) -> Iterator[tuple[Part, tuple[int, str, int, int]]]:
    return ((part, (i, path_of(part.id), part.start, part.end)) for i, part in enumerate(parts))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
