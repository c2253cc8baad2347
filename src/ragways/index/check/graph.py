"""The knowledge graph: everything that it names is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from ragways.index.check.finding import Finding, Place, found
from ragways.index.database import connect

FILE = "graph.sqlite"
MOST_ISOLATED = 0.5
"""The share of entities that may stand alone before it is said."""

DANGLING = (
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
    ("names of entities that are not there", "SELECT name FROM names WHERE entity NOT IN {e}"),
    ("merges into entities that are not there", "SELECT name FROM merges WHERE entity NOT IN {e}"),
)
_TABLES = {
    "e": "(SELECT ordinal FROM entities)",
    "r": "(SELECT ordinal FROM relations)",
    "c": "(SELECT ordinal FROM chunks)",
}

_ISOLATED = (
    "SELECT id FROM entities e WHERE NOT EXISTS (SELECT 1 FROM relations WHERE subject = e.ordinal) "
    "AND NOT EXISTS (SELECT 1 FROM relations WHERE object = e.ordinal)"
)
_TWICE = (
    "SELECT min(e.id) || ' ' || min(e.name) FROM names n JOIN entities e ON e.ordinal = n.entity "
    "WHERE n.own = 1 GROUP BY n.name, e.type HAVING count(*) > 1 ORDER BY 1"
)


def references(place: Place) -> Iterator[Finding]:
    """References of the graph."""
    if not place.has("graph"):
        return
    with closing(connect(place.derived / FILE, write=False)) as db:
        for name, query in DANGLING:
            yield from found(name, "error", _column(db, query.format(**_TABLES)), place.derive)
        known = set(place.chunks)
        strange = (id for id in _column(db, "SELECT id FROM chunks ORDER BY ordinal") if id not in known)
        yield from found("graph: chunks that are not in the index", "error", strange, place.derive)
        yield from _numbers(place, db)


def _numbers(place: Place, db: sqlite3.Connection) -> Iterator[Finding]:
    """The arrays have a node for each entity and chunk, and vectors belong to entities and relations that exist."""
    from ragways.index.pagerank import Adjacency
    from ragways.index.vectors import Vectors

    entities, chunks = (db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("entities", "chunks"))  # noqa: S608
    for name, size in (("graph-entities", entities), ("graph-passages", entities + chunks)):
        links = Adjacency.load(place.derived, name)
        if len(links) != size or (len(links.indices) and int(links.indices.max()) >= size):
            yield Finding(
                f"{name}: not the nodes of the graph", "error", 1, f"{len(links):,} for {size:,}", place.derive
            )
    for table in ("entities", "relations"):
        if (place.derived / f"{table}.ids").is_file():
            known = set(_column(db, f"SELECT id FROM {table}"))  # noqa: S608 - our own names
            strange = (id for id in Vectors.load(place.derived, table).ids if id not in known)
            yield from found(f"vectors of {table} that are not there", "error", strange, place.derive)


def names(place: Place) -> Iterator[Finding]:
    """Entities of the graph."""
    if not place.has("graph"):
        return
    with closing(connect(place.derived / FILE, write=False)) as db:
        total = db.execute("SELECT count(*) FROM entities").fetchone()[0]
        isolated, twice = list(_column(db, _ISOLATED)), list(_column(db, _TWICE))
    place.figures |= {"entities": total, "isolated_share": len(isolated) / total if total else 0.0}
    if isolated and len(isolated) > MOST_ISOLATED * total:
        share = f"{len(isolated) / total:.0%} of entities stand alone"
        yield from found(share, "warning", isolated, "no relation was found for them: a graph made by a model has more")
    yield from found("entities with the same name and type", "warning", twice, "look at them: ragways graph show ID")


def _column(db: sqlite3.Connection, query: str) -> Iterator[str]:
    return (str(row[0]) for row in db.execute(query))
