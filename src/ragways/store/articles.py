"""Articles by title, their parts and their links: every query that a tool for agents can cause.

Tools fill in values, never a query's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragways.store.titles import query_of

if TYPE_CHECKING:
    import sqlite3

_FEW = 10
"""Names that share four letters in a row with another: where they are fewer, three are enough."""

_PartRow = tuple[int, str, int, int]

_TITLE = "SELECT title FROM documents WHERE number = ? AND redirect IS NULL"
_ARTICLES_NAMED = """SELECT value, number FROM json_each(?) JOIN documents ON number = (
    SELECT number FROM documents WHERE name = value AND redirect IS NULL ORDER BY number LIMIT 1)"""
_REDIRECTS_NAMED = """SELECT value, leads FROM json_each(?) JOIN documents ON number = (
    SELECT number FROM documents WHERE name = value AND redirect IS NOT NULL ORDER BY number DESC LIMIT 1)"""
_BEGINNING = "SELECT name FROM documents WHERE name >= ? AND name < ? ORDER BY name LIMIT ?"
_LEADING = "SELECT DISTINCT name, title FROM documents WHERE leads = ? LIMIT ?"
_LIKE_LETTERS = """SELECT d.name, t.letters FROM main.titles t CROSS JOIN documents d ON d.number = t.rowid
    WHERE t.letters MATCH ? ORDER BY t.rank LIMIT ?"""
_BEFORE = "SELECT number, title FROM documents WHERE number < ? AND redirect IS NULL ORDER BY number DESC LIMIT 2"
_FROM = "SELECT number, title FROM documents WHERE number >= ? AND redirect IS NULL ORDER BY number LIMIT 2"
_KEYS = "SELECT number, key, title, format FROM documents WHERE redirect IS NULL ORDER BY number LIMIT ? OFFSET ?"
_WITH_WORDS = "redirect IS NULL AND (?1 = '' OR title LIKE ?1 ESCAPE '!' OR key LIKE ?1 ESCAPE '!')"
_FOUND = f"""SELECT number, key, title, format, length(text), metadata FROM documents
    WHERE {_WITH_WORDS} ORDER BY key LIMIT ?2 OFFSET ?3"""  # noqa: S608 - words of our own
_COUNTED = f"SELECT count(*) FROM documents WHERE {_WITH_WORDS}"  # noqa: S608 - words of our own
_PARAGRAPHS = "SELECT ordinal, path, start, end FROM paragraphs WHERE document = ? ORDER BY ordinal"
_PARAGRAPHS_IN = """SELECT ordinal, path, start, end FROM paragraphs
    WHERE document = ? AND start >= ? AND end <= ? ORDER BY ordinal"""
_PARAGRAPHS_NEAR = """SELECT ordinal, path, start, end FROM paragraphs
    WHERE document = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal"""
_PARAGRAPH = "SELECT ordinal, path, start, end FROM paragraphs WHERE document = ? AND path = ?"
_PARAGRAPH_AT = """SELECT ordinal, path, start, end FROM paragraphs
    WHERE document = ? AND end > ? ORDER BY ordinal LIMIT 1"""
_SECTIONS = "SELECT ordinal, path, start, end, title, level FROM sections WHERE document = ? ORDER BY ordinal"
_INFOBOXES = "SELECT start, kind, fields FROM infoboxes WHERE document = ? ORDER BY ordinal"
_TEXT = """SELECT text FROM documents
    WHERE number = ? AND redirect IS NULL AND NOT EXISTS (SELECT 1 FROM links WHERE document = number)"""
_ANY_LINKS = "SELECT 1 FROM links LIMIT 1"
_LINKS_OF = "SELECT start, name FROM links WHERE document = ? ORDER BY ordinal LIMIT ?"
_LINKS_TO = "SELECT document, start FROM links WHERE name = ? ORDER BY document, ordinal"
_LINKING = "SELECT DISTINCT document FROM links WHERE name = ? ORDER BY document"
_LINKS_NAMED = "SELECT document, start, end FROM links WHERE name = ? ORDER BY document, ordinal LIMIT 1000"


class StoredArticles:
    """`ArticleLookup` (`layers/protocols.py`) over one snapshot of the rows."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def _all(self, query: str, *values: object) -> list[Any]:
        return self._db.execute(query, values).fetchall()

    def _text(self, query: str, *values: object) -> str | None:
        """The only column of the first row, if there is one."""
        row = self._db.execute(query, values).fetchone()
        return None if row is None else str(row[0])

    def title(self, number: int) -> str | None:
        """The title of an article."""
        return self._text(_TITLE, number)

    def any_links(self) -> bool:
        """Whether any document has links."""
        return bool(self._all(_ANY_LINKS))

    def articles_named(self, names: Iterable[str]) -> dict[str, int]:
        """The first article of each of these names that has one."""
        return dict(self._all(_ARTICLES_NAMED, json.dumps(list(names))))

    def redirects_named(self, names: Iterable[str]) -> dict[str, str]:
        """The name that the last redirect of each of these names leads to."""
        return dict(self._all(_REDIRECTS_NAMED, json.dumps(list(names))))

    def beginning(self, name: str, limit: int) -> list[str]:
        """Names that begin so, in order; one that several documents have may stand several times."""
        return [row[0] for row in self._all(_BEGINNING, name, f"{name}\U0010ffff", limit)]

    def leading(self, name: str, limit: int) -> list[tuple[str, str]]:
        """Names and titles of redirects to a name."""
        return self._all(_LEADING, name, limit)

    def like(self, text: str, limit: int) -> list[tuple[str, str]]:
        """Names that share letters with a text, and their letters: those that share the most first."""
        rows: list[tuple[str, str]] = []
        for length in (4, 3):
            if len(rows) < _FEW and (query := query_of(text, length)):
                rows = self._all(_LIKE_LETTERS, query, limit)
        return rows

    def around(self, number: int) -> list[tuple[int, str]]:
        """Number and title of the two articles before a number, and of the two from it on."""
        return [*reversed(self._all(_BEFORE, number)), *self._all(_FROM, number)]

    def listing(self, limit: int, offset: int) -> list[tuple[int, str, str, str]]:
        """Number, key, title and format of articles."""
        return self._all(_KEYS, limit, offset)

    def found(
        self, words: str, limit: int, offset: int
    ) -> tuple[list[tuple[int, str, str, str, int, dict[str, str]]], int]:
        """Number, key, title, format, length and metadata of articles, by key, and how many there are in all. With
        words, only of those whose title or key has them.
        """
        escaped = words.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        pattern = f"%{escaped}%" if words else ""
        rows = [(*row[:-1], json.loads(row[-1])) for row in self._all(_FOUND, pattern, limit, offset)]
        return rows, int(self._all(_COUNTED, pattern)[0][0])

    def paragraphs(self, document: int) -> list[_PartRow]:
        return self._all(_PARAGRAPHS, document)

    def paragraphs_in(self, document: int, start: int, end: int) -> list[_PartRow]:
        return self._all(_PARAGRAPHS_IN, document, start, end)

    def paragraphs_near(self, document: int, first: int, last: int) -> list[_PartRow]:
        return self._all(_PARAGRAPHS_NEAR, document, first, last)

    def paragraph(self, document: int, path: str) -> _PartRow | None:
        return next(iter(self._all(_PARAGRAPH, document, path)), None)

    def paragraph_at(self, document: int, place: int) -> _PartRow | None:
        """The paragraph that a place of the text lies in, or the next one."""
        return next(iter(self._all(_PARAGRAPH_AT, document, place)), None)

    def sections(self, document: int) -> list[tuple[int, str, int, int, str, int]]:
        """Ordinal, path, start, end, title and level."""
        return self._all(_SECTIONS, document)

    def infoboxes(self, document: int) -> list[tuple[int, str, list[tuple[str, str]]]]:
        """Start, kind and fields."""
        return [(start, kind, json.loads(fields)) for start, kind, fields in self._all(_INFOBOXES, document)]

    def text_without_links(self, number: int) -> str | None:
        """The text of an article that has no links."""
        return self._text(_TEXT, number)

    def links_of(self, document: int, limit: int) -> list[tuple[int, str]]:
        """Place and name of the first links of a document."""
        return self._all(_LINKS_OF, document, limit)

    def links_to(self, name: str) -> Iterator[tuple[int, int]]:
        """Document and place of the links to a name, by document; read as far as they are asked for."""
        return self._db.execute(_LINKS_TO, (name,))

    def linking(self, name: str) -> Iterator[int]:
        """Documents that link to a name, read as far as they are asked for."""
        return (document for (document,) in self._db.execute(_LINKING, (name,)))

    def links_named(self, name: str) -> list[tuple[int, int, int]]:
        """Document and place of the links to a name, whether it has an article or not."""
        return self._all(_LINKS_NAMED, name)
