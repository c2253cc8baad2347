"""Thresholds for stopping: p against sums of binomial terms, and that what is certified holds."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from ragways.evaluation.routing.certify import (
    CountedPair,
    Stopping,
    binomial_tail,
    certified_stop,
    certify,
    count_pairs,
)


@pytest.mark.parametrize(("errors", "n", "share"), [(0, 10, 0.1), (3, 40, 0.1), (12, 60, 0.3), (5, 5, 0.2)])
def test_p_is_the_sum_of_binomial_terms(errors: int, n: int, share: float):
    wanted = sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(errors + 1))
    assert binomial_tail(errors, n, share) == pytest.approx(wanted)


def drawn(seed: int, questions: int = 600) -> Stopping:
    """Answers whose chance is true: a chance of 0.9 is wrong one time in ten."""
    chance = np.random.default_rng(seed)
    told = chance.beta(2, 1, size=questions)
    return Stopping(
        wrong=chance.uniform(size=questions) > told,
        silent=np.zeros(questions, dtype=bool),
        refusal=1 - told * chance.uniform(0.5, 1, size=questions),
        chance=told,
    )


def test_what_is_certified_holds_on_new_questions():
    wrong = missed = 0
    for seed in range(40):
        found = certify(count_pairs(drawn(seed), seed), 0.2)
        if found is None:
            missed += 1
            continue
        new = drawn(1000 + seed, 20_000)
        answered = new.answered(*found.pair)
        wrong += new.wrong[answered].mean() > 0.2
        assert answered.mean() > 0.05
    assert wrong <= 5  # 2 of 40 are expected at most
    assert missed < 10


def test_the_words_say_what_is_certified_and_what_could_be():
    sure = certified_stop(drawn(1), 0.15, 0, 0.7)
    assert sure.certified
    assert sure.answer is not None or sure.look is not None
    assert sure.words.startswith("certified: at most 15% of what is answered is wrong, with 95 % confidence")
    half = Stopping(np.arange(200) % 2 == 0, np.zeros(200, dtype=bool), np.zeros(200), np.full(200, np.nan))
    not_sure = certified_stop(half, 0.1, 0, 0.7)
    assert (not_sure.certified, not_sure.look, not_sure.answer) == (False, 0.7, None)
    assert not_sure.words.startswith("not certified: at most 10% wrong among answers; ")
    least = int(not_sure.words.split("; ")[1].split("%")[0]) / 100
    assert 0.5 < least < 0.7
    assert certify(count_pairs(half, 0), least) is not None
    assert certify(count_pairs(half, 0), least - 0.01) is None


def test_nothing_is_certified_behind_the_first_that_fails():
    """Else some pair of many would pass by luck."""
    surest, second = (100, 2), (100, 5)
    fails, passes = (100, 30), (100, 3)
    assert certify([CountedPair((0.5, None), surest, fails), CountedPair((0.6, None), second, passes)], 0.1) is None
    found = certify([CountedPair((0.5, None), surest, passes), CountedPair((0.6, None), second, fails)], 0.1)
    assert found is not None
    assert found.pair == (0.5, None)
