from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.evaluation.duel.lengths import padded_copy
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.selftest import LEAST, selftest, selftest_sittings
from ragways.evaluation.duel.sitting import Sitting, judged_by
from ragways.evaluation.statistics.paired import _binomial
from tests.evaluation.duel.duel_fakes import record

BY = judged_by("judge", "whole")


def records(count: int):
    return [record(name, f"q{n}", f"Answer {n} of {name}.") for n in range(count) for name in "xy"]


def lines(wanted: Sequence[Sitting], differences):
    """Lines with the difference that the function makes of a sitting: first less second, or None for unreadable."""
    found = {}
    for at, one in enumerate(wanted):
        line = one.line(BY, 0)
        apart = differences(at, one)
        if apart is not None:
            sides = (2 + max(0, apart), 2 + max(0, -apart))
            a, b = sides if one.order == "ab" else sides[::-1]
            line = type(line)(**{**line.__dict__, "points": ((a, 0, 0, 0), (b, 0, 0, 0))})
        else:
            line = type(line)(**{**line.__dict__, "why": "unreadable reply"})
        found[line.key] = line
    return found


def outcome(rules: Rules, count: int, differences):
    wanted = selftest_sittings(records(count), "xy", rules)
    return selftest(wanted, BY, lines(wanted, differences)), wanted


def test_by_default_each_kind_has_200_replies_about_100_answers():
    wanted = selftest_sittings(records(80), "xy", Rules())
    same = [one for one in wanted if one.kind == "same"]
    padded = [one for one in wanted if one.kind == "padded"]
    assert (len(same), len(padded)) == (200, 200)
    assert len({one.answers for one in same}) == 100
    assert all(one.answers[0] == one.answers[1] for one in same)
    assert all(one.answers[1] == padded_copy(one.answers[0]) for one in padded)
    assert sum(one.order == "ab" for one in padded) == 100
    # No two of them are one call: else a cache would answer the second.
    assert len({(*one.in_order, one.text, one.number(0)) for one in wanted}) == 400


def test_few_answers_are_asked_about_more_often_and_unfit_ones_not_at_all():
    unfit = [record("x", "e", error="down"), record("x", "a", abstained=True), record("x", "n", ""), record("z", "z")]
    wanted = selftest_sittings([*records(5), *unfit], "xy", Rules())
    assert len({one.answers for one in wanted if one.kind == "same"}) == 10
    assert sum(one.kind == "same" for one in wanted) == 200
    assert selftest_sittings(records(30), "xy", Rules(answers=7)) == selftest_sittings(
        reversed(records(30)), "xy", Rules(answers=7)
    )


def test_a_judge_that_ties_passes_and_one_that_prefers_the_first_fails():
    fair, _ = outcome(Rules(), 60, lambda at, one: 0)
    assert fair.passed
    assert (fair.position.ties, fair.position.bias, fair.position.p) == (200, 0.0, 1.0)
    first, _ = outcome(Rules(), 60, lambda at, one: 1 if at % 5 else -1)
    assert not first.passed
    assert first.position.fails
    assert first.position.bias == pytest.approx(0.6, abs=0.05)
    assert first.position.difference == pytest.approx(0.6, abs=0.05)
    # Both orders are asked, so a preference for the first says nothing about length.
    assert not first.length.fails
    assert "position bias of +6" in first.why


def test_a_judge_that_prefers_the_padded_copy_or_its_opposite_fails():
    for sign in (1, -1):

        def longer(at, one, sign=sign):
            return 0 if one.kind == "same" else -sign if one.order == "ab" else sign

        found, _ = outcome(Rules(), 60, longer)
        assert found.length.bias == sign
        assert found.length.fails
        assert not found.position.fails
        assert "length bias" in found.why


def test_a_small_bias_does_not_fail_however_sure():
    found, _ = outcome(Rules(answers=100, selftest=1000), 60, lambda at, one: int(at % 11 == 0))
    assert found.position.p is not None
    assert found.position.p < 0.01
    assert found.passed


def test_too_few_answers_or_unreadable_replies_are_no_pass():
    few, _ = outcome(Rules(), LEAST // 2 - 1, lambda at, one: 0)
    assert not few.passed
    assert "could not be tested" in few.why
    mute, _ = outcome(Rules(), 60, lambda at, one: None if at % 3 else 0)
    assert not mute.passed
    assert mute.position.unscored["unreadable reply"] > 100
    nothing = selftest(selftest_sittings(records(60), "xy", Rules()), BY, {})
    assert nothing.position.unscored == {"not asked": 200}
    assert not nothing.passed
    assert not selftest([], BY, {}).passed


@settings(max_examples=30)
@given(st.lists(st.sampled_from([-1, 0, 1, None]), min_size=1, max_size=40), st.integers(1, 30))
def test_every_reply_is_counted_once(said: list[int | None], count: int):
    found, wanted = outcome(Rules(answers=10, selftest=20), count, lambda at, one: said[at % len(said)])
    for bias, kind in ((found.position, "same"), (found.length, "padded")):
        counted = bias.for_it + bias.ties + bias.against + sum(bias.unscored.values())
        assert counted == bias.replies == sum(one.kind == kind for one in wanted)


def test_why_100_answers_and_200_replies():
    """Independent arithmetic: with one reply about each of 100 answers, a coin test at 1 % finds 80 % bias practically
    always, and the fewest answers that can reach 1 % are 8."""
    from math import comb

    critical = next(k for k in range(50, 101) if _binomial(100, 100 - k) < 0.01)
    power = sum(comb(100, k) * 0.8**k * 0.2 ** (100 - k) for k in range(critical, 101))
    assert power > 0.999
    assert _binomial(LEAST, 0) < 0.01 <= _binomial(LEAST - 1, 0)
