"""Paths and neighbourhoods against networkx."""

from __future__ import annotations

import itertools

import networkx
import numpy as np
import pytest

from ragways.retrieval.tools.link_graph import LinkGraph


@pytest.mark.parametrize("seed", range(5))
def test_as_networkx_finds_them(seed: int):
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, 60, (70, 2)), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    ours = LinkGraph(60, edges)
    directed = networkx.DiGraph(edges.tolist())
    directed.add_nodes_from(range(60))
    either = directed.to_undirected()
    for start in range(60):
        lengths = networkx.single_source_shortest_path_length(either, start, cutoff=6)
        assert ours.within(start, 3) == {n: d for n, d in lengths.items() if 0 < d <= 3}
        out = networkx.single_source_shortest_path_length(directed, start, cutoff=2)
        assert ours.within(start, 2, "out") == {n: d for n, d in out.items() if d}
        for end in range(0, 60, 7):
            path = ours.path(start, end, 6)
            assert (None if path is None else len(path) - 1) == lengths.get(end)
            if path is not None:
                assert path[0] == start
                assert path[-1] == end
                assert all(either.has_edge(a, b) for a, b in itertools.pairwise(path))
                assert path == ours.path(start, end, 6)


def test_a_graph_without_edges():
    empty = LinkGraph(3, np.zeros((0, 2), dtype=np.int64))
    assert empty.path(0, 2, 6) is None
    assert empty.within(1, 3) == {}
