"""Stand-ins where the real part would only cost time: an embedder of word hashes, and small corpora."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.trace import Usage
from ragways.index.recipe import Recipe
from ragways.layers.table import USUAL, layer_settings
from ragways.models.reader import AnswerSpan, Passage, Reading

Sections = Mapping[str, Mapping[str, object]]


class WordHashes:
    """Embeds a text as the sum of pseudo-random vectors of its words: alike texts are near, and it costs nothing."""

    def __init__(self, name: str = "word-hashes", fail_after: int | None = None) -> None:
        self.name = name
        self.dimension = 32
        self.texts: list[str] = []
        self.fail_after = fail_after

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fail_after is not None and len(self.texts) + len(texts) > self.fail_after:
            raise RuntimeError("killed")
        self.texts += texts
        return np.stack([vector_of(text) for text in texts]) if texts else np.zeros((0, 32), np.float32)

    async def tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [np.stack([vector_of_word(word) for word in text.lower().split()]) for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    parallel = 1

    def estimate(self, texts: Sequence[str]) -> Usage:
        return Usage()

    async def aclose(self) -> None:
        pass


def vector_of(text: str) -> NDArray[np.float32]:
    """The vector of `WordHashes` for a text."""
    total = sum((vector_of_word(word) for word in text.lower().split()), np.zeros(32, np.float32))
    length = float(np.linalg.norm(total))
    return (total / length if length else total).astype(np.float32)


@cache
def vector_of_word(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(32).astype(np.float32)
    vector /= np.float32(np.linalg.norm(vector))
    vector.setflags(write=False)
    return vector


def recipe(embedder: WordHashes | None = None, settings: Sections | None = None, **changes) -> Recipe:
    """An index by `WordHashes`. `settings` are those of layers, as a settings file has them."""
    chosen = embedder or WordHashes()

    async def make() -> WordHashes:
        return chosen

    return Recipe(**{"embedder": make, "layers": USUAL, "settings": layer_settings(settings or {}), **changes})


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


class FindsWords:
    """A reader that finds words: `answers` gives each its logit of being the answer, wherever it stands, `evidence` the
    logit of a passage that holds some words. Keeps what it was shown.
    """

    def __init__(self, answers: Mapping[str, float], evidence: Mapping[str, float] | None = None) -> None:
        self.answers = answers
        self.evidence = evidence or {}
        self.groups: list[Sequence[Passage]] = []
        self.closed = False

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        self.groups += groups
        return [self._read(group, most) for group in groups]

    async def aclose(self) -> None:
        self.closed = True

    def _read(self, group: Sequence[Passage], most: int) -> Reading:
        spans = [
            AnswerSpan(number, at, at + len(words), score)
            for number, passage in enumerate(group)
            for words, score in self.answers.items()
            if (at := passage.shown.find(words)) >= 0
        ]
        evidence = [max((v for k, v in self.evidence.items() if k in p.shown), default=-3.0) for p in group]
        spans.sort(key=lambda span: -span.score)
        return Reading(tuple(spans[:most]), max((s.score for s in spans), default=-5.0), 0.0, tuple(evidence))
