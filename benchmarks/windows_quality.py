"""Gold sentences found by each traversal on source W's own questions: precision and recall, beside W's figures.

    python -m benchmarks.windows_quality --data DIR [--articles 10] [--questions N] [--index DIR]

DIR holds `wiki-articles.json.gz` and `50qa.csv.gz`. W's graph is over the first 10 articles. W's own precision and
recall are a judge's word on whether what was found served the expected answer; ours count sentences of the grouping
that the question was made from. So compare the order of the traversals, not the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import io
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragways.core.types import Hits, Query
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from ragways.models.minilm import MiniLM
from ragways.retrieval import traversals
from ragways.retrieval.resources import Resources
from ragways.retrieval.traversals import WindowTexts

WALKS = {
    "basic-retrieval": (traversals.basic_retrieval, 0.93, 0.88),
    "query-traversal": (traversals.query_traversal, 0.91, 0.91),
    "kg-traversal": (traversals.kg_traversal, 0.93, 0.87),
    "triangulation-average": (traversals.triangulation_average, 0.92, 0.87),
    "triangulation-3d": (traversals.triangulation_3d, 0.93, 0.85),
    "triangulation-full": (traversals.triangulation_full, 0.93, 0.87),
    "llm-guided": (traversals.llm_guided, 0.91, 0.94),
}
"""Each with the precision and recall that W gives for its 50 questions."""

SHORTEST = 12
"""Letters and digits below which a sentence is too short to be told by its text."""


@dataclass(frozen=True)
class Gold:
    question: str
    sentences: frozenset[str]


def letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def write_articles(data: Path, folder: Path, count: int) -> None:
    articles = json.loads(gzip.decompress((data / "wiki-articles.json.gz").read_bytes()))["articles"][:count]
    for number, article in enumerate(articles):
        text = "\n".join(article["sentences"])
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")


def read_questions(data: Path, index: Index, count: int) -> list[Gold]:
    """A sentence of ours is gold when its letters stand in the context that the question was made from."""
    layer = index.windows
    texts = WindowTexts(index, layer)
    ours = {letters(texts.sentence(s)) for w in range(len(layer)) for s in layer.sentences_of(w)}
    ours = {text for text in ours if len(text) >= SHORTEST}
    content = gzip.decompress((data / "50qa.csv.gz").read_bytes()).decode()
    found = []
    for row in list(csv.DictReader(io.StringIO(content)))[:count]:
        context = letters("".join(json.loads(row["context"])))
        found.append(Gold(row["input"], frozenset(text for text in ours if text in context)))
    return found


def scores(hits: Hits, gold: Gold) -> tuple[float, float]:
    found = [letters(hit.piece.text) for hit in hits.items]
    right = len(set(found) & gold.sentences)
    return right / max(len(found), 1), right / max(len(gold.sentences), 1)


async def measure(use: Resources, questions: Sequence[Gold]) -> None:
    sizes = [len(gold.sentences) for gold in questions]
    print(f"{len(questions)} questions, {sum(sizes) / len(sizes):.1f} gold sentences each (least {min(sizes)})\n")
    print(f"{'':24}precision  recall     F1  found  hops   CPU ms p50 / p95   W: precision, recall")
    for gold in questions:
        await use.embed_question(gold.question)
    for name, (walk, their_precision, their_recall) in WALKS.items():
        step, got, times, hops = walk(use), [], [], []
        for gold in questions:
            began = time.process_time()
            hits = await step(Query(gold.question))
            times.append((time.process_time() - began) * 1000)
            got.append((*scores(hits, gold), len(hits.items)))
            hops.append(max((hit.found[0].rank for hit in hits.items), default=0))
        precision, recall, found = (sum(column) / len(got) for column in zip(*got, strict=True))
        both = 2 * precision * recall / max(precision + recall, 1e-9)
        times.sort()
        print(
            f"{name:24}{precision:9.3f}{recall:8.3f}{both:7.3f}{found:7.1f}{sum(hops) / len(hops):6.1f}"
            f"{times[len(times) // 2]:11.2f} / {times[int(len(times) * 0.95)]:.2f}"
            f"{their_precision:13.2f}, {their_recall:.2f}"
        )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--articles", type=int, default=10, help="how many of the articles; W used 10 of the 39")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--index", type=Path, help="keep the index here and use it again")
    chosen = parser.parse_args()

    async def make() -> Embedder:
        return MiniLM(threads=1)

    with tempfile.TemporaryDirectory() as temporary:
        corpus, folder = Path(temporary) / "corpus", chosen.index or Path(temporary) / "index"
        corpus.mkdir()
        write_articles(chosen.data, corpus, chosen.articles)
        if not (folder / "index.sqlite").is_file():
            began = time.process_time()
            await build(folder, [corpus], Recipe(make, layers=frozenset({"vectors", "windows"})))
            print(f"index built in {time.process_time() - began:.0f} CPU s")
        index, embedder = Index.open(folder), await make()
        print(f"{chosen.articles} articles, {len(index.windows):,} windows; {embedder.name}")
        await measure(
            Resources(index, embedder, ModelClient(None)), read_questions(chosen.data, index, chosen.questions)
        )
        await embedder.aclose()
        index.close()


if __name__ == "__main__":
    asyncio.run(main())
