"""Value models: against plain gradient descent, and what shrinking, unknown features and calibration must do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.evaluation.routing.models import (
    FLOOR,
    ArmLogistic,
    Logistic,
    Standard,
    arm_weights,
    calibrate,
    fit_values,
    fold_labels,
    sigmoid,
    surely_best,
)
from tests.evaluation.routing.simulated import simulated


def descended(x, y, weights, penalty, steps=5000):
    """The same by plain gradient descent, one arm at a time."""
    design = np.column_stack([np.ones(len(x)), x])
    ridge = np.concatenate([[1e-3], penalty])
    rate = 1 / (0.25 * np.linalg.norm(design.T @ (design * weights[:, None]), 2) + ridge.max())
    beta = np.zeros(design.shape[1])
    for _ in range(steps):
        beta -= rate * (design.T @ (weights * (1 / (1 + np.exp(-design @ beta)) - y)) + ridge * beta)
    return beta


@pytest.mark.parametrize("strength", [0.5, 5.0])
def test_logistic_models_are_those_of_gradient_descent(strength: float):
    chance = np.random.default_rng(3)
    x = chance.normal(size=(40, 3))
    x[:, 2] += x[:, 0]
    y = np.column_stack([chance.uniform(size=40), (x[:, 0] > 0.3).astype(float), np.full(40, 0.02)])
    weights = chance.uniform(0.2, 2.0, size=(40, 3))
    shrink = np.array([1.0, 10.0, 2.0])
    constants, slopes = Logistic(x, y, weights, shrink).fit(strength, 1e-14)
    for arm in range(3):
        wanted = descended(x, y[:, arm], weights[:, arm], strength * shrink)
        assert np.allclose([constants[arm], *slopes[arm]], wanted, atol=2e-4)


def test_a_feature_shrunk_without_end_has_no_weight():
    x = np.random.default_rng(0).normal(size=(50, 2))
    y = (x[:, :1] > 0).astype(float)
    _, slopes = Logistic(x, y, np.ones_like(y), np.array([np.inf, 1.0])).fit(1.0)
    assert slopes[0, 0] == 0
    _, slopes = Logistic(x, y, np.ones_like(y), np.array([1.0, 1.0])).fit(np.inf)
    assert not slopes.any()


def test_an_unknown_feature_counts_as_the_mean_and_a_far_one_is_cut():
    features = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])
    standard = Standard.of(features, np.ones(3))
    assert standard.mean[0] == 2
    assert standard.scale.tolist() == [1, 0]
    assert standard.apply(np.array([[np.nan, 9.0], [100.0, 5.0]])).tolist() == [[0, 0], [5, 0]]


def test_corpora_weigh_the_same_in_means():
    standard = Standard.of(np.array([[0.0], [0.0], [0.0], [4.0]]), np.array([2 / 3, 2 / 3, 2 / 3, 2.0]))
    assert standard.mean[0] == pytest.approx(2)


def test_questions_on_which_arms_differ_weigh_more_but_not_for_abstaining():
    quality = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    weights = arm_weights(quality, np.ones(3), refusal=2)
    assert weights[:, 2].tolist() == [1, 1, 1]
    assert weights[1, 0] / weights[0, 0] == pytest.approx(FLOOR)
    assert weights[2, 1] / weights[0, 1] == pytest.approx(FLOOR + (1 - FLOOR) / 2)


def test_without_signal_a_value_is_the_arms_mean_over_corpora():
    chance = np.random.default_rng(5)
    corpus = np.repeat([0, 1, 2], [100, 40, 20])
    rates = np.array([[0.9, 0.5], [0.5, 0.5], [0.1, 0.5]])[corpus]
    quality = (chance.uniform(size=rates.shape) < rates).astype(float)
    weights = 160 / 3 / np.bincount(corpus)[corpus]
    models = fit_values(chance.normal(size=(160, 4)), ["look.a"] * 4, quality, weights, corpus, None)
    assert models.penalty == np.inf
    wanted = np.mean([quality[corpus == n].mean(axis=0) for n in range(3)], axis=0)
    assert np.allclose(models.values(np.full((1, 4), np.nan)), wanted)
    assert np.allclose(models.values(chance.normal(size=(1, 4))), wanted)


def test_a_penalty_is_chosen_only_where_it_is_better_by_more_than_chance():
    nothing, noisy, surely = np.ones(100), np.ones(100), np.full(100, 0.9)
    noisy[:50], noisy[50:] = 0.0, 1.9  # better by 0.05 on average, give or take 0.095
    assert surely_best([nothing, noisy], np.ones(100)) == 0
    assert surely_best([nothing, surely, noisy], np.ones(100)) == 1
    assert surely_best([nothing, nothing], np.ones(100)) == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 3.0))
def test_calibrated_values_have_the_mean_of_the_outcomes(seed: int, stretch: float):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(80, 2))
    y = (chance.uniform(size=80) < sigmoid(x[:, 0])).astype(float)
    weights = chance.uniform(0.5, 1.5, size=80)
    slopes = np.array([stretch, 0.0])
    constants, own, values = calibrate(slopes, x, sigmoid(stretch * x[:, :1] + 2), y[:, None], weights)
    constant, crossed = constants[0], values[:, 0]
    mean = np.clip(np.average(y, weights=weights), 1e-3, 1 - 1e-3)
    assert np.average(sigmoid(constant + x @ own), weights=weights) == pytest.approx(mean, abs=1e-6)
    assert np.average(crossed, weights=weights) == pytest.approx(mean, abs=0.01)
    assert (own * slopes >= 0).all()


def test_calibration_holds_in_what_is_too_sure():
    chance = np.random.default_rng(1)
    x = chance.normal(size=(2000, 1))
    y = (chance.uniform(size=2000) < sigmoid(x[:, 0])).astype(float)
    _, own, _ = calibrate(np.array([3.0]), x, sigmoid(3 * x[:, :1]), y[:, None], np.ones(2000))
    assert own[0] == pytest.approx(1, abs=0.15)


def test_folds_are_the_same_by_seed_and_deal_each_corpus_evenly():
    corpus = np.repeat([0, 1], [50, 15]).astype(np.intp)
    folds = fold_labels(corpus, "question", 4)
    assert (folds == fold_labels(corpus, "question", 4)).all()
    assert (folds != fold_labels(corpus, "question", 5)).any()
    assert np.bincount(folds[corpus == 0]).tolist() == [10] * 5
    assert np.bincount(folds[corpus == 1]).tolist() == [3] * 5
    assert fold_labels(corpus, "corpus", 0) is corpus


def test_signal_is_learned_and_values_are_near_the_truth():
    outcomes, truth = simulated(2, questions=1500)
    folds = fold_labels(outcomes.corpus, "question", 0)
    models = fit_values(outcomes.features, outcomes.names, outcomes.mean_quality, outcomes.weights, folds, None)
    assert np.abs(models.crossed - truth).mean() < 0.06
    assert np.abs(models.values(outcomes.features) - truth).mean() < 0.06


def test_nested_arms_share_their_weights_and_more_never_has_the_lower_value():
    chance = np.random.default_rng(3)
    x = chance.normal(size=(200, 4))
    hard = x @ np.array([1.0, -0.5, 0.0, 0.0]) + chance.logistic(size=200)
    y = np.column_stack([hard < limit for limit in (-1.0, 0.5, 2.0)] + [hard > 1.0]).astype(np.float64)
    weights = np.ones_like(y)
    shrink = np.ones(4)
    constants, slopes = ArmLogistic(x, y, weights, shrink, (0, 1, 2)).fit(3.0)
    assert np.array_equal(slopes[0], slopes[1])
    assert np.array_equal(slopes[0], slopes[2])
    assert constants[0] < constants[1] < constants[2]
    values = sigmoid(constants + x @ slopes.T)
    assert (np.diff(values[:, :3], axis=1) >= 0).all()
    alone = Logistic(x, y[:, 3:], weights[:, 3:], shrink).fit(3.0)
    assert slopes[3] == pytest.approx(alone[1][0])
    assert constants[3] == pytest.approx(alone[0][0])


def test_the_weights_that_nested_arms_share_are_those_of_plain_gradient_descent():
    chance = np.random.default_rng(4)
    x = chance.normal(size=(60, 3))
    hard = x @ np.array([1.0, -0.5, 0.2]) + chance.logistic(size=60)
    y = np.column_stack([hard < limit for limit in (-0.5, 1.0)]).astype(np.float64)
    constants, slopes = ArmLogistic(x, y, np.ones_like(y), np.ones(3), (0, 1)).fit(2.0)
    own, shared = np.zeros(2), np.zeros(3)
    for _ in range(20_000):
        error = sigmoid(own + (x @ shared)[:, None]) - y
        own -= 0.02 * error.sum(axis=0) / 2
        shared -= 0.02 * (x.T @ error.sum(axis=1) / 2 + 2.0 * shared)
    assert slopes[0] == pytest.approx(shared, abs=2e-3)
    assert constants == pytest.approx(own, abs=2e-2)


def test_without_end_nested_arms_have_their_own_means():
    y = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]] * 10)
    constants, slopes = ArmLogistic(np.ones((20, 1)), y, np.ones_like(y), np.ones(1), (0, 1)).fit(float("inf"))
    assert not slopes.any()
    assert sigmoid(constants)[1] == pytest.approx(0.5)


def test_labels_by_construction_weigh_nothing_for_arms_that_they_never_call_right():
    quality = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    weights = arm_weights(quality, np.ones(4), 2, (False, False, True, True))
    assert (weights[2:, 0] == 0).all()
    assert (weights[:, 1:] > 0).all()
    assert (arm_weights(quality, np.ones(4), 2)[:, 0] > 0).all()


def test_all_questions_weigh_the_same_for_nested_arms():
    quality = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    even = arm_weights(quality, np.ones(3), None, (), (0, 1))
    assert even[:, :2] == pytest.approx(np.ones((3, 2)))
    assert len(set(even[:, 2])) == 2
