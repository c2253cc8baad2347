"""Which texts of the graph are embedded: of entities that join something, and of relations where that is wanted."""

from __future__ import annotations

import sqlite3

import numpy as np

from ragways.index.graph.graph_rows import digits
from ragways.index.graph.whole_graph import TEXT_OF_RELATION

_UNNAMED = ("date", "quantity")
_AT_ONCE = 10_000


def embedded_texts(db: sqlite3.Connection, *, every: bool, relations: bool) -> dict[str, str]:
    """Texts by id of entity or relation. An entity joins something where several chunks name it, or one that its own
    article is; `every` one is embedded where that is wanted, but for dates and quantities.
    """
    shared = None if every else _shared(db)
    texts: dict[str, str] = {}
    for id, name, type, said in db.execute("SELECT id, name, type, description FROM graph_entities ORDER BY id"):
        if type not in _UNNAMED and (shared is None or id in shared):
            texts[f"entity:{digits(id)}"] = f"{name}: {said}" if said else name
    if relations:
        query = (
            "SELECT r.id, s.name, predicate, o.name, coalesce(r.description, text, '') FROM graph_relations r "  # noqa: S608
            f"JOIN graph_entities s ON s.id = subject JOIN graph_entities o ON o.id = object {TEXT_OF_RELATION}"
        )
        for id, subject, predicate, object, said in db.execute(query):
            texts[f"relation:{digits(id)}"] = said or f"{subject} {predicate.replace('_', ' ')} {object}"
    return texts


def _shared(db: sqlite3.Connection) -> set[int]:
    """Entities that are named more than once, where being what the article is about counts as much as a name."""
    found: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    rows = db.execute("SELECT entities, counts FROM graph_contents")
    while some := rows.fetchmany(_AT_ONCE):
        named = np.frombuffer(b"".join(entities for entities, _ in some), dtype=np.int64)
        about = np.frombuffer(b"".join(counts for _, counts in some), dtype=np.uint32) & 1
        found += [named, named[about > 0]]
    ids, times = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]), return_counts=True)
    return set(ids[times > 1].tolist())
