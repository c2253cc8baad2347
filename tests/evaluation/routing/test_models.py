"""Value models: against plain gradient descent, and what shrinking, unknown features and calibration must do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.evaluation.routing.models import (
    ArmLogistic,
    Logistic,
    Standard,
    calibrate,
    fit_values,
    fold_labels,
    sigmoid,
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


def test_an_unknown_feature_counts_as_the_mean_and_a_far_one_is_cut():
    features = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])
    standard = Standard.of(features, np.ones(3))
    assert standard.mean[0] == 2
    assert standard.scale.tolist() == [1, 0]
    assert standard.apply(np.array([[np.nan, 9.0], [100.0, 5.0]])).tolist() == [[0, 0], [5, 0]]


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
    assert np.array_equal(slopes[0], slopes[1])
    assert slopes[0] == pytest.approx(shared, abs=2e-3)
    assert constants[0] < constants[1], "more never has the lower value"
    assert constants == pytest.approx(own, abs=2e-2)
