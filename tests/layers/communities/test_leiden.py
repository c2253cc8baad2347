"""Leiden and the hierarchy on it: valid, as good as libraries, and unmoved by what is far away."""

from __future__ import annotations

import random

import graspologic_native
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.layers.communities.partition import Group, connected, hierarchy, leiden
from ragways.layers.graph.walk import Adjacency

Edge = tuple[int, int, float]

edges_of = st.lists(
    st.tuples(st.integers(0, 24), st.integers(0, 24), st.sampled_from([0.5, 1.0, 3.0])), min_size=0, max_size=60
)


def ids_of(count: int) -> NDArray[np.uint64]:
    return np.arange(count).astype(np.uint64)


def plain(groups: list[Group], ids: NDArray[np.uint64]) -> set[tuple[int, ...]]:
    return {tuple(ids[group.nodes].tolist()) for group in groups}


def links_of(edges: list[Edge], size: int) -> Adjacency:
    left, right, weights = (np.array([edge[n] for edge in edges]) for n in range(3))
    return Adjacency.of_edges(size, left.astype(np.int64), right.astype(np.int64), weights.astype(np.float64))


def modularity(links: Adjacency, labels: NDArray[np.int64], resolution: float = 1.0) -> float:
    """Of a division of the whole graph."""
    rows, weights = np.repeat(np.arange(len(links)), links.degrees), np.asarray(links.weights, dtype=np.float64)
    total = weights.sum()
    if total <= 0:
        return 0.0
    inside = weights[labels[rows] == labels[links.indices]].sum() / total
    shares = np.bincount(labels, np.bincount(rows, weights, len(links))) / total
    return float(inside - resolution * (shares**2).sum())


def planted(groups: int = 12, members: int = 25, seed: int = 1) -> tuple[list[Edge], int]:
    """Groups with many edges inside and few between."""
    rng = random.Random(seed)
    edges = []
    for n in range(groups * members):
        own = n // members * members
        edges += [(n, own + rng.randrange(members), 1.0) for _ in range(4)]
        if rng.random() < 0.25:
            edges.append((n, rng.randrange(groups * members), 1.0))
    return [edge for edge in edges if edge[0] != edge[1]], groups * members


def as_networkx(links: Adjacency) -> networkx.Graph:
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(links)))
    for node in range(len(links)):
        for other, weight in zip(*links.neighbours(node), strict=True):
            graph.add_edge(node, int(other), weight=float(weight))
    return graph


def level_of(groups: list[Group], level: int) -> list[Group]:
    return [g for g in groups if g.level == level or (g.level < level and g.leaf)]


@settings(max_examples=40, deadline=None)
@given(edges_of, st.integers(2, 8))
def test_every_entity_with_an_edge_is_once_in_each_level_and_parents_hold_their_children(edges, size):
    ids = ids_of(25)
    links = links_of(edges, 25) if edges else Adjacency.of_edges(25, *(np.zeros(0, np.int64),) * 2, np.zeros(0))
    graph = as_networkx(links)
    joined = {node for node in graph if graph.degree(node)}
    groups = hierarchy(links, ids, size=size)
    assert len(plain(groups, ids)) == len(groups)
    for level in range(1 + max((group.level for group in groups), default=-1)):
        assert sorted(node for group in level_of(groups, level) for node in group.nodes.tolist()) == sorted(joined)
    for place, group in enumerate(groups):
        assert networkx.is_connected(graph.subgraph(group.nodes.tolist()))
        children = [other for other in groups if other.parent == place]
        inside = [node for child in children for node in child.nodes.tolist()]
        assert sorted(inside) == ([] if group.leaf else group.nodes.tolist())
        assert all(child.level == group.level + 1 for child in children)
        assert len(group.nodes) > size or group.leaf


@settings(max_examples=20, deadline=None)
@given(edges_of)
def test_modularity_and_connected_parts_are_those_of_networkx(edges):
    if not any(a != b for a, b, _ in edges):
        return
    links = links_of(edges, 25)
    graph = as_networkx(links)
    labels = leiden(links, ids_of(25))[-1]
    communities = [set(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())]
    assert modularity(links, labels) == pytest.approx(networkx.community.modularity(graph, communities), abs=1e-6)
    parts = {frozenset(np.flatnonzero(connected(links) == n).tolist()) for n in connected(links).tolist()}
    assert parts == {frozenset(part) for part in networkx.connected_components(graph)}


@pytest.mark.parametrize("seed", range(4))
def test_it_finds_divisions_as_good_as_the_library(seed):
    edges, size = planted(seed=seed)
    links = links_of(edges, size)
    library, _ = graspologic_native.leiden_csr(
        links.indptr, links.indices, np.asarray(links.weights, dtype=np.float64), size, seed=0
    )
    divisions = leiden(links, ids_of(size), seed=seed)
    assert modularity(links, divisions[-1]) >= 0.98 * library
    assert modularity(links, divisions[-1]) == max(modularity(links, division) for division in divisions)


def test_the_order_of_edges_does_not_matter_and_the_seed_does():
    edges, size = planted()
    shuffled = random.Random(3).sample(edges, len(edges))
    ids = ids_of(size)
    groups = plain(hierarchy(links_of(edges, size), ids, size=10), ids)
    assert plain(hierarchy(links_of(shuffled, size), ids, size=10), ids) == groups
    assert plain(hierarchy(links_of(edges, size), ids, size=10, seed=1), ids) != groups


def test_what_has_no_path_to_a_change_stays_as_it_was():
    edges, size = planted()
    others, more = planted(groups=3, seed=9)
    # The new part comes first, so that all node numbers change.
    joined = [*others, *((a + more, b + more, w) for a, b, w in edges)]
    ids = np.concatenate([np.arange(more) + size, np.arange(size)]).astype(np.uint64)
    before = plain(hierarchy(links_of(edges, size), ids_of(size), size=10), ids_of(size))
    after = plain(hierarchy(links_of(joined, size + more), ids, size=10), ids)
    assert before < after
