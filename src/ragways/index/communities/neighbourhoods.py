"""Whom entities are joined to, as a change of communities asks for it: read for many at once, and of hubs in part.

Whether a community still hangs together is told by looking from those who were joined, and not further than needed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice

from ragways.index.communities.community_rows import CommunityRows
from ragways.index.communities.entity_links import EntityLinks

AT_ONCE = 256
"""Entities whose neighbours are read together."""
_HUB = 200  # relations; what has more stays where it is, since reading them is not what one document may cost
_LOOKED = 2000  # entities looked at to find that two are still joined


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

    def are_joined(self, number: int, entities: set[int]) -> bool:
        """Whether entities are joined in a community, looking from all of them at once, at hubs last, the smallest
        first: the largest need never be read, since what is joined to it has come upon it. If it is not found soon
        it is taken not to be: then the community is found again, and that tells.
        """
        those = {entity for entity in entities if self.is_in(entity, number)}
        root = {entity: entity for entity in those}

        def top(entity: int) -> int:
            while root[entity] != entity:
                root[entity] = entity = root[root[entity]]
            return entity

        parts, looked = len(those), 0
        near, hubs = deque(sorted(those)), list[tuple[int, int, Iterator[Collection[int]]]]()
        while parts > 1 and looked < _LOOKED:
            others: Collection[int] = ()
            if near:
                entity = near.popleft()
                if (count := self._links.counts([entity])[entity]) > _HUB:
                    heappush(hubs, (count, entity, self._some_of(entity)))
                    continue
                others = self.of(entity)
            elif len({top(hub) for _, hub, _ in hubs}) == parts:
                count, entity, rest = hubs[0]
                if (some := next(rest, None)) is None:
                    heappop(hubs)
                    continue
                others = some
            else:
                return False  # a part that has nothing left to look at is joined to no other
            looked += 1
            for other in others:
                if other not in root:
                    if not self.is_in(other, number):
                        continue
                    root[other] = top(entity)
                    near.append(other)
                elif top(other) != top(entity):
                    root[top(other)] = top(entity)
                    parts -= 1
        return parts <= 1

    def _some_of(self, hub: int) -> Iterator[Collection[int]]:
        """Whom a hub is joined to, some at a time: seldom must all be looked at."""
        others = iter(self._links.joined_to(hub))
        while some := list(islice(others, AT_ONCE)):
            plain = self._links.plain(some)
            self._rows.members(some)
            yield [other for other in some if plain[other]]
