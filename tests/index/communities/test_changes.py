"""Communities that are changed where the graph changed: valid after any history, and nearly as good as found anew."""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections import Counter

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.communities import community_changes, neighbourhoods
from ragways.index.communities.community_changes import GROWTH, CommunityChange
from ragways.index.communities.community_members import CommunityMembers
from ragways.index.communities.community_rows import CommunityRows, id_of, mark_of
from ragways.index.communities.entity_links import EntityLinks
from ragways.index.communities.neighbourhoods import Neighbourhoods
from ragways.index.communities.partition import Group, hierarchy, modularity
from ragways.index.database import create_tables
from ragways.index.graph.document_statements import MILLION
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.graph_tables import KEPT, TABLES
from ragways.index.settings import CommunitySettings

Edge = tuple[int, int]


class Kept:
    """A graph in a store, and its communities."""

    def __init__(self, size: int) -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(self.db, f"{KEPT}{TABLES}")
        self.settings = CommunitySettings(size=size)
        self.edges: Counter[Edge] = Counter()
        self.types: dict[int, str] = {}
        self.total = 0
        self.moved = 0

    def write(self, change: Counter[Edge], types: dict[int, str]) -> Touched:
        """Change the rows of the graph: the weights of edges, and the types of entities."""
        touched = Touched()
        for (one, other), weight in change.items():
            if not weight:
                continue
            self.edges[one, other] += weight
            touched.links[one, other] += weight * MILLION
            id = one * 10_000_000 + other
            self.db.execute("DELETE FROM graph_shared_relations WHERE id = ?", (id,))
            if not self.edges[one, other]:
                del self.edges[one, other]
                continue
            row = (id, one, other, 1, self.edges[one, other] * MILLION, "", "[]")
            self.db.execute("INSERT INTO graph_shared_relations VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        there = {end for edge in self.edges for end in edge}
        self.types |= types
        named = {row[0] for row in self.db.execute("SELECT id FROM graph_entities")}
        for entity in (there ^ named) | (types.keys() & there):
            touched.entities.add(entity)
            self.db.execute("DELETE FROM graph_entities WHERE id = ?", (entity,))
            if entity in there:
                self.db.execute(
                    "INSERT INTO graph_entities VALUES (?, ?, ?, 1, 'rules', NULL, '[]')",
                    (entity, f"E{entity}", self.types.get(entity, "")),
                )
        return touched

    def find(self, change: Counter[Edge]) -> None:
        self.write(change, {})
        arrays = EntityLinks(self.db).whole()
        CommunityRows(self.db).fill(arrays, hierarchy(arrays.links, arrays.ids, size=self.settings.size))
        self.total = int(arrays.strengths.sum())

    def as_one_community(self) -> CommunityRows:
        """All entities in one community, number 1, whether they are joined or not."""
        arrays, rows = EntityLinks(self.db).whole(), CommunityRows(self.db)
        rows.add_tops(arrays, dict.fromkeys(arrays.ids.tolist(), 1), [Group(0, -1, np.arange(len(arrays.ids)), True)])
        return rows

    def change(self, change: Counter[Edge], types: dict[int, str] | None = None) -> None:
        rows = CommunityRows(self.db)
        before = self.strongest(rows)
        touched = self.write(change, types or {})
        made = CommunityChange(rows, EntityLinks(self.db), self.settings, self.total, touched)
        made.run()
        self.total, self.moved = made.total, made.moved
        now = self.strongest(CommunityRows(self.db))
        assert self.strongest(rows) == now, "what was known is forgotten when it changes"
        for number, strongest in now.items():
            if number in before and strongest != before[number]:
                assert strongest[-1][1] <= rows.altered[number] or len(strongest) < 3, (
                    "it must be seen that they differ"
                )

    def strongest(self, rows: CommunityRows) -> dict[int, list[tuple[int, int]]]:
        """Three members of each community."""
        return {number: rows.strongest(number, 3) for (number,) in self.db.execute("SELECT number FROM communities")}

    def graph(self) -> networkx.Graph:
        graph = networkx.Graph()
        for (one, other), weight in self.edges.items():
            if one != other and "date" not in (self.types.get(one), self.types.get(other)):
                more = graph.edges[one, other]["weight"] if graph.has_edge(one, other) else 0
                graph.add_edge(one, other, weight=more + weight)
        return graph

    def check(self) -> None:
        """All that must hold of communities, looked up in the plainest way."""
        graph = self.graph()
        db, limit = self.db, self.settings.size
        strengths = {node: round(strength * MILLION) for node, strength in graph.degree(weight="weight")}
        kept = CommunityMembers(db)
        members = kept.all()
        assert dict(zip(members.entities.tolist(), members.strengths.tolist(), strict=True)) == strengths
        assert not list(kept.unfit())
        assert kept.is_found()
        assert self.total == sum(strengths.values())
        held: dict[int, set[int]] = {}
        columns = "number, id, parent, level, leaf, size, strength, found, best"
        rows = {row[0]: row for row in db.execute(f"SELECT {columns} FROM communities")}
        for entity, community in zip(members.entities.tolist(), members.communities.tolist(), strict=True):
            assert rows[community][4], "members are in leaves"
            while community:
                held.setdefault(community, set()).add(entity)
                community = rows[community][2]
        assert held.keys() == rows.keys()
        for number, id, parent, level, leaf, size, strength, found, best in rows.values():
            assert networkx.is_connected(graph.subgraph(held[number])), number
            assert (id, size) == (id_of(sum(map(mark_of, held[number])), len(held[number])), len(held[number]))
            assert strength == sum(strengths[entity] for entity in held[number])
            assert best == max(strengths[entity] for entity in held[number])
            children = [other for other in rows.values() if other[2] == number]
            assert all(other[3] == level + 1 for other in children)
            assert leaf == (not children)
            assert len(children) != 1
            assert size > 1 or parent
            if leaf:
                assert size <= max(limit * GROWTH, found * GROWTH)
            else:
                assert size > limit

    def modularity(self) -> tuple[float, float]:
        """Of the communities at the top, and of those that would be found."""
        arrays = EntityLinks(self.db).whole()
        rows = CommunityRows(self.db)
        leaf = rows.members(arrays.ids.tolist())
        tops = [rows.chain(member[0])[0] if member else -n for n, member in enumerate(leaf.values())]
        kept = np.unique(tops, return_inverse=True)[1].astype(np.int64)
        fresh = np.zeros(len(arrays.ids), np.int64)
        groups = hierarchy(arrays.links, arrays.ids, size=self.settings.size)
        for number, group in enumerate(group for group in groups if group.parent < 0):
            fresh[group.nodes] = number
        return modularity(arrays.links, kept), modularity(arrays.links, fresh)


edges_of = st.dictionaries(st.tuples(st.integers(1, 24), st.integers(1, 24)), st.integers(1, 4), max_size=40)


@settings(max_examples=60, deadline=None)
@given(edges_of, st.lists(st.tuples(edges_of, st.integers(0, 3), st.sets(st.integers(1, 24), max_size=2)), max_size=4),
       st.integers(2, 12), st.randoms(use_true_random=False), st.sampled_from((1, 4, 200)))  # fmt: skip
def test_communities_hold_after_any_history(first, steps, size, dice, hub):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbourhoods, "_HUB", hub)
        patch.setattr(neighbourhoods, "AT_ONCE", 2)
        patch.setattr(community_changes, "AT_ONCE", 2)
        _hold(first, steps, size, dice)


def _hold(first, steps, size, dice):
    kept = Kept(size)
    kept.find(Counter(first))
    kept.check()
    dates: set[int] = set()
    for come, removed, turned in steps:
        gone = [edge for edge in kept.edges if dice.random() < removed / 4]
        dates ^= turned
        change = Counter({edge: -kept.edges[edge] for edge in gone})
        change.update(come)
        kept.change(change, {entity: "date" if entity in dates else "" for entity in turned})
        kept.check()


@settings(max_examples=60, deadline=None)
@given(edges_of, st.sets(st.integers(1, 24), max_size=4), st.sampled_from((1, 4, 200)))
def test_what_is_joined_is_told_without_reading_all_of_a_hub(edges, asked, hub):
    kept = Kept(100)
    kept.write(Counter(edges), {})
    graph = networkx.Graph(edge for edge in kept.edges if edge[0] != edge[1])
    rows = kept.as_one_community()
    there = {entity for entity in asked if entity in graph}
    parts = {frozenset(networkx.node_connected_component(graph, entity)) for entity in there}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbourhoods, "_HUB", hub)
        patch.setattr(neighbourhoods, "AT_ONCE", 2)
        apart = Neighbourhoods(rows, EntityLinks(kept.db)).apart(1, there)
    assert apart is not None
    assert len(apart) == max(0, len(parts) - 1)
    assert {frozenset(part) for part in apart} < parts or not parts
    # The rest is no smaller than what has come apart.
    rest = parts - {frozenset(part) for part in apart}
    assert all(len(part) <= len(each) for part in apart for each in rest)


def test_a_few_that_come_apart_from_many_leave_and_the_many_are_not_looked_through(monkeypatch):
    """In a community of thousands, three lose their link to it. Those who stay are not divided anew."""
    kept = Kept(60)
    dice = random.Random(5)
    many = Counter({(n, dice.randrange(max(1, n - 40), n)): 4 for n in range(2, 3000)})
    few = Counter({(5001, 5002): 4, (5002, 5003): 4})
    kept.find(many + few + Counter({(7, 5001): 1}))
    divided: list[int] = []
    looked: list[int] = []
    divide, of = CommunityRows.divide, Neighbourhoods.of

    def noting_divide(self, number, *rest):
        divided.append(number)
        divide(self, number, *rest)

    def noting_of(self, entity):
        looked.append(entity)
        return of(self, entity)

    monkeypatch.setattr(CommunityRows, "divide", noting_divide)
    monkeypatch.setattr(Neighbourhoods, "of", noting_of)
    monkeypatch.setattr(neighbourhoods, "_LOOKED", 10)
    kept.change(Counter({(7, 5001): -1}), {})
    kept.check()
    assert not divided
    assert len(set(looked)) < 60


def test_the_largest_hub_is_not_read(monkeypatch):
    """Two hubs that lost their link have a neighbour in common: of the larger nothing is read."""
    kept = Kept(10_000)
    kept.write(Counter({(hub, hub * 1000 + n): 1 for hub, many in ((1, 300), (2, 500)) for n in range(many)}), {})
    kept.write(Counter({(1, 2999): 1, (2, 2999): 1}), {})
    rows = kept.as_one_community()
    links = EntityLinks(kept.db)
    read: list[int] = []
    real = links.joined_to

    def noting(hub):
        read.append(hub)
        return real(hub)

    monkeypatch.setattr(links, "joined_to", noting)
    assert Neighbourhoods(rows, links).apart(1, {1, 2}) == []
    assert read == [1]


def test_an_entity_moves_only_where_the_change_is_why():
    """Of two in one community, one would gain in the other one already, and one does by what comes."""
    kept = Kept(10)
    ones, others = range(1, 9), range(11, 19)
    cliques = Counter({pair: 2 for group in (ones, others) for pair in itertools.combinations(group, 2)})
    ties = Counter({(1, 20): 2, (11, 20): 4, (12, 20): 4, (1, 21): 6, (11, 21): 4})
    kept.find(cliques + ties)
    rows = CommunityRows(kept.db)

    def leaf_of(entity: int) -> int:
        member = CommunityRows(kept.db).member(entity)
        assert member is not None
        return member[0]

    here, there = leaf_of(1), leaf_of(11)
    assert here != there
    for entity in (20, 21):
        rows.put(entity, here, rows.take(entity)[1])
    rows.flush()
    kept.check()
    kept.change(Counter({(2, 20): 1, (2, 21): 1}))
    assert (leaf_of(20), leaf_of(21)) == (here, here), "nothing draws them away that did not before"
    kept.change(Counter({(12, 21): 9}))
    assert (leaf_of(20), leaf_of(21)) == (here, there)
    kept.check()


@pytest.mark.parametrize("seed", range(3))
def test_the_modularity_kept_is_nearly_that_of_finding_all_anew(seed):
    """Until a fifth of the members have come, gone or moved, which is when all are found anew."""
    dice = random.Random(seed)
    groups = [range(first, first + 30) for first in range(1, 1200, 30)]

    def document() -> Counter[Edge]:
        """Some entities of one group, joined to each other, and one of another."""
        some = dice.sample(dice.choice(groups), 4)
        edges = Counter({(min(pair), max(pair)): 1 for pair in itertools.combinations(some, 2)})
        return edges + Counter({(some[0], dice.choice(dice.choice(groups))): 1})

    documents = [document() for _ in range(700)]
    kept = Kept(20)
    kept.find(sum(documents[:600], Counter()))
    moved, steps = 0, 0
    members = len(kept.graph())
    while moved < 0.2 * members and steps < 100:
        gone = documents.pop(dice.randrange(500))
        change = Counter(documents[600 + steps % 50])
        change.subtract(gone)
        kept.change(change)
        documents.append(Counter(documents[600 + steps % 50]))
        moved, steps = moved + kept.moved, steps + 1
    kept.check()
    now, fresh = kept.modularity()
    assert steps > 10
    assert now > fresh - 0.02
