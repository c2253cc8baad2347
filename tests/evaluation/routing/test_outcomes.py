"""Outcomes from the records of runs: what is taken, what is made by construction, and what is refused in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.question import Gold
from ragways.evaluation.record import AnswerUsage, Record, Records, RunInfo, begin
from ragways.evaluation.routing.outcomes import gather
from ragways.retrieval.routing.router import ABSTAIN


def record(question: str, arm: str, right: bool = True, **changes) -> Record:
    base = Record(
        question=question, text=f"What is {question}?", type="factual", gold=("gold",), paradigm=arm, repeat=0,
        answer="gold" if right else "lead", usage=AnswerUsage(calls=0, input=0, output=0, usd=0.0, evidence=100.0),
        features={"question.words": float(len(question))}, seconds=0.5,
    )  # fmt: skip
    return replace(base, **changes)


def run(folder: Path, *records: Record, model: str = "", index: str = "", temperature: float = 0.0) -> Path:
    begin(folder, RunInfo(model=model, index=index or folder.name, temperature=temperature))
    for one in records:
        Records(folder).append(one)
    return folder


def two_arms(*questions: str, arms=("naive", "fused[k=3]")) -> list[Record]:
    return [record(q, arm, n == 0) for q in questions for n, arm in enumerate(arms)]


def test_records_become_arrays(tmp_path: Path):
    used = AnswerUsage(calls=2, input=300, output=40, usd=0.02, evidence=250.0)
    folder = run(
        tmp_path / "a", *two_arms("one"), record("one", "auto"),
        record("two", "naive", False, chance=0.3), record("two", "fused[k=3]", usage=used, features={"look.top": 0.5}),
        record("two", "fused[k=3]", False, repeat=1, error="it failed", answer="", replies_known=1),
        record("two", "naive", False, repeat=1, abstained=True), model="m", temperature=0.7,
    )  # fmt: skip
    found = gather([folder], quality="accuracy")
    assert (found.arms, found.questions, found.corpora) == (("naive", "fused[k=3]"), ("one", "two"), ("a",))
    assert found.mean_quality.tolist() == [[1, 0], [0, 0.5]]
    assert found.quality.shape == (2, 2, 2)
    assert np.isnan(found.quality[0, :, 1]).all()
    assert found.costs["tokens"].tolist() == [[100, 100], [100, (340 + 100) / 2]]
    assert found.costs["seconds"][1].tolist() == [0.5, 0.5]
    assert found.names == ("question.words",)
    assert (found.model, found.temperature, found.exact) == ("m", 0.7, False)
    assert found.chance[1, 0, 0] == 0.3
    assert found.abstained[1, 0].tolist() == [0, 1]
    assert found.notes == ()


def test_runs_on_one_index_are_one_corpus_and_others_weigh_the_same(tmp_path: Path):
    first = run(tmp_path / "a", *(record(f"q{n}", "naive", n > 0) for n in range(4)), index="same")
    more = run(tmp_path / "b", *(record(f"q{n}", "kg", False) for n in range(4)), index="same")
    other = run(tmp_path / "c", *two_arms("q0", arms=("naive", "kg")))
    found = gather([first, more, other], quality="accuracy")
    assert found.corpora == ("a", "c")
    assert found.corpus.tolist() == [0, 0, 0, 0, 1]
    assert found.mean(found.mean_quality[:, 0]) == pytest.approx((0.75 + 1) / 2)
    part = found.part(np.array([4]))
    assert (part.corpora, part.corpus.tolist(), part.questions) == (("c",), [0], ("q0",))
    nested = run(tmp_path / "deep" / "a", *two_arms("q0", arms=("naive", "kg")), index="a third")
    assert gather([first, more, nested], quality="accuracy").corpora == ("a (1)", "a (3)")


def test_labels_by_construction_are_counted(tmp_path: Path):
    arms = ("naive", "community-global[level=1]")
    null = [record("null", arm, type="null", gold=(), abstained=arm == "naive") for arm in arms]
    wanted = (Gold(title="A"),)
    whole = [record("whole", arm, type="summary", gold=(), wanted=()) for arm in arms]
    known = [record("known", arm, type="factual", wanted=wanted, ranks=(1,)) for arm in arms]
    found = gather([run(tmp_path / "a", *known, *null, *whole)], quality="hits@4")
    assert found.arms == (*arms, ABSTAIN)
    assert dict(zip(found.questions, found.mean_quality.tolist(), strict=True)) == {
        "known": [1, 1, 0], "null": [0, 0, 1], "whole": [0, 1, 0],
    }  # fmt: skip
    assert found.costs["tokens"][:, 2].tolist() == [0, 0, 0]
    assert [note.split(":")[0] for note in found.notes] == [
        "1 question has no answer",
        "1 question about the whole corpus counts as right for community-global alone, by construction",
    ]
    # Where the metric scores the null question, it is the metric that says what the others are worth.
    assert gather([run(tmp_path / "b", *known, *null)], quality="accuracy").mean_quality[1].tolist() == [1, 0, 1]


def refused(message: str, *folders: Path, quality: str = "accuracy", **more) -> str:
    with pytest.raises(UsageError, match=message) as error:
        gather(list(folders), quality=quality, **more)
    assert error.value.cure
    return str(error.value)


def test_bad_input_is_an_error_with_a_cure(tmp_path: Path):
    refused("no run is named")
    refused("holds no run", tmp_path / "nothing")
    empty = run(tmp_path / "empty")
    (empty / "records.jsonl").touch()
    refused("the run in .* is empty", empty)
    refused("one arm only .naive.", run(tmp_path / "one", record("q", "naive")))
    good = run(tmp_path / "good", *two_arms("q1", "q2"))
    refused("recall@5 is unscored in every record .no gold evidence.", good, quality="recall@5")
    refused("less is better of hallucinated", good, quality="hallucinated")
    same = run(tmp_path / "same", *two_arms("q", arms=("naive", "naive2")), record("q", "naive2", repeat=1))
    assert gather([same], quality="accuracy").mean_quality.tolist() == [[1, 0.5]]
    equal = run(tmp_path / "equal", *(record(q, arm) for q in "ab" for arm in ("naive", "kg")))
    refused("all arms have the same accuracy on each of 2 questions", equal)
    refused("different models", good, run(tmp_path / "m", *two_arms("q1"), model="m"))
    bare = [replace(one, features={}) for one in two_arms("q1")]
    refused("the records have no features", run(tmp_path / "bare", *bare))
    other = [replace(one, text="Another?") for one in two_arms("q1")]
    refused("is not the same in two runs", good, run(tmp_path / "other", *other, index="good"))


def test_arms_missing_for_some_questions(tmp_path: Path):
    folder = run(tmp_path / "a", *two_arms("q1", "q2"), *(record(f"more{n}", "naive") for n in range(5)))
    said = refused("5 of 7 questions lack a value", folder)
    assert "fused[k=3] lacks 5: more0, more1, more2, …" in said
    assert "--common" in said
    found = gather([folder], quality="accuracy", common=True)
    assert found.questions == ("q1", "q2")
    assert found.notes == ("5 questions that some arm has no value for were left out",)
    apart = run(tmp_path / "b", record("q1", "naive"), record("q2", "kg"))
    refused("no question was answered by all arms", apart, common=True)


def test_features_of_old_runs_can_be_given(tmp_path: Path):
    bare = run(tmp_path / "bare", *(replace(one, features={}) for one in two_arms("q1", "q22")))
    given = {one.text: {"length": float(len(one.text))} for one in Records(bare)}
    found = gather([bare], quality="accuracy", features=given)
    assert found.names == ("length",)
    assert found.features[:, 0].tolist() == [11, 12]
