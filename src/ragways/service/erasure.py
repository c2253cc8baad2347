"""Showing that what was removed is gone: strings of removed documents are looked for in every file of a collection.

They are taken from the index before a run. After it, those that other documents have too say nothing and are dropped;
the rest must stand nowhere: not in the index, its work cache, their logs, nor in questions, runs and feedback.

What is looked for is bytes. Files of the index are not compressed, but text that a layer cuts up (words, numbers) is
not found by its sentences: those files are made anew without the document, and the old ones deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.core.errors import RagwaysError, WrongVersion
from ragways.index.sentences import sentences_of
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DOCUMENTS = 1000
"""Documents that are looked for; how many more there were is told."""
STRINGS = 8
"""Strings of each."""
SHORTEST, LONGEST = 24, 80
"""Bytes of a string: as many as nobody else writes by chance, and few enough to lie on one page of a database."""
LARGEST = 4 << 30
"""Bytes that are searched; how many files were not looked into for that is told."""
_BLOCK = 2 << 20
_GRAM = 8
_TABLE_BITS = 20


@dataclass(slots=True)
class ErasedDocument:
    """A document that was removed or changed. `found` are files, below the collection's folder, that still have a
    string of it; `looked_for` counts the strings. `note` says why none was looked for.
    """

    key: str
    looked_for: int = 0
    found: list[str] = field(default_factory=list)
    note: str = ""


@dataclass(slots=True)
class ErasureReport:
    """What a search for removed documents found. `files` and `bytes` are what was searched; `not_looked_at` are
    documents, and `not_searched` files, that were too many.
    """

    documents: list[ErasedDocument]
    not_looked_at: int
    files: int
    bytes: int
    not_searched: int = 0

    @property
    def erased(self) -> bool:
        """Whether nothing of what was looked for is left anywhere, and all of it was looked for."""
        whole = not (self.not_looked_at or self.not_searched)
        return whole and not any(document.found for document in self.documents)

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


def _strings(store: Store, number: int) -> Iterator[bytes]:
    """Some sentences of a document, from all over it."""
    spans = sentences_of(store.db, number)
    (text,) = store.db.execute("SELECT text FROM documents WHERE number = ?", (number,)).fetchone()
    given = 0
    step = max(1, len(spans) // STRINGS)
    for start, end in [*spans[::step], *spans[1::step]]:
        # Quotation marks and line ends are written otherwise in JSON, so a string stops before them.
        piece = max(_plain_stretches(text[start:end]), key=len, default="")[:LONGEST].encode("utf-8", "replace")
        if len(piece) >= SHORTEST:
            yield piece
            given += 1
        if given == STRINGS:
            return


def _plain_stretches(text: str) -> list[str]:
    for sign in '"\\\n\r\t':
        text = text.replace(sign, "\0")
    return text.split("\0")


def search(folder: Path, index: Path, before: dict[int, Leaving]) -> ErasureReport | None:
    """Look for what a run removed, in every file below the collection's folder but those that were uploaded. None where
    nothing was removed.
    """
    with closing(WorkCache(index)) as work_cache:
        work_cache.settle()
    with closing(Store.open(index)) as store:  # which also brings into the file what a run had to leave in its log
        now = dict(store.db.execute("SELECT number, hash FROM documents").fetchall())
        gone = [one for number, one in before.items() if now.get(number) != one.hash]
        if not gone:
            return None
        wanted = _Wanted({string for one in gone for string in one.strings or ()})
        shared = set[bytes]()
        for (text,) in store.db.execute("SELECT text FROM documents"):
            shared |= wanted.within(text.encode("utf-8", "replace"))
    places: dict[bytes, list[str]] = {}
    files, size, too_many = 0, 0, 0
    for path in _searched(folder):
        if size > LARGEST:
            too_many += 1
            continue
        found = set[bytes]()
        for block in _blocks(path):
            found |= wanted.within(block)
            size += len(block)
        for string in found - shared:
            places.setdefault(string, []).append(path.relative_to(folder).as_posix())
        files += 1
    told = [_told(one, one.strings, shared, places) for one in gone if one.strings is not None]
    return ErasureReport(told, len(gone) - len(told), files, size, too_many)


def _told(
    one: Leaving, strings: tuple[bytes, ...], shared: set[bytes], places: dict[bytes, list[str]]
) -> ErasedDocument:
    own = [string for string in strings if string not in shared]
    note = "" if own else ("all of it stands in other documents" if strings else "it has no sentence to look for")
    return ErasedDocument(
        one.key, len(own), sorted({place for string in own for place in places.get(string, ())}), note
    )


def _searched(folder: Path) -> Iterator[Path]:
    """Every file that is no upload: those are what was asked to stay."""
    for parent, folders, names in os.walk(folder, followlinks=False):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name not in ("files", "incoming")]
        for name in sorted(names):
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _blocks(path: Path) -> Iterator[bytes]:
    """A file in blocks that overlap, so that no string is cut in two."""
    try:
        with path.open("rb") as file:
            before = b""
            while block := file.read(_BLOCK):
                yield before + block
                before = block[-LONGEST:]
    except FileNotFoundError:
        return  # a log of SQLite's comes and goes


class _Wanted:
    """Thousands of strings, looked for in one pass: by a hash of the first bytes of each, then byte by byte."""

    def __init__(self, strings: Iterable[bytes]) -> None:
        import numpy as np

        self._by_start: dict[bytes, list[bytes]] = {}
        for string in strings:
            self._by_start.setdefault(string[:_GRAM], []).append(string)
        self._maybe = np.zeros(1 << _TABLE_BITS, dtype=bool)
        for start in self._by_start:
            self._maybe[_hashes(start)] = True

    def within(self, block: bytes) -> set[bytes]:
        """Those of the strings that stand in these bytes."""
        found = set[bytes]()
        for place in self._maybe[_hashes(block)].nonzero()[0] if self._by_start else ():
            for string in self._by_start.get(block[place : place + _GRAM], ()):
                if block.startswith(string, int(place)):
                    found.add(string)
        return found


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
