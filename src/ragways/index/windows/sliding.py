"""Documents as windows of sentences, in the one order that all files of the layer share."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash
from ragways.index.settings import WindowSettings
from ragways.index.store import Store


def slide(sentences: int, settings: WindowSettings) -> list[tuple[int, int]]:
    """First sentence and end of each window. A short document is one window; the last window reaches the end."""
    last = sentences - settings.size
    if last <= 0:
        return [(0, sentences)] if sentences else []
    starts = list(range(0, last + 1, settings.slide))
    if starts[-1] != last:
        starts.append(last)
    return [(start, start + settings.size) for start in starts]


@dataclass(frozen=True, slots=True)
class WindowedDocument:
    """One document: its sentences with their places, and the windows over them."""

    id: str
    title: str
    text: str
    sentences: tuple[tuple[str, int, int], ...]
    windows: tuple[tuple[int, int], ...]

    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for _, start, end in self.sentences]

    def window_texts(self) -> list[str]:
        """Sentences joined by a space: what lies between them (headings, blank lines) is not of the window."""
        texts = self.sentence_texts()
        return [" ".join(texts[first:end]) for first, end in self.windows]


def windowed_documents(store: Store, settings: WindowSettings) -> Iterator[WindowedDocument]:
    """Documents that have sentences, by number."""
    numbers = [row[0] for row in store.db.execute("SELECT number FROM documents ORDER BY number")]
    for number in numbers:
        rows = store.db.execute(
            "SELECT path, start, end FROM sentences WHERE document = ? ORDER BY ordinal", (number,)
        ).fetchall()
        if rows:
            title, text = store.db.execute("SELECT title, text FROM documents WHERE number = ?", (number,)).fetchone()
            id = f"article:{number}"
            sentences = tuple((f"{id}:{path}", start, end) for path, start, end in rows)
            yield WindowedDocument(id, title, text, sentences, tuple(slide(len(rows), settings)))


@dataclass(frozen=True)
class Layout:
    """Rows of windows and of sentences. Window `w` holds the sentences `window_at[w, 0]` to `window_at[w, 1]` and is
    of document `window_at[w, 2]`; sentence `s` stands at `sentence_at[s]` of its document's text.

    `window_same` and `sentence_same` name the first row with the same text: what occurs twice is the same thing.
    """

    documents: tuple[str, ...]
    prints: tuple[str, ...]
    """For each document a hash of its windows' texts: equal prints, equal windows."""
    windows: tuple[str, ...]
    window_hashes: tuple[str, ...]
    window_at: NDArray[np.int32]
    sentences: tuple[str, ...]
    sentence_hashes: tuple[str, ...]
    sentence_at: NDArray[np.int32]

    @property
    def window_same(self) -> NDArray[np.int32]:
        return first_rows(self.window_hashes)

    @property
    def sentence_same(self) -> NDArray[np.int32]:
        return first_rows(self.sentence_hashes)


def lay_out(
    store: Store, settings: WindowSettings, *, known: Container[str] | None = None, without: Container[str] = ()
) -> Layout:
    """Rows of all documents but those `without`, or only of those whose every text is among the `known` hashes."""
    documents: list[str] = []
    prints: list[str] = []
    windows: list[str] = []
    window_hashes: list[str] = []
    window_at: list[tuple[int, int, int]] = []
    sentences: list[str] = []
    sentence_hashes: list[str] = []
    sentence_at: list[tuple[int, int]] = []
    for slid in windowed_documents(store, settings):
        of_windows = [content_hash(text) for text in slid.window_texts()]
        of_sentences = [content_hash(text) for text in slid.sentence_texts()]
        if slid.id in without or (known is not None and not all(h in known for h in (*of_windows, *of_sentences))):
            continue
        offset, document = len(sentences), len(documents)
        documents.append(slid.id)
        prints.append(content_hash(*of_windows))
        windows += [f"{slid.id}:w{n}" for n in range(len(slid.windows))]
        window_hashes += of_windows
        window_at += [(first + offset, end + offset, document) for first, end in slid.windows]
        sentences += [id for id, _, _ in slid.sentences]
        sentence_hashes += of_sentences
        sentence_at += [(start, end) for _, start, end in slid.sentences]
    return Layout(
        tuple(documents),
        tuple(prints),
        tuple(windows),
        tuple(window_hashes),
        np.array(window_at, np.int32).reshape(-1, 3),
        tuple(sentences),
        tuple(sentence_hashes),
        np.array(sentence_at, np.int32).reshape(-1, 2),
    )


def first_rows(hashes: Sequence[str]) -> NDArray[np.int32]:
    """For each row the first one with the same hash."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(hash, row) for row, hash in enumerate(hashes)], np.int32)
