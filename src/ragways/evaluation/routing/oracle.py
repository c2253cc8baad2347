"""The oracle: what the best choice of an arm for each question would have been worth.

The best of several noisy outcomes is better than any arm is. The naive oracle takes it all the same. The corrected one
chooses by one half of the repeats and is scored on the other half, so that the luck of the choice is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ragways.evaluation.routing.learn import FitSettings, utilities
from ragways.evaluation.routing.outcomes import Floats, Outcomes

SPLITS: Final = 20
"""Ways to halve the repeats that are tried, at most."""
_PRIOR: Final = 1.0
"""Repeats that a predicted value weighs as many as, where there is one repeat of a noisy model."""


@dataclass(frozen=True)
class Oracle:
    """`naive` and `corrected` are mean utilities, corpora weighing the same; `words` say how it was corrected."""

    naive: float
    corrected: float
    words: str


def oracle(outcomes: Outcomes, settings: FitSettings, values: Floats) -> Oracle:
    """The oracle of these outcomes; `values` are the predicted ones, by models that had not seen the question."""
    naive = utilities(outcomes, settings).max(axis=1)
    repeats = outcomes.quality.shape[2]
    if outcomes.exact:
        # A repeat of what is exact is no other draw: there is no luck to take out.
        words = (
            "asking again gives the same, so the naive oracle is exact for these outcomes; "
            "but what sets questions apart need not be in any feature, so not all of its gap can be learned"
        )
        found = naive
    elif repeats >= 2:
        words = f"corrected: arms were chosen on one half of {repeats} repeats and scored on the other"
        found = split_halves(outcomes, settings, values)
    else:
        words = (
            "an estimate: with one repeat of a noisy model each outcome counts half and what was predicted of it half; "
            "run with --repeats 2 or more to have it measured"
        )
        found = shrunken(outcomes, settings, values)
    return Oracle(outcomes.mean(naive), outcomes.mean(found), words)


def split_halves(outcomes: Outcomes, settings: FitSettings, values: Floats) -> Floats:
    """The utility by question of the arm that seems best by half of the repeats, on the other half.

    One or two repeats alone are noisy, so their values are shrunk towards what was predicted, as far as repeats
    differ among themselves more than from that (`prior_repeats`). Scores are free of the choice's luck in any case.
    """
    quality = outcomes.quality
    filled = np.where(np.isnan(quality), outcomes.mean_quality[:, :, None], quality)
    worth = settings.worth(outcomes.costs[settings.cost])
    prior = prior_repeats(quality, values)
    chance = np.random.default_rng(settings.seed)
    repeats, rows = quality.shape[2], np.arange(len(outcomes))
    total, halvings = np.zeros(len(outcomes)), 1 if repeats == 2 else SPLITS
    for _ in range(halvings):
        order = chance.permutation(repeats)
        halves = order[: repeats // 2], order[repeats // 2 :]
        for choose, score in (halves, halves[::-1]):
            seen = (filled[:, :, choose].sum(axis=2) + prior * values) / (len(choose) + prior)
            chosen = np.argmax(seen - worth, axis=1)
            total += (filled[:, :, score].mean(axis=2) - worth)[rows, chosen]
    return total / (2 * halvings)


def prior_repeats(quality: Floats, values: Floats) -> float:
    """As how many repeats a predicted value counts: the variance of repeats of one question and arm among themselves,
    in that of their true means about what was predicted (the covariance of two repeats).
    """
    apart = quality - values[:, :, None]
    known = ~np.isnan(apart)
    filled, counts = np.where(known, apart, 0.0), known.sum(axis=2)
    squares, sums = (filled**2).sum(axis=2), filled.sum(axis=2)
    pairs = (counts * (counts - 1)).sum()
    between = float((sums**2 - squares).sum() / max(pairs, 1))
    whole = float(squares.sum() / max(counts.sum(), 1))
    return float(np.clip((whole - between) / max(between, 1e-9), 1e-3, 1e3))


def shrunken(outcomes: Outcomes, settings: FitSettings, values: Floats) -> Floats:
    """The utility of the best arm when each outcome is shrunk towards what was predicted. With one repeat, noise cannot
    be measured; this lies between all of the outcome being noise and none.
    """
    quality = (outcomes.mean_quality + _PRIOR * values) / (1 + _PRIOR)
    return np.asarray((quality - settings.worth(outcomes.costs[settings.cost])).max(axis=1))
