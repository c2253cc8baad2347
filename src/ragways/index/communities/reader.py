"""Communities and their reports as paradigms read them. Lists are best first, and equal ones by id."""

# ruff: noqa: S608 - queries are put together from our own words and question marks
from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ragways.index.communities.community_members import SLICES, CommunityMembers
from ragways.index.communities.packed_members import RANK
from ragways.index.communities.report import CommunityReport
from ragways.index.database import PartOfDatabase, store_errors
from ragways.index.graph.graph_rows import digits, number_of_id
from ragways.index.store import FILE as STORE
from ragways.index.vectors import Scored, Vectors

LIMIT = 500
_ID = re.compile(r"(entity|community):[0-9a-f]{16}")
_AMONG = "IN (SELECT value FROM json_each(?))"
_COLUMNS = (
    "c.id, c.level, coalesce(p.id, 0), c.leaf, c.size, coalesce(r.title, ''), coalesce(r.summary, ''), "
    "coalesce(r.rank, 0.0), coalesce(r.way, ''), coalesce(r.tokens, 0)"
)
_TABLES = "communities c LEFT JOIN communities p ON p.number = c.parent LEFT JOIN community_reports r ON r.id = c.id"


@dataclass(frozen=True, slots=True)
class Community:
    """`way` tells who wrote its report; where it is empty there is none. `tokens` are those of the report's text."""

    id: str
    level: int
    parent: str
    leaf: bool
    size: int
    title: str
    summary: str
    rank: float
    way: str
    tokens: int


class Communities:
    """Read-only, from the rows of the store. Opened once for an index."""

    def __init__(self, db: sqlite3.Connection, dimension: int = 0) -> None:
        """`db` is that of the store, `dimension` that of its vectors."""
        self._db = db
        self._members = CommunityMembers(db)
        self._dimension = dimension
        self.left_out = 0
        """Communities that a filter keeps out, because they rest on other documents too."""

    def only(self, is_whole: Callable[[str], bool]) -> Communities:
        """The communities all of whose members are whole: nothing left out speaks of them. A report cannot be split."""
        with store_errors(Path(STORE)):
            members = self._members.all()
        pairs = zip(members.entities.tolist(), members.communities.tolist(), strict=True)
        leaves = {community for entity, community in pairs if not is_whole(_entity(entity))}
        parents = dict(self._rows("SELECT number, parent FROM communities"))
        partly: set[int] = set()
        while leaves:
            partly |= leaves
            leaves = {parents[number] for number in leaves} - partly - {0}
        ids = {id for number, id in self._rows("SELECT number, id FROM communities") if number in partly}

        def seen(number: int) -> bool:
            return number not in partly

        def seen_slice(slice: int) -> bool:
            return seen(slice >> RANK)

        def seen_id(id: int) -> bool:
            return id not in ids

        tables: dict[str, tuple[str, Callable[[Any], int]]] = {
            "communities": ("number", seen), SLICES: ("slice", seen_slice),
            "community_reports": ("id", seen_id), "community_vectors": ("id", seen_id),
        }  # fmt: skip
        part = Communities(cast(sqlite3.Connection, PartOfDatabase(self._db, tables)), self._dimension)
        part.left_out = len(partly)
        return part

    def levels(self) -> list[int]:
        """From the coarse to the fine."""
        return [row[0] for row in self._rows("SELECT DISTINCT level FROM communities ORDER BY level")]

    def of_level(self, level: int) -> list[Community]:
        """The communities of a level and those above it that are not split: together they hold every entity once."""
        return self._found("c.level = ?1 OR (c.level < ?1 AND c.leaf)", (level,))

    def tokens_of_level(self, level: int) -> int:
        """What reading all reports of a level takes."""
        query = (
            "SELECT coalesce(sum(tokens), 0) FROM communities c JOIN community_reports r ON r.id = c.id "
            "WHERE level = ?1 OR (level < ?1 AND leaf)"
        )
        return int(next(self._rows(query, (level,)))[0])

    def of_entity(self, id: str) -> list[Community]:
        """The communities of one entity, from the coarse to the fine."""
        chain = self._chains([_number(id)]).get(_number(id), [])
        found = self._found(f"c.number {_AMONG}", (json.dumps([number for number, *_ in chain]),))
        return sorted(found, key=lambda community: community.level)

    def at_level(self, ids: Collection[str], level: int) -> dict[str, str]:
        """The community of each of these entities at a level, or above it where that one is not split."""
        chains = self._chains([_number(id) for id in ids])
        return {
            _entity(entity): _name(id)
            for entity, chain in chains.items()
            for _, id, here, leaf in chain
            if here == level or (here < level and leaf)
        }

    def _chains(self, entities: Collection[int]) -> dict[int, list[tuple[int, int, int, bool]]]:
        """Of each entity the communities that it is in: number, id, level, whether it is not split."""
        with store_errors(Path(STORE)):
            leaf_of = {entity: leaf for entity, (leaf, _) in self._members.of(entities).items()}
        known: dict[int, tuple[int, int, int, int, int]] = {}
        wanted = set(leaf_of.values())
        while wanted:
            query = f"SELECT number, id, level, leaf, parent FROM communities WHERE number {_AMONG}"
            found = {row[0]: row for row in self._rows(query, (json.dumps(sorted(wanted)),))}
            known |= found
            wanted = {row[4] for row in found.values() if row[4]} - known.keys()
        chains: dict[int, list[tuple[int, int, int, bool]]] = {}
        for entity, leaf in leaf_of.items():
            row, chain = known.get(leaf), []
            while row is not None:
                chain.append((row[0], row[1], row[2], bool(row[3])))
                row = known.get(row[4])
            chains[entity] = chain
        return chains

    def communities(self, ids: Collection[str]) -> dict[str, Community]:
        """By id; an id that is not there is left out."""
        return {found.id: found for found in self._found(f"c.id {_AMONG}", (_numbers(ids),))}

    def children(self, id: str) -> list[Community]:
        return self._found("p.id = ?", (_number(id),))

    def members(self, id: str) -> list[str]:
        below = [row[0] for row in self._rows("SELECT number FROM communities WHERE id = ?", (_number(id),))]
        leaves: list[int] = []
        while below:
            query = f"SELECT number, leaf FROM communities WHERE number {_AMONG}"
            leaves += [number for number, leaf in self._rows(query, (json.dumps(below),)) if leaf]
            query = f"SELECT number FROM communities WHERE parent {_AMONG}"
            below = [row[0] for row in self._rows(query, (json.dumps(below),))]
        with store_errors(Path(STORE)):
            return sorted(map(_entity, self._members.inside(leaves)))

    def report(self, id: str) -> CommunityReport | None:
        """None where the community is too small for one, or where it could not be written yet."""
        return self.reports([id]).get(id)

    def reports(self, ids: Collection[str]) -> dict[str, CommunityReport]:
        query = f"SELECT id, title, summary, rank, findings FROM community_reports WHERE id {_AMONG}"
        return {_name(id): CommunityReport.of_row(*row) for id, *row in self._rows(query, (_numbers(ids),))}

    @cached_property
    def vectors(self) -> Vectors | None:
        """Vectors of reports, where the index has them."""
        rows = list(self._rows("SELECT id, vector FROM community_vectors ORDER BY id"))
        return Vectors.stack([_name(id) for id, _ in rows], [row[1] for row in rows], self._dimension) if rows else None

    def nearest(self, vector: NDArray[np.float32], k: int = 20, minimum: float = -1.0) -> Scored:
        """The communities whose reports are nearest a vector by cosine, of all levels."""
        return self.vectors.search(vector, k, minimum=minimum) if self.vectors is not None else []

    def counts(self) -> dict[str, int]:
        """Communities by who wrote their report; those without one under an empty name."""
        query = "SELECT coalesce(way, ''), count(*) FROM communities c LEFT JOIN community_reports r ON r.id = c.id"
        return dict(self._rows(f"{query} GROUP BY 1 ORDER BY 1"))

    def _found(self, which: str, values: Sequence[object]) -> list[Community]:
        """The communities that a condition holds for, by rank."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {which}", values)
        return sorted(map(_community, rows), key=lambda found: (-found.rank, -found.size, found.id))

    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple]:  # type: ignore[type-arg]
        with store_errors(Path(STORE)):
            yield from self._db.execute(query, values)


def _number(id: str) -> int:
    """The number of an id; of what is no id, one that nothing has."""
    return number_of_id(id) if _ID.fullmatch(id) else 0


def _numbers(ids: Collection[str]) -> str:
    """For `_AMONG`."""
    return json.dumps(sorted({_number(id) for id in ids}))


def _name(number: int) -> str:
    return f"community:{digits(number)}"


def _entity(number: int) -> str:
    return f"entity:{digits(number)}"


def _community(row: Sequence[Any]) -> Community:
    id, level, parent, leaf, *rest = row
    return Community(_name(id), level, _name(parent) if parent else "", bool(leaf), *rest)
