"""A short version of `benchmarks/duel.py`: judges with a known bias, by the real procedure."""

from __future__ import annotations

from functools import cache

import pytest

from ragways.evaluation.duel.entries import DuelRules
from tests.evaluation.duel.duel_fakes import benchmark

QUICK = DuelRules(trials=1, answers=50, selftest=100)
SIMULATION = benchmark()
SCENARIOS = {one.name: one for one in SIMULATION.SCENARIOS}


@cache
def measured(name: str, runs: int, questions: int) -> dict[str, int]:
    found: dict[str, int] = SIMULATION.measure(SCENARIOS[name], range(runs), questions, QUICK)
    return found


@pytest.mark.parametrize("name", ["equal-first-80", "equal-longer-80", "unequal-blind", "unequal-zero"])
def test_a_biased_or_blind_judge_gives_no_verdict(name: str):
    assert measured(name, 3, 40)["no verdict"] == 3


@pytest.mark.parametrize(
    "name",
    [
        "likes-bullets",
        "likes-sources",
        "likes-own-name",
        "likes-long-words",
        "likes-more-words",
        "knows-likes-long-words",
        "knows-likes-more-words",
        "mute-where-a-is-worse",
        "a-crashes-where-worse",
        "held-headings-and-tables",
    ],
)
def test_a_judge_that_likes_a_style_or_falls_silent_names_no_winner(name: str):
    row = measured(name, 2, 80)
    assert (row["a wins"], row["b wins"]) == (0, 0)


def test_what_the_normal_form_takes_off_is_no_reason_to_refuse_a_judge():
    assert measured("likes-bullets", 2, 80)["self-test passed"] == 2


def test_points_for_the_first_place_are_cancelled_and_no_reason_to_refuse_a_judge():
    row = measured("fair-first-bonus-quality-20", 2, 100)
    assert (row["a wins"], row["self-test passed"]) == (2, 2)


def test_a_fair_judge_finds_a_true_difference_of_20_points():
    row = measured("fair-quality-20", 2, 150)
    assert (row["a wins"], row["self-test passed"]) == (2, 2)
