"""The rows of a graph read all at once, to compare them."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from ragways.index.gone_texts import text_now
from ragways.index.graph.data import DocumentGraph, EntityRow
from ragways.index.graph.document_statements import MILLION
from ragways.index.graph.graph_rows import aliases, digits, found_by
from ragways.index.graph.graph_tables import LaidDown
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.stated_columns import stated_among
from ragways.index.graph.stored_relations import RelationRow as StoredRelation
from ragways.index.graph.stored_relations import StoredRelations
from ragways.index.graph.told_texts import descriptions, entity_descriptions
from ragways.index.packed_numbers import unpacked_counts


def laid_down(db: sqlite3.Connection, documents: Iterable[DocumentGraph]) -> Iterator[LaidDown]:
    """What tables are filled with."""
    return (LaidDown.of(document, partial(text_now, db)) for document in documents)


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation of the corpus, with the chunks that state it."""

    id: str
    subject: str
    predicate: str
    object: str
    description: str
    weight: float
    date: str
    way: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MentionRow:
    """An entity is named `count` times in a chunk; `about` says that the chunk's article is its own."""

    entity: str
    chunk: str
    count: int
    about: bool


@dataclass(frozen=True, slots=True)
class MergeRow:
    """A merge that was made: `name` counts as `into`, which is the entity."""

    entity: str
    name: str
    into: str
    reason: str
    documents: int


@dataclass(frozen=True, slots=True)
class GraphData:
    """Rows in their one order: entities, relations and mentions by id, chunks as the store has them."""

    entities: tuple[EntityRow, ...]
    relations: tuple[RelationRow, ...]
    mentions: tuple[MentionRow, ...]
    merges: tuple[MergeRow, ...]
    chunks: tuple[str, ...]
    everyday: frozenset[str]
    """Names of one word that the corpus writes small: a question that does so need not mean the entity."""


def read_graph(db: sqlite3.Connection) -> GraphData:
    """All rows at once, which takes memory: for what is made from the whole graph."""
    chunks, mentions, stating = list[str](), list[MentionRow](), defaultdict[int, list[str]](list)
    for document, paths, named, entities, counts in db.execute(
        "SELECT document, chunks, named, entities, counts FROM graph_contents ORDER BY document"
    ):
        here = [f"article:{document}:{path}" for path in paths.split("\n")] if paths else []
        chunks += here
        ids = array("q", entities)
        told = unpacked_counts(counts, len(ids))
        at = 0
        for chunk, count in zip(here, unpacked_counts(named, len(here)), strict=True):
            for id, n in zip(ids[at : at + count], told[at : at + count], strict=True):
                mentions.append(MentionRow(f"entity:{digits(id)}", chunk, n >> 1, bool(n & 1)))
            at += count
    relations = [row.id for row in StoredRelations(db).all()]
    for id, place, stated in stated_among(db, Predicates(db), relations):
        stating[id] += (f"article:{stated.document}:{path}" for path in stated.stating(place))
    mentions.sort(key=lambda row: (row.entity, row.chunk))
    return GraphData(
        entities=tuple(_entity_rows(db)),
        relations=tuple(
            RelationRow(
                f"relation:{digits(row.id)}", f"entity:{digits(row.subject)}", row.predicate,
                f"entity:{digits(row.object)}", description, row.weight / MILLION, row.date, row.way,
                tuple(stating[row.id]),
            )
            for row, description in _described(db)
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


def _described(db: sqlite3.Connection) -> Iterator[tuple[StoredRelation, str]]:
    rows = sorted(StoredRelations(db).all())
    assert rows == StoredRelations(db).rows([row.id for row in rows])
    return zip(rows, descriptions(db, [row.told for row in rows]), strict=True)


def _entity_rows(db: sqlite3.Connection) -> Iterator[EntityRow]:
    rows = db.execute("SELECT id, name, type, names, count, way FROM graph_entities ORDER BY id").fetchall()
    said = entity_descriptions(db, [row[0] for row in rows])
    for id, name, type, names, count, way in rows:
        others = aliases(name, names)
        yield EntityRow(f"entity:{digits(id)}", name, type, said.get(id, ""), others, count, found_by(way))
