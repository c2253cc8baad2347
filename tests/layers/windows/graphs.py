"""Small window graphs made from a seed, and an index that knows no more than their documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragways.core.types import Document
from ragways.layers.settings import WindowSettings
from ragways.layers.windows.edges import Nearest, renewed_elsewhere, renewed_within
from ragways.layers.windows.read import StoredWindows
from ragways.layers.windows.sliding import slide
from ragways.layers.windows.themes import DocumentThemes
from ragways.layers.windows.view import WindowArrays, WindowEdges
from ragways.store.packed import pack
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
    spans: list[tuple[int, int]] = []
    places: list[tuple[int, int]] = []
    counts: list[tuple[int, int]] = []
    parts: list[tuple[int, int, int]] = []
    window_texts: list[str] = []
    sentence_texts: list[str] = []
    for _, sentences in made:
        place, own = 0, slide(len(sentences), WindowSettings())
        spans += own
        counts.append((len(own), len(sentences)))
        parts += [(0, 0, n) for n in range(len(sentences))]
        window_texts += [" ".join(sentences[first:end]) for first, end in own]
        sentence_texts += sentences
        for sentence in sentences:
            places.append((place, place + len(sentence)))
            place += len(sentence) + 1
    arrays = WindowArrays(
        numbers=np.array([number_of(document.id) for document, _ in made], np.int64),
        counts=np.array(counts, np.int32),
        themes=np.zeros((len(made), 4), np.int8),
        windows=pack(vectors(rng, window_texts, level=level)),
        window_marks=first_rows(window_texts),
        spans=np.array(spans, np.int32),
        sentences=pack(vectors(rng, sentence_texts, level=level)),
        sentence_marks=first_rows(sentence_texts),
        places=np.array(places, np.int32),
        parts=np.array(parts, np.int32),
    )
    space, nothing = arrays.window_space(), (Nearest.none(0, edges), np.zeros(0, np.int64))
    joined = WindowEdges(
        renewed_within(space, *nothing), renewed_elsewhere(space, *nothing), Nearest.none(len(made), 0)
    )
    windows = StoredWindows(arrays, joined, lambda _: DocumentThemes((), "rule"))
    index = KnownDocuments([document for document, _ in made])
    index.windows = windows
    return Graph(windows, index, vectors(rng, ["question"], level=level)[0], window_texts, sentence_texts)


def first_rows(texts: list[str]) -> np.ndarray:
    return np.array([texts.index(text) for text in texts], np.uint64)
