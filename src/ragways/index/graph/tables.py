"""The graph's files: `graph.sqlite` for looking things up, compressed rows for PageRank and relations."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ragways.index.database import store_errors
from ragways.index.graph.data import GraphData
from ragways.index.graph.names import coarse, fold, split_title
from ragways.index.graph.relations import DESCRIPTION, RelationArrays, RelationTerms
from ragways.index.pagerank import Adjacency

FILE = "graph.sqlite"

_TABLES = """
CREATE TABLE entities (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, type TEXT NOT NULL,
    description TEXT NOT NULL, aliases TEXT NOT NULL, count INTEGER NOT NULL, chunks INTEGER NOT NULL, way TEXT NOT NULL
);
-- Names and aliases as they are compared. `own` is 1 for the entity's own name, 0 for an alias; `everyday` is 1 for a
-- single word that the corpus writes small as often as large.
CREATE TABLE names (
    name TEXT NOT NULL, entity INTEGER NOT NULL, own INTEGER NOT NULL, everyday INTEGER NOT NULL,
    PRIMARY KEY (name, entity)
) WITHOUT ROWID;
CREATE TABLE relations (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subject INTEGER NOT NULL, predicate TEXT NOT NULL,
    object INTEGER NOT NULL, description TEXT NOT NULL, weight REAL NOT NULL, date TEXT NOT NULL, way TEXT NOT NULL
);
CREATE TABLE chunks (ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE mentions (
    entity INTEGER NOT NULL, chunk INTEGER NOT NULL, count INTEGER NOT NULL, about INTEGER NOT NULL,
    PRIMARY KEY (entity, chunk)
) WITHOUT ROWID;
CREATE TABLE relation_chunks (
    relation INTEGER NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY (relation, chunk)
) WITHOUT ROWID;
CREATE TABLE merges (
    entity INTEGER NOT NULL, name TEXT NOT NULL, into_name TEXT NOT NULL, reason TEXT NOT NULL,
    documents INTEGER NOT NULL
);
"""
_INDEXES = """
CREATE INDEX relations_by_subject ON relations (subject);
CREATE INDEX relations_by_object ON relations (object);
CREATE INDEX mentions_by_chunk ON mentions (chunk);
CREATE INDEX relation_chunks_by_chunk ON relation_chunks (chunk);
CREATE INDEX merges_by_entity ON merges (entity);
"""


def write_graph(draft: GraphData, folder: Path) -> None:
    """All of the graph's files but its vectors."""
    entities = {node.id: i for i, node in enumerate(draft.entities)}
    chunks = {id: i for i, id in enumerate(draft.chunks)}
    with store_errors(folder / FILE):
        db = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            # The folder is a draft until it is renamed, so a journal would protect nothing.
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("BEGIN")
            for statement in _TABLES.split(";\n"):
                db.execute(statement)
            _fill(db, draft, entities, chunks)
            for statement in _INDEXES.split(";\n"):
                db.execute(statement)
            db.execute("COMMIT")
        finally:
            db.close()
    entity_links(draft, entities).save(folder, "graph-entities")
    passage_links(draft, entities, chunks).save(folder, "graph-passages")
    relation_arrays(draft, entities, chunks).save(folder)
    relation_terms(draft).save(folder)


def _fill(db: sqlite3.Connection, draft: GraphData, entities: dict[str, int], chunks: dict[str, int]) -> None:
    held = np.bincount([entities[m.entity] for m in draft.mentions], minlength=len(entities)).tolist()
    rows = db.executemany
    rows(
        "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (i, n.id, n.name, n.type, n.description, json.dumps(n.aliases, ensure_ascii=False), n.count, held[i], n.way)
            for i, n in enumerate(draft.entities)
        ),
    )
    rows("INSERT INTO names VALUES (?, ?, ?, ?)", sorted(_names(draft)))
    rows(
        "INSERT INTO relations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (i, e.id, entities[e.subject], e.predicate, entities[e.object], e.description, e.weight, e.date, e.way)
            for i, e in enumerate(draft.relations)
        ),
    )
    rows("INSERT INTO chunks VALUES (?, ?)", enumerate(draft.chunks))
    rows(
        "INSERT INTO mentions VALUES (?, ?, ?, ?)",
        sorted((entities[m.entity], chunks[m.chunk], m.count, m.about) for m in draft.mentions),
    )
    rows(
        "INSERT INTO relation_chunks VALUES (?, ?)",
        _statements(draft, chunks),
    )
    rows(
        "INSERT INTO merges VALUES (?, ?, ?, ?, ?)",
        sorted((entities[m.entity], m.name, m.into, m.reason, m.documents) for m in draft.merges),
    )


def _statements(draft: GraphData, chunks: dict[str, int]) -> list[tuple[int, int]]:
    """Numbers of relations and of the chunks that state them."""
    return sorted((i, chunks[chunk]) for i, edge in enumerate(draft.relations) for chunk in edge.chunks)


def _names(draft: GraphData) -> Iterable[tuple[str, int, int, int]]:
    for i, node in enumerate(draft.entities):
        own = fold(node.name)
        base = split_title(node.name)[0].partition(",")[0]
        others = {fold(alias) for alias in (*node.aliases, base)} - {own, ""}
        if own:
            yield own, i, 1, own in draft.everyday
        for alias in others:
            yield alias, i, 0, alias in draft.everyday


def relation_arrays(draft: GraphData, entities: dict[str, int], chunks: dict[str, int]) -> RelationArrays:
    """Relations as numbers, for what a question touches."""
    rows = [(edge.id, entities[edge.subject], entities[edge.object], edge.weight) for edge in draft.relations]
    return RelationArrays.of(len(entities), rows, _statements(draft, chunks))


def relation_terms(draft: GraphData) -> RelationTerms:
    """The words of relations as they are shown: ends, predicate, date and the beginning of the description."""
    names = {node.id: node.name for node in draft.entities}
    return RelationTerms.of(
        (names[e.subject], e.predicate.replace("_", " "), names[e.object], e.date, e.description[:DESCRIPTION])
        for e in draft.relations
    )


def entity_links(draft: GraphData, entities: dict[str, int]) -> Adjacency:
    """Entities joined by their relations, for traversal: undirected, weights added up."""
    edges = draft.relations
    left = np.fromiter((entities[e.subject] for e in edges), np.int64, len(edges))
    right = np.fromiter((entities[e.object] for e in edges), np.int64, len(edges))
    return Adjacency.of_edges(
        len(entities), left, right, np.fromiter((e.weight for e in edges), np.float64, len(edges))
    )


def passage_links(draft: GraphData, entities: dict[str, int], chunks: dict[str, int]) -> Adjacency:
    """Entities, then chunks: an edge wherever a chunk names an entity. Dates and quantities join nothing."""
    size = len(entities)
    plain = [coarse(node.type) not in ("date", "quantity") for node in draft.entities]
    edges = [(entities[m.entity], chunks[m.chunk], m) for m in draft.mentions if plain[entities[m.entity]]]
    left = np.fromiter((entity for entity, _, _ in edges), np.int64, len(edges))
    right = np.fromiter((size + chunk for _, chunk, _ in edges), np.int64, len(edges))
    weights = np.fromiter((_weight(m.count, m.about) for _, _, m in edges), np.float64, len(edges))
    return Adjacency.of_edges(size + len(chunks), left, right, weights)


ABOUT = 6.0
"""What it counts for that a passage is the entity's own article: a walk that meets a name should look there first."""


def _weight(count: int, about: bool) -> float:
    return 1.0 + math.log(count) + (ABOUT if about else 0.0)
