"""When to stop: thresholds for not answering, with a bound on the share of wrong ones among what is answered.

Two thresholds are chosen together: after the look, nothing is answered where the value of `abstain` is at least one;
after the answer, it is withheld where its own chance of being right is below the other. Learn then test (Angelopoulos
et al. 2021): pairs of thresholds are put in an order on one half of the questions, the surest first, and tested in that
order on the other half until one fails. Those before it hold together with 95 % confidence, whichever is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import exp, lgamma, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragways.evaluation.routing.outcomes import Floats, Ints
from ragways.retrieval.routing.router import Stop

Marks = NDArray[np.bool_]
DELTA: Final = 0.05
"""The chance that what is certified does not hold."""
STEPS: Final = 12
"""Values of each threshold that are tried."""
FEWEST_ANSWERED: Final = 10
"""Answers below which a pair of thresholds is not looked at."""
_ALPHAS: Final = tuple(n / 100 for n in range(1, 100))


Pair = tuple[float | None, float | None]
"""A threshold for `abstain` after the look, and one for the chance of the answer; None is no threshold."""


@dataclass(frozen=True)
class Stopping:
    """By question, what the arm that is taken gave: whether it is `wrong`, or `silent` (it refused by itself); the
    value of `abstain` (`refusal`), and the answer's own `chance` (nan where there is none: never withheld).
    """

    wrong: Marks
    silent: Marks
    refusal: Floats
    chance: Floats

    def answered(self, look: float | None, answer: float | None) -> Marks:
        """Which questions are answered under these thresholds."""
        given = ~self.silent
        if look is not None:
            given = given & (self.refusal < look)
        if answer is not None:
            given = given & ~(self.chance < answer)
        return given

    def counted(self, pair: Pair) -> tuple[int, int]:
        """The answers under these thresholds, and the wrong ones among them."""
        answered = self.answered(*pair)
        return int(answered.sum()), int((answered & self.wrong).sum())

    def part(self, rows: Ints) -> Stopping:
        return Stopping(self.wrong[rows], self.silent[rows], self.refusal[rows], self.chance[rows])


@dataclass(frozen=True)
class CountedPair:
    """A pair of thresholds with the answers and the wrong ones among them: in the half that pairs are put in order on,
    and in the half that they are tested on.
    """

    pair: Pair
    ordering: tuple[int, int]
    testing: tuple[int, int]


def binomial_tail(errors: int, n: int, share: float) -> float:
    """The chance of at most so many errors in n where each has this share: p of the hypothesis that the share of wrong
    ones is larger.
    """
    if errors >= n or share <= 0:
        return 1.0
    if share >= 1:
        return 0.0
    terms = (
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log(1 - share)
        for k in range(errors + 1)
    )
    return min(1.0, sum(map(exp, terms)))


def count_pairs(given: Stopping, seed: int) -> list[CountedPair]:
    """All pairs that answer enough to be looked at, counted in both halves. Thresholds are quantiles of one half."""
    half = np.random.default_rng(seed).permutation(len(given.wrong))
    ordering, testing = given.part(half[::2]), given.part(half[1::2])
    pairs = product(_steps(ordering.refusal), _steps(ordering.chance))
    counted = [CountedPair(pair, ordering.counted(pair), testing.counted(pair)) for pair in pairs]
    return [each for each in counted if each.ordering[0] >= FEWEST_ANSWERED]


def _steps(values: Floats) -> list[float | None]:
    known = values[~np.isnan(values)]
    if not len(known) or np.ptp(known) == 0:
        return [None]
    at = np.quantile(known, np.linspace(0, 1, STEPS + 1)[1:], method="higher")
    return [None, *map(float, np.unique(at))]


def certify(counted: list[CountedPair], alpha: float) -> CountedPair | None:
    """The pair of thresholds that answers most among those certified at alpha; None where none is."""

    def surest(each: CountedPair) -> tuple[float, int]:
        answered, wrong = each.ordering
        return binomial_tail(wrong, answered, alpha), -answered

    certified: list[CountedPair] = []
    for each in sorted(counted, key=surest):
        answered, wrong = each.testing
        if binomial_tail(wrong, answered, alpha) > DELTA:
            break
        certified.append(each)
    return max(certified, key=lambda each: each.ordering[0], default=None)


def certified_stop(given: Stopping, alpha: float, seed: int, look: float | None) -> Stop:
    """The thresholds of a router. Where none is certified, those it would have had (`look`), and what could be."""
    counted = count_pairs(given, seed)
    found = certify(counted, alpha)
    if found is not None:
        (look, answer), (answered, wrong) = found.pair, found.testing
        words = (
            f"certified: at most {alpha:.0%} of what is answered is wrong, with 95 % confidence "
            f"({wrong} of {answered} in the half it was tested on)"
        )
        return Stop(look, answer, alpha, True, words)
    least = next((each for each in _ALPHAS if each > alpha and certify(counted, each) is not None), None)
    could = f"{least:.0%} could be" if least is not None else "nor is any other share"
    return Stop(look, None, alpha, False, f"not certified: at most {alpha:.0%} wrong among answers; {could}")
