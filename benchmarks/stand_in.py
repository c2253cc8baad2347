"""An embedder that costs next to nothing, so that the cost of an index is measured without that of embedding.

Its vectors behave like those of a real embedder: texts that share rare words are near, texts of one topic are nearer
than others, and a few directions have much of the spread.

    Recipe(embedder=stand_in, …)                     # a build
    Resources(index, StandIn(), ModelClient(None))   # a question
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np
from scipy.sparse import csr_array

from ragways.core.trace import Usage
from ragways.models.embed import Vectors, unit

DIMENSION = 384
ROWS = 1 << 13
"""Vectors of words; a word has the one that its hash names."""
WORD = re.compile(r"\w+")


class StandIn:
    """An `Embedder`: the sum of vectors of a text's words, the longer (and so the rarer) a word the heavier."""

    name = "stand-in-1"
    dimension = DIMENSION
    parallel = 1

    def __init__(self) -> None:
        dice = np.random.default_rng(17)
        spread = (1.0 + np.arange(DIMENSION)) ** -0.35
        turn = np.linalg.qr(dice.standard_normal((DIMENSION, DIMENSION)))[0]
        self._rows: Vectors = ((dice.standard_normal((ROWS, DIMENSION)) * spread) @ turn).astype(np.float32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        found = [WORD.findall(text.lower()) for text in texts]
        words = [word for some in found for word in some]
        weights = np.minimum(np.fromiter(map(len, words), np.float32, len(words)) ** 2, 64)
        ends = np.cumsum([0, *map(len, found)])
        sums: Vectors = csr_array((weights, self._places(words), ends), shape=(len(texts), ROWS)) @ self._rows
        return unit(sums)

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return [unit(self._rows[self._places(WORD.findall(text.lower()))]) for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(WORD.findall(text)) for text in texts]

    def estimate(self, texts: Sequence[str]) -> Usage:  # noqa: ARG002 - the protocol's
        return Usage()

    async def aclose(self) -> None:
        """Nothing to close."""

    def _places(self, words: Sequence[str]) -> list[int]:
        return [crc32(word.encode()) % ROWS for word in words]


async def stand_in() -> StandIn:
    """For `Recipe.embedder`; a process makes it once."""
    return _stand_in()


@cache
def _stand_in() -> StandIn:
    return StandIn()
