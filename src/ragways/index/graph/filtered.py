"""The graph restricted to the chunks of some documents: what only other chunks say is not in it.

An entity or a relation stays where a chunk that is left names or states it. Of one that other chunks speak of as well
it cannot be told who said what: it keeps the name that a chunk which is left calls it by, and loses its type,
description, date and other names. Numbers of entities, relations and chunks stay as they are, so arrays fit the tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ragways.index.database import PartOfDatabase
from ragways.index.graph.graph_rows import SHIFT
from ragways.index.graph.ids import EntityIds
from ragways.index.graph.mentions import ChunkNumbers, MentionArrays
from ragways.index.graph.names import fold, split_title
from ragways.index.graph.reader import Graph, GraphEntity, Triplet
from ragways.index.graph.relations import Ints, RelationArrays, Small
from ragways.index.pagerank import Adjacency
from ragways.index.vectors import Vectors

Mask = NDArray[np.bool_]

NAMELESS = "(another name)"
"""What an entity is called that no chunk which is left calls by a name of it."""
_READ = 20  # chunks in which the name of an entity is looked for


class FilteredGraph(Graph):
    """`seen` tells of each chunk of the whole graph whether it is left; `texts` gives the texts of chunks by id."""

    def __init__(self, whole: Graph, seen: Mask, texts: Callable[[Iterable[str]], Mapping[str, str]]) -> None:
        self._whole_graph, self._texts = whole, texts
        self._names: dict[str, str] = {}
        self._chunk_seen = seen
        entities, chunks = whole.mention_arrays
        size = len(whole.ids)
        self._naming = np.bincount(entities[seen[chunks]], minlength=size)
        arrays = whole.relation_arrays
        stated = np.repeat(np.arange(len(arrays)), np.diff(arrays.stated))
        self._stating = np.bincount(stated[seen[arrays.stating]], minlength=len(arrays))
        self._of_relation = np.diff(arrays.stated)
        self._relation_seen: Mask = self._stating > 0
        self._relation_whole: Mask = self._relation_seen & (self._stating == self._of_relation)
        entity_seen = self._naming > 0
        entity_seen[arrays.subjects[self._relation_seen]] = True
        entity_seen[arrays.objects[self._relation_seen]] = True
        self._entity_seen: Mask = entity_seen
        self._entity_whole: Mask = (self._naming > 0) & (self._naming == np.bincount(entities, minlength=size))
        by_entity, by_whole = (_decided_by(mask, whole.ids.numbers) for mask in (entity_seen, self._entity_whole))
        part = PartOfDatabase(
            whole._db,
            {
                "graph_entities": ("id", by_entity),
                "graph_names": ("entity", by_entity),
                "graph_relations": ("id", _decided_by(self._relation_seen, arrays.ids)),
                "graph_merges": ("entity", by_whole),
            },
        )
        super().__init__(whole._folder, cast(sqlite3.Connection, part))

    def close(self) -> None:
        """The whole graph is closed with its index."""

    def is_whole(self, entity: str) -> bool:
        """Whether an entity is there, and all that is known of it comes from chunks that are left."""
        place = self.ordinals.get(entity)
        return place is not None and bool(self._entity_whole[place])

    # Numbers are those of the whole graph.

    @cached_property
    def ids(self) -> EntityIds:
        return self._whole_graph.ids

    @cached_property
    def chunk_numbers(self) -> ChunkNumbers:
        return self._whole_graph.chunk_numbers

    @cached_property
    def mention_table(self) -> MentionArrays:
        """Those of the whole graph, of which only seen chunks and entities may be asked."""
        return self._whole_graph.mention_table

    @cached_property
    def places(self) -> Mapping[str, int]:
        first = len(self.ids)
        return {self.chunks[i]: first + i for i in np.flatnonzero(self._chunk_seen).tolist()}

    def seen_entities(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        return entities[self._entity_seen[entities]]

    def seen_chunks(self, chunks: NDArray[np.int64]) -> Mask:
        return self._chunk_seen[chunks]

    def counts(self) -> dict[str, int]:
        return super().counts() | {
            "entities": int(self._entity_seen.sum()),
            "relations": int(self._relation_seen.sum()),
            "mentions": int(self._naming.sum()),
        }

    # What is said of entities and relations

    def entities(self, ids: Collection[str]) -> dict[str, GraphEntity]:
        found = super().entities(ids)
        names = self._said_names({id: (row.name, *row.aliases) for id, row in found.items() if not self.is_whole(id)})
        for id, row in found.items():
            if id in names:
                naming = int(self._naming[self.ordinals[id]])
                found[id] = replace(row, name=names[id], type="", description="", aliases=(), chunks=naming)
        return found

    def relations_at(self, numbers: Collection[int]) -> dict[int, Triplet]:
        rows = super().relations_at(numbers)
        return dict(zip(rows, self._restricted(list(rows), list(rows.values())), strict=True))

    def _restricted(self, numbers: list[int], rows: list[Triplet]) -> list[Triplet]:
        ends = {end for row in rows for end in (row.subject, row.object) if not self.is_whole(end)}
        names = {id: entity.name for id, entity in self.entities(ends).items()}
        return [
            replace(
                row,
                subject_name=names.get(row.subject, row.subject_name),
                object_name=names.get(row.object, row.object_name),
                description=row.description if self._relation_whole[number] else "",
                date=row.date if self._relation_whole[number] else "",
                weight=float(self.relation_arrays.weights[number]),
            )
            for number, row in zip(numbers, rows, strict=True)
        ]

    def _said_names(self, entities: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """For each entity the first of its names that stands in a chunk which is left and names it."""
        new = {id: self._chunks_naming(self.ordinals[id]) for id in entities.keys() - self._names.keys()}
        texts = self._texts({chunk for chunks in new.values() for chunk in chunks})
        for id, chunks in new.items():
            forms = dict.fromkeys(form for name in entities[id] for form in (name, split_title(name)[0]) if form)
            said = (form for form in forms for chunk in chunks if _stands_in(form, texts[chunk]))
            self._names[id] = next(said, NAMELESS)
        return {id: self._names[id] for id in entities}

    def _chunks_naming(self, entity: int) -> list[str]:
        entities, chunks = self._whole_graph.mention_arrays
        here = chunks[slice(*np.searchsorted(entities, [entity, entity + 1]).tolist())]
        return [self.chunks[chunk] for chunk in here[self._chunk_seen[here]][:_READ].tolist()]

    # Arrays

    @cached_property
    def vectors(self) -> Vectors | None:
        held = self._whole_graph.vectors
        return None if held is None else held.only(self._entity_seen[[self.ordinals[id] for id in held.ids]])

    @cached_property
    def relation_vectors(self) -> Vectors | None:
        held = self._whole_graph.relation_vectors
        return None if held is None else held.only(self._relation_seen[self.relation_arrays.numbers(held.ids)])

    @cached_property
    def relation_arrays(self) -> RelationArrays:
        """A relation weighs as much less as fewer chunks state it."""
        whole = self._whole_graph.relation_arrays
        share = np.divide(self._stating, self._of_relation, out=np.zeros(len(whole)), where=self._of_relation > 0)
        by_subject, from_subject = _filtered(whole.by_subject, whole.from_subject, self._relation_seen)
        by_object, from_object = _filtered(whole.by_object, whole.from_object, self._relation_seen)
        stated, stating = _filtered(whole.stated, whole.stating, self._chunk_seen)
        return RelationArrays(
            whole.ids, whole.subjects, whole.objects, whole.weights * share,
            by_subject, from_subject, by_object, from_object, stated, stating,
        )  # fmt: skip

    @cached_property
    def adjacency(self) -> Adjacency:
        arrays, kept = self.relation_arrays, np.flatnonzero(self._relation_seen)
        left, right = arrays.subjects[kept].astype(np.int64), arrays.objects[kept].astype(np.int64)
        return Adjacency.of_edges(len(self.ids), left, right, arrays.weights[kept])

    @cached_property
    def passages(self) -> Adjacency:
        whole = self._whole_graph.passages
        seen = np.concatenate([np.ones(len(self.ids), dtype=np.bool_), self._chunk_seen])
        kept = np.repeat(seen, np.diff(whole.indptr)) & seen[whole.indices]
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
        return Adjacency(ends[whole.indptr], whole.indices[kept], whole.weights[kept])


def _decided_by(seen: Mask, ids: NDArray[np.uint64]) -> Callable[[int], int]:
    """Whether something is seen, by its number in the store."""

    def is_seen(number: int) -> int:
        wanted = np.uint64(number + SHIFT)
        place = int(ids.searchsorted(wanted))
        return int(place < len(ids) and ids[place] == wanted and seen[place])

    return is_seen


def _filtered(begins: Ints, items: Small, seen: Mask) -> tuple[Ints, Small]:
    """Rows of items without those that are not seen."""
    kept = seen[items]
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    return ends[begins], items[kept]


def _stands_in(name: str, text: str) -> bool:
    """Whether a text has a name as words of its own, as it is written or as names are compared."""
    at = text.find(name)
    if at >= 0 and not text[max(0, at - 1) : at].isalnum() and not text[at + len(name) : at + len(name) + 1].isalnum():
        return True
    return bool(folded := fold(name)) and f" {folded} " in f" {fold(text)} "
