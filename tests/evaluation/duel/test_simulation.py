"""A short version of `benchmarks/duel.py`: judges with a known bias, by the real procedure."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.duel import measure
from benchmarks.simulated_judges import SCENARIOS
from ragways.evaluation.duel.entries import DuelRules

QUICK = DuelRules(trials=1)
BY_NAME = {one.name: one for one in SCENARIOS}


@cache
def measured(name: str, runs: int = 2, questions: int = 100, labels: int = 0) -> dict[str, int]:
    found: dict[str, int] = measure(BY_NAME[name], range(runs), questions, QUICK, labels)
    return found


@pytest.mark.parametrize("name", ["equal-first-80", "equal-longer-80", "unequal-blind", "unequal-zero"])
def test_a_biased_or_blind_judge_names_no_winner(name: str):
    row = measured(name, questions=40)
    assert row["tie"] + row["no verdict"] == 2


@pytest.mark.parametrize(
    "name",
    [
        "hedging, more", "quotations, any", "years, each", "politeness, more", "semicolons, any", "parentheses, more",
        "connectives, any", "dashes, more", "likes-bullets", "likes-more-words", "knows-likes-long-words",
        "fair-in-210-calls", "mute-where-a-is-worse", "b-is-rewritten-by-a-better-writer",
    ],
)  # fmt: skip
def test_a_judge_that_pays_for_words_names_no_winner(name: str):
    row = measured(name)
    assert (row["a wins"], row["b wins"]) == (0, 0)


def test_labels_of_people_correct_a_biased_judge():
    row = measured("hedging, more", labels=45)
    assert (row["a wins"], row["tie"]) == (0, 2)


@pytest.mark.parametrize("name", ["fair-quality-20", "fair-first-bonus-quality-20"])
def test_a_fair_judge_finds_a_true_difference(name: str):
    row = measured(name, questions=150)
    assert (row["a wins"], row["control passed"]) == (2, 2)
    assert row["probe calls"] <= 220


@pytest.mark.parametrize("name", ["fair, hedging, b better", "fair, parentheses, b better"])
def test_a_style_is_no_reason_to_refuse_a_fair_judge(name: str):
    assert measured(name, questions=150)["b wins"] == 2
