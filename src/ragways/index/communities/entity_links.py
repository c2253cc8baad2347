"""What joins entities, as the rows of the graph tell: all of it as arrays, or what is around a few entities.

Dates and quantities join nothing: a year would join all that happened in it. All others are called plain here. Weights
are those of the rows, in millionths: whole numbers, so that what is added and taken away again leaves nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.index.communities.partition import Ints
from ragways.index.graph.document_statements import MILLION
from ragways.index.graph.names import coarse
from ragways.index.graph.relation_ends import RelationEnds
from ragways.index.graph.stored_relations import JoiningRows
from ragways.index.pagerank import Adjacency
from ragways.index.ragged import distinct

_AMONG = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True)
class LinkArrays:
    """Some entities, by the numbers of their ids in rising order, what joins them, and the weight of each one's links
    to all of these.
    """

    ids: Ints
    links: Adjacency
    strengths: Ints


class EntityLinks:
    """Reads the links of entities."""

    def __init__(self, db: sqlite3.Connection, ends: RelationEnds | None = None) -> None:
        """`ends`: the relations of the store; unless given, all of them are read."""
        self._db = db
        self.ends = ends or RelationEnds(db)
        self._plain: dict[int, bool] = {}
        self._kinds: dict[str, bool] = {}
        self._counts: dict[int, int] = {}

    # All

    def whole(self) -> LinkArrays:
        """Of all plain entities."""
        rows = self._db.execute("SELECT id, type FROM graph_entities ORDER BY id")
        ids = np.fromiter((id for id, type in rows if self._joins(type)), np.int64)
        return self._arrays(ids, self.ends.all())

    def among(self, entities: Collection[int]) -> LinkArrays:
        """Of these entities, which are plain."""
        # A relation inside has its subject inside.
        return self._arrays(np.array(sorted(entities), np.int64), self.ends.with_end("subject", entities))

    def _arrays(self, ids: Ints, rows: JoiningRows) -> LinkArrays:
        left, right = _places(ids, rows.subjects), _places(ids, rows.objects)
        inside = (left >= 0) & (right >= 0) & (left != right) & (rows.weights > 0)
        left, right, weights = left[inside], right[inside], rows.weights[inside]
        strengths = np.zeros(len(ids), np.int64)
        for ends in (left, right):
            np.add.at(strengths, ends, weights)
        return LinkArrays(ids, Adjacency.of_edges(len(ids), left, right, weights / MILLION), strengths)

    # Around a few

    def plain(self, entities: Collection[int]) -> dict[int, bool]:
        """Which of these entities join others; those that are not there do not."""
        asked = [entity for entity in entities if entity not in self._plain]
        if asked:
            self._plain.update(dict.fromkeys(asked, False))
            query = f"SELECT id, type FROM graph_entities WHERE id {_AMONG}"  # noqa: S608
            for id, type in self._db.execute(query, (json.dumps(asked),)):
                self._plain[id] = self._joins(type)
        return {entity: self._plain[entity] for entity in entities}

    def neighbours(self, entities: Collection[int], *, plain: bool = True) -> dict[int, Counter[int]]:
        """The entities, plain ones or all, that each of these is joined to, and by how much."""
        out, into = self.ends.with_end("subject", entities), self.ends.with_end("object", entities)
        ends = np.concatenate([out.subjects, into.objects])
        others = np.concatenate([out.objects, into.subjects])
        weights = np.concatenate([out.weights, into.weights])
        joining = self.plain(set(others.tolist())) if plain else {}
        found: dict[int, Counter[int]] = {entity: Counter() for entity in entities}
        for entity, other, weight in zip(ends.tolist(), others.tolist(), weights.tolist(), strict=True):
            if other != entity and weight > 0 and (not plain or joining[other]):
                found[entity][other] += weight
        return found

    def joined_to(self, entity: int) -> list[int]:
        """All that one is joined to, plain or not: of a hub with very many it takes less than to weigh them."""
        out, into = self.ends.with_end("subject", [entity]), self.ends.with_end("object", [entity])
        others = distinct(out.objects[out.weights > 0], into.subjects[into.weights > 0])
        found: list[int] = others[others != entity].tolist()
        return found

    def any_joined(self, entities: Collection[int]) -> bool:
        """Whether any two of these are joined. Those that are in few relations are looked at first, and seldom more."""
        counts, asked = self.counts(entities), set(entities)
        return any(not asked.isdisjoint(self.joined_to(each)) for each in sorted(asked, key=lambda e: (counts[e], e)))

    def counts(self, entities: Iterable[int]) -> dict[int, int]:
        """How many relations each of these is in, about."""
        asked = set(entities)
        if unknown := {entity for entity in asked if entity not in self._counts}:
            self._counts |= self.ends.counts(unknown)
        return {entity: self._counts[entity] for entity in asked}

    def weights(self, pairs: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """By how much the two of each pair are joined, plain or not."""
        counts = self.counts({end for pair in pairs for end in pair})
        # Relations of the one that has fewer are gone through.
        few = {min(pair, key=lambda end: (counts[end], end)) for pair in pairs}
        out, into = self.ends.with_end("subject", few), self.ends.with_end("object", few)
        ways: dict[int, tuple[int, int, int]] = {}
        wanted = {*pairs, *((other, one) for one, other in pairs)}
        ends = np.array(sorted(counts), np.int64)
        for rows in (out, into):
            asked = (_places(ends, rows.subjects) >= 0) & (_places(ends, rows.objects) >= 0)
            across = rows.at(np.flatnonzero(asked & (rows.subjects != rows.objects)))
            columns = (column.tolist() for column in (across.ids, across.subjects, across.objects, across.weights))
            for id, subject, object, weight in zip(*columns, strict=True):
                if (subject, object) in wanted:
                    ways[id] = subject, object, weight
        found: Counter[tuple[int, int]] = Counter()
        for subject, object, weight in ways.values():
            found[subject, object] += weight
        return {(a, b): max(0, found[a, b]) + (max(0, found[b, a]) if a != b else 0) for a, b in pairs}

    def _joins(self, type: str) -> bool:
        if type not in self._kinds:
            self._kinds[type] = coarse(type) not in ("date", "quantity")
        return self._kinds[type]


def _places(ids: Ints, numbers: NDArray[np.int64]) -> Ints:
    """The places of numbers in a rising list, -1 where they are not in it."""
    if not len(ids):
        return np.full(len(numbers), -1)
    places = np.searchsorted(ids, numbers).clip(max=len(ids) - 1)
    return np.where(ids[places] == numbers, places, -1)
