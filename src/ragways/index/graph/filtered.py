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
from ragways.index.graph.ids import EntityIds, as_ids
from ragways.index.graph.mentions import ChunkNumbers, MentionArrays
from ragways.index.graph.names import fold, split_title
from ragways.index.graph.reader import Graph, GraphEntity, Triplet
from ragways.index.graph.relation_ids import SHIFT
from ragways.index.graph.relation_links import RelationLinks
from ragways.index.graph.relations import RelationArrays
from ragways.index.graph.weights import exact_weights
from ragways.index.numbered_vectors import NumberedVectors
from ragways.index.pagerank import Adjacency, Links
from ragways.index.ragged import Ragged, ragged
from ragways.index.row_keys import RowKeys

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
        entities, chunks = whole.mention_table.pairs()
        size = whole.ids.capacity
        self._naming = np.bincount(entities[seen[chunks]], minlength=size)
        arrays = whole.relation_arrays
        places, self._of_relation = arrays.stating.places(np.arange(len(arrays.stating)))
        stated = arrays.stating.owners()
        self._stating = np.bincount(stated[seen[arrays.stating["chunks"][places]]], minlength=len(arrays.stating))
        self._relation_seen: Mask = self._stating > 0
        self._relation_whole: Mask = self._relation_seen & (self._stating == self._of_relation)
        entity_seen = self._naming > 0
        entity_seen[arrays.subjects[self._relation_seen]] = True
        entity_seen[arrays.objects[self._relation_seen]] = True
        self._entity_seen: Mask = entity_seen
        self._entity_whole: Mask = (self._naming > 0) & (self._naming == np.bincount(entities, minlength=size))
        by_entity, by_whole = (_decided_by(mask, whole.ids.rows) for mask in (entity_seen, self._entity_whole))
        part = PartOfDatabase(
            whole._db,
            {
                "graph_entities": ("id", by_entity),
                "graph_names": ("entity", by_entity),
                "graph_merges": ("entity", by_whole),
                "graph_descriptions": ("entity", by_whole),
            },
        )
        super().__init__(whole._folder, cast(sqlite3.Connection, part))

    def close(self) -> None:
        """The whole graph is closed with its index."""

    def is_whole(self, entity: str) -> bool:
        """Whether an entity is there, and all that is known of it comes from chunks that are left."""
        place = self.ids.get(entity)
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
        first = self.first_chunk
        seen = np.flatnonzero(self._chunk_seen)
        return dict(zip(self.chunks.take(seen), (first + seen).tolist(), strict=True))

    def seen_entities(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        return entities[self._entity_seen[entities]]

    def seen_relations(self, relations: NDArray[np.int64]) -> NDArray[np.int64]:
        return relations[self._relation_seen[relations]]

    def seen_chunks(self, chunks: NDArray[np.int64]) -> Mask:
        return self._chunk_seen[chunks]

    def counts(self) -> dict[str, int]:
        return super().counts() | {
            "entities": int(self._entity_seen.sum()),
            "relations": int(self._relation_seen.sum()),
            "mentions": int(self._naming.sum()),
        }

    # What is said of entities and relations

    def entities(self, ids: Collection[str], *, described: bool = True) -> dict[str, GraphEntity]:
        # What describes the others is hidden, however many documents do.
        whole = {id for id in ids if self.is_whole(id)} if described else set()
        others = super().entities([id for id in ids if id not in whole], described=False)
        found = dict(sorted((super().entities(whole) | others).items()))
        names = self._said_names({id: (row.name, *row.aliases) for id, row in found.items() if not self.is_whole(id)})
        for id, row in found.items():
            if id in names:
                naming = int(self._naming[self.ids[id]])
                found[id] = replace(row, name=names[id], type="", aliases=(), chunks=naming)
        return found

    def relations_at(self, numbers: Collection[int]) -> dict[int, Triplet]:
        rows = super().relations_at(numbers)
        return dict(zip(rows, self._restricted(list(rows), list(rows.values())), strict=True))

    def _restricted(self, numbers: list[int], rows: list[Triplet]) -> list[Triplet]:
        ends = {end for row in rows for end in (row.subject, row.object) if not self.is_whole(end)}
        names = {id: entity.name for id, entity in self.entities(ends, described=False).items()}
        weights = self.relation_arrays.weights[np.array(numbers, dtype=np.int64)].tolist()
        return [
            replace(
                row,
                subject_name=names.get(row.subject, row.subject_name),
                object_name=names.get(row.object, row.object_name),
                description=row.description if self._relation_whole[number] else "",
                date=row.date if self._relation_whole[number] else "",
                weight=weight,
            )
            for number, row, weight in zip(numbers, rows, weights, strict=True)
        ]

    def _said_names(self, entities: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """For each entity the first of its names that stands in a chunk which is left and names it."""
        new = {id: self._chunks_naming(self.ids[id]) for id in entities.keys() - self._names.keys()}
        texts = self._texts({chunk for chunks in new.values() for chunk in chunks})
        for id, chunks in new.items():
            forms = dict.fromkeys(form for name in entities[id] for form in (name, split_title(name)[0]) if form)
            said = (form for form in forms for chunk in chunks if _stands_in(form, texts[chunk]))
            self._names[id] = next(said, NAMELESS)
        return {id: self._names[id] for id in entities}

    def _chunks_naming(self, entity: int) -> list[str]:
        here, _ = self._whole_graph.mention_table.naming(entity)
        return self.chunks.take(here[self._chunk_seen[here]][:_READ])

    # Arrays

    @cached_property
    def vectors(self) -> NumberedVectors | None:
        held = self._whole_graph.vectors
        return None if held is None else held.only(_seen(self.ids.rows, self._entity_seen, held))

    @cached_property
    def relation_vectors(self) -> NumberedVectors | None:
        held = self._whole_graph.relation_vectors
        return None if held is None else held.only(_seen(self.relation_arrays.rows, self._relation_seen, held))

    @cached_property
    def relation_arrays(self) -> RelationArrays:
        """A relation weighs as much less as fewer chunks state it."""
        whole = self._whole_graph.relation_arrays
        size = len(whole.weights)
        share = np.divide(self._stating, self._of_relation, out=np.zeros(size), where=self._of_relation > 0)
        return replace(
            whole,
            weights=np.asarray(whole.weights) * share,
            subject_of=_filtered(whole.subject_of, "relations", self._relation_seen),
            object_of=_filtered(whole.object_of, "relations", self._relation_seen),
            stating=_filtered(whole.stating, "chunks", self._chunk_seen),
        )

    @cached_property
    def adjacency(self) -> Links:
        arrays = self.relation_arrays
        return RelationLinks(replace(arrays, weights=exact_weights(arrays.weights)))

    @cached_property
    def passages(self) -> Adjacency:
        whole = self._whole_graph.passages
        links, seen = whole.compact(), np.zeros(len(whole), dtype=np.bool_)
        seen[: self.first_chunk] = True
        seen[self.first_chunk :][: len(self._chunk_seen)] = self._chunk_seen
        kept = np.repeat(seen, links.degrees) & seen[links.indices]
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
        return Adjacency(ends[links.indptr], links.indices[kept], links.weights[kept], order=whole.order)


def _seen(rows: RowKeys, seen: Mask, held: NumberedVectors) -> Mask:
    """Which of the vectors are of rows that are seen."""
    places = rows.places(as_ids(held.numbers))
    return (places >= 0) & seen[places]


def _decided_by(seen: Mask, keys: RowKeys) -> Callable[[int], int]:
    """Whether something is seen, by its number in the store."""

    def is_seen(number: int) -> int:
        place = keys.place(np.uint64(number + SHIFT))
        return int(place >= 0 and seen[place])

    return is_seen


def _filtered(held: Ragged, part: str, seen: Mask) -> Ragged:
    """Rows without those of their values that are not seen."""
    places, _ = held.places(np.arange(len(held)))
    values = held[part][places]
    kept = np.flatnonzero(seen[values])
    return ragged(np.bincount(held.owners()[kept], minlength=len(held)), **{part: values[kept]})


def _stands_in(name: str, text: str) -> bool:
    """Whether a text has a name as words of its own, as it is written or as names are compared."""
    at = text.find(name)
    if at >= 0 and not text[max(0, at - 1) : at].isalnum() and not text[at + len(name) : at + len(name) + 1].isalnum():
        return True
    return bool(folded := fold(name)) and f" {folded} " in f" {fold(text)} "
