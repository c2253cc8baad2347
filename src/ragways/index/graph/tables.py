"""The arrays of the graph, made from its rows in the store; and what is checked of both."""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ragways.index.database import REBUILD
from ragways.index.graph.array_changes import JOINING, ChangedArrays, joins
from ragways.index.graph.graph_rows import Touched, digits
from ragways.index.graph.ids import IDS, EntityIds, as_ids
from ragways.index.graph.mentions import ChunkNumbers, MentionArrays
from ragways.index.graph.name_words import NameWords
from ragways.index.graph.relations import DESCRIPTION, RelationArrays, RelationTerms, TextTerms
from ragways.index.layer import CheckContext, Finding, findings
from ragways.index.pagerank import Adjacency
from ragways.index.vectors import Vectors

Ints = NDArray[np.int64]
_T = TypeVar("_T")

_AT_ONCE = 10_000  # rows or texts that are taken up together

# ruff: noqa: S608 - queries are put together from our own words


def write_arrays(
    db: sqlite3.Connection, folder: Path, before: Path | None = None, touched: Touched | None = None
) -> None:
    """All of the graph's files but its vectors, from its rows in the store. `before`: the derived folder of the
    generation before, if any; `touched`: what is other than there, if that is known.
    """
    if before is not None and (before / IDS).is_file() and touched is not None:
        changed = ChangedArrays(db, before, touched)
        entities = _Entities(changed.ids, changed.joining)
        changed.name_words().save(folder)
        ids, left, right, weights, texts, parts = changed.relations()
        relations: _Relations | _SomeRelations = _SomeRelations(ids, left, right, weights, parts)
    else:
        texts = TextTerms()
        entities = _entities(db, texts)
        NameWords.of(_names(db, entities.ids)).save(folder)
        relations = _Relations(db, texts)
    size = len(entities.ids)
    EntityIds(as_ids(entities.ids)).save(folder)
    np.save(folder / JOINING, entities.joining)
    contents = _Contents(db)
    contents.save_chunks(folder)
    named = np.searchsorted(entities.ids, contents.entities).astype(np.int32)
    MentionArrays.of(size, contents.named, named, contents.counts >> np.uint32(1)).save(folder)
    passage_links(entities, contents, named).save(folder, "graph-passages")
    subjects, objects = (
        np.searchsorted(entities.ids, ends).astype(np.int32) for ends in (relations.subjects, relations.objects)
    )
    stated = np.searchsorted(relations.ids, contents.relations), contents.stating.astype(np.int32)
    RelationArrays.of(size, as_ids(relations.ids), subjects, objects, relations.weights, stated).save(folder)
    Adjacency.of_edges(size, subjects.astype(np.int64), objects.astype(np.int64), relations.weights).save(
        folder, "graph-entities"
    )
    RelationTerms.of(texts, relations.parts(subjects, objects)).save(folder)


@dataclass(frozen=True)
class _SomeRelations:
    """All relations, of which some were read and the others taken over."""

    ids: Ints
    subjects: Ints
    objects: Ints
    weights: NDArray[np.float64]
    told: NDArray[np.int32]

    def parts(self, _: NDArray[np.int32], __: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.told


@dataclass(frozen=True)
class _Entities:
    """Their numbers in the store, in rising order, and which of them join passages: dates and quantities do not."""

    ids: Ints
    joining: NDArray[np.bool_]


def _entities(db: sqlite3.Connection, texts: TextTerms) -> _Entities:
    """The first texts are the names of entities, each with the number of its entity."""
    ids, joining, known = array("q"), bytearray(), dict[str, bool]()
    for rows in _batches(db.execute("SELECT id, name, type FROM graph_entities ORDER BY id")):
        numbers, names, types = zip(*rows, strict=True)
        ids.extend(numbers)
        texts.extend(names)
        for type in set(types) - known.keys():
            known[type] = joins(type)
        joining.extend(map(known.__getitem__, types))
    return _Entities(_ints(ids), np.frombuffer(bytes(joining), dtype=np.bool_))


def _names(db: sqlite3.Connection, ids: Ints) -> Iterator[tuple[str, int]]:
    """Names as they are compared, by entity, each with the number of its entity."""
    for rows in _batches(db.execute("SELECT name, entity FROM graph_names ORDER BY entity, name")):
        names, entities = zip(*rows, strict=True)
        yield from zip(names, np.searchsorted(ids, entities).tolist(), strict=True)


_CONTENTS = "SELECT document, chunks, named, entities, counts, stated, relations FROM graph_contents ORDER BY document"


class _Contents:
    """What documents hold, one after the other: `named` and `stated` tell of each chunk how much of it is its own."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        rows = [(row[0], *row[2:]) for row in db.execute(_CONTENTS)]
        documents, named, entities, counts, stated, relations = zip(*rows, strict=True) if rows else ((),) * 6
        self.documents = np.array(documents, dtype=np.int64)
        self.lengths = np.array([len(each) // 4 for each in named], dtype=np.int64)
        self.named = np.frombuffer(b"".join(named), dtype=np.uint32).astype(np.int64)
        self.entities = np.frombuffer(b"".join(entities), dtype=np.int64)
        self.counts = np.frombuffer(b"".join(counts), dtype=np.uint32)
        self.stated = np.frombuffer(b"".join(stated), dtype=np.uint32).astype(np.int64)
        self.relations = np.frombuffer(b"".join(relations), dtype=np.int64)

    @property
    def naming(self) -> Ints:
        """The chunk of each entity that is named."""
        return np.repeat(np.arange(len(self.named)), self.named)

    @property
    def stating(self) -> Ints:
        """The chunk of each relation that is stated."""
        return np.repeat(np.arange(len(self.stated)), self.stated)

    def save_chunks(self, folder: Path) -> None:
        ChunkNumbers.save(folder, chunk_ids(self._db), self.documents, self.lengths)


def chunk_ids(db: sqlite3.Connection) -> Iterator[str]:
    """The ids of all chunks of the graph, by document."""
    for document, paths in db.execute("SELECT document, chunks FROM graph_contents ORDER BY document"):
        for path in paths.split("\n") if paths else ():
            yield f"article:{document}:{path}"


class _Relations:
    """All relations, in rising order of their numbers; their texts are added to those of entities."""

    def __init__(self, db: sqlite3.Connection, texts: TextTerms) -> None:
        documents, begins = _texts(db, texts)
        ids, subjects, objects, weights = array("q"), array("q"), array("q"), array("q")
        sources, said = array("q"), array("q")
        self._predicates, self._dates = array("i"), array("i")
        numbers: dict[str, int] = {}
        first, joined = len(texts), list[tuple[int, int]]()

        def number(text: str) -> int:
            return first + numbers.setdefault(text, len(numbers))

        query = (
            "SELECT id, subject, object, weight, coalesce(document, 0), coalesce(said, -1), predicate, date, "
            "description FROM graph_relations ORDER BY id"
        )
        for rows in _batches(db.execute(query)):
            columns = list(zip(*rows, strict=True))
            for column, values in zip((ids, subjects, objects, weights, sources, said), columns, strict=False):
                column.extend(values)
            self._predicates.extend([number(text.replace("_", " ")) for text in columns[6]])
            self._dates.extend([number(text) for text in columns[7]])
            at = len(ids) - len(rows)
            joined += [(at + n, number(text[:DESCRIPTION])) for n, text in enumerate(columns[8]) if text is not None]
        nothing = number("")
        for some in _batches(iter(numbers)):
            texts.extend(some)
        self.ids, self.subjects, self.objects = _ints(ids), _ints(subjects), _ints(objects)
        self.weights = _ints(weights) / 1e6
        places = begins[np.searchsorted(documents, _ints(sources)).clip(max=max(0, len(documents) - 1))] + _ints(said)
        self._descriptions = np.where(_ints(said) < 0, nothing, places).astype(np.int32)
        for row, text in joined:
            self._descriptions[row] = text

    def parts(self, subjects: NDArray[np.int32], objects: NDArray[np.int32]) -> NDArray[np.int32]:
        """The texts of relations as they are shown: ends, predicate, date and the beginning of the description."""
        predicates, dates = (np.frombuffer(each, dtype=np.int32) for each in (self._predicates, self._dates))
        return np.stack([subjects, predicates, objects, dates, self._descriptions], axis=1)


def _texts(db: sqlite3.Connection, texts: TextTerms) -> tuple[Ints, Ints]:
    """Add the texts of documents; which documents have some, and the numbers of their first texts."""
    documents, first = array("q"), len(texts)
    for rows in _batches(db.execute("SELECT document, text FROM graph_texts ORDER BY document, number")):
        documents.extend(document for document, _ in rows)
        texts.extend([text[:DESCRIPTION] for _, text in rows])
    different, begins = np.unique(_ints(documents), return_index=True)
    return different, begins.astype(np.int64) + first if len(begins) else np.full(1, first, dtype=np.int64)


def _batches(rows: Iterator[_T]) -> Iterator[list[_T]]:
    while some := list(islice(rows, _AT_ONCE)):
        yield some


def _ints(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, dtype=np.int64)


def passage_links(entities: _Entities, contents: _Contents, named: NDArray[np.int32]) -> Adjacency:
    """Entities, then chunks: an edge wherever a chunk names an entity. Dates and quantities join nothing."""
    size = len(entities.ids)
    kept = np.flatnonzero(entities.joining[named])
    counts, about = contents.counts[kept] >> np.uint32(1), contents.counts[kept] & np.uint32(1)
    different, which = np.unique(counts, return_inverse=True)
    weights = np.array([1.0 + math.log(count) for count in different.tolist()])[which] + ABOUT * about
    chunks = size + contents.naming[kept]
    return Adjacency.of_edges(size + len(contents.named), named[kept].astype(np.int64), chunks, weights)


ABOUT = 6.0
"""What it counts for that a passage is the entity's own article: a walk that meets a name should look there first."""


# Checks

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
        "SELECT r.id FROM graph_relations r WHERE said IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM graph_texts t WHERE t.document = r.document AND t.number = r.said)",
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
    unfit = [f"article:{row[0]}" for row in db.execute(_CONTENTS) if not _fits(*row[1:])]
    yield from findings("graph: documents whose chunks and mentions do not fit", "error", unfit, REBUILD)
    if unfit:
        return
    contents = _Contents(db)
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
    size = 4 * (chunks.count("\n") + 1 if chunks else 0)
    return (
        (len(named), len(stated), 2 * len(counts)) == (size, size, len(entities))
        and 8 * sum(array("I", named)) == len(entities)
        and 8 * sum(array("I", stated)) == len(relations)
    )


def _check_arrays(context: CheckContext, ids: Ints, relations: Ints, chunks: int) -> Iterator[Finding]:
    """The arrays have a node for each entity and chunk, and vectors belong to entities and relations that exist."""
    entities = len(ids)
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
    made = (("entities", ids, EntityIds.load(context.derived).numbers),
            ("relations", relations, RelationArrays.load(context.derived).ids))  # fmt: skip
    for table, numbers, kept in made:
        there = as_ids(numbers)
        if not np.array_equal(there, kept):
            yield Finding(
                f"arrays of other {table} than the graph's", "error", 1, f"{len(kept):,}", context.cure_of_derived
            )
        if (context.derived / f"{table}.ids").is_file():
            known = {f"{_PREFIXES[table]}{number:016x}" for number in there.tolist()}
            strange = (id for id in Vectors.load(context.derived, table).ids if id not in known)
            yield from findings(f"vectors of {table} that are not there", "error", strange, context.cure_of_derived)


_PREFIXES = {"entities": "entity:", "relations": "relation:"}


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
