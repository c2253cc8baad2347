"""The layer as traversals read it: arrays, memory-mapped, and what is near what."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import JoinedTexts
from ragways.index.vectors import Vectors
from ragways.index.windows.edges import EdgeRows
from ragways.index.windows.joined import (
    DocumentIds,
    JoinedSegments,
    OrderedRows,
    PartIds,
    SentenceIds,
    WithinEdges,
    themed_documents,
)
from ragways.index.windows.projection import Moments, Projection
from ragways.index.windows.slots import SlotEdges, SlotTable
from ragways.index.windows.themes import DocumentThemes

FOLDER = "windows"
Floats = NDArray[np.float32]


def made_of(folder: Path) -> dict[str, Any]:
    """How the layer in this folder was made: settings, the embedder's dimension, and the documents left out."""
    known: dict[str, Any] = json.loads((folder / "made.json").read_text(encoding="utf-8"))
    return known


def _before(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row, and for the end, how many are kept before it: its new number."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])


@dataclass(frozen=True)
class Nearness:
    """Similarities of everything to one question."""

    question: Floats
    windows: Floats
    sentences: Floats


@dataclass
class Windows:
    """Windows, sentences and documents by row number, from the earliest to the latest. Window `w` holds the sentences
    `window_at[w, 0]` to `window_at[w, 1]` and is of document `window_at[w, 2]`; sentence `s` stands at `sentence_at[s]`
    of its document's text. `window_same` and `sentence_same` are marks of their texts: what occurs twice is the same
    thing.
    """

    windows: Vectors
    sentences: Vectors
    window_at: NDArray[np.int32]
    sentence_at: NDArray[np.int32]
    window_same: NDArray[np.uint64]
    sentence_same: NDArray[np.uint64]
    within: EdgeRows
    across: EdgeRows
    documents: DocumentIds
    by_theme: EdgeRows
    moments: Moments | None = None
    """Sums over all windows, of which the projection is made; where they are not kept, it is made of the windows."""
    themed: Mapping[str, DocumentThemes] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    """Documents that have no vectors yet."""
    _last: tuple[bytes, Nearness] | None = field(default=None, repr=False)

    @classmethod
    def open(cls, folder: Path) -> Windows:
        """The windows in a derived folder."""
        folder = folder / FOLDER
        made = made_of(folder)
        joined = JoinedSegments.load(folder, made["dimension"])
        order, windows, sentences = joined.documents_in_order, joined.windows_in_order, joined.sentences_in_order
        documents = DocumentIds(joined.numbers[order])
        window_counts, sentence_counts = joined.window_counts[order], joined.sentence_counts[order]
        firsts = np.repeat(np.cumsum(sentence_counts) - sentence_counts, window_counts)
        window_at = np.empty((len(windows), 3), np.int32)
        window_at[:, :2] = joined.of_windows("spans", np.zeros((0, 2), np.int32))[windows] + firsts[:, None]
        window_at[:, 2] = np.repeat(np.arange(len(order)), window_counts)
        ids = PartIds(documents, np.cumsum(window_counts))
        paths = JoinedTexts([part.paths for part in joined.parts])
        sentence_ids = SentenceIds(documents, np.cumsum(sentence_counts), paths, sentences)
        nothing = np.zeros((0, 2), np.uint64)
        return cls(
            windows=Vectors(ids, OrderedRows(joined.vectors("windows"), windows)),
            sentences=Vectors(sentence_ids, OrderedRows(joined.vectors("sentences"), sentences)),
            window_at=window_at,
            sentence_at=joined.of_sentences("places", np.zeros((0, 2), np.int32))[sentences],
            window_same=joined.of_windows("window_texts", nothing)[windows, 0],
            sentence_same=joined.of_sentences("sentence_texts", nothing)[sentences, 0],
            within=WithinEdges(joined),
            across=SlotEdges(SlotTable.load(folder, "across"), joined.slots[windows], made["settings"]["top_x"]),
            documents=documents,
            moments=Moments.load(folder),
            by_theme=SlotEdges(SlotTable.load(folder, "themes"), joined.theme_slots[order], made["settings"]["top_t"]),
            themed=themed_documents(joined, documents),
            left_out=tuple(f"article:{number}" for number in made["left_out"]),
        )

    @cached_property
    def projection(self) -> Projection:
        """The three dimensions in which windows differ most."""
        return Projection.fit(self.windows.matrix) if self.moments is None else Projection.of(self.moments)

    def only(self, documents: Collection[str]) -> Windows:
        """Those of these documents, numbered anew. Windows keep the neighbours that are left."""
        chosen = np.array([id in documents for id in self.documents], dtype=np.bool_)
        windows = chosen[self.window_at[:, 2]]
        # A document's first window begins with its first sentence.
        begins = self.window_at[np.flatnonzero(np.diff(self.window_at[:, 2], prepend=-1)), 0]
        sentences = np.repeat(chosen, np.diff(begins, append=len(self.sentences)))
        window_at = self.window_at[windows]
        before, places = _before(sentences), _before(chosen)
        renumbered = np.stack([before[window_at[:, 0]], before[window_at[:, 1]], places[window_at[:, 2]]], axis=1)
        return replace(
            self,
            windows=self.windows.only(windows),
            sentences=self.sentences.only(sentences),
            window_at=renumbered.astype(np.int32),
            sentence_at=self.sentence_at[sentences],
            window_same=self.window_same[windows],
            sentence_same=self.sentence_same[sentences],
            within=self.within.packed().only(windows),
            across=self.across.packed().only(windows),
            documents=DocumentIds(self.documents.numbers[chosen]),
            by_theme=self.by_theme.packed().only(chosen),
            themed={id: self.themed[id] for id in self.documents if id in documents},
            left_out=tuple(id for id in self.left_out if id in documents),
            moments=Moments.of(self.windows.matrix) if self.moments is None else self.moments,
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
        number = self._place(document)
        first, end = np.searchsorted(self.window_at[:, 2], [number, number + 1]).tolist()
        return range(first, end)

    def row_of(self, window: str) -> int | None:
        """The row of the window of this id."""
        document, _, place = window.rpartition(":w")
        if self.documents.place(document) is None or not place.isdecimal():
            return None
        rows = self.windows_of(document)
        return rows[int(place)] if int(place) < len(rows) else None

    def themes(self, document: str) -> DocumentThemes:
        """A document's themes, which its windows and sentences inherit."""
        return self.themed[document]

    def neighbours_by_theme(self, document: str) -> list[tuple[str, float]]:
        to, similarity = self.by_theme.of(self._place(document))
        return [(self.documents[n], s) for n, s in zip(to.tolist(), similarity.tolist(), strict=True)]

    def _place(self, document: str) -> int:
        place = self.documents.place(document)
        if place is None:
            raise KeyError(document)
        return place
