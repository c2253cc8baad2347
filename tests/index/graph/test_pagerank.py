"""PageRank against networkx, and what must hold for any graph."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index import reached
from ragways.index.pagerank import Adjacency, CodedWeights, EdgeList, pagerank
from ragways.index.ragged import Ragged
from ragways.index.reached import push, reach


@st.composite
def graphs(draw) -> tuple[Adjacency, np.ndarray]:
    size = draw(st.integers(1, 30))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node, st.floats(0.1, 5)), max_size=80))
    seeds = draw(st.dictionaries(node, st.floats(0.1, 1), min_size=1))
    start = np.zeros(size)
    start[list(seeds)] = list(seeds.values())
    return _links(size, edges), start


def _links(size: int, edges: list[tuple[int, int, float]]) -> Adjacency:
    left, right, weights = (np.array(column) for column in zip(*edges, strict=True)) if edges else (np.zeros(0),) * 3
    return Adjacency.of_edges(size, left.astype(np.int64), right.astype(np.int64), weights.astype(np.float64))


def _networkx(links: Adjacency, start: np.ndarray, damping: float) -> np.ndarray:
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(links)))
    for node in range(len(links)):
        nodes, weights = links.neighbours(node)
        graph.add_weighted_edges_from((node, int(n), float(w)) for n, w in zip(nodes, weights, strict=True))
    home = {i: float(x) for i, x in enumerate(start)}
    # `_pagerank_python` needs no scipy, which is not among our dependencies.
    from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

    found = _pagerank_python(graph, alpha=damping, personalization=home, tol=1e-12, max_iter=2000)
    return np.array([found[i] for i in range(len(links))])


@settings(max_examples=40, deadline=None)
@given(graphs(), st.floats(0.3, 0.95))
def test_exact_is_what_networkx_says(graph: tuple[Adjacency, np.ndarray], damping: float) -> None:
    links, start = graph
    found = pagerank(links, start, damping=damping, rounds=2000, tolerance=1e-13)
    assert found == pytest.approx(_networkx(links, start, damping), abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_mass_is_one_and_push_comes_near(graph: tuple[Adjacency, np.ndarray]) -> None:
    links, start = graph
    exact, near = pagerank(links, start), push(links, start, epsilon=1e-9)
    assert exact.sum() == pytest.approx(1)
    assert near.sum() == pytest.approx(1)
    assert near == pytest.approx(exact, abs=1e-5)
    assert push(links, start, epsilon=0.5).sum() == pytest.approx(1)


@settings(max_examples=80, deadline=None)
@given(graphs(), st.sampled_from([0.2, 0.02, 1e-4]), st.integers(1, 12), st.data())
def test_the_best_of_what_was_reached_are_the_best_of_all(graph, epsilon: float, count: int, data) -> None:
    links, start = graph
    first = data.draw(st.integers(0, len(links)))
    end = data.draw(st.integers(first, len(links)))
    seeds = np.flatnonzero(start)
    found = reach(links, seeds, start[seeds], epsilon=epsilon)
    dense = found.dense()
    assert dense == pytest.approx(push(links, start, epsilon=epsilon))
    assert dense.sum() == pytest.approx(1)
    assert found.of(np.arange(len(links))).tolist() == dense.tolist()
    nodes, mass = found.best(count, first=first, end=end)
    shares = sorted(dense[first:end].tolist(), reverse=True)[:count]
    assert [share for share in mass.tolist() if share > 0] == [share for share in shares if share > 0]
    assert dense[nodes].tolist() == mass.tolist()
    assert len(set(nodes.tolist())) == len(nodes)
    with links.scratch() as clean:
        assert set(clean.tolist()) <= {-1}, "a walk leaves the scratch as it found it"


@settings(max_examples=30, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_names_of_nodes_do_not_matter(graph: tuple[Adjacency, np.ndarray], random) -> None:
    links, start = graph
    order = list(range(len(links)))
    random.shuffle(order)
    edges = [
        (order[i], order[int(n)], float(w))
        for i in range(len(links))
        for n, w in zip(*links.neighbours(i), strict=True)
        if n > i
    ]
    moved = np.zeros_like(start)
    moved[order] = start
    assert pagerank(_links(len(links), edges), moved)[order] == pytest.approx(pagerank(links, start), abs=1e-7)


def test_alike_nodes_get_alike_mass() -> None:
    star = _links(5, [(0, n, 1.0) for n in range(1, 5)])
    found = pagerank(star, np.array([1.0, 0, 0, 0, 0]))
    assert found[1:] == pytest.approx([found[1]] * 4)


def test_edges_add_up_and_loops_go() -> None:
    links = _links(3, [(0, 1, 1.0), (1, 0, 2.0), (2, 2, 5.0), (0, 2, 0.0)])
    assert [x.tolist() for x in links.neighbours(0)] == [[1], [3.0]]
    assert [x.tolist() for x in links.neighbours(2)] == [[], []]
    assert links.strengths.tolist() == [3.0, 3.0, 0.0]
    assert len(_links(0, [])) == 0
    assert pagerank(_links(0, []), np.zeros(0)).tolist() == []


def test_without_seeds_every_node_is_one() -> None:
    assert pagerank(_links(4, []), np.zeros(4)).tolist() == [0.25] * 4


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rows_in_any_place_and_numbers_in_any_order_change_nothing(data: st.DataObject) -> None:
    """To the last bit: the nodes are numbered anew, with gaps, and their rows lie anywhere; ranks tell the order."""
    size = data.draw(st.integers(2, 12))
    node = st.integers(0, size - 1)
    edges = data.draw(st.lists(st.tuples(node, node, st.sampled_from([0.3, 1.0, 2.7])), min_size=1, max_size=30))
    links = _links(size, edges)
    number = np.array(data.draw(st.permutations(range(size + 4))))[:size].astype(np.int64)
    rank = np.zeros(size + 4, dtype=np.int64)
    rank[number] = np.arange(size)
    begins, counts = np.zeros(size + 4, dtype=np.int64), np.zeros(size + 4, dtype=np.int32)
    strengths = np.zeros(size + 4)
    indices, weights = [np.zeros(3, np.int32)], [np.zeros(3, np.float32)]
    for each in data.draw(st.permutations(range(size))):
        near, heavy = links.neighbours(each)
        begins[number[each]], counts[number[each]] = sum(map(len, indices)), len(near)
        strengths[number[each]] = links.strengths[each]
        indices, weights = [*indices, number[near].astype(np.int32)], [*weights, heavy.astype(np.float32)]
    moved = Ragged(begins, begins + counts, {"nodes": np.concatenate(indices), "weights": np.concatenate(weights)})
    values, codes = np.unique(moved["weights"], return_inverse=True)
    coded = CodedWeights(codes.astype(np.uint8), values) if data.draw(st.booleans()) else moved["weights"]
    other = Adjacency.of_rows(moved, coded, strengths, lambda nodes: rank[nodes])
    seeds = np.array(data.draw(st.lists(node, min_size=1, max_size=3, unique=True)), dtype=np.int64)
    start = np.arange(1.0, len(seeds) + 1) / 7
    one, two = reach(links, seeds, start), reach(other, number[seeds], start)
    every = np.arange(size)
    assert one.of(every).tolist() == two.of(number).tolist()
    best, mass = one.best(5)
    assert [number[best].tolist(), mass.tolist()] == [part.tolist() for part in two.best(5)]
    whole = other.only(number)
    assert [np.asarray(part).tolist() for part in (whole.indptr, whole.indices, whole.weights)] == [
        np.asarray(part).tolist() for part in (links.indptr, links.indices, links.weights)
    ]


def test_a_hub_does_not_mislead_the_push() -> None:
    """Node 0 touches all others. The hub and the three friends come first, in the order of the exact PageRank, and
    nobody of the hub's crowd comes near them."""
    size = 20_001
    edges = [(0, n, 1.0) for n in range(1, size)] + [(1, 2, 1.0), (2, 3, 1.0), (1, 3, 1.0)]
    links = _links(size, edges)
    start = np.zeros(size)
    start[[1, 2]] = 1
    pushed, exact = push(links, start), pagerank(links, start)
    best = np.argsort(-pushed, kind="stable")[:4].tolist()
    assert best == np.argsort(-exact, kind="stable")[:4].tolist()
    assert set(best) == {0, 1, 2, 3}
    assert pushed[4:].max() < pushed[3] / 100


@st.composite
def hub_graphs(draw) -> tuple[Adjacency, np.ndarray]:
    """A few nodes are joined to many of the others."""
    size, random = draw(st.integers(10, 200)), np.random.default_rng(draw(st.integers(0, 10_000)))
    ends = list(random.integers(0, size, (2, draw(st.integers(5, 400)))))
    for hub in range(draw(st.integers(1, 5))):
        crowd = random.integers(0, size, draw(st.integers(1, size)))
        ends = [np.append(ends[0], np.full(len(crowd), hub)), np.append(ends[1], crowd)]
    links = Adjacency.of_edges(size, ends[0], ends[1], random.choice([0.5, 1.0, 5.0], len(ends[0])))
    start = np.zeros(size)
    start[random.integers(0, size, draw(st.integers(1, 3)))] = random.random() + 0.1
    return links, start


@settings(max_examples=60, deadline=None)
@given(hub_graphs(), st.sampled_from([0.5, 0.7, 0.85]), st.sampled_from([1e-2, 1e-3, 1e-4]))
def test_no_share_is_further_off_than_epsilon_allows(graph, damping: float, epsilon: float) -> None:
    """As far as the solver goes to the end, which it need not in practice. Where nodes that are left out have no more
    than b for a unit of strength, what they would have given on is no more than d·b of each node's strength.
    """
    links, start = graph
    if links.strength == 0:
        return
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reached, "_steps", lambda damping, epsilon: 200)
        patched.setattr(reached, "_MANY", 4)
        near = push(links, start, damping=damping, epsilon=epsilon)
    exact = _dense(links, start, damping)
    left_out = epsilon / links.weights.min() * (0.1 + 1 / (1 - damping))
    joined = links.strengths > 0
    assert (np.abs(near - exact)[joined] <= damping * left_out * links.strengths[joined] + 1e-9).all()


def _dense(links: Adjacency, start: np.ndarray, damping: float) -> np.ndarray:
    """π by solving the equation itself, with all nodes."""
    matrix = np.zeros((len(links), len(links)))
    for node in range(len(links)):
        nodes, weights = links.neighbours(node)
        matrix[nodes, node] = weights / weights.sum(dtype=np.float64)
    home = start / start.sum()
    matrix[:, links.strengths == 0] = home[:, None]
    return np.linalg.solve(np.eye(len(links)) - damping * matrix, (1 - damping) * home)


def test_edges_of_a_hub_that_is_reached_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Node 0 has four times the edges, and as many are looked at; it keeps its share, and the nearest come first."""
    asked: list[int] = []
    edges = Adjacency.edges

    def counted(self: Adjacency, nodes: np.ndarray) -> EdgeList:
        asked.append(int(self.counts_of(nodes).sum()))
        return edges(self, nodes)

    monkeypatch.setattr(Adjacency, "edges", counted)
    looked_at, shares = [], []
    for crowd in (100_000, 400_000):
        chain = np.arange(2, 100)
        left = np.concatenate([chain - 1, [2], np.zeros(crowd, dtype=np.int64)])
        right = np.concatenate([chain, [0], np.arange(100, 100 + crowd)])
        links = Adjacency.of_edges(crowd + 100, left, right, np.ones(len(left)))
        asked.clear()
        found = reach(links, np.array([1]), np.ones(1), epsilon=5e-5)
        looked_at.append(sum(asked))
        shares.append(found.of(np.arange(4)).tolist())
        assert set(found.best(4)[0].tolist()) == {0, 1, 2, 3}
    assert looked_at[0] == looked_at[1] < 1000
    assert shares[0] == pytest.approx(shares[1], rel=1e-3)
