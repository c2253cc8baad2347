from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ragways.core.errors import BudgetExceeded, ModelRefused, NoModel
from ragways.core.trace import Budget, spending
from ragways.evaluation.duel.replies import FILE, DuelPrompt, DuelReplies, DuelReply, duel_judge
from ragways.evaluation.duel.trials import REFUSED, UNREADABLE, ask_samples
from ragways.models.client import ModelClient
from ragways.models.tokens import Price, Prices
from tests.evaluation.duel.duel_fakes import Says, both, fences

BY = duel_judge("judge", "whole")
APART = duel_judge("judge", "differential")


def prompt(order="ab", trial=0) -> DuelPrompt:
    return DuelPrompt("duel", "q", "Who?", 0, "x", "y", order, trial, ("Anna.", "Ben."))


def ask(model: Says, one: DuelPrompt, by=BY, samples=2, known=None) -> list[DuelReply]:
    return asyncio.run(gathered(ModelClient(model), one, samples, by, known or {}))


async def gathered(*arguments) -> list[DuelReply]:
    return [line async for line in ask_samples(*arguments)]


def test_points_belong_to_a_and_b_whichever_stood_first():
    model = Says(lambda call: both(4, 2))
    ab, ba = ask(model, prompt("ab"))[0], ask(model, prompt("ba"))[0]
    assert (ab.points, ba.points) == (((4,) * 4, (2,) * 4), ((2,) * 4, (4,) * 4))
    assert (ab.difference, ba.difference) == (8, -8)
    assert [fences(call) for call in model.calls[::2]] == [("Anna.", "Ben."), ("Ben.", "Anna.")]


def test_samples_and_trials_are_told_apart_and_drawn_at_a_temperature():
    model = Says(lambda call: both(3, 3))
    for trial in (0, 1):
        ask(model, prompt(trial=trial), samples=3)
    assert len({call.sample for call in model.calls}) == 6
    assert all(call.temperature > 0 for call in model.calls)
    # A call's number does not depend on how many samples there are, or a kept reply could be taken twice.
    assert prompt(trial=1).number(0) > prompt(trial=0).number(999)


def test_an_unreadable_reply_is_unscored_kept_and_asked_for_again():
    model = Says(lambda call: "I prefer the first one." if call.sample == 1 else both(5, 1))
    first, second = ask(model, prompt())
    assert first.points is not None
    assert (second.points, second.why) == (None, UNREADABLE)
    assert second.reply == "I prefer the first one."
    assert second.prompt == BY.prompt
    better = Says(lambda call: both(1, 5))
    again = ask(better, prompt(), known={line.key: line for line in (first, second)})
    assert [(line.sample, line.difference) for line in again] == [(1, -16)]
    assert len(better.calls) == 1


def test_points_out_of_range_are_unreadable():
    (line,) = ask(Says(lambda call: both(7, 1)), prompt(), samples=1)
    assert (line.points, line.why) == (None, UNREADABLE)
    assert '"comprehensiveness": 7' in line.reply


def test_a_refusal_of_one_prompt_does_not_end_the_duel():
    (line,) = ask(Says(lambda call: ModelRefused("filtered")), prompt(), samples=1)
    assert (line.points, line.why, line.reply) == (None, REFUSED, "filtered")


def test_a_spent_budget_does_and_no_model_too():
    async def run() -> None:
        with spending(Budget(usd=0.0)):
            client = ModelClient(Says(lambda call: both(1, 1)), prices=Prices({"judge": Price(1.0, 1.0)}))
            await gathered(client, prompt(), 1, BY, {})

    with pytest.raises(BudgetExceeded):
        asyncio.run(run())
    with pytest.raises(NoModel):
        asyncio.run(gathered(ModelClient(None), prompt(), 1, BY, {}))


def test_lines_are_read_as_they_were_written_and_damaged_ones_passed_over(tmp_path: Path):
    lines = DuelReplies(tmp_path)
    written = ask(Says(lambda call: both(4, 2)), prompt())
    for line in written:
        lines.append(line)
    row = json.loads((tmp_path / FILE).read_text().splitlines()[0])
    with (tmp_path / FILE).open("a") as stream:
        stream.write(
            json.dumps({**row, "points": [[1, 2], [3]]}) + "\n" + json.dumps({"kind": "duel"}) + "\n" + '{"kin'
        )
    assert list(lines) == written
    assert written[0].made.tokens == 15


def differ(first: list[str], second: list[str]):
    def say(call):
        if call.schema_name == "duel_difference":
            return (
                {"first": first, "second": second} if fences(call)[0] == "Anna." else {"first": second, "second": first}
            )
        return both(*(5 if "Anna" in text else 1 if text != "(nothing)" else 0 for text in fences(call)))

    return Says(say)


def test_differential_judges_only_what_one_has_and_the_other_lacks():
    model = differ(["Anna built it."], ["Ben was there.", " "])
    ab, ba = (ask(model, prompt(order), APART) for order in ("ab", "ba"))
    assert [line.difference for line in (*ab, *ba)] == [16] * 4
    assert {line.said for line in (*ab, *ba)} == {(("Anna built it.",), ("Ben was there.",))}
    # One list a prompt and one score a sample; the judge of differences never sees the answers.
    assert [call.schema_name for call in model.calls] == ["duel_difference", *["duel_differential"] * 2] * 2
    assert fences(model.calls[4]) == ("- Ben was there.", "- Anna built it.")


def test_where_nothing_differs_it_is_a_tie_without_a_second_call():
    model = differ([], [])
    lines = ask(model, prompt(), APART)
    assert [line.points for line in lines] == [((0,) * 4, (0,) * 4)] * 2
    assert len(model.calls) == 1


def test_differences_that_are_known_are_not_asked_for_again():
    first = ask(differ(["Anna built it."], []), prompt("ba"), APART, samples=1)
    model = differ(["other"], ["other"])
    (line,) = ask(model, prompt("ba"), APART, samples=2, known={one.key: one for one in first})
    assert line.said == (("Anna built it.",), ())
    assert [call.schema_name for call in model.calls] == ["duel_differential"]
    assert line.difference == 20


def test_unreadable_differences_leave_the_prompt_unscored():
    lines = ask(Says(lambda call: "no"), prompt(), APART)
    assert [(line.points, line.why, line.said) for line in lines] == [(None, UNREADABLE, None)] * 2
