"""The chance of an answer: what raises it, what it is made from, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest

from ragways.reading.sufficiency import WEIGHTS, Features, chance, coverage, structure
from ragways.settings import AnswerSettings

FOUND = Features(
    span=6.0, margin=0.8, evidence=3.0, names=1.0, words=0.8, nearness=0.7, agreement=2,
    length=6, nested=0, form="span",
)  # fmt: skip
NOTHING = replace(FOUND, span=-8.0, margin=0.1, evidence=-3.0, names=0.0, words=0.1, nearness=0.2, agreement=1)


def test_the_table_has_a_weight_for_every_feature_and_none_for_anything_else():
    features = set(asdict(FOUND)) - {"form"} | {"sentences"}
    assert set(FOUND.weighed()) == features == set(WEIGHTS) - {"constant"}


def test_no_span_is_expected_where_sentences_answer():
    without = replace(NOTHING, names=0.5, words=0.3, nearness=0.6)
    assert chance(replace(without, form="yes-no")) == chance(replace(without, form="prose")) > chance(without)


@pytest.mark.parametrize("name", ["span", "margin", "evidence", "names", "words", "nearness", "agreement"])
def test_more_of_what_speaks_for_an_answer_never_lowers_its_chance(name: str):
    steps = {"span": range(-30, 31, 3), "evidence": range(-15, 16), "agreement": range(6)}.get(
        name, [step / 10 for step in range(11)]
    )
    for other in (FOUND, NOTHING):
        chances = [chance(Features(**{**asdict(other), name: step})) for step in steps]
        assert chances == sorted(chances)
        assert chances[-1] > chances[0]


def test_it_is_a_chance_whatever_the_logits_are():
    for span in (-1e9, 1e9, math.inf, -math.inf):
        assert 0 < chance(replace(FOUND, span=span, evidence=span, length=10**6, nested=10**6, agreement=10**6)) < 1


def test_an_unknown_nearness_is_neither_near_nor_far():
    far, unknown, near = (chance(replace(FOUND, nearness=nearness)) for nearness in (0.0, None, 0.9))
    assert far < unknown < near


def test_the_default_threshold_separates_an_answer_from_none():
    assert chance(NOTHING) < AnswerSettings().threshold < chance(FOUND)


def test_a_name_is_covered_where_it_stands_as_a_whole_in_one_text():
    question = "When did Ann Lee build the Ness tower?"
    assert coverage(question, ["Ann Lee built towers."]).names == 1 / 2
    assert coverage(question, ["Ann built it.", "Lee was a town. The Ness tower stands."]).names == 1 / 2
    assert coverage(question, ["Of Ann Lee’s towers, Ness is one."]).names == 1
    assert coverage("What was sold in 1922?", ["It was sold in 1921."]).names == 0
    assert coverage("What does allow_origins do?", ["You can allow all origins."]).names == 0
    assert coverage("when was it?", []) == (0.8, 0.0)


def test_words_are_covered_wherever_they_stand():
    assert coverage("Who painted the northern tower?", ["A tower.", "The northern one was painted."]).words == 1
    assert coverage("Who painted the northern tower?", ["A tower."]).words == 1 / 3


def test_a_question_of_several_steps_is_nested():
    assert structure("Who built the tower?") == (2, 0)
    length, nested = structure("Who was the father of the man who built Ann's tower?")
    assert (length, nested) == (6, 3)
