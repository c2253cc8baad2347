"""A filter holds for every paradigm and every tool: what only other documents say is in no hit, answer or trace."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from ragways.assemble import opened
from ragways.core.errors import UsageError
from ragways.core.step import Step
from ragways.core.types import ABSTENTION, Found, Hit, Hits, Query
from ragways.index.filtered import only
from ragways.index.open import Index
from ragways.layers.graph.texts import NAMELESS
from ragways.library import Corpus
from ragways.library import open as open_corpus
from ragways.retrieval.answer import answer
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import PARADIGMS, Result, ask
from ragways.retrieval.paradigm import Paradigm, Strategy
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox
from ragways.settings import Settings
from ragways.testing.server import LoopbackServer
from tests.retrieval.test_contract import answering

QUESTION = "In which inn did the delegates meet to conclude the Treaty of Oskerford?"
SECRET = "Three Oars"
"""Three documents say it, and the filter keeps them out."""
WHERE = 'not path ~ "River_Osker." and not path ~ "/Oskerford." and not path ~ "Treaty_of_Oskerford"'
EVERY = pytest.mark.parametrize("name", list(PARADIGMS))
T = TypeVar("T")


def using(settings: Settings, work: Callable[[Resources], Awaitable[T]]) -> T:
    async def run() -> T:
        async with opened(settings) as use:
            return await work(use)

    return asyncio.run(run())


def test_the_filter_keeps_out_the_documents_that_say_it(demo_settings: Settings):
    index = Index.open(demo_settings.index)
    part = only(index, WHERE)
    saying = {id for id, _, _ in index.documents() if SECRET in whole_text(index, id)}
    assert len(saying) == 3
    assert len(index.documents()) - len(part.documents()) == 3
    assert not saying & {id for id, _, _ in part.documents()}
    index.close()


def whole_text(index: Index, id: str) -> str:
    document = index.document(id)
    assert document is not None
    return f"{document.text} {document.infoboxes}"


@pytest.fixture(scope="module")
def corpus(demo_settings: Settings) -> Iterator[Corpus]:
    with open_corpus(settings=demo_settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def allowed(demo_settings: Settings) -> set[str]:
    index = Index.open(demo_settings.index)
    ids = {id for id, _, _ in only(index, WHERE).documents()}
    index.close()
    return ids


@pytest.fixture(scope="module")
def unfiltered(corpus: Corpus) -> Callable[[str], Result]:
    """What each paradigm says without a filter; it is asked once."""
    return functools.cache(lambda name: corpus.ask(QUESTION, name))


@EVERY
def test_nothing_of_other_documents_is_found_said_or_traced(
    corpus: Corpus, unfiltered: Callable[[str], Result], allowed: set[str], name: str
):
    before = unfiltered(name)
    result = corpus.ask(QUESTION, name, where=WHERE)
    data = result_data(result)
    assert SECRET not in json.dumps(data)
    assert data["where"] == WHERE == result.trace.details["where"]
    check(allowed, result.answer.evidence.hits)
    assert {citation.document for citation in result.answer.citations} <= allowed
    check(allowed, corpus.retrieve(QUESTION, name, where=WHERE))
    if name not in ("llm-only", "community-global"):
        assert SECRET in json.dumps(result_data(before)), "without the filter it is found"
        assert result.answer.evidence.items, "and with it, other things are"


def check(allowed: set[str], hits: Hits) -> None:
    strange = {hit.piece.document for hit in hits.items} - allowed
    assert all(id.startswith("community:") for id in strange), strange


@EVERY
def test_a_filter_that_all_documents_match_changes_nothing(
    corpus: Corpus, unfiltered: Callable[[str], Result], name: str
):
    before = unfiltered(name)
    assert corpus.ask(QUESTION, name, where="has path").answer == before.answer
    after = corpus.ask(QUESTION, name)
    assert after.answer == before.answer
    assert after.where == ""


@pytest.fixture(scope="module")
def with_model(demo_settings: Settings) -> Iterator[tuple[Corpus, LoopbackServer]]:
    with LoopbackServer(reply=answering) as server:
        model = demo_settings.model.model_copy(update={"base_url": server.base_url, "name": f"at {server.base_url}"})
        with open_corpus(settings=demo_settings.model_copy(update={"model": model})) as opened:
            yield opened, server


@EVERY
def test_nothing_of_other_documents_reaches_a_model(with_model: tuple[Corpus, LoopbackServer], name: str):
    corpus, server = with_model
    server.requests.clear()
    corpus.ask(QUESTION, name, where=WHERE)
    assert server.requests or name == "community-global"
    assert not any(SECRET in json.dumps(request.body) for request in server.requests)


@EVERY
def test_where_no_document_matches_the_answer_is_that_there_is_none(corpus: Corpus, name: str):
    result = corpus.ask(QUESTION, name, where="path = nowhere")
    assert result.answer.abstained
    assert result.answer.text == ABSTENTION
    assert result.answer.explanation == "No document matches the filter path = nowhere"
    assert not corpus.retrieve(QUESTION, name, where="path = nowhere").items


def test_all_ways_to_ask_take_a_filter(corpus: Corpus):
    stream = corpus.stream(QUESTION, "naive", where=WHERE)
    assert SECRET not in "".join(stream)
    compared = corpus.compare(QUESTION, ["naive", "words"], where=WHERE)
    assert SECRET not in str(compared.table())
    with pytest.raises(UsageError, match="did you mean author"):
        corpus.ask(QUESTION, where="auther = x")


CALLS: dict[str, list[dict[str, Any]]] = {
    "title_search": [{"title": "inn of the ferry"}, {"title": "Treaty of Oskerford"}],
    "chunk_search": [{"query": "the delegates met in an inn"}, {"query": "salmon fishing by the day", "k": 20}],
    "article_neighbourhood": [{"article": "Saltrey", "distance": 2, "k": 100}, {"article": "Treaty of Oskerford"}],
    "article_text": [{"article": "Treaty of Oskerford"}, {"article": "Saltrey"}],
    "section_titles_and_infoboxes": [{"article": "Treaty of Oskerford"}, {"article": "Oskerford"}],
    "sections": [{"ids": ["{hidden}:s0", "{hidden}:s1"]}],
    "paragraph_window": [{"id": "{hidden}:s0:p0", "around": 10}],
    "section_window": [{"id": "{hidden}:s0", "around": 10}],
    "backlinks": [{"article": "Saltrey", "k": 20}, {"article": "Treaty of Oskerford", "k": 20}],
    "shortest_path": [{"start": "Saltrey", "end": "Oskerford"}, {"start": "Saltrey", "end": "Morvane"}],
    "calculator": [{"expression": "1 + 1"}],
}


@pytest.mark.parametrize("tool", list(TOOLS))
def test_no_tool_reads_other_documents(demo_settings: Settings, tool: str):
    async def work(use: Resources) -> None:
        allowed = {id for id, _, _ in only(use.index, WHERE).documents()}
        hidden = next(id for id, _, title in use.index.documents() if title == "Treaty of Oskerford")
        for whole in (use, use.only(WHERE)):
            found = []
            for arguments in CALLS[tool]:
                filled = json.loads(json.dumps(arguments).replace("{hidden}", hidden))
                found.append(await Toolbox(whole).run(tool, filled, with_sources=True))
            text = " ".join(each.text for each in found)
            if whole is not use:
                assert SECRET not in text
                assert {piece.document for each in found for piece in each.pieces} <= allowed
            elif tool in ("chunk_search", "article_text", "sections", "backlinks", "section_titles_and_infoboxes"):
                assert SECRET in text, "without the filter it is read"

    using(demo_settings, work)


def test_the_graph_forgets_what_only_other_documents_say(demo_settings: Settings):
    async def work(use: Resources) -> None:
        whole, part = use.index.graph, only(use.index, WHERE).graph
        assert whole.named("Three Oars Inn")
        assert not part.named("Three Oars Inn")
        [treaty] = whole.named("Treaty of Oskerford")[:1]
        before, after = whole.entities([treaty])[treaty], part.entities([treaty])[treaty]
        assert before.description or before.type
        assert (after.description, after.aliases) == ("", ())
        assert after.name in (before.name, *before.aliases)
        assert 0 < after.chunks < before.chunks
        seen = set(part.chunk_ids())
        texts = {id: f"{piece.title} {piece.text}" for id, piece in only(use.index, WHERE).pieces(seen).items()}
        count = part.counts()
        entities = [part.entity_at(number) for number in range(count["entities"])]
        named = [entity for entity in part.entities(entities).values() if entity.name != NAMELESS]
        assert len(named) > 100
        for entity in named:
            if entity.chunks < whole.entities([entity.id])[entity.id].chunks:
                chunks = [texts[chunk] for chunk, _ in part.mentions([entity.id])]
                assert any(entity.name.casefold()[:4] in text.casefold() for text in chunks), entity
        rows = part.relations_at(range(count["relations"])).values()
        stated = part.relation_chunks([row.id for row in rows])
        assert {chunk for chunks in stated.values() for chunk in chunks} <= seen
        before_chunks = whole.relation_chunks(list(stated))
        partly = {id for id, chunks in stated.items() if len(chunks) < len(before_chunks[id])}
        assert partly
        assert len(rows) == len(stated) == count["relations"] < whole.counts()["relations"]
        assert all(SECRET not in f"{row.text} {row.description}" for row in rows)
        assert {chunk for chunk, _ in part.passages({treaty: 1.0}, k=1000)} <= seen

    using(demo_settings, work)


def test_each_search_is_among_the_documents_that_match(demo_settings: Settings, allowed: set[str]):
    index = Index.open(demo_settings.index)
    part = only(index, WHERE)
    found = [id for id, _ in part.words.search(QUESTION, 20)]
    assert found == [id for id, _ in index.words.search(QUESTION, 1000) if document_of(id) in allowed][:20]
    assert list(part.vectors.ids) == [id for id in index.vectors.ids if document_of(id) in allowed]
    windows = [[each.window_id(row) for row in range(len(each))] for each in (index.windows, part.windows)]
    assert windows[1] == [id for id in windows[0] if document_of(id) in allowed]
    sentences = {
        part.windows.sentence_id(s) for row in range(len(part.windows)) for s in part.windows.sentences_of(row)
    }
    assert {document_of(id) for id in sentences} == {document_of(id) for id in windows[1]} <= allowed
    assert not any(len(part.windows.sentences_of(row)) == 0 for row in range(len(part.windows)))
    index.close()


def document_of(id: str) -> str:
    return ":".join(id.split(":")[:2])


def test_reports_that_rest_on_other_documents_too_are_left_out(demo_settings: Settings):
    async def work(use: Resources) -> None:
        whole, part = use.index.communities, only(use.index, WHERE).communities
        before, after = use.index.graph, only(use.index, WHERE).graph
        kept = {community.id for level in part.levels() for community in part.of_level(level)}
        everything = {community.id for level in whole.levels() for community in whole.of_level(level)}
        for id in everything:
            members = before.entities(whole.members(id)), after.entities(whole.members(id))
            assert (id in kept) == (
                [entity.chunks for entity in members[0].values()] == [entity.chunks for entity in members[1].values()]
            )
        assert part.left_out == len(everything) - len(kept) > 0
        assert kept
        vector = await use.embed_question(QUESTION)
        assert {id for id, _ in part.nearest(vector, None)} <= kept
        reports = part.reports(everything)
        assert reports.keys() <= kept
        left = " ".join(whole_text(use.index, id) for id, _, _ in only(use.index, WHERE).documents())
        for report in reports.values():
            for finding in report.findings:
                assert finding.text in left

    using(demo_settings, work)


def test_steps_of_ones_own_are_filtered_by_what_they_are_made_with(demo_settings: Settings):
    async def work(use: Resources) -> None:
        part = use.only(WHERE)
        step = dense(part, k=20) >> pack(part, 8000) >> answer(part)
        assert SECRET not in json.dumps(result_data(await ask(part, QUESTION, step)))
        with pytest.raises(UsageError, match="steps read what they were made with"):
            await ask(use, QUESTION, step, where=WHERE)

    using(demo_settings, work)


def test_a_paradigm_that_reads_past_the_index_is_stopped(demo_settings: Settings):
    def build(use: Resources, *, tokens: int = 8000) -> Strategy:
        async def run(query: Query) -> Hits:
            whole = Index.open(demo_settings.index)  # what a plug-in should not do
            found = whole.words.search(query.text, 5)
            pieces = whole.pieces(id for id, _ in found)
            whole.close()
            return Hits(query, tuple(Hit(pieces[id], score, (Found("past", 1, score),)) for id, score in found))

        return Step("past", run) >> pack(use, tokens) >> answer(use)

    past = replace(PARADIGMS["words"], name="past", build=build)
    assert isinstance(past, Paradigm)
    using(demo_settings, lambda use: ask(use, QUESTION, past))
    with pytest.raises(UsageError, match="past found what the filter keeps out"):
        using(demo_settings, lambda use: ask(use, QUESTION, past, where=WHERE))
