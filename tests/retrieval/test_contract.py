"""What holds for every paradigm, over the whole table, with a model and without one."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ragways.assemble import opened
from ragways.core.errors import MissingLayer, UsageError
from ragways.core.types import ABSTENTION
from ragways.index.open import Index
from ragways.library import Corpus
from ragways.library import open as open_corpus
from ragways.models.client import ModelClient
from ragways.retrieval.ask import LONGEST_QUESTION, PARADIGMS, Result, ask
from ragways.retrieval.resources import Resources
from ragways.settings import Settings
from ragways.testing.server import LoopbackServer

QUESTION = "In which inn did the delegates meet to conclude the Treaty of Oskerford?"
EVERY = pytest.mark.parametrize("name", list(PARADIGMS))


def asked(
    settings: Settings,
    name: str,
    question: str = QUESTION,
    change: Callable[[Resources], None] | None = None,
) -> Result:
    """The index is opened for this question alone."""

    async def run() -> Result:
        async with opened(settings) as use:
            if change is not None:
                change(use)
            return await ask(use, question, name)

    return asyncio.run(run())


@pytest.fixture(scope="module")
def corpus(demo_settings: Settings) -> Iterator[Corpus]:
    """Opened once: most of what a single question takes is the opening."""
    with open_corpus(settings=demo_settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def first(corpus: Corpus) -> Callable[[str], Result]:
    """What each paradigm says to `QUESTION`; it is asked once, and looked at by several tests."""
    return functools.cache(lambda name: corpus.ask(QUESTION, name))


@EVERY
def test_answers_without_a_model_and_says_so(first: Callable[[str], Result], name: str):
    result = first(name)
    answer = result.answer
    assert result.usage.calls == 0
    assert all(step.way in ("", "rule", "no evidence") for step in result.trace.walk())
    if answer.evidence.items:
        assert answer.abstained or answer.citations
    else:
        assert answer.abstained
        assert answer.text == ABSTENTION


@EVERY
def test_evidence_is_in_its_place_ranked_and_within_budget(
    demo_settings: Settings, first: Callable[[str], Result], name: str
):
    result = first(name)
    index = Index.open(demo_settings.index)
    evidence = result.answer.evidence
    assert evidence.hits.query.text == QUESTION
    assert evidence.items == evidence.hits.items[: len(evidence.items)]
    order = [(-hit.score, hit.piece.id) for hit in evidence.hits.items]
    assert order == sorted(order)
    assert len({hit.piece.id for hit in evidence.hits.items}) == len(evidence.hits.items)
    for hit in evidence.items:
        assert hit.found, "a hit says who found it"
        if hit.piece.kind in ("chunk", "sentence"):
            document = index.document(hit.piece.document)
            assert document is not None
            assert document.text[hit.piece.start : hit.piece.end] == hit.piece.text
    index.close()
    assert evidence.tokens == sum(hit.piece.tokens for hit in evidence.items) <= 8000


@EVERY
def test_citations_point_at_a_sentence_of_the_evidence(
    demo_settings: Settings, first: Callable[[str], Result], name: str
):
    answer = first(name).answer
    pieces = {hit.piece.id: hit.piece for hit in answer.evidence.items}
    index = Index.open(demo_settings.index)
    for citation in answer.citations:
        piece = pieces[citation.piece]
        if piece.kind == "report":
            assert citation.quote == piece.text
        else:
            assert piece.start <= citation.start < citation.end <= piece.end
            assert index.text(citation.document, citation.start, citation.end) == citation.quote
    index.close()


@EVERY
def test_the_same_question_gives_the_same_answer(
    demo_settings: Settings, corpus: Corpus, first: Callable[[str], Result], name: str
):
    """Asked again where other questions were asked in between, and of an index that was opened for it."""
    before = first(name).answer
    assert corpus.ask(QUESTION, name).answer == before
    assert asked(demo_settings, name).answer == before


@EVERY
def test_an_unknown_setting_or_a_wrong_value_is_an_error_that_helps(corpus: Corpus, name: str):
    wrong: dict[str, Any] = {"no-such-setting": 1}
    with pytest.raises(UsageError, match="has no setting"):
        corpus.ask(QUESTION, name, **wrong)
    for setting, default in PARADIGMS.find(name).settings.items():
        if isinstance(default, int | float) and not isinstance(default, bool):
            wrong = {setting: "many"}
            with pytest.raises(UsageError, match=setting):
                corpus.ask(QUESTION, name, **wrong)


@EVERY
def test_a_missing_layer_is_named_with_the_command_that_builds_it(demo_settings: Settings, name: str):
    def nothing_built(use: Resources) -> None:
        use.index.layers = frozenset()

    if PARADIGMS.find(name).needs:
        with pytest.raises(MissingLayer, match="ragways index PATH --with"):
            asked(demo_settings, name, QUESTION, nothing_built)


@EVERY
def test_with_a_model_the_answer_is_the_models_and_every_call_is_counted(demo_settings: Settings, name: str):
    with LoopbackServer(reply=answering) as server:
        model = demo_settings.model.model_copy(update={"base_url": server.base_url, "name": "loopback"})
        settings = demo_settings.model_copy(update={"model": model})
        result = asked(settings, name)
        again = asked(settings, name)
    assert result.usage.calls == sum(seen.path == "/v1/chat/completions" for seen in server.requests) > 0
    assert result.usage.tokens > 0
    assert "model loopback" in result.answer.way
    assert again.usage.calls == 0, "the second time, replies come from the cache"
    assert again.answer.text == result.answer.text


def answering(request: Any) -> Any:
    from ragways.testing.replies import default_reply

    schema = json.dumps(request)
    if "response_format" not in request and not request.get("tools"):
        return "They met at an inn. [1]"
    if '"points"' in schema:
        return json.dumps({"points": [{"text": "They met at an inn.", "rating": 60, "reports": [1]}]})
    if '"choice"' in schema:
        return json.dumps({"choice": 0, "reason": ""})
    return default_reply(request)


@EVERY
def test_more_budget_never_loses_evidence(corpus: Corpus, name: str):
    if "tokens" not in PARADIGMS.find(name).settings:
        return
    before: list[str] = []
    for tokens in (0, 100, 400, 1600, 6400):
        evidence = corpus.ask(QUESTION, name, tokens=tokens).answer.evidence
        assert evidence.tokens <= tokens
        ids = [hit.piece.id for hit in evidence.items]
        assert ids[: len(before)] == before
        before = ids


@pytest.mark.parametrize("question", ["", "  \n ", "x" * (LONGEST_QUESTION + 1)])
def test_a_question_of_nothing_or_of_too_much_is_refused(demo_settings: Settings, question: str):
    with pytest.raises(UsageError):
        asked(demo_settings, "words", question)


@EVERY
@pytest.mark.parametrize(
    "question", ["?", "{{passages}} {0} %s", "' OR 1=1 --", "AND OR NOT (", "日本語の質問", "x" * 7999]
)
def test_odd_questions_do_no_harm(corpus: Corpus, name: str, question: str):
    assert corpus.ask(question, name).answer.text


def test_an_unknown_paradigm_says_what_was_meant():
    with pytest.raises(UsageError, match="did you mean naive"):
        PARADIGMS.find("naiv")


def test_a_question_that_the_corpus_does_not_speak_of_is_not_answered(demo_settings: Settings):
    result = asked(demo_settings, "hybrid-words", "Which actor played the lead in the 1994 film Pulp Fiction?")
    assert result.answer.abstained


def test_care_moves_the_line(demo_settings: Settings):
    def careless(use: Resources) -> None:
        use.threshold = 0.0

    def careful(use: Resources) -> None:
        use.threshold = 1.0

    question = "Which actor played the lead in the 1994 film Pulp Fiction?"
    assert not asked(demo_settings, "hybrid-words", question, careless).answer.abstained
    assert asked(demo_settings, "hybrid-words", QUESTION, careful).answer.abstained


def test_a_models_refusal_is_an_abstention(demo_settings: Settings):
    def refusing(use: Resources) -> None:
        from ragways.testing.scripted import ScriptedModel

        use.model = ModelClient(ScriptedModel(["Insufficient information"]))

    answer = asked(demo_settings, "naive", QUESTION, refusing).answer
    assert answer.abstained
    assert answer.text == ABSTENTION


def test_a_citation_of_a_passage_that_was_not_shown_is_none_and_costs_no_second_call(demo_settings: Settings):
    from ragways.testing.scripted import ScriptedModel

    script = ScriptedModel(["They met at the inn. [99] It was late. [2]"])

    def scripted(use: Resources) -> None:
        use.model = ModelClient(script)

    answer = asked(demo_settings, "naive", QUESTION, scripted).answer
    assert len(script.calls) == 1
    assert [c.piece for c in answer.citations] == [answer.evidence.items[1].piece.id]
    assert answer.text == "They met at the inn. [99] It was late. [2]"
