"""Asking and retrieving by a name, a paradigm or steps of one's own; and answers while they are written."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import MissingLayer, UsageError
from ragways.core.step import Step
from ragways.core.stream import AnswerStream, streaming
from ragways.core.types import ABSTENTION, Answer, Evidence, Hits, Query
from ragways.index.open import Index
from ragways.layers.table import LAYERS
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.retrieval.answer import answer
from ragways.retrieval.ask import PARADIGMS, Result, ask, retrieve
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack, words
from ragways.testing import Fault, LoopbackServer, ScriptedModel
from tests.retrieval.graph_corpus import HOPS, TWO, indexed, resources
from tests.retrieval.test_contract import answering

EVERY = pytest.mark.parametrize("name", PARADIGMS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("ask"), layers=frozenset(LAYERS))


@pytest.fixture
def index(folder: Path):
    index = Index.open(folder)
    yield index
    index.close()


class Heard:
    """What a listener was given: the text as it stands, and every piece with whether it began anew."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, bool]] = []
        self.text = ""

    def __call__(self, text: str, *, restart: bool = False) -> None:
        assert text
        self.pieces.append((text, restart))
        self.text = text if restart else self.text + text

    @property
    def restarts(self) -> int:
        return sum(restart for _, restart in self.pieces)


def asked(use: Resources, paradigm: Any, heard: Heard | None = None, question: str = HOPS, **settings: Any) -> Result:
    return asyncio.run(ask(use, question, paradigm, settings, on_text=heard))


# Ways to answer


def build_short(use: Resources, *, k: int = 2) -> Step[Query, Answer]:
    return words(use, k=k) >> pack(use, 500) >> answer(use)


SHORT = Paradigm("short", "A few chunks by words.", "mine", frozenset({"words"}), build_short)


def test_a_paradigm_of_ones_own_is_asked_like_one_of_the_table(index: Index):
    result = asked(resources(index), SHORT, k=1)
    assert (result.paradigm, result.settings) == ("short", {"k": 1})
    assert len(result.answer.evidence.items) == 1
    assert result.trace.name == "short"
    with pytest.raises(UsageError, match="short has no setting 'kk'"):
        asked(resources(index), SHORT, kk=1)
    needy = Paradigm("needy", "", "mine", frozenset({"no-such-layer"}), build_short)
    with pytest.raises(MissingLayer):
        asked(resources(index), needy)


def test_steps_of_ones_own_are_asked_as_they_are(index: Index):
    use = resources(index)
    result = asked(use, build_short(use))
    assert result.answer == asked(use, SHORT).answer
    assert (result.paradigm, result.settings) == ("words >> pack >> answer", {})
    with pytest.raises(UsageError, match="has its settings already"):
        asked(use, build_short(use), k=1)
    with pytest.raises(UsageError, match="gives Hits, not an Answer"):
        asked(use, words(use))


def test_retrieving_gives_the_hits_whatever_the_steps_end_in(index: Index):
    use = resources(index)
    hits = asyncio.run(retrieve(use, HOPS, words(use, k=3)))
    assert len(hits.items) == 3
    assert asyncio.run(retrieve(use, HOPS, words(use, k=3) >> pack(use, 8000))) == hits
    assert asyncio.run(retrieve(use, HOPS, words(use, k=3) >> pack(use, 8000) >> answer(use))) == hits
    assert asyncio.run(retrieve(use, HOPS, "words", {"k": 3})) == hits
    assert asyncio.run(retrieve(use, HOPS, SHORT, {"k": 3})) == hits
    wrong: Step[Query, Any] = Step("wrong", _nothing)
    with pytest.raises(UsageError, match="wrong gives str, not Hits"):
        asyncio.run(retrieve(use, HOPS, wrong))


async def _nothing(query: Query) -> str:
    return query.text


@EVERY
def test_retrieving_finds_what_asking_finds_and_answers_nothing(index: Index, name: str):
    use = resources(index)
    found = asyncio.run(retrieve(use, HOPS, name))
    assert isinstance(found, Hits)
    result = asked(use, name)
    if name != "iterative":  # which looks for what its last answer lacks
        assert found.items == result.answer.evidence.hits.items


def test_retrieving_asks_no_model_for_an_answer(index: Index):
    with ScriptedModel([]) as model:
        use = Resources(index, resources(index).embedder, ModelClient(model))
        assert asyncio.run(retrieve(use, HOPS, "hybrid-words")).items


def test_questions_are_asked_and_searched_side_by_side_on_the_same_resources(index: Index):
    use = resources(index)
    heard = [Heard() for _ in range(4)]

    async def main() -> tuple[list[Result], list[Hits]]:
        answers = [ask(use, text, "naive", on_text=one) for text, one in zip((HOPS, TWO) * 2, heard, strict=True)]
        searches = [retrieve(use, text, "naive") for text in (HOPS, TWO) * 2]
        return await asyncio.gather(*answers), await asyncio.gather(*searches)

    results, hits = asyncio.run(main())
    assert not any(result.answer.abstained for result in results)
    assert [one.text for one in heard] == [result.answer.text for result in results]
    assert [one.items for one in hits] == [result.answer.evidence.hits.items for result in results]


# Answers while they are written


def test_a_stream_sends_what_is_new_and_begins_anew_where_the_text_changed():
    heard = Heard()
    stream = AnswerStream(heard)
    for text in ("", "In", "In", "In 1801", "By Ada", "", "By Ada Holm."):
        stream.update(text)
    assert heard.pieces == [("In", True), (" 1801", False), ("By Ada", True), (" Holm.", False)]


@EVERY
def test_without_a_model_what_was_heard_is_the_answer(index: Index, name: str):
    heard = Heard()
    result = asked(resources(index), name, heard)
    assert heard.text == result.answer.text
    assert heard.pieces[0][1]
    assert result.answer == asked(resources(index), name).answer, "listening changes nothing"


def test_a_rules_answer_comes_sentence_by_sentence(index: Index):
    heard = Heard()
    question = "Where is herring sold and who designed the Ness Light and who rebuilt it in 1884?"
    result = asked(resources(index), "naive", heard, question)
    cited = [citation.quote for citation in result.answer.citations]
    assert len(cited) > 1
    assert len(heard.pieces) == len(cited)
    assert all(quote in piece for quote, (piece, _) in zip(cited, heard.pieces, strict=True))
    assert heard.restarts == 1


def by_server(index: Index, server: LoopbackServer, name: str, heard: Heard) -> Result:
    async def main() -> Result:
        async with ModelClient(Endpoint(server.base_url, None, "loopback")) as client:
            use = Resources(index, resources(index).embedder, client)
            return await ask(use, HOPS, name, on_text=heard)

    return asyncio.run(main())


@EVERY
def test_with_a_model_what_was_heard_is_the_answer(index: Index, name: str):
    heard = Heard()
    with LoopbackServer(reply=answering) as server:
        result = by_server(index, server, name, heard)
    assert heard.text == result.answer.text


SAID = "The Ness Light — “ünd ☂” — was designed in 1801. [1][2] Its designer was born elsewhere. [2] That is all."


def test_a_models_answer_comes_in_pieces_and_is_never_taken_back(index: Index):
    heard = Heard()
    with LoopbackServer(reply=lambda _: SAID) as server:
        result = by_server(index, server, "naive", heard)
    assert heard.text == result.answer.text == SAID
    assert len(heard.pieces) > 5
    assert heard.restarts == 1


def test_a_broken_stream_begins_anew(index: Index):
    heard = Heard()
    with LoopbackServer(reply=lambda _: SAID, faults=[Fault("cut", requests=1)]) as server:
        result = by_server(index, server, "naive", heard)
    assert server.count == 2
    assert heard.text == result.answer.text == SAID


def test_an_answer_that_cannot_be_used_is_void(index: Index):
    heard = Heard()
    result = asked(resources(index, ["<think>hm</think>", "On Gull Rock. [1]"]), "naive", heard)
    assert [piece for piece, restart in heard.pieces if restart] == ["On Gull Rock. [1]"]
    assert heard.text == result.answer.text == "On Gull Rock. [1]"


def test_a_refusal_is_heard_as_one_abstention(index: Index):
    heard = Heard()
    asked(
        resources(index, ["Insufficient information"]),
        "naive",
        heard,
    )
    assert heard.pieces == [(ABSTENTION, True)]


def test_rounds_begin_anew_with_each_answer(index: Index):
    script = [
        "Perhaps in Ness.",
        {"suffices": False, "subquestion": "Where was Ada Holm born?"},
        "In Port Averne. [1]",
        {"suffices": True, "subquestion": ""},
    ]
    heard = Heard()
    result = asked(resources(index, script), "iterative", heard, base="naive", minimum=0.0, memory=True)
    assert [piece for piece, restart in heard.pieces if restart] == ["Perhaps in Ness.", "In Port Averne. [1]"]
    assert heard.text == result.answer.text == "In Port Averne. [1]"


def test_what_may_not_be_streamed_is_given_when_it_is_whole(index: Index):
    heard = Heard()
    use = resources(index)
    found = dense(use, k=5) >> pack(use, 8000)
    result = asked(use, found >> answer(use, stream=False), heard)
    assert heard.pieces == [(result.answer.text, True)]


def test_a_listener_around_the_question_hears_it_too(index: Index):
    heard = Heard()

    async def main() -> Result:
        with streaming(heard):
            return await ask(resources(index), HOPS, "words")

    assert asyncio.run(main()).answer.text == heard.text


def test_steps_without_a_stream_are_silent(index: Index):
    use = resources(index)
    said = asyncio.run((dense(use, k=2) >> pack(use, 8000) >> answer(use))(Query(HOPS)))
    assert isinstance(said, Answer)
    assert isinstance(said.evidence, Evidence)
