"""The windows as traversals read them: arrays, mapped into memory, and what is near what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.layers.windows.themes import DocumentThemes, themes_in
from ragways.layers.windows.view import WindowArrays, WindowEdges, head_of
from ragways.store.packed import Matrix, PackedRows
from ragways.store.store import Store, number_of

Floats = NDArray[np.float32]
_DIMENSIONS = 3
_SAMPLE = 8192
"""Windows that the projection is made of, at even distances."""


@dataclass(frozen=True)
class Nearness:
    """Similarities of everything to one question."""

    question: Floats
    windows: Floats
    sentences: Floats

    def window(self, window: int) -> float:
        return float(self.windows[window])

    def sentence(self, sentence: int) -> float:
        return float(self.sentences[sentence])

    def falling(self) -> Iterator[int]:
        """Windows, nearest first, equal ones in order. A short list first: seldom is more than that looked at."""
        total, given, depth = len(self.windows), 0, 64
        while given < total:
            if depth < total:
                border = np.partition(self.windows, total - depth)[total - depth]
                rows = np.flatnonzero(self.windows >= border)
            else:
                rows = np.arange(total)
            rows = rows[np.argsort(-self.windows[rows], kind="stable")]
            yield from rows[given:].tolist()
            given, depth = len(rows), depth * 8


@dataclass(frozen=True)
class Projection:
    """`axes` are the directions in which windows differ most, as rows."""

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]

    @classmethod
    def fit(cls, matrix: Matrix) -> Projection:
        """That of these windows, or of a sample of them; each axis has a fixed sign."""
        count, dimension = matrix.shape
        axes = np.zeros((_DIMENSIONS, dimension))
        if not count:
            return cls(np.zeros(dimension), axes)
        rows = np.asarray(matrix[np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.int64)], np.float64)
        mean = rows.mean(axis=0)
        _, vectors = np.linalg.eigh((rows - mean).T @ (rows - mean))  # the largest eigenvalue comes last
        found = vectors.T[::-1][:_DIMENSIONS]
        largest = np.abs(found).argmax(axis=1)
        axes[: len(found)] = found * np.sign(found[np.arange(len(found)), largest])[:, None]
        return cls(mean, axes)

    def apply(self, rows: Matrix | NDArray[np.floating]) -> NDArray[np.float64]:
        projected: NDArray[np.float64] = (np.asarray(rows) - self.mean) @ self.axes.T
        return projected


class StoredWindows:
    """The windows of a view (`protocols.Windows`), or of some of its documents, numbered by document and place.
    `left_out` are documents that have no vectors yet; `whole` are the windows that these are a part of.
    """

    def __init__(
        self,
        arrays: WindowArrays,
        edges: WindowEdges,
        themes_of: Callable[[int], DocumentThemes],
        left_out: Sequence[int] = (),
        whole: StoredWindows | None = None,
    ) -> None:
        self.arrays, self.edges, self.left_out = arrays, edges, left_out
        self.windows, self.sentences = PackedRows(arrays.windows), PackedRows(arrays.sentences)
        self._themes_of, self._whole = themes_of, whole
        self._owners = arrays.owners
        self._begins = np.cumsum(np.vstack([np.zeros((1, 2), np.int64), arrays.counts]), axis=0)
        self._last: Nearness | None = None

    @classmethod
    def open(cls, view: Path, store: Store) -> StoredWindows:
        """The windows in the folder of a view."""
        arrays, edges = WindowArrays.load(view), WindowEdges.load(view)
        return cls(arrays, edges, lambda number: themes_in(store, [number])[number], head_of(view)["left_out"])

    @property
    def documents(self) -> list[str]:
        """Ids of all documents that have windows."""
        return [f"article:{number}" for number in self.arrays.numbers.tolist()]

    @cached_property
    def projection(self) -> Projection:
        """The three dimensions in which windows differ most; of a part, those of the whole."""
        return Projection.fit(self.windows) if self._whole is None else self._whole.projection

    def only(self, numbers: frozenset[int]) -> StoredWindows:
        """Those of these documents, in rows numbered anew. Windows have those of their neighbours that are left."""
        chosen = np.isin(self.arrays.numbers, np.fromiter(numbers, np.int64, len(numbers)))
        edges, windows = self.edges, chosen[self._owners]
        left = WindowEdges(edges.within.only(windows), edges.across.only(windows), edges.by_theme.only(chosen))
        left_out = [number for number in self.left_out if number in numbers]
        return StoredWindows(self.arrays.only(chosen), left, self._themes_of, left_out, self._whole or self)

    def __len__(self) -> int:
        return len(self.windows)

    def nearness(self, question: Floats) -> Nearness:
        """Similarities to a question, computed once however many traversals want them one after the other."""
        if self._last is None or not np.array_equal(self._last.question, question):
            self._last = Nearness(question, self.windows @ question, self.sentences @ question)
        return self._last

    def neighbours(self, window: int) -> list[tuple[int, float]]:
        """Windows joined to this one, of its document and then of others, each with its similarity to it."""
        return self.near_within(window) + self.near_across(window)

    def near_within(self, window: int) -> list[tuple[int, float]]:
        return self.edges.within.of(window)

    def near_across(self, window: int) -> list[tuple[int, float]]:
        return self.edges.across.of(window)

    def likeness(self, window: int, sentences: Sequence[int]) -> list[float]:
        found: list[float] = (self.sentences.take(sentences) @ self.windows[window]).tolist()
        return found

    def projected(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points in the three dimensions of the projection."""
        return self.projection.apply(points)

    def points(self, windows: Sequence[int]) -> NDArray[np.float64]:
        return self.windows[np.array(windows)].astype(np.float64)

    def same_window(self, window: int) -> int:
        return int(self.arrays.window_marks[window])

    def same_sentence(self, sentence: int) -> int:
        return int(self.arrays.sentence_marks[sentence])

    def window_id(self, window: int) -> str:
        return f"{self.document_of(window)}:w{window - self._begins[self._owners[window], 0]}"

    def sentence_id(self, sentence: int) -> str:
        document = int(np.searchsorted(self._begins[:, 1], sentence, side="right")) - 1
        section, paragraph, number = self.arrays.parts[sentence].tolist()
        within = f"s{section}:p{paragraph}:" if section >= 0 else ""
        return f"article:{self.arrays.numbers[document]}:{within}t{number}"

    def span_of(self, sentence: int) -> tuple[int, int]:
        start, end = self.arrays.places[sentence].tolist()
        return start, end

    def sentences_of(self, window: int) -> range:
        first, end = (self.arrays.spans[window] + self._begins[self._owners[window], 1]).tolist()
        return range(first, end)

    def document_of(self, window: int) -> str:
        return f"article:{self.arrays.numbers[self._owners[window]]}"

    def windows_of(self, document: str) -> range:
        """The rows of a document's windows, in reading order; none of one that is not there."""
        place = self._place(document)
        return range(0) if place is None else range(*self._begins[place : place + 2, 0].tolist())

    def row_of(self, window: str) -> int | None:
        """The row of the window of this id."""
        document, _, place = window.rpartition(":w")
        rows = self.windows_of(document)
        return rows[int(place)] if place.isdecimal() and int(place) < len(rows) else None

    def themes(self, document: str) -> DocumentThemes:
        """A document's themes, which its windows and sentences inherit."""
        if self._place(document) is None:
            raise KeyError(document)
        return self._themes_of(number_of(document))

    def neighbours_by_theme(self, document: str) -> list[tuple[str, float]]:
        place = self._place(document)
        if place is None:
            raise KeyError(document)
        return [(f"article:{self.arrays.numbers[row]}", similar) for row, similar in self.edges.by_theme.of(place)]

    def _place(self, document: str) -> int | None:
        """Which of the documents this is."""
        try:
            number = number_of(document)
        except (ValueError, IndexError):
            return None
        numbers = self.arrays.numbers
        at = int(np.searchsorted(numbers, number))
        return at if at < len(numbers) and numbers[at] == number else None
