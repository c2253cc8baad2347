"""Small window graphs made from a seed, and an index that knows no more than their documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragways.core.types import Document
from ragways.index.settings import WindowSettings
from ragways.index.store import number_of
from ragways.index.vectors import Vectors
from ragways.index.windows.edges import Edges, Space, nearest_elsewhere, nearest_within
from ragways.index.windows.joined import DocumentIds
from ragways.index.windows.reader import Windows
from ragways.index.windows.sliding import slide
from ragways.index.windows.themes import DocumentThemes

DIMENSION = 16


class KnownDocuments:
    """What a traversal asks of an index."""

    windows: Windows

    def __init__(self, documents: list[Document]) -> None:
        self._documents = {document.id: document for document in documents}

    def document(self, id: str) -> Document | None:
        return self._documents.get(id)

    def require(self, layers) -> None:
        pass


@dataclass
class Graph:
    windows: Windows
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
    made.sort(key=lambda pair: int(pair[0].id.split(":")[1]))
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
    matrix = vectors(rng, window_texts, level=level)
    at = np.array(window_at, np.int32)
    space = Space(matrix, at[:, 2].astype(np.int64), first_rows(window_texts))
    ids = [document.id for document, _ in made]
    windows = Windows(
        windows=Vectors(window_ids, matrix),
        sentences=Vectors(sentence_ids, vectors(rng, sentence_texts, level=level)),
        window_at=at,
        sentence_at=np.array(sentence_at, np.int32),
        window_same=first_rows(window_texts),
        sentence_same=first_rows(sentence_texts),
        within=Edges.pack(nearest_within(space, edges)),
        across=Edges.pack(nearest_elsewhere(space, edges)),
        documents=DocumentIds(np.array([number_of(id) for id in ids], np.int64)),
        by_theme=Edges(np.zeros(len(ids) + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)),
        themed={id: DocumentThemes((), "rule") for id in ids},
    )
    index = KnownDocuments([document for document, _ in made])
    index.windows = windows
    return Graph(windows, index, vectors(rng, ["question"], level=level)[0], window_texts, sentence_texts)


def first_rows(texts: list[str]) -> np.ndarray:
    return np.array([texts.index(text) for text in texts], np.uint64)
