from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.apps.evaluation.duel_tables import PLOT, drawn
from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules
from ragways.evaluation.duel.figures import NOT_ASKED, DuelFigures, DuelRounds, box_plot, duel_figures, rounds_of
from ragways.evaluation.duel.replies import DuelReply, duel_judge, duel_prompts
from ragways.evaluation.duel.taste import Taste

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
    assert (found.won, found.tied, found.lost) == (3, 8, 1)
    assert found.rate == pytest.approx(2 / 12)
    assert found.difference == pytest.approx(4 * (2 + 1 + 0 - 1) / 3 / 4)
    assert [aspect.won for aspect in found.aspects] == [3] * 4


def test_a_judge_who_always_prefers_the_first_makes_ties():
    counted = rounds(20, DuelRules(trials=2), lambda prompt, sample: (four(5), four(1)))
    found = duel_figures(counted)
    assert found.tied == 40
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
    assert (
        counted.won + counted.lost + counted.tied
        == len(found.rounds)
        == found.rounds_wanted - found.rounds_unscored.total()
    )
    assert found.unscored[NOT_ASKED] == sum(said is None for said in drawn.values())

    # The other way round: who is first in "ab" is second in "ba".
    other = {"ab": "ba", "ba": "ab"}
    turned = rounds(
        questions, rules, lambda one, sample: drawn[one.question, other[one.order], one.trial, sample], a="y", b="x"
    )
    swapped = duel_figures(turned)
    assert swapped.trials == tuple(-rate for rate in counted.trials)
    assert (swapped.won, swapped.lost, swapped.tied) == (counted.lost, counted.won, counted.tied)
    assert swapped.p == pytest.approx(counted.p, abs=0.02)
    if counted.rate is not None:
        assert swapped.rate == pytest.approx(-counted.rate)
        assert swapped.difference == pytest.approx(-counted.difference)  # type: ignore[operator]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 5), st.integers(0, 5))
def test_equal_totals_are_a_tie_however_many_could_be_read(ab: int, ba: int, high: int, low: int):
    """3 of 3 samples in one order and 1 of 3 in the other: no rounding error makes a winner."""

    def replies(one, sample):
        return (four(high), four(low)) if sample < (ab if one.order == "ab" else ba) else "unread"

    (found,) = rounds(1, DuelRules(trials=1, samples=3), replies).rounds
    assert found.difference == 0


def fixed(wins: int, losses: int, ties: int = 0, **how) -> DuelFigures:
    """Of so many questions won by 4 points, lost by 4, and tied."""

    def replies(prompt, sample):
        n = int(prompt.question[1:])
        apart = 1 if n < wins else -1 if n < wins + losses else 0
        sides = (four(3 + max(0, apart)), four(3 + max(0, -apart)))
        return sides if prompt.order == "ab" else sides[::-1]

    return duel_figures(rounds(wins + losses + ties, DuelRules(trials=1, samples=1), replies), **how)


def test_an_answer_that_failed_loses_by_what_the_other_side_usually_gets():
    rules = DuelRules(trials=2, samples=1)
    some = [*aligned(10), AlignedAnswers("q10", 0, "x", "y", "", ("", "y 10"))]
    asked = texts(11)
    lines = lines_of(some[:10], rules, lambda prompt, sample: (four(3), four(3)))
    found = rounds_of(some, asked, BY, rules, lines)  # type: ignore[arg-type]
    assert (found.failed, found.wanted, len(found.rounds)) == (2, 10 * 2 * 2, 22)
    counted = duel_figures(found)
    assert (counted.won, counted.tied, counted.lost) == (0, 20, 2)
    assert counted.difference == pytest.approx(-12 / 11)
    # One of two repeats failed: it counts in the trials that would have shown it.
    two = [AlignedAnswers("q0", 0, "x", "y", "", ("x 0", "y 0")), AlignedAnswers("q0", 1, "x", "y", "", ("x 1", ""))]
    once = rounds_of(two, asked, BY, rules, lines_of(two[:1], rules, lambda *_: (four(2), four(2))))  # type: ignore[arg-type]
    assert [round.difference for round in sorted(once.rounds, key=lambda one: one.trial)] == [0.0, 8.0]


def test_taste_is_taken_off_the_lead_it_favours_and_never_added():
    likes_a = Taste(points=1.0, low=0.6, high=1.4, p=0.001, wanted=80, read=80)
    plain, less = fixed(70, 40), fixed(70, 40, taste=likes_a)
    assert (plain.guarded, plain.guarded_low) == (plain.p, plain.difference_low)
    assert plain.p is not None
    assert plain.p < 0.01
    assert less.guarded == 1.0, "nothing of the lead is left"
    assert (less.p, less.difference) == (plain.p, plain.difference)
    assert fixed(40, 70, taste=likes_a).guarded == plain.p
    assert fixed(70, 40, taste=Taste(points=1.0, low=-0.1, high=2.1, p=0.2)).guarded == plain.p, "not shown"


def test_questions_on_one_document_count_as_one():
    documents = {f"q{n}": (f"d{n // 10}",) for n in range(100)}
    one, by_document = fixed(70, 30), fixed(70, 30, documents=documents)
    assert (one.documents, by_document.documents) == (0, 10)
    assert by_document.p == pytest.approx(2 * sum((1, 10, 45, 120)) / 1024)
    assert (one.p or 1) < 0.001
    assert by_document.low is not None
    assert one.low is not None
    assert by_document.low < one.low


@pytest.mark.parametrize("won", [3, 8, 40])
def test_no_interval_leaves_its_range(won: int):
    found = fixed(won, 1)
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.high <= 1


def unread(count: int, lead: int = 1, where=lambda n: True, samples: int = 2) -> DuelFigures:
    """100 questions, 60 won; the first `count` of those where that holds lack a reply."""
    chosen = [n for n in range(100) if where(n)][:count]

    def replies(prompt, sample):
        n = int(prompt.question[1:])
        if n in chosen and sample == 0:
            return "unread"
        sides = (four(3 + lead), four(3)) if n < 60 else (four(3), four(3 + lead))
        return sides if prompt.order == "ab" else sides[::-1]

    return duel_figures(rounds(100, DuelRules(trials=1, samples=samples), replies))


def test_unread_replies_at_random_cost_nothing_and_others_are_taken_for_the_worst():
    few = unread(10, where=lambda n: n % 10 == 0)
    assert not few.unread
    assert few.guarded == few.p
    one_side = unread(10, where=lambda n: n < 60)
    assert one_side.unread, "only where a leads"
    assert (one_side.guarded or 0) > (one_side.p or 1)
    assert unread(40, where=lambda n: n % 2 == 0).unread, "many"


def test_identical_answers_show_nothing():
    few = duel_figures(rounds(50, DuelRules(trials=1), lambda *_: (four(3), four(3)), same=45))
    assert (few.n, few.differing) == (50, 5)
    nothing = duel_figures(DuelRounds())
    assert (nothing.rate, nothing.p, nothing.n) == (None, None, 0)


# Box plots


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=1, max_size=60))
def test_a_box_agrees_with_numpy(values: list[float]):
    one = box_plot(values)
    assert one is not None
    assert (one.first, one.median, one.third) == pytest.approx(tuple(np.percentile(values, [25, 50, 75])))
    inside = [v for v in values if one.low <= v <= one.high]
    assert len(inside) + len(one.outliers) == one.n == len(values)
    reach = 1.5 * (one.third - one.first)
    assert all(v < one.first - reach or v > one.third + reach for v in one.outliers)
    row = drawn(one, 1.0)
    assert len(row) == PLOT
    assert row.count("|") == 1 or "o" in row


def test_no_value_no_box():
    assert box_plot([]) is None
