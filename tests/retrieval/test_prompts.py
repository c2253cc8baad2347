"""Presets of prompts: one for all, some paradigms' own, or all brief; which it was is in every result."""

from __future__ import annotations

import asyncio

import pytest

from ragways.core.types import ABSTENTION
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.models.task import Prompt
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import Result, ask
from ragways.retrieval.resources import Resources
from ragways.tasks.answers import (
    ANSWER,
    NATIVE,
    AnswerInput,
    Extractor,
    Prompts,
)
from ragways.tasks.extract import AnswerPassage
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes
from tests.retrieval.graph_corpus import HOPS, indexed, prompts

SAID = "In Port Averne. [1]"
NAMES = {"entities": ["Ness Light"]}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.open(indexed(tmp_path_factory.mktemp("prompts")))


def answered(index: Index, preset: Prompts, paradigm: str, *script: object, **settings: object) -> tuple[Result, str]:
    use = Resources(index, WordHashes(), ModelClient(ScriptedModel([*script, SAID])), threshold=0.0, prompts=preset)
    result = asyncio.run(ask(use, HOPS, paradigm, settings))
    return result, prompts(use)[-1]


def test_shared_is_one_prompt_for_all_and_is_recorded(index: Index):
    naive, _ = answered(index, "shared", "naive")
    kg, shown = answered(index, "shared", "kg", NAMES)
    assert "Facts:" not in shown
    for result in (naive, kg):
        data = result_data(result)
        assert data["prompts"] == "shared"
        assert data["prompt_hashes"]["answer"] == Prompt.load("answer").hash


def test_native_shows_facts_before_text_and_citations_fit(index: Index):
    result, shown = answered(index, "native", "kg", NAMES)
    fact = "Ness Light rebuilt by Bertil Oakes (1884): The Ness Light was rebuilt by Bertil Oakes in 1884.\n"
    assert shown.index("Facts:") < shown.index(fact) < shown.index("Passages:")  # once, and its date once
    first = result.answer.evidence.items[0].piece
    assert f"[1] {first.text}" in shown or f"[1] {first.title}\n{first.text}" in shown
    data = result_data(result)
    assert data["prompts"] == "native"
    assert data["prompt_hashes"]["answer"] == Prompt.load("native-facts").hash


def test_native_loops_note_what_was_asked(index: Index):
    more = {"questions": ["Who is Ada Holm?"]}
    _, shown = answered(index, "native", "recursive", more, rounds=2)
    assert "Who is Ada Holm?" in shown[shown.index("Searched for on the way:") :]
    more_of = {"suffices": False, "subquestion": "Where was Ada Holm born?"}
    _, shown = answered(index, "native", "iterative", "Insufficient information", more_of, rounds=2, base="naive")
    assert "Where was Ada Holm born?" in shown[shown.index("Searched for on the way:") :]


def test_a_paradigm_without_a_way_of_its_own_uses_the_shared_one(index: Index):
    result, _ = answered(index, "native", "naive")
    assert result_data(result)["prompt_hashes"]["answer"] == Prompt.load("answer").hash


@pytest.mark.parametrize(
    ("paradigm", "script", "settings"),
    [("naive", (), {}), ("kg", (NAMES,), {}), ("recursive", (), {"rounds": 1})],
)
def test_short_asks_every_paradigm_for_the_bare_answer(
    index: Index, paradigm: str, script: tuple[object, ...], settings
):
    bare = "Port Averne [1]"
    use = Resources(index, WordHashes(), ModelClient(ScriptedModel([*script, bare])), threshold=0.0, prompts="short")
    result = asyncio.run(ask(use, HOPS, paradigm, settings))
    assert result.answer.text == "Port Averne [1]"
    data = result_data(result)
    assert data["prompts"] == "short"
    assert data["prompt_hashes"]["answer"] == Prompt.load("short-answer").hash
    system = use.model.model.calls[-1].messages[0].content  # type: ignore[union-attr]
    assert all(word in system for word in ("one word", "`yes` or\n`no`", "Insufficient information"))


@pytest.mark.parametrize("preset", ["short", "shared"])
@pytest.mark.parametrize("text", ["Insufficient information", "insufficient information.", "Unknown"])
def test_an_abstention_in_words_is_one(index: Index, text: str, preset: Prompts):
    use = Resources(index, WordHashes(), ModelClient(ScriptedModel([text])), threshold=0.0, prompts=preset)
    answer = asyncio.run(ask(use, HOPS, "naive")).answer
    assert (answer.abstained, answer.text) == (True, ABSTENTION)


def test_the_reason_of_an_abstention_is_kept_and_shown(index: Index):
    text = "Insufficient information. The passages name the harbour [1], but not who paid for it."
    use = Resources(index, WordHashes(), ModelClient(ScriptedModel([text])), threshold=0.0)
    result = asyncio.run(ask(use, HOPS, "naive"))
    reason = "The passages name the harbour [1], but not who paid for it."
    assert (result.answer.text, result.answer.abstained, result.answer.citations) == (ABSTENTION, True, ())
    assert result_data(result)["explanation"] == reason
    assert result.answer.full_text == f"{ABSTENTION}\n\n{reason}"


def test_short_answers_from_memory_are_short_too(index: Index):
    script = ["Port Averne", {"suffices": True, "subquestion": ""}]
    use = Resources(index, WordHashes(), ModelClient(ScriptedModel(script)), threshold=0.0, prompts="short")
    result = asyncio.run(ask(use, HOPS, "iterative", {"rounds": 1, "base": "naive", "memory": True}))
    assert (result.answer.text, result.trace.prompts["recall"]) == ("Port Averne", Prompt.load("short-recall").hash)


def test_points_show_their_rating():
    passage = AnswerPassage("Ness", "", "It was rebuilt.", ("It was rebuilt.",), "report", 70.0)
    extractor = Extractor(WordHashes().embed, str.split, 0.0, 1)
    given = AnswerInput("?", [passage], extractor)
    assert "[1] (rated 70) It was rebuilt." in NATIVE["points"].call(given).messages[-1].content


@pytest.mark.parametrize("task", [ANSWER, *NATIVE.values()], ids=lambda task: task.text.name)
def test_every_answer_prompt_fences_what_is_not_ours(task):
    assert task.text.fenced == task.text.variables - {"question"}
