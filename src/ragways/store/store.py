"""The rows of an index in `index.sqlite`: one writer, and many readers, each on a snapshot.

A batch of documents is one transaction: a document is there whole or not at all, questions are answered while a long
run goes on, and a run that is killed keeps its batches. Each batch makes a new generation.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from ragways.core.errors import NoIndex, StoreBusy, StoreDamaged, WrongVersion
from ragways.core.types import Document, Part, Structure, content_hash, title_name
from ragways.corpus.markup import packed_markup
from ragways.store.database import REBUILD, connect, delete_database, empty_log, store_errors
from ragways.store.files import IndexedFiles
from ragways.store.origin import packed
from ragways.store.place import LOCK, check_parts, claim
from ragways.store.sentences import count_sentences, packed_sentences, unpacked_sentences
from ragways.store.source import Source, SourcePassage, heading_paths, searched_text
from ragways.store.titles import letters

FILE = "index.sqlite"
VERSION = "12"
"""The format of rows and views. An index of another format is built anew."""
PARTS = ("sections", "paragraphs", "chunks", "links", "infoboxes")
FACTS = ("mentions", "relations", "other_names", "descriptions", "themes")
"""Tables whose rows layers extract from a document."""
ADDED, REMOVED = "+", "-"

Row = tuple[Any, ...]
Facts = Mapping[str, Sequence[Row]]
"""What a layer extracted from one document: rows by their table, without the document's number, which comes first."""


@dataclass(frozen=True, slots=True)
class Change:
    """Documents that came and went between two generations, in order; one that was edited did both."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class Store:
    """Rows in and rows out; what they mean is decided elsewhere."""

    def __init__(self, folder: Path, db: sqlite3.Connection, lock: int | None = None) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.db = db
        self.files = IndexedFiles(db)
        self._lock = lock
        self._file: os.stat_result | None = None

    # Opening

    @classmethod
    def write(cls, folder: Path) -> Store:
        """Open for writing, as the only writer. An empty or missing folder becomes a new index."""
        claim(folder)
        lock = _lock(folder)
        try:
            store = cls(folder, connect(folder / FILE, write=True), lock)
        except BaseException:
            os.close(lock)
            raise
        try:
            with store_errors(store.path):
                if store._has_tables():
                    store._check_version()
                else:
                    store._create()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def discard(cls, folder: Path) -> None:
        """Delete the rows of an index, as its only writer: those that this version cannot read, or that are damaged."""
        lock = _lock(folder)
        try:
            delete_database(folder / FILE)
        finally:
            os.close(lock)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Open for reading, at the last whole batch; what is committed later stays out of sight."""
        if not (folder / FILE).is_file():
            raise NoIndex(f"there is no index in {folder}", f"build one with: ragways index PATH --index {folder}")
        check_parts(folder)
        store = cls(folder, connect(folder / FILE, write=False))
        try:
            with store_errors(store.path):
                store.db.execute("BEGIN")
                if not store._has_tables():
                    raise NoIndex(
                        f"the index in {folder} is not whole yet",
                        "wait for its build to end; if none is running, run ragways index again",
                    )
                store._check_version()
                store._file = os.stat(store.path)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def scratch(cls, folder: Path) -> Store:
        """An empty store that is thrown away: SQLite keeps it in memory, and on disk what is too large."""
        store = cls(folder, sqlite3.connect("", isolation_level=None))
        store._create()
        return store

    def _has_tables(self) -> bool:
        return bool(self.db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone())

    def _create(self) -> None:
        schema = files("ragways.store").joinpath("schema.sql").read_text(encoding="utf-8")
        self.db.executescript(f"BEGIN;\n{schema}")
        self.set_meta({"version": VERSION, "generation": "0"})
        self.db.execute("COMMIT")

    def _check_version(self) -> None:
        try:
            row = self.db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        except sqlite3.OperationalError as error:
            raise StoreDamaged(f"{self.path} has no table of settings ({error})", REBUILD) from error
        if row is None or row[0] != VERSION:
            raise WrongVersion(f"{self.folder} was built by another version of ragways", REBUILD)

    def resume(self) -> bool:
        """Begin to read again after `pause`: False where another file has taken the place of this one."""
        with store_errors(self.path):
            if self._file is None or not self.path.is_file() or not os.path.samestat(self._file, os.stat(self.path)):
                return False
            if not self.db.in_transaction:
                self.db.execute("BEGIN")
            return True

    def pause(self) -> None:
        """End the snapshot, so that a writer can shorten its log, until the next `resume`."""
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def close(self) -> None:
        self.pause()
        self.db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # Settings

    def meta(self) -> dict[str, str]:
        return dict(self.db.execute("SELECT key, value FROM meta").fetchall())

    def set_meta(self, values: Mapping[str, str]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    @property
    def generation(self) -> int:
        """The number of the last batch."""
        return int(self.db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])

    # Writing

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """One transaction: all that is done with the batch, or nothing. What changes documents makes a generation."""
        with store_errors(self.path):
            self.db.execute("BEGIN IMMEDIATE")
            try:
                batch = Batch(self.db, self.generation + 1)
                yield batch
                if batch.changed:
                    self.set_meta({"generation": str(batch.generation)})
                self.db.execute("COMMIT")
            finally:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")

    def finish(self, *, vacuum: bool = False) -> bool:
        """Bring what was committed into the file, so that it can be copied or read where nothing may be written;
        False where a reader still needs the log. `vacuum`: leave no byte of what was deleted.
        """
        with store_errors(self.path):
            if vacuum:
                self.db.execute("INSERT INTO titles (titles) VALUES ('rebuild')")
                self.db.execute("VACUUM")
            return empty_log(self.db)

    # Changes

    def changes(self, since: int, layer: str) -> Change:
        """What a layer's view of generation `since` lacks: documents that came and went, net."""
        first: dict[int, str] = {}
        last: dict[int, str] = {}
        query = "SELECT document, kind FROM changes WHERE generation > ? AND layer IN ('', ?) ORDER BY rowid"
        for document, kind in self.db.execute(query, (since, layer)):
            first.setdefault(document, kind)
            last[document] = kind
        return Change(
            tuple(sorted(document for document, kind in last.items() if kind == ADDED)),
            tuple(sorted(document for document, kind in first.items() if kind == REMOVED)),
        )

    def changed_since(self, generation: int) -> frozenset[int]:
        """Documents that came, went or were edited since: a view of that generation does not show them as they are."""
        query = "SELECT DISTINCT document FROM changes WHERE generation > ? AND layer = ''"
        return frozenset(row[0] for row in self.db.execute(query, (generation,)))

    def not_extracted(self, layer: str, made: str) -> list[int]:
        """Documents, in order, of which this layer has no facts, or facts made otherwise."""
        query = (
            "SELECT number FROM documents WHERE NOT EXISTS (SELECT 1 FROM extracted "
            "WHERE layer = ? AND document = number AND made = ?) ORDER BY number"
        )
        return [row[0] for row in self.db.execute(query, (layer, made))]

    # Reading

    def numbers(self) -> list[int]:
        """All documents, in order."""
        return [row[0] for row in self.db.execute("SELECT number FROM documents ORDER BY number")]

    def has(self, number: int) -> bool:
        return self.db.execute("SELECT 1 FROM documents WHERE number = ?", (number,)).fetchone() is not None

    def hashes_of_source(self, source: str) -> dict[int, str]:
        """The documents that a file gave, with their content hashes."""
        rows = self.db.execute("SELECT number, hash FROM documents WHERE source = ?", (source,))
        return {number: hash.hex() for number, hash in rows}

    def sources(self, numbers: Iterable[int] | None = None) -> Iterator[Source]:
        """Documents by number, all or these, one at a time; one that is not there is left out. Raises where a text is
        damaged.
        """
        with_title = self.meta().get("chunk_titles") == "True"
        for number in self.numbers() if numbers is None else numbers:
            if (source := self._source(number, with_title)) is not None:
                yield source

    def _source(self, number: int, with_title: bool) -> Source | None:
        row = self.db.execute(
            "SELECT key, title, redirect, crc, sentences, text FROM documents WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            return None
        key, title, redirect, crc, sentences, text = row
        check_text(self.path, key, text, crc)
        rows = self.db.execute(
            "SELECT path, title, level FROM sections WHERE document = ? ORDER BY ordinal", (number,)
        ).fetchall()
        paths = heading_paths(title, [(section, level) for _, section, level in rows])
        sections = {path: (section, heading) for (path, section, _), heading in zip(rows, paths, strict=True)}
        chunks = self.db.execute(
            "SELECT ordinal, path, start, end FROM chunks WHERE document = ? ORDER BY ordinal", (number,)
        ).fetchall()
        passages = []
        for ordinal, path, start, end in chunks:
            part = text[start:end]
            section, heading = sections[path.split(":", 1)[0]]
            searched = searched_text(title, section, part, with_title=with_title)
            id = f"article:{number}:{path}"
            passages.append(SourcePassage(id, ordinal, start, end, title, part, searched, heading))
        spans = tuple(unpacked_sentences(sentences))
        links, boxes = self.links(number), self.infoboxes(number)
        return Source(number, key, title, text, tuple(passages), spans, links, boxes, redirect or "")

    def links(self, number: int) -> tuple[tuple[int, int, str], ...]:
        """Start, end and target of the links of a document."""
        query = "SELECT start, end, target FROM links WHERE document = ? ORDER BY ordinal"
        return tuple(self.db.execute(query, (number,)).fetchall())

    def infoboxes(self, number: int) -> tuple[tuple[int, int, str, tuple[tuple[str, str], ...]], ...]:
        """Start, end, kind and fields of the infoboxes of a document."""
        query = "SELECT start, end, kind, fields FROM infoboxes WHERE document = ? ORDER BY ordinal"
        return tuple(
            (start, end, kind, tuple((str(name), str(value)) for name, value in json.loads(fields)))
            for start, end, kind, fields in self.db.execute(query, (number,))
        )

    def facts(self, table: str, columns: str, documents: Iterable[int] | None = None) -> Iterator[Row]:
        """Rows of a table of facts (`FACTS`, `chunks` or `documents`): of all documents, in no order, or of these."""
        key = "number" if table == "documents" else "document"
        query = f"SELECT {columns} FROM {table}"  # noqa: S608 - names of our own
        if documents is None:
            yield from self.db.execute(query)
        else:
            for number in documents:
                yield from self.db.execute(f"{query} WHERE {key} = ?", (number,))

    def chunk_rows(self, documents: Iterable[int] | None = None) -> Iterator[tuple[int, int, str, str]]:
        """Document, ordinal, path and hash of every chunk (of these documents), by document and place."""
        query = "SELECT document, ordinal, path, hash FROM chunks"
        rows: Iterable[tuple[int, int, str, bytes]] = (
            self.db.execute(f"{query} ORDER BY document, ordinal")
            if documents is None
            else chain.from_iterable(
                self.db.execute(f"{query} WHERE document = ? ORDER BY ordinal", (number,)) for number in documents
            )
        )
        return ((document, ordinal, path, hash.hex()) for document, ordinal, path, hash in rows)

    def count(self, table: str) -> int:
        """How many rows there are of a table, or sentences of all documents."""
        if table == "sentences":
            return count_sentences(self.db)
        if table not in ("documents", "sources", *PARTS, *FACTS):
            raise ValueError(table)
        return int(self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


class Batch:
    """What is written in one transaction."""

    def __init__(self, db: sqlite3.Connection, generation: int) -> None:
        self._db = db
        self.generation = generation
        self.changed = False

    def put(self, structure: Structure, source: str, tokens: Sequence[int], hashes: Sequence[str]) -> bool:
        """Add a document, or put it in the place of its earlier version; whether there was one. `tokens` and `hashes`
        are those of its chunks.
        """
        document = structure.document
        number = number_of(document.id)
        existed = self.remove(number)
        self._db.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, document.key, source, document.title, title_name(document.title), document.format,
                _json(dict(document.metadata)), document.redirect, document.redirect and title_name(document.redirect),
                bytes.fromhex(document_hash(document)), _checksum(document.text), packed(document.places),
                packed_markup(document.markup),
                packed_sentences((part.start, part.end) for part in structure.sentences), document.text,
            ),
        )  # fmt: skip
        self._db.execute("INSERT INTO titles (rowid, letters) VALUES (?, ?)", (number, letters(document.title)))
        self._put_parts(number, structure, tokens, hashes)
        self._note(number, "", ADDED)
        return existed

    def _put_parts(self, number: int, structure: Structure, tokens: Sequence[int], hashes: Sequence[str]) -> None:
        rows, document = self._db.executemany, structure.document
        sections = [(number, *row, p.title, p.level) for p, row in _rows(structure.sections)]
        rows("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)", sections)
        paragraphs = [(number, *row) for _, row in _rows(structure.paragraphs)]
        rows("INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?)", paragraphs)
        chunks = [
            (number, *row, count, bytes.fromhex(hash))
            for (_, row), count, hash in zip(_rows(structure.chunks), tokens, hashes, strict=True)
        ]
        rows("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", chunks)
        links = [
            (number, i, link.start, link.end, link.target, title_name(link.target))
            for i, link in enumerate(document.links)
        ]
        rows("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)", links)
        boxes = [
            (number, i, box.start, box.end, box.kind, _json(box.fields)) for i, box in enumerate(document.infoboxes)
        ]
        rows("INSERT INTO infoboxes VALUES (?, ?, ?, ?, ?, ?)", boxes)

    def remove(self, number: int) -> bool:
        """Remove a document with everything that was extracted from it; whether it was there."""
        if not self._db.execute("DELETE FROM documents WHERE number = ?", (number,)).rowcount:
            return False
        self._db.execute("DELETE FROM titles WHERE rowid = ?", (number,))
        for table in (*PARTS, *FACTS, "extracted"):
            self._db.execute(f"DELETE FROM {table} WHERE document = ?", (number,))  # noqa: S608 - names of our own
        self._note(number, "", REMOVED)
        return True

    def put_facts(self, layer: str, number: int, facts: Facts, tables: Iterable[str], made: str) -> None:
        """Store what a layer extracted from a document, in place of what it had extracted before. `tables` are those of
        the layer.
        """
        before = self._db.execute(
            "SELECT 1 FROM extracted WHERE layer = ? AND document = ?", (layer, number)
        ).fetchone()
        if before is not None:
            for table in tables:
                self._db.execute(f"DELETE FROM {table} WHERE document = ?", (number,))  # noqa: S608
            self._note(number, layer, REMOVED)
        for table, rows in facts.items():
            if rows:
                marks = ", ".join("?" * (1 + len(rows[0])))
                self._db.executemany(f"INSERT INTO {table} VALUES ({marks})", ((number, *row) for row in rows))  # noqa: S608
        self._db.execute("INSERT OR REPLACE INTO extracted VALUES (?, ?, ?)", (layer, number, made))
        self._note(number, layer, ADDED)

    def _note(self, number: int, layer: str, kind: str) -> None:
        self.changed = True
        self._db.execute("INSERT INTO changes VALUES (?, ?, ?, ?)", (self.generation, number, layer, kind))

    def forget_changes(self, before: int) -> None:
        """Forget changes that every view has."""
        self._db.execute("DELETE FROM changes WHERE generation <= ?", (before,))


def _lock(folder: Path) -> int:
    """The lock of the one writer; the system frees a dead one's."""
    with store_errors(folder / LOCK):
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise StoreBusy(f"another process is writing to {folder}", "wait for it to end, then run again") from error
    return lock


def check_text(path: Path, key: str, text: str, crc: int) -> None:
    """Raise where the text of a document is not the one that was stored."""
    if _checksum(text) != crc:
        raise StoreDamaged(f"the text of {key} in {path} is damaged", REBUILD)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def number_of(id: str) -> int:
    """The document's number in an id of it or of any of its parts."""
    return int(id.split(":", 2)[1])


def path_of(id: str) -> str:
    """What follows the document in the id of a part: `s8:p2:c0`."""
    return id.split(":", 2)[2]


_PLACE_BITS = 21


def place_of(path: str) -> int:
    """The path of a chunk as a number, for arrays: chunks of a document have the order of their numbers."""
    section, paragraph, chunk = (int(part[1:]) for part in path.split(":"))
    if max(section, paragraph, chunk) >> _PLACE_BITS:
        raise ValueError(path)
    return section << 2 * _PLACE_BITS | paragraph << _PLACE_BITS | chunk


def chunk_id(document: int, place: int) -> str:
    """The id of the chunk at a place (`place_of`) of a document."""
    part = (1 << _PLACE_BITS) - 1
    return f"article:{document}:s{place >> 2 * _PLACE_BITS}:p{place >> _PLACE_BITS & part}:c{place & part}"


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
        packed_markup(document.markup),
    )


def _rows(parts: Iterable[Part]) -> Iterator[tuple[Part, tuple[int, str, int, int]]]:
    return ((part, (i, path_of(part.id), part.start, part.end)) for i, part in enumerate(parts))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
