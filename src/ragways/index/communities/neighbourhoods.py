"""Whom entities are joined to, as a change of communities asks for it: read for many at once, and of hubs in part.

Whether a community still hangs together is told by looking from those who were joined, and not further than needed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush, merge
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
    """Members that are joined, those of them that were not looked at yet, and hubs of which not all was."""

    members: set[int]
    near: deque[int]
    hubs: list[tuple[int, int, Iterator[Collection[int]]]] = field(default_factory=list)

    def take_in(self, other: _Part) -> None:
        """Become one with another part."""
        self.members |= other.members
        self.near += other.near
        self.hubs = list(merge(sorted(self.hubs), sorted(other.hubs)))


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
        member = self._rows.members([entity])[entity]
        return member is not None and number in self._rows.chain(member[0])

    def apart(self, number: int, entities: set[int]) -> list[set[int]] | None:
        """Members of a community that are joined neither to the rest of these entities in it nor to any other member:
        nothing where all of them are joined. None where it could not be told soon.

        It is always looked on from the part of which least is known: so where a few have come apart from many, that
        takes as long as there are few, and where they have not, they soon come upon the others.
        """
        those = sorted(entity for entity in entities if self.is_in(entity, number))
        owners = {entity: _Part({entity}, deque([entity])) for entity in those}
        waiting, found, looked = list(owners.values()), list[set[int]](), 0
        while len(waiting) > 1:
            part = min(waiting, key=self._cost)
            others = self._look_on(part)
            looked += 1
            if others is None:
                found.append(part.members)
                waiting.remove(part)
            elif looked > _LOOKED:
                return None
            for other in others or ():
                owner = owners.get(other)
                if owner is None and self.is_in(other, number):
                    owners[other] = part
                    part.members.add(other)
                    part.near.append(other)
                elif owner is not None and owner is not part:
                    less, part = sorted((owner, part), key=lambda each: len(each.members))
                    part.take_in(less)
                    owners |= dict.fromkeys(less.members, part)
                    waiting.remove(less)
        return found

    def _cost(self, part: _Part) -> int:
        """What it takes to look on from a part, by what is known of it; where only a hub is left, that is much."""
        while part.near and (count := self._links.counts([part.near[0]])[part.near[0]]) > _HUB:
            entity = part.near.popleft()
            heappush(part.hubs, (count, entity, self._some_of(entity)))
        return max(len(part.members), min(part.hubs[0][0], _FAR) if part.hubs and not part.near else 0)

    def _look_on(self, part: _Part) -> Collection[int] | None:
        """Whom the next of a part is joined to; None where all were looked at. Hubs come last, the smallest first, and
        some of what each is joined to at a time: the largest need never be read, since what is joined to it has come
        upon it.
        """
        if part.near:
            return self.of(part.near.popleft())
        while part.hubs:
            if (some := next(part.hubs[0][2], None)) is not None:
                return some
            heappop(part.hubs)
        return None

    def _some_of(self, hub: int) -> Iterator[Collection[int]]:
        """Whom a hub is joined to, some at a time: seldom must all be looked at."""
        others = iter(self._links.joined_to(hub))
        while some := list(islice(others, AT_ONCE)):
            plain = self._links.plain(some)
            self._rows.members(some)
            yield [other for other in some if plain[other]]
