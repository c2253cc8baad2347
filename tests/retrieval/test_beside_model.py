"""What the reader does beside a model: passages in order, a call spared, an answer held against what was read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.apps.answer import way_in_words
from ragways.core.errors import StoreFailed
from ragways.core.runtime import warn_once
from ragways.core.types import ABSTENTION, Answer
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.models.reader import Passage, Reading
from ragways.retrieval import reader as passages
from ragways.retrieval.answer import NOT_ASKED
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import Result, ask, retrieve
from ragways.retrieval.resources import Resources
from ragways.settings import read_settings
from ragways.testing.scripted import ScriptedModel
from tests.fakes import FindsWords, WordHashes
from tests.retrieval.graph_corpus import GRAPH_LAYERS, indexed

BORN = "In which town was Ada Holm born?"
GERMAN = "In welcher Stadt wurde die Erbauerin Ada Holm geboren und wo ist sie gestorben?"
READER = FindsWords({"in Port Averne": 8.0, "Skelwick": 1.0}, {"Port Averne is a town": 5.0, "born in": 3.0})
REFUSED = "Insufficient information"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.open(indexed(tmp_path_factory.mktemp("beside"), layers=GRAPH_LAYERS))


@pytest.fixture(autouse=True)
def always_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests here rest on what the reader finds, not on how chances are weighed."""
    monkeypatch.setattr(passages, "SURE", 0.0)


def says(text: str, passage: int = 1) -> str:
    return f"{text} [{passage}]"


def use(index: Index, reply: object = None, reader: object = READER, **changes: object) -> Resources:
    model = ScriptedModel([says("It was Port Averne.") if reply is None else reply])
    plain = Resources(index, WordHashes(), ModelClient(model), threshold=0.0, reader=reader)  # type: ignore[arg-type]
    return replace(plain, **changes)  # type: ignore[arg-type]


def asked(use: Resources, question: str = BORN, **settings: object) -> Result:
    return asyncio.run(ask(use, question, "words", settings))


def titles(answer: Answer) -> list[str]:
    return [hit.piece.title for hit in answer.evidence.items]


def sent(use: Resources) -> str:
    assert isinstance(use.model.model, ScriptedModel)
    return use.model.model.calls[0].messages[-1].content


# The order of passages


def test_a_model_is_shown_the_best_passages_in_the_readers_order(index: Index):
    before, beside = use(index), use(index, order=True)
    usual, ordered = asked(before).answer, asked(beside).answer
    assert titles(ordered)[:2] == ["Port Averne", "Ada Holm"] != titles(usual)[:2]
    assert sorted(titles(ordered)) == sorted(titles(usual))
    assert sent(beside).index("[1] Port Averne") < sent(beside).index("[2] Ada Holm")
    assert "[1] Port Averne" not in sent(before)
    assert [hit.score for hit in ordered.evidence.items] == [hit.score for hit in usual.evidence.items]
    assert [f.score for f in ordered.evidence.items[0].found if f.by == "reader"] == [5.0]
    assert ordered.citations[0].quote in {
        "Port Averne is a town on Tollen.",
        "Corwin Larch was mayor of Port Averne from 1802.",
    }


def test_the_reader_is_no_retriever_that_agrees(index: Index):
    trace = asked(use(index, order=True, check=True)).trace
    (features,) = [step.details["features"] for step in trace.walk() if "features" in step.details]
    assert isinstance(features, dict)
    assert features["agreement"] == 1


def test_what_is_shown_is_ordered_before_the_budget_is_spent(index: Index):
    first = asked(use(index, order=True)).answer.evidence.items[0]
    kept = asked(use(index, order=True), tokens=first.piece.tokens).answer
    assert titles(kept) == ["Port Averne"]


def test_one_pass_reads_six_at_most_and_what_is_behind_stays(index: Index):
    many = "Ness Light, Gull Rock, Bertil Oakes, Averne, railway, herring"
    reader = FindsWords({}, {"Herring": 9.0, "railway": 8.0})
    found = asyncio.run(retrieve(use(index), many, "words"))
    moved = asyncio.run(retrieve(use(index, reader=reader, order=True), many, "words"))
    assert len(found) > 6
    assert [len(group) for group in reader.groups] == [6]
    assert [hit.piece.id for hit in moved][6:] == [hit.piece.id for hit in found][6:]
    assert moved.items[0] != found.items[0]


def test_sentences_of_a_walk_keep_their_order(index: Index):
    reader = FindsWords({}, {"Port Averne": 9.0})
    resources = use(index, reader=reader, order=True)
    hits = asyncio.run(retrieve(use(index), BORN, "words"))
    sentences = tuple(replace(hit, piece=replace(hit.piece, kind="sentence")) for hit in hits)
    assert asyncio.run(passages.ordered(resources, replace(hits, items=sentences))).items == sentences
    assert reader.groups == []


@pytest.mark.parametrize(("paradigm", "again"), [("hybrid-words", True), ("fused", False)])
def test_a_list_that_the_reader_had_a_say_in_is_not_ordered_again(index: Index, paradigm: str, again: bool):
    trace = asyncio.run(ask(use(index, order=True), BORN, paradigm)).trace
    assert any("ordered" in step.details for step in trace.walk()) == again


def test_without_a_model_nothing_is_ordered(index: Index):
    alone = replace(use(index, order=True), model=ModelClient(None))
    assert titles(asked(alone).answer) == titles(asked(use(index)).answer)


# A call that is spared


def test_a_model_is_not_asked_where_the_chance_is_below_the_bound(index: Index):
    spared = replace(use(index, stop_below=1.0), model=ModelClient(ScriptedModel([])))
    result = asked(spared)
    assert (result.answer.text, result.answer.abstained, result.answer.way) == (ABSTENTION, True, NOT_ASKED)
    assert result.usage.calls == 0
    chance = result.answer.chance
    assert chance is not None
    assert not asked(use(index, stop_below=chance)).answer.abstained
    assert "not asked" in way_in_words(result.answer)


def test_the_bound_is_not_the_threshold(index: Index):
    assert not asked(use(index, stop_below=0.01, threshold=1.0)).answer.abstained


# An answer held against the reader's


@pytest.mark.parametrize(
    "text",
    ["Port Averne", "It was Port Averne.", "She was born in 1770, in the town of Port Averne on Tollen.", "Averne"],
)
def test_an_answer_that_says_what_the_reader_found_has_its_chance(index: Index, text: str):
    answer = asked(use(index, says(text), check=True)).answer
    assert answer.note == ""
    assert answer.chance == asked(replace(use(index), model=ModelClient(None))).answer.chance


@pytest.mark.parametrize(
    "text", ["Skelwick", "It was Skelwick.", "She came from a town called Averne, says the parish, or from Tollen."]
)
def test_one_that_says_something_else_stays_and_says_so(index: Index, text: str):
    result = asked(use(index, says(text), check=True))
    assert result.answer.text == f"{text} [1]"
    assert result.answer.chance is None
    assert result.answer.note.startswith("the reader finds another answer: Port Averne [")
    assert result_data(result)["note"] == result.answer.note


def test_a_refusal_is_held_against_it_too(index: Index):
    answer = asked(use(index, REFUSED, check=True)).answer
    assert answer.abstained
    assert answer.note.startswith("the reader finds another answer: Port Averne [")


def test_a_reader_that_is_not_sure_says_nothing(index: Index, monkeypatch: pytest.MonkeyPatch):
    unlikely = asked(use(index, says("Skelwick"), check=True, threshold=1.0)).answer
    monkeypatch.setattr(passages, "SURE", 1.0)
    unsure = asked(use(index, says("Skelwick"), check=True)).answer
    assert [(answer.note, answer.chance) for answer in (unlikely, unsure)] == [("", None)] * 2
    assert asked(use(index, says("Port Averne"), check=True)).answer.chance is not None


def test_a_refusal_where_the_reader_finds_the_answer_says_so(index: Index, monkeypatch: pytest.MonkeyPatch):
    answer = asked(use(index, REFUSED)).answer
    assert answer.abstained
    assert answer.note.startswith("the model found no answer in the evidence, but the reader does: Port Averne [")
    assert asked(use(index, REFUSED, reader=None)).answer.note == ""
    assert asked(use(index)).answer.note == ""
    monkeypatch.setattr(passages, "SURE", 1.0)
    assert asked(use(index, REFUSED)).answer.note == ""


def test_the_text_is_streamed_as_without_a_check(index: Index):
    heard: list[str] = []

    def listen(text: str, *, restart: bool = False) -> None:
        heard.append(text)

    result = asyncio.run(ask(use(index, says("Skelwick"), check=True, order=True), BORN, "words", on_text=listen))
    assert "".join(heard) == result.answer.full_text == "Skelwick [1]"
    assert result.answer.note


# Where it cannot work


class Broken:
    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        raise StoreFailed("the reader was altered", "install again")


@pytest.mark.parametrize("reader", [None, Broken()])
def test_without_weights_all_is_off_and_told_once(index: Index, reader: object, caplog: pytest.LogCaptureFixture):
    warn_once.cache_clear()
    usual = asked(use(index, says("Skelwick"))).answer
    with caplog.at_level(logging.WARNING, "ragways"):
        answers = [
            asked(use(index, says("Skelwick"), reader, order=True, stop_below=1.0, check=True)).answer for _ in range(2)
        ]
    assert all(answer == usual for answer in answers)
    told = [record.getMessage() for record in caplog.records if "reader" in record.getMessage()]
    assert len([text for text in told if "do nothing" in text or "keep their order" in text]) == 1


def test_a_question_in_another_language_is_left_alone(index: Index):
    usual = asked(use(index, says("Skelwick")), GERMAN).answer
    result = asked(use(index, says("Skelwick"), order=True, stop_below=1.0, check=True), GERMAN)
    assert result.answer == usual
    notes = {step.details.get("reader") for step in result.trace.walk()}
    assert "the reader knows English only, and the question is in German" in notes


def test_the_settings_are_off_unless_set(tmp_path: Path):
    usual = read_settings(environment={}, index=tmp_path).answer
    assert (usual.order, usual.stop_below, usual.check) == (False, 0.0, False)
    named = {"RAGWAYS_ANSWER__ORDER": "true", "RAGWAYS_ANSWER__STOP_BELOW": "0.1"}
    chosen = read_settings(environment=named, index=tmp_path).answer
    assert (chosen.order, chosen.stop_below) == (True, 0.1)
