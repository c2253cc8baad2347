"""Erasing what was removed from all that a server keeps, and showing that it is gone.

Strings of documents are taken from the index before a run. After it, those that other documents have too say nothing
and are dropped. Then, in this order: conversations, jobs and feedback that rest on the documents or quote them are
deleted; the server's own database is written anew without them, and its log emptied; and the strings are looked for in
every file of the collection (index, work cache, logs, questions, runs, feedback), and in the server's database and
audit log.

What is looked for is bytes. Files of the index are not compressed, but text that a layer cuts up (words, numbers) is
not found by its sentences: those files are made anew without the document, and the old ones deleted.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.core.errors import RagwaysError, StoreBusy, StoreFailed, WrongVersion
from ragways.index.sentences import sentences_of
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache
from ragways.service import feedback
from ragways.service.conversations import Conversations
from ragways.service.job_table import TABLE, forget_jobs
from ragways.service.state import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DOCUMENTS = 1000
"""Documents that are looked for; how many more there were is told."""
STRINGS = 8
"""Strings of each."""
SHORTEST, LONGEST = 24, 80
"""Bytes and characters of a string: as many as nobody else writes by chance, and few enough to lie on one page of a
database.
"""
LARGEST = 4 << 30
"""Bytes that are searched; how many files were not looked into for that is told."""
_BLOCK = 2 << 20
_GRAM = 8
"""Bytes that a string has at least, where a document has none of `SHORTEST`."""
_TABLE_BITS = 20
_IN_USE = (StoreBusy, StoreFailed, sqlite3.OperationalError)
SHARED = "what was looked for stands in documents that stay"
TOO_SHORT = "it has no text that could be looked for"


@dataclass(slots=True)
class ErasedDocument:
    """A document that was removed or changed. `found` are files that still have a string of it, below the collection's
    folder or, of the server's own, by their name; `looked_for` counts the strings. `erased` is None where there was
    none that could be looked for; `note` says why.
    """

    key: str
    looked_for: int = 0
    found: list[str] = field(default_factory=list)
    note: str = ""
    erased: bool | None = None


@dataclass(slots=True)
class ErasureReport:
    """What a search for removed documents found. `files` and `bytes` are what was searched of the collection's folder;
    `not_looked_at` are documents, and `not_searched` files, that were too many. `in_use`: others used the server's
    database, so that what was deleted from it may be left in its file.
    """

    documents: list[ErasedDocument]
    not_looked_at: int
    files: int
    bytes: int
    not_searched: int = 0
    in_use: bool = False

    @property
    def erased(self) -> bool | None:
        """Whether nothing of what was looked for is left anywhere, and all of it was looked for. None where nothing is
        left, but some documents had nothing that could be looked for.
        """
        if self.not_looked_at or self.not_searched or self.in_use or any(each.found for each in self.documents):
            return False
        return True if all(each.erased for each in self.documents) else None

    @property
    def in_index(self) -> bool:
        """Whether something is left in the index itself."""
        return any(place.startswith("index/") for document in self.documents for place in document.found)


@dataclass(frozen=True, slots=True)
class Leaving:
    """A document that a run may remove: its key, the hash of what it is, and strings of it; None of those too many."""

    key: str
    hash: bytes
    strings: tuple[bytes, ...] | None


def leaving(index: Path, files: Path) -> dict[int, Leaving]:
    """Documents whose file is gone or has changed, by number, each with strings of its text. An index of the version
    before is brought up to date for it, as the run that removes them would.
    """
    found: dict[int, Leaving] = {}
    try:
        try:
            store = Store.open(index)
        except WrongVersion:
            Store.create_or_open(index).close()
            store = Store.open(index)
    except RagwaysError:
        return found
    with closing(store):
        for key, size, modified in store.db.execute("SELECT key, size, modified FROM sources").fetchall():
            if _unchanged(files.parent / key, size, modified):
                continue
            rows = store.db.execute("SELECT number, key, hash FROM documents WHERE source = ?", (key,)).fetchall()
            for number, name, hash in rows:
                strings = tuple(_strings(store, number)) if len(found) < DOCUMENTS else None
                found[number] = Leaving(name, hash, strings)
    return found


def _unchanged(path: Path, size: int, modified: int) -> bool:
    try:
        stat = os.lstat(path)
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns) == (size, modified)


def _strings(store: Store, number: int) -> list[bytes]:
    """Some sentences of a document, from all over it; of one that has only short ones, the longest of its lines. Its
    name stays where it is reported, so what is part of that is no string of it.
    """
    spans = sentences_of(store.db, number)
    key, text = store.db.execute("SELECT key, text FROM documents WHERE number = ?", (number,)).fetchone()
    strings: list[bytes] = []
    step = max(1, len(spans) // STRINGS)
    for start, end in [*spans[::step], *spans[1::step]]:
        piece = _longest(text[start:end])
        if len(piece) >= SHORTEST and len(strings) < STRINGS:
            strings.append(piece)
    strings = strings or [_longest(text)]
    return [string for string in strings if len(string) >= _GRAM and string not in key.encode()]


def _longest(text: str) -> bytes:
    """The longest stretch that JSON writes as it is, but for letters: it has its own way with quotation marks and line
    ends.
    """
    return max(_plain_stretches(text), key=len, default="")[:LONGEST].strip().encode("utf-8", "replace")


def _plain_stretches(text: str) -> list[str]:
    for sign in '"\\\n\r\t':
        text = text.replace(sign, "\0")
    return text.split("\0")


class _Removal:
    """Documents that a run has removed, and what is looked for of them: strings that no document has that stays."""

    def __init__(self, index: Path, before: dict[int, Leaving]) -> None:
        with closing(WorkCache(index)) as work_cache:
            work_cache.settle()
        with closing(Store.open(index)) as store:  # which also brings into the file what a run had to leave in its log
            now = dict(store.db.execute("SELECT number, hash FROM documents").fetchall())
            self.gone = {number: one for number, one in before.items() if now.get(number) != one.hash}
            wanted = Wanted({string for one in self.gone.values() for string in one.strings or ()})
            shared = set[bytes]()
            for texts in store.db.execute("SELECT key, title, text FROM documents") if self.gone else ():
                shared |= wanted.within("\0".join(texts).encode("utf-8", "replace"))
        self.ids = frozenset(f"article:{number}" for number in self.gone)
        self.wanted = Wanted({string for one in self.gone.values() for string in one.strings or ()} - shared)

    def quoted(self, text: str) -> bool:
        """Whether a text has one of the strings."""
        return bool(self.wanted.within(text.encode("utf-8", "replace")))

    def rests(self, line: bytes) -> bool:
        """Whether a line of feedback quotes one of the documents, or names it among its evidence."""
        if self.wanted.within(line):
            return True
        try:
            evidence = json.loads(line)["provenance"]["evidence"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        return any(":".join(str(id).split(":")[:2]) in self.ids for id in evidence)

    def documents(self, places: dict[bytes, list[str]]) -> list[ErasedDocument]:
        """What became of each that was looked for, by the files that have its strings."""
        return [_found(one, one.strings, self.wanted, places) for one in self.gone.values() if one.strings is not None]


def _found(one: Leaving, strings: tuple[bytes, ...], wanted: Wanted, places: dict[bytes, list[str]]) -> ErasedDocument:
    own = [string for string in strings if string in wanted.strings]
    if not own:
        return ErasedDocument(one.key, note=SHARED if strings else TOO_SHORT)
    found = sorted({place for string in own for place in places.get(string, ())})
    return ErasedDocument(one.key, len(own), found, erased=not found)


def erase(folder: Path, index: Path, before: dict[int, Leaving], state: Path) -> ErasureReport | None:
    """Clean what rests on documents that a run removed, then look for them: in every file below the collection's folder
    but those that were uploaded, and in what the server keeps beside it. None where nothing was removed.

    `folder` is named by the id of the collection; `state` is the database of the server.
    """
    removal = _Removal(index, before)
    if not removal.gone:
        return None
    feedback.take_out(folder / "feedback.jsonl", removal.rests)
    clean = _clean(state, folder.name, removal)
    places: dict[bytes, list[str]] = {}
    files, size, too_many = 0, 0, 0
    for path in _searched(folder):
        if size > LARGEST:
            too_many += 1
            continue
        size += _search(path, path.relative_to(folder).as_posix(), removal.wanted, places)
        files += 1
    clean = _search_state(state, folder.name, removal.wanted, places) and clean
    documents = removal.documents(places)
    return ErasureReport(documents, len(removal.gone) - len(documents), files, size, too_many, not clean)


def _clean(state: Path, collection: str, removal: _Removal) -> bool:
    """Delete what rests on the documents or quotes them, and have no byte of it left in the database. False where it is
    in use.
    """
    try:
        with closing(State(state)) as opened:
            Conversations(opened).forget_documents(collection, removal.ids, removal.quoted)
            opened.tables(TABLE)
            forget_jobs(opened, collection, removal.quoted)
            return opened.compact()
    except _IN_USE:
        return False


def _search(path: Path, name: str, wanted: Wanted, places: dict[bytes, list[str]]) -> int:
    """Note which strings a file has, under this name; how many bytes were searched."""
    found, size = set[bytes](), 0
    for block in _blocks(path, wanted.longest):
        found |= wanted.within(block)
        size += len(block)
    for string in found:
        places.setdefault(string, []).append(name)
    return size


def _search_state(state: Path, collection: str, wanted: Wanted, places: dict[bytes, list[str]]) -> bool:
    """Search the files of the whole server. What others wrote, who may have the same text, is neither counted nor
    shown: whoever removes a document must not learn of it. False where the database is in use.
    """
    found: dict[bytes, list[str]] = {}
    audit = sorted(state.parent.glob("audit*.jsonl"))
    for path in [*audit, *sorted(state.parent.glob(f"{state.name}*"))]:
        _search(path, path.name, wanted, found)
    try:
        others = _of_others(state, audit, collection, Wanted(found)) if found else set()
    except _IN_USE:
        return False
    for string in found.keys() - others:
        places.setdefault(string, []).extend(found[string])
    return True


def _of_others(state: Path, audit: Iterable[Path], collection: str, wanted: Wanted) -> set[bytes]:
    """Those of the strings that stand in a row or line which is not of this collection."""
    seen = set[bytes]()
    with closing(State(state)) as opened:
        db = opened.db
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            of = {"collection": "= :id", "conversation": "IN (SELECT id FROM conversations WHERE collection = :id)"}
            mine = next((f"{column} {owner}" for column, owner in of.items() if column in columns), "FALSE")
            for row in db.execute(f"SELECT * FROM {table} WHERE NOT {mine}", {"id": collection}):  # noqa: S608 - ours
                seen |= wanted.within("\0".join(map(str, row)).encode("utf-8", "replace"))
        row = db.execute("SELECT tenant, name FROM collections WHERE id = ?", (collection,)).fetchone()
    for path in audit:
        for line in path.read_bytes().splitlines():
            if (strings := wanted.within(line)) and _owner(line) != row:
                seen |= strings
    return seen


def _owner(line: bytes) -> tuple[object, object] | None:
    """Tenant and collection of a line of the audit log."""
    try:
        row = json.loads(line)
        return row["tenant"], row["collection"]
    except (ValueError, KeyError, TypeError):
        return None


def _searched(folder: Path) -> Iterator[Path]:
    """Every file that is no upload: those are what was asked to stay."""
    for parent, folders, names in os.walk(folder, followlinks=False):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name not in ("files", "incoming")]
        for name in sorted(names):
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _blocks(path: Path, longest: int) -> Iterator[bytes]:
    """A file in blocks that overlap, so that no string of so many bytes is cut in two."""
    try:
        with path.open("rb") as file:
            before = b""
            while block := file.read(_BLOCK):
                block = before + block
                yield block
                before = block[max(0, len(block) - longest) :]
    except FileNotFoundError:
        return  # a log of SQLite's comes and goes


class Wanted:
    """Thousands of strings, looked for in one pass: by a hash of the first bytes of each, then byte by byte. Each is
    also looked for as JSON writes it, where that has escapes for its letters.
    """

    def __init__(self, strings: Iterable[bytes]) -> None:
        import numpy as np

        self.strings = frozenset(strings)
        self.longest = 0
        self._by_start: dict[bytes, list[tuple[bytes, bytes]]] = {}
        for string in self.strings:
            for form in {string, _escaped(string)}:
                self._by_start.setdefault(form[:_GRAM], []).append((form, string))
                self.longest = max(self.longest, len(form))
        self._maybe = np.zeros(1 << _TABLE_BITS, dtype=bool)
        for start in self._by_start:
            self._maybe[_hashes(start)] = True

    def within(self, block: bytes) -> set[bytes]:
        """Those of the strings that stand in these bytes."""
        found = set[bytes]()
        for place in self._maybe[_hashes(block)].nonzero()[0] if self._by_start else ():
            for form, string in self._by_start.get(block[place : place + _GRAM], ()):
                if block.startswith(form, int(place)):
                    found.add(string)
        return found


def _escaped(string: bytes) -> bytes:
    return json.dumps(string.decode("utf-8", "replace"))[1:-1].encode()


def _hashes(block: bytes) -> NDArray[np.uint64]:
    """A small number for the bytes that begin at each place."""
    import numpy as np

    count = len(block) - _GRAM + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    grams = np.empty(count, dtype="<u8")
    for shift in range(min(_GRAM, count)):
        part: NDArray[np.uint64] = np.frombuffer(block, dtype="<u8", count=(len(block) - shift) // _GRAM, offset=shift)
        grams[shift::_GRAM] = part
    return (grams * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _TABLE_BITS)
