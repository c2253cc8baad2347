"""Documents come and go: the tables of `corpus_names` follow, and it is told which answers have changed by it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ragways.core.types import title_name
from ragways.index.database import create_tables
from ragways.index.graph.corpus_names import (
    NAME,
    PAIR,
    STEM,
    TABLES,
    TYPE,
    WORD,
    End,
    called_so,
    end_row,
    end_title,
    first_words,
    head_of,
    key_of,
    only_title,
    put_ends,
    stored_phrases,
    titled,
    type_of_title,
    words_with_stem,
)
from ragways.index.graph.facts import Source
from ragways.index.graph.known_names import Called, Phrases, names_of_title, title_words
from ragways.index.graph.names import STOP, WordUse, fold, is_common, stem_of
from ragways.index.graph.rule_names import uncased
from ragways.index.graph.rules import small_title, type_of

TextOf = Callable[[int], str]
"""The text of a document by its number."""


@dataclass
class Changed:
    """Answers that are other than before: keys of what may have been asked, but of words, and what is looked for in the
    texts.
    """

    keys: set[int] = field(default_factory=set)
    ends: dict[str, End] = field(default_factory=dict)
    """Names, as they are compared, that lead to another title or are the base of another; where they led before."""
    words: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Words whose standing is another: how often they were written small, and with a capital."""
    called: dict[tuple[str, ...], tuple[Sequence[Called], Sequence[Called]]] = field(default_factory=dict)
    """By words in a row, the articles that were called so, and those that are; of another type, if not others."""
    types: dict[str, str] = field(default_factory=dict)
    """Titles of articles that are of another type; of which they were."""
    phrases: set[tuple[str, ...]] = field(default_factory=set)
    """Phrases that came or went."""

    @property
    def word_keys(self) -> dict[int, str]:
        """Words whose standing is another, by their keys."""
        return {key_of(WORD, word): word for word in self.words}


@dataclass(frozen=True, slots=True)
class TitleRow:
    """What a document tells of titles, as `graph_titles` has it."""

    document: int
    title: str
    name: str
    redirect: str
    leads: str
    type: str
    small: bool
    uncased: bool
    folded: str

    @classmethod
    def of(cls, source: Source) -> TitleRow:
        redirect, small = source.redirect, bool(small_title(source))
        return cls(
            source.number,
            source.title,
            title_name(source.title),
            redirect,
            title_name(redirect) if redirect else "",
            "" if redirect else type_of(source) or ("term" if small else ""),
            small,
            not redirect and uncased(source.text),
            fold(title_name(source.title)),
        )

    @property
    def first_words(self) -> set[str]:
        """By what the article is found among those that are called something."""
        return {first_words(words) for name in names_of_title(self.title) if (words := title_words(name)[0])}


def change_corpus(
    db: sqlite3.Connection, gone: Collection[int], fresh: Iterable[Source], text_before: TextOf, text_of: TextOf
) -> Changed:
    """Take what these documents told out of the tables, and what those tell in; what that changes. `text_before` has
    the texts of the documents that go, `text_of` those of all that are left.
    """
    rows: list[TitleRow] = []
    words = _Words()
    old = [row for number in gone for row in _title_rows(db, "document = ?", number)]
    for row in old:
        if not row.redirect:
            words.take_back(text_before(row.document))
    for source in fresh:
        rows.append(TitleRow.of(source))
        words.hear(source)
    titles = _Titles(db, [*old, *rows])
    for row in old:
        _remove_title(db, row)
    for row in rows:
        _put_title(db, row)
    changed = Changed()
    words.put(db, changed)
    titles.compare(db, changed)
    if any(row.uncased for row in (*old, *rows)):
        _see_phrases(db, text_of, changed)
    return changed


def fill_corpus(db: sqlite3.Connection, documents: Iterable[Source], text_of: TextOf) -> None:
    """Fill empty tables."""
    words, without_capitals = _Words(), False
    for source in documents:
        row = TitleRow.of(source)
        _put_title(db, row)
        without_capitals |= row.uncased
        words.hear(source)
        if len(words) > _HELD:
            words.put(db)
            words = _Words()
    words.put(db)
    folded = [row[0] for row in db.execute("SELECT DISTINCT coalesce(folded, name) FROM graph_titles ORDER BY 1")]
    put_ends(db, ((name, *end) for name in folded if name and (end := end_row(db, name))))
    if without_capitals:
        _see_phrases(db, text_of, Changed())


_HELD = 1_000_000
"""Words and pairs that are counted in memory at most, before they go to the tables."""


class _Words:
    """What changes in the counts of words."""

    def __init__(self) -> None:
        self.small: Counter[str] = Counter()
        self.large: Counter[str] = Counter()
        self.pairs: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.small) + len(self.large) + len(self.pairs)

    def hear(self, source: Source) -> None:
        if not source.redirect:
            use = WordUse.of(source.text)
            self.small.update(use.small)
            self.large.update(use.large)
            self.pairs.update(use.meant)

    def take_back(self, text: str) -> None:
        use = WordUse.of(text)
        self.small.subtract(use.small)
        self.large.subtract(use.large)
        self.pairs.subtract(use.meant)

    def put(self, db: sqlite3.Connection, changed: Changed | None = None) -> None:
        """Add to the counts of the tables; `changed` takes up what is other by it."""
        stems: dict[str, set[str]] = {}
        for word in sorted(self.small.keys() | self.large.keys()):
            more = self.small[word], self.large[word]
            if more == (0, 0):
                continue
            row = db.execute("SELECT small, large FROM graph_words WHERE word = ?", (word,)).fetchone() or (0, 0)
            new = row[0] + more[0], row[1] + more[1]
            if new == (0, 0):
                db.execute("DELETE FROM graph_words WHERE word = ?", (word,))
            else:
                db.execute("INSERT OR REPLACE INTO graph_words VALUES (?, ?, ?)", (word, *new))
            if changed is None:
                continue
            if word not in STOP and (is_common(*row), row[1] > 0) != (is_common(*new), new[1] > 0):
                changed.words[word] = row
            if (row[0] > 0) != (new[0] > 0) and (stem := stem_of(word)):
                stems.setdefault(stem, set()).add(word)
        changed = changed or Changed()
        for stem, others in stems.items():
            now = words_with_stem(db, stem)
            if bool(now) != bool(now ^ others):  # those that came were not there, and those that went were
                changed.keys.add(key_of(STEM, stem))
        _count_pairs(db, self.pairs, changed)


def _count_pairs(db: sqlite3.Connection, more: Counter[str], changed: Changed) -> None:
    """Add to the counts of pairs; one that comes or goes has changed."""
    for pair in sorted(more):
        if not more[pair]:
            continue
        (before,) = db.execute("SELECT count FROM graph_pairs WHERE pair = ?", (pair,)).fetchone() or (0,)
        if before + more[pair]:
            db.execute("INSERT OR REPLACE INTO graph_pairs VALUES (?, ?)", (pair, before + more[pair]))
        else:
            db.execute("DELETE FROM graph_pairs WHERE pair = ?", (pair,))
        if not before or not before + more[pair]:
            changed.keys.add(key_of(PAIR, pair))


# Titles


def _title_rows(db: sqlite3.Connection, where: str, value: object) -> Iterator[TitleRow]:
    for row in db.execute(f"SELECT * FROM graph_titles WHERE {where}", (value,)).fetchall():  # noqa: S608 - our own words
        number, title, name, redirect, leads, type, small, without_capitals, folded = row
        rest = bool(small), bool(without_capitals), name if folded is None else folded
        yield TitleRow(number, title, name, redirect, leads, type, *rest)


def _remove_title(db: sqlite3.Connection, row: TitleRow) -> None:
    db.execute("DELETE FROM graph_titles WHERE document = ?", (row.document,))
    for words in row.first_words:
        db.execute("DELETE FROM graph_first_words WHERE words = ? AND document = ?", (words, row.document))


def _put_title(db: sqlite3.Connection, row: TitleRow) -> None:
    folded = None if row.folded == row.name else row.folded
    db.execute(
        "INSERT INTO graph_titles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.document, row.title, row.name, row.redirect, row.leads, row.type, row.small, row.uncased, folded),
    )
    for words in row.first_words:
        db.execute("INSERT INTO graph_first_words VALUES (?, ?)", (words, row.document))


class _Titles:
    """What can be asked of some titles, and of redirects that lead to them, at the time this is made."""

    def __init__(self, db: sqlite3.Connection, rows: Collection[TitleRow]) -> None:
        self._names = {row.name for row in rows}
        self._first_words = {words for row in rows for words in row.first_words}
        waiting = list(self._names)
        reached = set(waiting)
        while waiting:
            # Said twice: by it SQLite knows that the index of those that lead somewhere will do.
            for row in _title_rows(db, "leads = ? AND leads != ''", waiting.pop()):
                self._first_words |= row.first_words
                if row.name not in reached:
                    reached.add(row.name)
                    waiting.append(row.name)
        self._folded = {fold(name) for name in reached} - {""}
        self._titles = {row.title for row in rows}
        self._heads, self._types, self._called = self._answers(db)

    def _answers(
        self, db: sqlite3.Connection
    ) -> tuple[dict[str, tuple[str | None, str]], dict[str, str], dict[tuple[str, ...], list[Called]]]:
        called: dict[tuple[str, ...], list[Called]] = {}
        for words in self._first_words:
            called |= called_so(db, words)
        heads = {name: head_of(db, name) for name in self._names}
        return heads, {title: type_of_title(db, title) for title in self._titles}, called

    def compare(self, db: sqlite3.Connection, changed: Changed) -> None:
        """Tell what the tables answer otherwise by now."""
        heads, types, called = self._answers(db)
        changed.keys |= {key_of(NAME, name) for name in self._names if heads[name] != self._heads[name]}
        changed.types |= {title: type for title, type in self._types.items() if types[title] != type}
        changed.keys |= {key_of(TYPE, title) for title in changed.types}
        for words in called.keys() | self._called.keys():
            before, after = self._called.get(words, []), called.get(words, [])
            # Only where several articles are called so, their types are looked at.
            if before != after or (len(after) > 1 and any(title in changed.types for title, _, _ in after)):
                changed.called[words] = before, after
        _see_ends(db, self._folded, changed)


def _see_ends(db: sqlite3.Connection, folded: Iterable[str], changed: Changed) -> None:
    """Look again where titles that are compared so lead."""
    others: dict[str, tuple[str, str] | None] = {}
    for name in folded:
        row = db.execute("SELECT title, base FROM graph_ends WHERE folded = ?", (name,)).fetchone()
        before = (end_title(name, row[0]), row[1]) if row else None
        after = end_row(db, name)
        if before != after:
            others[name] = after
            for each in {name} | {base for _, base in filter(None, (before, after))} - {""}:
                changed.ends[each] = titled(db, each), only_title(db, each)
    put_ends(db, ((name, *end) for name, end in others.items() if end is not None))
    db.executemany("DELETE FROM graph_ends WHERE folded = ?", ((name,) for name, end in others.items() if end is None))


def take_over_titles(db: sqlite3.Connection) -> None:
    """Have titles of an earlier version in the tables: each had its `folded`, and each end its title."""
    db.execute("ALTER TABLE graph_titles RENAME TO graph_titles_before")
    create_tables(db, TABLES)
    db.execute(
        "INSERT INTO graph_titles SELECT document, title, name, redirect, leads, type, small, uncased, "
        "nullif(folded, name) FROM graph_titles_before"
    )
    db.execute("DROP TABLE graph_titles_before")
    create_tables(db, TABLES)  # the indexes, which had the same names
    db.execute("DELETE FROM graph_ends WHERE title = ''")  # which led nowhere then, and means the same title now
    put_ends(db, db.execute("SELECT folded, title, base FROM graph_ends").fetchall())
    db.execute("DROP TABLE IF EXISTS graph_stems")  # which words tell


def _see_phrases(db: sqlite3.Connection, text_of: TextOf, changed: Changed) -> None:
    """Find the phrases of all texts without capitals again: how many of them there are decides what a phrase is."""
    numbers = [row[0] for row in db.execute("SELECT document FROM graph_titles WHERE uncased ORDER BY document")]
    before, after = stored_phrases(db), Phrases.of(lambda: map(text_of, numbers))
    db.execute("DELETE FROM graph_phrases")
    db.executemany("INSERT INTO graph_phrases VALUES (?)", sorted((" ".join(phrase),) for phrase in after))
    changed.phrases |= before ^ after
