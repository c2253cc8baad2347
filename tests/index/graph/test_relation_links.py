"""Entities joined by relations: the same graph as one that is made of all relations at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.graph.relation_links import RelationLinks
from ragways.index.graph.relations import RelationArrays
from ragways.index.pagerank import Adjacency
from ragways.index.ragged import Ragged, ragged
from ragways.index.reached import reach
from ragways.index.row_keys import Ranks, RowKeys
from ragways.pictures.graph_map import _most

Relation = tuple[int, int, float]
SIZE = 9
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 2.5])  # a model may weigh a relation with nothing
RELATIONS = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), WEIGHTS), max_size=40)


def links_of(relations: list[Relation], ranks: Ranks | None = None) -> RelationLinks:
    """As the arrays have them: the rows of an entity in the order of the other ends."""
    table = np.array(relations, dtype=np.float64).reshape(-1, 3)
    subjects, objects = table[:, 0].astype(np.int32), table[:, 1].astype(np.int32)

    def rows(owners: np.ndarray, others: np.ndarray) -> Ragged:
        order = np.lexsort((others, owners))
        return ragged(np.bincount(owners, minlength=SIZE), relations=order.astype(np.int32))

    count = len(relations)
    keys = RowKeys(np.arange(count, dtype=np.uint64), np.ones(count, np.bool_), count, count)
    stating = ragged(np.zeros(count, np.int64), chunks=np.zeros(0, np.int32))
    both = rows(subjects, objects), rows(objects, subjects)
    return RelationLinks(RelationArrays(keys, subjects, objects, table[:, 2], *both, stating, None, ranks))


def reference(relations: list[Relation]) -> Adjacency:
    left, right, weights = np.array(relations, dtype=np.float64).reshape(-1, 3).T
    return Adjacency.of_edges(SIZE, left.astype(np.int64), right.astype(np.int64), weights)


@settings(max_examples=200, deadline=None)
@given(RELATIONS)
def test_it_is_the_graph_of_all_relations(relations: list[Relation]) -> None:
    links, whole = links_of(relations), reference(relations)
    every = np.arange(SIZE)
    assert len(links) == len(whole)
    assert [part.tolist() for part in links.merged(every)] == [part.tolist() for part in whole.merged(every)]
    assert links.strengths.tolist() == whole.strengths.tolist()
    assert links.degrees_of(every).tolist() == whole.degrees.tolist()
    for node in range(SIZE):
        assert [part.tolist() for part in links.neighbours(node)] == [part.tolist() for part in whole.neighbours(node)]
    made, even = links.compact(), links.unweighted
    assert made.indices.tolist() == even.indices.tolist() == whole.indices.tolist()
    assert np.asarray(made.weights).tolist() == np.asarray(whole.weights).tolist()
    assert np.asarray(even.weights).tolist() == [1.0] * len(whole.indices)
    owners, targets, weights = links.edges(every)
    assert np.bincount(owners, minlength=SIZE).tolist() == links.counts_of(every).tolist()
    assert np.bincount(owners, weights, SIZE).tolist() == whole.strengths.tolist()
    assert not weights[owners == targets].any()


@settings(max_examples=100, deadline=None)
@given(RELATIONS, st.integers(1, SIZE - 1))
def test_edges_go_by_the_ranks_of_entities_that_came_later(relations: list[Relation], written: int) -> None:
    """The ids of those that were written are even, and of those that came since odd: they stand in between."""
    ids = np.concatenate([2 * np.arange(written), 2 * np.arange(SIZE - written) + 1]).astype(np.uint64)
    ranks = Ranks.of(ids[:written], ids[written:])
    found = links_of(relations, ranks).merged(np.arange(SIZE))
    whole = reference(relations).merged(np.arange(SIZE))
    expected = sorted(zip(whole.owners.tolist(), ids[whole.targets].tolist(), whole.weights.tolist(), strict=True))
    assert (
        list(zip(found.owners.tolist(), ids[found.targets].tolist(), found.weights.tolist(), strict=True)) == expected
    )


@settings(max_examples=200, deadline=None)
@given(RELATIONS, st.integers(1, SIZE))
def test_best_connected_nodes_are_those_with_the_most_neighbours(relations: list[Relation], count: int) -> None:
    whole = reference(relations)
    expected = sorted((-degree, node) for node, degree in enumerate(whole.degrees.tolist()) if degree)[:count]
    nodes, degrees = _most(links_of(relations), count)
    assert list(zip((-degrees).tolist(), nodes.tolist(), strict=True)) == expected


@settings(max_examples=100, deadline=None)
@given(RELATIONS.filter(bool), st.sets(st.integers(0, SIZE - 1), min_size=1, max_size=3))
def test_a_walk_reaches_what_it_reaches_in_the_graph_of_all_relations(
    relations: list[Relation], seeds: set[int]
) -> None:
    first = np.array(sorted(seeds), dtype=np.int64)
    found = [reach(links, first, np.ones(len(first))).dense() for links in (links_of(relations), reference(relations))]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
