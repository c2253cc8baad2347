"""Rows of small documents, put into a store without a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from ragways.core.types import Document
from ragways.corpus.structure import Chunking, structure
from ragways.store.cache import FILE
from ragways.store.source import Source
from ragways.store.store import Batch, Store, number_of

CHUNKING = Chunking(60, 0)


def document(key: str, text: str, **more: object) -> Document:
    return Document(key, key.removesuffix(".txt"), text, "text", **more)  # type: ignore[arg-type]


def number(key: str) -> int:
    return number_of(document(key, "").id)


def put(batch: Batch, document: Document) -> None:
    parts = structure(document, CHUNKING)
    hashes = [passage.hash for passage in Source.of(parts, with_title=False).passages]
    batch.put(parts, document.key, [9] * len(hashes), hashes)


def write_texts(store: Store, texts: Mapping[str, str]) -> None:
    """One batch: documents by key; an empty text removes one."""
    write_documents(store, (document(key, text) for key, text in texts.items()))


def write_documents(store: Store, documents: Iterable[Document]) -> None:
    with store.batch() as batch:
        for each in documents:
            if each.text:
                put(batch, each)
            else:
                batch.remove(number_of(each.id))


def failed_work(folder: Path) -> list[tuple[str, int, str, str]]:
    """Of the failed work in a cache: its kind, the tries, the error and the reply."""
    with closing(sqlite3.connect(folder / FILE)) as db:
        return db.execute("SELECT kind, tries, error, reply FROM failures ORDER BY kind, hash").fetchall()
