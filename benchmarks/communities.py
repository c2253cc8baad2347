"""CPU seconds of Leiden and of the layer, and what its reports cost a model.

    export OPENBLAS_NUM_THREADS=1
    python benchmarks/communities.py                           # 200,000 nodes, 280,000 edges
    python benchmarks/communities.py --corpus FOLDER           # and the layer on a corpus: rules, then a model
    python benchmarks/communities.py --corpus corpus.json.gz   # a list of passages, joined ten a document
    python benchmarks/communities.py --corpus ... --churn      # and how many reports one document more writes anew

Tokens are counted by our own count of every message and schema sent to a model that answers at once.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import resource
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.corpus.structure import PRESETS
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.layers.communities.partition import hierarchy, leiden
from ragways.layers.graph.walk import Adjacency
from ragways.layers.table import layer_settings
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from ragways.testing.scripted import ScriptedModel

SAID = {
    "title": "A group of entities",
    "summary": "Several people and places are joined by what they did, where they lived and when. " * 2,
    "rating": 5,
    "findings": [{"text": "One of them did something in some place at some time. " * 2, "rating": 5, "entities": []}]
    * 4,
}


class AtOnce(ScriptedModel):
    """Answers every call with the same report, and counts what it was sent."""

    def __init__(self) -> None:
        super().__init__([])
        self.tokens = self.count = 0

    async def send(self, call: Call) -> Reply:
        reply = self._say(SAID, call)
        self.tokens, self.count = self.tokens + reply.usage.input, self.count + 1
        return reply


def random_graph(nodes: int, edges: int, seed: int = 0) -> Adjacency:
    """Four edges of five inside groups of about fifty, the rest anywhere."""
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, nodes // 50, nodes))
    left = rng.integers(0, nodes, edges)
    first, end = np.searchsorted(group, group[left]), np.searchsorted(group, group[left], side="right")
    near = first + (rng.random(edges) * (end - first)).astype(np.int64)
    right = np.where(rng.random(edges) < 0.8, near, rng.integers(0, nodes, edges))
    return Adjacency.of_edges(nodes, left, right, np.ones(edges))


def modularity(links: Adjacency, labels: NDArray[np.int64]) -> float:
    rows, weights = np.repeat(np.arange(len(links)), links.degrees), np.asarray(links.weights, dtype=np.float64)
    total = weights.sum()
    inside = weights[labels[rows] == labels[links.indices]].sum() / total
    shares = np.bincount(labels, np.bincount(rows, weights, len(links))) / total
    return float(inside - (shares**2).sum())


def measure_leiden(nodes: int, edges: int) -> dict[str, object]:
    links, ids = random_graph(nodes, edges), np.arange(nodes, dtype=np.uint64)
    began = time.process_time()
    groups = hierarchy(links, ids, size=60)
    seconds = time.process_time() - began
    from graspologic_native import leiden_csr

    library, _ = leiden_csr(links.indptr, links.indices, np.asarray(links.weights, dtype=np.float64), nodes, seed=0)
    return {
        "nodes": nodes,
        "edges": edges,
        "cpu_s": round(seconds, 2),
        "communities": len(groups),
        "levels": 1 + max(group.level for group in groups),
        "modularity": round(modularity(links, leiden(links, ids)[-1]), 4),
        "modularity_of_library": round(library, 4),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


async def no_embedder() -> Embedder:
    raise AssertionError("no layer here has vectors")


def recipe(layers: set[str], model: ScriptedModel | None) -> Recipe:
    settings = {"communities": {"method": "model" if model is not None else "rules"}}
    return Recipe(
        no_embedder,
        chunking=PRESETS["section"],
        layers=frozenset(layers),
        model=lambda cache: ModelClient(model, cache=cache),
        settings=layer_settings(settings if "communities" in layers else {}),
    )


def measure_layer(folder: Path, corpus: Path, model: AtOnce | None) -> dict[str, object]:
    """CPU seconds of communities and their reports, on a graph by rules that is made before."""
    way = "model" if model is not None else "rules"
    if not folder.exists():
        asyncio.run(build(folder, [corpus], recipe({"graph"}, None)))
    began = time.process_time()
    asyncio.run(build(folder, [corpus], recipe({"graph", "communities"}, model)))
    spent = time.process_time() - began
    with closing(Index.open(folder)) as index:
        read = index.communities
        return {
            "way": way,
            "cpu_s": round(spent, 2),
            "communities": sum(read.counts().values()),
            "reports": {way: count for way, count in read.counts().items() if way},
            "levels": len(read.levels()),
            "tokens_of_level": {level: read.tokens_of_level(level) for level in read.levels()},
        }


def corpus_tokens(folder: Path) -> int:
    import sqlite3

    db = sqlite3.connect(folder / "index.sqlite")
    try:
        return int(db.execute("SELECT sum(tokens) FROM chunks").fetchone()[0])
    finally:
        db.close()


def documents(path: Path, folder: Path, limit: int | None) -> Path:
    """A folder of documents; a list of passages becomes one of ten passages each."""
    if path.is_dir():
        return path
    data = path.read_bytes()
    passages = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    folder.mkdir()
    for number, at in enumerate(range(0, len(passages), 10)[:limit]):
        parts = [f"## {p['title']}\n\n{p['text']}" for p in passages[at : at + 10]]
        (folder / f"{number:04}.md").write_text(f"# Document {number}\n\n" + "\n\n".join(parts))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--edges", type=int, default=280_000)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--churn", action="store_true")
    chosen = parser.parse_args()
    if chosen.nodes:
        print(json.dumps({"leiden": measure_leiden(chosen.nodes, chosen.edges)}))
    if chosen.corpus is None:
        return
    with tempfile.TemporaryDirectory() as home:
        place = documents(chosen.corpus, Path(home) / "corpus", chosen.limit)
        print(json.dumps({"layer": measure_layer(Path(home) / "rules", place, None)}))
        model = AtOnce()
        layer_figures = measure_layer(Path(home) / "model", place, model)
        total = corpus_tokens(Path(home) / "model")
        cost = {"calls": model.count, "input_tokens": model.tokens, "of_corpus": round(model.tokens / total, 2)}
        print(json.dumps({"layer": layer_figures, "corpus_tokens": total, "reports": cost}))
        if chosen.churn:
            last = sorted(path for path in place.rglob("*") if path.is_file())[-1]
            text = last.read_text()
            last.unlink()
            again = AtOnce()
            measure_layer(Path(home) / "churn", place, again)
            first = again.count
            last.write_text(text)
            measure_layer(Path(home) / "churn", place, again)
            print(json.dumps({"churn": {"reports": first, "written_anew": again.count - first}}))


if __name__ == "__main__":
    main()
