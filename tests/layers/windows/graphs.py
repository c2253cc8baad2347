"""Small window graphs made from a seed, and an index that knows no more than their documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragways.core.types import Document
from ragways.layers.settings import WindowSettings
from ragways.layers.windows.edges import Nearest, Space, renewed_elsewhere, renewed_within
from ragways.layers.windows.read import DocumentIds, StoredWindows, VectorRows
from ragways.layers.windows.sliding import slide
from ragways.layers.windows.themes import DocumentThemes
from ragways.store.packed import PackedRows
from ragways.store.store import number_of

DIMENSION = 16


class KnownDocuments:
    """What a traversal wants of an index."""

    windows: StoredWindows

    def __init__(self, documents: list[Document]) -> None:
        self._documents = {document.id: document for document in documents}

    def document(self, id: str) -> Document | None:
        return self._documents.get(id)

    def require(self, layers) -> None:
        pass


@dataclass
class Graph:
    windows: StoredWindows
    index: KnownDocuments
    question: np.ndarray
    window_texts: list[str]
    sentence_texts: list[str]


def vectors(rng: np.random.Generator, texts: list[str], *, level: bool) -> np.ndarray:
    """One vector a text. Level ones have coordinates of one size, so that products are exact and often equal."""
    different = sorted(set(texts))
    if level:
        rows = rng.choice([-0.25, 0.25], (len(different), DIMENSION)).astype(np.float32)
    else:
        rows = rng.standard_normal((len(different), DIMENSION)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[[different.index(text) for text in texts]]


def graph(seed: int, *, level: bool, documents: int = 4, longest: int = 8, edges: int = 4, words: int = 40) -> Graph:
    """Documents of 1 to `longest` sentences drawn from `words` texts: few words, many repetitions."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(documents):
        sentences = [f"Sentence {rng.integers(words)}." for _ in range(rng.integers(1, longest + 1))]
        made.append((Document(f"d{number}", f"D{number}", " ".join(sentences), "text"), sentences))
    made.sort(key=lambda pair: number_of(pair[0].id))
    window_ids: list[str] = []
    window_at: list[tuple[int, int, int]] = []
    window_texts: list[str] = []
    sentence_ids: list[str] = []
    sentence_at: list[tuple[int, int]] = []
    sentence_texts: list[str] = []
    for number, (document, sentences) in enumerate(made):
        offset, place = len(sentence_ids), 0
        for n, (first, end) in enumerate(slide(len(sentences), WindowSettings())):
            window_ids.append(f"{document.id}:w{n}")
            window_at.append((first + offset, end + offset, number))
            window_texts.append(" ".join(sentences[first:end]))
        for n, sentence in enumerate(sentences):
            sentence_ids.append(f"{document.id}:s0:p0:t{n}")
            sentence_at.append((place, place + len(sentence)))
            sentence_texts.append(sentence)
            place += len(sentence) + 1
    matrix = PackedRows.of(vectors(rng, window_texts, level=level))
    at = np.array(window_at, np.int32)
    space, nothing = Space(matrix.packed, at[:, 2]), (Nearest.none(0, edges), np.zeros(0, np.int64))
    numbers = np.array([number_of(document.id) for document, _ in made], np.int64)
    windows = StoredWindows(
        windows=VectorRows(window_ids, matrix),
        sentences=VectorRows(sentence_ids, PackedRows.of(vectors(rng, sentence_texts, level=level))),
        window_at=at,
        sentence_at=np.array(sentence_at, np.int32),
        window_same=first_rows(window_texts),
        sentence_same=first_rows(sentence_texts),
        within=renewed_within(space, *nothing),
        across=renewed_elsewhere(space, *nothing),
        by_theme=Nearest.none(len(made), 0),
        documents=DocumentIds(numbers),
        themes_in_store=lambda _: DocumentThemes((), "rule"),
    )
    index = KnownDocuments([document for document, _ in made])
    index.windows = windows
    return Graph(windows, index, vectors(rng, ["question"], level=level)[0], window_texts, sentence_texts)


def first_rows(texts: list[str]) -> np.ndarray:
    return np.array([texts.index(text) for text in texts], np.uint64)
