"""The documents of an index: their texts and parts, where a stretch of text is from, their keys and titles.

What was read last stays in memory, because questions come back to it.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ragways.core.types import Document, Infobox, Link, Markup, Origin, Piece
from ragways.corpus.markup import markdown, unpacked_markup
from ragways.store.articles import StoredArticles
from ragways.store.origin import OriginFinder, SectionRow, unpacked
from ragways.store.sentences import sentence_rows, sentences_of
from ragways.store.store import Store, check_text, number_of, path_of

_CHARACTERS = 20_000_000  # of texts in memory
_PLACES = 500_000  # numbers and titles of places in memory
_INDENT = 80  # characters of an indent that are shown again
_CHUNK = 200  # characters that the place of a chunk counts for
_ID = re.compile(r"article:\d{1,18}(:s\d+(:p\d+(:[ct]\d+)?)?)?")
_TABLES = {"s": "sections", "p": "paragraphs", "c": "chunks"}


class _Article(NamedTuple):
    """A document as pieces are made of it: start, end and tokens of chunks by path. Places and markup are packed."""

    id: str
    key: str
    title: str
    text: str
    date: str
    url: str
    places: str
    markup: str
    chunks: dict[str, tuple[int, int, int]]

    @property
    def size(self) -> int:
        return len(self.text) + _CHUNK * len(self.chunks)


class StoredDocuments:
    """Documents by id, name or chunk: the folder's `Documents` (`layers/protocols.py`). Reads only."""

    stale: frozenset[int] = frozenset()
    """Numbers of documents that changed since the views were made: a hit on a chunk of theirs may mean another text."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget what was read: rows may have changed."""
        self._articles: OrderedDict[int, _Article] = OrderedDict()
        self._characters = 0
        self._finders: OrderedDict[int, OriginFinder] = OrderedDict()
        self._places = 0

    def pieces(self, ids: Iterable[str]) -> dict[str, Piece]:
        """Chunks by id, each with its text and place. An id that is not in this snapshot is left out, and so is one of
        a document that changed since the views were made: this is where stale hits end.
        """
        places = {id: (number, path) for id in ids for number, path in [_place(id)] if number not in self.stale}
        articles = self._read(number for number, _ in places.values())
        found = {}
        for id, (number, path) in places.items():
            if (article := articles.get(number)) is not None and (place := article.chunks.get(path)) is not None:
                start, end, tokens = place
                text = article.text[start:end]
                found[id] = Piece(id, "chunk", text, article.id, article.title, start, end, tokens, article.date)
        return found

    def text(self, document: str, start: int, end: int) -> str:
        """A stretch of a document's text."""
        return self.article(number_of(document))[1][start:end]

    def markup(self, piece: Piece) -> tuple[Markup, ...]:
        number = number_of(piece.document) if piece.document.startswith("article:") else -1
        article = self._read([number]).get(number)
        if article is None or not article.markup or article.text[piece.start : piece.end] != piece.text:
            return ()
        return unpacked_markup(article.markup, piece.start, piece.end)

    def shown(self, piece: Piece, *, escape: bool = False) -> str:
        def first_row(table: Markup) -> str:
            caption, _, rest = self.text(piece.document, table.start, table.end).partition("\n")
            names = rest.partition("\n")[0]
            return names if " | " in names and " | " not in caption else caption

        markup = self.markup(piece)
        if not markup:
            return piece.text
        text, start = piece.text, piece.start
        if any(one.kind == "code" and one.start < start < one.end for one in markup):
            # A piece that begins inside a block of code has lost the indent of its first line.
            before = self.text(piece.document, max(0, start - _INDENT), start)
            indent = before[len(before.rstrip(" ")) :]
            text, start = indent + text, start - len(indent)
        return markdown(text, start, markup, first_row, escape=escape)

    def sentences(self, piece: Piece) -> list[tuple[int, int]]:
        if not piece.document.startswith("article:"):
            return []
        return [
            (max(start, piece.start), min(end, piece.end))
            for start, end in sentences_of(self.store.db, number_of(piece.document), piece.start, piece.end)
        ]

    def document(self, id: str) -> Document | None:
        """A whole document, for showing a piece in its place."""
        number = number_of(id)
        row = self.store.db.execute(
            "SELECT key, title, text, crc, format, metadata, redirect, places, markup FROM documents WHERE number = ?",
            (number,),
        ).fetchone()
        if row is None:
            return None
        key, title, text, crc, format, metadata, redirect, places, markup = row
        check_text(self.store.path, key, text, crc)
        return Document(
            key,
            title,
            text,
            format,
            json.loads(metadata),
            links=tuple(Link(*row) for row in self.store.links(number)),
            infoboxes=tuple(Infobox(*row) for row in self.store.infoboxes(number)),
            redirect=redirect,
            places=unpacked(places),
            markup=unpacked_markup(markup),
        )

    def place(self, id: str) -> tuple[Document, int, int] | None:
        if not _ID.fullmatch(id):
            return None
        document = self.document(id)
        if document is None:
            return None
        if id == document.id:
            return document, 0, len(document.text)
        place = self._part(number_of(id), path_of(id))
        return None if place is None else (document, *place)

    def _part(self, number: int, path: str) -> tuple[int, int] | None:
        """Where a part of a document is."""
        kind = path.rsplit(":", 1)[-1][0]
        if kind == "t":
            rows = sentence_rows(self.store.db, number)
            return next(((start, end) for known, start, end in rows if known == path), None)
        query = f"SELECT start, end FROM {_TABLES[kind]} WHERE document = ? AND path = ?"  # noqa: S608 - our own names
        found: tuple[int, int] | None = self.store.db.execute(query, (number, path)).fetchone()
        return found

    def documents(self) -> list[tuple[str, str, str]]:
        rows = self.store.db.execute("SELECT number, key, title FROM documents ORDER BY key")
        return [(f"article:{number}", key, title) for number, key, title in rows]

    def named(self, column: Literal["key", "source", "name"], value: str) -> dict[str, str]:
        """Keys of the documents of this key, source file or title (as `title_name` makes it), by id; in their order."""
        query = f"SELECT number, key FROM documents WHERE {column} = ? ORDER BY key"  # noqa: S608 - a name of our own
        return {f"article:{number}": key for number, key in self.store.db.execute(query, (value,))}

    def titled(self, names: Iterable[str]) -> set[str]:
        return {row[0] for row in self._rows("name", "documents", "name", sorted(set(names)))}

    def metadata_values(self, field: str, limit: int) -> list[str]:
        query = "SELECT DISTINCT metadata ->> ? FROM documents WHERE metadata ->> ? <> '' LIMIT ?"
        path = f'$."{field}"'
        return [str(row[0]) for row in self.store.db.execute(query, (path, path, limit))]

    def keys(self, documents: Iterable[str]) -> dict[str, str]:
        """Keys of these documents, by id. An id that is not in this snapshot is left out."""
        numbers = {number_of(id) for id in documents if id.startswith("article:")}
        return {
            f"article:{number}": key for number, key in self._rows("number, key", "documents", "number", [*numbers])
        }

    def origins(self, spans: Sequence[tuple[str, int, int]]) -> list[Origin]:
        numbers = {number_of(id) for id, _, _ in spans if id.startswith("article:")}
        if missing := self._read(number for number in numbers if number not in self._finders):
            sections: dict[int, list[SectionRow]] = {number: [] for number in missing}
            columns = "document, end, title, level"
            for number, end, title, level in self._rows(columns, "sections", "document", [*missing]):
                sections[number].append((end, title, level))
            for number, article in missing.items():
                finder = OriginFinder.of_rows(article.key, article.url, article.places, sections[number])
                self._finders[number] = finder
                self._places += finder.size
        found = [
            self._finders[number_of(id)].find(start, end)
            if id.startswith("article:") and number_of(id) in self._finders
            else Origin()
            for id, start, end in spans
        ]
        while self._places > _PLACES:
            self._places -= self._finders.popitem(last=False)[1].size
        return found

    @property
    def articles(self) -> StoredArticles:
        """Articles by title, their parts and their links."""
        return StoredArticles(self.store.db)

    def article(self, number: int) -> tuple[str, str, str]:
        """Title, text and date of a document."""
        article = self._read([number])[number]
        return article.title, article.text, article.date

    def paragraph_tokens(self, number: int) -> dict[str, int]:
        """How many tokens the chunks of each paragraph of a document have, by its path."""
        found: dict[str, int] = {}
        for path, (_, _, tokens) in self._read([number])[number].chunks.items():
            paragraph = path.rpartition(":")[0]
            found[paragraph] = found.get(paragraph, 0) + tokens
        return found

    def _read(self, numbers: Iterable[int]) -> dict[int, _Article]:
        """Articles by number, as far as they are there; texts are compared with their checksums."""
        wanted = dict.fromkeys(numbers)
        found = {}
        for number in wanted:
            if (known := self._articles.get(number)) is not None:
                self._articles.move_to_end(number)
                found[number] = known
        missing = [number for number in wanted if number not in found]
        chunks: dict[int, dict[str, tuple[int, int, int]]] = {number: {} for number in missing}
        if missing:
            columns = "document, path, start, end, tokens"
            for number, path, start, end, tokens in self._rows(columns, "chunks", "document", missing):
                chunks[number][path] = start, end, tokens
            columns = (
                "number, key, title, text, crc, coalesce(metadata ->> '$.date', ''), "
                "coalesce(metadata ->> '$.url', ''), places, markup"
            )
            for row in self._rows(columns, "documents", "number", missing):
                number, key, title, text, crc, date, url, places, markup = row
                check_text(self.store.path, key, text, crc)
                id, parts = f"article:{number}", chunks[number]
                found[number] = _Article(id, key, title, text, date, url, places, markup, parts)
                self._remember(number, found[number])
        return found

    def _remember(self, number: int, article: _Article) -> None:
        self._articles[number] = article
        self._characters += article.size
        while self._characters > _CHARACTERS and len(self._articles) > 1:
            self._characters -= self._articles.popitem(last=False)[1].size

    def _rows(self, columns: str, table: str, key: str, values: Sequence[int] | Sequence[str]) -> list[Any]:
        query = f"SELECT {columns} FROM {table} WHERE {key} IN (SELECT value FROM json_each(?))"  # noqa: S608 - our names
        return self.store.db.execute(query, (json.dumps(list(values)),)).fetchall()


def _place(id: str) -> tuple[int, str]:
    """Number of the document and path of a chunk's id."""
    _, number, path = id.split(":", 2)
    return int(number), path
