"""`light` against brute force over the graph's tables, in each of its modes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.index.open import Index
from ragways.layers.protocols import GraphEntity
from ragways.layers.words import terms
from ragways.retrieval.light import LIGHT as PARADIGM
from tests.fakes import WordHashes
from tests.retrieval.graph_corpus import (
    TWO,
    asked,
    falls,
    ids,
    indexed,
    mentions,
    prompts,
    relations,
    resources,
    similarities,
    stated,
    step,
)

LOW, HIGH = ["Bertil Oakes", "Ness Light"], ["rebuilt tower", "gale damage"]
KEYWORDS = {"low": LOW, "high": HIGH}
ANSWER = "He rebuilt it. [1]"
ALL = {"entity_tokens": 100_000, "relation_tokens": 100_000, "chunk_tokens": 100_000}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("light")))
    yield index
    index.close()


@pytest.fixture(scope="module")
def with_vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index with vectors of relations too."""
    index = Index.open(indexed(tmp_path_factory.mktemp("light"), relation_vectors=True))
    yield index
    index.close()


Found = tuple[list[str], list[str], list[str]]
"""Entities, relations, chunks."""


def ordered(scores: dict[str, float], *then: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda id: (-round(scores[id], 5), *(-other[id] for other in then), id))


def local(index: Index, top: int, k: int) -> Found:
    alike = {id: score for id, score in similarities(index, LOW).items() if score > 0.2}
    entities = ordered(alike)[:top]
    rows = relations(index)
    near = {
        row.id: max(alike[end] for end in ends)
        for row in rows
        if (ends := {row.subject, row.object}.intersection(entities))
    }
    edges = ordered(near, {row.id: row.weight for row in rows})[:top]
    chunks: dict[str, float] = {}
    for entity, chunk in mentions(index):
        if entity in entities[:10]:
            chunks[chunk] = chunks.get(chunk, 0.0) + alike[entity]
    return entities, edges, from_relations(index, {id: near[id] for id in edges}, chunks)[:k]


def themes(index: Index, top: int, k: int) -> Found:
    """By vectors of relations."""
    vector = asyncio.run(WordHashes().embed([", ".join(HIGH)]))[0]
    near = dict(index.graph.nearest_relations(vector, 10_000, -1.0))
    edges = [id for id in ordered(near) if near[id] >= 0.2][:top]
    ends = {row.id: (row.subject, row.object) for row in relations(index)}
    entities = list(dict.fromkeys(end for id in edges for end in ends[id]))[:top]
    return entities, edges, from_relations(index, {id: near[id] for id in edges}, {})[:k]


def from_relations(index: Index, scores: dict[str, float], chunks: dict[str, float]) -> list[str]:
    for relation, found in stated(index).items():
        for chunk in found if relation in scores else ():
            chunks[chunk] = chunks.get(chunk, 0.0) + scores[relation]
    return ordered(chunks)


def nearest_chunks(index: Index, k: int) -> list[str]:
    vector = asyncio.run(WordHashes().embed([TWO]))[0]
    return ordered(index.vectors.cosines(vector, index.vectors.ids))[:k]


def turns(*lists: list[str]) -> list[str]:
    longest = max(map(len, lists), default=0)
    return list(dict.fromkeys(some[n] for n in range(longest) for some in lists if n < len(some)))


def said(row: GraphEntity) -> bool:
    return bool(row.type or row.description) and row.type not in ("date", "quantity")


def shown(index: Index, entities: list[str]) -> list[str]:
    """Entities of which there is something to say."""
    known = index.graph.entities(entities)
    return [id for id in entities if said(known[id])]


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix"])
def test_each_mode_is_brute_force_over_the_tables(with_vectors: Index, mode: str):
    index, top, k = with_vectors, 6, 4
    answer, _ = asked(resources(index, [KEYWORDS, ANSWER]), PARADIGM, TWO, mode=mode, top=top, k=k, **ALL)
    levels = [local(index, top, k)] if mode != "global" else []
    levels += [themes(index, top, k)] if mode != "local" else []
    levels += [([], [], nearest_chunks(index, k))] if mode == "mix" else []
    entities, edges, chunks = (turns(*some) for some in zip(*levels, strict=True))
    assert all((entities, edges, chunks))
    assert ids(answer, "entity") == shown(index, entities[:top])
    assert ids(answer, "triplet") == edges[:top]
    assert ids(answer, "chunk") == chunks[:k]
    falls(answer)


def test_without_vectors_relations_are_found_by_the_words_of_the_theme(index: Index):
    assert not index.graph.has_relation_vectors
    answer, _ = asked(resources(index, [KEYWORDS, ANSWER]), PARADIGM, TWO, mode="global", **ALL)
    wanted = set(terms(", ".join(HIGH)))
    rows = index.graph.relations(ids(answer, "triplet"))
    shares = []
    for hit in answer.evidence.items:
        if hit.piece.id in rows:
            row = rows[hit.piece.id]
            text = (
                f"{row.subject_name} {row.predicate.replace('_', ' ')} {row.object_name} {row.date} {row.description}"
            )
            shares.append(len(wanted & set(terms(text))) / len(wanted))
            assert hit.found[0].score == shares[-1] > 0
    assert shares == sorted(shares, reverse=True)
    assert shares
    ends = {end for row in rows.values() for end in (row.subject, row.object)}
    assert set(ids(answer, "entity")) <= ends


def test_the_model_is_asked_for_keywords_of_the_question(index: Index):
    use = resources(index, [KEYWORDS, ANSWER])
    answer, trace = asked(use, PARADIGM, TWO)
    assert f"Question: {TWO}" in prompts(use)[0]
    assert step(trace, "two levels").details["low"] == tuple(LOW)
    assert answer.way == "model scripted"


def test_without_keywords_the_question_is_the_only_one(index: Index):
    use = resources(index, [{"low": [], "high": [" "]}, ANSWER])
    _, trace = asked(use, PARADIGM, TWO)
    assert step(trace, "two levels").details["low"] == step(trace, "two levels").details["high"] == (TWO,)


def test_without_a_model_names_are_low_and_the_other_words_high(index: Index):
    answer, trace = asked(resources(index), PARADIGM, "Who rebuilt the Ness Light after the storm?")
    details = step(trace, "two levels").details
    assert details["low"] == ("Ness Light",)
    assert details["high"] == ("rebuilt", "after", "storm") or details["high"] == ("rebuilt", "storm")
    assert step(trace, "keywords").way == "rule"
    assert answer.citations
    falls(answer)


def test_each_kind_has_its_own_budget(index: Index):
    before: dict[str, list[str]] = {"entity": [], "triplet": [], "chunk": []}
    for tokens in (0, 40, 80, 2000):
        settings = {"entity_tokens": tokens, "relation_tokens": 2 * tokens, "chunk_tokens": 3 * tokens}
        answer, _ = asked(resources(index), PARADIGM, TWO, **settings)
        cost = {hit.piece.id: hit.piece.tokens for hit in answer.evidence.items}
        for kind, budget in zip(before, settings.values(), strict=True):
            found = ids(answer, kind)
            assert sum(cost[id] for id in found) <= budget
            assert found[: len(before[kind])] == before[kind], "more budget never loses evidence"
            before[kind] = found
    assert all(before.values())


def test_an_unknown_mode_is_an_error(index: Index, tmp_path: Path):
    with pytest.raises(UsageError, match="mode"):
        asked(resources(index), PARADIGM, TWO, mode="sideways")
