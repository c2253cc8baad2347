"""Bridges: where they lead, which comes first, and what joins nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.core.types import Piece
from ragways.index.open import Index
from ragways.retrieval.fused import SHARED, Cover, bridges
from tests.retrieval.graph_corpus import HOPS, TEXTS, indexed, mentions


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("bridge")))
    yield index
    index.close()


def pieces(index: Index) -> dict[str, Piece]:
    """All passages, by title: each text of the corpus is one."""
    return {piece.title: piece for piece in index.pieces(index.graph.chunk_ids()).values()}


def cover(index: Index, question: str) -> Cover:
    return Cover(question, [piece.text for piece in pieces(index).values()])


def test_the_name_beside_words_of_the_question_comes_first(index: Index):
    known = pieces(index)
    found = [b for b in bridges(index.graph, cover(index, HOPS), [known["Ness Light"]]) if b.own]
    first = min(found, key=lambda bridge: bridge.place)
    assert (first.entity, first.target, first.place) == ("Ada Holm", known["Ada Holm"].id, 0)
    asked = cover(index, "Who rebuilt it?")
    other = min((b for b in bridges(index.graph, asked, [known["Ness Light"]]) if b.own), key=lambda b: b.place)
    assert other.entity == "Bertil Oakes"


def test_every_bridge_stands_on_two_mentions(index: Index):
    """Both ends name the entity, and `own` is a passage that bears its name."""
    known = pieces(index)
    names = {id: entity.name for id, entity in index.graph.entities({id for id, _ in mentions(index)}).items()}
    titles = {piece.id: title for title, piece in known.items()}
    about = {(names[id], chunk): names[id] == titles[chunk] for id, chunk in mentions(index)}
    found = bridges(index.graph, cover(index, HOPS), list(known.values()))
    assert found
    for bridge in found:
        assert bridge.source != bridge.target
        assert about[bridge.entity, bridge.source] is False
        assert about[bridge.entity, bridge.target] is bridge.own


def test_places_count_the_articles_a_passage_leads_to(index: Index):
    known = pieces(index)
    for piece in known.values():
        places: dict[str, int] = {b.entity: b.place for b in bridges(index.graph, cover(index, HOPS), [piece]) if b.own}
        assert sorted(places.values()) == list(range(len(places)))


def test_what_everything_names_joins_only_its_own_article(tmp_path: Path):
    many = {f"shop-{n}.md": f"# Shop {n}x\n\nThe keeper of Shop {n}x came from Skelwick." for n in range(SHARED + 1)}
    for texts, joined in (({**TEXTS, **many}, False), (TEXTS, True)):
        index = Index.open(indexed(tmp_path / str(joined), texts))
        known = pieces(index)
        found = bridges(index.graph, cover(index, HOPS), [known["Bertil Oakes"]])
        assert any(bridge.entity == "Skelwick" for bridge in found) is joined
        assert any(bridge.entity == "Osker Viaduct" and bridge.own for bridge in found)
        index.close()


def test_a_passage_that_the_graph_does_not_know_leads_nowhere(index: Index):
    stranger = Piece("article:1:s0:p0:c0", "chunk", "Ada Holm", "article:1", "", 0, 8, 2)
    assert bridges(index.graph, cover(index, HOPS), [stranger]) == []
