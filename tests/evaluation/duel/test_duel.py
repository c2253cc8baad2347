from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ragways.evaluation.duel.probes import probe_prompts

from ragways.core.errors import BudgetExceeded, UsageError
from ragways.core.plain import to_plain
from ragways.evaluation.duel.entries import ALONE, EMPTY, FAILED, SPARE, UNEQUAL, DuelRules, duel_entries, pairs_of
from ragways.evaluation.duel.entries import FILE as LENGTHS
from ragways.evaluation.duel.replies import FILE, DuelReplies, duel_judge
from ragways.evaluation.duel.result import duel_result
from ragways.evaluation.duel.trials import Trials, plan_duel
from ragways.models.client import ModelClient
from ragways.models.tokens import Price, Prices
from tests.evaluation.duel.duel_fakes import (
    SMALL,
    TESTING,
    TESTS,
    Says,
    apart,
    both,
    fences,
    fight,
    marked,
    record,
)

RULES = DuelRules(trials=2, samples=2, **SMALL)


def records(count: int = 12, names: str = "xy", **points: int):
    return [
        record(name, f"q{n}", f"{name} says of {n} what is worth {points.get(name, 3)} points.")
        for n in range(count)
        for name in names
    ]


def test_the_better_one_wins_and_every_reply_is_kept(tmp_path: Path):
    judge = Says(marked)
    found = asyncio.run(fight(records(x=4, y=3), tmp_path, judge, RULES))
    (pair,) = found.pairs
    assert (pair.verdict.outcome, pair.verdict.winner) == ("win", "x")
    assert pair.rate == 1.0
    assert pair.box is not None
    assert [aspect.mean_a for aspect in pair.aspects] == [4.0] * 4
    assert found.selftest.passed
    kept = list(DuelReplies(tmp_path))
    assert len(kept) == len(judge.calls) == 12 * 2 * 2 * 2 + TESTING
    assert {(line.judge, line.prompt) for line in kept} == {("judge", duel_judge("judge", "whole").prompt)}
    assert json.loads(json.dumps(to_plain(found)))["pairs"][0]["verdict"]["winner"] == "x"
    assert pair.seen_by("x") == (1.0, "win")
    assert pair.seen_by("y") == (-1.0, "loss")


def test_figures_come_from_the_files_alone_and_nothing_is_asked_twice(tmp_path: Path):
    some = records(x=4)
    first = asyncio.run(fight(some, tmp_path, Says(marked), RULES))
    silent = Says(lambda call: AssertionError("asked again"))
    again = asyncio.run(fight(some, tmp_path, silent, RULES))
    assert silent.calls == []
    assert again == first
    assert duel_result(duel_entries(some, RULES), tmp_path, duel_judge("judge", "whole"), RULES) == first


def test_stopped_anywhere_it_goes_on_and_ends_the_same(tmp_path: Path):
    some = records(x=4, count=9)
    whole = asyncio.run(fight(some, tmp_path / "whole", Says(marked), RULES))
    calls = len(list(DuelReplies(tmp_path / "whole")))
    folder = tmp_path / "stopped"
    asked = 0
    for stop in (3, 20, 31, 50):

        def stopping(call, stop=stop):
            nonlocal asked
            asked += 1
            return KeyboardInterrupt() if asked % stop == 0 else marked(call)

        with pytest.raises(KeyboardInterrupt):
            asyncio.run(fight(some, folder, Says(stopping), RULES))
        half = duel_result(duel_entries(some, RULES), folder, duel_judge("judge", "whole"), RULES)
        assert half.pairs[0].verdict.outcome == "no verdict"
        with (folder / FILE).open("a") as stream:
            stream.write('{"kind": "duel", "mo')  # a line cut short by a kill
    done = asyncio.run(fight(some, folder, Says(marked), RULES))
    assert len(list(DuelReplies(folder))) == calls
    assert done.pairs == whole.pairs


def test_what_one_prompt_was_answered_before_a_stop_is_kept(tmp_path: Path):
    """The second sample fails; the first has been paid for."""

    def second_fails(call):
        return KeyboardInterrupt() if call.sample == 1 else marked(call)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(fight(records(), tmp_path, Says(second_fails), RULES))
    assert [line.sample for line in DuelReplies(tmp_path) if line.kind == "duel"][:1] == [0]


def test_more_trials_ask_only_for_those_that_are_new(tmp_path: Path):
    asyncio.run(fight(records(), tmp_path, Says(marked), RULES))
    judge = Says(marked)
    asyncio.run(fight(records(), tmp_path, judge, DuelRules(trials=3, samples=3, **SMALL)))
    assert len(judge.calls) == 12 * 2 * (3 * 3 - 2 * 2)


def test_another_judge_or_another_answer_is_asked_anew(tmp_path: Path):
    asyncio.run(fight(records(x=5), tmp_path, Says(marked), RULES))
    other = Says(lambda call: marked(call, most=3), name="other")
    found = asyncio.run(fight(records(x=5), tmp_path, other, RULES))
    assert len(other.calls) == len(list(DuelReplies(tmp_path))) / 2
    assert found.pairs[0].verdict.outcome == "tie"
    changed = Says(marked)
    asyncio.run(fight([*records(x=5)[:-1], record("y", "q11", "Now 5 points.")], tmp_path, changed, RULES))
    assert len([call for call in changed.calls if "What of q11?" in call.messages[-1].content]) >= 8


def test_swapping_the_names_negates_the_rate_exactly(tmp_path: Path):
    def noisy(call):
        first, second = fences(call)
        return both(hash_points(first, call.sample), hash_points(second, call.sample))

    def hash_points(text: str, sample: int) -> int:
        # By the words after the name, which alone tells the two runs apart.
        return sum(map(ord, text.split(" ", 1)[1])) * (sample + 3) % 6

    turned = {"x": "y", "y": "x"}
    some = [
        record(name, f"q{n}", f"{name} is {n * (7 if name == 'x' else 11)} high.") for n in range(9) for name in "xy"
    ]
    other = [record(turned[one.paradigm], one.question, f"{turned[one.paradigm]}{one.answer[1:]}") for one in some]
    rules = DuelRules(trials=3, go_on=True, **SMALL)
    first = asyncio.run(fight(some, tmp_path / "a", Says(noisy), rules)).pairs[0]
    second = asyncio.run(fight(other, tmp_path / "b", Says(noisy), rules)).pairs[0]
    assert first.rate != 0
    assert first.rate is not None
    assert (second.rate, second.trials) == (-first.rate, tuple(-rate for rate in first.trials))
    # And whoever is named first on the command line, the pair is the same.
    assert duel_entries(some, rules, ["y", "x"]).pairs == duel_entries(some, rules, ["x", "y"]).pairs


def test_after_a_failed_test_nobody_wins_and_nothing_more_is_asked(tmp_path: Path):
    def prefers_padding(call):
        first, second = fences(call)
        return both(1, 5) if second.startswith(first) and first != second else marked(call)

    judge = Says(prefers_padding)
    found = asyncio.run(fight(records(x=5, y=1), tmp_path, judge, RULES))
    assert found.pairs[0].verdict.outcome == "no verdict"
    assert found.pairs[0].verdict.winner == ""
    assert "length bias of +50 %" in found.pairs[0].verdict.words
    assert "there is no winner" in found.warnings[0]
    assert {line.kind for line in DuelReplies(tmp_path)} == TESTS
    assert not (tmp_path / LENGTHS).exists()
    # Told to go on, it shows the figures and still names nobody.
    on = asyncio.run(fight(records(x=5, y=1), tmp_path, judge, DuelRules(trials=2, go_on=True, **SMALL)))
    assert on.pairs[0].rate == 1.0
    assert on.pairs[0].verdict.winner == ""
    assert on.pairs[0].seen_by("x") == (1.0, "no verdict")


def test_a_judge_who_gives_nobody_a_point_gives_no_verdict(tmp_path: Path):
    judge = Says(lambda call: both(0, 0))
    found = asyncio.run(fight(records(x=5, y=1), tmp_path, judge, RULES))
    assert found.pairs[0].verdict.outcome == "no verdict"
    assert "does not tell a right answer from one to another question" in found.pairs[0].verdict.words
    assert {line.kind for line in DuelReplies(tmp_path)} == TESTS
    assert len(judge.calls) == TESTING


def test_a_paradigm_against_its_double_ties(tmp_path: Path):
    judge = Says(marked)
    some = [record(name, f"q{n}", f"It is {n}.") for n in range(10) for name in "xy"]
    found = asyncio.run(fight(some, tmp_path, judge, RULES))
    assert found.pairs[0].verdict.outcome == "tie"
    assert found.pairs[0].rate == 0
    assert found.pairs[0].identical_rounds == 20
    assert len(judge.calls) == len(list(DuelReplies(tmp_path)))
    assert {line.kind for line in DuelReplies(tmp_path)} == TESTS


def test_pairs_that_make_none_are_counted_by_reason():
    some = [
        record("x", "ok", "Fine."), record("y", "ok", "Good."),
        record("x", "alone"),
        record("x", "failed"), record("y", "failed", error="down"),
        record("x", "empty", "[1]"), record("y", "empty"),
        *(record(name, "many", f"{name}{n}", repeat=n) for n in range(5) for name in "xy"),
        record("z", "ok"),
    ]  # fmt: skip
    pairs, left_out, one_sided = pairs_of(some, "x", "y", trials=2)
    assert left_out == {ALONE: 1, FAILED: 1, EMPTY: 1, SPARE: 3}
    assert one_sided == {"alone": 1, "failed": 1, "empty": 1}
    assert [(pair.question, pair.repeat) for pair in pairs] == [("ok", 0), ("many", 0), ("many", 1)]


@given(
    st.lists(
        st.tuples(st.sampled_from("xyz"), st.integers(0, 4), st.integers(0, 3), st.sampled_from(["", "Yes.", "down"])),
        unique_by=lambda row: row[:3],
    ),
    st.integers(1, 3),
)
def test_every_question_and_repeat_is_a_pair_or_counted(rows: list[tuple[str, int, int, str]], trials: int):
    some = [
        record(name, f"q{n}", "" if said == "down" else said, repeat=repeat, error="down" if said == "down" else "")
        for name, n, repeat, said in rows
    ]
    pairs, left_out, one_sided = pairs_of(some, "x", "y", trials=trials)
    asked = {(one.question, one.repeat) for one in some if one.paradigm in "xy"}
    assert len(pairs) + left_out.total() == len(asked)
    assert one_sided.total() <= left_out.total()
    assert max(Counter(pair.question for pair in pairs).values(), default=0) <= trials


def test_the_marks_of_citations_are_not_shown(tmp_path: Path):
    judge = Says(marked)
    some = [record(name, f"q{n}", f"{name} saw it [1]. And {n} more [2][3].") for n in range(8) for name in "xy"]
    asyncio.run(fight(some, tmp_path, judge, RULES))
    assert not any("[1]" in text or "[3]" in text for call in judge.calls for text in fences(call))


def test_left_out_lengths_are_counted_warned_of_and_add_up(tmp_path: Path):
    long = " ".join(["word"] * 200)
    said = {"x": f"{long} {{}}.", "y": "Short {}."}
    some = [*records(8), *(record(name, f"l{n}", said[name].format(n)) for n in range(6) for name in "xy")]
    found = asyncio.run(fight(some, tmp_path, Says(marked), RULES))
    (pair,) = found.pairs
    assert pair.left_out == {UNEQUAL: 6}
    assert pair.pairs == 14 == pair.judged + pair.not_aligned + sum(pair.left_out.values())
    assert any("lengths stayed unequal" in warning for warning in found.warnings)
    # With a generator at hand, they are tried again.
    writer = Says(lambda call: {"answered": True, "answer": long}, name="writer")
    withheld = [
        *some[:16],
        *(record(one.paradigm, one.question, one.answer, evidence=({"text": "t"},)) for one in some[16:]),
    ]
    later = asyncio.run(fight(withheld, tmp_path, Says(marked), RULES, writer))
    assert len(writer.calls) == 6
    assert later.pairs[0].left_out == {}
    # It is said whose answers were written again, and by whom.
    assert (later.pairs[0].rewritten, later.pairs[0].writers) == ({"y": 6}, ("writer",))


def mumbling(share: int):
    """A judge of whose replies in a duel one of so many cannot be read."""

    def say(call):
        first, second = fences(call)
        unread = call.sample % 1000 and hash_of(first, second) % share == 0 and first.split()[0] != second.split()[0]
        return "hm" if unread else marked(call)

    def hash_of(*texts: str) -> int:
        return sum(map(ord, "".join(sorted(texts))))

    return Says(say)


def test_unreadable_replies_are_counted_warned_of_and_may_take_the_verdict(tmp_path: Path):
    found = asyncio.run(fight(records(x=5), tmp_path / "many", mumbling(1), RULES))
    pair = found.pairs[0]
    assert pair.replies.unscored == {"unreadable reply": 48}
    assert pair.replies.wanted == 96 == pair.replies.scored + 48
    assert pair.rounds.a + pair.rounds.ties + pair.rounds.b == 24
    # Half of them could not be read: had those said the opposite, nobody would lead.
    assert (pair.least, pair.most) == (0.0, 8.0)
    assert pair.verdict.outcome == "no verdict"
    assert "48 replies that could not be read could account for it" in pair.verdict.words
    assert any("could not be used" in warning for warning in found.warnings)
    few = asyncio.run(fight(records(x=5), tmp_path / "few", mumbling(5), RULES)).pairs[0]
    assert 0 < sum(few.replies.unscored.values()) < 24
    assert few.verdict.winner == "x"


def test_an_answer_that_one_side_failed_to_give_may_take_the_verdict(tmp_path: Path):
    some = records(40, x=5)

    def failing(count: int):
        lost = {f"q{n}" for n in range(count)}
        return [
            record(one.paradigm, one.question, "", error="down")
            if one.paradigm == "x" and one.question in lost
            else one
            for one in some
        ]

    many = asyncio.run(fight(failing(25), tmp_path / "many", Says(marked), RULES)).pairs[0]
    assert (many.rate, many.left_out) == (1.0, {FAILED: 25})
    assert many.verdict.outcome == "no verdict"
    assert "25 questions that only one side answered could account for it" in many.verdict.words
    few = asyncio.run(fight(failing(2), tmp_path / "few", Says(marked), RULES)).pairs[0]
    assert few.verdict.winner == "x"
    # Where the others tie, those that are missing could decide, too.
    tied = [record(one.paradigm, one.question, one.answer.replace("5", "3"), error=one.error) for one in failing(25)]
    even = asyncio.run(fight(tied, tmp_path / "tied", Says(marked), RULES)).pairs[0]
    assert even.verdict.outcome == "no verdict"
    assert "could decide it" in even.verdict.words


def test_a_test_that_was_failed_counts_whatever_is_drawn_later(tmp_path: Path):
    """No seed shopping: the judge fails on one draw and passes on the next."""
    some = records(30, x=5)
    drawn_first = {
        one.answers[0] for one in probe_prompts(duel_entries(some, RULES).records, "xy", RULES) if one.kind == "padded"
    }

    def fails_on_these(call):
        first, second = fences(call)
        longer = first.startswith(second) or second.startswith(first)
        if longer and first != second and min(first, second, key=len) in drawn_first:
            return both(1 + 4 * (len(first) > len(second)), 1 + 4 * (len(second) > len(first)))
        return marked(call)

    asyncio.run(fight(some, tmp_path, Says(fails_on_these), RULES))
    again = replace(RULES, seed=11)
    found = asyncio.run(fight(some, tmp_path, Says(fails_on_these), again))
    assert not found.selftest.failed
    assert not found.selftest.passed
    assert [(run.rules.seed, run.passed) for run in found.selftests] == [(7, False), (11, True)]
    assert "in an earlier test here, drawn by seed 7, the judge failed" in found.pairs[0].verdict.words
    alone = asyncio.run(fight(some, tmp_path / "fresh", Says(fails_on_these), again))
    assert alone.pairs[0].verdict.winner == "x"


def test_many_paradigms_are_corrected_together(tmp_path: Path):
    found = asyncio.run(fight(records(names="wxyz", w=5, x=4), tmp_path, Says(marked), RULES))
    assert [(pair.a, pair.b) for pair in found.pairs] == list(combinations("wxyz", 2))
    # 12 of 12 won: p is 2/4096 alone, and no less than six times that after Holm's first step.
    best = found.pairs[0].verdict.adjusted
    assert best is not None
    assert found.pairs[0].p == pytest.approx(2 / 4096)
    assert best > 2 / 4096
    assert found.pairs[-1].verdict.outcome == "tie"


def test_a_judge_of_the_generators_family_is_warned_of(tmp_path: Path):
    some = [record(name, f"q{n}", f"{name} {n}", made={"model": "gpt-4o-mini"}) for n in range(8) for name in "xy"]
    warned = asyncio.run(fight(some, tmp_path, Says(marked, name="gpt-4.1"), RULES)).warnings
    assert any("same family" in warning for warning in warned)
    other = asyncio.run(fight(some, tmp_path, Says(marked, name="claude-opus"), RULES)).warnings
    assert not any("same family" in warning for warning in other)


def test_differential_mode_runs_through_and_is_kept_apart(tmp_path: Path):
    def say(call):
        if call.schema_name == "duel_difference":
            return apart(*fences(call))
        return marked(call)

    rules = DuelRules(trials=2, samples=2, mode="differential", **SMALL)
    asyncio.run(fight(records(), tmp_path, Says(marked), RULES))
    judge = Says(say)
    found = asyncio.run(fight(records(x=5), tmp_path, judge, rules))
    assert found.pairs[0].verdict.winner == "x"
    assert found.selftest.passed
    assert found.selftest.position.difference == 0
    assert len([call for call in judge.calls if call.schema_name == "duel_difference"]) == 12 * 2 * 2 + TESTING


def test_the_plan_counts_exactly_what_is_asked_later(tmp_path: Path):
    some, by = records(x=4), duel_judge("judge", "whole")
    entries = duel_entries(some, RULES)
    before = plan_duel(entries, tmp_path, by, RULES)
    judge = Says(marked)
    asyncio.run(fight(some, tmp_path, judge, RULES))
    assert before.calls == len(judge.calls)
    assert before.usage.calls == before.calls
    assert before.usage.input > 400 * before.calls
    after = plan_duel(entries, tmp_path, by, RULES)
    assert (after.calls, after.known, after.usage.tokens) == (0, before.calls, 0)
    long = [record(name, "q", "word " * (90 if name == "x" else 20)) for name in "xy"]
    unequal = duel_entries([*some, *long], RULES)
    assert plan_duel(unequal, tmp_path, by, RULES).lengths == 3
    assert plan_duel(unequal, tmp_path, by, RULES, generator=False).lengths == 0
    two_steps = DuelRules(trials=2, samples=2, mode="differential", **SMALL)
    both_steps = plan_duel(duel_entries(some, two_steps), tmp_path, duel_judge("judge", "differential"), two_steps)
    assert both_steps.duel == 12 * 2 * 2 * 3


def test_a_budget_ends_it_with_what_is_done_kept(tmp_path: Path):
    prices = Prices({"judge": Price(100.0, 100.0)})
    entries = duel_entries(records(), RULES)
    run = Trials(ModelClient(Says(marked), prices=prices), None, tmp_path, RULES, at_once=1).run(entries, budget=0.2)
    with pytest.raises(BudgetExceeded):
        asyncio.run(run)
    kept = len(list(DuelReplies(tmp_path)))
    assert 0 < kept < 100
    assert sum(line.made.usd for line in DuelReplies(tmp_path)) <= 0.2


def test_a_duel_takes_two_and_known_names():
    with pytest.raises(UsageError, match="takes two"):
        duel_entries(records(names="x"), RULES)
    with pytest.raises(UsageError, match="did you mean"):
        duel_entries([record("naive"), record("words")], RULES, ["naiv", "words"])
    with pytest.raises(UsageError, match="between 1 and"):
        DuelRules(trials=0)
    assert len(duel_entries(records(), RULES, limit=5).texts) == 5
