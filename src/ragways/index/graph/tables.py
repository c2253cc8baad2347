"""The graph's files: `graph.sqlite` for looking things up, compressed rows for PageRank and relations."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from ragways.index.columns import TextColumn
from ragways.index.database import connect, new_database
from ragways.index.graph.data import GraphData
from ragways.index.graph.ids import EntityIds
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.names import coarse, fold, split_title
from ragways.index.graph.relations import DESCRIPTION, RelationArrays, RelationTerms
from ragways.index.layer import CheckContext, Finding, findings
from ragways.index.pagerank import Adjacency
from ragways.index.vectors import Vectors

FILE = "graph.sqlite"
CHUNKS = "graph-chunks"
"""The column of the ids of chunks, by their numbers."""

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
-- Many relations come from one sentence, which describes them all.
CREATE TABLE descriptions (ordinal INTEGER PRIMARY KEY, text TEXT NOT NULL);
-- By id, and by their ends, relations are found in the arrays.
CREATE TABLE relations (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL, subject INTEGER NOT NULL, predicate TEXT NOT NULL,
    object INTEGER NOT NULL, description INTEGER NOT NULL, weight REAL NOT NULL, date TEXT NOT NULL, way TEXT NOT NULL
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
CREATE INDEX mentions_by_chunk ON mentions (chunk);
CREATE INDEX merges_by_entity ON merges (entity);
"""


def write_graph(graph: GraphData, folder: Path, before: Path | None = None) -> None:
    """All of the graph's files but its vectors. `before`: the derived folder of the generation before, if any."""
    entities = {node.id: i for i, node in enumerate(graph.entities)}
    chunks = {id: i for i, id in enumerate(graph.chunks)}
    with new_database(folder / FILE) as db:
        for statement in _TABLES.split(";\n"):
            db.execute(statement)
        statements = _statements(graph, chunks)
        _fill(db, graph, entities, chunks, statements)
        for statement in _INDEXES.split(";\n"):
            db.execute(statement)
    NameWords.of((name, entity) for name, entity, *_ in sorted(_names(graph))).save(folder)
    EntityIds.of(node.id for node in graph.entities).save(folder)
    TextColumn.write(folder, CHUNKS, graph.chunks)
    entity_links(graph, entities).save(folder, "graph-entities")
    passage_links(graph, entities, chunks).save(folder, "graph-passages")
    relation_arrays(graph, entities, statements).save(folder)
    known = RelationTerms.load(before) if before is not None and (before / FILE).is_file() else None
    relation_terms(graph, known).save(folder)


def _fill(
    db: sqlite3.Connection,
    graph: GraphData,
    entities: dict[str, int],
    chunks: dict[str, int],
    statements: Sequence[tuple[int, int]],
) -> None:
    held = np.bincount([entities[m.entity] for m in graph.mentions], minlength=len(entities)).tolist()
    rows = db.executemany
    rows(
        "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (i, n.id, n.name, n.type, n.description, _json(n.aliases), n.count, held[i], n.way)
            for i, n in enumerate(graph.entities)
        ),
    )
    rows("INSERT INTO names VALUES (?, ?, ?, ?)", sorted(_names(graph)))
    said = {text: n for n, text in enumerate(dict.fromkeys(edge.description for edge in graph.relations))}
    rows("INSERT INTO descriptions VALUES (?, ?)", ((n, text) for text, n in said.items()))
    rows(
        "INSERT INTO relations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                i,
                e.id,
                entities[e.subject],
                e.predicate,
                entities[e.object],
                said[e.description],
                e.weight,
                e.date,
                e.way,
            )
            for i, e in enumerate(graph.relations)
        ),
    )
    rows("INSERT INTO chunks VALUES (?, ?)", enumerate(graph.chunks))
    rows(
        "INSERT INTO mentions VALUES (?, ?, ?, ?)",
        sorted((entities[m.entity], chunks[m.chunk], m.count, m.about) for m in graph.mentions),
    )
    rows("INSERT INTO relation_chunks VALUES (?, ?)", statements)
    rows(
        "INSERT INTO merges VALUES (?, ?, ?, ?, ?)",
        sorted((entities[m.entity], m.name, m.into, m.reason, m.documents) for m in graph.merges),
    )


def _json(names: Sequence[str]) -> str:
    return json.dumps(names, ensure_ascii=False) if names else "[]"


def _statements(graph: GraphData, chunks: dict[str, int]) -> list[tuple[int, int]]:
    """Numbers of relations and of the chunks that state them."""
    return sorted((i, chunks[chunk]) for i, edge in enumerate(graph.relations) for chunk in edge.chunks)


def _names(graph: GraphData) -> Iterable[tuple[str, int, int, int]]:
    for i, node in enumerate(graph.entities):
        own = fold(node.name)
        base = split_title(node.name)[0].partition(",")[0]
        others = {fold(alias) for alias in (*node.aliases, base)} - {own, ""}
        if own:
            yield own, i, 1, own in graph.everyday
        for alias in others:
            yield alias, i, 0, alias in graph.everyday


def relation_arrays(
    graph: GraphData, entities: dict[str, int], statements: Sequence[tuple[int, int]]
) -> RelationArrays:
    """Relations as numbers, for what a question touches."""
    rows = [(edge.id, entities[edge.subject], entities[edge.object], edge.weight) for edge in graph.relations]
    return RelationArrays.of(len(entities), rows, statements)


def relation_terms(graph: GraphData, before: RelationTerms | None = None) -> RelationTerms:
    """The words of relations as they are shown: ends, predicate, date and the beginning of the description."""
    names = {node.id: node.name for node in graph.entities}
    return RelationTerms.of(
        (
            (names[e.subject], e.predicate.replace("_", " "), names[e.object], e.date, e.description[:DESCRIPTION])
            for e in graph.relations
        ),
        before,
    )


def entity_links(graph: GraphData, entities: dict[str, int]) -> Adjacency:
    """Entities joined by their relations, for traversal: undirected, weights added up."""
    edges = graph.relations
    left = np.fromiter((entities[e.subject] for e in edges), np.int64, len(edges))
    right = np.fromiter((entities[e.object] for e in edges), np.int64, len(edges))
    return Adjacency.of_edges(
        len(entities), left, right, np.fromiter((e.weight for e in edges), np.float64, len(edges))
    )


def passage_links(graph: GraphData, entities: dict[str, int], chunks: dict[str, int]) -> Adjacency:
    """Entities, then chunks: an edge wherever a chunk names an entity. Dates and quantities join nothing."""
    size = len(entities)
    plain = [coarse(node.type) not in ("date", "quantity") for node in graph.entities]
    edges = [(entities[m.entity], chunks[m.chunk], m) for m in graph.mentions if plain[entities[m.entity]]]
    left = np.fromiter((entity for entity, _, _ in edges), np.int64, len(edges))
    right = np.fromiter((size + chunk for _, chunk, _ in edges), np.int64, len(edges))
    weights = np.fromiter((_weight(m.count, m.about) for _, _, m in edges), np.float64, len(edges))
    return Adjacency.of_edges(size + len(chunks), left, right, weights)


ABOUT = 6.0
"""What it counts for that a passage is the entity's own article: a walk that meets a name should look there first."""


def _weight(count: int, about: bool) -> float:
    return 1.0 + math.log(count) + (ABOUT if about else 0.0)


# Checks

_ISOLATED_LIMIT = 0.5
"""The share of entities that may stand alone before it is said."""

_DANGLING = (
    (
        "relations of entities that are not there",
        "SELECT id FROM relations WHERE subject NOT IN {e} OR object NOT IN {e}",
    ),
    (
        "mentions of entities that are not there",
        "SELECT 'entity number ' || entity FROM mentions WHERE entity NOT IN {e}",
    ),
    ("mentions in chunks that are not there", "SELECT 'chunk number ' || chunk FROM mentions WHERE chunk NOT IN {c}"),
    (
        "sources of relations that are not there",
        "SELECT 'relation number ' || relation FROM relation_chunks WHERE relation NOT IN {r} OR chunk NOT IN {c}",
    ),
    (
        "relations whose description is not there",
        "SELECT id FROM relations WHERE description NOT IN (SELECT ordinal FROM descriptions)",
    ),
    ("names of entities that are not there", "SELECT name FROM names WHERE entity NOT IN {e}"),
    ("merges into entities that are not there", "SELECT name FROM merges WHERE entity NOT IN {e}"),
)
_SUBQUERIES = {
    "e": "(SELECT ordinal FROM entities)",
    "r": "(SELECT ordinal FROM relations)",
    "c": "(SELECT ordinal FROM chunks)",
}

_ISOLATED = (
    "SELECT id FROM entities WHERE ordinal NOT IN (SELECT subject FROM relations) "
    "AND ordinal NOT IN (SELECT object FROM relations)"
)
_TWICE = (
    "SELECT min(e.id) || ' ' || min(e.name) FROM names n JOIN entities e ON e.ordinal = n.entity "
    "WHERE n.own = 1 GROUP BY n.name, e.type HAVING count(*) > 1 ORDER BY 1"
)


def check_references(context: CheckContext) -> Iterator[Finding]:
    """References of the graph."""
    if not context.derived.is_dir():
        return
    with closing(connect(context.derived / FILE, write=False)) as db:
        for name, query in _DANGLING:
            yield from findings(name, "error", _column(db, query.format(**_SUBQUERIES)), context.cure_of_derived)
        known = set(context.chunks)
        strange = (id for id in _column(db, "SELECT id FROM chunks ORDER BY ordinal") if id not in known)
        yield from findings("graph: chunks that are not in the index", "error", strange, context.cure_of_derived)
        yield from _numbers(context, db)


def _numbers(context: CheckContext, db: sqlite3.Connection) -> Iterator[Finding]:
    """The arrays have a node for each entity and chunk, and vectors belong to entities and relations that exist."""
    entities, chunks = (db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("entities", "chunks"))  # noqa: S608
    for name, size in (("graph-entities", entities), ("graph-passages", entities + chunks)):
        links = Adjacency.load(context.derived, name)
        if len(links) != size or (len(links.indices) and int(links.indices.max()) >= size):
            yield Finding(
                f"{name}: not the nodes of the graph",
                "error",
                1,
                f"{len(links):,} for {size:,}",
                context.cure_of_derived,
            )
    for table in ("entities", "relations"):
        if (context.derived / f"{table}.ids").is_file():
            known = set(_column(db, f"SELECT id FROM {table}"))  # noqa: S608 - our own names
            strange = (id for id in Vectors.load(context.derived, table).ids if id not in known)
            yield from findings(f"vectors of {table} that are not there", "error", strange, context.cure_of_derived)


def check_names(context: CheckContext) -> Iterator[Finding]:
    """Entities of the graph."""
    if not context.derived.is_dir():
        return
    with closing(connect(context.derived / FILE, write=False)) as db:
        total = db.execute("SELECT count(*) FROM entities").fetchone()[0]
        isolated, twice = list(_column(db, _ISOLATED)), list(_column(db, _TWICE))
    context.figures |= {"entities": total, "isolated_share": len(isolated) / total if total else 0.0}
    if isolated and len(isolated) > _ISOLATED_LIMIT * total:
        share = f"{len(isolated) / total:.0%} of entities stand alone"
        yield from findings(
            share, "warning", isolated, "no relation was found for them: a graph made by a model has more"
        )
    yield from findings("entities with the same name and type", "warning", twice, "look at them: ragways graph show ID")


def _column(db: sqlite3.Connection, query: str) -> Iterator[str]:
    return (str(row[0]) for row in db.execute(query))
