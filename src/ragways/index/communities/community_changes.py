"""Communities changed where the graph changed: the partition before is the start, and what is far away is not read.

New entities are put where they gain most modularity: into a community at the top, then into one inside it, down to a
leaf. Entities whose links changed may move in the same way. A leaf that grew too large is split, one that became too
small goes to its neighbours. Where a link or a member went, it is looked up whether what it joined is still joined
otherwise; if not, the smaller part leaves the community.

The modularity reached is not quite that of finding all communities anew (`tests/index/communities/test_changes.py`
says how near it is), so after many changes all are.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from ragways.index.communities.community_rows import CommunityRows, Node
from ragways.index.communities.entity_links import EntityLinks
from ragways.index.communities.neighbourhoods import AT_ONCE, Neighbourhoods
from ragways.index.communities.partition import connected, hierarchy, least, leiden, split_up
from ragways.index.graph.graph_rows import Touched
from ragways.index.settings import CommunitySettings

GROWTH = 1.25
"""A leaf that is too large is split when it has so many times the members it was found with: it may be that it cannot
be split, and then it is not tried with each new member.
"""
_AGAIN = 4  # times as many entities as changed are looked at, at most, because a neighbour moved
_TURNS = 10  # a community is seen to again when others gave it members, but not for ever


class CommunityChange:
    """One change of the graph brought to the communities."""

    def __init__(
        self, rows: CommunityRows, links: EntityLinks, settings: CommunitySettings, total: int, touched: Touched
    ) -> None:
        """`total`: the strength of all members before."""
        self._rows, self._links, self._settings = rows, links, settings
        self.total = total
        self._touched = touched
        self.moved = 0
        """Members that came, went or moved."""
        self.more = 0
        """Members more than before."""
        self._left: dict[int, set[int]] = defaultdict(set)
        """By community, who left it."""
        self._lost: dict[int, set[int]] = defaultdict(set)
        """By entity, whom it was joined to and is no more."""
        self._differs: dict[int, Counter[int]] = defaultdict(Counter)
        """By entity, by how much more it is joined to others than before."""
        self._near = Neighbourhoods(rows, links)
        self._seen: dict[int, tuple[int, int]] = {}
        """Communities that were seen to, as they were then."""

    def run(self) -> None:
        """Change the communities, and write them."""
        ends = {end for link in self._touched.links for end in link}
        concerned = self._touched.entities | ends
        more, fresh, gone = self._differences(concerned)
        for entity, change in more.items():
            if entity not in fresh and change:
                self._rows.strengthen(entity, change)
        self.total += sum(more.values())
        for entity in sorted(gone):
            self._take(entity)
        self._place_new({entity: more[entity] for entity in fresh if more[entity] > 0})
        self._move({e: more[e] for e in sorted(more) if e not in fresh and e not in gone})
        self._settle()
        self._rows.flush()

    # What changed

    def _differences(self, concerned: Collection[int]) -> tuple[Counter[int], set[int], set[int]]:
        """How much stronger each entity is linked than before; which were in no community; and which must leave."""
        plain = self._links.plain(concerned)
        before = self._rows.members(concerned)
        turned = {entity for entity in concerned if plain[entity] == (before[entity] is None)}
        pairs: Counter[tuple[int, int]] = Counter()
        for (one, other), weight in self._touched.links.items():
            if one != other:
                pairs[min(one, other), max(one, other)] += weight
        for entity, others in self._links.neighbours(turned, plain=False).items():
            for other in others:
                pairs[min(entity, other), max(entity, other)] += 0
        ends = {end for pair in pairs for end in pair}
        ends |= turned
        plain, before = self._links.plain(ends), self._rows.members(ends)
        more: Counter[int] = Counter()
        weights = self._links.weights(pairs)
        for (one, other), weight in pairs.items():
            now = weights[one, other]
            was = now - weight if before[one] is not None and before[other] is not None else 0
            is_link = plain[one] and plain[other]
            for end, across in ((one, other), (other, one)):
                more[end] += (now if is_link else 0) - was
                self._differs[end][across] = (now if is_link else 0) - was
                if was > 0 and not (is_link and now > 0):
                    self._lost[end].add(across)
        fresh = {entity for entity in ends if plain[entity] and before[entity] is None}
        gone = {entity for entity in turned if entity not in fresh and before[entity] is not None}
        for entity, change in more.items():
            member = before[entity]
            if member is not None and member[1] + change <= 0:
                gone.add(entity)
        return more, fresh, gone

    # Coming, moving and going

    def _place_new(self, strengths: dict[int, int]) -> None:
        """What is new and belongs together goes together: to a community that there is, else it is one."""
        arrays = self._links.among(strengths)
        divisions = leiden(arrays.links, arrays.ids, resolution=self._settings.resolution, seed=self._settings.seed)
        labels = divisions[0] if divisions else np.arange(len(arrays.ids))
        units: dict[int, list[int]] = defaultdict(list)
        for entity, label in zip(arrays.ids.tolist(), labels.tolist(), strict=True):
            units[label].append(entity)
        waiting = sorted(units.values())
        self._near.read_ahead(strengths)
        while waiting:
            left = [unit for unit in waiting if not self._place({entity: strengths[entity] for entity in unit})]
            if len(left) == len(waiting):
                break
            waiting = left
        self._place_apart({entity: strengths[entity] for unit in waiting for entity in unit})

    def _place(self, unit: dict[int, int], *, anyhow: bool = False) -> bool:
        """Put entities that belong together, with their strengths, where they gain most; `anyhow` even if they lose."""
        leaf = self._best_leaf(self._weights(unit), sum(unit.values()), anyhow=anyhow)
        for entity in unit if leaf else ():
            self._put(entity, leaf, unit[entity])
        return bool(leaf)

    def _place_apart(self, strengths: dict[int, int]) -> None:
        """Entities that gain nowhere are communities of their own."""
        arrays = self._links.among(strengths)
        alone = arrays.ids[np.diff(arrays.links.indptr) == 0].tolist()
        joined = {entity: strengths[entity] for entity in strengths if entity not in set(alone)}
        arrays = self._links.among(joined)
        chosen = self._settings
        groups = hierarchy(arrays.links, arrays.ids, size=chosen.size, resolution=chosen.resolution, seed=chosen.seed)
        self._rows.add_tops(arrays, joined, groups)
        self.moved, self.more = self.moved + len(joined), self.more + len(joined)
        for entity in alone:
            self._place({entity: strengths[entity]}, anyhow=True)

    def _weights(self, unit: Collection[int]) -> Counter[int]:
        """By how much entities are joined to leaves, besides each other."""
        weights: Counter[int] = Counter()
        for entity in unit:
            near = self._near.of(entity)
            members = self._rows.members(near)
            for other, weight in near.items():
                member = members[other]
                if member is not None and other not in unit:
                    weights[member[0]] += weight
        return weights

    def _best_leaf(self, weights: Counter[int], strength: int, *, own: int = 0, anyhow: bool = False) -> int:
        """The leaf where something so strong, joined to leaves by these weights, gains most; 0 where it gains nowhere.
        `own` is the leaf that it is in.
        """
        paths = {leaf: self._rows.chain(leaf) for leaf in weights}
        at_home = set(self._rows.chain(own)) if own else set()
        depth = 0
        while paths:
            joined: Counter[int] = Counter()
            for leaf, path in paths.items():
                joined[path[depth]] += weights[leaf]
            gains = {}
            for number, weight in joined.items():
                held = self._rows.node(number).strength - (strength if number in at_home else 0)
                gains[number] = weight - self._settings.resolution * strength * held / max(self.total, 1)
            best = max(gains, key=lambda number: (gains[number], number in at_home, -number))
            if gains[best] <= 0 and not depth and not anyhow:
                return 0
            if self._rows.node(best).leaf:
                return best
            paths = {leaf: path for leaf, path in paths.items() if path[depth] == best}
            depth += 1
        return 0

    def _move(self, more: dict[int, int]) -> None:
        """Let entities, which are so much stronger than before, go where they gain most, if the change is why: many
        would gain elsewhere as they were found, and to move these would have a change of a few cost as much as of many.
        Neighbours of those that went are asked as well.
        """
        waiting, asked = deque(more), Counter(more.keys())
        budget, read = _AGAIN * len(more), set[int]()
        moved: dict[int, Counter[int]] = defaultdict(Counter)
        while waiting and budget > 0:
            budget -= 1
            entity = waiting.popleft()
            if entity not in read:
                read = {entity, *islice(waiting, AT_ONCE)}
                self._near.read_ahead(read - self._near.hubs(read))
                self._rows.members(read)
            member = self._rows.member(entity)
            if member is None or self._near.hubs([entity]):
                continue
            own, strength = member
            weights = self._weights([entity])
            leaf = self._best_leaf(weights, strength, own=own)
            if leaf in (0, own):
                continue
            before = self._weights_before(entity, weights, moved[entity])
            if leaf == self._best_leaf(before, strength - more.get(entity, 0), own=own):
                continue
            self._take(entity, leaf)
            self._put(entity, leaf, strength)
            for other, weight in sorted(self._near.of(entity).items()):
                moved[other].update({own: weight, leaf: -weight})
                if asked[other] < 2:
                    asked[other] += 1
                    waiting.append(other)

    def _weights_before(self, entity: int, now: Counter[int], moved: Counter[int]) -> Counter[int]:
        """By how much an entity was joined to leaves, as far as these are there; `moved`: what left them, less what
        came.
        """
        before = Counter(now)
        before.update(moved)
        for other, more in self._differs[entity].items():
            if (member := self._rows.member(other)) is not None:
                before[member[0]] -= more
        return +before

    def _put(self, entity: int, leaf: int, strength: int) -> None:
        self._rows.put(entity, leaf, strength)
        self.moved, self.more = self.moved + 1, self.more + 1

    def _take(self, entity: int, into: int = 0) -> None:
        """Have a member leave its community, for another leaf or for good."""
        leaf, _ = self._rows.take(entity)
        stays = set(self._rows.chain(into)) if into else set()
        for number in self._rows.chain(leaf):
            if number not in stays:
                self._left[number].add(entity)
        self.moved, self.more = self.moved + (not into), self.more - 1

    # Afterwards

    def _settle(self) -> None:
        """See to it that communities are connected and neither too large nor too small, from the leaves upwards."""
        lost = self._lost_inside()
        turns: Counter[int] = Counter()
        recent, waiting = self._rows.recent, list[tuple[int, int]]()
        recent |= self._left.keys() | lost.keys()
        while recent or waiting:
            for number in filter(self._rows.is_there, recent):
                heappush(waiting, (-self._rows.node(number).level, -number))
            recent.clear()
            level, number = (-n for n in heappop(waiting)) if waiting else (0, 0)
            if not self._rows.is_there(number):
                continue
            node = self._rows.node(number)
            if node.level != level:
                recent.add(number)
            elif self._seen.get(number) != (node.size, node.mark) and turns[number] < _TURNS:
                self._seen[number] = node.size, node.mark
                turns[number] += 1
                self._see_to(number, lost.get(number, ()))

    def _lost_inside(self) -> dict[int, list[tuple[int, int]]]:
        """Pairs that were joined, by the smallest community that both are in."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for one, others in self._lost.items():
            for other in others:
                members = self._rows.members((one, other))
                first, second = members[one], members[other]
                if one < other and first is not None and second is not None:
                    common = set(self._rows.chain(first[0])) & set(self._rows.chain(second[0]))
                    for number in common:
                        found[number].append((one, other))
        return found

    def _see_to(self, number: int, lost: Iterable[tuple[int, int]]) -> None:
        node, limit = self._rows.node(number), self._settings.size
        if not node.size:
            self._remove(number)
        elif not node.leaf and len(children := self._rows.children(number)) == 1:
            self._rows.lift(number)
            self._look_again(children[0])
        elif self._must_be_found(node) or (apart := self._apart(number, lost)) is None:
            self._find_again(number)
        elif apart:
            self._break_off(apart)
        elif node.leaf and node.size < (least(limit) if node.parent else 2):
            self._dissolve(number, anyhow=True)
        elif node.leaf and not node.parent and node.size <= limit:
            self._dissolve(number, anyhow=False)

    def _must_be_found(self, node: Node) -> bool:
        """Whether it is split and small, or large and not split."""
        if node.leaf:
            return node.size > self._settings.size and node.size >= GROWTH * node.found
        return node.size <= self._settings.size

    def _dissolve(self, number: int, *, anyhow: bool) -> None:
        """Give the members of a small community to another, if they are joined to one and gain by it, or `anyhow`."""
        unit = {entity: self._strength(entity) for entity in self._rows.members_below(number)}
        weights = self._weights(unit)
        del weights[number]
        leaf = self._best_leaf(weights, sum(unit.values()), own=number, anyhow=anyhow)
        if leaf:
            for entity, strength in unit.items():
                self._take(entity, leaf)
                self._put(entity, leaf, strength)
            self._remove(number)

    def _remove(self, number: int) -> None:
        """Take away a community without members, and see to its parent again."""
        self._look_again(self._rows.node(number).parent)
        self._rows.remove(number)

    def _look_again(self, number: int) -> None:
        self._seen.pop(number, None)
        self._rows.recent.add(number)

    def _strength(self, entity: int) -> int:
        member = self._rows.member(entity)
        return 0 if member is None else member[1]

    def _find_again(self, number: int) -> None:
        """Divide a community anew. Where it is not connected, its largest part stays, and the others are placed."""
        arrays = self._links.among(self._rows.members_below(number))
        parts = connected(arrays.links)
        labels, counts = np.unique(parts, return_counts=True)
        stays = labels[np.argmax(counts)]
        others = [
            {entity: self._strength(entity) for entity in arrays.ids[parts == label].tolist()}
            for label in labels.tolist()
            if label != stays
        ]
        self._take_all(others)
        chosen = self._settings
        arrays = self._links.among(arrays.ids[parts == stays].tolist())
        self._rows.divide(
            number,
            arrays,
            split_up(arrays.links, arrays.ids, size=chosen.size, resolution=chosen.resolution, seed=chosen.seed),
        )
        self._place_all(others)

    def _break_off(self, parts: Iterable[set[int]]) -> None:
        """Have parts of a community leave it that are joined to no other part: the rest stays as it is."""
        units = [{entity: self._strength(entity) for entity in sorted(part)} for part in parts]
        self._take_all(units)
        self._place_all(units)

    def _take_all(self, units: Iterable[dict[int, int]]) -> None:
        for unit in units:
            for entity in unit:
                self._take(entity)

    def _place_all(self, units: Iterable[dict[int, int]]) -> None:
        for unit in units:
            if not self._place(unit, anyhow=len(unit) == 1):
                self._place_apart(unit)

    # Whether a community is connected

    def _apart(self, number: int, lost: Iterable[tuple[int, int]]) -> list[set[int]] | None:
        """Parts of a community that only those who left, or links that are gone, joined to the rest; None where that
        could not be told soon.
        """
        found: dict[int, set[int]] = {}
        for some in (*self._borders(number), *map(set, lost)):
            parts = self._near.apart(number, some)
            if parts is None:
                return None
            found |= {min(part): part for part in parts}
        return list(found.values())

    def _borders(self, number: int) -> list[set[int]]:
        """Of each set of entities that were joined to each other and left a community, the members it was joined to."""
        left, found = set(self._left.get(number, ())), []
        while left:
            waiting, border = [left.pop()], set[int]()
            while waiting:
                entity = waiting.pop()
                for other in self._near.of(entity).keys() | self._lost[entity]:
                    if other in left:
                        left.discard(other)
                        waiting.append(other)
                    elif self._near.is_in(other, number):
                        border.add(other)
            found.append(border)
        return found
