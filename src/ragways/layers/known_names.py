"""What the rules for one document may know of the rest of the corpus: words, titles and phrases, read from tables.

The tables are those of a lexicon (`lexicon.py`), and stand still within an epoch. Whatever is looked up is cached, so
opening them costs nothing.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from ragways.core.types import title_name
from ragways.layers.graph.names import STOP, TOKEN, WordCounts, folded, forms_of, split_title, stem_of

TABLES = """
-- Words as they are compared: how often written small, and how often with a capital inside a sentence.
CREATE TABLE words (word TEXT PRIMARY KEY, small INTEGER NOT NULL, large INTEGER NOT NULL) WITHOUT ROWID;
-- Two words that some document means as a name.
CREATE TABLE pairs (pair TEXT PRIMARY KEY) WITHOUT ROWID;
-- Documents by title: `name` as titles are compared, `redirect` the title that a redirect leads to, `type` what an
-- article is about, `small` 1 for a title of one word that its article writes small, `folded` the title as names are
-- compared, where that is not its name.
CREATE TABLE titles (
    document INTEGER PRIMARY KEY, title TEXT NOT NULL, name TEXT NOT NULL, redirect TEXT NOT NULL, type TEXT NOT NULL,
    small INTEGER NOT NULL, folded TEXT
);
CREATE INDEX titles_by_name ON titles (name);
CREATE INDEX titles_by_folded ON titles (folded) WHERE folded IS NOT NULL;
-- What articles are called, by its first two words, or the only one.
CREATE TABLE first_words (words TEXT NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (words, document)) WITHOUT ROWID;
-- Frequent phrases of texts whose script has no capitals.
CREATE TABLE phrases (phrase TEXT PRIMARY KEY) WITHOUT ROWID;
-- Words that stand alone as names, and words that mostly are short forms of names.
CREATE TABLE alone (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE usual (word TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_CACHED = 300_000
"""Answers to one kind of question that are cached at most."""


class KnownNames(WordCounts):
    """Words, titles and phrases of a corpus; `words`, `titles` and `phrases` are for rules that look through texts."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(())
        self._db = db
        self.titles = StoredTitles(db)
        self._types: dict[str, str] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    @property
    def words(self) -> WordCounts:
        return self

    @cached_property
    def phrases(self) -> Phrases:
        return Phrases({tuple(phrase.split(" ")) for (phrase,) in self._db.execute("SELECT phrase FROM phrases")})

    def type(self, title: str) -> str:
        """What the article of this title is about; nothing where there is none, or it does not say."""
        if title not in self._types:
            _bounded(self._types)
            row = self._db.execute(_TYPE, (title_name(title), title)).fetchone()
            self._types[title] = str(row[0]) if row else ""
        return self._types[title]

    def titled(self, name: str) -> bool:
        """Whether a name, as names are compared, is a title or that of a redirect."""
        return bool(name) and self._is(name, _TITLED)

    def alone(self, word: str) -> bool:
        """Whether a word is a name by itself somewhere, and not the first word of a longer one."""
        return self.titled(word) or self._is(word, "SELECT 1 FROM alone WHERE word = ?")

    def usual(self, word: str) -> bool:
        """Whether most documents that have a word use it as the short form of a name."""
        return self._is(word, "SELECT 1 FROM usual WHERE word = ?")

    def counts(self, word: str) -> tuple[int, int]:
        found = self._counts.get(word)
        if found is None:
            _bounded(self._counts)
            row = self._db.execute("SELECT small, large FROM words WHERE word = ?", (word,)).fetchone()
            found = self._counts[word] = row or (0, 0)
        return found

    def has_stem(self, stem: str) -> bool:
        # Few stems are ever looked up, so the words that may have one are tried.
        key = _WITH_STEM, stem
        if key not in self._known:
            _bounded(self._known)
            words = self._db.execute(_WITH_STEM, forms_of(stem)) if stem else ()
            self._known[key] = any(stem_of(word) == stem for (word,) in words)
        return self._known[key]

    def is_meant(self, pair: str) -> bool:
        return self._is(pair, "SELECT 1 FROM pairs WHERE pair = ?")

    def _is(self, word: str, query: str) -> bool:
        key = query, word
        if key not in self._known:
            _bounded(self._known)
            self._known[key] = self._db.execute(query, (word,)).fetchone() is not None
        return self._known[key]


_WITH_STEM = f"SELECT word FROM words WHERE word IN ({', '.join('?' * len(forms_of('')))}) AND small > 0"  # noqa: S608
_TYPE = "SELECT type FROM titles WHERE name = ? AND title = ? AND redirect = '' ORDER BY document DESC LIMIT 1"
_TITLED = (
    "SELECT 1 FROM titles WHERE folded = ?1 UNION ALL SELECT 1 FROM titles WHERE name = ?1 AND folded IS NULL LIMIT 1"
)


def _bounded(cache: dict[Any, Any]) -> None:
    if len(cache) >= _CACHED:
        cache.clear()


# Titles

_END = "\n"
"""Where titles end in the tree: no token is so, but one that is a mark alone is compared as nothing."""
Called = tuple[str, tuple[bool, ...], bool]
"""An article that is called so: its title, which words of the name have a capital, whether the first may go without."""


class TitleTree:
    """All titles by their tokens. `X (ship)` is found as `X` too; what it means there is for the reader to choose."""

    def __init__(self, titles: Iterable[tuple[str, str]], small: Collection[str] = ()) -> None:
        """`titles`: each title with the title it leads to, itself or the end of a redirect.

        `small`: single words that are titles, and that their own articles write small, as `Photosynthesis`.
        """
        self._root: dict[str, Any] = {}
        for words, called in named_so(titles, small).items():
            self._put(words, called)

    def _put(self, words: Sequence[str], called: Sequence[Called]) -> None:
        node = self._root
        for word in words:
            node = node.setdefault(word, {})
        node[_END] = called

    def _begin(self, words: Sequence[str], at: int) -> dict[str, Any] | None:
        """What titles have behind their first word, which is the one at this place."""
        return self._root.get(words[at])

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Longest titles from each place of the text on, with the articles that are called so."""
        matches = list(TOKEN.finditer(text, start, end))
        written = [match.group() for match in matches]
        words = list(map(folded, written))
        for i in range(len(words)):
            node = self._begin(words, i)
            found = longest(node, words, written, i) if node is not None else None
            if found:
                behind, called = found
                yield matches[i].start(), matches[behind - 1].end(), called


def longest(
    node: dict[str, Any] | None, words: Sequence[str], written: Sequence[str], at: int
) -> tuple[int, tuple[str, ...]] | None:
    """Behind which word the longest title ends that begins with this one, and the articles that are called so. `node`:
    what titles have behind their first word.
    """
    found, end = None, at
    while node is not None:
        end += 1
        if entries := node.get(_END):
            fitting = tuple(title for title, capitals, small in entries if _fits(written[at:end], capitals, small))
            if fitting:
                found = end, fitting
        node = node.get(words[end]) if end < len(words) else None
    return found


def _fits(written: Sequence[str], capitals: tuple[bool, ...], small: bool) -> bool:
    """Whether the text writes with a capital what the title does."""
    for at, (word, capital) in enumerate(zip(written, capitals, strict=True)):
        if capital and not (word[0].isupper() or (small and at == 0)):
            return False
    return True


def title_words(name: str) -> tuple[list[str], list[str], bool]:
    """The words of a title, as they are compared and as they are written, without the article, and whether there was
    one; no words where nothing may be called so.
    """
    written = TOKEN.findall(name)
    words = [folded(word) for word in written]
    article = len(words) > 1 and words[0] == "the"
    if article:
        written, words = written[1:], words[1:]
    if not any(words) or len(words) > 20 or (len(words) == 1 and (words[0] in STOP or words[0].isdecimal())):
        return [], [], False
    return words, written, article


def names_of_title(title: str) -> tuple[str, ...]:
    """What an article is called: `X (ship)` is `X`, too."""
    base, ending = split_title(title)
    return (title, base) if ending else (title,)


def named_so(titles: Iterable[tuple[str, str]], small: Collection[str]) -> dict[tuple[str, ...], list[Called]]:
    """Articles by the words they are called."""
    found: dict[tuple[str, ...], list[Called]] = {}
    for title, leads_to in sorted(titles):
        for name in names_of_title(title):
            words, written, article = title_words(name)
            if not words:
                continue
            capitals = tuple(w[0].isupper() for w in written)
            # `Riemann integral` may stand inside a sentence as it is, or begin one; `The Terminal` is never `terminal`.
            known = len(words) > 1 or (name == title and words[0] in small)
            entries = found.setdefault(tuple(words), [])
            if not any(other == leads_to for other, _, _ in entries):
                entries.append((leads_to, capitals, known and not any(capitals[1:]) and not article))
    return found


def first_words(title: str) -> set[str]:
    """By what an article is looked up among those that are called something."""
    return {_first(words) for name in names_of_title(title) if (words := title_words(name)[0])}


def _first(words: Sequence[str]) -> str:
    return " ".join(words[:2])


class StoredTitles(TitleTree):
    """Titles that are read from the tables when their first two words are met."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(())
        self._db = db
        self._read: set[str] = set()
        self._longer: dict[str, bool] = {}
        """Whether words begin names of several words."""

    def _begin(self, words: Sequence[str], at: int) -> dict[str, Any] | None:
        word = words[at]
        longer = self._longer.get(word)
        if longer is None:
            if len(self._read) > _CACHED:
                self._read, self._longer, self._root = set(), {}, {}
            alone, longer = map(bool, self._db.execute(_KNOWN, (word, f"{word} ", f"{word}!")).fetchone())
            self._longer[word] = longer
            if alone:
                self._take_up(word)
        if longer and at + 1 < len(words):
            self._take_up(_first(words[at : at + 2]))
        return self._root.get(word)

    def _take_up(self, first: str) -> None:
        if first in self._read:
            return
        self._read.add(first)
        rows = self._db.execute(_CALLED, (first,)).fetchall()
        small = {first} if any(row[2] for row in rows) else set()
        ends = self._ends({row[1] for row in rows}) if rows else {}
        for words, called in named_so(((title, ends[name]) for title, name, _ in rows), small).items():
            if _first(words) == first:
                self._put(words, called)

    def _ends(self, names: Collection[str]) -> dict[str, str]:
        """The titles where names lead; most redirect to nothing."""
        heads: dict[str, tuple[str, str]] = {}
        for name, title, redirect in self._db.execute(_HEADS, (json.dumps(sorted(names)),)):
            first, before = heads.get(name, (title, ""))
            heads[name] = min(title, first), redirect or before
        return {name: self._end(name) if redirect else title for name, (title, redirect) in heads.items()}

    def _end(self, name: str) -> str:
        """Where redirects end, which may be a title that no document has; a circle ends where it began."""
        visited = [name]
        title, redirect = self._head(name)
        while title is not None and redirect:
            following = title_name(redirect)
            if following in visited:
                break
            visited.append(following)
            title, next_redirect = self._head(following)
            if title is None:
                return redirect
            redirect = next_redirect
        return title or ""

    def _head(self, name: str) -> tuple[str | None, str]:
        """How a title is written, None where there is none, and what it redirects to, if it does."""
        rows = self._db.execute(_HEADS, (json.dumps([name]),)).fetchall()
        redirects = [redirect for _, _, redirect in rows if redirect]
        return min((title for _, title, _ in rows), default=None), redirects[-1] if redirects else ""


_KNOWN = (
    "SELECT EXISTS (SELECT 1 FROM first_words WHERE words = ?), "
    "EXISTS (SELECT 1 FROM first_words WHERE words > ? AND words < ?)"
)
_CALLED = "SELECT title, name, small FROM first_words JOIN titles USING (document) WHERE words = ?"
_HEADS = "SELECT name, title, redirect FROM titles WHERE name IN (SELECT value FROM json_each(?)) ORDER BY document"


# Phrases

PHRASE_DOCUMENTS = 3
"""Documents that must have a phrase."""
_SHARE = 0.02
"""A token in more than this share of all places is a function word of its language."""
_BREAK = re.compile(r"[^\w\s'’·-]+|\n")


class Phrases:
    """Two to four tokens in a row, none a function word, in at least three documents whose script has no capitals."""

    def __init__(self, known: Collection[tuple[str, ...]]) -> None:
        self._known = known

    @classmethod
    def of(cls, texts: Callable[[], Iterable[str]]) -> frozenset[tuple[str, ...]]:
        """The phrases of texts without capitals, which are read twice, so that they need not all be in memory."""
        tokens: Counter[str] = Counter()
        documents: Counter[tuple[str, ...]] = Counter()
        for text in texts():
            tokens.update(folded(t) for t in TOKEN.findall(text))
        total = sum(tokens.values())
        function = {t for t, count in tokens.items() if count > max(20, _SHARE * total)}
        for text in texts():
            documents.update({key for key, _, _ in _grams(text, 0, len(text), function)})
        return frozenset(key for key, count in documents.items() if count >= PHRASE_DOCUMENTS)

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Longest known phrases of a sentence, from left to right."""
        if not self._known:
            return
        here = start
        longest: dict[int, int] = {}
        for key, low, high in _grams(text, start, end, ()):
            if key in self._known:
                longest[low] = max(longest.get(low, 0), high)
        for low, high in sorted(longest.items()):
            if low >= here:
                yield low, high, text[low:high]
                here = high


def _grams(text: str, start: int, end: int, function: Collection[str]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Tokens in a row. No phrase has a function word, so whoever looks for known ones need not know those words."""
    run: list[tuple[str, int, int]] = []
    last = start
    for match in TOKEN.finditer(text, start, end):
        token = folded(match.group())
        if token in function or token.isdecimal() or _BREAK.search(text, last, match.start()):
            run = []
        last = match.end()
        if token not in function and not token.isdecimal():
            run = [*run[-3:], (token, match.start(), match.end())]
            for n in range(2, len(run) + 1):
                part = run[-n:]
                yield tuple(t for t, _, _ in part), part[0][1], part[-1][2]
