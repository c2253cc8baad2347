"""What `ragways check` looks at in the graph: its rows in the store, and its arrays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.database import REBUILD
from ragways.index.graph.contents import NODES, Contents, chunk_ids
from ragways.index.graph.document_statements import ContentsRow, contents_rows
from ragways.index.graph.graph_rows import digits
from ragways.index.graph.ids import ENTITIES, as_ids
from ragways.index.graph.mentions import CHUNKS
from ragways.index.graph.relations import RELATIONS
from ragways.index.graph.stated_columns import count_paths
from ragways.index.graph.stating_documents import ArrayDocuments, OwnRelations, own_relations
from ragways.index.graph.stored_relations import JoiningRows, all_joining
from ragways.index.layer import CheckContext, Finding, findings
from ragways.index.numbered_vectors import NumberedVectors
from ragways.index.packed_numbers import fits_count, unpacked_counts
from ragways.index.row_keys import RowKeys

Ints = NDArray[np.int64]

# ruff: noqa: S608 - queries are put together from our own words

_ISOLATED_LIMIT = 0.5
"""The share of entities that may stand alone before it is said."""

_ENTITIES = "(SELECT id FROM graph_entities)"
_DANGLING = (
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
_TWICE = (
    "SELECT min(e.id), min(e.name) FROM graph_names n JOIN graph_entities e ON e.id = n.entity "
    "WHERE n.own = 1 GROUP BY n.name, e.type HAVING count(*) > 1 ORDER BY 1"
)


def check_graph(context: CheckContext) -> Iterator[Finding]:
    """The rows of the graph, and its arrays."""
    if not context.derived.is_dir():
        return
    db = context.store.db
    yield from _check_names(db)
    for name, query, prefix in _DANGLING:
        yield from findings(name, "error", _ids(db, query, prefix), REBUILD)
    known = set(context.chunks)
    strange = (id for id in chunk_ids(db) if id not in known)
    yield from findings("graph: chunks that are not in the index", "error", strange, REBUILD)
    unfit = [f"article:{row.document}" for rows in contents_rows(db) for row in rows if not _fits(row)]
    yield from findings("graph: documents whose chunks, mentions and statements do not fit", "error", unfit, REBUILD)
    if unfit:
        return
    contents, relations, ids = Contents(db), all_joining(db), _entity_numbers(db)
    for name, held in (
        ("mentions of entities that are not there", contents.entities),
        ("relations of entities that are not there", np.concatenate([relations.subjects, relations.objects])),
    ):
        missing = held[~np.isin(held, ids)].tolist()
        yield from findings(name, "error", (f"entity:{digits(number)}" for number in missing), REBUILD)
    yield from findings(
        "graph: documents whose descriptions of relations are not there", "error", _not_described(db), REBUILD
    )
    own = own_relations(db)
    misplaced = _misplaced(db, own)
    yield from findings("relations that are kept otherwise than documents state them", "error", misplaced, REBUILD)
    yield from _check_ends(context, ids, relations)
    yield from _check_arrays(context, ids, relations.ids, len(contents.named))
    strange = (f"relation:{digits(id)}" for id in _stated_by_others(context, own))
    yield from findings("arrays have relations of other documents", "error", strange, context.cure_of_derived)


def _fits(row: ContentsRow) -> bool:
    """Whether a document's row has as much of everything as it says."""
    size, entities = count_paths(row.chunks), len(row.entities) // 8
    if not all(fits_count(each, size) for each in (row.named, row.stated)) or not fits_count(row.counts, entities):
        return False
    relations = sum(unpacked_counts(row.stated, size))
    if not (
        all(fits_count(each, relations) for each in (row.subjects, row.objects))
        and (not row.times or fits_count(row.times, relations))
    ):
        return False
    statements = sum(unpacked_counts(row.times, relations)) if row.times else relations
    return (
        all(fits_count(each, statements) for each in (row.weights, row.texts, row.predicates))
        and (not row.dates or fits_count(row.dates, statements))
        and sum(unpacked_counts(row.named, size)) == entities
        and max((*unpacked_counts(row.subjects, relations), *unpacked_counts(row.objects, relations)), default=-1)
        < entities
    )


def _not_described(db: sqlite3.Connection) -> Iterator[str]:
    """Documents whose statements have texts that are not there."""
    query = "SELECT document FROM graph_contents WHERE document NOT IN (SELECT document FROM graph_texts)"
    without = {document for (document,) in db.execute(query)}
    return (f"article:{row.document}" for rows in contents_rows(db, without) for row in rows if any(row.texts))


def _misplaced(db: sqlite3.Connection, own: OwnRelations) -> Iterator[str]:
    stated = _numbers(db, "SELECT DISTINCT relation FROM graph_statements ORDER BY relation")
    shared = _numbers(db, "SELECT id FROM graph_shared_relations ORDER BY id")
    for kept in (shared, stated):
        yield from (f"relation:{digits(id)}" for id in np.setxor1d(own.shared, kept).tolist())


def _stated_by_others(context: CheckContext, own: OwnRelations) -> Iterator[int]:
    """Relations that one document states, and by the arrays, which a change asks, another one does."""
    ids, documents = ArrayDocuments(context.derived).first(own.relations)
    stating = own.documents[np.searchsorted(own.relations, ids)]
    return iter(ids[documents != stating].tolist())


def _check_arrays(context: CheckContext, ids: Ints, relations: Ints, chunks: int) -> Iterator[Finding]:
    """The arrays have a row for each entity, relation and chunk, and vectors belong to entities and relations that
    exist.
    """
    tables = {name: ArrayTable(context.derived, name) for name in (ENTITIES, RELATIONS, CHUNKS, NODES)}
    entities = tables[ENTITIES].size.capacity
    links, size = tables[NODES].ragged("links"), entities + tables[CHUNKS].used
    nodes = links["nodes"][links.places(np.arange(len(links)))[0]]
    if len(links) < size or (len(nodes) and int(nodes.max()) >= size):
        counts = f"{len(links):,} for {size:,}"
        yield Finding(f"{NODES}: not the nodes of the graph", "error", 1, counts, context.cure_of_derived)
    yield from _check_rows_of_ends(context, tables[ENTITIES], tables[RELATIONS])
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


def _check_rows_of_ends(context: CheckContext, entities: ArrayTable, relations: ArrayTable) -> Iterator[Finding]:
    """Entities have the relations in their rows that have them at an end."""
    numbers = np.flatnonzero(relations.column("alive")[: relations.used])
    for rows, end in (("subject_of", "subjects"), ("object_of", "objects")):
        held, ends = entities.ragged(rows), relations.column(end)
        places, counts = held.places(np.arange(len(held)))
        found, owners = held["relations"][places], np.repeat(np.arange(len(held)), counts)
        if not (np.array_equal(np.sort(found), numbers) and np.array_equal(ends[found], owners)):
            cure = context.cure_of_derived
            yield Finding(f"{ENTITIES}: not the {end} of relations", "error", 1, f"{len(found):,}", cure)


def _check_ends(context: CheckContext, ids: Ints, relations: JoiningRows) -> Iterator[Finding]:
    """Entities that no relation has at an end are not many."""
    alone = np.setdiff1d(ids, np.concatenate([relations.subjects, relations.objects]))
    context.figures |= {"entities": len(ids), "isolated_share": len(alone) / len(ids) if len(ids) else 0.0}
    if len(alone) > _ISOLATED_LIMIT * len(ids):
        share = f"{len(alone) / len(ids):.0%} of entities stand alone"
        isolated = (f"entity:{digits(number)}" for number in alone.tolist())
        yield from findings(
            share, "warning", isolated, "no relation was found for them: a graph made by a model has more"
        )


def _check_names(db: sqlite3.Connection) -> Iterator[Finding]:
    twice = [f"entity:{digits(id)} {name}" for id, name in db.execute(_TWICE)]
    yield from findings("entities with the same name and type", "warning", twice, "look at them: ragways graph show ID")


def _ids(db: sqlite3.Connection, query: str, prefix: str) -> Iterator[str]:
    return (f"{prefix}{digits(row[0])}" for row in db.execute(query))


def _entity_numbers(db: sqlite3.Connection) -> Ints:
    return _numbers(db, "SELECT id FROM graph_entities ORDER BY id")


def _numbers(db: sqlite3.Connection, query: str) -> Ints:
    return np.fromiter((row[0] for row in db.execute(query)), dtype=np.int64)
