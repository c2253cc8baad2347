"""Whom entities are joined to, as a change of communities asks for it: read for many at once, and of hubs in part.

Whether a community still hangs together is told by looking from those who were joined, and not further than needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice

from ragways.index.communities.community_rows import CommunityRows
from ragways.index.communities.entity_links import EntityLinks

AT_ONCE = 256
"""Entities whose neighbours are read together."""
_HUB = 200  # relations; what has more stays where it is, since reading them is not what one document may cost
_FAR = 1000  # members that are found elsewhere before one looks at all that a hub is joined to
_LOOKED = 2000  # entities looked at to find out who is still joined


@dataclass(eq=False)
class _Part:
    """Members that are joined, those of them that were not looked at yet, and where more of them are: at hubs, and in
    communities inside, of which not all was looked at.
    """

    members: set[int] = field(default_factory=set)
    units: set[int] = field(default_factory=set)
    near: list[tuple[int, int]] = field(default_factory=list)
    """A heap of members to look at: those first that are joined to many, since these soon come upon others."""
    more: list[tuple[int, int, Iterator[Collection[int]]]] = field(default_factory=list)
    """A heap: how many there are, of what, and some of them at a time."""

    def take_in(self, other: _Part) -> None:
        """Become one with another part."""
        self.members |= other.members
        self.units |= other.units
        self.near = sorted([*self.near, *other.near])
        self.more = sorted([*self.more, *other.more])


class Neighbourhoods:
    """Reads whom entities are joined to, and keeps what it has read."""

    def __init__(self, rows: CommunityRows, links: EntityLinks) -> None:
        self._rows, self._links = rows, links
        self._near: dict[int, Counter[int]] = {}

    def of(self, entity: int) -> Counter[int]:
        """Whom an entity is joined to, and by how much."""
        if entity not in self._near:
            self.read_ahead([entity])
        return self._near[entity]

    def read_ahead(self, entities: Iterable[int]) -> None:
        """Read at once whom entities are joined to, and where those are."""
        asked = [entity for entity in entities if entity not in self._near]
        found = self._links.neighbours(asked)
        self._near |= found
        members = self._rows.members({other for near in found.values() for other in near})
        self._rows.read_ahead({member[0] for member in members.values() if member is not None})

    def hubs(self, entities: Iterable[int]) -> set[int]:
        """Those of these entities that have many relations."""
        return {entity for entity, count in self._links.counts(entities).items() if count > _HUB}

    def is_in(self, entity: int, number: int) -> bool:
        """Whether an entity is in a community, or in one inside it."""
        return self._unit(entity, number) is not None

    def _unit(self, entity: int, number: int) -> int | None:
        """What is joined as a whole inside a community: of what has an entity, the child, and of a leaf the entity
        itself. None where the entity is not inside.
        """
        member = self._rows.member(entity)
        if member is None:
            return None
        if member[0] == number:
            return entity
        chain = self._rows.chain(member[0])
        return chain[chain.index(number) + 1] if number in chain else None

    def apart(self, number: int, entities: set[int]) -> list[set[int]] | None:
        """Members of a community that are joined neither to the rest of these entities in it nor to any other member:
        nothing where all of them are joined. None where it could not be told soon. The communities inside it must be
        joined, each in itself: so of two that are large, one link tells of all their members.

        It is always looked on from the part of which least is known: so where a few have come apart from many, that
        takes as long as there are few, and where they have not, they soon come upon the others.
        """
        owners: dict[int, _Part] = {}
        leaf = self._rows.node(number).leaf
        for entity in sorted(entities):
            if (unit := self._unit(entity, number)) is not None:
                self._add(self._owner(owners, unit, _Part(), leaf=leaf), [entity])
        waiting, found, looked = list(dict.fromkeys(owners.values())), list[set[int]](), 0
        while len(waiting) > 1:
            part = min(waiting, key=_cost)
            others = self._look_on(part)
            looked += 1
            if others is None:
                found.append(part.members)
                waiting.remove(part)
                continue
            if looked > _LOOKED:
                return None
            inside = []
            for other in others:
                if other in part.members or (unit := self._unit(other, number)) is None:
                    continue
                inside.append(other)
                if (owner := self._owner(owners, unit, part, leaf=leaf)) is not part:
                    less, part = sorted((owner, part), key=lambda each: len(each.members))
                    part.take_in(less)
                    owners |= dict.fromkeys(less.units, part)
                    waiting.remove(less)
            self._add(part, inside)
        return found

    def _owner(self, owners: dict[int, _Part], unit: int, part: _Part, *, leaf: bool) -> _Part:
        """The part that a unit is in: unless it is in one, it comes to be in `part`, with all its members."""
        if unit not in owners:
            owners[unit] = part
            part.units.add(unit)
            if not leaf:
                heappush(part.more, (self._rows.node(unit).size, -unit, self._members_of(unit)))
        return owners[unit]

    def _add(self, part: _Part, entities: Iterable[int]) -> None:
        """Members that are joined to a part."""
        fresh = [entity for entity in entities if entity not in part.members]
        part.members.update(fresh)
        for entity, count in self._links.counts(fresh).items():
            if count > _HUB:
                heappush(part.more, (count, entity, self._some_of(entity)))
            else:
                heappush(part.near, (-count, entity))

    def _look_on(self, part: _Part) -> Collection[int] | None:
        """Whom the next of a part is joined to; None where all were looked at. Hubs and communities come last, the
        smallest first, and some of each at a time: the largest need never be read, since what is joined to it has come
        upon it.
        """
        if part.near:
            return self.of(heappop(part.near)[1])
        while part.more:
            if (some := next(part.more[0][2], None)) is not None:
                return some
            heappop(part.more)
        return None

    def _some_of(self, hub: int) -> Iterator[Collection[int]]:
        """Whom a hub is joined to, some at a time: seldom must all be looked at."""
        others = iter(self._links.joined_to(hub))
        while some := list(islice(others, AT_ONCE)):
            plain = self._links.plain(some)
            self._rows.members(some)
            yield [other for other in some if plain[other]]

    def _members_of(self, number: int) -> Iterator[Collection[int]]:
        """The members of a community, those of one leaf at a time."""
        for inside in self._rows.below(number):
            if self._rows.node(inside).leaf:
                some = self._rows.members_below(inside)
                self._rows.members(some)
                yield some


def _cost(part: _Part) -> int:
    """What it takes to look on from a part, by what is known of it; where only a hub is left, that is much."""
    return max(len(part.members), min(part.more[0][0], _FAR) if part.more and not part.near else 0)
