"""Every query that a tool can cause. Nothing else reaches the store: tools fill in values, never a query's words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import Any, TypeVar

from ragways.index.reader import Index

PartRow = tuple[int, str, int, int]
"""Ordinal, path, start and end of a part."""

_TITLES = "SELECT number, title, name, redirect FROM documents ORDER BY number"
_TITLE = "SELECT title FROM documents WHERE number = ? AND redirect IS NULL"
_ARTICLE_NAMED = "SELECT number FROM documents WHERE name = ? AND redirect IS NULL ORDER BY number LIMIT 1"
_REDIRECT_NAMED = "SELECT redirect FROM documents WHERE name = ? AND redirect IS NOT NULL ORDER BY number DESC LIMIT 1"
_BEFORE = "SELECT number, title FROM documents WHERE number < ? AND redirect IS NULL ORDER BY number DESC LIMIT 2"
_FROM = "SELECT number, title FROM documents WHERE number >= ? AND redirect IS NULL ORDER BY number LIMIT 2"
_KEYS = "SELECT number, key, title, format FROM documents WHERE redirect IS NULL ORDER BY number LIMIT ? OFFSET ?"
_LIKE = "redirect IS NULL AND (?1 = '' OR title LIKE ?1 ESCAPE '!' OR key LIKE ?1 ESCAPE '!')"
_FOUND = f"""SELECT number, key, title, format, length(text), metadata FROM documents
    WHERE {_LIKE} ORDER BY key LIMIT ?2 OFFSET ?3"""  # noqa: S608 - words of our own
_COUNTED = f"SELECT count(*) FROM documents WHERE {_LIKE}"  # noqa: S608 - words of our own
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
_WITHOUT_LINKS = "redirect IS NULL AND NOT EXISTS (SELECT 1 FROM links WHERE document = number)"
_TEXTS = f"SELECT number, text FROM documents WHERE {_WITHOUT_LINKS} ORDER BY number"  # noqa: S608 - words of our own
_LENGTHS = f"SELECT length(text) FROM documents WHERE {_WITHOUT_LINKS}"  # noqa: S608 - words of our own
_TEXT = f"SELECT text FROM documents WHERE number = ? AND {_WITHOUT_LINKS}"  # noqa: S608 - words of our own
_AMONG = f"""SELECT number FROM documents
    WHERE number IN (SELECT value FROM json_each(?)) AND {_WITHOUT_LINKS} ORDER BY number"""  # noqa: S608 - words of our own
_LINKS = "SELECT count(*) FROM (SELECT 1 FROM links LIMIT ?)"
_LINKED = "SELECT DISTINCT document, name FROM links ORDER BY document, name"
_LINKS_OF = "SELECT DISTINCT name FROM links WHERE document = ?"
_LINKS_TO = "SELECT document, start FROM links WHERE name = ? ORDER BY document, ordinal"
_LINKING = "SELECT DISTINCT document FROM links WHERE name = ? ORDER BY document"
_LINKS_NAMED = "SELECT document, start, end FROM links WHERE name = ? ORDER BY document, ordinal LIMIT 1000"
_LINKS_BETWEEN = """SELECT document, start FROM links
    WHERE document = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY ordinal LIMIT 20"""


T = TypeVar("T")


def in_parts(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """What there is, so many at a time."""
    rest = iter(rows)
    while some := list(islice(rest, size)):
        yield some


class Queries:
    """The enumerated queries, each with its values."""

    def __init__(self, index: Index) -> None:
        self._db = index._store.db  # the snapshot that the index reads

    def _all(self, query: str, *values: object) -> list[Any]:
        return self._db.execute(query, values).fetchall()

    def _text(self, query: str, *values: object) -> str | None:
        """The only column of the first row, if there is one."""
        row = self._db.execute(query, values).fetchone()
        return None if row is None else str(row[0])

    def _number(self, query: str, *values: object) -> int | None:
        row = self._db.execute(query, values).fetchone()
        return None if row is None else int(row[0])

    def titles(self) -> Iterator[tuple[int, str, str, str | None]]:
        """Number, title, the title as it is compared, and where it redirects to, of every document."""
        return self._db.execute(_TITLES)

    def title(self, number: int) -> str | None:
        """The title of an article."""
        return self._text(_TITLE, number)

    def article_named(self, name: str) -> int | None:
        """The first article of this name."""
        return self._number(_ARTICLE_NAMED, name)

    def redirect_named(self, name: str) -> str | None:
        """What the last redirect of this name leads to."""
        return self._text(_REDIRECT_NAMED, name)

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

    def paragraphs(self, document: int) -> list[PartRow]:
        return self._all(_PARAGRAPHS, document)

    def paragraphs_in(self, document: int, start: int, end: int) -> list[PartRow]:
        return self._all(_PARAGRAPHS_IN, document, start, end)

    def paragraphs_near(self, document: int, first: int, last: int) -> list[PartRow]:
        return self._all(_PARAGRAPHS_NEAR, document, first, last)

    def paragraph(self, document: int, path: str) -> PartRow | None:
        return next(iter(self._all(_PARAGRAPH, document, path)), None)

    def paragraph_at(self, document: int, place: int) -> PartRow | None:
        """The paragraph that a place of the text lies in, or the next one."""
        return next(iter(self._all(_PARAGRAPH_AT, document, place)), None)

    def sections(self, document: int) -> list[tuple[int, str, int, int, str, int]]:
        """Ordinal, path, start, end, title and level."""
        return self._all(_SECTIONS, document)

    def infoboxes(self, document: int) -> list[tuple[int, str, list[tuple[str, str]]]]:
        """Start, kind and fields."""
        return [(start, kind, json.loads(fields)) for start, kind, fields in self._all(_INFOBOXES, document)]

    def texts_without_links(self) -> Iterator[tuple[int, str]]:
        """Number and text of each article without links."""
        return self._db.execute(_TEXTS)

    def has_texts_without_links(self, characters: int) -> bool:
        """Whether these have more characters."""
        return any(total > characters for total in accumulate(length for (length,) in self._db.execute(_LENGTHS)))

    def text_without_links(self, number: int) -> str | None:
        """The text of an article that has no links."""
        return self._text(_TEXT, number)

    def has_links(self, most: int) -> bool:
        """Whether there are more links."""
        return (self._number(_LINKS, most + 1) or 0) > most

    def linked(self) -> Iterator[tuple[int, str]]:
        """Each document with the names it links to."""
        return self._db.execute(_LINKED)

    def links_of(self, document: int) -> Iterator[str]:
        """The names that a document links to, read as far as they are asked for."""
        return (name for (name,) in self._db.execute(_LINKS_OF, (document,)))

    def without_links(self, numbers: Iterable[int]) -> list[int]:
        """Those of these articles that have no links, in order."""
        return [number for (number,) in self._all(_AMONG, json.dumps(list(numbers)))]

    def links_to(self, name: str) -> Iterator[tuple[int, int]]:
        """Document and place of the links to a name, by document; read as far as they are asked for."""
        return self._db.execute(_LINKS_TO, (name,))

    def linking(self, name: str) -> Iterator[int]:
        """Documents that link to a name, read as far as they are asked for."""
        return (document for (document,) in self._db.execute(_LINKING, (name,)))

    def links_named(self, name: str) -> list[tuple[int, int, int]]:
        """Document and place of the links to a name, whether it has an article or not."""
        return self._all(_LINKS_NAMED, name)

    def links_between(self, document: int, names: Iterable[str]) -> list[tuple[int, int]]:
        """The first links of a document to one of these names."""
        return self._all(_LINKS_BETWEEN, document, json.dumps(sorted(names)))
