"""Lookups, against brute force over the tables."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ragways.index.graph.names import fold
from ragways.index.graph.reader import Graph
from ragways.index.graph.retrieve import passages, question_seeds
from tests.index.graph.graph_fakes import FakeEmbedder, graph_of, plain, recipe, run, write
from tests.index.graph.test_graph_order import ARTICLES

CORPUS = {
    **ARTICLES,
    "Pier Hotel": "Pier Hotel is a hotel. It was bought by Otto Tamsett in 1901 for his wife Sabine Ollerby.",
    "Sabine Ollerby": "Sabine Ollerby was a biologist who studied the silverling at the University of Dunmarrow.",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    place = tmp_path_factory.mktemp("graph")
    run(place / "index", write(place / "corpus", CORPUS), recipe(layers="graph vectors"))
    graph = graph_of(place / "index")
    yield graph
    graph.close()


def _table(graph: Graph, name: str) -> list[dict[str, Any]]:
    cursor = plain(graph._db).execute(f"SELECT * FROM {name}")
    return [dict(zip([c[0] for c in cursor.description], row, strict=True)) for row in cursor]


def test_names(graph) -> None:
    entities = _table(graph, "entities")
    for entity in entities:
        for name in [entity["name"], *json.loads(str(entity["aliases"]))]:
            if fold(str(name)):
                assert entity["id"] in graph.named(str(name))
    assert graph.named("nobody") == []
    assert len(graph.entities(graph.ids)) == len(entities)


def test_triplets_and_induced(graph) -> None:
    relations, ids = _table(graph, "relations"), list(graph.ids)
    for chosen in (ids[:3], ids[5:9], ids[::7], ids):
        places = {graph.ids[id] for id in chosen}
        touching = [r for r in relations if r["subject"] in places or r["object"] in places]
        inside = [r for r in relations if r["subject"] in places and r["object"] in places]
        for found, wanted in ((graph.triplets(chosen, 1000), touching), (graph.induced(chosen, 1000), inside)):
            assert [t.id for t in found] == [r["id"] for r in sorted(wanted, key=lambda r: (-r["weight"], r["id"]))]
    assert [t.id for t in graph.triplets(ids, 5)] == [t.id for t in graph.triplets(ids, 1000)][:5]
    assert graph.relations([t.id for t in graph.triplets(ids, 3)]).keys() == {t.id for t in graph.triplets(ids, 3)}


def test_mentions_and_neighbours(graph) -> None:
    mentions, relations = _table(graph, "mentions"), _table(graph, "relations")
    for id in list(graph.ids)[::5]:
        place = graph.ids[id]
        held = {graph.chunks[m["chunk"]]: m["count"] for m in mentions if m["entity"] == place}
        assert dict(graph.mentions([id])) == held
        near: dict[str, float] = {}
        for r in relations:
            if place in (r["subject"], r["object"]):
                other = graph.ids.id(r["object"] if r["subject"] == place else r["subject"])
                near[other] = near.get(other, 0) + r["weight"]
        assert dict(graph.neighbours(id)) == pytest.approx(near)
    chunk = graph.chunks[0]
    assert dict(graph.mentioned([chunk])) == {
        graph.ids.id(m["entity"]): m["count"] for m in mentions if graph.chunks[m["chunk"]] == chunk
    }
    assert graph.neighbours("entity:none") == []


def test_names_in_a_question(graph) -> None:
    def found(question: str) -> list[str]:
        return [question[n.start : n.end] for n in graph.in_question(question)]

    assert found("Who led the Harbour Board of Saltrey?") == ["Harbour Board", "Saltrey"]
    assert found("what is the wife of otto tamsett called") == ["otto tamsett"]
    assert found("What did Oriel Tamsett's pier cost?") == ["Oriel Tamsett's"]
    assert found("was there an island?") == []
    assert found("") == []
    both = graph.in_question("Is Ilsabet Corran lost?")[0].entities
    assert len(both) == 2


def test_nearest_by_vector(graph) -> None:
    [vector] = asyncio.run(FakeEmbedder().embed(["Sabine Ollerby was a biologist who studied the silverling"]))
    best = graph.nearest(vector, k=3, minimum=0.1)
    assert graph.entities([best[0][0]])[best[0][0]].name == "Sabine Ollerby"
    assert graph.nearest(vector, k=3, minimum=0.99) == []
    assert graph.nearest_relations(vector) == []


def test_passages_by_pagerank_cross_a_bridge(graph) -> None:
    question = "What did the wife of the buyer of the Pier Hotel study?"
    assert [e.name for e in graph.entities(question_seeds(graph, question)).values()] == ["Pier Hotel"]
    found = passages(graph, question, k=3)
    ollerby = graph.named("Sabine Ollerby")[0]
    # Her own article does not name the hotel; the hotel's article names her.
    assert {chunk for chunk, _ in graph.mentions([ollerby])} < {chunk for chunk, _ in found}
    assert passages(graph, "nothing known here") == []
    chunk = graph.chunks[0]
    assert passages(graph, "nothing", prior={chunk: 1.0}, k=1)[0][0] == chunk
    assert passages(graph, "", seeds={ollerby: 1.0}, k=2) == passages(graph, "Sabine Ollerby", k=2)


def test_the_graph_counts_its_rows(graph) -> None:
    assert graph.counts() == {
        name: len(_table(graph, name)) for name in ("entities", "relations", "mentions", "merges")
    }
