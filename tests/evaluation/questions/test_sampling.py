"""What questions are drawn from: walks, bridges between documents, and the four groupings of a context."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import closing
from itertools import groupby
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragways.evaluation.questions.draws import (
    DOCUMENTS,
    GROUPINGS,
    READ,
    connected,
    node,
    random_walk,
    real,
    triplets,
)
from ragways.evaluation.questions.source import NothingToAsk, QuestionSource, SupportingChunk
from ragways.index.build import build, remove
from ragways.index.open import Index
from ragways.layers.graph.fold import Entries
from ragways.layers.graph.read import StoredGraph
from ragways.layers.graph.resolve import Merging, RowColumns
from tests.evaluation.questions.fakes import resources
from tests.fakes import WordHashes, recipe
from tests.layers.graph.made_documents import MadeDocument, Mention, store_of

edges = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda e: e[0] != e[1]), max_size=40)


def graph_of(pairs: Iterable[tuple[int, int]]) -> StoredGraph:
    names = tuple(Mention(0, f"Name {n}", f"Name {n}") for n in range(15))
    relations = tuple((*pair, "met", 1) for pair in pairs)
    store = store_of({"all": MadeDocument("All", mentions=names, relations=relations)} if relations else {})
    return StoredGraph(Entries.make(RowColumns.read(store, None, lambda _: False), Merging()).graph(), store)


@settings(deadline=None)
@example([], 0, 1)
@given(edges, st.integers(0, 5), st.integers(1, 12))
def test_a_walk_crosses_different_edges_of_the_graph(pairs: list[tuple[int, int]], seed: int, hops: int):
    graph = graph_of(pairs)
    walk = random_walk(graph, Random(seed), hops)
    assert len(set(walk.edges)) == len(walk.edges) <= hops
    assert set(walk.edges) <= {tuple(sorted(graph.named(f"name {n}")[0] for n in pair)) for pair in pairs}
    assert walk.whole == (len(walk.edges) >= hops)
    assert {node for edge in walk.edges for node in edge} <= set(walk.nodes)
    assert walk == random_walk(graph, Random(seed), hops)


def test_what_is_drawn_does_not_depend_on_how_the_index_came_to_be(tmp_path: Path):
    texts = [f"{name} Corran met Otto Tamsett in Saltrey. {name} Corran lives there." for name in ("Ada", "Ben", "Cy")]
    files = [tmp_path / f"{n}.txt" for n in range(3)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    wanted = recipe(WordHashes(), layers=frozenset({"words", "graph"}))
    for name, runs in (("once", [files[1:]]), ("later", [files[:1], files[2:], files[1:2]])):
        for some in runs:
            asyncio.run(build(tmp_path / name, some, wanted))
    asyncio.run(remove(tmp_path / "later", ["0.txt"]))
    drawn = []
    for name in ("once", "later"):
        with closing(Index.open(tmp_path / name)) as index:
            source = QuestionSource(resources(index))
            related = [[triplet.id for triplet in triplets(source, Random(seed))] for seed in range(40)]
            walked = [random_walk(source.graph, Random(seed)) for seed in range(9)]
            central = [connected(source, Random(seed), real).id for seed in range(9)]
            drawn.append((related, walked, central, [node(source, Random(seed)).id for seed in range(9)]))
            assert {id for some in related for id in some} == {edge.id for edge in index.graph.edges(central)}
    assert drawn[0] == drawn[1]


@pytest.fixture(scope="module")
def source(demo: Index) -> QuestionSource:
    return QuestionSource(resources(demo))


def drawn_contexts(source: QuestionSource, name: str) -> list[tuple[SupportingChunk, ...]]:
    found = []
    for seed in range(25):
        try:
            found.append(GROUPINGS[name](source, Random(seed)))
        except NothingToAsk:
            continue
    assert len(found) > 5
    return found


@pytest.mark.parametrize("name", GROUPINGS)
def test_contexts_quote_their_chunks(source: QuestionSource, name: str):
    for context in drawn_contexts(source, name):
        for one in context:
            words = " ".join(one.text.split())
            assert all(part in words for part in one.quote.split(". ")[:1])
            assert one.chunk.startswith(one.document)


def test_a_context_within_a_document_repeats_no_sentence(source: QuestionSource):
    for context in drawn_contexts(source, "intra_document"):
        assert len({one.document for one in context}) == 1
        assert len({one.quote for one in context}) == len(context)


def test_reading_on_takes_five_sentences_of_three_documents(source: QuestionSource):
    contexts = drawn_contexts(source, "sequential_multi_hop")
    windows = source.index.windows
    sentences = {
        document: [
            " ".join(source.index.text(document, *windows.span_of(row)).split())
            for row in sorted({r for window in windows.windows_of(document) for r in windows.sentences_of(window)})
        ]
        for document in {one.document for context in contexts for one in context}
    }
    whole = 0
    for context in contexts:
        read = [" ".join(one.quote for one in of) for _, of in groupby(context, lambda one: one.document)]
        documents = [document for document, _ in groupby(context, lambda one: one.document)]
        assert 2 <= len(read) <= DOCUMENTS
        for document, text in zip(documents, read, strict=True):
            # All five sentences, wherever chunks end; fewer only where the document has no more.
            size = min(READ, len(sentences[document]))
            runs = [sentences[document][at : at + size] for at in range(len(sentences[document]) - size + 1)]
            assert text in [" ".join(run) for run in runs]
        whole += len(read) == DOCUMENTS
    assert whole > len(contexts) / 2
