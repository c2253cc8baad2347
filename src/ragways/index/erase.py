"""Erasing what was removed down to the bytes, and showing that it is gone.

A removal alone makes a document unreachable. To erase it, the work cache is cleared of all that no layer needs any
more, the lexicon and every view are made anew, and both databases are written anew without free pages. Then strings of
the documents, noted before they went, are looked for in every file of the index, and their words in the dictionary of
the words layer, whose files are compressed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragways.index.recipe import ErasedDocument, Erasure
from ragways.index.views import Views, clear_others
from ragways.layers.layer import Layer, Use
from ragways.store.sentences import sentences_of
from ragways.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragways.layers.words import StoredWords

MOST_DOCUMENTS = 1000
"""Documents that are looked for; of more, their number is reported."""
STRINGS = 8
"""Strings of each."""
SHORTEST, LONGEST = 24, 80
"""Bytes and characters of a string: as many as nobody else writes by chance, and few enough to lie on one page of a
database.
"""
_BLOCK = 2 << 20
_GRAM = 8
"""Bytes that a string has at least, where a document has none of `SHORTEST`."""
_TABLE_BITS = 20
SHARED = "what was looked for stands in documents that stay"
TOO_SHORT = "it has no text that could be looked for"


@dataclass(frozen=True, slots=True)
class LeavingDocument:
    """A document that may be removed or replaced, as it was before. One of too many has no `strings` to look for."""

    key: str
    hash: bytes
    strings: tuple[bytes, ...] | None = None
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, store: Store, number: int, *, searched: bool = True) -> LeavingDocument | None:
        """Where there is such a document; with its strings and words, if it is to be `searched` for."""
        row = store.db.execute("SELECT key, hash, text FROM documents WHERE number = ?", (number,)).fetchone()
        if row is None or not searched:
            return None if row is None else cls(*row[:2])
        from ragways.layers.words import all_terms

        key, hash, text = row
        return cls(key, hash, tuple(strings_of(store.db, number)), frozenset(all_terms(text)))


class RemovedDocuments:
    """Those of some documents that were removed or replaced since they were noted, by number; and what is looked for of
    them: strings that no document has which stays.
    """

    def __init__(self, store: Store, before: Mapping[int, LeavingDocument]) -> None:
        now = {number: store.db.execute("SELECT hash FROM documents WHERE number = ?", (number,)) for number in before}
        stays = {number: row[0] for number, rows in now.items() if (row := rows.fetchone()) is not None}
        self.by_number = {number: each for number, each in before.items() if stays.get(number) != each.hash}
        self.wanted = SearchedStrings(string for each in self.by_number.values() for string in each.strings or ())
        shared = set[bytes]()
        for texts in store.db.execute("SELECT key, title, text FROM documents") if self.wanted.strings else ():
            shared |= self.wanted.within("\0".join(texts).encode("utf-8", "replace"))
        self.wanted = SearchedStrings(self.wanted.strings - shared)
        self.ids = frozenset(f"article:{number}" for number in self.by_number)
        self.places: dict[bytes, list[str]] = {}

    def search(self, path: Path, name: str) -> int:
        """Note which strings stand in a file, under this name; how many bytes were searched."""
        found, size = self.wanted.in_file(path)
        for string in found:
            self.places.setdefault(string, []).append(name)
        return size

    def report(self) -> Erasure:
        """What became of each, by the files that were searched."""
        looked_for = [each for each in self.by_number.values() if each.strings is not None]
        return Erasure([self._found(each) for each in looked_for], len(self.by_number) - len(looked_for))

    def _found(self, one: LeavingDocument) -> ErasedDocument:
        own = [string for string in one.strings or () if string in self.wanted.strings]
        if not own:
            return ErasedDocument(one.key, note=SHARED if one.strings else TOO_SHORT)
        found = sorted({place for string in own for place in self.places.get(string, ())})
        return ErasedDocument(one.key, len(own), found, erased=not found)


class Erasing:
    """The documents that a run removes or changes, noted before they go."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._leaving: dict[int, LeavingDocument] = {}

    def note(self, number: int) -> None:
        """Note a document that is about to be removed or replaced."""
        if number not in self._leaving:
            document = LeavingDocument.of(self._store, number, searched=len(self._leaving) < MOST_DOCUMENTS)
            if document is not None:
                self._leaving[number] = document

    def finish(self, layers: Sequence[Layer], views: Views, use: Use) -> Erasure:
        """Leave no byte of what was removed, and look for it. The views are made anew already."""
        used: dict[str, set[str]] = {}
        for layer in layers:
            for kind, hashes in layer.used(self._store, views.of(layer.name), use).items():
                used.setdefault(kind, set()).update(hashes)
        use.cache.keep_only(used)
        in_use = not (use.cache.vacuum() & self._store.finish(vacuum=True) & clear_others(views))
        gone = RemovedDocuments(self._store, self._leaving)
        files = sorted(path for path in self._store.folder.rglob("*") if path.is_file())
        size = sum(gone.search(path, path.relative_to(self._store.folder).as_posix()) for path in files)
        erasure = replace(gone.report(), files=len(files), bytes=size, in_use=in_use)
        for layer in layers:
            if layer.name == "words":
                self._search_words(layer, views.of(layer.name), gone, erasure)
        return erasure

    def _search_words(self, layer: Layer, view: Path, gone: RemovedDocuments, erasure: Erasure) -> None:
        """Look up words that no document has any more: a search of compressed files for their bytes finds nothing."""
        words: StoredWords = layer.open(view, self._store)  # type: ignore[assignment]
        wanted = frozenset[str]().union(*(each.words for each in gone.by_number.values()))
        counts = words.frequencies(sorted(wanted))
        erasure.words = len(counts)
        erasure.words_left = sum(1 for word, count in counts.items() if count and not len(words.holding([word])))


# Strings


def strings_of(db: sqlite3.Connection, number: int) -> list[bytes]:
    """Some sentences of a document, from all over it; of one that has only short ones, the longest of its lines. Its
    key stays where it is reported, so what is part of that is no string of it.
    """
    spans = sentences_of(db, number)
    key, text = db.execute("SELECT key, text FROM documents WHERE number = ?", (number,)).fetchone()
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
    for sign in '"\\\n\r\t':
        text = text.replace(sign, "\0")
    return max(text.split("\0"), key=len, default="")[:LONGEST].strip().encode("utf-8", "replace")


class SearchedStrings:
    """Thousands of strings, looked for in one pass: by a hash of the first bytes of each, then byte by byte. Each is
    also looked for as JSON writes it, where that has escapes for its letters.
    """

    def __init__(self, strings: Iterable[bytes]) -> None:
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

    def in_file(self, path: Path) -> tuple[set[bytes], int]:
        """Those that stand in a file, and how many bytes were searched."""
        found, size = set[bytes](), 0
        for block in _blocks(path, self.longest):
            found |= self.within(block)
            size += len(block)
        return found, size


def _blocks(path: Path, longest: int) -> Iterator[bytes]:
    """A file in blocks that overlap, so that no string of so many bytes is cut in two."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return  # a log of SQLite's comes and goes
    with closing(file):
        before = b""
        while block := file.read(_BLOCK):
            block = before + block
            yield block
            before = block[max(0, len(block) - longest) :]


def _escaped(string: bytes) -> bytes:
    return json.dumps(string.decode("utf-8", "replace"))[1:-1].encode()


def _hashes(block: bytes) -> NDArray[np.uint64]:
    """A small number for the bytes that begin at each place."""
    count = len(block) - _GRAM + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    grams = np.empty(count, dtype="<u8")
    for shift in range(min(_GRAM, count)):
        part: NDArray[np.uint64] = np.frombuffer(block, dtype="<u8", count=(len(block) - shift) // _GRAM, offset=shift)
        grams[shift::_GRAM] = part
    return (grams * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _TABLE_BITS)
