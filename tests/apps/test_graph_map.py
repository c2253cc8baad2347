"""The map of a graph: the best-connected entities, each at a place of its own, communities together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from ragways.index.open import Index
from ragways.pictures.graph_map import communities_of, graph_map, places_of
from tests.retrieval.graph_corpus import GRAPH_LAYERS, indexed


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = Index.open(indexed(tmp_path_factory.mktemp("map"), layers=GRAPH_LAYERS | {"communities"}))
    yield opened
    opened.close()


def ids(index: Index) -> list[str]:
    return [index.graph.entity_at(number) for number in range(index.graph.counts()["entities"])]


def known(index: Index) -> nx.Graph:
    """The graph of all its relations."""
    graph = nx.Graph()
    for _, one, other, weight in index.graph.edges(ids(index), 100_000, induced=True):
        if one != other:
            before = graph.get_edge_data(one, other, {"weight": 0.0})["weight"]
            graph.add_edge(one, other, weight=before + weight)
    return graph


def test_the_best_connected_and_what_joins_them(index: Index):
    graph = known(index)
    found = graph_map(index, 12)
    assert len(found.nodes) == 12
    assert [node.degree for node in found.nodes] == [graph.degree[node.id] for node in found.nodes]
    assert not {node.kind for node in found.nodes} & {"date", "quantity"}
    least = min(node.degree for node in found.nodes)
    kinds = {entity.id: entity.type for entity in index.graph.entities(ids(index)).values()}
    better = [id for id, degree in graph.degree if degree > least and kinds[id] not in ("date", "quantity")]
    assert set(better) <= {node.id for node in found.nodes}
    part = graph.subgraph([node.id for node in found.nodes])
    edges = {frozenset((found.nodes[a].id, found.nodes[b].id)): weight for a, b, weight in found.edges}
    assert edges == pytest.approx({frozenset((a, b)): data["weight"] for a, b, data in part.edges(data=True)}, abs=1e-3)
    assert [weight for *_, weight in found.edges] == sorted((weight for *_, weight in found.edges), reverse=True)
    assert found.entities == len(ids(index))


def test_communities_are_the_coarsest(index: Index):
    coarsest = {id: each.id for each in index.communities.of_level(0) for id in index.communities.members(each.id)}
    assert coarsest
    assert communities_of(index, ids(index)) == coarsest
    levels = index.communities.levels()
    for level in levels:
        of_level = {
            id: each.id for each in index.communities.of_level(level) for id in index.communities.members(each.id)
        }
        assert index.communities.at_level(ids(index), level) == of_level


def test_the_same_graph_gives_the_same_map(index: Index):
    assert graph_map(index, 50) == graph_map(index, 50)


@pytest.mark.parametrize("discs", [1, 3, 40, 400])
def test_discs_stand_apart_and_nodes_do_not_lie_upon_each_other(discs: int):
    dice = np.random.default_rng(discs)
    size = max(discs, 600)
    of = np.sort(dice.zipf(1.6, size) % discs)
    groups = [f"{group:03}" for group in of]
    left, right = dice.integers(0, size, (2, 2 * size))
    places = places_of(groups, left, right)
    assert places.shape == (size, 2)
    assert np.abs(places).max() == pytest.approx(1000)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(size) * 1e9
    assert gaps.min() > 1, "a thousandth of the picture"
    middles = {group: places[of == group].mean(axis=0) for group in set(of.tolist())}
    counted = Counter(of.tolist())
    large = [group for group, number in counted.items() if number >= 20]
    for one, other in combinations(large, 2):
        inside = np.linalg.norm(places[of == one] - middles[one], axis=1)
        assert np.linalg.norm(middles[one] - middles[other]) > 0.8 * inside.max()
    assert np.array_equal(places, places_of(groups, left, right))


def test_without_communities_kinds_stand_together(tmp_path: Path):
    index = Index.open(indexed(tmp_path))
    found = graph_map(index, 30)
    assert {node.community for node in found.nodes} == {""}
    assert len({(node.x, node.y) for node in found.nodes}) == len(found.nodes)
    index.close()
