"""What `ragways check` looks at in the graph: its rows in the store, and its arrays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.database import REBUILD
from ragways.index.graph.contents import CONTENTS, NODES, Contents, chunk_ids, count_paths
from ragways.index.graph.graph_rows import digits, unpacked_counts
from ragways.index.graph.ids import ENTITIES, as_ids
from ragways.index.graph.mentions import CHUNKS
from ragways.index.graph.relations import RELATIONS
from ragways.index.layer import CheckContext, Finding, findings
from ragways.index.numbered_vectors import NumberedVectors
from ragways.index.row_keys import RowKeys

Ints = NDArray[np.int64]

# ruff: noqa: S608 - queries are put together from our own words

_ISOLATED_LIMIT = 0.5
"""The share of entities that may stand alone before it is said."""

_ENTITIES = "(SELECT id FROM graph_entities)"
_DANGLING = (
    (
        "relations of entities that are not there",
        f"SELECT id FROM graph_relations WHERE subject NOT IN {_ENTITIES} OR object NOT IN {_ENTITIES}",
        "relation:",
    ),
    (
        "relations whose description is not there",
        "SELECT r.id FROM graph_relations r WHERE typeof(said) = 'integer' AND NOT EXISTS "
        "(SELECT 1 FROM graph_texts t WHERE t.document = r.document)",
        "relation:",
    ),
    (
        "names of entities that are not there",
        f"SELECT entity FROM graph_names WHERE entity NOT IN {_ENTITIES}",
        "entity:",
    ),
    (
        "merges into entities that are not there",
        f"SELECT entity FROM graph_merges WHERE entity NOT IN {_ENTITIES}",
        "entity:",
    ),
)
_ISOLATED = (
    "SELECT id FROM graph_entities WHERE id NOT IN (SELECT subject FROM graph_relations) "
    "AND id NOT IN (SELECT object FROM graph_relations)"
)
_TWICE = (
    "SELECT min(e.id), min(e.name) FROM graph_names n JOIN graph_entities e ON e.id = n.entity "
    "WHERE n.own = 1 GROUP BY n.name, e.type HAVING count(*) > 1 ORDER BY 1"
)


def check_references(context: CheckContext) -> Iterator[Finding]:
    """References of the graph."""
    if not context.derived.is_dir():
        return
    db = context.store.db
    for name, query, prefix in _DANGLING:
        yield from findings(name, "error", _ids(db, query, prefix), REBUILD)
    known = set(context.chunks)
    strange = (id for id in chunk_ids(db) if id not in known)
    yield from findings("graph: chunks that are not in the index", "error", strange, REBUILD)
    unfit = [f"article:{row[0]}" for row in db.execute(CONTENTS) if not _fits(*row[1:])]
    yield from findings("graph: documents whose chunks and mentions do not fit", "error", unfit, REBUILD)
    if unfit:
        return
    contents = Contents(db)
    ids, relations = (_numbers(db, f"SELECT id FROM graph_{table} ORDER BY id") for table in ("entities", "relations"))
    for name, held, there, prefix in (
        ("mentions of entities that are not there", contents.entities, ids, "entity:"),
        ("sources of relations that are not there", contents.relations, relations, "relation:"),
    ):
        missing = held[~np.isin(held, there)].tolist()
        yield from findings(name, "error", (f"{prefix}{digits(number)}" for number in missing), REBUILD)
    yield from _check_arrays(context, ids, relations, len(contents.named))


def _fits(chunks: str, named: bytes, entities: bytes, counts: bytes, stated: bytes, relations: bytes) -> bool:
    """Whether a document's chunks have as much as they say they have."""
    size = count_paths(chunks)
    return (
        all(len(each) in (n, 4 * n) for each, n in ((named, size), (stated, size), (counts, len(entities) // 8)))
        and 8 * sum(unpacked_counts(named, size)) == len(entities)
        and 8 * sum(unpacked_counts(stated, size)) == len(relations)
    )


def _check_arrays(context: CheckContext, ids: Ints, relations: Ints, chunks: int) -> Iterator[Finding]:
    """The arrays have a row for each entity, relation and chunk, and vectors belong to entities and relations that
    exist.
    """
    tables = {name: ArrayTable(context.derived, name) for name in (ENTITIES, RELATIONS, CHUNKS, NODES)}
    entities = tables[ENTITIES].size.capacity
    for name, size in ((ENTITIES, entities), (NODES, entities + tables[CHUNKS].used)):
        links = tables[name].ragged("links")
        nodes = links["nodes"][links.places(np.arange(len(links)))[0]]
        if len(links) < size or (len(nodes) and int(nodes.max()) >= size):
            yield Finding(
                f"{name}: not the nodes of the graph",
                "error",
                1,
                f"{len(links):,} for {size:,}",
                context.cure_of_derived,
            )
    if int(np.count_nonzero(tables[CHUNKS].ragged("path").counts)) != chunks:
        yield Finding("arrays of other chunks than the graph's", "error", 1, f"{chunks:,}", context.cure_of_derived)
    for table, numbers in (("entities", ids), ("relations", relations)):
        made, there = tables[f"graph-{table}"], as_ids(numbers)
        keys = RowKeys(made.column("ids"), made.column("alive"), made.size.rows, made.used)
        kept = keys.keys[keys.numbers()]
        if not np.array_equal(there, kept):
            yield Finding(
                f"arrays of other {table} than the graph's", "error", 1, f"{len(kept):,}", context.cure_of_derived
            )
        if (held := NumberedVectors.open(context.derived, table)) is not None:
            strange = (held.ids[row] for row in np.flatnonzero(~np.isin(as_ids(held.numbers), there)).tolist())
            yield from findings(f"vectors of {table} that are not there", "error", strange, context.cure_of_derived)


def check_names(context: CheckContext) -> Iterator[Finding]:
    """Entities of the graph."""
    if not context.derived.is_dir():
        return
    db = context.store.db
    total = db.execute("SELECT count(*) FROM graph_entities").fetchone()[0]
    isolated = list(_ids(db, _ISOLATED, "entity:"))
    twice = [f"entity:{digits(id)} {name}" for id, name in db.execute(_TWICE)]
    context.figures |= {"entities": total, "isolated_share": len(isolated) / total if total else 0.0}
    if isolated and len(isolated) > _ISOLATED_LIMIT * total:
        share = f"{len(isolated) / total:.0%} of entities stand alone"
        yield from findings(
            share, "warning", isolated, "no relation was found for them: a graph made by a model has more"
        )
    yield from findings("entities with the same name and type", "warning", twice, "look at them: ragways graph show ID")


def _ids(db: sqlite3.Connection, query: str, prefix: str) -> Iterator[str]:
    return (f"{prefix}{digits(row[0])}" for row in db.execute(query))


def _numbers(db: sqlite3.Connection, query: str) -> Ints:
    return np.fromiter((row[0] for row in db.execute(query)), dtype=np.int64)
