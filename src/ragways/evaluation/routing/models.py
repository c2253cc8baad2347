"""The value of each arm: a ridge logistic model of its quality on standardised features, calibrated.

The constant is not penalised, so that a model without any signal gives the arm's mean over corpora. Features of the
corpus are shrunk more than others, since there are few corpora to learn from. Questions on which arms differ weigh
more, since only there does the choice matter. How much is shrunk is chosen by cross-validation, by how well the
differences between arms are predicted, which is what a choice rests on; to learn nothing is one of the choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ragways.evaluation.routing.outcomes import Floats, Ints
from ragways.retrieval.routing.router import FAR

By = Literal["corpus", "question"]
"""What is left out together: whole corpora, or questions within each."""

PENALTIES: Final = (float("inf"), 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
"""In questions: a penalty of 30 weighs as much as 30 questions. Without end: the arm's mean."""
OF_CORPORA: Final = (1000.0, 10.0)
"""So many times as much are features of the corpus shrunk, in turn."""
FOLDS: Final = 5
FEWEST_CORPORA: Final = 3
"""Corpora from which on one can be left out, and features of the corpus can be learned from."""
FLOOR: Final = 0.25
"""The weight of a question on which no two arms differ, beside one on which they differ wholly."""
_LEAST, _STEPS, _ROUGHLY = 1e-3, 200, 1e-6
_SLOPE_PENALTY: Final = 10.0
"""In questions: how much the slope of the calibration is shrunk towards 1."""


# Standardised features


@dataclass(frozen=True, slots=True)
class Standard:
    """The mean and spread of each feature over questions; corpora weigh the same."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, features: Floats, weights: Floats) -> Standard:
        """From features with nan for what is not known; a feature that does not vary has scale 0."""
        known = ~np.isnan(features)
        share = known * weights[:, None]
        total = np.maximum(share.sum(axis=0), 1e-300)
        filled = np.where(known, features, 0.0)
        mean = (share * filled).sum(axis=0) / total
        variance = (share * np.where(known, features - mean, 0.0) ** 2).sum(axis=0) / total
        scale = np.sqrt(variance)
        return cls(mean, np.where(scale > 1e-9 * np.maximum(1.0, np.abs(mean)), scale, 0.0))

    def apply(self, features: Floats) -> Floats:
        """As the models take them: unknown ones and those that did not vary are 0, as the mean is."""
        with np.errstate(invalid="ignore"):
            moved = (features - self.mean) / np.where(self.scale > 0, self.scale, 1.0)
        return np.asarray(np.where(np.isnan(moved) | (self.scale == 0), 0.0, np.clip(moved, -FAR, FAR)))


def fold_labels(corpus: Ints, by: By, seed: int) -> Ints:
    """The fold of each question: its corpus, or one of five into which the questions of each corpus are dealt."""
    if by == "corpus":
        return corpus
    folds = np.empty(len(corpus), dtype=np.intp)
    chance = np.random.default_rng(seed)
    dealt = 0
    for one in np.unique(corpus):
        rows = np.flatnonzero(corpus == one)
        folds[chance.permutation(rows)] = (np.arange(len(rows)) + dealt) % FOLDS
        dealt += len(rows)  # so that small corpora do not all begin with the first fold
    return folds


def usual_by(corpora: int) -> By:
    """What is left out together unless something else is chosen."""
    return "corpus" if corpora >= FEWEST_CORPORA else "question"


# Logistic models of several arms on the same features


def sigmoid(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -50.0, 50.0))))


def logit(shares: Floats) -> Floats:
    clipped = np.clip(shares, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(clipped / (1 - clipped)))


class Logistic:
    """Ridge logistic models of the columns of `y`, between 0 and 1, with weights of the same shape.

    What is minimised is the weighted sum of cross-entropies and half of `strength` times `shrink` times each squared
    weight; a feature whose `shrink` has no end is left out, the constant is free. Features are turned so that their
    products, and the penalty, are diagonal: a step then needs no matrix but the features themselves, for all arms and
    strengths. It is Newton's with the curvature taken as even over questions, and shorter for arms where that was too
    bold.
    """

    def __init__(self, x: Floats, y: Floats, weights: Floats, shrink: Floats) -> None:
        self._used = np.flatnonzero(np.isfinite(shrink))
        self._root = np.sqrt(shrink[self._used])
        self._y, self._weights = y, weights
        even = weights.mean(axis=1)
        scaled = x[:, self._used] / self._root
        self._centre = np.average(scaled, axis=0, weights=even)
        scaled = scaled - self._centre
        self._spread, self._turn = np.linalg.eigh((scaled.T * even) @ scaled)
        self._turned = scaled @ self._turn
        self._total = weights.sum(axis=0)
        self._constant = logit((weights * y).sum(axis=0) / self._total)
        self._slopes = np.zeros((len(self._used), y.shape[1]))
        self._features = x.shape[1]

    def fit(self, strength: float, close: float = 1e-8) -> tuple[Floats, Floats]:
        """The constants by arm, and the weights by arm and feature. Begins from what was fitted last."""
        found = np.zeros((self._y.shape[1], self._features))
        if np.isfinite(strength) and len(self._used):
            self._descend(strength, close)
            slopes = self._turn @ self._slopes
            found[:, self._used] = (slopes / self._root[:, None]).T
            return self._constant - self._centre @ slopes, found
        return logit((self._weights * self._y).sum(axis=0) / self._total), found

    def _descend(self, strength: float, close: float) -> None:
        careful = np.ones(self._y.shape[1])
        last = np.full(self._y.shape[1], np.inf)
        spread = np.maximum(self._spread, 0.0)[:, None]
        for _ in range(_STEPS):
            chances = sigmoid(self._constant + self._turned @ self._slopes)
            error = self._weights * (chances - self._y)
            # A trace of a penalty on the constant, so that an arm that is always right has a model, too.
            moved = error.sum(axis=0) + _LEAST * self._constant
            slope = self._turned.T @ error + strength * self._slopes
            curve = (self._weights * chances * (1 - chances)).sum(axis=0) / self._total * careful
            steepness = moved**2 / (curve * self._total + _LEAST) + (slope**2 / (curve * spread + strength)).sum(axis=0)
            if (steepness <= close * self._total).all():
                return
            careful = np.where(steepness > last, np.minimum(careful * 2, 64.0), careful)
            last = steepness
            self._constant = self._constant - moved / (curve * self._total + _LEAST)
            self._slopes = self._slopes - slope / (curve * spread + strength)


class ArmLogistic:
    """Models of all arms. Those that are `nested`, each showing what the one before shows and more, share their weights
    and differ in the constant: then more never has the lower value, and there is less to learn.
    """

    def __init__(self, x: Floats, y: Floats, weights: Floats, shrink: Floats, nested: Sequence[int]) -> None:
        self._nested = np.array(nested if len(nested) > 1 else (), dtype=np.intp)
        self._others = np.setdiff1d(np.arange(y.shape[1]), self._nested)
        self._shape = y.shape[1], x.shape[1]
        if len(self._others):
            self._own = Logistic(x, y[:, self._others], weights[:, self._others], shrink)
        count = len(self._nested)
        self._means = logit(np.average(y, axis=0, weights=weights))
        if count:
            which = np.repeat(np.eye(count), len(x), axis=0)
            stacked = np.hstack([np.tile(x, (count, 1)), which])
            # Each question counts once, however many arms are nested.
            self._shared = Logistic(
                stacked,
                y[:, self._nested].T.reshape(-1, 1),
                weights[:, self._nested].T.reshape(-1, 1) / count,
                np.append(shrink, np.full(count, _FREE)),
            )

    def fit(self, strength: float, close: float = 1e-8) -> tuple[Floats, Floats]:
        """The constants by arm, and the weights by arm and feature."""
        constants, weights = np.empty(self._shape[0]), np.empty(self._shape)
        if len(self._others):
            constants[self._others], weights[self._others] = self._own.fit(strength, close)
        if len(self._nested):
            constant, shared = self._shared.fit(strength, close)
            own = self._means[self._nested] if np.isinf(strength) else constant[0] + shared[0, self._shape[1] :]
            constants[self._nested], weights[self._nested] = own, shared[0, : self._shape[1]]
        return constants, weights


_FREE: Final = 1e-6
"""How much the constants of nested arms are shrunk: next to nothing."""


# The models of all arms


@dataclass(frozen=True, slots=True)
class ValueModels:
    """`constants` by arm, `weights` by arm and feature. `penalty` is the one that was chosen; `crossed` are the values
    of the questions they were fitted on, each by models that had not seen its fold.
    """

    standard: Standard
    constants: Floats
    weights: Floats
    penalty: float
    crossed: Floats

    def values(self, features: Floats) -> Floats:
        """The expected quality of each arm on questions with these features."""
        return sigmoid(self.constants + self.standard.apply(features) @ self.weights.T)


def fit_values(
    features: Floats,
    names: Sequence[str],
    quality: Floats,
    corpora_weights: Floats,
    folds: Ints,
    refusal: int | None,
    nested: Sequence[int] = (),
    made: Sequence[bool] = (),
) -> ValueModels:
    """A model for each column of `quality`, by question and arm; `refusal` is the column of `abstain`, `nested` are
    those of arms of which each shows what the one before shows, and more; `made` says for which questions the labels
    were made by construction.

    `folds` are those of the cross-validation that chooses the penalty and calibrates.
    """
    standard = Standard.of(features, corpora_weights)
    x = standard.apply(features)
    weights = arm_weights(quality, corpora_weights, refusal, made, nested)
    of_corpus = np.array([name.startswith("corpus.") for name in names], dtype=bool)
    fixed = standard.scale == 0
    tried: list[tuple[float, Floats, Floats, Floats]] = []
    for multiple in OF_CORPORA if (of_corpus & ~fixed).any() else OF_CORPORA[:1]:
        shrink = np.where(fixed, np.inf, np.where(of_corpus, multiple, 1.0))
        crossings = _Crossings(x, quality, weights, folds, shrink, nested)
        for strength in PENALTIES:
            crossed = crossings.at(strength)
            tried.append((strength, shrink, crossed, contrast_losses(crossed, quality)))
    strength, shrink, crossed, _ = tried[surely_best([losses for *_, losses in tried], corpora_weights)]
    slopes = ArmLogistic(x, quality, weights, shrink, nested).fit(strength)[1]
    constants, values = np.empty(quality.shape[1]), np.empty_like(quality)
    for arms in [list(nested), *([arm] for arm in range(quality.shape[1]) if arm not in nested)]:
        if arms:
            counted = np.where(weights[:, arms[0]] > 0, corpora_weights, 0.0)
            found = calibrate(slopes[arms[0]], x, crossed[:, arms], quality[:, arms], counted)
            constants[arms], slopes[arms], values[:, arms] = found
    return ValueModels(standard, constants=constants, weights=slopes, penalty=strength, crossed=values)


def arm_weights(
    quality: Floats,
    corpora_weights: Floats,
    refusal: int | None,
    made: Sequence[bool] = (),
    nested: Sequence[int] = (),
) -> Floats:
    """The weight of each question in each arm's model: by how far the best arm is from the worst. Whether to abstain
    is a question of its own, for which all weigh the same; so do they for nested arms, whose shared weights predict how
    hard a question is: the easiest and the hardest, on which they do not differ, are the ends of that scale.

    Questions with labels by construction are there for the arms that these call right. They say nothing about the
    other arms where such an arm is not taken.
    """
    arms = [arm for arm in range(quality.shape[1]) if arm != refusal]
    apart = np.ptp(quality[:, arms], axis=1)
    weights = np.repeat((corpora_weights * (FLOOR + (1 - FLOOR) * apart))[:, None], quality.shape[1], axis=1)
    for even in [*([refusal] if refusal is not None else []), *nested]:
        weights[:, even] = corpora_weights
    labelled = np.array(made, dtype=bool)
    if labelled.any() and not labelled.all():
        never = ~(quality[labelled] > 0).any(axis=0)
        weights[np.ix_(labelled, never)] = 0.0
    return np.asarray(weights * (len(quality) / weights.sum(axis=0)))


def contrast_losses(values: Floats, quality: Floats) -> Floats:
    """How badly values predict the differences between the arms of a question: the squared error of each arm's distance
    from the mean of all. That a question is hard for all arms changes no choice, so it does not count.
    """
    apart = values - values.mean(axis=1, keepdims=True) - quality + quality.mean(axis=1, keepdims=True)
    return np.asarray((apart**2).sum(axis=1))


def surely_best(losses: Sequence[Floats], weights: Floats) -> int:
    """The choice of the least mean loss; the first, which has learned nothing, unless that is worse by more than a
    standard error. Without it, what is but noise would be learned every second time.
    """
    means = [float(np.average(each, weights=weights)) for each in losses]
    best = int(np.argmin(means))
    better = (losses[0] - losses[best]) * weights
    error = float(better.std()) / np.sqrt(len(better))
    return best if better.mean() > max(error, 1e-12) else 0


class _Crossings:
    """Values of each fold by models of the others, for one penalty after another."""

    def __init__(
        self, x: Floats, quality: Floats, weights: Floats, folds: Ints, shrink: Floats, nested: Sequence[int]
    ) -> None:
        self._x, self._quality = x, quality
        self._tests = [folds == fold for fold in np.unique(folds)]
        trains = [~test if len(self._tests) > 1 else test for test in self._tests]
        self._models = [ArmLogistic(x[train], quality[train], weights[train], shrink, nested) for train in trains]

    def at(self, strength: float) -> Floats:
        values = np.empty_like(self._quality)
        for test, model in zip(self._tests, self._models, strict=True):
            constants, weights = model.fit(strength, _ROUGHLY)
            values[test] = sigmoid(constants + self._x[test] @ weights.T)
        return values


def calibrate(slopes: Floats, x: Floats, crossed: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """The constants and the weights of arms that share these weights, stretched so that cross-fitted values are right
    on average (Platt), and these values themselves. The constants make the mean value that of the arm, corpora weighing
    the same. `crossed` and `y` have a column for each arm.
    """
    logits, count = logit(crossed), y.shape[1]
    constant, slope = _platt(logits.T.reshape(-1), y.T.reshape(-1), np.tile(weights, count) / count)
    own = slopes * slope
    means = np.average(y, axis=0, weights=weights)
    constants = np.array([_constant(x @ own, float(mean), weights) for mean in means])
    return constants, own, sigmoid(constant + slope * logits)


def _platt(logits: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    """The constant and the slope, which is shrunk towards 1 a little and is never below 0."""
    centre = float(np.average(logits, weights=weights))
    apart = logits - centre
    constant, slope = float(logit(np.array([np.average(y, weights=weights)]))[0]), 1.0
    for _ in range(_STEPS):
        chances = sigmoid(constant + slope * apart)
        error, curve = weights * (chances - y), weights * chances * (1 - chances)
        gradient = np.array([error.sum() + _LEAST * constant, error @ apart + _SLOPE_PENALTY * (slope - 1)])
        hessian = np.array([[curve.sum() + _LEAST, curve @ apart], [curve @ apart, curve @ apart**2 + _SLOPE_PENALTY]])
        step = np.clip(np.linalg.solve(hessian, gradient), -1.0, 1.0)
        constant, slope = constant - float(step[0]), slope - float(step[1])
        if np.abs(step).max() < 1e-10:
            break
    slope = max(0.0, slope)
    return constant - slope * centre, slope


def _constant(logits: Floats, mean: float, weights: Floats) -> float:
    """The constant with which the weighted mean of the chances is this mean, by halving."""
    mean = min(max(mean, _LEAST), 1 - _LEAST)
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        above = float(np.average(sigmoid(logits + middle), weights=weights)) > mean
        low, high = (low, middle) if above else (middle, high)
    return (low + high) / 2
