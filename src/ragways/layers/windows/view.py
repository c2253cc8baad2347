"""The view of windows: one array for each thing that readers want to know, and how it follows the rows.

Documents stand by their number, and windows and sentences by their place in the document. So the view of the same rows
is the same in every history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
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
from ragways.layers.windows.sliding import WindowedDocument, batches, windowed_documents
from ragways.layers.windows.themes import DocumentThemes, themes_in
from ragways.store.store import Change, Store

NAME = "windows"
_HEAD = "view.json"


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

    def only(self, chosen: NDArray[np.bool_]) -> WindowArrays:
        """Those of the chosen documents."""
        rows = (chosen, *(np.repeat(chosen, self.counts[:, column]) for column in (0, 1)))
        named = ((name, some) for some, names in zip(rows, _COLUMNS, strict=True) for name in names)
        return WindowArrays(**{name: getattr(self, name)[some] for name, some in named})

    @property
    def owners(self) -> NDArray[np.int32]:
        """The document of each window, by its place among documents."""
        return np.repeat(np.arange(len(self.numbers), dtype=np.int32), self.counts[:, 0])

    def window_space(self) -> Space:
        return Space(self.windows, self.owners)

    def theme_space(self) -> Space:
        return Space(self.themes, np.arange(len(self.numbers), dtype=np.int32))


_COLUMNS = (
    ("numbers", "counts", "themes"),
    ("windows", "window_marks", "spans"),
    ("sentences", "sentence_marks", "places", "parts"),
)
"""What has a row for each document, window and sentence."""


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
    anew = change is None or before != made
    if change is None or anew:
        old, edges = _Gathered(dimension).arrays(), WindowEdges.none(settings)
        numbers, gone = store.numbers(), set[int]()
    else:
        old, edges = WindowArrays.load(view), WindowEdges.load(view)
        numbers = sorted({*change.added, *left_out})
        gone = {*change.removed, *numbers}
    fresh, left_out = await _arrays_of(numbers, store, use, settings)
    save_json(view / _HEAD, made | {"left_out": left_out})
    stay = ~np.isin(old.numbers, list(gone))
    if not anew and stay.all() and not len(fresh.numbers):
        return
    arrays, documents, windows = _merged(old, fresh, stay)
    arrays.save(view)
    WindowEdges(
        renewed_within(arrays.window_space(), edges.within, windows),
        renewed_elsewhere(arrays.window_space(), edges.across, windows),
        renewed_elsewhere(arrays.theme_space(), edges.by_theme, documents),
    ).save(view)


def _merged(old: WindowArrays, fresh: WindowArrays, stay: NDArray[np.bool_]) -> tuple[WindowArrays, Rows, Rows]:
    """The arrays of documents that stay and of new ones, in the order of documents and places; and for each document
    and window before, where it is now, or −1.
    """
    left = old.only(stay)
    order = np.argsort(np.concatenate([left.numbers, fresh.numbers]), kind="stable")
    place = _inverse(order)
    counts = np.concatenate([left.counts, fresh.counts])
    orders = (order, *(np.argsort(np.repeat(place, counts[:, column]), kind="stable") for column in (0, 1)))
    parts = {
        name: np.concatenate([getattr(left, name), getattr(fresh, name)])[some]
        for names, some in zip(_COLUMNS, orders, strict=True)
        for name in names
    }
    documents, windows = (np.full(len(rows), -1, np.int64) for rows in (old.numbers, old.windows))
    documents[stay] = place[: len(left.numbers)]
    windows[np.repeat(stay, old.counts[:, 0])] = _inverse(orders[1])[: len(left.windows)]
    return WindowArrays(**parts), documents, windows


def _inverse(order: Rows) -> Rows:
    """The place of each row in an order."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


# Making rows of documents


class _Gathered:
    """Documents with their vectors, one after the other."""

    def __init__(self, dimension: int) -> None:
        self._width = dimension + 4
        self._rows: dict[str, list[Any]] = {field.name: [] for field in fields(WindowArrays)}

    def add(self, document: WindowedDocument, hashes: TextHashes, vectors: dict[str, bytes]) -> None:
        own: dict[str, Iterable[Any]] = {
            "numbers": [document.number],
            "counts": [(len(document.windows), len(document.sentences))],
            "themes": [vectors[hash] for hash in hashes.themes],
            "windows": [vectors[hash] for hash in hashes.windows],
            "window_marks": [hash[:16] for hash in hashes.windows],
            "spans": document.windows,
            "sentences": [vectors[hash] for hash in hashes.sentences],
            "sentence_marks": [hash[:16] for hash in hashes.sentences],
            "places": document.sentences,
            "parts": document.parts,
        }
        for name, rows in own.items():
            self._rows[name] += rows

    def arrays(self) -> WindowArrays:
        parts: dict[str, NDArray[Any]] = {"numbers": np.array(self._rows["numbers"], np.int64)}
        for name in ("themes", "windows", "sentences"):
            rows = self._rows[name]
            parts[name] = np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), self._width)
        for name in ("window_marks", "sentence_marks"):
            parts[name] = np.frombuffer(bytes.fromhex("".join(self._rows[name])), "<u8")
        for name, width in (("counts", 2), ("spans", 2), ("places", 2), ("parts", 3)):
            parts[name] = np.array(self._rows[name], np.int32).reshape(-1, width)
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


async def _arrays_of(
    numbers: Sequence[int], store: Store, use: Use, settings: WindowSettings
) -> tuple[WindowArrays, list[int]]:
    """Arrays of documents whose facts were extracted, and those that are left out because they lack a vector."""
    meta = store.meta()
    gathered, left_out = _Gathered(int(meta["dimension"])), list[int]()
    query = "SELECT 1 FROM extracted WHERE layer = ? AND document = ?"
    ready = (number for number in numbers if store.db.execute(query, (NAME, number)).fetchone())
    for some in batches(windowed_documents(store, settings, ready)):
        themes, texts = themes_in(store, [document.number for document in some]), dict[str, str]()
        hashes = [TextHashes.of(document, themes[document.number], texts) for document in some]
        vectors = await _vectors(use, meta["embedder"], texts)
        for document, its in zip(some, hashes, strict=True):
            if vectors.keys() >= {*its.themes, *its.windows, *its.sentences}:
                gathered.add(document, its, vectors)
            else:
                left_out.append(document.number)
    return gathered.arrays(), left_out


async def _vectors(use: Use, embedder: str, texts: dict[str, str]) -> dict[str, bytes]:
    """Packed vectors by hash. Those that a cache has lost are made again, as far as the budget goes."""
    found = use.cache.vectors(embedder, texts)
    missing = {hash: text for hash, text in texts.items() if hash not in found}
    if missing and use.pays:
        try:
            await use.embed(missing)
        except BudgetExceeded as error:
            use.fail(error.message)
        found |= use.cache.vectors(embedder, missing)
    return found
