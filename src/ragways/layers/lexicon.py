"""The lexicon of an index: what a document's rules may know of the rest of the corpus, as it was at an epoch.

It is made of all documents into a file of its own, and stands still until the corpus has doubled or halved. It depends
on the documents alone and not on their order, so the same documents give the same epoch. It can be deleted at any time.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from itertools import islice
from pathlib import Path

from ragways.core.runtime import ProgressCallback, reported, silent
from ragways.core.types import title_name
from ragways.layers.graph.extract import DocumentNames, rule_facts
from ragways.layers.graph.names import WordUse, fold
from ragways.layers.graph.rules import document_type, small_title
from ragways.layers.graph.sentences import uncased
from ragways.layers.known_names import TABLES, KnownNames, Phrases, first_words
from ragways.store.database import connect, store_errors
from ragways.store.files import file_hash
from ragways.store.source import Source
from ragways.store.store import Store

FILE = "lexicon.sqlite"
META = "lexicon"
"""The setting of the store that has the hash of the file."""
_FORMAT = "1"
"""Changes when the tables do, or what is learnt."""
_ABOUT = "CREATE TABLE about (format TEXT NOT NULL, epoch TEXT NOT NULL, documents INTEGER NOT NULL);\n"
SAMPLE, LEAST, SHARE = 20_000, 1000, 4
"""How words of names are used is learnt from so many documents at most and at least, and else from one in so many."""
_CHARACTERS = 50_000_000
"""Characters of the sample at most."""
_COUNTED = 1_000_000
"""Words and pairs that are counted in memory at most, before they go to the tables."""


class Lexicon(KnownNames):
    """Words, titles and phrases of the corpus at an epoch. It reads from its file as it is asked."""

    def __init__(self, db: sqlite3.Connection, path: Path | None = None) -> None:
        super().__init__(db)
        self.path = path
        """Its file, where it has one."""
        format, epoch, documents = db.execute("SELECT format, epoch, documents FROM about").fetchone()
        self.format: str = format
        self.epoch: str = epoch
        """Changes when the lexicon is made of other documents."""
        self.documents: int = documents
        """How many documents it was made of."""

    @classmethod
    def make(cls, store: Store, folder: Path, progress: ProgressCallback = silent) -> Lexicon:
        """Make it of all documents of the store, in place of one that is there."""
        total = store.count("documents")
        draft = folder / f"{FILE}.draft"
        draft.unlink(missing_ok=True)
        try:
            with store_errors(draft), closing(sqlite3.connect(draft, isolation_level=None)) as db:
                db.execute("PRAGMA journal_mode = OFF")  # a draft until it is renamed: a journal would protect nothing
                db.execute("PRAGMA synchronous = OFF")
                _fill(db, lambda stage: reported(progress, stage, store.sources(), total), total, _epoch(store))
            with store_errors(draft):
                _sync(draft)
                digest = file_hash(draft)
                os.replace(draft, folder / FILE)
                store.set_meta({META: digest.hex()})
        finally:
            draft.unlink(missing_ok=True)
        return cls(connect(folder / FILE, write=False), folder / FILE)

    @classmethod
    def of(cls, documents: Sequence[Source]) -> Lexicon:
        """Of some documents, in memory."""
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        _fill(db, lambda _: documents, len(documents), "")
        return cls(db)

    @classmethod
    def open(cls, store: Store, folder: Path | None = None) -> Lexicon | None:
        """That of an index, by default in the store's folder; None where there is none, or one that is damaged or of
        another format.
        """
        path = (store.folder if folder is None else folder) / FILE
        if is_damaged(store, path):
            logging.getLogger("ragways").warning("ragways: %s was damaged, and is made anew", path)
        elif path.is_file() and META in store.meta():  # else it is left of an index of another version
            if (made := cls(connect(path, write=False), path)).format == _FORMAT:
                return made
            made.close()
        return None

    def close(self) -> None:
        self._db.close()

    def is_due(self, store: Store) -> bool:
        """Whether it is to be made anew: the corpus has doubled or halved."""
        now = store.count("documents")
        return now != self.documents and (now >= 2 * self.documents or 2 * now <= self.documents)


def is_damaged(store: Store, path: Path) -> bool:
    """Whether the lexicon in this file is not the one that was made of this store."""
    known = store.meta().get(META)
    return known is not None and path.is_file() and file_hash(path).hex() != known


def _epoch(store: Store) -> str:
    """Depends on which documents there are, and on nothing else."""
    digest = sha256(_FORMAT.encode())
    for number, hash in store.db.execute("SELECT number, hash FROM documents ORDER BY number"):
        digest.update(number.to_bytes(8, "little", signed=True) + hash)
    return digest.hexdigest()[:16]


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


Documents = Callable[[str], Iterable[Source]]
"""All documents by number, for a stage of the work."""


def _fill(db: sqlite3.Connection, documents: Documents, total: int, epoch: str) -> None:
    db.executescript(f"BEGIN;{TABLES}{_ABOUT}")
    without_capitals = _count(db, documents("collecting names"))
    if without_capitals:

        def texts() -> Iterator[str]:
            return (source.text for source in documents("collecting names") if source.number in without_capitals)

        phrases = sorted((" ".join(phrase),) for phrase in Phrases.of(texts))
        db.executemany("INSERT INTO phrases VALUES (?)", phrases)
    _learn(db, _sample(documents("learning names"), total))
    db.execute("INSERT INTO about VALUES (?, ?, ?)", (_FORMAT, epoch, total))
    db.execute("COMMIT")


def _count(db: sqlite3.Connection, documents: Iterable[Source]) -> set[int]:
    """Words and titles; returns documents whose script has no capitals."""
    words = _Words()
    without_capitals: set[int] = set()
    for source in documents:
        name, folded = title_name(source.title), fold(title_name(source.title))
        row = (
            source.number,
            source.title,
            name,
            source.redirect,
            document_type(source),
            bool(small_title(source)),
            None if folded == name else folded,
        )
        db.execute("INSERT INTO titles VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for first in first_words(source.title):
            db.execute("INSERT INTO first_words VALUES (?, ?)", (first, source.number))
        if source.redirect:
            continue
        if uncased(source.text):
            without_capitals.add(source.number)
        words.add(source.text)
        if len(words) > _COUNTED:
            words.put(db)
            words = _Words()
    words.put(db)
    return without_capitals


class _Words:
    """Counts of words that are not in the tables yet."""

    def __init__(self) -> None:
        self._small: Counter[str] = Counter()
        self._large: Counter[str] = Counter()
        self._pairs: set[str] = set()

    def __len__(self) -> int:
        return len(self._small) + len(self._large) + len(self._pairs)

    def add(self, text: str) -> None:
        use = WordUse.of(text)
        self._small.update(use.small)
        self._large.update(use.large)
        self._pairs |= use.meant

    def put(self, db: sqlite3.Connection) -> None:
        rows = ((word, self._small[word], self._large[word]) for word in sorted({*self._small, *self._large}))
        db.executemany(
            "INSERT INTO words VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET small = small + excluded.small, "
            "large = large + excluded.large",
            rows,
        )
        db.executemany("INSERT OR IGNORE INTO pairs VALUES (?)", ((pair,) for pair in sorted(self._pairs)))


# How words of names are used


def _sample(documents: Iterable[Source], total: int) -> Iterator[Source]:
    """Some documents: the first by number, which follows neither their order nor their content."""
    left = _CHARACTERS
    for source in islice(documents, min(SAMPLE, max(LEAST, total // SHARE))):
        if not source.redirect:
            yield source
            left -= len(source.text)
        if left <= 0:
            break


def _learn(db: sqlite3.Connection, documents: Iterable[Source]) -> None:
    """Find words that stand alone, and with these the words that mostly are short forms."""
    known = KnownNames(db)
    alone: set[str] = set()
    uses, short = Counter[str](), Counter[str]()
    possible: list[DocumentNames] = []
    for source in documents:
        facts = rule_facts(source, known)
        names = DocumentNames(source.title, (each for chunk in facts for _, each in chunk))
        alone |= names.alone
        uses.update(names.single)
        if (narrowed := names.narrowed()).single:
            possible.append(narrowed)
    db.executemany("INSERT INTO alone VALUES (?)", ((word,) for word in sorted(alone)))
    known = KnownNames(db)  # without what was cached while nothing stood alone
    for names in possible:
        short.update(names.short_forms(known).keys())
    usual = sorted((word,) for word, times in short.items() if 2 * times >= uses[word])
    db.executemany("INSERT INTO usual VALUES (?)", usual)
