"""The judge's test: what tells the sides apart, what is put to an answer, and what a judge's replies show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.evaluation.duel.entries import AlignedAnswers, DuelRules
from ragways.evaluation.duel.replies import DuelPrompt, DuelReply, ReplyKey, duel_judge
from ragways.evaluation.duel.taste import (
    COMPARISONS,
    CONTROL,
    Taste,
    control_prompts,
    judge_test,
    taste_of,
    taste_prompts,
    telling,
    traits,
)
from ragways.evaluation.duel.trials import prompts_in_order
from tests.evaluation.duel.duel_fakes import record

BY = duel_judge("judge", "whole")


def aligned(count: int, ours: str = "perhaps", theirs: str = "surely") -> list[AlignedAnswers]:
    """Answers that differ in one word, each on a topic of its own."""
    return [
        AlignedAnswers(
            f"q{n}", 0, "x", "y", "", (f"It {ours} was boat t{n} that came.", f"It {theirs} was t{n} there.")
        )
        for n in range(count)
    ]


def texts(count: int) -> dict[str, str]:
    return {f"q{n}": f"What of t{n}?" for n in range(count)}


def replies(prompts: list[DuelPrompt], said) -> dict[ReplyKey, DuelReply]:
    """`said(prompt, first, second)`: points of the first less those of the second, or None for unreadable."""
    found = {}
    for prompt in prompts:
        line, difference = prompt.blank_reply(BY, 0), said(prompt, *prompt.in_order)
        if difference is None:
            line = replace(line, why="unreadable reply")
        else:
            sides = (2 + max(0, difference), 2 + max(0, -difference))
            a, b = sides if prompt.order == "ab" else sides[::-1]
            line = replace(line, points=((a, 0, 0, 0), (b, 0, 0, 0)))
        found[line.key] = line
    return found


def taste(count: int, said, trials: int = 1, **words: str) -> Taste:
    some = aligned(count, **words)
    prompts = taste_prompts(some, texts(count), trials)
    return taste_of(prompts, some, BY, replies(prompts, said))


def more_of(word: str, points: int = 2):
    return lambda prompt, first, second: points * (first.count(word) - second.count(word))


# What tells the sides apart


def test_words_marks_and_kinds_of_words_tell_sides_apart_and_topics_do_not():
    pairs = [(f"Perhaps in 18{n}, LOUD t{n} (so).", f"It was t{n}; extraordinarily t{n}.") for n in range(20, 60)]
    found = telling(pairs)
    ours, theirs = ({trait for trait, z in found.items() if (z > 0) == up} for up in (True, False))
    assert {"perhaps", "in", ",", "(", ")", "number of 4 digits", "CAPITALS"} <= ours
    assert {"it", "was", ";", "long word"} <= theirs
    assert not [trait for trait in found if trait.startswith(("t2", "182"))]
    assert telling([(b, a) for a, b in pairs]) == {trait: -z for trait, z in found.items()}
    assert traits("(1871)") == ["(", "1871", "number of 4 digits", ")"]


def test_what_both_have_or_few_have_does_not_tell():
    assert telling([("so perhaps", "perhaps so")] * 100) == {}
    assert telling([("perhaps so", "so")] * 10 + [("so", "so")] * 90) == {}
    assert telling([("perhaps so", "so")] * 60 + [("so", "perhaps so")] * 40) == {}
    assert set(telling([("perhaps so", "so")] * 10)) == {"perhaps"}, "of few, where all differ alike"


# What is put to an answer


def test_the_same_answer_gets_words_of_both_sides_from_another_question():
    some = aligned(30)
    prompts = taste_prompts(some, texts(30), 1)
    assert len(prompts) == 2 * COMPARISONS
    assert len({prompt.answers for prompt in prompts}) == COMPARISONS, "no two are one call"
    own = {one.question: one.answers for one in some}
    sides = set()
    for prompt in prompts:
        base = next(side for side in (0, 1) if all(own[prompt.question][side] in text for text in prompt.answers))
        ours, theirs = (text.replace(own[prompt.question][base], "").strip() for text in prompt.answers)
        assert "perhaps" in ours
        assert "surely" in theirs
        assert f" {prompt.question.replace('q', 't')} " not in ours, "of another question"
        assert ours.partition(" t")[2].split()[0] == theirs.partition(" t")[2].split()[0], "of one question both"
        sides.add(base)
    assert sides == {0, 1}
    assert [prompt.order for prompt in prompts[:4]] == ["ab", "ba", "ab", "ba"]


def test_ten_words_around_the_telling_one_stand_where_they_stood():
    filler = " ".join(f"w{n}" for n in range(30))
    some = [
        AlignedAnswers(f"q{n}", 0, "x", "y", "", (f"Thank you: {filler} {n}.", f"{filler} {n} be sure."))
        for n in range(20)
    ]
    (prompt, *_) = taste_prompts(some, texts(20), 1)
    ours, theirs = prompt.answers
    assert ours.startswith("Thank you: w0 w1 w2 w3 w4 w5 w6 w7 ")
    assert theirs.endswith("be sure.")
    assert len(ours.split()) == len(theirs.split())


def test_where_one_side_is_longer_its_words_are_more():
    some = [
        AlignedAnswers(f"q{n}", 0, "x", "y", "", (f"so it was t{n} and was and is", f"so it was t{n}"))
        for n in range(30)
    ]
    ours, theirs = taste_prompts(some, texts(30), 1)[0].answers
    assert len(ours.split()) - len(theirs.split()) == 4


def test_without_a_telling_word_nothing_is_asked():
    some = aligned(30, "so", "so")
    same = [replace(one, answers=(f"so {one.question} was it", f"it was {one.question} so")) for one in some]
    assert taste_prompts(same, texts(30), 1) == []
    assert taste_prompts([replace(one, answers=("", one.answers[1])) for one in some], texts(30), 1) == []
    assert not taste_of([], same, BY, {}).shown


def test_more_trials_ask_for_fewer_of_the_same():
    def asked(trials: int) -> dict[int, list[DuelPrompt]]:
        prompts = taste_prompts(aligned(30), texts(30), trials)
        return {trial: [one for one in prompts if one.trial == trial] for trial in range(trials)}

    one, five, many = asked(1), asked(5), asked(25)
    assert [sum(map(len, some.values())) for some in (one, five, many)] == [160, 160, 200]
    assert one[0][: len(five[0])] == five[0]
    assert five[3][: len(many[3])] == many[3]


def test_it_is_spread_over_the_whole_duel():
    some, rules = aligned(40), DuelRules(trials=2)
    kinds = [prompt.kind == "taste" for prompt in prompts_in_order([some], texts(40), rules)]
    assert len(kinds) == 160 + 40 * 2 * 2
    for at in range(0, len(kinds), 40):
        assert sum(kinds[at : at + 40]) == pytest.approx(20, abs=2)


# What the replies show


def test_a_judge_without_a_taste_and_with_one():
    assert taste(40, lambda prompt, first, second: 0) == replace(taste(40, more_of("?")), points=0.0)
    likes = taste(40, more_of("perhaps"))
    assert likes.shown
    assert likes.points == pytest.approx(4.0), "taken twice"
    assert likes.taken_off(3.0) == pytest.approx(4.0)
    assert likes.taken_off(-3.0) == 0.0
    dislikes = taste(40, more_of("perhaps", -1))
    assert dislikes.taken_off(-3.0) == pytest.approx(-2.0)
    assert "perhaps" in likes.words_a
    assert "surely" in likes.words_b


def test_a_bonus_for_the_first_place_cancels():
    assert taste(40, lambda prompt, first, second: 2) == replace(taste(40, lambda *_: 0), points=0.0)


def test_a_judge_that_is_fair_at_first_is_caught():
    some = aligned(60)
    prompts = prompts_in_order([some], texts(60), DuelRules(trials=1))
    late = {prompt.key(BY, 0) for prompt in prompts[len(prompts) // 4 :]}
    taste_only = taste_prompts(some, texts(60), 1)

    def drifts(prompt, first, second):
        return more_of("perhaps")(prompt, first, second) if prompt.key(BY, 0) in late else 0

    assert taste_of(taste_only, some, BY, replies(taste_only, drifts)).points == pytest.approx(3.0, abs=0.5)


def test_unread_comparisons_are_counted_and_too_many_leave_it_unknown():
    found = taste(40, lambda prompt, first, second: None if prompt.order == "ba" else 2)
    assert (found.read, found.wanted, found.unknown, found.shown) == (0, COMPARISONS, True, False)
    some = taste(40, lambda prompt, first, second: None if prompt.question < "q2" else 0)
    assert 0 < some.read < some.wanted
    assert not some.unknown


@settings(max_examples=20)
@given(st.lists(st.sampled_from([-2, 0, 1]), min_size=8, max_size=8))
def test_a_taste_is_the_same_whoever_is_a(differences: list[int]):
    some = aligned(20)
    turned = [replace(one, a="y", b="x", answers=one.answers[::-1]) for one in some]

    def said(prompt, first, second):
        return differences[hash_of(prompt.question)] * (first.count("perhaps") - second.count("perhaps"))

    def hash_of(text: str) -> int:
        return sum(map(ord, text)) % 8

    one, two = (
        taste_of(prompts, pairs, BY, replies(prompts, said))
        for pairs in (some, turned)
        for prompts in (taste_prompts(pairs, texts(20), 1),)
    )
    assert (one.words_a, one.words_b) == (two.words_b, two.words_a)
    assert one.points * two.points <= 0


# The control


def controls(count: int = 40) -> list[DuelPrompt]:
    return control_prompts(record(name, f"q{n}", f"Answer {n} of {name}.") for n in range(count) for name in "xy")


def own(prompt, first, second):
    return 1 if prompt.order == "ab" else -1


def test_right_answers_against_others_of_like_length_in_both_orders():
    found = controls()
    assert len(found) == CONTROL
    assert sum(prompt.order == "ab" for prompt in found) == CONTROL // 2
    assert all(a != b and a.split()[1] != b.split()[1] for a, b in (prompt.answers for prompt in found))
    assert len(controls(5)) >= CONTROL - 10, "few answers are asked about more often"
    unfit = [record("x", "e", error="down"), record("x", "a", abstained=True), record("x", "n", "")]
    assert control_prompts(unfit) == []


def test_answers_known_to_be_right_come_first_and_are_not_the_wrong_ones():
    some = [record("x", f"q{n}", f"Thing {n} here.", gold=(f"Thing {n}",)) for n in range(25)]
    wrong = [record("y", f"q{n}", "Nobody knows.", gold=(f"Thing {n}",)) for n in range(25)]
    found = control_prompts([*wrong, *some])
    assert {prompt.a for prompt in found} == {"x"}


def test_a_judge_must_tell_right_answers():
    prompts = controls()
    passed = judge_test(prompts, BY, replies(prompts, own))
    assert (passed.passed, passed.preferred, passed.why) == (True, CONTROL, "")
    for said in (lambda *_: 0, lambda prompt, *_: -own(prompt, *_), lambda *_: 1):
        failed = judge_test(prompts, BY, replies(prompts, said))
        assert not failed.passed
        assert "does not tell a right answer from one to another question" in failed.why
    unread = judge_test(prompts, BY, replies(prompts, lambda *_: None))
    assert "could not be tested: 0 of 50 replies" in unread.why
    few = controls(2)
    assert "8 answers and half of the replies" in judge_test(few, BY, replies(few, own)).why
