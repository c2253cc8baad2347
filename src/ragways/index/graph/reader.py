"""The graph as paradigms read it. All lists are bounded, best first, and equal ones by id."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import StoreBusy
from ragways.index.database import connect, store_errors
from ragways.index.graph.arrays import GraphArrays
from ragways.index.graph.graph_rows import aliases, digits, found_by, number_of_id
from ragways.index.graph.ids import as_numbers
from ragways.index.graph.names import TOKEN, NameMatch, fold, name_spans
from ragways.index.graph.stored_relations import StoredRelations, entity_names
from ragways.index.graph.told_texts import descriptions, entity_descriptions
from ragways.index.store import FILE, generation_of
from ragways.index.vectors import Scored


@dataclass(frozen=True, slots=True)
class GraphEntity:
    """An entity as stored; `chunks` is how many name it."""

    id: str
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    chunks: int
    way: str


@dataclass(frozen=True, slots=True)
class Triplet:
    """A relation with the names of its ends."""

    id: str
    subject: str
    subject_name: str
    predicate: str
    object: str
    object_name: str
    description: str
    weight: float
    date: str
    way: str

    @property
    def text(self) -> str:
        dated = f" ({self.date})" if self.date else ""
        return f"{self.subject_name} {self.predicate.replace('_', ' ')} {self.object_name}{dated}"


# ruff: noqa: S608 - queries are put together from our own words


LIMIT = 500
"""Rows of one answer, unless more or fewer are asked for."""
_WORD_LIMIT = 400  # of a question that are looked at
_NAME_WORDS = 20  # of a name that are looked for
_PREFIXED = 5000  # names with one beginning that are looked at: a letter alone begins a million
_AMONG = "IN (SELECT value FROM json_each(?))"
_MAPPED = 1 << 30  # bytes of the file


class Graph(GraphArrays):
    """Read-only. Opened once for an index; arrays are memory-mapped when they are first used.

    Rows are read from the store, at the commit that its connection reads: like texts, they are not there while the
    index is paused.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection, *, own: bool = False) -> None:
        super().__init__(folder)
        self._db = db
        self._own = own
        self._relations = StoredRelations(db)

    @classmethod
    def open(cls, folder: Path, db: sqlite3.Connection | None = None) -> Graph:
        """The graph of a derived folder. `db` reads the store at the same generation; without it, another reader of
        the store is opened, and closed with the graph.
        """
        made = cls(folder, connect(_store_of(folder), write=False) if db is None else db, own=db is None)
        try:
            with store_errors(_store_of(folder)):
                if db is None:
                    made._db.execute("BEGIN")
                    if str(generation_of(made._db)) != folder.name:
                        raise StoreBusy("the index was changed while it was being opened", "run again")
                # Questions read rows from all over the file: mapped, that takes half the time.
                made._db.execute(f"PRAGMA mmap_size = {_MAPPED}")
        except BaseException:
            made.close()
            raise
        return made

    def close(self) -> None:
        if self._own:
            self._db.close()

    # Entities

    def entities(self, ids: Collection[str], *, described: bool = True) -> dict[str, GraphEntity]:
        """Entities by id; an id that is not there is left out. Who asks for many and shows no descriptions may have
        them without (`described=False`): they stand in the documents, which have to be read for them.
        """
        places, found = self.places_of(ids), {}
        numbers = np.array(places, dtype=np.int64)
        stored = as_numbers(self.ids.rows.keys[numbers]).tolist()
        naming = dict(zip(stored, self.mention_table.counts_of(numbers).tolist(), strict=True))
        query = f"SELECT id, name, type, names, count, way FROM graph_entities WHERE id {_AMONG}"
        with store_errors(_store_of(self._folder)):
            said = entity_descriptions(self._db, naming) if described else {}
        for number, name, type, names, count, way in self._all(query, (_list(naming),)):
            others, said_of_it = aliases(name, names), said.get(number, "")
            id = f"entity:{digits(number)}"
            found[id] = GraphEntity(id, name, type, said_of_it, others, count, naming[number], found_by(way))
        return found

    def named(self, text: str, limit: int = 20) -> list[str]:
        """Entities called so, by name or alias after normalising: own names first, then the most often named."""
        rows = self._rows(
            "SELECT e.id FROM graph_names n JOIN graph_entities e ON e.id = n.entity WHERE n.name = ? "
            "ORDER BY n.own DESC, e.count DESC, e.id LIMIT ?",
            (fold(text), limit),
        )
        return [f"entity:{digits(row[0])}" for row in rows]

    def beginning(self, text: str, limit: int = 20) -> list[str]:
        """Entities with a name or alias that begins so, as names are compared: the most often named first."""
        start = fold(text)
        if not start:
            return []
        rows = self._rows(
            "SELECT e.id FROM (SELECT DISTINCT entity FROM (SELECT entity FROM graph_names WHERE name >= ?1 "
            "AND name < ?2 LIMIT ?3)) JOIN graph_entities e ON e.id = entity ORDER BY e.count DESC, e.id LIMIT ?4",
            (start, start + chr(0x10FFFF), _PREFIXED, limit),
        )
        return [f"entity:{digits(row[0])}" for row in rows]

    def with_words(self, words: Collection[str], limit: int = 200) -> list[str]:
        """Entities with a name or alias that holds all of these words, as names are compared: shortest names first."""
        found = self.seen_entities(self.name_words.holding(sorted(words)[:_NAME_WORDS], self.ids.ranks))
        return list(dict.fromkeys(self.ids.at(found[:limit])))

    def seen_entities(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of these entities that are there: all, but of a part of a graph."""
        return entities

    def in_question(self, question: str, limit: int = 50) -> list[NameMatch]:
        """Names of entities in a text: the longest from the left, none inside another."""
        matches = list(TOKEN.finditer(question))[:_WORD_LIMIT]
        words = [match.group() for match in matches]
        spans = name_spans(words)
        known = self._called({form for _, _, forms in spans for form in forms})
        found, here = [], 0
        for i, j, forms in spans:
            if i < here or _bare_number(words[i:j]):
                continue
            bare = j - i == 1 and (i == 0 or not words[i][:1].isupper())
            ids = next((ids for form in forms if (ids := known.get((form, bare)))), None)
            if ids:
                found.append(NameMatch(matches[i].start(), matches[j - 1].end(), tuple(ids)))
                here = j
        return found[:limit]

    def _called(self, names: Collection[str]) -> dict[tuple[str, bool], list[str]]:
        """Entities by name, and whether the name stands there without a capital: then everyday words do not count."""
        found: dict[tuple[str, bool], list[str]] = {}
        query = (
            "SELECT n.name, n.everyday, e.id FROM graph_names n JOIN graph_entities e ON e.id = n.entity "
            f"WHERE n.name {_AMONG} ORDER BY n.own DESC, e.count DESC, e.id"
        )
        for name, everyday, number in self._all(query, (_list(names),)):
            id = f"entity:{digits(number)}"
            found.setdefault((name, False), []).append(id)
            if not everyday:
                found.setdefault((name, True), []).append(id)
        return found

    def nearest(self, vector: NDArray[np.float32], k: int = 20, minimum: float = 0.4) -> Scored:
        """The entities nearest a vector by cosine; none where the index has no vectors of them."""
        return self.vectors.search(vector, k, minimum=minimum) if self.vectors is not None else []

    def nearest_relations(self, vector: NDArray[np.float32], k: int = 20, minimum: float = 0.4) -> Scored:
        return self.relation_vectors.search(vector, k, minimum=minimum) if self.relation_vectors is not None else []

    # Relations

    def triplets(self, ids: Collection[str], limit: int = LIMIT) -> list[Triplet]:
        """Relations that touch any of these entities: heaviest first."""
        return self._in_order(self.relation_arrays.touching(self.places_of(ids), limit))

    def induced(self, ids: Collection[str], limit: int = LIMIT) -> list[Triplet]:
        """Relations both of whose ends are among these entities: heaviest first."""
        return self._in_order(self.relation_arrays.between(self.places_of(ids), limit))

    def count_induced(self, ids: Collection[str]) -> int:
        """How many relations have both ends among these entities."""
        return len(self.relation_arrays.between(self.places_of(ids)))

    def _in_order(self, numbers: NDArray[np.int64]) -> list[Triplet]:
        found = self.relations_at(numbers.tolist())
        return [found[number] for number in numbers.tolist()]

    def relations(self, ids: Collection[str]) -> dict[str, Triplet]:
        """Relations by id."""
        return {triplet.id: triplet for triplet in self.relations_at(self._numbers_of(ids)).values()}

    def _numbers_of(self, ids: Collection[str]) -> list[int]:
        """Numbers of those of the relations that are there."""
        numbers = self.relation_arrays.numbers(sorted(id for id in set(ids) if id.startswith("relation:")))
        return [number for number in numbers.tolist() if number >= 0]

    def relations_at(self, numbers: Collection[int]) -> dict[int, Triplet]:
        """Relations by their number in `relation_arrays`. A hub has a million: only those that are wanted are read."""
        wanted = self.seen_relations(np.array(sorted(set(numbers)), dtype=np.int64))
        ids = as_numbers(self.relation_arrays.rows.keys[wanted]).tolist()
        stored = dict(zip(ids, wanted.tolist(), strict=True))
        with store_errors(_store_of(self._folder)):
            rows = self._relations.rows_of(dict(zip(ids, self._known_of(wanted), strict=True)))
            described = descriptions(self._db, [row.told for row in rows])
            names = entity_names(self._db, {end for row in rows for end in (row.subject, row.object)})
        return {
            stored[row.id]: Triplet(
                f"relation:{digits(row.id)}", f"entity:{digits(row.subject)}", names[row.subject], row.predicate,
                f"entity:{digits(row.object)}", names[row.object], description, row.weight / 1e6, row.date, row.way,
            )
            for row, description in zip(rows, described, strict=True)
        }  # fmt: skip

    def _known_of(self, relations: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
        """The numbers of each one's ends, as the store has them, and of the first document that states it."""
        arrays = self.relation_arrays
        subjects, objects = (
            as_numbers(self.ids.rows.keys[ends.take(relations)]).tolist() for ends in (arrays.subjects, arrays.objects)
        )
        chunks = arrays.stating["chunks"].take(arrays.stating.begins.take(relations), mode="clip")
        return zip(subjects, objects, self.chunks.documents.take(chunks).tolist(), strict=True)

    def seen_relations(self, relations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of these relations that are there: some numbers are of what is gone, or of no part of a graph."""
        return relations[self.relation_arrays.rows.alive[relations]]

    def neighbours(self, id: str, limit: int = LIMIT) -> list[tuple[str, float]]:
        """Entities joined to this one by any relation, with the weight of all that join them: heaviest first."""
        if not (place := self.places_of([id])):
            return []
        nodes, weights = self.adjacency.neighbours(place[0])
        best = np.argsort(-weights, kind="stable")[:limit]  # neighbours are in the order of their ids
        ids = self.ids_at(nodes[best].tolist())
        return [(ids[n], float(w)) for n, w in zip(nodes[best].tolist(), weights[best].tolist(), strict=True)]

    def degrees(self, ids: Collection[str]) -> dict[str, int]:
        """How many others each of these entities is joined to."""
        places = self.ids_at(self.places_of(ids))
        counts = self.adjacency.degrees_of(np.array([*places], dtype=np.int64))
        return dict(zip(places.values(), counts.tolist(), strict=True))

    # Chunks

    def mentions(self, ids: Collection[str], limit: int = LIMIT) -> Scored:
        """Chunks that name any of these entities, each with how often, in all."""
        chunks, counts = self.mention_table.chunks_of(np.array(self.places_of(ids), dtype=np.int64))
        seen = self.seen_chunks(chunks)
        chunks, counts = chunks[seen], counts[seen]
        if limit < len(chunks):  # those of the last place are sorted by id, the rest is left out
            kept = counts >= (np.partition(counts, -limit)[-limit] if limit > 0 else np.inf)
            chunks, counts = chunks[kept], counts[kept]
        found = [(id, float(n)) for id, n in zip(self.chunks.take(chunks), counts.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def seen_chunks(self, chunks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these chunks are there: all, but of a part of a graph."""
        return np.ones(len(chunks), dtype=np.bool_)

    def mentioned(self, chunks: Collection[str], limit: int = LIMIT) -> Scored:
        """Entities that these chunks name, each with how often, in all."""
        here = sorted({self.places[id] - self.first_chunk for id in set(chunks) if id in self.places})
        entities, counts = self.mention_table.entities_of(np.array(here, dtype=np.int64))
        best = np.lexsort((self.rank(entities), -counts))[:limit]
        return list(zip(self.ids.at(entities[best]), counts[best].astype(float).tolist(), strict=True))

    def rank(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """What decides between entities that are equal otherwise: the smaller first. They go by id."""
        return entities if self.ids.ranks is None else self.ids.ranks(entities)

    def relation_chunks(self, relations: Collection[str]) -> dict[str, list[str]]:
        """The chunks that state each of these relations, in the corpus's order."""
        numbers = np.array(sorted(self._numbers_of(relations)), dtype=np.int64)
        names = self.relation_arrays.names(numbers)
        chunks, which = self.relation_arrays.sources(numbers)
        found: dict[str, list[str]] = {}
        for id, place in zip(self.chunks.take(chunks), which.tolist(), strict=True):
            found.setdefault(names[place], []).append(id)
        return found

    # For people

    def merges(self, id: str = "", limit: int = LIMIT) -> list[tuple[str, str, str, str, int]]:
        """Entity, name, name it was taken for, reason, documents: what was merged, of one entity or of all."""
        rows = self._rows(
            "SELECT entity, name, into_name, reason, documents FROM graph_merges WHERE ?1 IS NULL OR entity = ?1 "
            "ORDER BY entity, name, reason LIMIT ?2",
            (number_of_id(id) if id in self.ids else 0 if id else None, limit),
        )
        return [(f"entity:{digits(entity)}", *rest) for entity, *rest in rows]

    def counts(self) -> dict[str, int]:
        return {
            "entities": len(self.ids),
            "relations": len(self.relation_arrays),
            "mentions": len(self.mention_table),
            "merges": int(next(self._rows("SELECT count(*) FROM graph_merges"))[0]),
        }

    def ids_at(self, places: Collection[int]) -> dict[int, str]:
        """Ids of entities by node number, of those that are there."""
        seen = self.seen_entities(np.array(sorted(set(places)), dtype=np.int64))
        return {place: self.ids.id(place) for place in seen.tolist()}

    def places_of(self, ids: Iterable[str]) -> list[int]:
        """Node numbers of entities, in the order of their ids."""
        places: list[int] = self.seen_entities(self.ids.places(ids)).tolist()
        return places

    def _all(self, query: str, values: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        """Rows that are few, at once: it is quicker than one by one."""
        with store_errors(_store_of(self._folder)):
            return self._db.execute(query, values).fetchall()

    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple]:  # type: ignore[type-arg]
        with store_errors(_store_of(self._folder)):
            yield from self._db.execute(query, values)


def _store_of(folder: Path) -> Path:
    """The store that a derived folder belongs to."""
    return folder.parent.parent / FILE


def _bare_number(words: Sequence[str]) -> bool:
    """Whether words are a number that is no year: `the 4 of them` means nothing that is called 4."""
    return len(words) == 1 and words[0].isdecimal() and len(words[0]) != len("1990")


def _list(values: Iterable[str] | Iterable[int]) -> str:
    """For `_AMONG`."""
    return json.dumps(sorted(set(values)))
