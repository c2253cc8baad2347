"""Documents as windows of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ragways.layers.settings import WindowSettings
from ragways.store.sentences import sentence_rows
from ragways.store.source import Source, Span
from ragways.store.store import Store

_AT_ONCE = 500
SentencePart = tuple[int, int, int]
"""Section, paragraph and number of a sentence, as its id has them; −1 where it begins in no paragraph."""


def slide(sentences: int, settings: WindowSettings) -> list[Span]:
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
    """One document: where its sentences are in its text, and the windows over them."""

    number: int
    title: str
    text: str
    sentences: tuple[Span, ...]
    windows: tuple[Span, ...]
    parts: tuple[SentencePart, ...] = ()
    """Of each sentence; only for a document that was read from the rows."""

    @classmethod
    def of(cls, source: Source, settings: WindowSettings) -> WindowedDocument:
        """Of a document as layers extract from it."""
        windows = tuple(slide(len(source.sentences), settings))
        return cls(source.number, source.title, source.text, source.sentences, windows)

    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for start, end in self.sentences]

    def window_texts(self) -> list[str]:
        """Sentences joined by a space: what lies between them (headings, blank lines) is not of the window."""
        texts = self.sentence_texts()
        return [" ".join(texts[first:end]) for first, end in self.windows]


def windowed_documents(store: Store, settings: WindowSettings, numbers: Iterable[int]) -> Iterator[WindowedDocument]:
    """Those of these documents that have sentences."""
    for number in numbers:
        rows = sentence_rows(store.db, number)
        for title, text in store.facts("documents", "title, text", [number]) if rows else ():
            spans = tuple((start, end) for _, start, end in rows)
            parts = tuple(_part(path) for path, _, _ in rows)
            yield WindowedDocument(number, title, text, spans, tuple(slide(len(rows), settings)), parts)


def batches(documents: Iterable[WindowedDocument]) -> Iterator[list[WindowedDocument]]:
    """Documents some at a time, so that few of their texts are in memory at once."""
    rest = iter(documents)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _part(path: str) -> SentencePart:
    """`s8:p2:t3` → 8, 2, 3."""
    numbers = [int(name[1:]) for name in path.split(":")]
    section, paragraph, sentence = numbers if len(numbers) > 1 else (-1, -1, *numbers)
    return section, paragraph, sentence
