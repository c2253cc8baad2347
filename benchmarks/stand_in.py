"""An embedder that costs next to nothing, so that what an index costs is told apart from what embedding costs.

Its vectors behave like those of a real embedder: texts that share rare words are near, texts of one topic are nearer
than others, and a few directions hold much of the spread (`python benchmarks/stand_in.py --compare FILE` prints both).

    Recipe(embedder=stand_in, …)                     # a build
    Resources(index, StandIn(), ModelClient(None))   # a question
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.sparse import csr_array

from ragways.core.trace import Usage
from ragways.models.embed import Vectors, unit
from ragways.models.minilm import MiniLM

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


# Beside a real embedder


def figures(vectors: Vectors) -> dict[str, object]:
    """How the cosines of some vectors lie, and how few directions hold half of their spread."""
    products = vectors @ vectors.T
    others = products[np.triu_indices(len(vectors), 1)]
    np.fill_diagonal(products, -1)
    nearest, tenth = np.sort(products, axis=1)[:, [-1, -10]].T
    values = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    return {
        "cosine of two texts, mean and deviation": (round(float(others.mean()), 3), round(float(others.std()), 3)),
        "cosine of the nearest, mean": round(float(nearest.mean()), 3),
        "cosine of the tenth nearest, mean": round(float(tenth.mean()), 3),
        "directions with half of the spread": int(np.searchsorted(np.cumsum(values) / values.sum(), 0.5)) + 1,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", type=Path, metavar="FILE", required=True, help="a list of {title, text}, .json.gz")
    parser.add_argument("--texts", type=int, default=2000)
    options = parser.parse_args()
    from corpus_maker import documents

    rows = json.loads(gzip.decompress(options.compare.read_bytes()))[: options.texts]
    real = [f"{row['title']}\n{row['text']}" for row in rows]
    made = [f"{made.title}\n{made.text}" for made in documents(options.texts)]
    began = time.process_time()
    stood_in = asyncio.run(StandIn().embed(made))
    rate = len(made) / (time.process_time() - began)
    for name, vectors in (("MiniLM, real", asyncio.run(MiniLM().embed(real))), ("stand-in, made", stood_in)):
        print(name, figures(vectors))
    print(f"stand-in: {rate:.0f} texts a CPU second")


if __name__ == "__main__":
    main()
