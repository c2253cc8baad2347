"""The windows as traversals read them: arrays, mapped into memory, and what is near what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ragways.layers.windows.edges import Nearest
from ragways.layers.windows.themes import DocumentThemes, themes_in
from ragways.layers.windows.view import WindowArrays, WindowEdges, head_of
from ragways.store.packed import Matrix, PackedRows
from ragways.store.store import Store, number_of

Floats = NDArray[np.float32]
_DIMENSIONS = 3
_SAMPLE = 8192
"""Windows that the projection is made of, at even distances."""


class RowIds(Sequence[str]):
    """Ids that are made when they are read."""

    def __init__(self, count: int, id_of: Callable[[int], str]) -> None:
        self._count = count
        self._id_of = id_of

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self._id_of(each) for each in range(self._count)[row]]
        return self._id_of(range(self._count)[row])


class DocumentIds(RowIds):
    """Ids of documents, whose numbers rise."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        super().__init__(len(numbers), lambda row: f"article:{numbers[row]}")
        self.numbers = numbers

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.place(id) is not None

    def place(self, id: str) -> int | None:
        """Which of them a document is."""
        try:
            number = number_of(id)
        except (ValueError, IndexError):
            return None
        at = int(np.searchsorted(self.numbers, number))
        return at if at < len(self.numbers) and self.numbers[at] == number else None


@dataclass(frozen=True)
class VectorRows:
    """Vectors of length 1 with their ids."""

    ids: Sequence[str]
    matrix: PackedRows

    def __len__(self) -> int:
        return len(self.ids)

    def only(self, chosen: NDArray[np.bool_]) -> VectorRows:
        rows = np.flatnonzero(chosen)
        return VectorRows([self.ids[row] for row in rows.tolist()], self.matrix.take(rows))


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


@dataclass
class StoredWindows:
    """Windows, sentences and documents by row number, by document and place. Window `w` has the sentences
    `window_at[w, 0]` to `window_at[w, 1]` and is of document `window_at[w, 2]`; sentence `s` stands at `sentence_at[s]`
    of its document's text. `window_same` and `sentence_same` are marks of their texts: what occurs twice is the same
    thing.
    """

    windows: VectorRows
    sentences: VectorRows
    window_at: NDArray[np.int32]
    sentence_at: NDArray[np.int32]
    window_same: NDArray[np.uint64]
    sentence_same: NDArray[np.uint64]
    within: Nearest
    across: Nearest
    by_theme: Nearest
    documents: DocumentIds
    themes_in_store: Callable[[int], DocumentThemes]
    """Themes of the document of a number."""
    left_out: tuple[str, ...] = ()
    """Documents that have no vectors yet."""
    _whole: StoredWindows | None = field(default=None, repr=False)
    """Those that these are a part of."""
    _last: Nearness | None = field(default=None, repr=False)

    @classmethod
    def open(cls, view: Path, store: Store) -> StoredWindows:
        """The windows in the folder of a view."""
        arrays, edges = WindowArrays.load(view), WindowEdges.load(view)
        documents, owners = DocumentIds(arrays.numbers), arrays.owners
        first_windows, first_sentences = (np.cumsum(arrays.counts, axis=0, dtype=np.int32) - arrays.counts).T
        window_at = np.column_stack([arrays.spans + first_sentences[owners, None], owners]).astype(np.int32)
        sentence_owners = np.repeat(np.arange(len(documents), dtype=np.int32), arrays.counts[:, 1])

        def window_id(row: int) -> str:
            return f"{documents[int(owners[row])]}:w{row - first_windows[owners[row]]}"

        def sentence_id(row: int) -> str:
            section, paragraph, sentence = arrays.parts[row].tolist()
            within = f"s{section}:p{paragraph}:" if section >= 0 else ""
            return f"{documents[int(sentence_owners[row])]}:{within}t{sentence}"

        return cls(
            windows=VectorRows(RowIds(len(owners), window_id), PackedRows(arrays.windows)),
            sentences=VectorRows(RowIds(len(sentence_owners), sentence_id), PackedRows(arrays.sentences)),
            window_at=window_at,
            sentence_at=arrays.places,
            window_same=arrays.window_marks,
            sentence_same=arrays.sentence_marks,
            within=edges.within,
            across=edges.across,
            by_theme=edges.by_theme,
            documents=documents,
            themes_in_store=lambda number: themes_in(store, [number])[number],
            left_out=tuple(f"article:{number}" for number in head_of(view)["left_out"]),
        )

    @cached_property
    def projection(self) -> Projection:
        """The three dimensions in which windows differ most; of a part, those of the whole."""
        return Projection.fit(self.windows.matrix) if self._whole is None else self._whole.projection

    def only(self, numbers: frozenset[int]) -> StoredWindows:
        """Those of these documents, in rows numbered anew. Windows have those of their neighbours that are left."""
        chosen = np.isin(self.documents.numbers, np.fromiter(numbers, np.int64, len(numbers)))
        windows = chosen[self.window_at[:, 2]]
        # A document's first window begins with its first sentence.
        begins = self.window_at[np.flatnonzero(np.diff(self.window_at[:, 2], prepend=-1)), 0]
        sentences = np.repeat(chosen, np.diff(begins, append=len(self.sentences)))
        window_at = self.window_at[windows]
        before, places = _count_before(sentences), _count_before(chosen)
        renumbered = np.stack([before[window_at[:, 0]], before[window_at[:, 1]], places[window_at[:, 2]]], axis=1)
        return replace(
            self,
            windows=self.windows.only(windows),
            sentences=self.sentences.only(sentences),
            window_at=renumbered.astype(np.int32),
            sentence_at=self.sentence_at[sentences],
            window_same=self.window_same[windows],
            sentence_same=self.sentence_same[sentences],
            within=self.within.only(windows),
            across=self.across.only(windows),
            by_theme=self.by_theme.only(chosen),
            documents=DocumentIds(self.documents.numbers[chosen]),
            left_out=tuple(id for id in self.left_out if number_of(id) in numbers),
            _whole=self._whole or self,
            _last=None,
        )

    def __len__(self) -> int:
        return len(self.windows)

    def nearness(self, question: Floats) -> Nearness:
        """Similarities to a question, computed once however many traversals want them one after the other."""
        if self._last is None or not np.array_equal(self._last.question, question):
            self._last = Nearness(question, self.windows.matrix @ question, self.sentences.matrix @ question)
        return self._last

    def neighbours(self, window: int) -> list[tuple[int, float]]:
        """Windows joined to this one, of its document and then of others, each with its similarity to it."""
        return self.near_within(window) + self.near_across(window)

    def near_within(self, window: int) -> list[tuple[int, float]]:
        """Those of them that are of its own document, nearest first."""
        return _pairs(*self.within.of(window))

    def near_across(self, window: int) -> list[tuple[int, float]]:
        """Those of them that are of other documents, nearest first."""
        return _pairs(*self.across.of(window))

    def likeness(self, window: int, sentences: Sequence[int]) -> list[float]:
        """How similar sentences are to a window."""
        found: list[float] = (self.sentences.matrix.take(np.array(sentences)) @ self.windows.matrix[window]).tolist()
        return found

    def projected(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points in the three dimensions of the projection."""
        return self.projection.apply(points)

    def points(self, windows: Sequence[int]) -> NDArray[np.float64]:
        """The vectors of windows, as rows."""
        return self.windows.matrix[np.array(windows)].astype(np.float64)

    def same_window(self, window: int) -> int:
        """A mark of its text: windows of one text have the same."""
        return int(self.window_same[window])

    def same_sentence(self, sentence: int) -> int:
        """A mark of its text: sentences of one text have the same."""
        return int(self.sentence_same[sentence])

    def window_id(self, window: int) -> str:
        return self.windows.ids[window]

    def sentence_id(self, sentence: int) -> str:
        return self.sentences.ids[sentence]

    def span_of(self, sentence: int) -> tuple[int, int]:
        """Where a sentence begins and ends in its document's text."""
        start, end = self.sentence_at[sentence].tolist()
        return start, end

    def sentences_of(self, window: int) -> range:
        first, end, _ = self.window_at[window].tolist()
        return range(first, end)

    def document_of(self, window: int) -> str:
        return self.documents[int(self.window_at[window, 2])]

    def windows_of(self, document: str) -> range:
        """The rows of a document's windows, in reading order; none of one that is not there."""
        place = self.documents.place(document)
        if place is None:
            return range(0)
        first, end = np.searchsorted(self.window_at[:, 2], [place, place + 1]).tolist()
        return range(first, end)

    def row_of(self, window: str) -> int | None:
        """The row of the window of this id."""
        document, _, place = window.rpartition(":w")
        rows = self.windows_of(document)
        return rows[int(place)] if place.isdecimal() and int(place) < len(rows) else None

    def themes(self, document: str) -> DocumentThemes:
        """A document's themes, which its windows and sentences inherit."""
        return self.themes_in_store(int(self.documents.numbers[self._place(document)]))

    def neighbours_by_theme(self, document: str) -> list[tuple[str, float]]:
        to, similarity = self.by_theme.of(self._place(document))
        return [(self.documents[n], s) for n, s in zip(to.tolist(), similarity.tolist(), strict=True)]

    def _place(self, document: str) -> int:
        place = self.documents.place(document)
        if place is None:
            raise KeyError(document)
        return place


def _pairs(rows: NDArray[np.integer], similarities: Floats) -> list[tuple[int, float]]:
    return list(zip(rows.tolist(), similarities.tolist(), strict=True))


def _count_before(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row, and for the end, how many are chosen before it: its new number."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
