"""Rows and weights of the support estimate, from texts and repositories made here."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ragways.reading.support import SupportEstimate
from training.support import Measured, auc, calibration_error, exchanged, fit

CLAIM = "Ness Light was built in 1912 by Ada Holm."
TEXT = f"{CLAIM} It cost four thousand crowns in all. In 1920 the widow Olga Berg bought the old tower."
KNOWN = {"date": ["3 May 1901"], "year": ["1833"], "number": ["77"], "name": ["Per Lund"]}


def test_one_fact_is_exchanged_for_another_of_its_kind_from_here_or_elsewhere():
    found = {exchanged(CLAIM, TEXT, KNOWN, random.Random(seed)) for seed in range(60)}
    assert found == {
        "Ness Light was built in 1833 by Ada Holm.",
        "Ness Light was built in 1920 by Ada Holm.",
        "Ness Light was built in 1912 by Per Lund.",
        "Ness Light was built in 1912 by Olga Berg.",
        "Ness Per Lund was built in 1912 by Ada Holm.",
        "Ness Olga Berg was built in 1912 by Ada Holm.",
    }
    assert exchanged("It stands on a rock.", TEXT, KNOWN, random.Random(1)) is None


def test_weights_are_fitted_again_and_figures_are_those_of_the_definition():
    chance = np.random.default_rng(3)
    known = []
    for _ in range(20_000):
        words, facts, logit = chance.uniform(), chance.uniform(), chance.normal(0, 2)
        right = 1 / (1 + np.exp(-(-1 + 2 * words - 3 * (1 - facts) + 0.5 * logit)))
        estimate = SupportEstimate(right, words, facts, logit)
        known.append(Measured(int(chance.uniform() < right), "x", True, estimate))
    found = fit(known, ["always", "words", "missing", "reader"])
    assert list(found.values()) == pytest.approx([-1, 2, -3, 0.5], abs=0.25)  # 3 standard errors
    chances = np.array([row.estimate.chance for row in known])
    wanted = np.array([bool(row.supported) for row in known])
    assert calibration_error(chances, wanted) < 0.03
    assert calibration_error(1 - chances, wanted) > 0.3
    assert auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, True, False, True])) == pytest.approx(3.5 / 4)
