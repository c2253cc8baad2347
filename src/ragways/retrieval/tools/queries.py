"""Every query that a tool can cause. Nothing else reaches the store: tools fill in values, never a query's words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ragways.index.reader import Index

PartRow = tuple[int, str, int, int]
"""Ordinal, path, start and end of a part."""

_TITLES = "SELECT number, title, redirect FROM documents ORDER BY number"
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
_TEXTS = """SELECT number, text FROM documents
    WHERE redirect IS NULL AND NOT EXISTS (SELECT 1 FROM links WHERE document = number) ORDER BY number"""
_LINKED = "SELECT DISTINCT document, name FROM links ORDER BY document, name"
_LINKS_TO = """SELECT document, start FROM links
    WHERE name IN (SELECT value FROM json_each(?)) AND document != ? ORDER BY document, ordinal"""
_LINKS_NAMED = "SELECT document, start, end FROM links WHERE name = ? ORDER BY document, ordinal LIMIT 1000"
_LINKS_BETWEEN = """SELECT document, start FROM links
    WHERE document = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY ordinal LIMIT 20"""


class Queries:
    """The enumerated queries, each with its values."""

    def __init__(self, index: Index) -> None:
        self._db = index._store.db  # the snapshot that the index reads

    def _all(self, query: str, *values: object) -> list[Any]:
        return self._db.execute(query, values).fetchall()

    def titles(self) -> list[tuple[int, str, str | None]]:
        """Number, title and where it redirects to, of every document."""
        return self._all(_TITLES)

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

    def texts_without_links(self) -> Iterable[tuple[int, str]]:
        return self._db.execute(_TEXTS)

    def linked(self) -> Iterable[tuple[int, str]]:
        """Each document with the names it links to."""
        return self._db.execute(_LINKED)

    def links_to(self, names: Iterable[str], besides: int) -> list[tuple[int, int]]:
        """Document and place of every link to one of these names, except those of one document."""
        return self._all(_LINKS_TO, json.dumps(sorted(names)), besides)

    def links_named(self, name: str) -> list[tuple[int, int, int]]:
        """Document and place of the links to a name, whether it has an article or not."""
        return self._all(_LINKS_NAMED, name)

    def links_between(self, document: int, names: Iterable[str]) -> list[tuple[int, int]]:
        """The first links of a document to one of these names."""
        return self._all(_LINKS_BETWEEN, document, json.dumps(sorted(names)))
