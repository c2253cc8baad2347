from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.assemble import opened
from ragways.core.errors import MissingLayer
from ragways.core.types import Evidence, Query
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.retrieval.answer import retrieval_only
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.look import Look, cut, look
from ragways.settings import Settings
from tests.retrieval.graph_corpus import HOPS, TWO, WHEN, asked, indexed, resources

LAYERS = {
    "fused": frozenset({"vectors", "words", "graph"}),
    "hybrid-words": frozenset({"vectors", "words"}),
    "naive": frozenset({"vectors"}),
    "words": frozenset({"words"}),
}


@pytest.fixture(scope="module", params=LAYERS)
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Paradigm, Index]]:
    """The paradigm whose candidates are looked at, and an index with its layers and no more."""
    folder = indexed(tmp_path_factory.mktemp(request.param), layers=LAYERS[request.param])
    index = Index.open(folder)
    yield PARADIGMS[request.param], index
    index.close()


def looked(use: Resources, question: str) -> Look:
    return asyncio.run(look(use)(Query(question)))


def test_a_look_cut_at_k_is_what_its_paradigm_shows(one: tuple[Paradigm, Index]):
    paradigm, index = one
    use = resources(index)
    for question in (HOPS, TWO, WHEN, "what is dear in winter?", "zzz"):
        seen = looked(use, question)
        assert seen.by == paradigm.name
        for k, tokens in ((1, 8000), (3, 8000), (5, 60), (50, 8000)):
            shown = asked(use, paradigm, question, k=k, tokens=tokens)[0].evidence
            assert asyncio.run(cut(use, seen, k, tokens)) == replace(shown, shown=())
    assert len(looked(use, HOPS).hits) > 3


def test_with_the_reader_too_on_a_real_corpus(demo_settings: Settings):
    async def run() -> tuple[Look, list[Evidence], list[Evidence]]:
        async with opened(demo_settings) as use:
            assert use.reader is not None
            question = "Who designed the lighthouse that the Great Gale of 1883 damaged?"
            seen = await look(use)(Query(question))
            shown = []
            with retrieval_only():
                for k in (3, 10, 30):
                    shown.append((await ask(use, question, "fused", {"k": k})).answer.evidence)
            return seen, [await cut(use, seen, k, 8000) for k in (3, 10, 30)], shown

    seen, cuts, shown = asyncio.run(run())
    for one, other in zip(cuts, shown, strict=True):
        assert one == replace(other, hits=replace(other.hits, sources=one.hits.sources), shown=())
    assert seen.read is not None
    assert seen.linked is not None
    assert all(0 <= hit.score <= 1 for hit in seen.hits)


def test_an_index_in_which_nothing_can_be_searched_says_so(tmp_path: Path):
    index = Index.open(indexed(tmp_path, layers=frozenset({"words"})))
    index.layers = frozenset()
    with pytest.raises(MissingLayer, match="neither vectors nor words"):
        look(Resources(index, resources(index).embedder, ModelClient(None)))
    index.close()
