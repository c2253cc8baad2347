"""What is missing, what refuses, what leads on: the rules behind the loops."""

from __future__ import annotations

import asyncio

import pytest

from ragways.core.types import ABSTENTION
from ragways.layers.words import terms
from ragways.models.client import ModelClient
from ragways.tasks.search import (
    JUDGE_ANSWER,
    KEYWORDS,
    QUESTION_ENTITIES,
    SUBQUESTIONS,
    AnswerVerdict,
    JudgeAnswerInput,
    Keywords,
    KeywordsInput,
    QuestionEntitiesInput,
    SubquestionsInput,
    bridges,
    uncovered,
)

QUESTION = "In which town was the designer of the Ness Light born?"
LIGHT = "Ness Light: The designer of the Ness Light was Ada Holm. Born sailors pass it."
HOLM = "Ada Holm: The designer Ada Holm was born in the town of Port Averne."


def test_a_word_is_covered_beside_another_word_of_the_question():
    assert uncovered(QUESTION, [], terms) == ["town", "designer", "Ness", "Light", "born"]
    assert uncovered(QUESTION, [LIGHT], terms) == ["town", "born"], "`born` alone in a sentence says nothing"
    assert uncovered(QUESTION, [LIGHT, HOLM], terms) == []
    assert uncovered("Herring?", ["Herring is cheap."], terms) == []


def test_names_beside_the_questions_words_lead_on():
    assert bridges(QUESTION, [LIGHT], terms) == ["Ada Holm"]
    assert bridges(QUESTION, ["It rained in Skelwick."], terms) == []
    assert bridges("Who saw the light?", ["The light failed on Monday."], terms) == []


def do(task, given):
    outcome = asyncio.run(ModelClient(None).do(task, given))
    assert outcome.by_rule
    return outcome.value


def test_sub_questions_by_rule_ask_what_is_missing_of_the_names_found():
    found = do(SUBQUESTIONS, SubquestionsInput(QUESTION, (LIGHT,), asked=(), terms=terms))
    assert found.questions == ("Ada Holm town born",)
    again = do(SUBQUESTIONS, SubquestionsInput(QUESTION, (LIGHT,), asked=found.questions, terms=terms))
    assert again.questions == ()
    assert do(SUBQUESTIONS, SubquestionsInput(QUESTION, (LIGHT, HOLM), asked=(), terms=terms)).questions == ()


@pytest.mark.parametrize(
    ("answer", "passages", "asked", "verdict"),
    [
        ("Port Averne.", (LIGHT, HOLM), (), AnswerVerdict(True, "")),
        ("Port Averne.", (LIGHT,), (), AnswerVerdict(False, "Ada Holm town born")),
        ("Port Averne.", (LIGHT,), ("Ada Holm town born",), AnswerVerdict(False, "town born")),
        (ABSTENTION, (), (), AnswerVerdict(False, QUESTION)),
        (ABSTENTION, (LIGHT, HOLM), (), AnswerVerdict(False, "")),
    ],
)
def test_the_verdict_by_rule(answer: str, passages: tuple[str, ...], asked: tuple[str, ...], verdict: AnswerVerdict):
    said = do(JUDGE_ANSWER, JudgeAnswerInput(QUESTION, answer, passages, asked, terms))
    assert said == verdict


def test_keywords_and_entities_by_rule_come_from_the_names_that_are_known():
    def names(text: str) -> list[str]:
        return [name for name in ("Ness Light",) if name in text]

    found = do(KEYWORDS, KeywordsInput(QUESTION, names, terms))
    assert found == Keywords(("Ness Light",), ("town", "designer", "born"))
    assert do(QUESTION_ENTITIES, QuestionEntitiesInput(QUESTION, names)).entities == ("Ness Light",)
