"""The layer as traversals read it: arrays, memory-mapped, and what is near what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.packed import Matrix
from ragways.index.vectors import Vectors
from ragways.index.windows.edges import FOLDER, Edges, read_json
from ragways.index.windows.themes import DocumentThemes

DIMENSIONS = 3
_AT_ONCE = 4096


@dataclass(frozen=True)
class Projection:
    """`axes` are the directions in which the windows differ most, as rows."""

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]

    @classmethod
    def fit(cls, matrix: Matrix) -> Projection:
        """Sums in a fixed order and a fixed sign, so that the same windows give the same axes."""
        dimension = matrix.shape[1]
        axes = np.zeros((DIMENSIONS, dimension))
        if not len(matrix):
            return cls(np.zeros(dimension), axes)
        mean = sum((block.sum(axis=0) for block in _blocks(matrix)), np.zeros(dimension)) / len(matrix)
        spread = np.zeros((dimension, dimension))
        for block in _blocks(matrix):
            centred = block - mean
            spread += centred.T @ centred
        _, vectors = np.linalg.eigh(spread)  # the largest eigenvalue comes last
        found = vectors.T[::-1][:DIMENSIONS]
        largest = np.abs(found).argmax(axis=1)
        axes[: len(found)] = found * np.sign(found[np.arange(len(found)), largest])[:, None]
        return cls(mean, axes)

    def apply(self, rows: Matrix) -> NDArray[np.float64]:
        projected: NDArray[np.float64] = (np.asarray(rows) - self.mean) @ self.axes.T
        return projected

    def save(self, folder: Path) -> None:
        np.save(folder / "projection.npy", np.vstack([self.mean, self.axes]))

    @classmethod
    def load(cls, folder: Path) -> Projection:
        rows = np.load(folder / "projection.npy")
        return cls(rows[0], rows[1:])


def _blocks(matrix: Matrix) -> Iterator[NDArray[np.float64]]:
    return (matrix[at : at + _AT_ONCE].astype(np.float64) for at in range(0, len(matrix), _AT_ONCE))


def _before(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row, and for the end, how many are kept before it: its new number."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])


def _first_of_same(same: NDArray[np.int32]) -> NDArray[np.int32]:
    """For rows with marks of their texts, the first row with the same mark."""
    _, first, which = np.unique(same, return_index=True, return_inverse=True)
    return first[which].astype(np.int32)


Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Nearness:
    """Similarities of everything to one question."""

    question: Floats
    windows: Floats
    sentences: Floats


@dataclass
class Windows:
    """Windows, sentences and documents by row number; `window_at` and `sentence_at` are as in `Layout`."""

    windows: Vectors
    sentences: Vectors
    window_at: NDArray[np.int32]
    sentence_at: NDArray[np.int32]
    window_same: NDArray[np.int32]
    sentence_same: NDArray[np.int32]
    within: Edges
    across: Edges
    documents: Sequence[str]
    projection: Projection
    projected: NDArray[np.float64]
    by_theme: Edges
    themed: Mapping[str, DocumentThemes] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    """Documents that have no vectors yet."""
    _last: tuple[bytes, Nearness] | None = field(default=None, repr=False)

    @classmethod
    def open(cls, folder: Path) -> Windows:
        """The windows in a derived folder."""
        folder = folder / FOLDER

        def array(name: str) -> NDArray[np.int32]:
            rows: NDArray[np.int32] = np.load(folder / f"{name}.npy")
            return rows

        themes = read_json(folder, "themes")
        return cls(
            windows=Vectors.load(folder, "windows"),
            sentences=Vectors.load(folder, "sentences"),
            window_at=array("window_at"),
            sentence_at=array("sentence_at"),
            window_same=array("window_same"),
            sentence_same=array("sentence_same"),
            within=Edges.load(folder, "within"),
            across=Edges.load(folder, "across"),
            documents=read_json(folder, "known")["documents"],
            projection=Projection.load(folder),
            projected=np.load(folder / "projected.npy", mmap_mode="r"),
            by_theme=Edges.load(folder, "themes"),
            themed={id: DocumentThemes(tuple(themed["themes"]), themed["way"]) for id, themed in themes.items()},
            left_out=tuple(read_json(folder, "left_out")),
        )

    def only(self, documents: Collection[str]) -> Windows:
        """Those of these documents, numbered anew. Windows keep the neighbours that are left."""
        chosen = np.array([id in documents for id in self.documents], dtype=np.bool_)
        windows = chosen[self.window_at[:, 2]]
        sentences = np.array([":".join(id.split(":", 2)[:2]) in documents for id in self.sentences.ids], dtype=np.bool_)
        window_at = self.window_at[windows]
        before, places = _before(sentences), _before(chosen)
        renumbered = np.stack([before[window_at[:, 0]], before[window_at[:, 1]], places[window_at[:, 2]]], axis=1)
        return replace(
            self,
            windows=self.windows.only(windows),
            sentences=self.sentences.only(sentences),
            window_at=renumbered.astype(np.int32),
            sentence_at=self.sentence_at[sentences],
            window_same=_first_of_same(self.window_same[windows]),
            sentence_same=_first_of_same(self.sentence_same[sentences]),
            within=self.within.only(windows),
            across=self.across.only(windows),
            documents=[id for id in self.documents if id in documents],
            projected=np.asarray(self.projected)[windows],
            by_theme=self.by_theme.only(chosen),
            themed={id: themes for id, themes in self.themed.items() if id in documents},
            left_out=tuple(id for id in self.left_out if id in documents),
            _last=None,
        )

    def __len__(self) -> int:
        return len(self.windows)

    def nearness(self, question: Floats) -> Nearness:
        """Similarities to a question, computed once however many traversals ask for them one after the other."""
        key = question.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, Nearness(question, self.windows.matrix @ question, self.sentences.matrix @ question)
        return self._last[1]

    def neighbours(self, window: int) -> list[tuple[int, float]]:
        """Windows joined to this one, of its document and then of others, each with its similarity to it."""
        near, far = self.within.of(window), self.across.of(window)
        return [
            *zip(near[0].tolist(), near[1].tolist(), strict=True),
            *zip(far[0].tolist(), far[1].tolist(), strict=True),
        ]

    def sentences_of(self, window: int) -> range:
        first, end, _ = self.window_at[window].tolist()
        return range(first, end)

    def document_of(self, window: int) -> str:
        return self.documents[int(self.window_at[window, 2])]

    def windows_of(self, document: str) -> range:
        """The rows of a document's windows, in reading order."""
        number = self._numbers[document]
        first, end = np.searchsorted(self.window_at[:, 2], [number, number + 1]).tolist()
        return range(first, end)

    def themes(self, document: str) -> DocumentThemes:
        """A document's themes, which its windows and sentences inherit."""
        return self.themed[document]

    def neighbours_by_theme(self, document: str) -> list[tuple[str, float]]:
        to, similarity = self.by_theme.of(self._numbers[document])
        return [(self.documents[n], s) for n, s in zip(to.tolist(), similarity.tolist(), strict=True)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {id: number for number, id in enumerate(self.documents)}
