"""Documents as extraction reads them: text with the places of chunks, sentences, links and boxes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ragways.core.types import content_hash
from ragways.index.store import Store

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk, its place in the document, and the name under which what was paid for it is kept.

    The chunk's own hash is that of the text that is searched, which holds the title in some settings only; what a
    chunk says depends on its title always.
    """

    id: str
    start: int
    end: int
    title: str
    text: str

    @property
    def key(self) -> str:
        return content_hash(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Source:
    """One document with its parts."""

    number: int
    title: str
    text: str
    passages: tuple[Passage, ...]
    sentences: tuple[Span, ...]
    links: tuple[tuple[int, int, str], ...]
    boxes: tuple[tuple[int, int, str, tuple[tuple[str, str], ...]], ...]
    redirect: str = ""


def sources(store: Store) -> Iterator[Source]:
    """Every document, by number: the one order that does not tell in which order they came."""
    db = store.db
    rows = db.execute("SELECT number, title, text, redirect FROM documents ORDER BY number").fetchall()
    for number, title, text, redirect in rows:
        yield Source(
            number,
            title,
            text,
            tuple(
                Passage(f"article:{number}:{path}", start, end, title, text[start:end])
                for path, start, end in db.execute(
                    "SELECT path, start, end FROM chunks WHERE document = ? ORDER BY ordinal", (number,)
                )
            ),
            tuple(
                db.execute("SELECT start, end FROM sentences WHERE document = ? ORDER BY ordinal", (number,)).fetchall()
            ),
            tuple(db.execute("SELECT start, end, target FROM links WHERE document = ? ORDER BY ordinal", (number,))),
            tuple(
                (start, end, kind, tuple((str(key), str(value)) for key, value in json.loads(fields)))
                for start, end, kind, fields in db.execute(
                    "SELECT start, end, kind, fields FROM infoboxes WHERE document = ? ORDER BY ordinal", (number,)
                )
            ),
            redirect or "",
        )
