"""CPU that the graph and its communities cost: by rules and by a model that answers at once; and one more document.

    python benchmarks/graph_speed.py --corpus FILE [--documents 609] [--json]

FILE is a list of `{"title", "text"}` (.json or .json.gz); ten passages in a row become one document. Reading and
storing the documents is not counted, nor is embedding: there is none. The exponent says how the CPU time grows with
the number of documents, from 100 on: 1 is in proportion.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import os
import re
import tempfile
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from ragways.core.trace import Usage
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.layers.table import layer_settings
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
    sizes = sorted({min(100, options.documents), options.documents})
    rows += [one_more(options.corpus, count, way) for way in ("rules", "model") for count in sizes]
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
        model = Instant()
        stored = spent(place, "documents.jsonl", recipe(model, way))
        graphed = spent(place, "documents.jsonl", recipe(model, way, "graph"))
        grouped = spent(place, "documents.jsonl", recipe(model, way, "graph", "communities"))
        with closing(Index.open(place / "index")) as index:
            chunks, known = index.counts()["chunks"], index.graph.counts()
            tokens = index.store.db.execute("SELECT sum(tokens) FROM chunks").fetchone()[0]
        row: dict[str, object] = {
            "way": way,
            "documents": count,
            "chunks": chunks,
            "stored_s": round(stored, 2),
            "cpu_s": round(graphed + grouped, 2),
            "graph_s": round(graphed, 2),
            "communities_s": round(grouped, 2),
            "ms_a_chunk": round(1000 * (graphed + grouped) / chunks, 2),
            **known,
        }
        if way == "model":
            row |= {"calls": model.facts.calls, "input_by_corpus": round(model.facts.input / tokens, 2)}
            both = model.facts + model.reports
            row |= {"reports": model.reports.calls, "input_with_reports": round(both.input / tokens, 2)}
        return row


def recipe(model: Instant, way: str, *layers: str) -> Recipe:
    settings = {"graph": {"method": way}} if "graph" in layers else {}
    return Recipe(
        embedder=no_embedder,
        layers=frozenset(layers),
        model=lambda cache: ModelClient(model, cache=cache),
        settings=layer_settings(settings),
    )


def spent(place: Path, file: str, recipe: Recipe) -> float:
    """CPU seconds of a run, with those of processes that it starts."""
    before = os.times()
    asyncio.run(build(place / "index", [place / file], recipe))
    return sum(os.times()[:4]) - sum(before[:4])


def one_more(corpus: Path, count: int, way: str) -> dict[str, object]:
    """A whole run that builds an index with a graph and nothing else, and one that adds a document to it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write(corpus, place / "all.jsonl", count)
        lines = (place / "all.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (place / "documents.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
        (place / "more.jsonl").write_text(lines[-1], encoding="utf-8")
        built, added = (
            spent(place, file, recipe(Instant(), way, "graph")) for file in ("documents.jsonl", "more.jsonl")
        )
        return {
            "way": way,
            "one more to": count - 1,
            "build_s": round(built, 2),
            "add_s": round(added, 2),
            "share": round(added / built, 3),
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


async def no_embedder() -> Embedder:
    raise AssertionError("nothing is embedded here")


if __name__ == "__main__":
    main()
