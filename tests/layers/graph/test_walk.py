"""PageRank and shortest paths, against networkx, the equation itself, and brute force."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.layers.graph import walk
from ragways.layers.graph.walk import Adjacency, pagerank, reach, shortest_paths


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Adjacency, np.ndarray]:
    size = draw(st.integers(1, 30))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node, st.floats(0.1, 5)), max_size=80))
    seeds = draw(st.dictionaries(node, st.floats(0.1, 1), min_size=1))
    start = np.zeros(size)
    start[list(seeds)] = list(seeds.values())
    return links_of(size, edges), start


def links_of(size: int, edges: list[tuple[int, int, float]]) -> Adjacency:
    left, right, weights = (np.array(column) for column in zip(*edges, strict=True)) if edges else (np.zeros(0),) * 3
    return Adjacency.of_edges(size, left.astype(np.int64), right.astype(np.int64), weights.astype(np.float64))


def networkx_of(links: Adjacency) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(links)))
    for node in range(len(links)):
        nodes, weights = links.neighbours(node)
        graph.add_weighted_edges_from((node, int(n), float(w)) for n, w in zip(nodes, weights, strict=True))
    return graph


@settings(max_examples=40)
@given(graphs(), st.floats(0.3, 0.95))
def test_exact_is_what_networkx_has(graph: tuple[Adjacency, np.ndarray], damping: float) -> None:
    # `_pagerank_python` needs no scipy, which is not among our dependencies.
    from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

    links, start = graph
    home = {node: float(share) for node, share in enumerate(start)}
    known = _pagerank_python(networkx_of(links), alpha=damping, personalization=home, tol=1e-12, max_iter=2000)
    found = pagerank(links, start, damping=damping, rounds=2000, tolerance=1e-13)
    assert found == pytest.approx([known[node] for node in range(len(links))], abs=1e-8)


@settings(max_examples=60)
@given(graphs(), st.sampled_from([0.2, 0.02, 1e-4, 1e-9]), st.integers(1, 12), st.data())
def test_what_is_reached_comes_near_and_its_best_are_the_best_of_all(graph, epsilon: float, count: int, data) -> None:
    links, start = graph
    first = data.draw(st.integers(0, len(links)))
    end = data.draw(st.integers(first, len(links)))
    found = reach(links, {int(node): float(start[node]) for node in np.flatnonzero(start)}, epsilon=epsilon)
    dense = found.of(np.arange(len(links)))
    assert dense.sum() == pytest.approx(1)
    if epsilon == 1e-9:
        assert dense == pytest.approx(pagerank(links, start), abs=1e-5)
    nodes, mass = found.best(count, first=first, end=end)
    shares = sorted(dense[first:end].tolist(), reverse=True)[:count]
    assert [share for share in mass.tolist() if share > 0] == [share for share in shares if share > 0]
    assert dense[nodes].tolist() == mass.tolist()
    with links.scratch() as clean:
        assert set(clean.tolist()) <= {-1}, "a walk leaves the scratch as it found it"


def test_edges_add_up_loops_go_and_without_seeds_every_node_is_one() -> None:
    links = links_of(3, [(0, 1, 1.0), (1, 0, 2.0), (2, 2, 5.0), (0, 2, 0.0)])
    assert [part.tolist() for part in links.neighbours(0)] == [[1], [3.0]]
    assert [part.tolist() for part in links.neighbours(2)] == [[], []]
    assert links.strengths.tolist() == [3.0, 3.0, 0.0]
    assert pagerank(links_of(0, []), np.zeros(0)).tolist() == []
    assert pagerank(links_of(4, []), np.zeros(4)).tolist() == [0.25] * 4


def test_a_hub_does_not_mislead_and_its_edges_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Node 0 touches a crowd and three friends. The friends come first, and of the crowd as much is looked at however
    large it is.
    """
    asked: list[int] = []
    edges = Adjacency.edges

    def counted(self: Adjacency, nodes: np.ndarray) -> walk.EdgeList:
        asked.append(int(self.counts_of(nodes).sum()))
        return edges(self, nodes)

    looked_at = []
    for crowd in (25_000, 100_000):
        left = np.concatenate([[1, 2, 1], np.zeros(crowd + 3, dtype=np.int64)])
        right = np.concatenate([[2, 3, 3], np.arange(1, crowd + 4)])
        links = Adjacency.of_edges(crowd + 4, left, right, np.ones(len(left)))
        start = np.zeros(len(links))
        start[[1, 2]] = 1
        pushed = reach(links, {1: 1.0, 2: 1.0}).of(np.arange(len(links)))
        best = np.argsort(-pushed, kind="stable")[:4]
        assert best.tolist() == np.argsort(-pagerank(links, start), kind="stable")[:4].tolist()
        assert set(best.tolist()) == {0, 1, 2, 3}
        assert pushed[4:].max() < pushed[3] / 100
        chain = np.arange(5, 100)
        far = Adjacency.of_edges(
            crowd + 100, np.append(chain, np.zeros(crowd, np.int64)),
            np.concatenate([chain[1:], [0], np.arange(100, crowd + 100)]), np.ones(len(chain) + crowd),
        )  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(Adjacency, "edges", counted)
            asked.clear()
            reach(far, {97: 1.0}, epsilon=5e-5)
        looked_at.append(sum(asked))
    assert looked_at[0] == looked_at[1] < 1000


@pytest.mark.parametrize("seed", range(8))
def test_all_shortest_paths_heaviest_first(seed: int) -> None:
    dice = np.random.default_rng(seed)
    left, right = dice.integers(0, 40, (2, 30 + 7 * seed))
    links = Adjacency.of_edges(40, left, right, dice.integers(1, 9, len(left)).astype(np.float64))
    known = networkx_of(links)

    def weight(path: tuple[int, ...]) -> float:
        return sum(float(known[one][other]["weight"]) for one, other in itertools.pairwise(path))

    for start, end in dice.integers(0, 40, (30, 2)).tolist():
        near = nx.has_path(known, start, end) and nx.shortest_path_length(known, start, end) <= walk.MOST_HOPS
        every = [tuple(path) for path in nx.all_shortest_paths(known, start, end)] if near else []
        wanted = sorted(every, key=lambda path: (-weight(path), path))
        assert shortest_paths(links, start, end, limit=1000) == wanted
        assert shortest_paths(links, start, end, limit=3) == wanted[:3]
