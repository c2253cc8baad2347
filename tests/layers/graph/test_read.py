"""What a graph answers is what the plain one of the same documents has."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.layers.graph.fold import Entries
from ragways.layers.graph.read import StoredGraph
from ragways.layers.graph.resolve import Merging, RowColumns
from tests.layers.graph.made_documents import MadeDocument, Mention, documents, store_of
from tests.layers.graph.reference_graph import make_graph
from tests.layers.graph.test_fold import APART, KEYS, common


def graph_of(made: Mapping[str, MadeDocument], merging: Merging | None = None) -> StoredGraph:
    store = store_of(made)
    return StoredGraph(Entries.make(RowColumns.read(store, None, common), merging or Merging()).graph(), store)


def ids_of(graph: StoredGraph) -> list[str]:
    return [graph.entity_at(number) for number in range(graph.counts()["entities"])]


@settings(max_examples=80)
@given(st.dictionaries(st.sampled_from(KEYS), documents), st.sampled_from((Merging(), APART)), st.data())
def test_it_is_the_plain_one(made, merging, data) -> None:
    graph, plain = graph_of(made, merging), make_graph(made, merging.apart)
    ids = ids_of(graph)
    assert sorted(plain.mentions) == ids == sorted(ids)
    triplets = graph.triplets(ids, 999)
    assert {(t.subject, t.predicate, t.object): t.weight for t in triplets} == {
        ends: sum(chunks.values()) / 1e6 for ends, chunks in plain.relations.items()
    }
    stating = graph.relation_chunks([t.id for t in triplets])
    for t in triplets:
        assert sorted(stating[t.id]) == sorted(plain.relations[t.subject, t.predicate, t.object])
    for id, entity in graph.entities(ids).items():
        assert dict(graph.mentions([id], 999)) == plain.mentions[id]
        assert (entity.count, entity.chunks) == (plain.mentions[id].total(), len(plain.mentions[id]))
        assert {entity.name, *entity.aliases} >= set(plain.spellings[id])
        assert all(id in graph.named(spelling) for spelling in plain.spellings[id])
        assert dict(graph.neighbours(id)) == pytest.approx(plain.neighbours(id))
        assert graph.degrees([id]) == {id: len(plain.neighbours(id))}
    some = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    inside = [t for t in triplets if {t.subject, t.object} <= set(some)]
    assert graph.triplets(some, 999, induced=True) == inside
    assert graph.count_induced(some) == len(inside)
    for chunk in {chunk for chunks in plain.mentions.values() for chunk in chunks}:
        naming = {id: chunks[chunk] for id, chunks in plain.mentions.items() if chunk in chunks}
        assert dict(graph.mentioned([chunk])) == naming


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(KEYS), documents), st.data())
def test_under_a_filter_it_is_that_of_the_documents_left(made, data) -> None:
    """Names are resolved by all documents; facts are those of the documents left."""
    graph, plain = graph_of(made), make_graph(made)
    numbers = {int(chunk.split(":")[1]) for chunks in plain.mentions.values() for chunk in chunks}
    left = frozenset(data.draw(st.lists(st.sampled_from(sorted(numbers)), unique=True)) if numbers else ())
    part = graph.only(left)
    wanted = {
        id: {chunk: count for chunk, count in chunks.items() if int(chunk.split(":")[1]) in left}
        for id, chunks in plain.mentions.items()
    }
    assert {id: dict(part.mentions([id], 999)) for id in ids_of(part)} == {id: c for id, c in wanted.items() if c}


def test_names_in_a_question() -> None:
    made = {
        "a": MadeDocument("Midway, Iowa", mentions=(Mention(0, "Midway, Iowa", "Midway, Iowa"),)),
        "b": MadeDocument("Mercury (planet)", mentions=(Mention(0, "Mercury (planet)", "Mercury (planet)"),)),
        "c": MadeDocument("Mercury (god)", mentions=(Mention(0, "Mercury (god)", "Mercury (god)"),)),
        "d": MadeDocument("WHO", "World Health Organization"),
        "e": MadeDocument("x", mentions=(Mention(0, "World Health Organization", "World Health Organization"),)),
        "f": MadeDocument("y", mentions=(Mention(0, "WHO", "WHO"), Mention(0, "ship", "ship"))),
    }  # fmt: skip
    graph = graph_of(made)

    def found(question: str) -> list[tuple[str, list[str]]]:
        return [
            (question[name.start : name.end], [graph.entities([id])[id].name for id in name.entities])
            for name in graph.in_question(question)
        ]

    assert found("Is Midway near the ship?") == [("Midway", ["Midway, Iowa"])], "an everyday word is no name"
    assert found("What does WHO say?") == [("WHO", ["World Health Organization"])]
    assert [(text, sorted(names)) for text, names in found("who was Mercury")] == [
        ("Mercury", ["Mercury (god)", "Mercury (planet)"])
    ]
    assert found("") == found("was there an island?") == []
