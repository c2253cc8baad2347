"""Judging a run: what was judged stays, what was not is taken up again, and two judges are never mixed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragways.core.errors import BudgetExceeded, ModelUnavailable
from ragways.core.runtime import Progress
from ragways.evaluation.judges import JUDGES
from ragways.evaluation.judging import FILE, Judgements, JudgingSummary, judge
from ragways.evaluation.record import Record
from ragways.evaluation.score import with_values
from ragways.testing.scripted import ScriptedModel
from tests.evaluation.judges.resources import SAID, agreeable, record, resources
from tests.fakes import WordHashes

RECORDS = [record(question=f"q{n}", paradigm=way, repeat=0) for way in ("naive", "words") for n in range(3)]


def judged(
    folder: Path, names: str, model: ScriptedModel | None = None, records: list[Record] = RECORDS, **settings
) -> JudgingSummary:
    embedder = settings.pop("embedder", None)
    judges = [JUDGES[name] for name in names.split()]
    return asyncio.run(judge(resources(model, embedder), records, judges, Judgements(folder), **settings))


def test_what_was_judged_is_not_asked_again(tmp_path: Path):
    first = agreeable()
    tally = judged(tmp_path, "correct faithfulness support", first)
    names = ("judged-correct", "judged-incorrect", "judged-incomplete", "faithfulness", "support-hard", "support-soft")
    assert {name: one.scored for name, one in tally.metrics.items()} == dict.fromkeys(names, 6)
    held, second = (tmp_path / FILE).read_bytes(), agreeable()
    assert judged(tmp_path, "correct faithfulness support", second).metrics == {}
    assert not second.calls
    assert (tmp_path / FILE).read_bytes() == held
    more = judged(tmp_path, "correct", second, [*RECORDS, record(question="new")])
    assert more.metrics["judged-correct"].scored == 1


def test_a_kill_in_the_middle_costs_only_what_was_not_written(tmp_path: Path):
    judged(tmp_path, "faithfulness", agreeable())
    whole = (tmp_path / FILE).read_text().splitlines()
    (tmp_path / FILE).write_text("\n".join(whole[:4]) + "\n")
    model = agreeable()
    judged(tmp_path, "faithfulness", model)
    assert len(model.calls) == 4  # claims and verdicts of two records
    assert sorted((tmp_path / FILE).read_text().splitlines()) == sorted(whole)


def test_what_another_model_judged_is_judged_again(tmp_path: Path):
    judged(tmp_path, "correct", agreeable(judge_correct={"why": "", "verdict": "incorrect"}))
    other = ScriptedModel([{"why": "", "verdict": "correct"}] * 6, name="judge-2")
    judged(tmp_path, "correct", other)
    latest = Judgements(tmp_path).latest().values()
    assert {one.made.by for one in latest} == {"judge-2"}
    assert {one.value for one in latest if one.metric == "judged-correct"} == {1}
    judged(tmp_path, "support", embedder=WordHashes("one"))
    again = judged(tmp_path, "support", embedder=WordHashes("two"))
    assert again.metrics["support-soft"].scored == 6


def test_a_failure_is_told_kept_and_tried_again(tmp_path: Path):
    down = ScriptedModel([ModelUnavailable("the endpoint is down")] * 6, name="judge-1")
    tally = judged(tmp_path, "correct", down)
    assert tally.metrics["judged-correct"].unscored == {"the judge failed": 6}
    assert tally.errors == {"the judge failed": "the endpoint is down"}
    assert judged(tmp_path, "correct", agreeable()).metrics["judged-correct"].scored == 6
    found = JudgingSummary.of(RECORDS, Judgements(tmp_path).latest(), JUDGES["correct"].metrics)
    assert not any(one.unscored for one in found.metrics.values())


def test_a_reply_with_half_a_character_is_kept_as_far_as_it_can_be(tmp_path: Path):
    judged(tmp_path, "correct", ScriptedModel(["no \ud83d idea"] * 18))
    assert {one.details["reply"] for one in Judgements(tmp_path).latest().values()} == {"no ? idea"}


def test_an_embedder_without_token_vectors_is_told(tmp_path: Path):
    from ragways.core.errors import ModelError

    class Whole(WordHashes):
        async def tokens(self, texts):
            raise ModelError("it gives one vector a text")

    tally = judged(tmp_path, "bertscore coverage", embedder=Whole())
    assert tally.metrics["bertscore-f1"].unscored == {"the judge failed": 6}
    assert tally.metrics["coverage"].scored == 6


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_spent_budget_ends_it_and_all_is_kept(tmp_path: Path, at_once: int):
    from ragways.models.client import ModelClient
    from ragways.models.tokens import Price, Prices

    model = agreeable()
    client = ModelClient(model, prices=Prices({"judge-1": Price(1e-3, 1e-3)}))
    use = resources(None)
    use = type(use)(client, use.embedder)
    held = Judgements(tmp_path)
    with pytest.raises(BudgetExceeded):
        asyncio.run(judge(use, RECORDS, [JUDGES["faithfulness"]], held, at_once=at_once, budget=1e-9))
    assert not model.calls
    assert held.latest() == {}
    judged(tmp_path, "faithfulness", agreeable())
    assert len(held.latest()) == 6


def test_progress_counts_records_and_says_what_is_judged(tmp_path: Path):
    seen: list[Progress] = []
    judged(tmp_path, "support", progress=seen.append)
    judged(tmp_path, "coverage support", progress=seen.append)
    assert [(one.stage, one.done, one.total) for one in seen if one.done == one.total] == [
        ("judging support", 6, 6), ("judging coverage", 6, 6),
    ]  # fmt: skip


def test_side_by_side_gives_the_same(tmp_path: Path):
    for folder, at_once in (("one", 1), ("many", 8)):
        judged(tmp_path / folder, " ".join(JUDGES), agreeable(), at_once=at_once)
    one, many = (Judgements(tmp_path / folder).latest() for folder in ("one", "many"))
    assert one == many
    assert len(one) == 6 * sum(len(by.metrics) for by in JUDGES.values())


def test_judged_values_stand_beside_the_computed_ones(tmp_path: Path):
    judged(tmp_path, "faithfulness", agreeable(judge_support=SAID["judge_support"]))
    (first, *_) = with_values(RECORDS, Judgements(tmp_path).latest())
    assert first.values["faithfulness"].value == 0.5
    assert "crag-fine" not in first.values
    assert Judgements(tmp_path).latest()["q0", "naive", 0, "faithfulness"].made.prompts.keys() == {
        "judge claims", "judge support",
    }  # fmt: skip
