"""What only the whole corpus tells: titles, where redirects lead, and which words are names.

It is kept in tables that change with the documents (`corpus_changes`). Whoever reads a document asks here, and what it
asked is noted: the document need be read again only when an answer has changed.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from re import Match
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import title_name
from ragways.index.graph.facts import Span
from ragways.index.graph.known_names import Called, Phrases, TitleTree, named_so
from ragways.index.graph.names import STOP, Lexicon, fold, forms_of, plain_name, stem_of

TABLES = """
-- Words as they are compared: how often written small, and how often with a capital inside a sentence.
CREATE TABLE IF NOT EXISTS graph_words (
    word TEXT PRIMARY KEY, small INTEGER NOT NULL, large INTEGER NOT NULL
) WITHOUT ROWID;
-- How many documents mean two words as a name.
CREATE TABLE IF NOT EXISTS graph_pairs (pair TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
-- Documents by title: `name` as titles are compared, `leads` the name of what a redirect leads to, `small` 1 for a
-- title of one word that its article writes small, `uncased` 1 for a script without capitals, `folded` the title as
-- names are compared, where that is not its name.
CREATE TABLE IF NOT EXISTS graph_titles (
    document INTEGER PRIMARY KEY, title TEXT NOT NULL, name TEXT NOT NULL, redirect TEXT NOT NULL, leads TEXT NOT NULL,
    type TEXT NOT NULL, small INTEGER NOT NULL, uncased INTEGER NOT NULL, folded TEXT
);
CREATE INDEX IF NOT EXISTS graph_titles_by_name ON graph_titles (name);
CREATE INDEX IF NOT EXISTS graph_titles_by_folded ON graph_titles (folded) WHERE folded IS NOT NULL;
-- Titles and redirects as names are compared, with the title they lead to (empty where it is the same with a capital at
-- each word), and the name of that without its ending.
CREATE TABLE IF NOT EXISTS graph_ends (
    folded TEXT PRIMARY KEY, title TEXT NOT NULL, base TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS graph_ends_by_base ON graph_ends (base) WHERE base != '';
CREATE INDEX IF NOT EXISTS graph_titles_by_leads ON graph_titles (leads) WHERE leads != '';
CREATE INDEX IF NOT EXISTS graph_titles_uncased ON graph_titles (document) WHERE uncased;
-- What articles are called, by its first two words, or the only one.
CREATE TABLE IF NOT EXISTS graph_first_words (
    words TEXT NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (words, document)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS graph_phrases (phrase TEXT PRIMARY KEY) WITHOUT ROWID;
"""

WORD, STEM, PAIR, NAME, TYPE, CAPITAL, SMALL, OWN = "wsmntCco"
"""What a key is of: a word's standing, a stem, a pair, where a title leads, an article's type, a token of the text that
stands there with a capital, one that never does, and one that with its capital always is a name for itself.
"""


@lru_cache(maxsize=200_000)
def key_of(kind: str, text: str) -> int:
    """What is noted of a question. Two that have the same key only lead to reading a document for nothing."""
    return zlib.crc32(f"{kind}{text}".encode("utf-8", "surrogatepass"))


class CorpusNames:
    """Answers from the tables, and `asked`: the keys of what was asked since `begin`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._leads: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._types: dict[str, str] = {}
        self.asked: set[int] = set()
        self.lexicon = StoredLexicon(db, self.asked)
        self.tree = StoredTitles(db)
        self.phrases = Phrases(stored_phrases(db))

    def begin(self) -> None:
        """Forget what was asked."""
        self.asked.clear()
        self.tree.begin()

    def keys(self) -> NDArray[np.uint32]:
        """What was asked since `begin`, and which tokens were looked at, sorted."""
        return np.array(sorted(self.asked.union(self.tree.keys())), dtype=np.uint32)

    def article(self, target: str) -> str:
        """The title that a link leads to, as the article itself writes it; a stub keeps the link's own words."""
        name = title_name(target)
        if name not in self._leads:
            way: list[str] = []
            self._leads[name] = end_of(self._db, name, way), tuple(key_of(NAME, each) for each in way)
        title, keys = self._leads[name]
        self.asked.update(keys)
        return title or target.replace("_", " ").strip()

    def type(self, title: str) -> str:
        """What the article of this title is about; nothing where there is none, or it does not say."""
        self.asked.add(key_of(TYPE, title))
        return self.type_of_called(title)

    def type_of_called(self, title: str) -> str:
        """The same of an article that is called by words of a text: not noted, since who has the words is concerned."""
        if title not in self._types:
            self._types[title] = type_of_title(self._db, title)
        return self._types[title]

    def before(self, called: Mapping[tuple[str, ...], Sequence[Called]], types: Mapping[str, str]) -> CorpusNames:
        """What was answered where articles by the words they were called, and types of titles, are other by now."""
        then = copy(self)
        then.tree, then._types = TitlesBefore(self._db, called), dict(types)
        return then


def head_of(db: sqlite3.Connection, name: str) -> tuple[str | None, str]:
    """How a title is written, None where there is none, and what it redirects to, if it does."""
    rows = db.execute("SELECT title, redirect FROM graph_titles WHERE name = ? ORDER BY document", (name,)).fetchall()
    redirects = [redirect for _, redirect in rows if redirect]
    return min((title for title, _ in rows), default=None), redirects[-1] if redirects else ""


def end_of(db: sqlite3.Connection, name: str, way: list[str] | None = None) -> str:
    """Where redirects end, nothing where there is no such title; a circle ends where it began. `way` takes up the
    names that were looked at.
    """
    way = [] if way is None else way
    way.append(name)
    title, redirect = head_of(db, name)
    while title is not None and redirect:
        following = title_name(redirect)
        if following in way:
            break
        way.append(following)
        title, leads_on = head_of(db, following)
        if title is None:
            return redirect
        redirect = leads_on
    return title or ""


def ends_of(db: sqlite3.Connection, names: Collection[str]) -> dict[str, str]:
    """As `end_of`, of many names at once: most titles redirect to nothing."""
    query = (
        "SELECT name, title, redirect FROM graph_titles WHERE name IN (SELECT value FROM json_each(?)) "
        "ORDER BY document"
    )
    heads: dict[str, tuple[str, str]] = {}
    for name, title, redirect in db.execute(query, (json.dumps(list(names)),)):
        first, before = heads.get(name, (title, ""))
        heads[name] = min(title, first), redirect or before
    return {name: end_of(db, name) if redirect else title for name, (title, redirect) in heads.items()}


def end_row(db: sqlite3.Connection, folded: str) -> tuple[str, str] | None:
    """Where the first title leads that is compared so as a name, and the name of that without its ending."""
    (name,) = db.execute(_FIRST_FOLDED, (folded,)).fetchone()
    if name is None:
        return None
    if not (title := end_of(db, name)):
        return None
    base = fold(plain_name(title))
    return title, "" if base.isdecimal() else base


_FIRST_FOLDED = (
    "SELECT min(name) FROM (SELECT name FROM graph_titles WHERE folded = ?1 "
    "UNION ALL SELECT name FROM graph_titles WHERE name = ?1 AND folded IS NULL)"
)
End = tuple[str, str]
"""The title of the article that a name leads to, and that of the only one which has the name and an ending."""


def titled(db: sqlite3.Connection, name: str) -> str:
    """The title of the article that a name, as it is compared, leads to."""
    row = db.execute("SELECT title FROM graph_ends WHERE folded = ?", (name,)).fetchone()
    return end_title(name, row[0]) if row else ""


def end_title(folded: str, title: str) -> str:
    """The title of a row of `graph_ends`."""
    return title or folded.title()


def put_ends(db: sqlite3.Connection, ends: Iterable[tuple[str, str, str]]) -> None:
    """Put rows: a name as it is compared, the title that it leads to, and the name of that without its ending."""
    rows = ((folded, "" if title == folded.title() else title, base) for folded, title, base in ends)
    db.executemany("INSERT OR REPLACE INTO graph_ends VALUES (?, ?, ?)", rows)


def only_title(db: sqlite3.Connection, base: str) -> str:
    """The title of the one article that has this name and an ending."""
    found = ""
    for folded, kept in db.execute("SELECT folded, title FROM graph_ends WHERE base = ? AND base != ''", (base,)):
        title = end_title(folded, kept)
        if found and title != found:
            return ""  # of a hundred thousand articles of one name, two are read
        found = title
    return found


def type_of_title(db: sqlite3.Connection, title: str) -> str:
    row = db.execute(
        "SELECT type FROM graph_titles WHERE name = ? AND title = ? AND redirect = '' ORDER BY document DESC LIMIT 1",
        (title_name(title), title),
    ).fetchone()
    return str(row[0]) if row else ""


def first_words(words: Sequence[str]) -> str:
    """By what a name of these words is found."""
    return " ".join(words[:2])


def called_so(db: sqlite3.Connection, first: str) -> dict[tuple[str, ...], list[Called]]:
    """Articles by the words they are called, of all that are called something with these first words."""
    rows = db.execute(
        "SELECT title, name, small FROM graph_first_words JOIN graph_titles USING (document) WHERE words = ?", (first,)
    ).fetchall()
    if not rows:
        return {}
    small, ends = {first} if any(row[2] for row in rows) else set(), ends_of(db, {row[1] for row in rows})
    found = named_so(((title, ends[name]) for title, name, _ in rows), small)
    return {words: called for words, called in found.items() if first_words(words) == first}


def stored_phrases(db: sqlite3.Connection) -> set[tuple[str, ...]]:
    return {tuple(phrase.split(" ")) for (phrase,) in db.execute("SELECT phrase FROM graph_phrases")}


def words_with_stem(db: sqlite3.Connection, stem: str) -> set[str]:
    """Words that are written small and have this stem. They are looked for among all that may have it, for few stems
    are ever asked for.
    """
    rows = db.execute(_WITH_STEM, forms_of(stem)) if stem else ()
    return {word for (word,) in rows if stem_of(word) == stem}


_WITH_STEM = f"SELECT word FROM graph_words WHERE word IN ({', '.join('?' * len(forms_of('')))}) AND small > 0"  # noqa: S608


class StoredLexicon(Lexicon):
    """A lexicon whose counts are in the tables."""

    def __init__(self, db: sqlite3.Connection, asked: set[int]) -> None:
        super().__init__(())
        self._db = db
        self._asked = asked
        self._counts: dict[str, tuple[int, int]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def counts(self, word: str) -> tuple[int, int]:
        self._asked.add(key_of(WORD, word))
        found = self._counts.get(word)
        if found is None:
            row = self._db.execute("SELECT small, large FROM graph_words WHERE word = ?", (word,)).fetchone()
            found = self._counts[word] = row or (0, 0)
        return found

    def has_stem(self, stem: str) -> bool:
        return self._has(STEM, stem, lambda: bool(words_with_stem(self._db, stem)))

    def is_meant(self, pair: str) -> bool:
        query = "SELECT 1 FROM graph_pairs WHERE pair = ?"
        return self._has(PAIR, pair, lambda: self._db.execute(query, (pair,)).fetchone() is not None)

    def _has(self, kind: str, text: str, look: Callable[[], bool]) -> bool:
        self._asked.add(key_of(kind, text))
        found = self._known.get((kind, text))
        if found is None:
            found = self._known[kind, text] = look()
        return found


class LexiconBefore(StoredLexicon):
    """A lexicon as it was. `before`: the counts of words that stand otherwise by now."""

    def __init__(self, db: sqlite3.Connection, asked: set[int], before: Mapping[str, tuple[int, int]]) -> None:
        super().__init__(db, asked)
        self._before = before

    def counts(self, word: str) -> tuple[int, int]:
        now = super().counts(word)
        return self._before.get(word, now)


_HELD = 300_000
"""Beginnings of names that are remembered at most."""


class StoredTitles(TitleTree):
    """Titles that are read from the tables when their first two words are met. The tokens of the texts that are looked
    through are noted, and how they stand there; small function words aside.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(())
        self._db = db
        self._read: set[str] = set()
        self._longer: dict[str, bool] = {}
        """Whether words begin names of several words."""
        self._held: dict[str, bool] = {}
        """Tokens, and whether they stand there with a capital."""
        self._capitals: list[tuple[str, Span]] = []
        self._bound: set[str] = set()
        """Tokens with a capital that somewhere are no name for themselves."""

    def begin(self) -> None:
        """Forget the tokens."""
        self._held, self._capitals, self._bound = {}, [], set()

    def keys(self) -> Iterator[int]:
        """How tokens stand in the texts."""
        for word, capital in self._held.items():
            yield key_of((CAPITAL if word in self._bound else OWN) if capital else SMALL, word)

    def stand(self, names: Collection[Span]) -> None:
        """Of the tokens that were noted last, those at these places are names for themselves: whether there is one
        article that is called so changes nothing about them.
        """
        self._bound.update(word for word, place in self._capitals if place not in names)
        self._capitals = []

    def _begin(self, words: Sequence[str], at: int) -> dict[str, Any] | None:
        word = words[at]
        longer = self._longer.get(word)
        if longer is None:
            if len(self._read) > _HELD:
                self._read, self._longer, self._root = set(), {}, {}
            alone, longer = self._known(word)
            self._longer[word] = longer
            if alone:
                self._take_up(word)
        if longer and at + 1 < len(words):
            self._take_up(first_words(words[at : at + 2]))
        return self._root.get(word)

    def _known(self, word: str) -> tuple[bool, bool]:
        """Whether a name is this word, and whether names of several words begin with it."""
        alone, longer = self._db.execute(_KNOWN, (word, f"{word} ", f"{word}!")).fetchone()
        return bool(alone), bool(longer)

    def _take_up(self, first: str) -> None:
        if first not in self._read:
            self._read.add(first)
            for words, called in called_so(self._db, first).items():
                self._put(words, called)

    def _hear(self, words: Sequence[str], written: Sequence[str], matches: Sequence[Match[str]]) -> None:
        held = self._held
        for word, as_written, match in zip(words, written, matches, strict=True):
            if as_written[0].isupper():
                held[word] = True
                self._capitals.append((word, match.span()))
            elif word not in STOP and word not in held:
                held[word] = False


_KNOWN = (
    "SELECT EXISTS (SELECT 1 FROM graph_first_words WHERE words = ?), "
    "EXISTS (SELECT 1 FROM graph_first_words WHERE words > ? AND words < ?)"
)


class TitlesBefore(StoredTitles):
    """Titles as they were. `called`: articles by the words they were called, where that is other by now."""

    def __init__(self, db: sqlite3.Connection, called: Mapping[tuple[str, ...], Sequence[Called]]) -> None:
        super().__init__(db)
        self._called: dict[str, list[tuple[str, ...]]] = {}
        self._before = called
        for words in called:
            self._called.setdefault(first_words(words), []).append(words)

    def _known(self, word: str) -> tuple[bool, bool]:
        alone, longer = super()._known(word)
        longer = longer or any(len(words) > 1 and words[0] == word for words in self._before)
        return alone or word in self._called, longer

    def _take_up(self, first: str) -> None:
        super()._take_up(first)
        for words in self._called.get(first, ()):
            self._put(words, self._before[words])


def drop_tables(db: sqlite3.Connection, tables: Iterable[str]) -> None:
    for table in tables:
        db.execute(f"DROP TABLE IF EXISTS {table}")
