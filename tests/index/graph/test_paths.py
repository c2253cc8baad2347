"""Shortest paths and beginnings of names, against networkx and brute force."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from ragways.index.graph import paths
from ragways.index.graph.names import fold
from ragways.index.graph.paths import shortest_paths
from ragways.index.pagerank import Adjacency
from tests.index.graph.graph_fakes import graph_of, recipe, run, write
from tests.index.graph.test_graph_reader import CORPUS


def random_graph(seed: int, nodes: int, edges: int) -> tuple[Adjacency, nx.Graph]:
    dice = np.random.default_rng(seed)
    left, right = dice.integers(0, nodes, (2, edges))
    links = Adjacency.of_edges(nodes, left, right, dice.integers(1, 9, edges).astype(np.float64))
    known = nx.Graph()
    known.add_nodes_from(range(nodes))
    for node in range(nodes):
        near, weights = links.neighbours(node)
        known.add_weighted_edges_from(zip([node] * len(near), near.tolist(), weights.tolist(), strict=True))
    return links, known


def weight(graph: nx.Graph, path: tuple[int, ...] | list[int]) -> float:
    return sum(float(graph[one][other]["weight"]) for one, other in itertools.pairwise(path))


@pytest.mark.parametrize("seed", range(12))
def test_all_shortest_paths_heaviest_first(seed: int):
    links, known = random_graph(seed, 40, 30 + 5 * seed)
    for start, end in np.random.default_rng(seed).integers(0, 40, (30, 2)).tolist():
        near = nx.has_path(known, start, end) and nx.shortest_path_length(known, start, end) <= paths.MOST_HOPS
        every = [tuple(path) for path in nx.all_shortest_paths(known, start, end)] if near else []
        wanted = sorted(every, key=lambda path: (-weight(known, path), path))
        assert shortest_paths(links, start, end, limit=1000) == wanted
        assert shortest_paths(links, start, end, limit=3) == wanted[:3]


def test_a_chain_is_followed_to_its_limit_and_no_farther():
    chain = Adjacency.of_edges(12, np.arange(11), np.arange(1, 12), np.ones(11))
    assert shortest_paths(chain, 0, 8) == [tuple(range(9))]
    assert shortest_paths(chain, 0, 9) == []
    assert shortest_paths(chain, 3, 3) == [(3,)]


def test_two_hubs_are_joined_by_the_strongest_of_many(monkeypatch: pytest.MonkeyPatch):
    """Work is bounded: of 5,000 nodes between two hubs, those with the heaviest edges are looked at."""
    middle = np.arange(2, 5002)
    heavy = np.where(middle >= 4990, middle.astype(np.float64), 1.0)
    ends = np.concatenate([np.zeros(5000, dtype=np.int64), np.ones(5000, dtype=np.int64)])
    hubs = Adjacency.of_edges(5002, ends, np.concatenate([middle, middle]), np.concatenate([heavy, heavy]))
    asked: list[int] = []
    ways = paths._Side.ways

    def counted(side: paths._Side, node: int, limit: int) -> list[paths.Way]:
        asked.append(node)
        return ways(side, node, limit)

    monkeypatch.setattr(paths._Side, "ways", counted)
    assert shortest_paths(hubs, 0, 1, limit=3) == [(0, 5001, 1), (0, 5000, 1), (0, 4999, 1)]
    assert len(asked) <= 4 * paths.CANDIDATES


def test_names_that_begin_so(tmp_path):
    run(tmp_path / "index", write(tmp_path / "corpus", CORPUS), recipe(layers="graph vectors"))
    graph = graph_of(tmp_path / "index")
    entities = graph.entities(graph.ids).values()
    for start in ("o", "Tam", "the pier", "sabine oll", "%", "_", ""):
        wanted = [
            (-each.count, each.id)
            for each in entities
            if fold(start) and any(fold(name).startswith(fold(start)) for name in (each.name, *each.aliases))
        ]
        assert graph.beginning(start, 1000) == [id for _, id in sorted(wanted)]
    assert len(graph.beginning("o", 2)) == 2
    graph.close()
