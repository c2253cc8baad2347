"""The view of windows: one array for each thing that readers want to know, and how it follows the rows.

Documents stand by their number, and windows and sentences by their place in the document. So the view of the same rows
is the same in every history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import BudgetExceeded
from ragways.core.types import content_hash
from ragways.layers.files import load_array, load_json, save_array, save_json
from ragways.layers.layer import Use
from ragways.layers.settings import WindowSettings
from ragways.layers.windows.edges import Nearest, Rows, Space, renewed_elsewhere, renewed_within
from ragways.layers.windows.sliding import WindowedDocument, windowed_documents
from ragways.layers.windows.themes import DocumentThemes, themes_in
from ragways.store.store import Change, Store

NAME = "windows"
_HEAD = "view.json"
_AT_ONCE = 500
"""Documents whose texts are in memory at once."""


@dataclass(frozen=True)
class WindowArrays:
    """What the view has of documents, windows and sentences, each a file.

    `counts` are a document's windows and sentences. `windows`, `sentences` and `themes` are packed vectors. A mark is
    that of a text: equal texts have equal marks. `spans` are the first sentence of a window and the end, in the
    document; `places` where a sentence is in the document's text, and `parts` what its id has.
    """

    numbers: NDArray[np.int64]
    counts: NDArray[np.int32]
    themes: NDArray[np.int8]
    windows: NDArray[np.int8]
    window_marks: NDArray[np.uint64]
    spans: NDArray[np.int32]
    sentences: NDArray[np.int8]
    sentence_marks: NDArray[np.uint64]
    places: NDArray[np.int32]
    parts: NDArray[np.int32]

    @classmethod
    def load(cls, view: Path) -> WindowArrays:
        return cls(**{field.name: load_array(view / f"{field.name}.npy") for field in fields(cls)})

    def save(self, view: Path) -> None:
        for field in fields(self):
            save_array(view / f"{field.name}.npy", getattr(self, field.name))

    @property
    def owners(self) -> NDArray[np.int32]:
        """The document of each window, by its place among documents."""
        return np.repeat(np.arange(len(self.numbers), dtype=np.int32), self.counts[:, 0])

    def window_space(self) -> Space:
        return Space(self.windows, self.owners)

    def theme_space(self) -> Space:
        return Space(self.themes, np.arange(len(self.numbers), dtype=np.int32))


_OF_WINDOWS = ("windows", "window_marks", "spans")
_OF_SENTENCES = ("sentences", "sentence_marks", "places", "parts")


@dataclass(frozen=True)
class WindowEdges:
    """The nearest windows in the document and in others, and the documents with the most similar themes."""

    within: Nearest
    across: Nearest
    by_theme: Nearest

    @classmethod
    def none(cls, settings: WindowSettings) -> WindowEdges:
        return cls(*(Nearest.none(0, k) for k in (settings.top_k, settings.top_x, settings.top_t)))

    @classmethod
    def load(cls, view: Path) -> WindowEdges:
        return cls(
            *(
                Nearest(load_array(view / f"{field.name}.npy"), load_array(view / f"{field.name}_similarity.npy"))
                for field in fields(cls)
            )
        )

    def save(self, view: Path) -> None:
        for field in fields(self):
            nearest: Nearest = getattr(self, field.name)
            save_array(view / f"{field.name}.npy", nearest.to)
            save_array(view / f"{field.name}_similarity.npy", nearest.similarity)


def head_of(view: Path) -> dict[str, Any]:
    """How the view was made (settings, embedder, dimension), and the documents left out for want of vectors."""
    return load_json(view / _HEAD) if (view / _HEAD).is_file() else {}


# Folding


async def fold(view: Path, store: Store, change: Change | None, use: Use) -> None:
    """Bring the view up to date: new documents come in, and edges are those that a fresh search finds."""
    settings, meta = use.settings_of(NAME, WindowSettings), store.meta()
    dimension = int(meta["dimension"])
    made = {"settings": settings.model_dump(), "embedder": meta["embedder"], "dimension": dimension}
    before = head_of(view)
    left_out = before.pop("left_out", [])
    if change is None or before != made:
        old, edges, numbers, gone = (
            _Gathered(dimension).arrays(),
            WindowEdges.none(settings),
            store.numbers(),
            set[int](),
        )
    else:
        old, edges = WindowArrays.load(view), WindowEdges.load(view)
        numbers = sorted({*change.added, *left_out})
        gone = {*change.removed, *numbers}
    maker = _Maker(store, use, settings)
    fresh = await maker.arrays(numbers)
    save_json(view / _HEAD, made | {"left_out": maker.left_out})
    stay = ~np.isin(old.numbers, list(gone))
    if change is not None and before == made and stay.all() and not len(fresh.numbers):
        return
    merged = _Merged(old, fresh, stay)
    merged.arrays.save(view)
    windows, themes = merged.arrays.window_space(), merged.arrays.theme_space()
    WindowEdges(
        renewed_within(windows, edges.within, merged.window_places),
        renewed_elsewhere(windows, edges.across, merged.window_places),
        renewed_elsewhere(themes, edges.by_theme, merged.document_places),
    ).save(view)


class _Merged:
    """What stays of the arrays before, and what is new, in the order of documents and places."""

    def __init__(self, old: WindowArrays, fresh: WindowArrays, stay: NDArray[np.bool_]) -> None:
        numbers = np.concatenate([old.numbers[stay], fresh.numbers])
        counts = np.concatenate([old.counts[stay], fresh.counts])
        order = np.argsort(numbers, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        ends = np.cumsum(counts[order], axis=0, dtype=np.int64)
        begins = (ends - counts[order])[place]
        kept = int(stay.sum())
        self.document_places: Rows = np.full(len(stay), -1, np.int64)
        """For each document before, where it is now, or −1."""
        self.document_places[stay] = place[:kept]
        self.window_places: Rows = np.full(len(old.windows), -1, np.int64)
        """The same for windows."""
        parts: dict[str, NDArray[Any]] = {"numbers": numbers[order], "counts": counts[order]}
        parts["themes"] = np.concatenate([old.themes[stay], fresh.themes])[order]
        for column, names in enumerate((_OF_WINDOWS, _OF_SENTENCES)):
            rows = np.repeat(stay, old.counts[:, column])
            to = _runs(begins[:, column], counts[:, column])
            size = int(rows.sum())
            if names is _OF_WINDOWS:
                self.window_places[rows] = to[:size]
            for name in names:
                before, new = getattr(old, name), getattr(fresh, name)
                parts[name] = np.empty((len(to), *before.shape[1:]), before.dtype)
                parts[name][to[:size]] = before[rows]
                parts[name][to[size:]] = new
        self.arrays = WindowArrays(**parts)


def _runs(begins: Rows, counts: NDArray[np.integer[Any]]) -> Rows:
    """The rows of several runs, one after the other: each begins somewhere, and has so many rows."""
    rows: Rows = np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    return rows


# Making rows of documents


class _Gathered:
    """Documents with their vectors, one after the other."""

    def __init__(self, dimension: int) -> None:
        self._width = dimension + 4
        self._documents: list[tuple[int, int, int]] = []
        self._vectors: dict[str, list[bytes]] = {"themes": [], "windows": [], "sentences": []}
        self._marks: dict[str, list[str]] = {"window_marks": [], "sentence_marks": []}
        self._spans: dict[str, list[tuple[int, ...]]] = {"spans": [], "places": [], "parts": []}

    def add(self, document: WindowedDocument, hashes: TextHashes, vectors: dict[str, bytes]) -> None:
        self._documents.append((document.number, len(document.windows), len(document.sentences)))
        for name, some in (
            ("themes", hashes.themes), ("windows", hashes.windows), ("sentences", hashes.sentences),
        ):  # fmt: skip
            self._vectors[name] += [vectors[hash] for hash in some]
        self._marks["window_marks"] += hashes.windows
        self._marks["sentence_marks"] += hashes.sentences
        for name, spans in (
            ("spans", document.windows), ("places", document.sentences), ("parts", document.parts),
        ):  # fmt: skip
            self._spans[name] += spans

    def arrays(self) -> WindowArrays:
        documents = np.array(self._documents, np.int64).reshape(-1, 3)
        parts: dict[str, NDArray[Any]] = {"numbers": documents[:, 0], "counts": documents[:, 1:].astype(np.int32)}
        for name, rows in self._vectors.items():
            parts[name] = np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), self._width)
        for name, marks in self._marks.items():
            parts[name] = np.frombuffer(bytes.fromhex("".join(mark[:16] for mark in marks)), "<u8")
        for name, spans in self._spans.items():
            parts[name] = np.array(spans, np.int32).reshape(-1, 3 if name == "parts" else 2)
        return WindowArrays(**parts)


@dataclass(frozen=True, slots=True)
class TextHashes:
    """The hashes of what is embedded of a document."""

    themes: list[str]
    windows: list[str]
    sentences: list[str]

    @classmethod
    def of(cls, document: WindowedDocument, themes: DocumentThemes, texts: dict[str, str]) -> TextHashes:
        """Adds the texts to others, by hash."""

        def hashed(some: list[str]) -> list[str]:
            hashes = [content_hash(text) for text in some]
            texts.update(zip(hashes, some, strict=True))
            return hashes

        return cls(hashed([themes.text]), hashed(document.window_texts()), hashed(document.sentence_texts()))


class _Maker:
    """Makes arrays of documents. `left_out` comes to be those that lack a vector."""

    def __init__(self, store: Store, use: Use, settings: WindowSettings) -> None:
        self._store = store
        self._use = use
        self._settings = settings
        self.left_out: list[int] = []

    async def arrays(self, numbers: Sequence[int]) -> WindowArrays:
        meta = self._store.meta()
        gathered = _Gathered(int(meta["dimension"]))
        for some in self._batches(numbers):
            themes, texts = themes_in(self._store, [document.number for document in some]), dict[str, str]()
            hashes = [TextHashes.of(document, themes[document.number], texts) for document in some]
            vectors = await self._vectors(meta["embedder"], texts)
            for document, its in zip(some, hashes, strict=True):
                if vectors.keys() >= {*its.themes, *its.windows, *its.sentences}:
                    gathered.add(document, its, vectors)
                else:
                    self.left_out.append(document.number)
        return gathered.arrays()

    def _batches(self, numbers: Sequence[int]) -> Iterator[list[WindowedDocument]]:
        """Documents whose facts were extracted; the others come when they are."""
        rest = windowed_documents(self._store, self._settings, filter(self._is_extracted, numbers))
        while some := list(islice(rest, _AT_ONCE)):
            yield some

    def _is_extracted(self, number: int) -> bool:
        query = "SELECT 1 FROM extracted WHERE layer = ? AND document = ?"
        return self._store.db.execute(query, (NAME, number)).fetchone() is not None

    async def _vectors(self, embedder: str, texts: dict[str, str]) -> dict[str, bytes]:
        """Packed vectors by hash. Those that a cache has lost are made again, as far as the budget goes."""
        found = self._use.cache.vectors(embedder, texts)
        missing = {hash: text for hash, text in texts.items() if hash not in found}
        if missing and self._use.pays:
            try:
                await self._use.embed(missing)
            except BudgetExceeded as error:
                self._use.fail(error.message)
            found |= self._use.cache.vectors(embedder, missing)
        return found
