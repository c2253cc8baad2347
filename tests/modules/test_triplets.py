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
from ragways.index.reader import Index
from ragways.modules.bonds import Bonds, naming
from ragways.modules.link import Likeness, matching
from ragways.modules.refine import pack
from ragways.modules.triplets import by_date, cut, entity_pieces, in_turn, interleaved, temporal, triplet_pieces
from ragways.paradigms import fast_graph, graph_ppr, hybrid, iterative, kg, light, recursive
from ragways.paradigms.paradigm import Paradigm
from tests.fakes import WordHashes
from tests.paradigms.graph_corpus import TWO, asked, indexed, resources, similarities


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("triplets")))
    yield index
    index.close()


def hit(id: str, tokens: int) -> Hit:
    return Hit(Piece(id, "triplet", "", "article:1", "", 0, 0, tokens), 1.0)


@given(st.lists(st.lists(st.integers(), max_size=6), max_size=5))
def test_in_turn_keeps_everything_and_the_order_of_each_list(lists: list[list[int]]):
    marked = [[(n, at, item) for at, item in enumerate(some)] for n, some in enumerate(lists)]
    merged = in_turn(marked)
    assert sorted(merged) == sorted(item for some in marked for item in some)
    assert merged == sorted(merged, key=lambda item: (item[1], item[0]))


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 200))
def test_a_cut_is_what_pack_keeps(sizes: list[int], tokens: int):
    hits = interleaved(Query("q"), [[hit(f"{n:03}", size) for n, size in enumerate(sizes)]])
    assert tuple(cut(hits.items, tokens)) == asyncio.run(pack(tokens)(hits)).items


def test_questions_about_time():
    assert temporal("When was it built?")
    assert temporal("What happened before the war?")
    assert temporal("Who ruled in 1741?")
    assert not temporal("Who designed the Ness Light?")


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
    known = index.graph.entities(index.graph.ids)
    pieces = entity_pieces(resources(index), known.values())
    plain = {id: row for id, row in known.items() if row.type not in ("date", "quantity")}
    assert 0 < len(plain) < len(known)
    assert set(pieces) == {id for id, row in plain.items() if row.type or row.description}
    assert all(index.document(piece.document) is not None for piece in pieces.values())


def test_names_are_found_by_their_words_shortest_first(index: Index):
    found = matching(index.graph, "Osker")
    assert {index.graph.entities([id])[id].name for id, _ in found} >= {"Osker Viaduct", "River Osker"}
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert matching(index.graph, "Osker Nowhere") == []
    assert matching(index.graph, "?!") == []


def test_likeness_is_the_best_cosine_and_one_for_the_name_itself(index: Index):
    names = ("Gull Rock", "tower on the rock")
    alike = Likeness(index.graph, names, asyncio.run(WordHashes().embed(names)))
    expected = similarities(index, names)
    found = alike.of(index.graph.ids)
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


@pytest.mark.parametrize("module", [kg, hybrid, iterative, light, fast_graph], ids=lambda module: module.PARADIGM.name)
def test_a_removed_document_is_evidence_no_more(removed: tuple[Index, str], module):
    index, gone = removed
    paradigm: Paradigm = module.PARADIGM
    answer, _ = asked(resources(index), paradigm, TWO)
    assert answer.evidence.items
    assert all(hit.piece.document != gone for hit in answer.evidence.hits.items)


def test_an_index_of_nothing_is_answered_with_an_abstention(tmp_path: Path):
    index = Index.open(indexed(tmp_path, {"empty.md": "# \n"}))
    for module in (recursive, kg, graph_ppr, hybrid, iterative, light, fast_graph):
        assert asked(resources(index), module.PARADIGM, TWO)[0].abstained
    index.close()


def test_bonds_are_the_relations_that_the_graph_reads(index: Index):
    bonds, graph = Bonds.of(index.graph), index.graph
    assert Bonds.of(graph) is bonds
    for ids in ([], graph.named("Ness Light"), list(graph.ids[:12]), list(graph.ids)):
        for limit in (3, 10_000):
            assert [b.id for b in bonds.touching(ids, limit)] == [t.id for t in graph.triplets(ids, limit)]
            assert [b.id for b in bonds.between(ids, limit)] == [t.id for t in graph.induced(ids, limit)]
    every = bonds.between(graph.ids, 10_000)
    assert {b.id: list(b.chunks) for b in every} == graph.relation_chunks([b.id for b in every])
    rows = graph.relations([b.id for b in every])
    assert all(
        (b.subject, b.object, b.weight) == (rows[b.id].subject, rows[b.id].object, rows[b.id].weight) for b in every
    )


def test_the_chunks_that_name_an_entity(index: Index):
    for id in index.graph.named("Bertil Oakes"):
        assert set(naming(index.graph, id, 100)) == {chunk for chunk, _ in index.graph.mentions([id])}
        [first] = naming(index.graph, id, 1)
        assert index.pieces([first])[first].title == "Bertil Oakes"
