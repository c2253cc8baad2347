"""Communities and their reports as paradigms read them. Lists are best first, and equal ones by id."""

# ruff: noqa: S608 - queries are put together from our own words and question marks
from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ragways.index.communities.hierarchy import CommunityFinding, CommunityReport
from ragways.index.database import PartOfDatabase, connect, store_errors
from ragways.index.vectors import Scored, Vectors

FILE = "communities.sqlite"
LIMIT = 500
_AMONG = "IN (SELECT value FROM json_each(?))"
MEMBER, MEMBER_OF = "printf('entity:%016x', entity)", "printf('community:%016x', community)"
"""The ids in a row of `members`, where they are kept as numbers."""
_COLUMNS = "c.id, c.level, c.parent, c.leaf, c.size, c.title, c.summary, c.rank, c.way, c.tokens"


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
    """Read-only. Opened once for an index."""

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self._folder = folder
        self._db = db
        self.left_out = 0
        """Communities that a filter keeps out, because they rest on other documents too."""

    @classmethod
    def open(cls, folder: Path) -> Communities:
        """The communities in a derived folder."""
        return cls(folder, connect(folder / FILE, write=False))

    def close(self) -> None:
        self._db.close()

    def only(self, is_whole: Callable[[str], bool]) -> Communities:
        """The communities all of whose members are whole: nothing left out speaks of them. A report cannot be split."""
        members = self._rows(f"SELECT {MEMBER_OF}, {MEMBER} FROM members")
        partly = {id for id, entity in members if not is_whole(entity)}
        numbers = {id_number(id) for id in partly}

        def seen(id: str) -> bool:
            return id not in partly

        def seen_number(number: int) -> bool:
            return number not in numbers

        tables: dict[str, tuple[str, Callable[[Any], int]]] = {
            "communities": ("id", seen), "members": ("community", seen_number), "findings": ("community", seen),
        }  # fmt: skip
        part = Communities(self._folder, cast(sqlite3.Connection, PartOfDatabase(self._db, tables)))
        part.left_out = len(partly)
        if self.vectors is not None:
            part.__dict__["vectors"] = self.vectors.only(
                np.array([seen(id) for id in self.vectors.ids], dtype=np.bool_)
            )
        return part

    def levels(self) -> list[int]:
        """From the coarse to the fine."""
        return [row[0] for row in self._rows("SELECT DISTINCT level FROM communities ORDER BY level")]

    def of_level(self, level: int) -> list[Community]:
        """The communities of a level and those above it that are not split: together they hold every entity once."""
        query = f"SELECT {_COLUMNS} FROM communities c WHERE c.level = ?1 OR (c.level < ?1 AND c.leaf)"
        return _by_rank(_community(row) for row in self._rows(query, (level,)))

    def tokens_of_level(self, level: int) -> int:
        """What reading all reports of a level takes."""
        query = "SELECT coalesce(sum(tokens), 0) FROM communities WHERE level = ?1 OR (level < ?1 AND leaf)"
        return int(next(self._rows(query, (level,)))[0])

    def of_entity(self, id: str) -> list[Community]:
        """The communities of one entity, from the coarse to the fine."""
        query = f"SELECT {_COLUMNS} FROM members JOIN communities c ON c.id = {MEMBER_OF} WHERE entity = ?"
        return sorted((_community(row) for row in self._rows(query, (id_number(id),))), key=lambda c: c.level)

    def at_level(self, ids: Collection[str], level: int) -> dict[str, str]:
        """The community of each of these entities at a level, or above it where that one is not split."""
        query = (
            f"SELECT {MEMBER}, c.id FROM members JOIN communities c ON c.id = {MEMBER_OF} "
            f"WHERE entity {_AMONG} AND (c.level = ?2 OR (c.level < ?2 AND c.leaf))"
        )
        return dict(self._rows(query, (json.dumps([id_number(id) for id in ids]), level)))

    def communities(self, ids: Collection[str]) -> dict[str, Community]:
        """By id; an id that is not there is left out."""
        query = f"SELECT {_COLUMNS} FROM communities c WHERE c.id {_AMONG}"
        return {row[0]: _community(row) for row in self._rows(query, (_list(ids),))}

    def children(self, id: str) -> list[Community]:
        return _by_rank(
            _community(row) for row in self._rows(f"SELECT {_COLUMNS} FROM communities c WHERE c.parent = ?", (id,))
        )

    def members(self, id: str) -> list[str]:
        return sorted(
            row[0] for row in self._rows(f"SELECT {MEMBER} FROM members WHERE community = ?", (id_number(id),))
        )

    def report(self, id: str) -> CommunityReport | None:
        """None where the community is too small for one, or where it could not be written yet."""
        return self.reports([id]).get(id)

    def reports(self, ids: Collection[str]) -> dict[str, CommunityReport]:
        findings: dict[str, list[CommunityFinding]] = {}
        query = "SELECT community, text, rating, entities FROM findings WHERE community"
        for id, text, rating, entities in self._rows(f"{query} {_AMONG} ORDER BY community, ordinal", (_list(ids),)):
            findings.setdefault(id, []).append(CommunityFinding(text, rating, tuple(json.loads(entities))))
        query = f"SELECT id, title, summary, rank FROM communities WHERE way != '' AND id {_AMONG}"
        return {
            id: CommunityReport(title, summary, rank, tuple(findings.get(id, ())))
            for id, title, summary, rank in self._rows(query, (_list(ids),))
        }

    @cached_property
    def vectors(self) -> Vectors | None:
        """Vectors of reports, where the index has them."""
        return Vectors.load(self._folder, "reports") if (self._folder / "reports.npy").is_file() else None

    def nearest(self, vector: NDArray[np.float32], k: int = 20, minimum: float = -1.0) -> Scored:
        """The communities whose reports are nearest a vector by cosine, of all levels."""
        return self.vectors.search(vector, k, minimum=minimum) if self.vectors is not None else []

    def counts(self) -> dict[str, int]:
        """Communities by who wrote their report; those without one under an empty name."""
        return dict(self._rows("SELECT way, count(*) FROM communities GROUP BY way ORDER BY way"))

    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple]:  # type: ignore[type-arg]
        with store_errors(self._folder / FILE):
            yield from self._db.execute(query, values)


def id_number(id: str) -> int:
    """The sixteen hexadecimal digits of an id as a signed number of eight bytes; 0 for what is no id."""
    digits = id.rpartition(":")[2]
    try:
        return int.from_bytes(bytes.fromhex(digits), "big", signed=True) if len(digits) == 16 else 0
    except ValueError:
        return 0


def _community(row: Sequence[object]) -> Community:
    id, level, parent, leaf, *rest = row
    return Community(id, level, parent, bool(leaf), *rest)  # type: ignore[arg-type]


def _by_rank(found: Iterator[Community]) -> list[Community]:
    return sorted(found, key=lambda community: (-community.rank, -community.size, community.id))


def _list(values: Collection[str]) -> str:
    """For `_AMONG`."""
    return json.dumps(sorted(set(values)))
