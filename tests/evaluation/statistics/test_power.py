"""What is said to be findable is found as often as is said."""

from __future__ import annotations

import numpy as np
import pytest

from ragways.evaluation.statistics.inference import DetectableEffect, detectable_effect, in_words, sign_flip, t_quantile


@pytest.mark.parametrize(("n", "comparisons"), [(12, 1), (40, 1), (150, 1), (60, 10)])
def test_the_least_effect_is_found_four_times_of_five(n: int, comparisons: int):
    least = detectable_effect(n, 2.0, comparisons=comparisons)
    assert least.effect is not None
    chance = np.random.default_rng(n)
    trials = 500
    found = sum(
        sign_flip(chance.normal(least.effect, 2.0, n), flips=1999, seed=trial)[0] <= 0.05 / comparisons
        for trial in range(trials)
    )
    assert found / trials == pytest.approx(0.8, abs=0.06)


def test_students_quantiles():
    stats = pytest.importorskip("scipy.stats")
    for degrees in (5, 10, 30, 200):
        for share in (0.8, 0.975, 0.9995):
            assert t_quantile(share, degrees) == pytest.approx(stats.t.ppf(share, degrees), rel=0.02)


@pytest.mark.parametrize("comparisons", [1, 10, 45])
def test_so_many_must_differ_at_least(comparisons: int):
    needed = detectable_effect(100, 1.0, comparisons=comparisons).needed
    assert sign_flip([1.0] * needed)[0] <= 0.05 / comparisons < sign_flip([1.0] * (needed - 1))[0]


def test_in_words():
    assert in_words(DetectableEffect(100, 0.08, 6)) == (
        "With 100 questions a true difference below 8 points would be missed more than once in five times (80 % power)."
    )
    several = in_words([DetectableEffect(100, 0.08, 9, comparisons=3), DetectableEffect(90, 0.125, 9, comparisons=3)])
    assert several == (
        "With 90 to 100 questions a true difference below 8 to 12.5 points (by pair) would be missed more than once in "
        "five times (80 % power, 3 comparisons)."
    )
    assert "no difference could have been shown, however large: 6 at least" in in_words(detectable_effect(5, 0.5))
    assert "the same on all 50 questions" in in_words(detectable_effect(50, 0.0))
    assert in_words([]) == "Nothing was compared."
    assert "more than once in ten times (90 % power)" in in_words(DetectableEffect(100, 0.08, 6, power=0.9))
    assert "1,250 tokens" in in_words(DetectableEffect(10, 1250.0, 6), scale=1, unit="tokens")
