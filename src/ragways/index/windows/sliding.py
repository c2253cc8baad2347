"""Documents as windows of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragways.index.sentences import sentence_counts, sentence_rows
from ragways.index.settings import WindowSettings
from ragways.index.store import Store, number_of


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

    @property
    def number(self) -> int:
        return number_of(self.id)

    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for _, start, end in self.sentences]

    def window_texts(self) -> list[str]:
        """Sentences joined by a space: what lies between them (headings, blank lines) is not of the window."""
        texts = self.sentence_texts()
        return [" ".join(texts[first:end]) for first, end in self.windows]


def windowed_documents(
    store: Store, settings: WindowSettings, numbers: Iterable[int] | None = None
) -> Iterator[WindowedDocument]:
    """Documents (of these numbers) that have sentences, by number."""
    if numbers is None:
        numbers = [row[0] for row in store.db.execute("SELECT number FROM documents ORDER BY number")]
    for number in numbers:
        rows = sentence_rows(store.db, number)
        if rows:
            title, text = store.db.execute("SELECT title, text FROM documents WHERE number = ?", (number,)).fetchone()
            id = f"article:{number}"
            sentences = tuple((f"{id}:{path}", start, end) for path, start, end in rows)
            yield WindowedDocument(id, title, text, sentences, tuple(slide(len(rows), settings)))


def window_counts(
    store: Store, settings: WindowSettings, numbers: Iterable[int] | None = None
) -> Iterator[tuple[int, int]]:
    """Documents (of these numbers) that have sentences, by number, with how many windows each has."""
    return ((number, len(slide(count, settings))) for number, count in sentence_counts(store.db, numbers))
