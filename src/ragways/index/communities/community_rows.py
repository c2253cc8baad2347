"""Communities as rows of the store: a tree whose leaves have members.

A community has a number of its own, which it keeps while members come and go, and an id that is made of its members:
the same members, the same id, and the report that was written of them. A member counts in its leaf and in all above it;
only its leaf holds it (`community_members.py`). So one member more costs a slice of these, and a new line for each
community above.
"""

# ruff: noqa: S608 - queries are put together from our own words
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragways.index.communities.community_members import CommunityMembers, Leaf, create_member_tables
from ragways.index.communities.entity_links import LinkArrays
from ragways.index.communities.packed_members import Member, Strength
from ragways.index.communities.partition import Group, mixed, mixed_one
from ragways.index.communities.report import rating_of_size
from ragways.index.communities.report_rows import ReportRows
from ragways.index.database import create_tables
from ragways.index.graph.relation_ids import SHIFT

_TABLES = """
-- `mark`: the sum of its members' marks; `strength`: of all their links; `found`: how many they were when it was found;
-- `best`: the strength of its strongest member; `owed` is 1 until its report is written anew.
CREATE TABLE IF NOT EXISTS communities (
    number INTEGER PRIMARY KEY, id INTEGER NOT NULL, parent INTEGER NOT NULL, level INTEGER NOT NULL,
    leaf INTEGER NOT NULL, size INTEGER NOT NULL, mark INTEGER NOT NULL, strength INTEGER NOT NULL,
    found INTEGER NOT NULL, best INTEGER NOT NULL, owed INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS communities_by_id ON communities (id);
CREATE INDEX IF NOT EXISTS communities_by_parent ON communities (parent, best DESC);
CREATE INDEX IF NOT EXISTS communities_by_level ON communities (level, leaf);
CREATE INDEX IF NOT EXISTS communities_owed ON communities (level) WHERE owed;
"""
_AMONG = "IN (SELECT value FROM json_each(?))"
_COLUMNS = "number, id, parent, level, leaf, size, mark, strength, found, best"
_WORD = 1 << 64
_KNOWN = 4096  # communities whose strongest members are held


@dataclass
class Node:
    """A community as a change sees it; `parent` is 0 at level 0."""

    number: int
    id: int
    parent: int
    level: int
    leaf: bool
    size: int
    mark: int
    strength: int
    found: int
    best: int


class CommunityRows:
    """Reads and changes the rows. What a change does to communities and members is written by `flush`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._nodes: dict[int, Node] = {}
        self._members: dict[int, Member | None] = {}
        self.changed: set[int] = set()
        """Communities that are not as their rows say."""
        self.recent: set[int] = set()
        """Those that changed since somebody cleared this."""
        self.altered: dict[int, int] = {}
        """Communities whose report may have to be written anew, and the strength, before or since, of the strongest
        member that came, went or is not what it was.
        """
        self._ids: dict[int, int] = {}
        """What was the id of those that have another."""
        self._dropped: set[int] = set()
        self._strongest: dict[tuple[int, int], list[Strength]] = {}
        """What `strongest` has found, until something changes: those of a community are asked for by all above it."""
        create_tables(db, _TABLES)
        create_member_tables(db)
        self._held = CommunityMembers(db)
        self.reports = ReportRows(db)
        self._last = int(db.execute("SELECT coalesce(max(number), 0) FROM communities").fetchone()[0])

    # All of it

    def fill(self, arrays: LinkArrays, groups: Sequence[Group]) -> None:
        """Put these communities in the place of all. All reports are owed that are not there."""
        self._db.execute("DELETE FROM communities")
        self._nodes, self._members, self.changed, self.altered = {}, {}, set(), {}
        self._last = 0
        self._held.fill(self._insert(arrays, groups, 0, 0))
        self.reports.drop("id NOT IN (SELECT id FROM communities)")

    def _insert(self, arrays: LinkArrays, groups: Sequence[Group], parent: int, level: int) -> list[Leaf]:
        """New communities, at a level of one or at the top. Their leaves come back, whose members are to be put."""
        self._strongest.clear()
        marks = mixed(arrays.ids.astype(np.uint64))
        first = self._next(len(groups))
        rows, leaves = [], []
        for n, group in enumerate(groups):
            mark, strengths = _signed(int(marks[group.nodes].sum())), arrays.strengths[group.nodes]
            above = parent if group.parent < 0 else first + group.parent
            row = (above, level + group.level, group.leaf, len(group.nodes), mark, int(strengths.sum()))
            id = id_of(mark, len(group.nodes))
            rows.append((first + n, id, *row, len(group.nodes), int(strengths.max(initial=0)), 1))
            if group.leaf:
                leaves.append(Leaf(first + n, arrays.ids[group.nodes].tolist(), strengths.tolist()))
        self._db.executemany("INSERT INTO communities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        # Asked for each: to have the ids of all reports together takes longer than what one change brings.
        written = "EXISTS (SELECT 1 FROM community_reports r WHERE r.id = communities.id)"
        self._db.execute(f"UPDATE communities SET owed = 0 WHERE number >= ? AND {written}", (first,))
        return leaves

    def _put_all(self, leaves: Iterable[Leaf]) -> None:
        for leaf in leaves:
            self.members(leaf.entities)
            for entity, strength in zip(leaf.entities, leaf.strengths, strict=True):
                self._place(entity, leaf.community, strength)

    def alter(self, entities: Iterable[int]) -> None:
        """Note that these entities, or what is said of them, are not what they were."""
        strengths: dict[int, int] = {}
        for member in self.members(entities).values():
            if member is not None:
                strengths[member[0]] = max(member[1], strengths.get(member[0], 0))
        for leaf, strength in strengths.items():
            for number in self.chain(leaf):
                self._alter(number, strength)

    def _alter(self, number: int, strength: int = 0) -> None:
        self.altered[number] = max(strength, self.altered.get(number, 0))

    def owe(self, same: Collection[int] = ()) -> None:
        """Have the reports of communities that were altered written anew, but of the `same`, which keep theirs. Reports
        of communities that are no more are dropped. To be called when all is flushed.
        """
        for number in self.altered:
            if self.is_there(number) and not (number in same and self._keep_report(number)):
                self._db.execute("UPDATE communities SET owed = 1 WHERE number = ?", (number,))
        for id in self._dropped | set(self._ids.values()):
            if not self._has_id(id):
                self.reports.drop("id = ?", (id,))
        self.altered, self._ids, self._dropped = {}, {}, set()

    def _keep_report(self, number: int) -> bool:
        """Let a community that has other members have the report that it had, if that is there and no other's."""
        node = self.node(number)
        before = self._ids.get(number, node.id)
        if not self.reports.has(before):
            return False
        if before != node.id:
            if self._has_id(before) or self.reports.has(node.id):
                return False
            self.reports.move(before, node.id, rating_of_size(node.size))
        return True

    def shown_before(self, number: int) -> str:
        """What the report that a community has, or had, was written from; nothing where there is none."""
        return self.reports.shown(self._ids.get(number, self.node(number).id))

    def _has_id(self, id: int) -> bool:
        return self._db.execute("SELECT 1 FROM communities WHERE id = ?", (id,)).fetchone() is not None

    # Communities

    def node(self, number: int) -> Node:
        if number not in self._nodes:
            row = self._db.execute(f"SELECT {_COLUMNS} FROM communities WHERE number = ?", (number,)).fetchone()
            self._nodes[number] = Node(*row)
        return self._nodes[number]

    def read_ahead(self, numbers: Iterable[int]) -> None:
        """Read at once communities that will be asked for, and all above them."""
        query = f"SELECT {_COLUMNS} FROM communities WHERE number {_AMONG}"
        while asked := [number for number in numbers if number not in self._nodes]:
            nodes = [Node(*row) for row in self._db.execute(query, (json.dumps(asked),))]
            self._nodes.update((node.number, node) for node in nodes)
            numbers = {node.parent for node in nodes} - {0}

    def is_there(self, number: int) -> bool:
        if number in self._nodes:
            return True
        return self._db.execute("SELECT 1 FROM communities WHERE number = ?", (number,)).fetchone() is not None

    def chain(self, number: int) -> list[int]:
        """A community and all above it, from the top."""
        found = []
        while number:
            found.append(number)
            number = self.node(number).parent
        return found[::-1]

    def children(self, number: int) -> list[int]:
        return [row[0] for row in self._db.execute("SELECT number FROM communities WHERE parent = ?", (number,))]

    def below(self, number: int) -> Iterator[int]:
        """A community and all inside it, parents first."""
        waiting = [number]
        while waiting:
            number = waiting.pop()
            yield number
            if not self.node(number).leaf:
                waiting += self.children(number)

    def members_below(self, number: int) -> list[int]:
        return self._held.inside([inside for inside in self.below(number) if self.node(inside).leaf])

    def remove(self, number: int) -> None:
        """Take a community away; its members are elsewhere already."""
        self._strongest.clear()
        self._dropped.add(self.node(number).id)
        self._db.execute("DELETE FROM communities WHERE number = ?", (number,))
        if number in self._ids:
            self._dropped.add(self._ids.pop(number))
        del self._nodes[number]
        self.changed.discard(number)
        self.altered.pop(number, None)

    def divide(self, number: int, arrays: LinkArrays, groups: Sequence[Group]) -> None:
        """Put these communities inside one, the first of them in its own place. They have all its members."""
        for other in [n for n in self.below(number) if n != number]:
            self.remove(other)
        node, root = self.node(number), groups[0]
        node.leaf, node.found = root.leaf, len(root.nodes)
        self._change(number)
        self._db.execute("UPDATE communities SET leaf = ? WHERE number = ?", (root.leaf, number))
        if root.leaf:
            for entity, strength in zip(arrays.ids.tolist(), arrays.strengths.tolist(), strict=True):
                self._place(entity, number, (self.member(entity) or (0, strength))[1])
            return
        inside = [Group(g.level - 1, g.parent - 1, g.nodes, g.leaf) for g in groups[1:]]
        self._put_all(self._insert(self._kept_strengths(arrays), inside, number, node.level + 1))

    def add_tops(self, arrays: LinkArrays, strengths: Mapping[int, int], groups: Sequence[Group]) -> None:
        """New communities of new members, which have these strengths among all entities."""
        known = np.array([strengths[id] for id in arrays.ids.tolist()], np.int64)
        self._put_all(self._insert(LinkArrays(arrays.ids, arrays.links, known), groups, 0, 0))

    def _kept_strengths(self, arrays: LinkArrays) -> LinkArrays:
        """With the strengths that members have among all entities."""
        known = self.members(arrays.ids.tolist())
        strengths = np.array([(known[id] or (0, 0))[1] for id in arrays.ids.tolist()], np.int64)
        return LinkArrays(arrays.ids, arrays.links, strengths)

    def _next(self, count: int) -> int:
        """The first of so many new numbers; a change gives none of them twice."""
        self._last += count
        return self._last - count + 1

    def lift(self, number: int) -> None:
        """Put the only child of a community in its place."""
        (child,) = self.children(number)
        parent = self.node(number).parent
        for each in self.below(child):
            self.node(each).level -= 1
            self._db.execute("UPDATE communities SET level = level - 1 WHERE number = ?", (each,))
        self.node(child).parent = parent
        self._db.execute("UPDATE communities SET parent = ? WHERE number = ?", (parent, child))
        self._change(child)
        self.remove(number)

    # Members

    def members(self, entities: Iterable[int]) -> dict[int, Member | None]:
        """Leaf and strength of these entities; None of those that are in no community."""
        asked = list(entities)
        unknown = [entity for entity in asked if entity not in self._members]
        if unknown:
            self._members.update(dict.fromkeys(unknown))
            self._members.update(self._held.of(unknown))
        return {entity: self._members[entity] for entity in asked}

    def strengthen(self, entity: int, more: int) -> None:
        """Give a member another strength."""
        leaf, strength = self._member(entity)
        self._place(entity, leaf, strength + more)
        for number in self.chain(leaf):
            self.node(number).strength += more
            self._change(number, max(strength, strength + more))

    def put(self, entity: int, leaf: int, strength: int) -> None:
        """A new member."""
        self._place(entity, leaf, strength)
        self._count(entity, leaf, 1, strength)

    def take(self, entity: int) -> Member:
        """A member leaves; where it was."""
        leaf, strength = self._member(entity)
        self._held.move(entity, (leaf, strength), None)
        self._members[entity] = None
        self._count(entity, leaf, -1, -strength)
        return leaf, strength

    def member(self, entity: int) -> Member | None:
        """As `members` of one."""
        return self._members[entity] if entity in self._members else self.members([entity])[entity]

    def _member(self, entity: int) -> Member:
        found = self.member(entity)
        if found is None:
            raise KeyError(entity)
        return found

    def _place(self, entity: int, leaf: int, strength: int) -> None:
        self._held.move(entity, self.member(entity), (leaf, strength))
        self._members[entity] = leaf, strength

    def _count(self, entity: int, leaf: int, one: int, strength: int) -> None:
        mark = one * mark_of(entity)
        for number in self.chain(leaf):
            node = self.node(number)
            node.size, node.strength, node.mark = node.size + one, node.strength + strength, _signed(node.mark + mark)
            self._change(number, abs(strength))

    def _change(self, number: int, strength: int = 0) -> None:
        self._strongest.clear()
        self.changed.add(number)
        self.recent.add(number)
        self._alter(number, strength)

    def flush(self) -> None:
        """Write the communities that changed, and who is in them."""
        self._strongest.clear()
        self._held.write()
        for number in sorted(self.changed, key=lambda number: -self.node(number).level):
            node = self.node(number)
            before, node.id = node.id, id_of(node.mark, node.size)
            if node.id != before:
                self._ids.setdefault(number, before)
            node.best = self._best(node)
            self._db.execute(
                "UPDATE communities SET id = ?, size = ?, mark = ?, strength = ?, found = ?, best = ? WHERE number = ?",
                (node.id, node.size, node.mark, node.strength, node.found, node.best, number),
            )
        self.changed = set()

    def _best(self, node: Node) -> int:
        if node.leaf:
            return self._held.best(node.number)
        query = "SELECT coalesce(max(best), 0) FROM communities WHERE parent = ?"
        return int(self._db.execute(query, (node.number,)).fetchone()[0])

    # What stands for a community

    def strongest(self, number: int, count: int) -> list[Strength]:
        """The members with the strongest links, the best first. To be asked for when all is flushed."""
        if (known := self._strongest.get((number, count))) is None:
            if len(self._strongest) >= _KNOWN:
                self._strongest.clear()
            known = self._strongest[number, count] = self._read_strongest(number, count)
        return known

    def _read_strongest(self, number: int, count: int) -> list[Strength]:
        if self.node(number).leaf:
            return self._held.strongest(number, count)
        # Each child that comes before another has one at least as strong as all of the other's.
        query = "SELECT number, best FROM communities WHERE parent = ? ORDER BY best DESC"
        found: list[tuple[int, int]] = []  # strengths, below zero so that the best come first, and members
        for child, best in self._db.execute(query, (number,)):
            if len(found) == count and best < -found[-1][0]:
                break
            found += [(-strength, entity) for entity, strength in self.strongest(child, count)]
            found.sort()
            del found[count:]
        return [(entity, -strength) for strength, entity in found]


def mark_of(entity: int) -> int:
    """What an entity adds to the mark of a community."""
    return mixed_one(entity)


def id_of(mark: int, size: int) -> int:
    """The number of a community's id, from the marks of its members: the same members, the same id."""
    return mixed_one(mark + size) - SHIFT


def _signed(number: int) -> int:
    """The same in 64 bits, as SQLite holds it."""
    number %= _WORD
    return number - _WORD if number >= SHIFT else number
