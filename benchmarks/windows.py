"""CPU seconds of the window layer: edges of many random windows, and traversals on a corpus.

    export OPENBLAS_NUM_THREADS=1                           # one core, as the figures are given for
    python benchmarks/windows.py                            # edges of 50,000 windows
    python benchmarks/windows.py --corpus PATH --limit 600  # and traversals on the first 600 documents of a corpus

Embedding every window and sentence of a corpus costs minutes of CPU: take --limit, or --stand-in for vectors by word
hashes, which cost nothing and change no traversal's time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.trace import Usage
from ragways.core.types import Query
from ragways.corpus.load import load, walk
from ragways.corpus.source import SourceFile
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.layers.windows.edges import Nearest, Space, renewed_elsewhere, renewed_within
from ragways.layers.windows.read import StoredWindows
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder, unit
from ragways.models.minilm import MiniLM
from ragways.retrieval import traversals
from ragways.retrieval.resources import Resources
from ragways.store.packed import pack

WALKS = {
    "basic-retrieval": traversals.basic_retrieval,
    "query-traversal": traversals.query_traversal,
    "kg-traversal": traversals.kg_traversal,
    "triangulation-average": traversals.triangulation_average,
    "triangulation-3d": traversals.triangulation_3d,
    "triangulation-full": traversals.triangulation_full,
    "llm-guided (rule)": traversals.llm_guided,
}


class StandIn:
    """Vectors of 384 numbers from the hashes of a text's words."""

    name, dimension, parallel = "stand-in", 384, 1

    def __init__(self) -> None:
        self._words: dict[str, NDArray[np.float32]] = {}

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [sum((self._word(word) for word in text.lower().split()), np.zeros(384, np.float32)) for text in texts]
        return unit(np.stack(rows)) if rows else np.zeros((0, 384), np.float32)

    def _word(self, word: str) -> NDArray[np.float32]:
        if word not in self._words:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            self._words[word] = np.random.default_rng(seed).standard_normal(384, dtype=np.float32)
        return self._words[word]

    async def tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [await self.embed(text.split()) for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def estimate(self, texts: Sequence[str]) -> Usage:  # noqa: ARG002
        return Usage()

    async def aclose(self) -> None:
        """Nothing to close."""


def peak() -> float:
    """The most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def edges(windows: int, documents: int, dimension: int = 384) -> None:
    rng = np.random.default_rng(0)
    matrix = unit(rng.standard_normal((windows, dimension), dtype=np.float32))
    groups = np.sort(rng.integers(documents, size=windows))
    space, none, places = Space(pack(matrix), groups), Nearest.none(0, 10), np.zeros(0, np.int64)
    began, held = time.process_time(), peak()
    renewed_within(space, none, places)
    within = time.process_time() - began
    renewed_elsewhere(space, none, places)
    total = time.process_time() - began
    print(f"edges of {windows:,} windows of {documents:,} documents, {dimension} dimensions, top 10 and 10:")
    print(f"  {total:.1f} CPU s ({within:.1f} within documents), peak memory {peak():.0f} MB ({held:.0f} before)")


def copy_corpus(path: Path, folder: Path, limit: int) -> list[str]:
    """The first documents of a corpus as JSON lines, and a question from each of some of them."""
    questions: list[str] = []
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as lines:
        count = 0
        for file in walk([path]):
            for document in load(file) if isinstance(file, SourceFile) else ():
                if count == limit:
                    return questions
                row = {"id": f"{count}", "title": document.title, "text": document.text}
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
                if count % 7 == 0 and len(questions) < 100:
                    questions.append(f"What is told of {document.title}, {' '.join(document.text.split()[10:18])}?")
                count += 1
    return questions


async def costs_of_traversals(chosen: argparse.Namespace) -> None:

    async def make() -> Embedder:
        return StandIn() if chosen.stand_in else MiniLM(threads=1)

    with tempfile.TemporaryDirectory() as temporary:
        corpus, folder = Path(temporary) / "corpus", Path(temporary) / "index"
        corpus.mkdir()
        questions = copy_corpus(chosen.corpus, corpus, chosen.limit)
        began = time.process_time()
        summary = await build(folder, [corpus], Recipe(make, layers=frozenset({"vectors", "windows"})))
        spent = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in summary.seconds.items())
        print(f"\nindex in {time.process_time() - began:.1f} CPU s (wall clock: {spent})")
        index, embedder = Index.open(folder), await make()
        layer = index.windows
        assert isinstance(layer, StoredWindows)
        print(f"{summary.added:,} documents, {len(layer):,} windows; {embedder.name}")
        use = Resources(index, embedder, ModelClient(None))
        print("CPU ms a question apart from embedding it   p50     p95")
        for name, traversal in WALKS.items():
            step, times = traversal(use), []
            for question in questions:
                await use.embed_question(question)
                layer._last = None  # each traversal pays for its own similarities
                started = time.process_time()
                await step(Query(question))
                times.append((time.process_time() - started) * 1000)
            times = sorted(times[1:])  # the first opens files
            print(f"  {name:38}{times[len(times) // 2]:8.2f}{times[int(len(times) * 0.95)]:8.2f}")
        await embedder.aclose()
        index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=50_000, help="random windows to join; 0 leaves that out")
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--corpus", type=Path, help="any file or folder that ragways reads")
    parser.add_argument("--limit", type=int, default=600, help="documents of the corpus that are taken")
    parser.add_argument("--stand-in", action="store_true", help="vectors by word hashes in place of the offline model")
    chosen = parser.parse_args()
    if chosen.windows:
        edges(chosen.windows, chosen.documents)
    if chosen.corpus:
        asyncio.run(costs_of_traversals(chosen))


if __name__ == "__main__":
    main()
