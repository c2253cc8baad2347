"""The graph as paradigms read it. All lists are bounded, best first, and equal ones by id."""

# ruff: noqa: S608 - queries are put together from our own words and question marks
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.database import connect, explained
from ragways.index.graph.names import TOKEN, fold
from ragways.index.graph.rows import GraphEntity, Named, Triplet
from ragways.index.graph.rules.words import STOP
from ragways.index.graph.tables import FILE
from ragways.index.pagerank import Links
from ragways.index.vectors import Scored, Vectors

LIMIT = 500
"""Rows of one answer, unless more or fewer are asked for."""
_LONGEST = 12  # words of a name in a question
_MOST_WORDS = 400  # of a question that are looked at
_AT_ONCE = 500
_MAPPED = 1 << 30  # bytes of the file


_TRIPLET = (
    "SELECT r.id, s.id, s.name, r.predicate, o.id, o.name, r.description, r.weight, r.date, r.way FROM relations r "
    "JOIN entities s ON s.ordinal = r.subject JOIN entities o ON o.ordinal = r.object "
)


class Graph:
    """Read-only. Opened once for an index; arrays are memory-mapped when they are first used."""

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self._folder = folder
        self._db = db

    @classmethod
    def open(cls, folder: Path) -> Graph:
        """The graph in a derived folder."""
        db = connect(folder / FILE, write=False)
        # Questions read rows from all over the file, and it never changes: mapped, that takes half the time.
        db.execute(f"PRAGMA mmap_size = {_MAPPED}")
        return cls(folder, db)

    def close(self) -> None:
        self._db.close()

    # Entities

    @cached_property
    def ids(self) -> Sequence[str]:
        """Ids of all entities: the node numbers of `adjacency`, and the first of `passages`."""
        return [row[0] for row in self._rows("SELECT id FROM entities ORDER BY ordinal")]

    @cached_property
    def _names(self) -> Sequence[str]:
        """Names of all entities, in the order of `ids`."""
        return [row[0] for row in self._rows("SELECT name FROM entities ORDER BY ordinal")]

    @cached_property
    def chunks(self) -> Sequence[str]:
        """Ids of all chunks: in `passages`, chunk i is node `len(ids) + i`."""
        return [row[0] for row in self._rows("SELECT id FROM chunks ORDER BY ordinal")]

    @cached_property
    def ordinals(self) -> dict[str, int]:
        """Node numbers of entities by id."""
        return {id: i for i, id in enumerate(self.ids)}

    @cached_property
    def places(self) -> dict[str, int]:
        """Node numbers of chunks in `passages`, by id."""
        return {id: i for i, id in enumerate(self.chunks, start=len(self.ids))}

    def entities(self, ids: Collection[str]) -> dict[str, GraphEntity]:
        """Entities by id; an id that is not there is left out."""
        found = {}
        for some in _slices(sorted(set(ids))):
            query = "SELECT id, name, type, description, aliases, count, chunks, way FROM entities WHERE id IN"
            for id, name, type, said, aliases, count, chunks, way in self._rows(f"{query} ({_marks(some)})", some):
                found[id] = GraphEntity(id, name, type, said, tuple(json.loads(aliases)), count, chunks, way)
        return found

    def named(self, text: str, limit: int = 20) -> list[str]:
        """Entities called so, by name or alias after normalising: own names first, then the most often named."""
        rows = self._rows(
            "SELECT e.id FROM names n JOIN entities e ON e.ordinal = n.entity WHERE n.name = ? "
            "ORDER BY n.own DESC, e.count DESC, e.id LIMIT ?",
            (fold(text), limit),
        )
        return [row[0] for row in rows]

    def in_question(self, question: str, limit: int = 50) -> list[Named]:
        """Names of entities in a text: the longest from the left, none inside another."""
        matches = list(TOKEN.finditer(question))[:_MOST_WORDS]
        spans = [
            (i, j, question[matches[i].start() : matches[j - 1].end()])
            for i in range(len(matches))
            for j in range(i + 1, min(len(matches), i + _LONGEST) + 1)
        ]
        known = self._called({form for _, _, text in spans for form in _forms(text)})
        found, here = [], 0
        for i, j, text in sorted(spans, key=lambda span: (span[0], -span[1])):
            if i < here:
                continue
            bare = j - i == 1 and (i == 0 or not text[:1].isupper())
            ids = next((ids for form in _forms(text) if (ids := known.get((form, bare)))), None)
            if ids:
                found.append(Named(matches[i].start(), matches[j - 1].end(), tuple(ids)))
                here = j
        return found[:limit]

    def _called(self, names: Collection[str]) -> dict[tuple[str, bool], list[str]]:
        """Entities by name, and whether the name stands there without a capital: then everyday words do not count."""
        found: dict[tuple[str, bool], list[str]] = {}
        for some in _slices(sorted(names)):
            query = (
                "SELECT n.name, n.everyday, e.id FROM names n JOIN entities e ON e.ordinal = n.entity "
                f"WHERE n.name IN ({_marks(some)}) ORDER BY n.own DESC, e.count DESC, e.id"
            )
            for name, everyday, id in self._rows(query, some):
                found.setdefault((name, False), []).append(id)
                if not everyday:
                    found.setdefault((name, True), []).append(id)
        return found

    @cached_property
    def vectors(self) -> Vectors | None:
        """Vectors of entities, where the index has them."""
        return Vectors.load(self._folder, "entities") if (self._folder / "entities.npy").is_file() else None

    @cached_property
    def relation_vectors(self) -> Vectors | None:
        return Vectors.load(self._folder, "relations") if (self._folder / "relations.npy").is_file() else None

    def nearest(self, vector: NDArray[np.float32], k: int = 20, least: float = 0.4) -> Scored:
        """The entities nearest a vector by cosine; none where the index has no vectors of them."""
        return self.vectors.search(vector, k, least=least) if self.vectors is not None else []

    def nearest_relations(self, vector: NDArray[np.float32], k: int = 20, least: float = 0.4) -> Scored:
        return self.relation_vectors.search(vector, k, least=least) if self.relation_vectors is not None else []

    # Relations

    def triplets(self, ids: Collection[str], limit: int = LIMIT) -> list[Triplet]:
        """Relations that touch any of these entities: heaviest first."""
        places = self._places(ids)
        found: dict[str, Triplet] = {}
        for side in ("subject", "object"):
            for some in _slices(places):
                query = f"{_TRIPLET} WHERE r.{side} IN ({_marks(some)}) ORDER BY r.weight DESC, r.id LIMIT ?"
                found.update((row[0], Triplet(*row)) for row in self._rows(query, (*some, limit)))
        return _heaviest(found.values(), limit)

    def induced(self, ids: Collection[str], limit: int = LIMIT) -> list[Triplet]:
        """Relations both of whose ends are among these entities: heaviest first."""
        places = self._places(ids)
        inside = set(ids)
        found = []
        for some in _slices(places):
            query = f"{_TRIPLET} WHERE r.subject IN ({_marks(some)}) ORDER BY r.weight DESC, r.id"
            found += [Triplet(*row) for row in self._rows(query, some) if row[4] in inside]
        return _heaviest(found, limit)

    def relations(self, ids: Collection[str]) -> dict[str, Triplet]:
        """Relations by id."""
        found, known, names = {}, self.ids, self._names
        for some in _slices(sorted(set(ids))):
            # Without joins: every question reads a hundred of them, and names are in memory.
            query = "SELECT id, subject, predicate, object, description, weight, date, way FROM relations WHERE id IN"
            for id, s, predicate, o, *rest in self._rows(f"{query} ({_marks(some)})", some):
                found[id] = Triplet(id, known[s], names[s], predicate, known[o], names[o], *rest)
        return found

    def neighbours(self, id: str, limit: int = LIMIT) -> list[tuple[str, float]]:
        """Entities joined to this one by any relation, with the weight of all that join them: heaviest first."""
        place = self.ordinals.get(id)
        if place is None:
            return []
        nodes, weights = self.adjacency.neighbours(place)
        found = [(self.ids[n], float(w)) for n, w in zip(nodes.tolist(), weights.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    # Chunks

    def mentions(self, ids: Collection[str], limit: int = LIMIT) -> Scored:
        """Chunks that name any of these entities, each with how often, in all."""
        total: dict[str, float] = {}
        for some in _slices(self._places(ids)):
            query = (
                "SELECT c.id, m.count FROM mentions m JOIN chunks c ON c.ordinal = m.chunk "
                f"WHERE m.entity IN ({_marks(some)})"
            )
            for chunk, count in self._rows(query, some):
                total[chunk] = total.get(chunk, 0.0) + count
        return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def mentioned(self, chunks: Collection[str], limit: int = LIMIT) -> Scored:
        """Entities that these chunks name, each with how often, in all."""
        total: dict[str, float] = {}
        for some in _slices(sorted(set(chunks))):
            query = (
                "SELECT e.id, m.count FROM mentions m JOIN chunks c ON c.ordinal = m.chunk "
                f"JOIN entities e ON e.ordinal = m.entity WHERE c.id IN ({_marks(some)})"
            )
            for entity, count in self._rows(query, some):
                total[entity] = total.get(entity, 0.0) + count
        return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def relation_chunks(self, relations: Collection[str]) -> dict[str, list[str]]:
        """The chunks that state each of these relations, in the corpus's order."""
        found: dict[str, list[str]] = {}
        for some in _slices(sorted(set(relations))):
            query = (
                "SELECT r.id, c.id FROM relation_chunks l JOIN relations r ON r.ordinal = l.relation "
                f"JOIN chunks c ON c.ordinal = l.chunk WHERE r.id IN ({_marks(some)}) ORDER BY r.id, c.ordinal"
            )
            for relation, chunk in self._rows(query, some):
                found.setdefault(relation, []).append(chunk)
        return found

    # For all of it at once

    def relation_ends(self) -> Iterator[tuple[str, int, int, float]]:
        """Id, numbers of both ends and weight of every relation, by id."""
        return self._rows("SELECT id, subject, object, weight FROM relations ORDER BY ordinal")

    def statements(self) -> Iterator[tuple[int, int]]:
        """Numbers of every relation, in the order of `relation_ends`, and of the chunks that state it."""
        return self._rows("SELECT relation, chunk FROM relation_chunks ORDER BY relation, chunk")

    # For PageRank

    @cached_property
    def adjacency(self) -> Links:
        """Entities joined by relations; node i is `ids[i]`."""
        return Links.load(self._folder, "graph-entities")

    @cached_property
    def passages(self) -> Links:
        """Entities and the chunks that name them: node i is `ids[i]`, node `len(ids) + j` is `chunks[j]`."""
        return Links.load(self._folder, "graph-passages")

    # For people

    def merges(self, id: str = "", limit: int = LIMIT) -> list[tuple[str, str, str, str, int]]:
        """Entity, name, name it was taken for, reason, documents: what was merged, of one entity or of all."""
        rows = self._rows(
            "SELECT e.id, m.name, m.into_name, m.reason, m.documents FROM merges m "
            "JOIN entities e ON e.ordinal = m.entity "
            "WHERE ?1 = '' OR e.id = ?1 ORDER BY e.id, m.name, m.reason LIMIT ?2",
            (id, limit),
        )
        return list(rows)

    def counts(self) -> dict[str, int]:
        tables = ("entities", "relations", "mentions", "merges")
        return {table: int(next(self._rows(f"SELECT count(*) FROM {table}"))[0]) for table in tables}

    def _places(self, ids: Iterable[str]) -> list[int]:
        return [
            row[0]
            for some in _slices(sorted(set(ids)))
            for row in self._rows(f"SELECT ordinal FROM entities WHERE id IN ({_marks(some)}) ORDER BY ordinal", some)
        ]

    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple]:  # type: ignore[type-arg]
        with explained(self._folder / FILE):
            yield from self._db.execute(query, values)


def _heaviest(found: Iterable[Triplet], limit: int) -> list[Triplet]:
    return sorted(found, key=lambda t: (-t.weight, t.id))[:limit]


def _forms(text: str) -> list[str]:
    """A text as names are compared, and its singular. Nothing for a text that begins or ends with a small stop word:
    `the country` is no name even where `Country` is one.
    """
    words = TOKEN.findall(text)
    if words[0] in STOP or words[-1] in STOP:
        return []
    form = fold(text)
    return [form, form[:-1]] if len(form) > 4 and form.endswith("s") else [form]


def _slices(items: Sequence[object]) -> Iterator[Sequence[object]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _marks(items: Sequence[object]) -> str:
    return ",".join("?" * len(items))
