"""Who is in which community: the members of a leaf in slices, and the leaf of each member in a bucket.

Both hold members packed, some dozens in a row, so that one more or less writes some hundred bytes however many there
are. A slice has members of one leaf, the strongest first; a leaf with many has several, from the strongest to the
weakest. A bucket has members whose ids begin with the same bits, with their leaves. Strengths stand in both: slices are
in their order, and a change that had to look into slices for them would read twice as many rows.
"""

# ruff: noqa: S608 - queries are put together from our own words
from __future__ import annotations

import json
import sqlite3
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter, neg
from typing import NamedTuple, TypeVar

from ragways.index.communities.packed_members import (
    RANK,
    Member,
    MemberBucket,
    Members,
    Ordered,
    Strength,
    all_slices,
    cut,
    first_in,
    fits,
    joined,
    last_slice,
    ordered,
    packed_strengths,
    shared_out,
)
from ragways.index.database import create_tables, has_table
from ragways.index.graph.document_statements import HALF
from ragways.index.graph.relation_ids import SHIFT
from ragways.index.packed_numbers import unpacked_counts

SLICES = "community_slices"
_BUCKETS = "community_buckets"
_TABLES = f"""
-- `slice` is the number of the community and, behind it, the rank (`packed_members.py`) from which on it has all
-- members up to the next slice. `halves`: 1 where strengths are numbers of halves, and 0 where they are millionths.
CREATE TABLE IF NOT EXISTS {SLICES} (
    slice INTEGER PRIMARY KEY, halves INTEGER NOT NULL, members BLOB NOT NULL, strengths BLOB NOT NULL
);
-- `bucket` is the first bits of ids behind a one; so the largest tells how many bits these are.
CREATE TABLE IF NOT EXISTS {_BUCKETS} (
    bucket INTEGER PRIMARY KEY, halves INTEGER NOT NULL, members BLOB NOT NULL, strengths BLOB NOT NULL,
    communities BLOB NOT NULL
);
"""
_OLD = "community_members"
"""What an earlier version had in their place: a row for each member."""
_FILLED = 32
"""Members in a bucket when all are shared out: so many in the middle, or down to half of it."""
_OVERFULL = 256
"""Members of the largest bucket: where there are more, all are shared out anew."""
_SLICE = "halves, members, strengths"
_BUCKET = f"{_SLICE}, communities"


class Leaf(NamedTuple):
    """All members of a community that is not split."""

    community: int
    entities: Sequence[int]
    strengths: Sequence[int]

    def in_order(self) -> list[Ordered]:
        """The strongest first."""
        return sorted(zip(map(neg, self.strengths), self.entities, strict=True))


def create_member_tables(db: sqlite3.Connection) -> None:
    """Make the tables, unless they are there; what an earlier version kept is brought into them."""
    create_tables(db, _TABLES)
    if has_table(db, _OLD):
        rows = db.execute(f"SELECT community, entity, strength FROM {_OLD} ORDER BY community, entity")
        leaves = ((community, list(some)) for community, some in groupby(rows, key=itemgetter(0)))
        CommunityMembers(db).fill(Leaf(number, [m[1] for m in some], [m[2] for m in some]) for number, some in leaves)
        db.execute(f"DROP TABLE {_OLD}")


_Move = tuple[int, Member | None, Member | None]
"""An entity, where it was and where it is now."""


class CommunityMembers:
    """Reads and changes who is in which leaf. What `move` does is held until `write`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._moved: dict[int, tuple[Member | None, Member | None]] = {}
        """By entity, where it is written, and where it is to be."""
        self._moved_of: dict[int, set[int]] = defaultdict(set)
        """The same entities, by the leaves that they came to or went from."""

    # All of them

    def all(self) -> Members:
        """All members, as they are written, leaf by leaf."""
        return joined(self._db.execute(f"SELECT slice >> {RANK}, {_SLICE} FROM {SLICES} ORDER BY slice").fetchall())

    def fill(self, leaves: Iterable[Leaf]) -> None:
        """Put these in the place of all."""
        self._moved.clear()
        self._moved_of.clear()
        self._db.execute(f"DELETE FROM {SLICES}")
        self._put_slices(row for leaf in leaves for row in _slice_rows(leaf.community << RANK, leaf.in_order()))
        self._share_out()

    def _share_out(self) -> None:
        """Make all buckets anew."""
        self._db.execute(f"DELETE FROM {_BUCKETS}")
        members = self.all().by_id()
        rows = shared_out(members, (len(members.entities) // _FILLED).bit_length())
        self._db.executemany(f"INSERT INTO {_BUCKETS} VALUES (?, ?, ?, ?, ?)", rows)

    # Some of them

    def of(self, entities: Iterable[int]) -> dict[int, Member]:
        """Leaf and strength of these entities, as they are written; those that are in no community are left out."""
        asked: dict[int, list[int]] = defaultdict(list)
        bits = self._bits()
        for entity in entities:
            asked[1 << bits | entity + SHIFT >> 64 - bits].append(entity)
        query = f"SELECT bucket, {_BUCKET} FROM {_BUCKETS} WHERE bucket IN (SELECT value FROM json_each(?))"
        found: dict[int, Member] = {}
        for bucket, halves, members, strengths, communities in self._db.execute(query, (json.dumps(list(asked)),)):
            ids = memoryview(members).cast("q")
            count = len(ids)
            for entity in asked[bucket]:
                if (at := bisect_left(ids, entity)) < count and ids[at] == entity:
                    strength = unpacked_counts(strengths, count)[at] * (HALF if halves else 1)
                    found[entity] = unpacked_counts(communities, count)[at], strength
        return found

    def inside(self, communities: Iterable[int]) -> list[int]:
        """The members of these leaves, those of one after those of another, the strongest first."""
        found: list[int] = []
        for leaf in communities:
            rows = self._db.execute(f"SELECT {_SLICE} FROM {SLICES} WHERE slice BETWEEN ? AND ?", all_slices(leaf))
            there = [member for row in rows for member in ordered(*row)]
            if moved := self._moved_of.get(leaf):
                there = [member for member in there if member[1] not in moved]
                now = ((entity, self._moved[entity][1]) for entity in moved)
                there += [(-member[1], entity) for entity, member in now if member is not None and member[0] == leaf]
            found += [entity for _, entity in sorted(there)]
        return found

    def best(self, community: int) -> int:
        """The strength of a leaf's strongest member, as it is written; 0 where it has none."""
        return sum(strength for _, strength in self.strongest(community, 1))

    def strongest(self, community: int, count: int) -> list[Strength]:
        """The members of a leaf with the strongest links, as they are written: the best first, then by id."""
        query = f"SELECT {_SLICE}, slice FROM {SLICES} WHERE slice BETWEEN ? AND ? ORDER BY slice"
        found: list[Ordered] = []
        for *row, slice in self._db.execute(query, all_slices(community)):
            if len(found) == count and first_in(slice) > found[-1]:
                break
            some = ordered(*row)[:count]
            found = sorted([*found, *some])[:count] if found else some
        return [(entity, -strength) for strength, entity in found]

    # Changes

    def move(self, entity: int, before: Member | None, now: Member | None) -> None:
        """An entity comes to a leaf, goes from one, or is otherwise strong in it than before."""
        written = self._moved[entity][0] if entity in self._moved else before
        self._moved[entity] = written, now
        for member in (before, now):
            if member is not None:
                self._moved_of[member[0]].add(entity)

    def write(self) -> None:
        """Write what is held."""
        moved = [(entity, before, now) for entity, (before, now) in self._moved.items() if before != now]
        self._moved.clear()
        self._moved_of.clear()
        self._write_slices(moved)
        if self._write_buckets(moved):
            self._share_out()

    def _write_slices(self, moved: Sequence[_Move]) -> None:
        """Change the slices that had these members, or come to have them."""
        gone = [(last_slice(entity, *was), entity) for entity, was, _ in moved if was is not None]
        come = [(last_slice(entity, *now), -now[1], entity) for entity, _, now in moved if now is not None]
        gone.sort()
        come.sort()
        rows = self._slices_of({member[0] for some in (gone, come) for member in some})
        emptied, written = list[tuple[int]](), list[tuple[int, int, bytes, bytes]]()
        while gone or come:
            last = max(some[-1][0] for some in (gone, come) if some)
            while rows and rows[-1][0] > last:
                rows.pop()
            is_there = bool(rows) and rows[-1][0] >> RANK == last >> RANK
            slice, there = (rows[-1][0], ordered(*rows[-1][1:])) if is_there else (last >> RANK << RANK, [])
            if left := {entity for _, entity in _taken_from(gone, slice)}:
                there = [member for member in there if member[1] not in left]
            there += [member[1:] for member in _taken_from(come, slice)]
            there.sort()
            written += _slice_rows(slice, there)
            if not there:
                emptied.append((slice,))
        self._db.executemany(f"DELETE FROM {SLICES} WHERE slice = ?", emptied)
        self._put_slices(written)

    def _slices_of(self, places: Iterable[int]) -> list[tuple[int, int, bytes, bytes]]:
        """The slices that members are in, or come into, that may be in these at last; in order."""
        last = f"SELECT max(slice) FROM {SLICES} WHERE slice BETWEEN value >> {RANK} << {RANK} AND value"
        among = f"slice IN (SELECT ({last}) FROM json_each(?)) ORDER BY slice"
        query = f"SELECT slice, {_SLICE} FROM {SLICES} WHERE {among}"
        return self._db.execute(query, (json.dumps(list(places)),)).fetchall()

    def _put_slices(self, rows: Iterable[tuple[int, int, bytes, bytes]]) -> None:
        self._db.executemany(f"INSERT OR REPLACE INTO {SLICES} VALUES (?, ?, ?, ?)", rows)

    def _write_buckets(self, moved: Sequence[_Move]) -> bool:
        """Change the buckets of these members. Whether one has become so large that all should be shared out anew."""
        bits = self._bits()
        places = {entity: 1 << bits | entity + SHIFT >> 64 - bits for entity, _, _ in moved}
        query = f"SELECT bucket, {_BUCKET} FROM {_BUCKETS} WHERE bucket IN (SELECT value FROM json_each(?))"
        rows = self._db.execute(query, (json.dumps(list(set(places.values()))),))
        buckets = defaultdict(MemberBucket.empty, {bucket: MemberBucket.of(*row) for bucket, *row in rows})
        for entity, _, now in moved:
            buckets[places[entity]].put(entity, now)
        emptied = [(bucket,) for bucket, there in buckets.items() if not there.entities]
        written = [there.row(bucket) for bucket, there in buckets.items() if there.entities]
        self._db.executemany(f"DELETE FROM {_BUCKETS} WHERE bucket = ?", emptied)
        self._db.executemany(f"INSERT OR REPLACE INTO {_BUCKETS} VALUES (?, ?, ?, ?, ?)", written)
        return any(len(there.entities) > _OVERFULL for there in buckets.values())

    def _bits(self) -> int:
        (largest,) = self._db.execute(f"SELECT max(bucket) FROM {_BUCKETS}").fetchone()
        return 0 if largest is None else int(largest).bit_length() - 1

    # Checks

    def unfit(self) -> Iterator[int]:
        """Communities that have a slice which cannot be read, or is not where it is looked for."""
        last = 0  # what may be the last slice of the weakest member in the one before
        for slice, *row in self._db.execute(f"SELECT slice, {_SLICE} FROM {SLICES} ORDER BY slice"):
            community = slice >> RANK
            if not fits(*row):
                yield community
                continue
            members = ordered(*row)
            places = [last_slice(entity, community, -strength) for strength, entity in members]
            is_in_order = members == sorted(members) and len({entity for _, entity in members}) == len(members)
            if not is_in_order or not last < slice <= min(places):
                yield community
            last = max(places)

    def is_found(self) -> bool:
        """Whether buckets have what slices have. To be asked where none of these is unfit."""
        rows = self._db.execute(f"SELECT bucket, {_BUCKET} FROM {_BUCKETS} ORDER BY bucket")
        return rows.fetchall() == list(shared_out(self.all().by_id(), self._bits()))


def _slice_rows(slice: int, members: Sequence[Ordered]) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Members, all that there are from a slice to the next, in order, as the rows of one slice or several."""
    for start, some in cut(slice, members) if members else ():
        below_zero, entities = zip(*some, strict=True)
        halves, strengths = packed_strengths(list(map(neg, below_zero)))
        yield start, halves, array("q", entities).tobytes(), strengths


_Some = TypeVar("_Some", bound=tuple[int, ...])


def _taken_from(some: list[_Some], slice: int) -> list[_Some]:
    """Take those away that are in a slice, or after it, from some that are in order of their `last_slice`."""
    at = bisect_left(some, slice, key=itemgetter(0))
    taken = some[at:]
    del some[at:]
    return taken
