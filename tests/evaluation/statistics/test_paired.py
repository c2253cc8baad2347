"""Paired comparisons agree with slow references, lose nothing in silence, and keep their promises."""

from __future__ import annotations

from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.plain import to_plain
from ragways.evaluation.record import Score
from ragways.evaluation.statistics.comparison import compare
from ragways.evaluation.statistics.inference import ENUMERATED, FLIPS, interval, sign_flip
from ragways.evaluation.statistics.values import Value

NUMBERS = st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 2))


def slow_sign_flip(differences: list[float]) -> float:
    """Every choice of signs, one by one."""
    seen = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    return sum(one >= seen - 1e-9 for one in sums) / len(sums)


def slow_mcnemar(wins: int, losses: int) -> float:
    n, k = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n) if n else 1.0


@given(st.lists(NUMBERS, max_size=9))
def test_few_differences_are_tested_exactly(differences):
    p, exact = sign_flip(differences)
    assert exact
    assert p == pytest.approx(slow_sign_flip(differences))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 30))
def test_yes_and_no_is_mcnemars_exact_test(wins, losses, ties):
    p, exact = sign_flip([1.0] * wins + [-1.0] * losses + [0.0] * ties)
    assert exact
    assert p == pytest.approx(slow_mcnemar(wins, losses))


def test_drawn_signs_agree_with_all_of_them():
    chance = np.random.default_rng(1)
    for shift in (0.0, 0.3, 0.6):
        differences = chance.normal(shift, 1, ENUMERATED)
        exact, is_exact = sign_flip(differences)
        # Zeros change nothing, and a sliver too small to matter makes one too many to look at them all.
        drawn, drawn_is_exact = sign_flip([*differences, 1e-12])
        assert is_exact
        assert not drawn_is_exact
        assert drawn == pytest.approx(exact, abs=4 * (exact * (1 - exact) / FLIPS) ** 0.5 + 2 / FLIPS)


def by_convolution(differences: list[int]) -> float:
    """The whole distribution of the sum of whole numbers with drawn signs, a number at a time."""
    ways = {0: 1}
    for size in differences:
        more: dict[int, int] = {}
        for total, count in ways.items():
            for sign in (size, -size):
                more[total + sign] = more.get(total + sign, 0) + count
        ways = more
    seen = abs(sum(differences))
    return sum(count for total, count in ways.items() if abs(total) >= seen) / float(2 ** len(differences))


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 0.1])
def test_sums_that_are_equal_count_as_far_out(unit: float):
    # Means over repeats are such numbers, and many sums are just as far from 0 as the one seen.
    differences = [1] * 9 + [2] * 5 + [-1] * 6 + [-2] * 2
    expected = by_convolution(differences)
    drawn, exact = sign_flip(np.array(differences) * unit)
    assert not exact
    assert drawn == pytest.approx(expected, abs=4 * (expected * (1 - expected) / FLIPS) ** 0.5)


def test_p_is_never_zero_and_even_under_no_difference():
    assert sign_flip(np.arange(1, 101, dtype=float))[0] == 1 / (FLIPS + 1)
    chance = np.random.default_rng(3)
    ps = [sign_flip(chance.normal(0, 1, 40), flips=999, seed=n)[0] for n in range(400)]
    assert abs(np.mean(np.array(ps) <= 0.05) - 0.05) < 0.03
    assert abs(np.mean(ps) - 0.5) < 0.05


@given(st.dictionaries(st.text(max_size=3), NUMBERS, max_size=40), st.dictionaries(st.text(max_size=3), NUMBERS))
def test_turned_round_everything_is_turned_round(a, b):
    one, two = compare(a, b, seed=1), compare(b, a, seed=1)
    assert (one.n, one.dropped, one.wins, one.ties, one.losses) == (
        two.n, two.dropped, two.losses, two.ties, two.wins,
    )  # fmt: skip
    assert one.missing_a == two.missing_b
    assert one.n + one.dropped == len(set(a) | set(b))
    assert one.wins + one.ties + one.losses == one.n
    assert sum(one.missing_a.values()) == len(set(b) - set(a))
    if one.n:
        assert one.difference == pytest.approx(-(two.difference or 0))
        assert one.p == pytest.approx(two.p, abs=0.02)
        assert 0 < (one.p or 0) <= 1


def test_pairing_not_the_means_decides():
    chance = Random(4)
    level = {f"q{n}": chance.gauss(0, 10) for n in range(60)}
    better = {q: value + 0.5 + chance.gauss(0, 0.3) for q, value in level.items()}
    found = compare(better, level, seed=1)
    assert found.p is not None
    assert found.p < 0.001
    assert found.low is not None
    assert found.low > 0.3
    others = dict(zip(level, [*list(level.values())[7:], *list(level.values())[:7]], strict=True))
    unpaired = compare(better, others, seed=1)
    assert unpaired.difference == pytest.approx(found.difference)
    assert unpaired.p is not None
    assert unpaired.p > 0.3


def test_repeats_of_one_question_are_averaged_first():
    found = compare({"a": [1.0, 0.0, 1.0, 0.0], "b": 1.0}, {"a": 0.5, "b": (0.0, 0.5)})
    assert (found.n, found.wins, found.ties) == (2, 1, 1)
    assert found.difference == pytest.approx(0.375)


def test_nothing_is_dropped_in_silence():
    nan = float("nan")
    none = Score(None, "no gold")
    a: dict[str, Value] = {"1": 1.0, "2": 0.0, "3": nan, "4": 1.0, "5": Score(None, "unreadable"), "6": none}
    found = compare(a, {"1": 0.0, "2": 0.0, "3": 1.0, "5": 1.0, "6": none})
    assert found.n == 2
    assert found.dropped == 4
    assert found.missing_a == {"no gold": 1, "not a number": 1, "unreadable": 1}
    assert found.missing_b == {"no gold": 1, "not asked": 1}
    assert to_plain(found)["missing_b"] == {"no gold": 1, "not asked": 1}


def test_where_nothing_can_be_computed_nothing_is_said():
    nothing = compare({"a": 1.0}, {"b": 1.0})
    assert (nothing.n, nothing.difference, nothing.p, nothing.low) == (0, None, None, None)
    one = compare({"a": 1.0}, {"a": 0.0})
    assert (one.n, one.difference, one.p, one.low, one.deviation) == (1, 1.0, 1.0, None, None)
    same = compare({"a": 1.0, "b": 0.1}, {"a": 1.0, "b": 0.1})
    assert (same.difference, same.p, same.low, same.high, same.ties) == (0.0, 1.0, None, None, 2)


def test_rounding_is_no_difference():
    thirds = {str(n): [0.1, 0.2, 0.3] for n in range(30)}
    found = compare(thirds, {str(n): [0.3, 0.1, 0.2] for n in range(30)})
    assert (found.ties, found.p) == (30, 1.0)


# Intervals


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_an_interval_holds_the_mean_and_hangs_not_on_the_order(values, chance):
    low, high = interval(values)
    if low is None or high is None:
        assert len(values) < 2 or max(values) - min(values) <= 1e-9
    else:
        assert low <= sum(values) / len(values) + 1e-9
        assert high >= sum(values) / len(values) - 1e-9
    shuffled = list(values)
    chance.shuffle(shuffled)
    again = interval(shuffled)
    assert again == (low, high) if low is None else list(again) == pytest.approx([low, high])


@pytest.mark.parametrize("values", [[], [0.25], [1.0], [0.5] * 20, [0.1 + 0.2, 0.3]])
@pytest.mark.parametrize("share", [False, True])
def test_what_tells_nothing_of_other_questions_has_no_interval(values: list[float], share: bool):
    assert interval(values, share=share) == (None, None)


def test_only_shares_are_taken_for_shares():
    assert interval([0.0] * 20) == (None, None), "differences, say: they could be negative as well"
    assert list(interval([1.0] * 20, share=True)) == pytest.approx([0.8389, 1.0], abs=1e-4)
    assert list(interval([0.0] * 20, share=True)) == pytest.approx([0.0, 0.1611], abs=1e-4)
    low, high = interval([0.0, 1.0, 1.0, 0.9], share=True)
    assert low is not None
    assert (low, high) == (0.0, 1.0), "no mean of shares lies outside of these"


@given(st.integers(2, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_shares_against_an_independent_wilson(counts: tuple[int, int]):
    """Its ends are the shares p of which k of n lies just 1.96 standard errors, those of p itself, off."""
    right, n = counts
    low, high = interval([1.0] * right + [0.0] * (n - right), share=True)
    assert low is not None
    assert high is not None
    assert 0 <= low <= right / n <= high <= 1
    for p in (low, high):
        assert (right / n - p) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / n, abs=1e-6)


@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.95])
def test_an_interval_of_few_shares_covers_about_as_often_as_it_says(n: int, p: float):
    """Counted out, not drawn. The bootstrap's covers 0.95 in 40 % at n = 10, in 64 % at n = 20."""
    covered = 0.0
    for right in range(n + 1):
        low, high = interval([1.0] * right + [0.0] * (n - right), share=True)
        assert low is not None
        assert high is not None
        covered += (low <= p <= high) * comb(n, right) * p**right * (1 - p) ** (n - right)
    assert covered > 0.91
