"""`graph-ppr` against networkx, and against brute force over the graph's tables."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import networkx
import pytest

from ragways.core.types import Query
from ragways.index.open import Index
from ragways.layers.graph import read
from ragways.retrieval.knowledge_graph import EntityScores, Likeness, Seeds, link_entities, matching
from ragways.retrieval.pagerank import GRAPH_PPR as PARADIGM
from ragways.retrieval.pagerank import HYBRID, spread
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.rounds import ITERATIVE
from tests.fakes import WordHashes
from tests.retrieval.graph_corpus import (
    HOPS,
    TWO,
    asked,
    every_entity,
    falls,
    ids,
    indexed,
    relations,
    resources,
    similarities,
    stated,
    step,
)

NAMES = ["Bertil Oakes", "Ness Light"]
ANSWER = "He rebuilt it. [1]"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("graph")))
    yield index
    index.close()


def seeds_of(index: Index, names: list[str]) -> dict[str, float]:
    """The formulas of the paradigm, written out: 20 nearest of each name over 0.4, the best score, the 20 best."""
    best: dict[str, float] = {}
    for name in names:
        near = sorted(similarities(index, [name]).items(), key=lambda pair: (-pair[1], pair[0]))
        called = index.graph.named(name)
        for id, score in [pair for pair in near if pair[1] > 0.4 or pair[0] in called][:20]:
            best[id] = max(score, best.get(id, 0.0))
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:20])


def networkx_pagerank(index: Index, seeds: dict[str, float], weight: str | None = "weight") -> dict[str, float]:
    graph = networkx.Graph()
    graph.add_nodes_from(every_entity(index))
    for id in every_entity(index):
        for other, heavy in index.graph.neighbours(id):
            graph.add_edge(id, other, weight=heavy)
    found: dict[str, float] = networkx.pagerank(
        graph, alpha=0.85, personalization=seeds, dangling=seeds, max_iter=1000, tol=1e-12, weight=weight
    )
    return found


def test_seeds_are_the_nearest_entities_of_each_name(index: Index):
    use = resources(index, [{"entities": NAMES}])
    seeds = asyncio.run(link_entities(use)(Query(TWO)))
    expected = seeds_of(index, NAMES)
    assert [id for id, _ in seeds.nodes] == list(expected)
    assert dict(seeds.nodes) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("exact", [True, False])
def test_pagerank_is_that_of_networkx(index: Index, monkeypatch: pytest.MonkeyPatch, exact: bool, weighted: bool):
    if not exact:
        monkeypatch.setattr(read, "EXACT", 0)
    seeds = seeds_of(index, NAMES)
    start = Seeds(Query(TWO), Likeness(index.graph, (), None), list(seeds.items()))
    reached = asyncio.run(spread(resources(index), keep=20, weighted=weighted)(start)).mass
    expected = networkx_pagerank(index, seeds, "weight" if weighted else None)
    order = sorted(expected, key=lambda id: (-round(expected[id], 9), id))
    if exact:
        assert reached == pytest.approx({id: expected[id] for id in reached}, abs=1e-7)
        assert set(reached) == set(order[:20]) | set(seeds)
    else:
        assert reached == pytest.approx({id: expected[id] for id in reached}, abs=2e-3)
        assert len(set(reached) & (set(order[:20]) | set(seeds))) >= 0.9 * len(reached)


def test_evidence_is_the_source_text_of_the_triplets_between_what_was_reached(index: Index):
    use = resources(index, [{"entities": NAMES}, ANSWER])
    answer, _ = asked(use, PARADIGM, TWO, nodes=15)
    seeds = seeds_of(index, NAMES)
    mass = networkx_pagerank(index, seeds)
    order = sorted(mass, key=lambda id: (-round(mass[id], 9), id))
    kept = {id for id in order[:15] if mass[id] >= 1e-5} | set(seeds)
    alike = similarities(index, NAMES)
    near: dict[str, float] = {}
    shares: dict[str, float] = {}
    chunks = stated(index)
    for row in relations(index):
        if row.subject in kept and row.object in kept:
            for chunk in chunks[row.id]:
                near[chunk] = max(near.get(chunk, 0.0), alike.get(row.subject, 0.0), alike.get(row.object, 0.0))
                shares[chunk] = shares.get(chunk, 0.0) + mass[row.subject] + mass[row.object]
    expected = sorted(near, key=lambda id: (-round(near[id], 5), -shares[id], id))
    assert ids(answer) == expected
    assert [hit.found[0].score for hit in answer.evidence.items] == pytest.approx(
        [near[id] for id in expected], abs=1e-5
    )
    assert "; seed Ness Light and Bertil Oakes" in answer.evidence.items[0].found[0].note
    falls(answer)


@pytest.mark.parametrize("paradigm", [PARADIGM, HYBRID, ITERATIVE], ids=lambda paradigm: paradigm.name)
def test_the_paradigms_of_the_source_can_leave_weights_out(index: Index, paradigm: Paradigm):
    """Source R's PageRank has no weights; `--set weighted=false` is how its experiment asks for that."""
    shares = []
    for weighted in ("true", "false"):
        _, trace = asked(resources(index), paradigm, TWO, weighted=weighted)
        shares.append(step(trace, "pagerank").attachments[0])
    assert shares[0] != shares[1]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_triplets_are_sorted_by_similarity_and_only_then_cut(index: Index, limit: int):
    """Algorithm 3 of source R. The heaviest triplets are not the most similar: cut by weight, others would stay."""
    use = resources(index, [{"entities": NAMES}, ANSWER])
    answer, trace = asked(use, PARADIGM, TWO, triplets=limit)
    mass = networkx_pagerank(index, seeds_of(index, NAMES))
    alike, chunks = similarities(index, NAMES), stated(index)
    rows = [
        (-round(max(alike.get(s, 0.0), alike.get(o, 0.0)), 5), -round(mass[s] + mass[o], 7), -row.weight, row.id)
        for row in relations(index)
        for s, o in [(row.subject, row.object)]
    ]
    expected = {chunk for *_, id in sorted(rows)[:limit] for chunk in chunks[id]}
    heaviest = {chunk for *_, weight, id in sorted(rows, key=lambda row: row[2:])[:limit] for chunk in chunks[id]}
    assert expected != heaviest
    assert set(ids(answer)) == expected
    assert step(trace, "sources").details["triplets"] == limit


def test_without_a_model_names_are_those_the_graph_knows(index: Index):
    answer, trace = asked(resources(index), PARADIGM, TWO)
    assert step(trace, "link entities").details["names"] == ("Bertil Oakes", "Ness Light")
    assert step(trace, "question entities").way == "rule"
    assert step(trace, "pagerank").details["way"] == "exact"
    assert answer.evidence.items[0].piece.title in ("Bertil Oakes", "Ness Light")
    assert answer.citations
    assert asked(resources(index), PARADIGM, TWO)[0] == answer


def test_a_question_without_names_stands_for_itself(index: Index):
    use = resources(index, [{"entities": []}, ANSWER])
    _, trace = asked(use, PARADIGM, HOPS, minimum=0.1)
    assert step(trace, "link entities").details["names"] == (HOPS,)


def test_without_any_seed_it_abstains(index: Index):
    answer, _ = asked(resources(index), PARADIGM, "qqq?", minimum=0.99)
    assert answer.abstained
    assert not answer.evidence.items


def test_without_vectors_of_entities_they_are_found_by_name(tmp_path: Path):
    index = Index.open(indexed(tmp_path, vectors="none"))
    assert not index.graph.has_vectors
    [oakes] = index.graph.named("Bertil Oakes")
    use = resources(index, [{"entities": ["Oakes", "Osker Viaduct"]}])
    seeds = dict(asyncio.run(link_entities(use)(Query(TWO))).nodes)
    assert seeds[oakes] == 1.0 or dict(matching(index.graph, "Oakes"))[oakes] == seeds[oakes] == 0.5
    assert seeds[index.graph.named("Osker Viaduct")[0]] == 1.0
    assert ids(asked(resources(index), PARADIGM, TWO)[0])
    index.close()


def test_a_question_that_names_nothing_starts_from_the_passages_nearest_it(tmp_path: Path):
    index = Index.open(indexed(tmp_path, vectors="none"))
    question = "who was it that drew such things by the water?"
    answer, trace = asked(resources(index), PARADIGM, question, minimum=0.0)
    [found] = step(trace, "link entities").attachments
    assert isinstance(found, EntityScores)
    seeds = found.scores
    nearest = index.vectors.search(asyncio.run(WordHashes().embed([question]))[0], 5)
    assert {id for id, _ in seeds} <= {id for id, _ in index.graph.mentioned([id for id, _ in nearest], 100)}
    assert seeds
    assert ids(answer)
    index.close()


def test_without_vectors_of_entities_no_name_is_embedded(tmp_path: Path):
    index = Index.open(indexed(tmp_path, vectors="none"))
    embedder = WordHashes()
    embedded: list[str] = []
    plain = embedder.embed

    async def counting(texts):
        embedded.extend(texts)
        return await plain(texts)

    embedder.embed = counting  # type: ignore[method-assign]
    use = replace(resources(index), embedder=embedder)
    assert asyncio.run(link_entities(use)(Query(TWO))).nodes
    assert embedded == []
    index.close()
