"""`hybrid` is the rank fusion of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ragways.core.step import rank_fusion
from ragways.core.types import Query
from ragways.index.open import Index
from ragways.retrieval.pagerank import HYBRID as PARADIGM
from ragways.retrieval.pagerank import by_pagerank
from ragways.retrieval.retrieve import dense
from tests.retrieval.graph_corpus import TWO, asked, falls, indexed, resources

ANSWER = "He rebuilt it. [1]"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("hybrid")))
    yield index
    index.close()


def test_it_is_the_rank_fusion_of_naive_and_graph(index: Index):
    use = resources(index)
    answer, _ = asked(use, PARADIGM, TWO, minimum=0.1)
    naive = asyncio.run(dense(use, k=100, minimum=0.1)(Query(TWO)))
    graph = asyncio.run(by_pagerank(use, minimum=0.1)(Query(TWO)))
    assert naive.items
    assert graph.items
    assert answer.evidence.hits == rank_fusion([naive, graph]) == rank_fusion([graph, naive])
    scores: dict[str, float] = {}
    for part in (naive, graph):
        for rank, hit in enumerate(part.items, start=1):
            scores[hit.piece.id] = scores.get(hit.piece.id, 0.0) + 1 / (60 + rank)
    assert {hit.piece.id: hit.score for hit in answer.evidence.hits.items} == pytest.approx(scores)
    falls(answer)


def test_with_a_model_its_entities_are_the_seeds(index: Index):
    use = resources(index, [{"entities": ["Thea Brandell"]}, ANSWER])
    answer, _ = asked(use, PARADIGM, TWO)
    assert answer.way == "model scripted"
    assert any("Thea Brandell" in found.note for hit in answer.evidence.items for found in hit.found)
