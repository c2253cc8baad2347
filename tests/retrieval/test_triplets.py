"""Lists that are merged in turn, budgets, dates, names looked up by their words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.types import Hit, Piece, Query
from ragways.index.build import remove
from ragways.index.open import Index
from ragways.retrieval.fused import FUSED
from ragways.retrieval.knowledge_graph import (
    KG,
    Likeness,
    by_date,
    cut,
    entity_pieces,
    interleaved,
    triplet_pieces,
)
from ragways.retrieval.light import LIGHT
from ragways.retrieval.pagerank import FAST_GRAPH, GRAPH_PPR, HYBRID
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.retrieve import pack
from ragways.retrieval.rounds import ITERATIVE, RECURSIVE
from tests.fakes import WordHashes
from tests.retrieval.graph_corpus import TWO, asked, every_entity, indexed, resources, similarities


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("triplets")))
    yield index
    index.close()


def hit(id: str, tokens: int) -> Hit:
    return Hit(Piece(id, "triplet", "", "article:1", "", 0, 0, tokens), 1.0)


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 200))
def test_a_cut_is_what_pack_keeps(index: Index, sizes: list[int], tokens: int):
    hits = interleaved(Query("q"), [[hit(f"{n:03}", size) for n, size in enumerate(sizes)]])
    assert tuple(cut(hits.items, tokens)) == asyncio.run(pack(resources(index), tokens)(hits)).items


def test_dated_triplets_come_first_for_a_question_about_time_and_only_then(index: Index):
    rows = index.graph.triplets(index.graph.named("Ness Light"))
    dates = [t.date for t in by_date("When?", rows, lambda t: t)]
    assert dates == sorted(dates, key=lambda date: (not date, date))
    assert by_date("Who?", rows, lambda t: t) == rows


def test_long_descriptions_are_cut_at_a_word(index: Index):
    rows = index.graph.triplets(index.graph.named("Ness Light"))
    long = [t for t in rows if len(t.description) > 40]
    assert long
    pieces = triplet_pieces(use := resources(index), long, described=30)
    for row in long:
        said = pieces[row.id].text.split(": ", 1)[1]
        assert said.endswith(" …")
        assert row.description.startswith(said.removesuffix(" …"))
        assert len(said) <= 32
    assert all(": " not in piece.text for piece in triplet_pieces(use, long, described=0).values())


def test_an_entity_of_which_nothing_is_known_is_no_evidence(index: Index):
    known = index.graph.entities(every_entity(index))
    pieces = entity_pieces(resources(index), known.values())
    plain = {id: row for id, row in known.items() if row.type not in ("date", "quantity")}
    assert 0 < len(plain) < len(known)
    assert set(pieces) == {id for id, row in plain.items() if row.type or row.description}
    assert all(index.document(piece.document) is not None for piece in pieces.values())


def test_likeness_is_the_best_cosine_and_one_for_the_name_itself(index: Index):
    names = ("Gull Rock", "tower on the rock")
    alike = Likeness(index.graph, names, asyncio.run(WordHashes().embed(names)))
    expected = similarities(index, names)
    found = alike.of(every_entity(index))
    assert found == pytest.approx({id: max(0.0, expected.get(id, 0.0)) for id in found}, abs=1e-5)
    assert found[index.graph.named("Gull Rock")[0]] == 1.0
    nearest = alike.nearest(5, 0.3)
    assert dict(nearest) == pytest.approx({id: expected[id] for id, _ in nearest}, abs=1e-5)


@pytest.fixture(scope="module")
def removed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, str]]:
    """An index from which the article on Bertil Oakes went, and that article's id."""
    folder: Path = indexed(tmp_path_factory.mktemp("removed"))
    index = Index.open(folder)
    [gone] = [id for id, _, title in index.documents() if title == "Bertil Oakes"]
    index.close()
    asyncio.run(remove(folder, ["Bertil Oakes"]))
    index = Index.open(folder)
    yield index, gone
    index.close()


@pytest.mark.parametrize(
    "module", [KG, GRAPH_PPR, HYBRID, ITERATIVE, LIGHT, FAST_GRAPH, FUSED], ids=lambda module: module.name
)
def test_a_removed_document_is_evidence_no_more(removed: tuple[Index, str], module):
    index, gone = removed
    paradigm: Paradigm = module
    answer, _ = asked(resources(index), paradigm, TWO)
    assert answer.evidence.items
    assert all(hit.piece.document != gone for hit in answer.evidence.hits.items)


def test_an_index_of_nothing_is_answered_with_an_abstention(tmp_path: Path):
    index = Index.open(indexed(tmp_path, {"empty.md": "# \n"}))
    for module in (RECURSIVE, KG, GRAPH_PPR, HYBRID, ITERATIVE, LIGHT, FAST_GRAPH):
        assert asked(resources(index), module, TWO)[0].abstained
    index.close()
