"""How good the graph is: bridges found, and passages found by PageRank over it, alone and fused with BM25.

    python benchmarks/graph_quality.py --data DIR [--sets musique,hotpotqa] [--ways rules,import,triples] [--json]

DIR holds a folder a data set, as published: `corpus.json(l).gz` and `questions.json(l).gz`; `openie_*.json.gz`, where
it is there, are triples recorded from a model, to be imported (`import`: with titles and links as every graph has them,
`triples`: nothing else).

A *bridge* is an entity that leads from one gold passage to the next: in MuSiQue the answer of a step that a later step
asks on from, in 2Wiki the object of one gold triple that is the subject of another. It is `named` when the graph has an
entity of that name in the first passage, and `linked` when that entity is in the second passage as well.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ragways.core.step import rank_fusion
from ragways.core.types import Hit, Piece, Query, ranked
from ragways.corpus.source import Fields, LoadOptions
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.layers.layer import Scored
from ragways.layers.protocols import Graph
from ragways.layers.table import layer_settings
from ragways.models.embed import Embedder

SETS = ("musique", "hotpotqa", "2wiki", "2wiki-dev400")
Gold = tuple[str, str]
"""Title and text of a passage; the text is empty where the set names titles only."""


@dataclass(frozen=True)
class Question:
    text: str
    gold: tuple[Gold, ...]
    bridges: tuple[tuple[str, tuple[Gold, ...], tuple[Gold, ...]], ...] = ()
    """Name, the passages it comes from, the passages it leads to."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--ways", default="rules,import,triples")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        row
        for name in options.sets.split(",")
        if (options.data / name).is_dir()
        for row in measure(options.data / name, options.ways.split(","))
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


def measure(data: Path, ways: list[str]) -> Iterator[dict[str, object]]:
    triples = sorted(data.glob("openie_*.json.gz"))
    questions = list(read_questions(data))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        corpus = next(data.glob("corpus.json*"))
        write_index(place / "index", corpus)
        with closing(Index.open(place / "index")) as index:
            found = scores(lambda q: index.words.search(q, 50), questions, Passages(index))
            yield {"set": data.name, "way": "bm25", **found}
        for way in ways:
            if way != "rules" and not triples:
                continue
            settings: dict[str, object] = {"method": "rules"}
            if way != "rules":
                settings = {"method": "import", "file": str(triples[0]), "structure": way == "import"}
            with graph_by(place / "index", corpus, settings) as (index, seconds):
                known = Passages(index)
                yield {
                    "set": data.name,
                    "way": way,
                    **scores(partial(passages, index.graph), questions, known),
                    **{f"fused_{k}": v for k, v in scores(fused(index), questions, known).items()},
                    **bridges(index.graph, questions, known),
                    "entities": index.graph.counts()["entities"],
                    "cpu_s": round(seconds, 1),
                }


FIELDS = Fields(id=("chunk_id", "id"), title=("source_title", "title"))


async def no_embedder() -> Embedder:
    raise AssertionError("nothing is embedded here")


def write_index(folder: Path, corpus: Path, settings: Mapping[str, object] | None = None) -> None:
    """Bring an index of words up to date with a corpus; with settings, of a graph by these too."""
    graph = {} if settings is None else {"graph": {**settings, "processes": 1}}
    recipe = Recipe(
        embedder=no_embedder,
        layers=frozenset({"words", *graph}),
        options=LoadOptions(fields=FIELDS),
        settings=layer_settings(graph),
    )
    asyncio.run(build(folder, [corpus], recipe))


@contextmanager
def graph_by(words: Path, corpus: Path, settings: Mapping[str, object]) -> Iterator[tuple[Index, float]]:
    """An index of words with its graph by one way, and the CPU seconds that the graph took."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "index"
        shutil.copytree(words, folder)
        started = time.process_time()
        write_index(folder, corpus, settings)
        seconds = time.process_time() - started
        with closing(Index.open(folder)) as index:
            yield index, seconds


def passages(graph: Graph, question: str) -> Scored:
    """By PageRank from the entities that the question names."""
    return graph.passages(graph.question_seeds(question))


class Passages:
    """The documents of an index by title and text: in these sets a passage is a document."""

    def __init__(self, index: Index) -> None:
        self.chunks: dict[str, list[str]] = {}
        self._ids: dict[str, list[tuple[str, str]]] = {}
        for id, _, title in index.documents():
            document = index.document(id)
            assert document is not None
            self._ids.setdefault(title, []).append((id, plain(document.text)))

    def find(self, gold: Gold) -> str:
        title, text = gold
        found = self._ids.get(title, [])
        exact = [id for id, known in found if known[:200] == plain(text)[:200]]
        return (exact or [id for id, _ in found] or [f"missing {title}"])[0]


def plain(text: str) -> str:
    return " ".join(text.split())


def document_of(chunk: str) -> str:
    return ":".join(chunk.split(":")[:2])


def scores(search: Callable[[str], Scored], questions: list[Question], known: Passages) -> dict[str, float]:
    """Recall among the first 5 documents, and the share of questions with all gold among the first 8."""
    recall = whole = 0.0
    for question in questions:
        gold = {known.find(passage) for passage in question.gold}
        found = list(dict.fromkeys(document_of(chunk) for chunk, _ in search(question.text)))
        recall += len(gold & set(found[:5])) / len(gold)
        whole += gold <= set(found[:8])
    count = max(len(questions), 1)
    return {"recall@5": round(100 * recall / count, 1), "all@8": round(whole / count, 3)}


def fused(index: Index) -> Callable[[str], Scored]:
    def search(question: str) -> Scored:
        lists = [passages(index.graph, question), index.words.search(question, 50)]
        hits = rank_fusion([ranked(Query(question), map(_hit, found)) for found in lists])
        return [(hit.piece.id, hit.score) for hit in hits.items]

    return search


def _hit(scored: tuple[str, float]) -> Hit:
    return Hit(Piece(scored[0], "chunk", "", "", "", 0, 0, 0), scored[1])


def bridges(graph: Graph, questions: list[Question], known: Passages) -> dict[str, object]:
    count = named = linked = 0
    for question in questions:
        for name, sources, targets in question.bridges:
            count += 1
            first, then = {known.find(p) for p in sources}, {known.find(p) for p in targets}
            places = [{document_of(c) for c, _ in graph.mentions([id], 10_000)} for id in graph.named(name)]
            named += any(first & there for there in places)
            linked += any(first & there and then & there for there in places)
    return {"bridges": count, "named": round(named / count, 3), "linked": round(linked / count, 3)} if count else {}


def read_questions(data: Path) -> Iterator[Question]:
    results = data / "results-101" / "vectors.json.gz"
    if results.is_file():
        for row in read(results):
            yield Question(row["question"], tuple((title, "") for title in row["ground_truth"]))
        return
    rows = read(next(data.glob("questions.json*")))
    corpus = {row["chunk_id"]: (row["source_title"], row["text"]) for row in read(next(data.glob("corpus.json*")))
              if "chunk_id" in row}  # fmt: skip
    for row in rows:
        if "supporting_facts" in row:
            yield Question(row["question"], tuple((t, "") for t in sorted({t for t, _ in row["supporting_facts"]})))
        elif "gold_support_chunk_ids" in row:
            gold = tuple(corpus[id] for id in row["gold_support_chunk_ids"])
            yield Question(row["question"], gold, tuple(_triple_bridges(row["gold_triples"], gold)))
        else:
            parts = {p["idx"]: (p["title"], p["paragraph_text"]) for p in row["paragraphs"]}
            gold = tuple(parts[p["idx"]] for p in row["paragraphs"] if p["is_supporting"])
            yield Question(row["question"], gold, tuple(_step_bridges(row["question_decomposition"], parts)))


Bridge = tuple[str, tuple[Gold, ...], tuple[Gold, ...]]


def _step_bridges(steps: list[dict[str, Any]], parts: Mapping[int, Gold]) -> Iterator[Bridge]:
    for step in steps:
        for number in sorted({int(n) for n in re.findall(r"#(\d+)", step["question"])}):
            before = steps[number - 1]
            if before["paragraph_support_idx"] is not None and step["paragraph_support_idx"] is not None:
                places = (parts[before["paragraph_support_idx"]],), (parts[step["paragraph_support_idx"]],)
                yield before["answer"], *places


def _triple_bridges(triples: list[list[str]], gold: tuple[Gold, ...]) -> Iterator[Bridge]:
    for name in sorted({t[2] for t in triples} & {t[0] for t in triples}):
        own = tuple(passage for passage in gold if passage[0].startswith(name))
        others = tuple(passage for passage in gold if passage not in own)
        if own and others:
            yield name, others, own


def read(file: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text(encoding="utf-8")
    if ".jsonl" in file.name:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    data: list[dict[str, Any]] = json.loads(text)
    return data


if __name__ == "__main__":
    main()
