"""CPU that the graph and its communities cost: by rules and by a model that answers at once; one more document; and
PageRank.

    python benchmarks/graph_speed.py --corpus FILE [--documents 609] [--json]

FILE is a list of `{"title", "text"}` (.json or .json.gz); ten passages in a row become one document. Reading and
storing the documents is not counted, nor is embedding: there is none. The exponent tells how the CPU time grows with
the number of documents, from 100 on: 1 is in proportion.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import re
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from ragways.core.trace import Usage
from ragways.index.build import build
from ragways.index.communities.layer import COMMUNITIES
from ragways.index.graph.layer import GRAPH
from ragways.index.graph.reader import Graph
from ragways.index.layer import BuildContext, Texts
from ragways.index.layers import layer_settings
from ragways.index.pagerank import Adjacency, pagerank
from ragways.index.reached import push
from ragways.index.store import Store
from ragways.index.update import Recipe
from ragways.index.work_cache import WorkCache
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from ragways.models.limits import count_call
from ragways.models.tokens import count_text

PASSAGES = 10
FINDING = {"text": "One of them did something in some place at some time. " * 2, "rating": 5, "entities": []}
REPORT = {
    "title": "A group of entities",
    "summary": "People and places are joined by what they did, where they lived and when. " * 2,
    "rating": 5,
    "findings": [FINDING] * 4,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=609)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for way in ("rules", "model") for row in growth(options.corpus, options.documents, way)]
    rows += [one_more(options.corpus, count) for count in sorted({min(100, options.documents), options.documents})]
    rows += [walks(hub) for hub in (0, 100_000)]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


def growth(corpus: Path, documents: int, way: str) -> list[dict[str, object]]:
    few = min(100, documents)
    rows = [once(corpus, count, way) for count in sorted({few, documents})]
    if len(rows) == 2:
        ratio = float(str(rows[1]["cpu_s"])) / float(str(rows[0]["cpu_s"]))
        rows[1]["exponent"] = round(math.log(ratio) / math.log(documents / few), 3)
    return rows


def once(corpus: Path, count: int, way: str) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write(corpus, place / "documents.jsonl", count)
        recipe = Recipe(embedder=no_embedder, layers=frozenset())
        asyncio.run(build(place / "index", [place / "documents.jsonl"], recipe))
        store, work_cache = Store.create_or_open(place / "index"), WorkCache(place / "index")
        model = Instant()
        context = BuildContext(
            store,
            work_cache,
            ModelClient(model),
            None,
            embed_nothing,
            settings=layer_settings({"graph": {"method": way}, "communities": {}}),
        )
        tokens = store.db.execute("SELECT sum(tokens) FROM chunks").fetchone()[0]
        started = time.process_time()
        asyncio.run(work(context))
        middle = time.process_time()
        (place / "derived").mkdir()
        GRAPH.derive(context, place / "derived")
        graphed = time.process_time()
        asyncio.run(report(context))
        COMMUNITIES.derive(context, place / "derived")
        ended = time.process_time()
        chunks = store.count("chunks")
        work_cache.close()
        graph = Graph.open(place / "derived", store.db)
        row: dict[str, object] = {
            "way": way,
            "documents": count,
            "chunks": chunks,
            "cpu_s": round(ended - started, 2),
            "work_s": round(middle - started, 2),
            "derive_s": round(graphed - middle, 2),
            "communities_s": round(ended - graphed, 2),
            "ms_a_chunk": round(1000 * (ended - started) / chunks, 2),
            **graph.counts(),
        }
        if way == "model":
            row |= {"calls": model.facts.calls, "input_by_corpus": round(model.facts.input / tokens, 2)}
            both = model.facts + model.reports
            row |= {"reports": model.reports.calls, "input_with_reports": round(both.input / tokens, 2)}
        store.close()
        return row


def one_more(corpus: Path, count: int) -> dict[str, object]:
    """A whole run that builds an index with a graph and nothing else, and one that adds a document to it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write(corpus, place / "all.jsonl", count)
        lines = (place / "all.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (place / "documents.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
        (place / "more.jsonl").write_text(lines[-1], encoding="utf-8")
        recipe = Recipe(embedder=no_embedder, layers=frozenset({"graph"}))
        started = time.process_time()
        asyncio.run(build(place / "index", [place / "documents.jsonl"], recipe))
        built = time.process_time()
        asyncio.run(build(place / "index", [place / "more.jsonl"], recipe))
        added = time.process_time()
        return {
            "one more to": count - 1,
            "build_s": round(built - started, 2),
            "add_s": round(added - built, 2),
            "share": round((added - built) / (built - started), 3),
        }


def write(corpus: Path, file: Path, count: int) -> None:
    """The first passages of a corpus, ten to a document, each under its own heading."""
    text = gzip.decompress(corpus.read_bytes()) if corpus.suffix == ".gz" else corpus.read_bytes()
    passages = json.loads(text)[: count * PASSAGES]
    with file.open("w", encoding="utf-8") as stream:
        for at in range(0, len(passages), PASSAGES):
            some = passages[at : at + PASSAGES]
            body = "\n\n".join(f"{p['title']}: {p['text']}" for p in some)
            print(json.dumps({"id": f"d{at}", "title": some[0]["title"], "text": body}), file=stream)


class Instant:
    """A model that answers at once: every name of a passage an entity, neighbours related; one report for all."""

    name = "instant"
    base_url = ""

    def __init__(self) -> None:
        self.facts = self.reports = Usage()

    async def send(self, call: Call) -> Reply:
        if call.schema_name == "report":
            reply = self._reply(call, REPORT)
            self.reports += reply.usage
        else:
            reply = self._reply(call, self._facts(call))
            self.facts += reply.usage
        return reply

    def _reply(self, call: Call, said: object) -> Reply:
        text = json.dumps(said)
        return Reply(text, usage=Usage(1, count_call(call), count_text(text)), model=self.name)

    def _facts(self, call: Call) -> object:
        entities, relations = [], []
        for number, text in re.findall(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", call.messages[-1].content, re.M | re.S):
            names = list(dict.fromkeys(re.findall(r"[A-Z]\w+(?: [A-Z]\w+)*", text)))[:12]
            entities += [
                {"passage": int(number), "name": name, "type": "thing", "description": f"{name} is named here."}
                for name in names
            ]
            relations += [
                {"passage": int(number), "subject": one, "predicate": "named_with", "object": other,
                 "description": text[:80], "weight": 5, "date": ""}
                for one, other in pairwise(names)
            ]  # fmt: skip
        return {"entities": entities, "relations": relations}

    async def aclose(self) -> None:
        """Nothing to close."""


def walks(hub: int, nodes: int = 200_000, edges: int = 280_000) -> dict[str, object]:
    """Both ways of PageRank on a random graph, one node of which may touch `hub` others."""
    dice = np.random.default_rng(7)
    left, right = dice.integers(0, nodes, edges), (nodes * dice.random(edges) ** 2).astype(np.int64)
    left, right = np.concatenate([left, np.zeros(hub, np.int64)]), np.concatenate([right, np.arange(1, hub + 1)])
    links = Adjacency.of_edges(nodes, left, right, np.ones(len(left)))
    exact_ms, push_ms, overlap = [], [], []
    for _ in range(10):
        start = np.zeros(nodes)
        start[dice.integers(0, nodes, 5)] = 1.0
        began = time.process_time()
        exact = pagerank(links, start, tolerance=1e-6)
        middle = time.process_time()
        near = push(links, start, epsilon=1e-5)
        push_ms.append(1000 * (time.process_time() - middle))
        exact_ms.append(1000 * (middle - began))
        overlap.append(len(set(np.argsort(-exact)[:100].tolist()) & set(np.argsort(-near)[:100].tolist())))
    return {
        "pagerank": f"{nodes} nodes, {edges + hub} edges",
        "hub": hub,
        "exact_ms": round(float(np.median(exact_ms)), 1),
        "push_ms": round(float(np.median(push_ms)), 1),
        "worst_push_ms": round(max(push_ms), 1),
        "top_100_shared": round(float(np.mean(overlap)) / 100, 3),
    }


async def no_embedder() -> Embedder:
    raise AssertionError("nothing is embedded here")


async def embed_nothing(_: Texts) -> None:
    raise AssertionError("nothing is embedded here")


async def work(context: BuildContext) -> None:
    await GRAPH.work(context)


async def report(context: BuildContext) -> None:
    await COMMUNITIES.work(context)


if __name__ == "__main__":
    main()
