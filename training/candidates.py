"""What `fused` has to choose from, for questions whose evidence is known: the rows on which order is learnt.

    python -m training.candidates --data DIR --indexes DIR --out DIR [SET …]

DIR of `--data` has a folder a data set, as published: musique, hotpotqa, 2wiki, 2wiki-dev400, multihop-rag, windows,
graphrag-bench. The bundled demo is one more. For each set a file `SET.json.xz`: its questions with their half, and for
each the candidates (a title and a text), what `fused` knows of each, which piece of the gold each shows, and the order
of `hybrid-words`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.assemble import opened, recipe_of
from ragways.core.step import fuse
from ragways.core.types import Hit, Hits, Piece, Query
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question
from ragways.index.build import build
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import ask
from ragways.retrieval.fused import Candidates
from ragways.retrieval.pagerank import linked
from ragways.retrieval.retrieve import dense, words
from ragways.settings import read_settings
from training.data import half_of

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]
SETS = {
    "musique": ("hipporag", "corpus.json.gz", "questions.json.gz", "musique"),
    "hotpotqa": ("hipporag", "corpus.json.gz", "questions.json.gz", "hotpotqa"),
    "2wiki-dev400": ("hipporag", "corpus.jsonl.gz", "questions.jsonl.gz", "2wiki"),
    "2wiki": ("2wiki-results", "corpus.json.gz", "results-101/fast-graphrag.json.gz", "2wiki"),
    "multihop-rag": ("multihop-rag", "corpus-full-text.json.gz", "MultiHopRAG-even.json.gz", "multihop-rag"),
    "multihop-rag-summaries": (
        "multihop-rag",
        "corpus-609-summaries.json.gz",
        "MultiHopRAG-even.json.gz",
        "multihop-rag",
    ),
    "windows": ("windows", "wiki-articles.json.gz", "50qa.csv.gz", "windows"),
    "demo": ("plain", "corpus", "questions.jsonl", "demo"),
    "graphrag-bench": ("graphrag-bench", "medical_corpus.json.gz", "medical_questions.json.gz", "graphrag-bench"),
}
"""Format, corpus, questions, kind."""
MOST = 400
"""Questions of a set, evenly spaced."""
DEPTH, RANK, LISTS, KEPT = 30, 5, (1.0, 0.3, 2.5), 10
"""As `fused` has them."""


@dataclass(frozen=True)
class Scored:
    """A question with its candidates: their features, and which of them show which piece of its gold."""

    question: Question
    pieces: Sequence[Piece]
    features: Floats
    linked: float
    gold: Marks


async def gather(data: Path, index: Path, name: str) -> list[Scored]:
    """The candidates of all questions of a set."""
    format, corpus, questions, _ = SETS[name]
    settings = read_settings(index=index)
    await build(index, [data / corpus], recipe_of(settings, frozenset({"vectors", "words", "graph"})))
    rows = []
    known = [question for question in load_questions(format, data / questions) if question.gold]
    async with opened(settings) as use:
        gold = GoldIndex(use.index)
        lists = fuse(dense(use, k=DEPTH), words(use, k=DEPTH), linked(use, k=DEPTH), k=RANK, weights=LISTS)
        for question in known[:: -(-len(known) // MOST)]:
            query = Query(question.text)
            candidates = Candidates(use, await lists(query), await use.embed_question(question.text))
            pieces = list(candidates.pieces.values())
            # A piece shows what is found where it is all there is.
            shown = [gold.ranks(question, Hits(query, (Hit(piece, 1.0),))) for piece in pieces]
            marks = np.array([[rank is not None for rank in ranks] for ranks in shown], dtype=bool).T
            rows.append(Scored(question, pieces, candidates.features(), candidates.linked, marks))
    return rows


async def rows(data: Path, index: Path, name: str) -> dict[str, Any]:
    """What the file of a set holds, from its data and an index of it, which is built where it is missing."""
    asked = await gather(data, index, name)
    texts: dict[str, int] = {}
    passages: list[list[str]] = []
    found = []
    async with opened(read_settings(index=index)) as use:
        gold = GoldIndex(use.index)
        for one in asked:
            for piece in one.pieces:
                if piece.id not in texts:
                    texts[piece.id] = len(passages)
                    passages.append([piece.title, piece.text])
            with retrieval_only():
                plain = (await ask(use, one.question.text, "hybrid-words")).answer.evidence.hits
            found.append(
                {
                    "id": one.question.id,
                    "half": half_of(one.question.id),
                    "question": one.question.text,
                    "answers": list(one.question.answers),
                    "candidates": [texts[piece.id] for piece in one.pieces],
                    "features": one.features.round(5).tolist(),
                    "linked": one.linked,
                    "gold": one.gold.astype(int).tolist(),
                    "hybrid-words": [rank or 0 for rank in gold.ranks(one.question, plain)],
                }
            )
    return {"set": name, "passages": passages, "questions": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=[name for name in SETS if name != "2wiki"])
    for name in ("data", "indexes", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        with resources.as_file(resources.files("ragways") / "demo") as demo:
            folder = demo if name == "demo" else options.data / name.removesuffix("-summaries")
            found = asyncio.run(rows(folder, options.indexes / name, name))
        with lzma.open(options.out / f"{name}.json.xz", "wt", encoding="utf-8") as file:
            json.dump(found, file, ensure_ascii=False)
        print(f"{name}: {len(found['questions'])} questions, {len(found['passages'])} passages", flush=True)


if __name__ == "__main__":
    main()
