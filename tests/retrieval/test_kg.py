"""`kg` against brute force over the graph's tables."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ragways.core.step import rank_fusion
from ragways.core.types import Query
from ragways.index.open import Index
from ragways.layers.words import terms
from ragways.models.tokens import count_tokens
from ragways.retrieval.knowledge_graph import KG as PARADIGM
from ragways.retrieval.knowledge_graph import edges, look_up
from ragways.retrieval.retrieve import dense
from tests.retrieval.graph_corpus import (
    TWO,
    asked,
    falls,
    ids,
    indexed,
    relations,
    resources,
    stated,
    step,
)

ANSWER = "He rebuilt it. [2]"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("kg")))
    yield index
    index.close()


def brute(index: Index, question: str, names: list[str]) -> list[str]:
    """All relations that touch an entity of one of these names, in the order that the paradigm promises."""
    asked = set(terms(question)) - {term for name in names for term in terms(name)}
    keyed = []
    for row in relations(index):
        ends = (row.subject_name in names) + (row.object_name in names)
        if ends:
            text = f"{row.text} {row.description}"
            keyed.append((-ends, -len(asked & set(terms(text))), -row.weight, row.id))
    return [id for *_, id in sorted(keyed)]


def test_triplets_are_those_of_the_named_entities(index: Index):
    hits = asyncio.run(edges(resources(index), k=500)(Query(TWO)))
    assert [hit.piece.id for hit in hits.items] == brute(index, TWO, ["Bertil Oakes", "Ness Light"])
    assert hits.items[0].found[0].note == "Bertil Oakes by name and Ness Light by name" or (
        hits.items[0].found[0].note == "Ness Light by name and Bertil Oakes by name"
    )


def test_triplets_and_chunks_are_joined_by_rank(index: Index):
    use = resources(index)
    answer, trace = asked(use, PARADIGM, TWO)
    parts = [asyncio.run(edges(use)(Query(TWO))), asyncio.run(dense(use)(Query(TWO)))]
    assert answer.evidence.hits == rank_fusion(parts)
    assert set(ids(answer, "triplet")) | set(ids(answer, "chunk")) == set(ids(answer))
    assert step(trace, "question entities").way == "rule"
    falls(answer)


def test_a_triplet_shows_itself_and_where_it_comes_from(index: Index):
    answer, _ = asked(resources(index), PARADIGM, TWO)
    rows = index.graph.relations(ids(answer, "triplet"))
    chunks = stated(index)
    for piece in (hit.piece for hit in answer.evidence.items if hit.piece.kind == "triplet"):
        row = rows[piece.id]
        date = f" ({row.date})" if row.date else ""
        said = f"{row.subject_name} {row.predicate.replace('_', ' ')} {row.object_name}{date}"
        assert piece.text == (f"{said}: {row.description}" if row.description else said)
        assert piece.tokens == count_tokens(piece.text)
        source = index.pieces([chunks[piece.id][0]])[chunks[piece.id][0]]
        assert (piece.document, piece.start, piece.end, piece.title) == (
            source.document, source.start, source.end, source.title,
        )  # fmt: skip
        assert piece.date == (row.date or source.date)


def test_names_are_looked_up_whole_by_alias_and_by_their_words(index: Index):
    [light] = index.graph.named("Ness Light")
    assert look_up(index.graph, "the Ness light") == [(light, "name")]
    assert (index.graph.named("Osker Viaduct")[0], "full text") in look_up(index.graph, "Viaduct") or (
        index.graph.named("Viaduct") != []
    )
    assert look_up(index.graph, "no such name") == []


def test_without_a_known_name_there_are_the_chunks(index: Index):
    answer, _ = asked(resources(index), PARADIGM, "Is anything sold in winter?")
    assert ids(answer, "chunk")
    assert not ids(answer, "triplet")
