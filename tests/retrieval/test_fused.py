"""`fused`: three lists, bridges, and an order in which all have a say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ragways.core.types import Query
from ragways.index.open import Index
from ragways.retrieval.fused import FUSED as PARADIGM
from ragways.retrieval.knowledge_graph import EntityScores, GraphWalk
from ragways.retrieval.pagerank import linked
from tests.retrieval.graph_corpus import HOPS, TWO, asked, falls, ids, indexed, resources, step


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("fused")))
    yield index
    index.close()


def test_both_hops_come_first_and_say_why(index: Index):
    answer, _ = asked(resources(index), PARADIGM, HOPS)
    first, second = answer.evidence.items[:2]
    assert {first.piece.title, second.piece.title} == {"Ness Light", "Ada Holm"}
    hop = first if first.piece.title == "Ada Holm" else second
    assert any(why.by == "bridge" and why.note == "Ness Light names Ada Holm" for why in hop.found)
    falls(answer)


def test_the_trace_shows_every_list(index: Index):
    answer, trace = asked(resources(index), PARADIGM, TWO)
    for name in ("dense", "words", "linked"):
        assert step(trace, name).details["found"]
    assert [type(each) for each in step(trace, "linked").attachments] == [EntityScores, GraphWalk]
    assert step(trace, "weigh").details["best"]
    assert {why.by for hit in answer.evidence.items for why in hit.found} >= {"dense", "words", "linked", "bridge"}
    falls(answer)


def test_more_is_never_less(index: Index):
    before: list[str] = []
    for k in (1, 2, 5, 50):
        found = ids(asked(resources(index), PARADIGM, HOPS, k=k)[0])
        assert found[: len(before)] == before
        before = found
    assert ids(asked(resources(index), PARADIGM, HOPS, k=50)[0]) == before


def test_a_question_without_names_walks_from_the_nearest_passages(index: Index):
    use = resources(index)
    question = "what is dear in winter?"
    assert index.graph.question_seeds(question) == {}
    hits = asyncio.run(linked(use, k=5)(Query(question)))
    vector = asyncio.run(use.embed_question(question))
    assert hits.items
    assert hits.items[0].piece.id in {id for id, _ in index.vectors.search(vector, 10)}
    falls(asked(use, PARADIGM, question)[0])
