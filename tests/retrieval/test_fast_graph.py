"""`fast-graph`: scores of entities, relations and chunks, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragways.index.open import Index
from ragways.retrieval.knowledge_graph import KG
from ragways.retrieval.light import LIGHT
from ragways.retrieval.pagerank import FAST_GRAPH as PARADIGM
from ragways.retrieval.paradigm import Paradigm
from tests.retrieval.graph_corpus import (
    TWO,
    asked,
    falls,
    ids,
    indexed,
    relations,
    resources,
    similarities,
    stated,
)
from tests.retrieval.test_graph_ppr import networkx_pagerank

NAMES = ["Bertil Oakes", "Ness Light"]
ANSWER = "He rebuilt it. [1]"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("fast")))
    yield index
    index.close()


def best(scores: dict[str, float], k: int) -> list[str]:
    return sorted(scores, key=lambda id: (-round(scores[id], 8), id))[:k]


def test_relations_score_by_their_ends_and_chunks_by_their_relations(index: Index):
    use = resources(index, [{"entities": NAMES}, ANSWER])
    answer, _ = asked(use, PARADIGM, TWO, near=2, minimum=0.99)
    seeds = {id: score for id, score in similarities(index, NAMES).items() if score > 0.99}
    assert len(seeds) == 2
    mass = networkx_pagerank(index, seeds)
    kept = set(best({id: share for id, share in mass.items() if share >= 1e-5}, 100)) | set(seeds)
    of_relations = {
        row.id: mass[row.subject] + mass[row.object] for row in relations(index) if {row.subject, row.object} <= kept
    }
    of_chunks: dict[str, float] = {}
    for relation, chunks in stated(index).items():
        for chunk in chunks if relation in of_relations else ():
            of_chunks[chunk] = of_chunks.get(chunk, 0.0) + of_relations[relation]
    assert ids(answer, "triplet") == best(of_relations, 12)
    assert ids(answer, "chunk") == best(of_chunks, 4)
    known = index.graph.entities(best(mass, 8))
    assert ids(answer, "entity") == [
        id for id in best(mass, 8)
        if (known[id].type or known[id].description) and known[id].type not in ("date", "quantity")
    ]  # fmt: skip
    own = {hit.piece.id: hit.found[0].score for hit in answer.evidence.items}
    assert own == pytest.approx({id: {**mass, **of_relations, **of_chunks}[id] for id in own}, abs=1e-7)
    falls(answer)


@pytest.mark.parametrize("other", [KG, LIGHT], ids=lambda paradigm: paradigm.name)
def test_it_costs_fewer_tokens_than_the_others_that_show_triplets(index: Index, other: Paradigm):
    tokens = [asked(resources(index), paradigm, TWO)[0].evidence.tokens for paradigm in (PARADIGM, other)]
    assert tokens[0] < tokens[1]
