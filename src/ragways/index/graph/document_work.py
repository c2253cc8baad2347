"""What is done with documents one by one when a graph is made anew, as pieces for other processes.

A piece tells where the names of the corpus are, what is to be done, and with which documents: all as JSON has it, and
bytes in Base64. Which process does it changes nothing.
"""

from __future__ import annotations

import gc
import os
import sqlite3
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from ragways.core.children import serve
from ragways.index.graph.claim_rows import Claim
from ragways.index.graph.claims import NameAnswers
from ragways.index.graph.corpus_names import CorpusNames
from ragways.index.graph.document_statements import ContentsRow
from ragways.index.graph.facts import Source, SourcePassage
from ragways.index.graph.graph_tables import LaidDown
from ragways.index.graph.held_names import HeldDocument
from ragways.index.graph.kept_facts import Read, document_facts, read
from ragways.index.graph.meanings import DocumentMeaning
from ragways.index.graph.updates import Claims, DocumentShare, share_of
from ragways.index.settings import GraphSettings

_RENEWED = 50_000
"""Documents after which all that was remembered of names is forgotten, so that memory has a bound."""
_MAPPED = 1 << 40
PackedDocument = tuple[int, bytes, str]
"""A document's number, its packed facts, and its text."""
Claimed = tuple[list[Any], list[Any]]
"""What documents claim, counted, and what is left of each for the next pass."""


class DocumentWork:
    """Does the work, by the tables of names in a database."""

    def __init__(self, db: sqlite3.Connection, settings: GraphSettings, forbidden: Sequence[str]) -> None:
        self._settings = settings
        self._corpus = CorpusNames(db)
        self._answers = NameAnswers(db, self._corpus.lexicon.common, frozenset(forbidden))

    def facts(self, documents: list[Any]) -> list[Any]:
        """What the rules find in documents."""
        return [self._read(each, names=False) for each in documents]

    def facts_and_names(self, documents: list[Any]) -> list[Any]:
        """The same, with their names."""
        return [self._read(each, names=True) for each in documents]

    def _read(self, document: list[Any], *, names: bool) -> tuple[Any, ...]:
        found = read(_source(document), self._corpus, self._settings, names=names)
        return found.number, _text(found.keys.tobytes()), _as_text(found.facts), _as_text(found.names)

    def heard(self, documents: list[Any]) -> Claimed:
        """What documents claim with their names."""
        return self._claimed(documents, DocumentMeaning.heard)

    def taken(self, documents: list[Any]) -> Claimed:
        """What documents claim by taking one name for another."""
        return self._claimed(documents, DocumentMeaning.taken)

    def kinds(self, documents: list[Any]) -> Claimed:
        """Which kinds of things documents claim to name."""
        return self._claimed(documents, DocumentMeaning.kinds)

    def _claimed(self, documents: list[Any], claimed: Callable[[DocumentMeaning], Claims]) -> Claimed:
        counts: Counter[Claim] = Counter()
        thoughts = []
        for number, *held in documents:
            meaning = self._meaning(*held)
            for claim, count in claimed(meaning):
                counts[claim] += count
            thoughts.append((number, _text(meaning.thought())))
        return [(*claim, count) for claim, count in counts.items()], thoughts

    def _meaning(self, names: str, thought: str | None) -> DocumentMeaning:
        return DocumentMeaning.going_on(b64decode(names), _as_bytes(thought), self._answers)

    def shares(self, documents: list[Any]) -> list[Any]:
        """The shares of documents."""
        found = []
        for number, packed, text, *held in documents:
            facts = document_facts(number, b64decode(packed), text)
            share = share_of(facts, self._meaning(*held), lambda _, text=text: text)  # type: ignore[misc]
            rows = share.rows
            document, paths, dated, *blobs = rows.contents
            contents = document, paths, dated, *map(_text, blobs)
            kept = _text(share.keys.tobytes()), _text(share.meaning)
            found.append((number, *kept, contents, rows.predicates, _text(rows.texts), *rows[3:]))
        return found


# What goes into a piece, and what comes of it


def source_piece(source: Source) -> object:
    """A document that is to be read."""
    passages = [(passage.id, passage.start, passage.end) for passage in source.passages]
    rest = source.sentences, source.links, source.boxes, source.redirect
    return source.number, source.title, source.text, passages, *rest


def _source(piece: list[Any]) -> Source:
    number, title, text, passages, sentences, links, boxes, redirect = piece
    return Source(
        number,
        title,
        text,
        tuple(SourcePassage(id, start, end, title, text[start:end]) for id, start, end in passages),
        tuple((start, end) for start, end in sentences),
        tuple((start, end, target) for start, end, target in links),
        tuple((start, end, kind, tuple((key, value) for key, value in fields)) for start, end, kind, fields in boxes),
        redirect,
    )


def held_piece(document: HeldDocument) -> tuple[object, ...]:
    """A document whose names are held."""
    number, names, thought = document
    return number, _text(names), _as_text(thought)


def packed_piece(document: PackedDocument, held: HeldDocument) -> object:
    """A document whose facts are known."""
    number, packed, text = document
    return number, _text(packed), text, *held_piece(held)[1:]


def reads_of(found: list[Any]) -> Iterator[Read]:
    """What `facts` has found."""
    for number, keys, facts, names in found:
        yield Read(number, np.frombuffer(b64decode(keys), dtype=np.uint32), _as_bytes(facts), _as_bytes(names))


def claims_of(found: list[Any]) -> Iterator[tuple[Claim, int]]:
    """What `heard`, `taken` or `kinds` have counted."""
    for claim, name, value, count in found:
        yield (claim, name, value), count


def thoughts_of(found: list[Any]) -> Iterator[tuple[int, bytes]]:
    """What they leave of documents."""
    for number, thought in found:
        yield number, b64decode(thought)


def shares_of(found: list[Any]) -> Iterator[DocumentShare]:
    """What `shares` has made."""
    for number, keys, meaning, (document, paths, dated, *blobs), predicates, texts, *rows in found:
        contents = ContentsRow(document, paths, dated, *map(b64decode, blobs))
        laid_down = LaidDown(contents, predicates, b64decode(texts), *rows)
        yield DocumentShare(number, np.frombuffer(b64decode(keys), dtype=np.uint32), b64decode(meaning), laid_down)


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _as_text(data: bytes | None) -> str | None:
    return None if data is None else _text(data)


def _as_bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


# In a child


class _Opened:
    """Does pieces, with the names that each tells of: opened when the first of them comes, and now and then anew."""

    def __init__(self) -> None:
        self._place: object = None
        self._done = 0

    def __call__(self, piece: dict[str, Any]) -> object:
        place = piece["names"], piece["step"]
        if place != self._place or self._done > _RENEWED:
            # No other writes while it is read, and each step has a connection of its own.
            path = quote(os.fsencode(Path(piece["names"]).resolve()))
            db = sqlite3.connect(f"file:{path}?immutable=1", uri=True, isolation_level=None)
            db.execute(f"PRAGMA mmap_size = {_MAPPED}")
            self._work = DocumentWork(db, GraphSettings(**piece["settings"]), piece["forbidden"])
            self._place, self._done = place, 0
            gc.collect()
        self._done += len(piece["documents"])
        return do(self._work, piece)


def do(work: DocumentWork, piece: dict[str, Any]) -> object:
    """Do a piece."""
    return _WORK[piece["do"]](work, piece["documents"])


_WORK: dict[str, Callable[[DocumentWork, list[Any]], object]] = {
    work.__name__: work
    for work in (
        DocumentWork.facts,
        DocumentWork.facts_and_names,
        DocumentWork.heard,
        DocumentWork.taken,
        DocumentWork.kinds,
        DocumentWork.shares,
    )
}


if __name__ == "__main__":
    gc.disable()  # millions of small objects, none of them garbage
    serve(_Opened())
