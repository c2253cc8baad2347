from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ragways.evaluation.duel.probes import probe_prompts
from ragways.evaluation.duel.selftest import MINIMUM, self_test

from ragways.core.plain import to_plain
from ragways.evaluation.duel.entries import TOLERANCE, DuelRules, padded_copy, words
from ragways.evaluation.duel.replies import DuelPrompt, duel_judge
from ragways.evaluation.duel.style import DRESSES
from ragways.evaluation.statistics.inference import sign_flip
from tests.evaluation.duel.duel_fakes import record

BY = duel_judge("judge", "whole")


def records(count: int):
    return [record(name, f"q{n}", f"Answer {n} of {name}.") for n in range(count) for name in "xy"]


def own(at: int, one: DuelPrompt) -> int:
    """The answer to the question is preferred to one to another."""
    return 1 if one.order == "ab" else -1


def lines(wanted: Sequence[DuelPrompt], differences, control=own):
    """Lines with the difference that the function makes of a prompt: first less second, or None for unreadable.

    `control` does so where one of the answers is to another question.
    """
    found = {}
    for at, one in enumerate(wanted):
        line = one.blank_reply(BY, 0)
        apart = differences(at, one)
        if one.kind == "other" and apart is not None:
            apart = control(at, one)
        if apart is not None:
            sides = (2 + max(0, apart), 2 + max(0, -apart))
            a, b = sides if one.order == "ab" else sides[::-1]
            line = type(line)(**{**line.__dict__, "points": ((a, 0, 0, 0), (b, 0, 0, 0))})
        else:
            line = type(line)(**{**line.__dict__, "why": "unreadable reply"})
        found[line.key] = line
    return found


def outcome(rules: DuelRules, count: int, differences, control=own):
    wanted = probe_prompts(records(count), "xy", rules)
    return self_test(wanted, BY, lines(wanted, differences, control)), wanted


def test_by_default_each_kind_has_200_replies_about_100_answers():
    wanted = probe_prompts(records(80), "xy", DuelRules())
    same = [one for one in wanted if one.kind == "same"]
    padded = [one for one in wanted if one.kind == "padded"]
    assert (len(same), len(padded)) == (200, 200)
    assert len({one.answers for one in same}) == 100
    assert all(one.answers[0] == one.answers[1] for one in same)
    assert all(one.answers[1] == padded_copy(one.answers[0]) for one in padded)
    assert sum(one.order == "ab" for one in padded) == 100
    # No two of them are one call: else a cache would answer the second.
    assert len({(*one.in_order, one.text, one.number(0)) for one in wanted}) == 450 + 3 * 200


def test_few_answers_are_asked_about_more_often_and_unfit_ones_not_at_all():
    unfit = [record("x", "e", error="down"), record("x", "a", abstained=True), record("x", "n", ""), record("z", "z")]
    wanted = probe_prompts([*records(5), *unfit], "xy", DuelRules())
    assert len({one.answers for one in wanted if one.kind == "same"}) == 10
    assert sum(one.kind == "same" for one in wanted) == 200
    assert probe_prompts(records(30), "xy", DuelRules(answers=7)) == probe_prompts(
        reversed(records(30)), "xy", DuelRules(answers=7)
    )


def test_a_bonus_for_the_first_place_is_shown_but_exchanging_places_cancels_it():
    fair, _ = outcome(DuelRules(), 60, lambda at, one: 0)
    assert fair.passed
    assert (fair.position.ties, fair.position.bias, fair.position.p) == (200, 0.0, 1.0)
    first, _ = outcome(DuelRules(), 60, lambda at, one: 1 if at % 5 else -1)
    assert first.position.bias == pytest.approx(0.6, abs=0.05)
    assert first.position.difference == pytest.approx(0.6, abs=0.05)
    assert first.passed, first.why


def test_a_bonus_for_the_first_place_that_one_paradigm_gets_alone_is_left_and_fails():
    found, _ = outcome(DuelRules(), 60, lambda at, one: int(one.kind == "same" and one.a == "x"))
    assert found.position.left == pytest.approx(0.5)
    assert found.position.fails
    assert not found.passed
    assert "position bias that exchanging places leaves, of +50 %" in found.why


@pytest.mark.parametrize("style", ["long words", "more words", "assurance"])
def test_a_judge_that_likes_a_style_fails_and_one_that_dislikes_it_too(style: str):
    for liking in (1, -1):

        def likes(at, one, liking=liking, style=style):
            if one.kind != style:
                return 0
            measure = next(dress.measure for dress in DRESSES if dress.name == style)
            assert measure is not None
            first, second = map(measure, one.in_order)
            return liking * ((first > second) - (first < second))

        found, _ = outcome(DuelRules(), 60, likes)
        failed = [probe for probe in found.styles if probe.fails]
        assert [(probe.name, probe.bias) for probe in failed] == [(style, liking)]
        assert f"a liking for {style} of {liking:+.0%}".replace("%", " %") in found.why
        assert failed[0].amount > 0


def test_styles_that_the_normal_form_takes_off_are_not_asked_about(monkeypatch: pytest.MonkeyPatch):
    found, wanted = outcome(DuelRules(), 60, lambda at, one: 0)
    taken_off = {"bullets", "sources", "system names"}
    assert not taken_off & {one.kind for one in wanted}
    assert found.passed
    # Were they left on, the judge would be asked, and one that likes them found out.
    monkeypatch.setattr("ragways.evaluation.duel.probes.normal_form", lambda text, names, question: text)

    def likes_bullets(at, one):
        first, second = (text.startswith("- ") for text in one.in_order)
        return first - second

    found, wanted = outcome(DuelRules(), 60, likes_bullets)
    assert taken_off <= {one.kind for one in wanted}
    assert "a liking for bullets of +100 %" in found.why


def test_style_is_put_on_answers_that_are_alike_in_style_and_not_known_for_copies():
    wanted = [one for one in probe_prompts(records(60), "xy", DuelRules()) if one.kind == "more words"]
    assert len(wanted) == 200
    for on, off in zip(wanted[::2], wanted[1::2], strict=True):
        assert (on.question, on.order, on.trial) == (off.question, off.order, off.trial)
        assert on.answers[0].startswith(off.answers[0])
        assert off.answers[1].startswith(on.answers[1])
        assert on.answers[1] not in on.answers[0]
        assert words(on.answers[0]) - words(on.answers[1]) <= TOLERANCE


def test_a_judge_that_prefers_the_padded_copy_or_its_opposite_fails():
    for sign in (1, -1):

        def longer(at, one, sign=sign):
            return 0 if one.kind == "same" else -sign if one.order == "ab" else sign

        found, _ = outcome(DuelRules(), 60, longer)
        assert found.length.bias == sign
        assert found.length.fails
        assert not found.position.fails
        assert "length bias" in found.why


def test_a_small_bias_does_not_fail_however_sure():
    def a_little(at, one):
        return (-1 if one.order == "ab" else 1) * int(one.kind == "padded" and at % 11 == 0)

    found, _ = outcome(DuelRules(answers=100, selftest=1000), 60, a_little)
    assert found.length.p is not None
    assert found.length.p < 0.01
    assert found.passed


def test_too_few_answers_or_unreadable_replies_are_no_pass():
    few, _ = outcome(DuelRules(), MINIMUM // 2 - 1, lambda at, one: 0)
    assert not few.passed
    assert "could not be tested" in few.why
    mute, _ = outcome(DuelRules(), 60, lambda at, one: None if at % 3 else 0)
    assert not mute.passed
    assert mute.position.unscored["unreadable reply"] > 100
    nothing = self_test(probe_prompts(records(60), "xy", DuelRules()), BY, {})
    assert nothing.position.unscored == {"not asked": 200}
    assert not nothing.passed
    assert not self_test([], BY, {}).passed


@settings(max_examples=30)
@given(st.lists(st.sampled_from([-1, 0, 1, None]), min_size=1, max_size=40), st.integers(1, 30))
def test_every_reply_is_counted_once(said: list[int | None], count: int):
    found, wanted = outcome(DuelRules(answers=10, selftest=20), count, lambda at, one: said[at % len(said)])
    for bias, kind in ((found.position, "same"), (found.length, "padded"), (found.control, "other")):
        counted = bias.for_it + bias.ties + bias.against + sum(bias.unscored.values())
        assert counted == bias.replies == sum(one.kind == kind for one in wanted)
    for style in found.styles:  # two replies are one comparison
        counted = style.for_it + style.ties + style.against + sum(style.unscored.values())
        assert 2 * counted == style.replies == sum(one.kind == style.name for one in wanted)


@cache
def p_of(n: int, losses: int) -> float:
    """p of a sign test of n answers, of which so many prefer the other side."""
    return sign_flip([1.0] * (n - losses) + [-1.0] * losses)[0]


def test_why_100_answers_and_200_replies():
    """Independent arithmetic: with one reply about each of 100 answers, a coin test at 1 % finds 80 % bias practically
    always, and the fewest answers that can reach 1 % are 8."""
    from math import comb

    critical = next(k for k in range(50, 101) if p_of(100, 100 - k) < 0.01)
    power = sum(comb(100, k) * 0.8**k * 0.2 ** (100 - k) for k in range(critical, 101))
    assert power > 0.999
    assert p_of(MINIMUM, 0) < 0.01 <= p_of(MINIMUM - 1, 0)


@pytest.mark.parametrize(
    ("name", "control"),
    [
        ("gives everybody the same", lambda at, one: 0),
        ("prefers the wrong one", lambda at, one: -own(at, one)),
        ("throws a coin", lambda at, one: (-1) ** (at * at // 3)),
        ("sees it 11 times of 20", lambda at, one: own(at, one) * (1 if at % 20 < 11 else -1)),
    ],
)
def test_a_judge_that_cannot_tell_a_right_answer_fails(name: str, control):
    found, _ = outcome(DuelRules(), 60, lambda at, one: 0, control)
    assert not found.passed, name
    assert found.control.fails
    assert found.why == "the judge failed its own test: it does not tell a right answer from one to another question"
    assert to_plain(found)["control"]["fails"] is True
    assert found.control.p is not None
    assert found.control.p > 0.01


def test_a_judge_that_mostly_tells_a_right_answer_passes():
    found, wanted = outcome(DuelRules(), 60, lambda at, one: 0, lambda at, one: own(at, one) * (1 if at % 10 else -1))
    assert found.passed
    assert found.control.bias == pytest.approx(0.8, abs=0.05)
    assert found.control.p is not None
    assert found.control.p < 0.001
    assert to_plain(found)["control"]["fails"] is False
    other = [one for one in wanted if one.kind == "other"]
    assert len(other) == 50
    assert len({one.question for one in other}) > 15
    assert sum(one.order == "ab" for one in other) == 25


def test_without_other_questions_or_with_unreadable_replies_there_is_no_control():
    some = [record(name, "q", f"Answer {n} of {name}.", repeat=n) for n in range(10) for name in "xy"]
    wanted = probe_prompts(some, "xy", DuelRules())
    found = self_test(wanted, BY, lines(wanted, lambda at, one: 0))
    assert (found.control.replies, found.passed) == (0, False)
    assert "could not be tested for telling right answers" in found.why
    wanted = probe_prompts(records(60), "xy", DuelRules())
    mute = self_test(wanted, BY, lines(wanted, lambda at, one: None if one.kind == "other" and at % 3 else 0))
    assert not mute.passed
    assert "could not be tested for telling right answers" in mute.why


@pytest.mark.parametrize("count", [*range(2, MINIMUM // 2 + 2), 30])
def test_few_answers_are_held_against_others_more_often(count: int):
    wanted = [one for one in probe_prompts(records(count), "xy", DuelRules()) if one.kind == "other"]
    assert len({one.answers[0] for one in wanted}) == min(25, 2 * count)
    assert 40 <= len(wanted) <= 50
    assert len({(*one.in_order, one.text, one.number(0)) for one in wanted}) == len(wanted)


def test_right_answers_are_held_against_wrong_ones_of_like_length():
    long = "and that is known from the book of the harbour, which was kept for many years by those who lived there"
    some = [
        record("x", f"q{n}", ("Yes" if n % 2 else "No") + (f", {long} {n}." if n % 3 else f", {n}."),
               gold=("Yes",) if n % 2 else ("No",) if n % 4 else ("Perhaps",))
        for n in range(60)
    ]  # fmt: skip
    wanted = [one for one in probe_prompts(some, "x", DuelRules()) if one.kind == "other"]
    gold = {one.question: one.gold[0] for one in some}
    for one in wanted:
        right, wrong = one.answers
        assert right.startswith(gold[one.question]), "those known to be right come first"
        assert not wrong.startswith(gold[one.question]), "what is accepted here is no wrong answer"
        assert abs(len(right.split()) - len(wrong.split())) <= 10
    assert len({one.answers[1] for one in wanted}) > 5


def test_why_50_replies_of_the_control():
    """Independent arithmetic: an answer asked about in both orders is won, even or lost; a coin test over those won and
    lost, one-sided at 1 %."""
    from math import comb

    def passes(seen: float, answers: int = 25) -> float:
        won, lost = seen * seen, (1 - seen) ** 2
        return sum(
            comb(answers, w) * comb(answers - w, x) * won**w * lost**x * (1 - won - lost) ** (answers - w - x)
            for w in range(answers + 1)
            for x in range(answers - w + 1)
            if w > x and p_of(w + x, x) / 2 < 0.01
        )

    assert passes(0.9) > 0.999
    assert passes(0.8) > 0.95
    assert passes(0.5) < 0.01
