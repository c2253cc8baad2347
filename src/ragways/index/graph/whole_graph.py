"""The rows of the graph read all at once, for what is made from the whole of it."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from ragways.index.graph.data import EntityRow, GraphData, MentionRow, MergeRow, RelationRow
from ragways.index.graph.graph_rows import MILLION, aliases, digits

# ruff: noqa: S608 - queries are put together from our own words

TEXT_OF_RELATION = "LEFT JOIN graph_texts t ON t.document = r.document AND t.number = r.said"
"""Joins to a relation `r` the one text that describes it, where there is one."""


def read_graph(db: sqlite3.Connection) -> GraphData:
    """All rows at once, which takes memory: for what is made from the whole graph."""
    chunks, mentions, stating = list[str](), list[MentionRow](), defaultdict[int, list[str]](list)
    for document, paths, named, entities, counts, stated, relations in db.execute(
        "SELECT * FROM graph_contents ORDER BY document"
    ):
        here = [f"article:{document}:{path}" for path in paths.split("\n")] if paths else []
        chunks += here
        ids, told = array("q", entities), array("I", counts)
        at = 0
        for chunk, count in zip(here, array("I", named), strict=True):
            for id, n in zip(ids[at : at + count], told[at : at + count], strict=True):
                mentions.append(MentionRow(f"entity:{digits(id)}", chunk, n >> 1, bool(n & 1)))
            at += count
        said, at = array("q", relations), 0
        for chunk, count in zip(here, array("I", stated), strict=True):
            for id in said[at : at + count]:
                stating[id].append(chunk)
            at += count
    mentions.sort(key=lambda row: (row.entity, row.chunk))
    return GraphData(
        entities=tuple(_entity_rows(db)),
        relations=tuple(
            RelationRow(
                f"relation:{digits(id)}", f"entity:{digits(subject)}", predicate, f"entity:{digits(object)}",
                description, weight / MILLION, date, way, tuple(stating[id]),
            )
            for id, subject, predicate, object, description, weight, date, way in db.execute(
                "SELECT r.id, subject, predicate, object, coalesce(description, text, ''), weight, date, way "
                f"FROM graph_relations r {TEXT_OF_RELATION} ORDER BY r.id"
            )
        ),
        mentions=tuple(mentions),
        merges=tuple(
            MergeRow(f"entity:{digits(entity)}", name, into, reason, documents)
            for entity, name, reason, into, documents in db.execute(
                "SELECT * FROM graph_merges ORDER BY entity, name, reason, into_name"
            )
        ),
        chunks=tuple(chunks),
        everyday=frozenset(name for (name,) in db.execute("SELECT name FROM graph_names WHERE everyday")),
    )  # fmt: skip


def _entity_rows(db: sqlite3.Connection) -> Iterator[EntityRow]:
    query = "SELECT id, name, type, description, names, count, way FROM graph_entities ORDER BY id"
    for id, name, type, description, names, count, way in db.execute(query):
        yield EntityRow(f"entity:{digits(id)}", name, type, description, aliases(name, names), count, way)


def embedded_texts(db: sqlite3.Connection, *, every: bool, relations: bool) -> dict[str, str]:
    """Texts to embed, by id: of entities that something joins to others, or of `every` one; and of `relations`."""
    joined = set() if every else _joined(db)
    texts = {}
    for id, name, said in db.execute(
        "SELECT id, name, description FROM graph_entities WHERE type NOT IN ('date', 'quantity') ORDER BY id"
    ):
        if every or id in joined:
            texts[f"entity:{digits(id)}"] = f"{name}: {said}" if said else name
    if relations:
        query = (
            "SELECT r.id, coalesce(r.description, t.text), s.name, r.predicate, o.name FROM graph_relations r "
            "JOIN graph_entities s ON s.id = r.subject JOIN graph_entities o ON o.id = r.object "
            f"{TEXT_OF_RELATION} ORDER BY r.id"
        )
        for id, said, subject, predicate, object in db.execute(query):
            texts[f"relation:{digits(id)}"] = said or f"{subject} {predicate.replace('_', ' ')} {object}"
    return texts


def _joined(db: sqlite3.Connection) -> set[int]:
    """Entities that several chunks name, or one chunk of their own article."""
    rows = db.execute("SELECT entities, counts FROM graph_contents").fetchall()
    ids = np.frombuffer(b"".join(row[0] for row in rows), dtype=np.int64)
    about = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint32) & np.uint32(1)
    different, which = np.unique(ids, return_inverse=True)
    return set(different[np.bincount(which, 1 + about, len(different)) > 1].tolist())
