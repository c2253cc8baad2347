from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules
from ragways.evaluation.duel.figures import NOT_ASKED, DuelRounds, decide, duel_figures, rounds_of
from ragways.evaluation.duel.replies import DuelReply, duel_judge, duel_prompts

BY = duel_judge("judge", "whole")
Points = tuple[int, ...]
POINTS = st.tuples(*[st.integers(0, 5)] * 4)
REPLY = st.one_of(st.none(), st.just("unread"), st.tuples(POINTS, POINTS))


def aligned(questions: int, a: str = "x", b: str = "y", repeats: int = 1, same: int = 0) -> list[AlignedAnswers]:
    return [
        AlignedAnswers(f"q{n}", repeat, a, b, "", ("one", "one") if n < same else (f"{a} {n}", f"{b} {n}"))
        for n in range(questions)
        for repeat in range(repeats)
    ]


def texts(questions: int) -> dict[str, str]:
    return {f"q{n}": f"What of {n}?" for n in range(questions)}


def lines_of(some: list[AlignedAnswers], rules: DuelRules, replies) -> dict[object, DuelReply]:
    """`replies(prompt, sample)`: points of first and second, None where nobody asked, "unread" for no points."""
    found: dict[object, DuelReply] = {}
    for prompt in duel_prompts(some, texts(len(some)), rules.trials):
        for sample in range(rules.samples):
            said = replies(prompt, sample)
            if said is None:
                continue
            line = prompt.blank_reply(BY, sample)
            if said == "unread":
                line = DuelReply(**{**line.__dict__, "why": "unreadable reply"})
            else:
                points = said if prompt.order == "ab" else said[::-1]
                line = DuelReply(**{**line.__dict__, "points": points})
            found[line.key] = line
    return found


def rounds(questions: int, rules: DuelRules, replies, **how) -> DuelRounds:
    some = aligned(questions, **how)
    return rounds_of(some, texts(questions), BY, rules, lines_of(some, rules, replies))  # type: ignore[arg-type]


def four(value: int) -> Points:
    return (value,) * 4


def test_by_hand_the_mean_of_both_orders_and_samples():
    rules = DuelRules(trials=1, samples=2)

    def replies(prompt, sample):
        if prompt.order == "ab":
            return ((5, 4, 3, 2), (4, 4, 4, 4)) if sample == 0 else ((3, 4, 3, 2), (2, 4, 4, 4))
        return (four(5), four(3))  # b stands first here

    (one,) = rounds(1, rules, replies).rounds
    assert one.points == ((3.5, 3.5, 3.0, 2.5), (4.0, 4.5, 4.5, 4.5))
    assert one.aspects == (-0.5, -1.0, -1.5, -2.0)
    assert one.difference == -5.0


def test_the_relative_win_rate_counts_ties_and_is_a_box_over_trials():
    rules = DuelRules(trials=3, samples=1)
    # Trial 0: two won, one tied, one lost. Trial 1: all tied. Trial 2: one won.
    table = {0: (1, 1, 0, -1), 1: (0, 0, 0, 0), 2: (1, 0, 0, 0)}

    def replies(prompt, sample):
        apart = table[prompt.trial][int(prompt.question[1:])]
        a, b = four(3 + max(0, apart)), four(3 + max(0, -apart))
        return (a, b) if prompt.order == "ab" else (b, a)

    found = duel_figures(rounds(4, rules, replies))
    assert found.trials == (0.25, 0.0, 0.25)
    assert found.box is not None
    assert found.box.median == 0.25
    assert (found.rounds.a, found.rounds.ties, found.rounds.b) == (3, 8, 1)
    assert found.rounds.rate == pytest.approx(2 / 12)
    assert found.rate == pytest.approx(2 / 12)
    assert (found.questions.a, found.questions.ties, found.questions.b) == (2, 1, 1)
    assert found.difference == pytest.approx(4 * (2 + 1 + 0 - 1) / 3 / 4)
    assert [aspect.a for aspect in found.aspects] == [3] * 4


def test_a_judge_who_always_prefers_the_first_makes_ties():
    counted = rounds(20, DuelRules(trials=2), lambda prompt, sample: (four(5), four(1)))
    found = duel_figures(counted)
    assert found.rounds.ties == 40
    assert found.p == 1.0
    # That it did is seen all the same.
    assert (counted.first, counted.second, counted.scored) == (160, 0, 160)


def test_one_order_alone_is_no_round():
    found = rounds(3, DuelRules(trials=2), lambda one, sample: "unread" if one.order == "ba" else (four(5), four(1)))
    assert found.rounds == []
    assert found.rounds_unscored == {"unreadable reply": 6}
    some = rounds(3, DuelRules(trials=2), lambda one, sample: "unread" if sample else (four(3), four(3)))
    assert len(some.rounds) == 6
    assert some.unscored == {"unreadable reply": 12}


def test_identical_answers_tie_without_a_reply():
    found = rounds(5, DuelRules(trials=4), lambda one, sample: (four(5), four(5)), same=2)
    assert (found.identical, found.wanted, len(found.rounds)) == (8, 3 * 4 * 2 * 2, 20)


def test_each_trial_takes_the_next_repeat():
    seen = [(one.trial, one.repeat) for one in duel_prompts(aligned(1, repeats=3), texts(1), 5) if one.order == "ab"]
    assert seen == [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1)]


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 3), st.data())
def test_nothing_is_lost_and_swapping_negates(questions: int, trials: int, samples: int, data: st.DataObject):
    rules = DuelRules(trials=trials, samples=samples)
    drawn: dict[tuple[str, str, int, int], object] = {}

    def replies(prompt, sample):
        key = (prompt.question, prompt.order, prompt.trial, sample)
        if key not in drawn:
            drawn[key] = data.draw(REPLY)
        return drawn[key]

    found = rounds(questions, rules, replies)
    assert found.wanted == questions * trials * samples * 2 == found.scored + found.unscored.total()
    counted = duel_figures(found)
    total = counted.rounds.a + counted.rounds.b + counted.rounds.ties
    assert total == len(found.rounds) == found.rounds_wanted - found.rounds_unscored.total()
    assert found.unscored[NOT_ASKED] == sum(said is None for said in drawn.values())

    # The other way round: who is first in "ab" is second in "ba".
    other = {"ab": "ba", "ba": "ab"}
    turned = rounds(
        questions, rules, lambda one, sample: drawn[one.question, other[one.order], one.trial, sample], a="y", b="x"
    )
    swapped = duel_figures(turned)
    assert swapped.trials == tuple(-rate for rate in counted.trials)
    assert (swapped.rounds.a, swapped.rounds.b, swapped.rounds.ties) == (
        counted.rounds.b,
        counted.rounds.a,
        counted.rounds.ties,
    )
    assert swapped.p == counted.p
    if counted.rate is not None:
        assert swapped.rate == -counted.rate
        assert swapped.difference == -counted.difference  # type: ignore[operator]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 5), st.integers(0, 5))
def test_equal_totals_are_a_tie_however_many_could_be_read(ab: int, ba: int, high: int, low: int):
    """3 of 3 samples in one order and 1 of 3 in the other: no rounding error makes a winner."""

    def replies(one, sample):
        return (four(high), four(low)) if sample < (ab if one.order == "ab" else ba) else "unread"

    (found,) = rounds(1, DuelRules(trials=1, samples=3), replies).rounds
    assert found.difference == 0


def fixed(wins: int, losses: int, ties: int):
    def replies(prompt, sample):
        n = int(prompt.question[1:])
        apart = 1 if n < wins else -1 if n < wins + losses else 0
        sides = (four(3 + max(0, apart)), four(3 + max(0, -apart)))
        return sides if prompt.order == "ab" else sides[::-1]

    return duel_figures(rounds(wins + losses + ties, DuelRules(trials=1, samples=1), replies))


def test_verdicts():
    won = fixed(90, 60, 0)
    assert decide("x", "y", won, won.p, comparisons=1).winner == "x"
    assert decide("y", "x", fixed(60, 90, 0), 0.02, comparisons=1).winner == "x"
    even = fixed(50, 50, 50)
    tie = decide("x", "y", even, even.p, comparisons=1)
    assert (tie.outcome, tie.winner) == ("tie", "")
    assert "would be missed" in tie.words
    # Found alone, but not among ten pairs.
    assert decide("x", "y", won, min(1.0, 10 * (won.p or 0)), comparisons=10).outcome == "tie"
    assert decide("x", "y", won, won.p, comparisons=1, why_not="the judge failed").outcome == "no verdict"
    few = fixed(5, 0, 0)
    assert decide("x", "y", few, few.p, comparisons=1).outcome == "no verdict"
    nothing = duel_figures(DuelRounds())
    assert nothing.rate is None
    assert decide("x", "y", nothing, None, comparisons=0).outcome == "no verdict"


def test_identical_answers_do_not_make_up_for_questions():
    """All five that differ are won; the 145 that nobody was asked about show nothing."""

    def replies(prompt, sample):
        return (four(5), four(0)) if prompt.order == "ab" else (four(0), four(5))

    rules = DuelRules(trials=1, samples=1)
    few = duel_figures(rounds(150, rules, replies, same=145))
    assert (few.n, few.asked) == (150, 5)
    verdict = decide("x", "y", few, few.p, comparisons=1)
    assert verdict.outcome == "no verdict"
    assert "the answers to 5 of 150 questions differ, too few" in verdict.words
    more = duel_figures(rounds(150, rules, replies, same=140))
    assert decide("x", "y", more, more.p, comparisons=1).winner == "x"
    double = duel_figures(rounds(150, rules, replies, same=150))
    same = decide("x", "y", double, double.p, comparisons=1)
    assert (same.outcome, same.words) == ("tie", "tie: the answers to all 150 questions are the same")


def test_more_points_but_fewer_wins_is_no_win():
    def replies(prompt, sample):
        n = int(prompt.question[1:])
        sides = (four(5), four(0)) if n < 25 else ((3, 3, 3, 3), (3, 3, 3, 4))
        return sides if prompt.order == "ab" else sides[::-1]

    found = duel_figures(rounds(100, DuelRules(trials=1), replies))
    assert found.difference is not None
    assert found.rate is not None
    assert found.difference > 0 > found.rate
    assert decide("x", "y", found, found.p, comparisons=1).outcome == "tie"
    assert Counter(found.trials) == {found.rate: 1}
