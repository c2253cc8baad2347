"""Small indexes for these tests, built the real way."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragways.core.trace import Usage
from ragways.index.build import build
from ragways.index.graph.document_statements import contents_rows
from ragways.index.graph.reader import Graph
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.layers import layer_settings
from ragways.index.store import Store, derived_folder
from ragways.index.update import Recipe, Summary
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder, Vectors, unit
from ragways.testing.scripted import ScriptedModel
from tests.index.graph.graph_data import read_graph

TABLES = ("entities", "descriptions", "names", "statements", "texts", "merges")


class FakeEmbedder:
    """A vector is the sum of its words' own; texts that share words are near."""

    name = "fake"
    dimension = 32
    parallel = 1

    def estimate(self, texts: Sequence[str]) -> Usage:
        return Usage()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return unit(np.stack([sum((_word(w) for w in t.casefold().split()), np.zeros(32)) for t in texts]).astype("f4"))

    async def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return [np.zeros((0, 32), np.float32) for _ in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    async def aclose(self) -> None:
        """Nothing to close."""


def _word(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.strip(".,:").encode()).digest()[:4], "big")
    return np.random.default_rng(seed).standard_normal(32)


def recipe(
    settings: Mapping[str, Any] | None = None, model: ScriptedModel | None = None, layers: str = "graph"
) -> Recipe:
    async def embedder() -> Embedder:
        return FakeEmbedder()

    return Recipe(
        embedder=embedder,
        layers=frozenset(layers.split()),
        model=lambda work_cache: ModelClient(model, cache=work_cache),
        settings=layer_settings({"graph": {"vectors": "shared", **(settings or {})}}),
    )


def write(folder: Path, articles: Mapping[str, str]) -> Path:
    """A file an article: JSON where the name ends so, wikitext else."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in articles.items():
        if name.endswith(".wiki"):
            (folder / name).write_text(text, encoding="utf-8")
        else:
            (folder / f"{name}.json").write_text(json.dumps([{"id": name, "title": name, "text": text}]))
    return folder


def run(index: Path, corpus: Path, made: Recipe | None = None) -> Summary:
    return asyncio.run(build(index, [corpus], made or recipe()))


def graph_of(index: Path) -> Graph:
    store = Store.open(index)
    generation = int(store.meta()["generation"])
    store.close()
    return Graph.open(derived_folder(index, generation))


def built(tmp: Path, articles: Mapping[str, str], settings: Mapping[str, Any] | None = None) -> Graph:
    run(tmp / "index", write(tmp / "corpus", articles), recipe(settings))
    return graph_of(tmp / "index")


def rows(graph: Graph) -> dict[str, list[tuple[Any, ...]]]:
    """Everything the graph's tables hold."""
    db: sqlite3.Connection = graph._db
    found = {table: sorted(db.execute(f"SELECT * FROM graph_{table}").fetchall(), key=repr) for table in TABLES}
    # Numbers of predicates are as they came.
    found["contents"] = [row._replace(predicates=b"") for some in contents_rows(db) for row in some]
    return found | {"relations": sorted(StoredRelations(db).all(), key=repr)}


PLAIN = """
CREATE TABLE entities (
    ordinal INTEGER, id TEXT, name TEXT, type TEXT, description TEXT, aliases TEXT, count INTEGER, chunks INTEGER,
    way TEXT
);
CREATE TABLE relations (
    ordinal INTEGER, id TEXT, subject INTEGER, predicate TEXT, object INTEGER, description TEXT, weight REAL,
    date TEXT, way TEXT
);
CREATE TABLE chunks (ordinal INTEGER, id TEXT);
CREATE TABLE mentions (entity INTEGER, chunk INTEGER, count INTEGER, about INTEGER);
CREATE TABLE relation_chunks (relation INTEGER, chunk INTEGER);
CREATE TABLE merges (entity INTEGER, name TEXT, into_name TEXT, reason TEXT, documents INTEGER);
"""


def plain(db: sqlite3.Connection) -> sqlite3.Connection:
    """The rows of a graph in plain tables, for brute force: whatever is named by a number is the row of that number."""
    graph = read_graph(db)
    entities = {node.id: n for n, node in enumerate(graph.entities)}
    chunks = {id: n for n, id in enumerate(graph.chunks)}
    held = Counter(mention.entity for mention in graph.mentions)
    made = sqlite3.connect(":memory:")
    made.executescript(PLAIN)
    rows: dict[str, list[tuple[object, ...]]] = {
        "entities": [
            (n, e.id, e.name, e.type, e.description, json.dumps(e.aliases), e.count, held[e.id], e.way)
            for n, e in enumerate(graph.entities)
        ],
        "relations": [
            (n, r.id, entities[r.subject], r.predicate, entities[r.object], r.description, r.weight, r.date, r.way)
            for n, r in enumerate(graph.relations)
        ],
        "chunks": [(n, id) for id, n in chunks.items()],
        "mentions": [(entities[m.entity], chunks[m.chunk], m.count, m.about) for m in graph.mentions],
        "relation_chunks": [(n, chunks[chunk]) for n, r in enumerate(graph.relations) for chunk in r.chunks],
        "merges": [(entities[m.entity], m.name, m.into, m.reason, m.documents) for m in graph.merges],
    }
    for table, some in rows.items():
        if some:
            made.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(some[0]))})", some)
    return made
