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

from ragways.core.errors import BudgetExceeded, UsageError
from ragways.core.plain import to_plain
from ragways.evaluation.duel.entries import ALONE, FAILED, SPARE, UNEQUAL, DuelRules, duel_entries, pairs_of
from ragways.evaluation.duel.entries import FILE as LENGTHS
from ragways.evaluation.duel.replies import FILE, DuelReplies, duel_judge
from ragways.evaluation.duel.result import ANCHOR, DuelResult, duel_result
from ragways.evaluation.duel.taste import COMPARISONS
from ragways.evaluation.duel.trials import Trials, plan_duel
from ragways.evaluation.labels import Labelling
from ragways.evaluation.question import Gold
from ragways.evaluation.record import EvidenceItem, Record
from ragways.models.client import ModelClient
from ragways.models.reply import schema_of
from ragways.models.tokens import Price, Prices
from ragways.tasks.duel import DUEL_DIFFERENTIAL, DUEL_SCORE
from tests.evaluation.duel.duel_fakes import Says, apart, both, fences, fight, marked, record, worth

RULES = DuelRules(trials=2)
TASTE = 2 * COMPARISONS
"""Calls that test the taste of a judge."""


def kinds_in(folder: Path) -> Counter[str]:
    """Replies of each kind."""
    return Counter(reply.kind for reply in DuelReplies(folder))


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
    assert (pair.outcome, pair.winner, pair.basis) == ("win", "x", "by the judge alone")
    assert "by the judge alone" in pair.words
    assert pair.rate == 1.0
    assert pair.box is not None
    assert [aspect.mean_a for aspect in pair.aspects] == [4.0] * 4
    assert found.test.passed
    assert pair.taste.points == 0
    stored = list(DuelReplies(tmp_path))
    assert len(stored) == len(judge.calls)
    assert kinds_in(tmp_path) == {"duel": 12 * 2 * 2 * 2, "taste": TASTE, "other": 48}
    assert {(line.judge, line.prompt) for line in stored} == {("judge", duel_judge("judge", "whole").prompt)}
    assert json.loads(json.dumps(to_plain(found)))["pairs"][0]["winner"] == "x"
    assert pair.seen_by("x") == (1.0, "win")
    assert pair.seen_by("y") == (-1.0, "loss")


@pytest.mark.parametrize(
    ("count", "differing", "why"),
    [
        (3, 3, "no verdict: 6 different answers are too few to test the judge, 8 at least are needed"),
        (5, 5, "no verdict: 5 questions are too few, 6 at least are needed"),
        (12, 4, "no verdict: 4 questions are too few, 6 at least are needed"),
    ],
)
def test_a_duel_that_can_have_no_verdict_costs_no_call(tmp_path: Path, count: int, differing: int, why: str):
    some = [
        replace(one, answer=f"Both say of {one.question} the same.") if int(one.question[1:]) >= differing else one
        for one in records(count, x=4)
    ]
    judge = Says(marked)
    found = asyncio.run(fight(some, tmp_path, judge, RULES))
    assert judge.calls == []
    assert found.pairs[0].words == why
    plan = plan_duel(duel_entries(some, RULES), tmp_path, duel_judge("judge", "whole"), RULES)
    assert (plan.calls, plan.lengths) == (0, 0)
    assert plan.too_few in why
    asyncio.run(fight(some, tmp_path, judge, replace(RULES, go_on=True)))
    assert judge.calls


def test_pairs_that_stay_unequal_are_not_paid_for_where_too_few_are_left(tmp_path: Path):
    some = [replace(one, answer=one.answer + 99 * " more") if one.paradigm == "x" else one for one in records(x=4)]
    found = asyncio.run(fight(some, tmp_path, Says(marked), RULES))
    assert kinds_in(tmp_path) == {"other": 48}
    assert found.pairs[0].words == "no verdict: 0 questions are too few, 6 at least are needed"


def test_what_a_judge_writes_before_its_points_is_kept(tmp_path: Path):
    asyncio.run(fight(records(x=4, y=3), tmp_path, Says(marked), RULES))
    assert {reply.reason for reply in DuelReplies(tmp_path) if reply.kind == "duel"} == {"4 beside 3", "3 beside 4"}
    for task in (DUEL_SCORE, DUEL_DIFFERENTIAL):
        assert str(schema_of(task.reply)["properties"]).startswith("{'why'")


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
    for stop in (3, 60, 90, 150):

        def stopping(call, stop=stop):
            nonlocal asked
            asked += 1
            return KeyboardInterrupt() if asked % stop == 0 else marked(call)

        with pytest.raises(KeyboardInterrupt):
            asyncio.run(fight(some, folder, Says(stopping), RULES))
        half = duel_result(duel_entries(some, RULES), folder, duel_judge("judge", "whole"), RULES)
        assert half.pairs[0].outcome == "no verdict"
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
    asyncio.run(fight(records(), tmp_path, judge, DuelRules(trials=3, samples=3)))
    assert len(judge.calls) == 12 * 2 * (3 * 3 - 2 * 2) + 28 * 2, "of the taste, what the new trial has"


def test_another_judge_or_another_answer_is_asked_anew(tmp_path: Path):
    asyncio.run(fight(records(x=5), tmp_path, Says(marked), RULES))
    other = Says(lambda call: marked(call, most=3), name="other")
    found = asyncio.run(fight(records(x=5), tmp_path, other, RULES))
    assert len(other.calls) == len(list(DuelReplies(tmp_path))) / 2
    assert found.pairs[0].outcome == "tie"
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
    rules = DuelRules(trials=3, go_on=True)
    first = asyncio.run(fight(some, tmp_path / "a", Says(noisy), rules)).pairs[0]
    second = asyncio.run(fight(other, tmp_path / "b", Says(noisy), rules)).pairs[0]
    assert first.rate != 0
    assert first.rate is not None
    assert second.rate == pytest.approx(-first.rate)
    assert second.trials == tuple(-rate for rate in first.trials)
    # And whoever is named first on the command line, the pair is the same.
    assert duel_entries(some, rules, ["y", "x"]).pairs == duel_entries(some, rules, ["x", "y"]).pairs


def test_after_a_failed_control_nobody_wins_and_nothing_more_is_asked(tmp_path: Path):
    judge = Says(lambda call: both(1 + len(fences(call)[0]) % 2, 1))
    found = asyncio.run(fight(records(x=5, y=1), tmp_path, judge, RULES))
    assert (found.pairs[0].outcome, found.pairs[0].winner) == ("no verdict", "")
    assert "does not tell a right answer from one to another question" in found.pairs[0].words
    assert "it names no winner" in found.warnings[0]
    assert kinds_in(tmp_path) == {"other": 48}
    assert not (tmp_path / LENGTHS).exists()
    # Told to go on, it shows the figures and still names nobody.
    on = asyncio.run(fight(records(x=5, y=1), tmp_path, judge, DuelRules(trials=2, go_on=True)))
    assert on.pairs[0].rate is not None
    assert on.pairs[0].winner == ""
    silent = asyncio.run(fight(records(x=5, y=1), tmp_path / "silent", Says(lambda call: both(0, 0)), RULES))
    assert silent.pairs[0].outcome == "no verdict", "it gives nobody a point"


def hedged(count: int = 40, points: int = 3) -> list[Record]:
    """x hedges, y does not; both are right."""
    style = {"x": "Perhaps it seems that", "y": "So in the end"}
    return [
        record(name, f"q{n}", f"{style[name]} of {n} it is worth {points if name == 'x' else 3} points.")
        for n in range(count)
        for name in "xy"
    ]


def likes_hedges(call, bonus: int = 1):
    asked = next(message.content for message in call.messages if message.role == "user")
    question = next(line for line in asked.splitlines() if line.startswith("Question: "))
    first, second = (
        min(5, worth(question, text) + bonus * ("Perhaps" in text and worth(question, text) > 0))
        for text in fences(call)
    )
    return both(first, second)


def test_a_judge_that_likes_how_a_side_writes_names_no_winner(tmp_path: Path):
    found = asyncio.run(fight(hedged(), tmp_path, Says(likes_hedges), RULES))
    (pair,) = found.pairs
    assert (pair.outcome, pair.rate, pair.difference) == ("no verdict", 1.0, 4.0)
    assert "x leads (+4.00 points of 20" in pair.words
    assert "points for words such as" in pair.words
    assert "perhaps" in pair.taste.words_a
    assert any("points of 20 for words alone, such as" in warning for warning in found.warnings)
    # A fair judge of the same answers ties them, and one of better answers is believed.
    assert asyncio.run(fight(hedged(), tmp_path / "fair", Says(marked), RULES)).pairs[0].outcome == "tie"
    better = asyncio.run(fight(hedged(points=5), tmp_path / "better", Says(marked), RULES)).pairs[0]
    assert (better.winner, better.taste.shown) == ("x", False)


def labelled(folder: Path, some: list[Record], count: int, value) -> DuelResult:
    work = Labelling(folder, some, by="ann", count=count, verdict="better")
    for at, task in enumerate(work.tasks):
        work.give(at, value(task))
    return duel_result(duel_entries(some, RULES), folder, duel_judge("judge", "whole"), RULES)


def test_thirty_labelled_pairs_anchor_the_verdict(tmp_path: Path):
    some = hedged(60)
    asyncio.run(fight(some, tmp_path, Says(likes_hedges), RULES))
    few = labelled(tmp_path, some, ANCHOR - 1, lambda task: "even").pairs[0]
    assert (few.basis, few.anchored) == ("by the judge alone", None)
    (pair,) = labelled(tmp_path, some, 40, lambda task: "even").pairs
    assert (pair.outcome, pair.basis) == ("tie", "anchored on 40 labels")
    assert "anchored on 40 labels" in pair.words
    assert pair.anchored is not None
    assert (pair.anchored.raw, pair.anchored.labels, pair.anchored.n) == (1.0, 0.0, 60)
    (other,) = labelled(tmp_path, some, 40, lambda task: "first" if "Perhaps" in task.other else "second").pairs
    assert (other.outcome, other.winner) == ("win", "y"), "the judge is alone with its taste"
    # Labels of answers that have been replaced since count no more.
    changed = [replace(one, answer=f"{one.answer} Again.") for one in some]
    assert asyncio.run(fight(changed, tmp_path, Says(likes_hedges), RULES)).pairs[0].basis == "by the judge alone"


def test_labels_decide_though_the_judge_failed_its_test(tmp_path: Path):
    some, rules = hedged(40), DuelRules(trials=1, samples=1, go_on=True)
    judge = Says(lambda call: both(1 + len(fences(call)[0]) % 2, 1))
    alone = asyncio.run(fight(some, tmp_path, judge, rules)).pairs[0]
    assert "failed its test" in alone.words
    work = Labelling(tmp_path, some, by="ann", count=40, verdict="better")
    for at, task in enumerate(work.tasks):
        work.give(at, "first" if "Perhaps" in task.other else "second")
    found = duel_result(duel_entries(some, rules), tmp_path, duel_judge("judge", "whole"), rules)
    assert not found.test.passed
    assert (found.pairs[0].winner, found.pairs[0].basis) == ("y", "anchored on 40 labels")


def test_questions_on_one_document_count_as_one(tmp_path: Path):
    lucky = {0, 1, 2, 3, 4, 5}
    some = [
        record(name, f"q{n}", f"{name} says of {n} it is {4 if (n % 8 in lucky) == (name == 'x') else 3} points.",
               wanted=(Gold(key=f"d{n % 8}"),))
        for n in range(80) for name in "xy"
    ]  # fmt: skip
    (pair,) = asyncio.run(fight(some, tmp_path, Says(marked), RULES)).pairs
    assert (pair.documents, pair.outcome, pair.rate) == (8, "tie", 0.5)
    alone = [replace(one, wanted=()) for one in some]
    assert asyncio.run(fight(alone, tmp_path / "alone", Says(marked), RULES)).pairs[0].winner == "x"


@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize(("count", "warned"), [(1, "; the questions are about 1 document: this is no"), (6, "")])
def test_a_verdict_on_a_few_documents_is_none_for_others(tmp_path: Path, gold: bool, count: int, warned: str):
    some = [
        replace(one, wanted=(Gold(title=name),)) if gold else replace(one, evidence=(EvidenceItem(title=name),))
        for one in records(24, x=4)
        for name in [f"Book {int(one.question[1:]) % count}"]
    ]
    (pair,) = asyncio.run(fight(some, tmp_path, Says(marked), RULES)).pairs
    assert pair.winner == "x"
    assert warned in pair.words
    assert ("no verdict" in pair.words) == bool(warned)


def test_a_paradigm_against_its_double_ties(tmp_path: Path):
    judge = Says(marked)
    some = [record(name, f"q{n}", f"It is {n}.") for n in range(10) for name in "xy"]
    found = asyncio.run(fight(some, tmp_path, judge, RULES))
    assert found.pairs[0].outcome == "tie"
    assert found.pairs[0].rate == 0
    assert found.pairs[0].identical == 20
    assert len(judge.calls) == len(list(DuelReplies(tmp_path)))
    assert set(kinds_in(tmp_path)) == {"other"}


def test_pairs_that_make_none_are_counted_by_reason():
    some = [
        record("x", "ok", "Fine."), record("y", "ok", "Good."),
        record("x", "alone"),
        record("x", "failed"), record("y", "failed", error="down"),
        record("x", "empty", "[1]"), record("y", "empty", error="down"),
        *(record(name, "many", f"{name}{n}", repeat=n) for n in range(5) for name in "xy"),
        record("z", "ok"),
    ]  # fmt: skip
    pairs, left_out = pairs_of(some, "x", "y", trials=2)
    assert left_out == {ALONE: 1, FAILED: 1, SPARE: 3}
    assert [(pair.question, pair.repeat) for pair in pairs] == [("ok", 0), ("failed", 0), ("many", 0), ("many", 1)]
    assert pairs[1].answers == ("An answer.", "")


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
    pairs, left_out = pairs_of(some, "x", "y", trials=trials)
    asked = {(one.question, one.repeat) for one in some if one.paradigm in "xy"}
    assert len(pairs) + left_out.total() == len(asked)
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
    assert len(writer.calls) == 12, "both answers"
    assert later.pairs[0].left_out == {}
    assert (later.pairs[0].rewritten, later.pairs[0].writers) == (6, ("writer",))


def mumbling(unread):
    """A judge of whose replies those cannot be read that the function says, by question."""

    def say(call):
        asked = next(message.content for message in call.messages if message.role == "user")
        question = next(line for line in asked.splitlines() if line.startswith("Question: "))
        return "hm" if unread(int("".join(filter(str.isdigit, question))), call.sample) else marked(call)

    return Says(say)


def test_unread_replies_are_counted_and_matter_only_where_they_may_hide_who_is_better(tmp_path: Path):
    some = [
        record(name, f"q{n}", f"{name} says of {n} it is worth {4 if (n < 40) == (name == 'x') else 3} points.")
        for n in range(60)
        for name in "xy"
    ]
    (chance,) = asyncio.run(fight(some, tmp_path / "few", mumbling(lambda n, s: n % 10 == 0 and s % 1000), RULES)).pairs
    assert sum(chance.unscored.values()) == 6 * 4
    assert (chance.replies, chance.unread, chance.winner) == (60 * 8, False, "x")
    related = asyncio.run(fight(some, tmp_path / "b", mumbling(lambda n, s: n > 51 and s % 1000), RULES))
    assert related.pairs[0].unread
    assert related.pairs[0].winner == "x", "even so: those that are read show it"
    most = asyncio.run(fight(some, tmp_path / "all", mumbling(lambda n, s: n > 33 and n % 8), RULES))
    assert most.pairs[0].outcome == "no verdict"
    assert "replies that could not be read could decide it" in most.pairs[0].words
    assert any("could not be used" in warning for warning in most.warnings)


def test_an_answer_that_failed_is_lost(tmp_path: Path):
    some = records(40, x=4)

    def failing(count: int) -> list[Record]:
        return [
            record("x", one.question, "", error="down")
            if one.paradigm == "x" and int(one.question[1:]) < count
            else one
            for one in some
        ]

    few = asyncio.run(fight(failing(2), tmp_path / "few", Says(marked), RULES)).pairs[0]
    assert (few.failed, few.winner, few.judged) == ({"x": 2}, "x", 40)
    assert few.rate == pytest.approx(36 / 40)
    many = asyncio.run(fight(failing(25), tmp_path / "many", Says(marked), RULES)).pairs[0]
    assert many.winner == "y"
    assert many.rate == pytest.approx(-10 / 40)


def test_many_paradigms_are_corrected_together(tmp_path: Path):
    found = asyncio.run(fight(records(names="wxyz", w=5, x=4), tmp_path, Says(marked), RULES))
    assert [(pair.a, pair.b) for pair in found.pairs] == list(combinations("wxyz", 2))
    # 12 of 12 won: p is 2/4096 alone, and no less than six times that after Holm's first step.
    best = found.pairs[0].adjusted
    assert best is not None
    assert found.pairs[0].p == pytest.approx(2 / 4096)
    assert best > 2 / 4096
    assert found.pairs[-1].outcome == "tie"


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

    rules = DuelRules(trials=2, samples=2, mode="differential")
    asyncio.run(fight(records(), tmp_path, Says(marked), RULES))
    judge = Says(say)
    found = asyncio.run(fight(records(x=5), tmp_path, judge, rules))
    assert found.pairs[0].winner == "x"
    assert found.test.passed
    assert len([call for call in judge.calls if call.schema_name == "duel_difference"]) == 12 * 2 * 2 + TASTE + 48


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
    assert plan_duel(unequal, tmp_path, by, RULES).lengths == 6
    assert plan_duel(unequal, tmp_path, by, RULES, generator=False).lengths == 0
    two_steps = DuelRules(trials=2, samples=2, mode="differential")
    both_steps = plan_duel(duel_entries(some, two_steps), tmp_path, duel_judge("judge", "differential"), two_steps)
    assert both_steps.duel == 12 * 2 * 2 * 3


def test_a_budget_ends_it_with_what_is_done_kept(tmp_path: Path):
    prices = Prices({"judge": Price(100.0, 100.0)})
    entries = duel_entries(records(), RULES)
    run = Trials(ModelClient(Says(marked), prices=prices), None, tmp_path, RULES, at_once=1).run(entries, budget=0.2)
    with pytest.raises(BudgetExceeded):
        asyncio.run(run)
    stored = len(list(DuelReplies(tmp_path)))
    assert 0 < stored < 100
    assert sum(line.made.usd for line in DuelReplies(tmp_path)) <= 0.2


def test_a_duel_takes_two_and_known_names():
    with pytest.raises(UsageError, match="takes two"):
        duel_entries(records(names="x"), RULES)
    with pytest.raises(UsageError, match="did you mean"):
        duel_entries([record("naive"), record("words")], RULES, ["naiv", "words"])
    with pytest.raises(UsageError, match="between 1 and"):
        DuelRules(trials=0)
    assert len(duel_entries(records(), RULES, limit=5).texts) == 5
