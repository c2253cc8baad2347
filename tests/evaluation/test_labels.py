"""Labels of people: drawn fairly and blindly, kept with their answers, and what they make of judges."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.agreement import agreement_tables, label_agreement
from ragways.evaluation.judging import Judgement, Judgements
from ragways.evaluation.labels import Labelling, Labels, LabelValue, drawn
from ragways.evaluation.record import Record, Records, Run
from ragways.evaluation.score import score, scored
from ragways.evaluation.statistics.labelled import FEWEST_LABELS, corrected_mean, level, weighted_kappa
from tests.evaluation.report.made import as_markdown, made_report, made_run, notes_of, rows_of


def truth(record: Record) -> LabelValue:
    """As made_run means its answers: red is right; where nothing is known, to abstain is."""
    if record.type == "null":
        return "right" if record.abstained else "wrong"
    return "wrong" if record.abstained or "red" not in record.answer else "right"


def label_all(folder: Path, count: int, *, by: str = "ann", verdict: str = "correct", slips: int = 0) -> Labelling:
    """As a person would who knows the truth, and slips each so many answers."""
    records = list(Records(folder))
    work = Labelling(folder, records, by=by, count=count, verdict=verdict)
    for at, record in enumerate(drawn(records, count, verdict=verdict)):
        work.give(at, "partly" if slips and at % slips == 0 else truth(record))
    return work


def agreements(run: Path, verdict: str = "correct") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The agreement of metrics and of people, and the corrected means."""
    labels, means = label_agreement(Run(run), verdict)
    return labels.to_plain(), means.to_plain()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made_run(tmp_path / "run", questions=40, paradigms=["naive", "fused", "words"])


# Which answers are labelled


def test_as_many_of_each_paradigm_and_none_that_cannot_be_labelled(run: Path):
    records = list(Records(run))
    assert any(record.error for record in records)
    found = drawn(records, 30)
    assert Counter(record.paradigm for record in found) == {"naive": 10, "fused": 10, "words": 10}
    every = drawn(records, 1000)
    assert {one.key for one in every} == {one.key for one in records if not one.error and one.gold}
    supported = drawn(records, 1000, verdict="supported")
    assert {one.key for one in supported} == {one.key for one in records if not one.error and not one.abstained}


def test_a_seed_draws_the_same_whatever_the_order_and_more_go_on(run: Path):
    records = list(Records(run))
    turned = random.Random(3).sample(records, len(records))
    keys = [one.key for one in drawn(records, 20)]
    assert keys == [one.key for one in drawn(turned, 20)] == [one.key for one in drawn(records, 50)][:20]
    assert keys != [one.key for one in drawn(records, 20, seed=1)]
    places = [[one.paradigm for one in drawn(records, 60)][at : at + 3] for at in range(0, 60, 3)]
    assert len({tuple(turn) for turn in places}) > 3, "the place does not tell the paradigm"


def test_a_labeller_does_not_see_the_paradigm(tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=8, paradigms=["naive", "secret-paradigm"])
    for verdict in ("correct", "supported"):
        work = Labelling(folder, list(Records(folder)), by="ann", count=50, verdict=verdict)
        shown = str([asdict(task) for task in work.tasks])
        assert "What of thing" in shown
        assert "secret" not in shown
        assert "[1]" not in shown, "marks of citations tell systems apart"
        assert ("evidence': ()" not in shown) == (verdict == "supported")


# How they are kept


def test_labelling_goes_on_and_the_last_label_counts(run: Path):
    records = list(Records(run))
    first = Labelling(run, records, by="ann", count=5)
    for at, value in enumerate(("right", "skip", "wrong")):
        first.give(at, value)  # type: ignore[arg-type]
    first.give(0, "partly")
    again = Labelling(run, records, by=" ann ", count=9)
    assert again.values == ["partly", "skip", "wrong", *[None] * 6]
    assert (again.first, again.counts) == (3, {"right": 0, "partly": 1, "wrong": 1, "skip": 1})
    assert Labelling(run, records, by="ben", count=5).first == 0, "another labeller has labels of their own"
    assert Labelling(run, records, by="ann", count=5, verdict="supported").first == 0
    assert len((run / "labels.jsonl").read_text().splitlines()) == 4, "each is kept as it was given"


def test_a_label_belongs_to_the_answer_it_was_given_for(run: Path):
    work = label_all(run, 6)
    assert "have been replaced" not in label_agreement(Run(run))[0].notes[0]
    record = drawn(list(Records(run)), 6)[2]
    Records(run).append(replace(record, answer=f"{record.answer} And more.", abstained=False))
    assert "1 labels are of answers that have been replaced since" in label_agreement(Run(run))[0].notes[0]
    assert sum(map(len, Labels(run).current(list(Records(run)), "correct").values())) == 5
    records = list(Records(run))
    assert Labelling(run, records, by=work.by, count=6).first == 2, "it is asked again"


def test_what_cannot_be(run: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="no labels of what is correct"):
        label_agreement(Run(run))
    with pytest.raises(UsageError, match="no verdict 'nice'"):
        label_agreement(Run(run), "nice")
    records = list(Records(run))
    with pytest.raises(UsageError, match="needs a labeller"):
        Labelling(run, records, by=" ", count=3)
    with pytest.raises(UsageError, match=r"no answer of .* can be labelled"):
        Labelling(run, [record for record in records if record.error], by="ann", count=3)


# Agreement


def plain_kappa(pairs: list[tuple[int, int]]) -> float:
    """By the book, pair by pair: what is seen to differ over what would, were the two independent."""
    seen = sum(abs(a - b) for a, b in pairs) / len(pairs)
    chance = sum(abs(a - b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return 1 - seen / chance


def test_kappa_is_that_of_the_book():
    chance = random.Random(5)
    for _ in range(20):
        pairs = [(a := chance.randrange(3), a if chance.random() < 0.6 else chance.randrange(3)) for _ in range(40)]
        found = weighted_kappa([(a / 2, b / 2) for a, b in pairs], [str(n) for n in range(40)], draws=50)
        assert found.kappa == pytest.approx(plain_kappa(pairs))
        assert found.agreed == pytest.approx(sum(a == b for a, b in pairs) / 40)
    # Right for wrong is worse than right for partly.
    near = weighted_kappa([(1, 1), (1, 0.5), (0, 0), (0, 0.5)] * 5, list("abcd") * 5)
    far = weighted_kappa([(1, 1), (1, 0), (0, 0), (0, 1)] * 5, list("abcd") * 5)
    assert far.kappa == pytest.approx(0.0)
    assert near.kappa == pytest.approx(0.5)


def test_kappa_where_there_is_none():
    assert weighted_kappa([(1, 1)], ["a"]).why == "fewer than 2 answers have both"
    alike = weighted_kappa([(1, 1)] * 5, list("abcde"))
    assert (alike.kappa, alike.agreed, alike.why) == (None, 1.0, "all have one value")
    flat = weighted_kappa([(1, 0), (0, 0)] * 5, list("abcdefghij"))
    assert (flat.kappa, flat.low, flat.why) == (0.0, None, "one of the two has one value for all")
    perfect = weighted_kappa([(1, 1), (0, 0)] * 5, list("abcdefghij"))
    assert (perfect.kappa, perfect.low, perfect.high) == (1.0, None, None), "an interval of no width says too much"


def test_levels_are_the_nearest():
    assert [level(value) for value in (0, 0.24, 0.25, 0.5, 0.74, 0.75, 1)] == [0, 0, 1, 1, 1, 2, 2]


def test_the_interval_of_kappa_covers_and_minds_questions():
    chance = np.random.default_rng(11)

    def draw(n: int) -> list[tuple[float, float]]:
        people = chance.choice([0, 0.5, 1], size=n, p=[0.3, 0.2, 0.5])
        judge = np.where(chance.random(n) < 0.65, people, chance.choice([0, 0.5, 1], size=n))
        return list(zip(people.tolist(), judge.tolist(), strict=True))

    true = weighted_kappa(draw(200_000), ["x"] * 200_000).kappa
    assert true is not None
    own = [weighted_kappa(draw(80), [str(n) for n in range(80)], draws=300) for _ in range(200)]
    covered = sum((one.low or 0) <= true <= (one.high or 0) for one in own) / 200
    assert 0.90 <= covered <= 0.99
    # Each answer four times over is no more to go by, where it is known to be of one question.
    pairs = draw(40)
    once = weighted_kappa(pairs, [str(n) for n in range(40)])
    more = weighted_kappa(pairs * 4, [str(n) for n in range(40)] * 4)
    assert once.low == more.low
    assert once.high == more.high


# Corrected means


def simulated(judge: str, n: int, others: int, times: int = 300) -> dict[str, float]:
    """How often intervals hold the true mean, and how wide they are, over fresh questions each time."""
    chance = np.random.default_rng(23)
    true, found = 0.55, dict.fromkeys(("covered", "raw", "width", "alone"), 0.0)
    for _ in range(times):
        people = chance.choice([0, 0.5, 1], size=n + others, p=[0.35, 0.2, 0.45])
        # One that calls a third of everything right; one that only guesses; one that errs now and then.
        biased = np.where(chance.random(n + others) < 0.35, 1.0, people)
        good = np.where(chance.random(n + others) < 0.05, 1 - people, people)
        said = {"biased": biased, "useless": chance.random(n + others), "good": good}[judge]
        own = corrected_mean(people[:n].tolist(), said[:n].tolist(), said[n:].tolist())
        assert own.low is not None
        assert own.high is not None
        assert own.raw is not None
        assert own.labels_high is not None
        assert own.labels_low is not None
        found["covered"] += own.low <= true <= own.high
        found["raw"] += abs(own.raw - true) < (own.high - own.low) / 2
        found["width"] += own.high - own.low
        found["alone"] += own.labels_high - own.labels_low
    return {name: value / times for name, value in found.items()}


@pytest.mark.parametrize("judge", ["biased", "useless", "good"])
@pytest.mark.parametrize("n", [FEWEST_LABELS, 60])
def test_a_corrected_interval_holds_the_truth_and_is_no_wider_than_that_of_labels(judge: str, n: int):
    found = simulated(judge, n, 400)
    assert found["covered"] >= 0.93
    assert found["width"] <= found["alone"] * 1.01
    if judge == "good":
        assert found["width"] < 0.75 * found["alone"], "a good judge is worth labels"
    if judge == "biased" and n == 60:
        assert found["raw"] < 0.2, "its own mean is not the truth"


def test_a_mean_that_labels_cannot_correct():
    few = corrected_mean([1.0] * 5, [1.0] * 5, [0.0] * 5)
    assert (few.raw, few.mean, few.low, few.labelled, few.n) == (0.5, None, None, 5, 10)
    assert few.why == "fewer than 20 questions have a label"
    every = corrected_mean([1.0, 0.0] * 15, [1.0] * 30, [])
    assert (every.mean, every.weight, every.low) == (0.5, 0.0, every.labels_low), "all labelled: nothing to correct"
    sure = corrected_mean([1.0] * 30, [1.0] * 30, [1.0] * 100)
    assert sure.mean == 1.0
    assert sure.low is not None
    assert 0.8 < sure.low < 0.95, "never wrong so far is not never wrong"


def test_questions_on_one_document_count_as_one():
    labels, judged, others = [1.0, 1.0, 0.0, 0.0] * 8, [1.0, 0.0] * 16, [1.0, 0.0] * 50
    alone = corrected_mean(labels, judged, others)
    by_four = [(f"d{at // 4 % 2}-{at % 4 // 2}-{at // 8}",) for at in range(32)]
    shared = corrected_mean(labels, judged, others, clusters=by_four)
    assert alone.low is not None
    assert shared.low is not None
    assert shared.mean == alone.mean
    assert shared.low < alone.low


# A run


def test_the_judges_of_a_run(run: Path):
    """A judge that passes over half of what is wrong is found out, and its means are mended."""
    label_all(run, 90)
    lenient = random.Random(4)
    for record in Records(run):
        if not record.error and record.gold:
            value = 1.0 if truth(record) == "right" or lenient.random() < 0.5 else 0.0
            Judgements(run).append(Judgement(*record.key, "verdicts", "judged-correct", value))
    labels, means = agreements(run)
    kappas = {one["of"]: one for one in labels}
    assert {"accuracy", "judged-correct", "f1"} <= kappas.keys()
    assert not {"crag-fine", "recall@5", "abstained", "faithfulness"} & kappas.keys()
    own = kappas["judged-correct"]
    assert 0.2 < own["low"] < own["kappa"] < own["high"] < 0.8
    assert own["n"] == 90
    figures = score(Run(run))["figures"]
    for one in means:
        where = {"metric": one["metric"], "paradigm": one["paradigm"], "type": ""}
        mean = figures.cell("mean", **where)
        assert one["raw"] == (pytest.approx(mean) if mean is not None else None)
        assert one["n"] == figures.cell("n", **where)
    true = {"right": 1.0, "wrong": 0.0}
    for name in ("naive", "fused", "words"):
        figure = next(one for one in means if (one["paradigm"], one["metric"]) == (name, "judged-correct"))
        answers = [true[truth(one)] for one in scored(Run(run)) if one.paradigm == name and not one.error and one.gold]
        told = sum(answers) / len(answers)
        assert figure["low"] <= told <= figure["high"]
        assert abs(figure["mean"] - told) < abs(figure["raw"] - told)


def test_repeats_of_a_question_count_once(tmp_path: Path):
    run = made_run(tmp_path / "run", questions=40, paradigms=["naive"], repeats=3)
    label_all(run, 100)
    figures = score(Run(run))["figures"].where(metric="accuracy", type="")
    figure = next(one for one in agreements(run)[1] if one["metric"] == "accuracy")
    n = figures.cell("n")
    assert figure["raw"] == pytest.approx(figures.cell("mean"))
    assert (figure["n"], figure["labelled"] <= n) == (n, True)


def test_people_among_each_other_and_together(run: Path):
    label_all(run, 30, by="ann")
    label_all(run, 20, by="ben", slips=4)
    labels, _ = agreements(run)
    (pair,) = (one for one in labels if one["of"] == "ann, ben")
    assert (pair["n"], pair["agreed"]) == (20, 0.75)
    note = label_agreement(Run(run))[0].notes[0]
    assert "5 partly" in note
    assert note.endswith("by ann, ben.")
    first = drawn(list(Records(run)), 30)[0]
    both = Labels(run).current([first], "correct")[first.key]
    assert sorted(one.value for one in both) == sorted(["partly", truth(first)])
    assert next(one["n"] for one in labels if one["of"] == "accuracy") in range(15, 31), "answers, not labels"


def test_skipped_answers_are_in_no_figure(run: Path):
    work = Labelling(run, list(Records(run)), by="ann", count=4)
    for at in range(4):
        work.give(at, "skip")
    labels, means = agreements(run)
    assert "4 skip" in label_agreement(Run(run))[0].notes[0]
    assert {one["n"] for one in labels} == {0}
    assert {one["labelled"] for one in means} == {0}


def test_support_by_evidence_has_its_own_judges(run: Path):
    label_all(run, 60, verdict="supported")
    ((own,), _) = agreements(run, "supported")
    assert own["of"] == "faithfulness"
    assert own["n"] > 40


def test_the_report_has_its_tables(run: Path):
    assert notes_of(made_report([run]), "labels") == [
        "Left out: no person has labelled an answer: ragways eval label RUN."
    ]
    label_all(run, 75)
    text = as_markdown([run], whole=False)
    assert "## Agreement with people\n\nrun: Does the answer say what the gold answer" in text
    assert "prediction-powered inference" in text
    assert rows_of(made_report([run]), "labels")[0]["n"] > 50
    # Two runs with the same names: paradigms are told apart as everywhere in the report.
    other = made_run(run.parent / "other", questions=10, paradigms=["naive"])
    both = rows_of(made_report([run, other]), "corrected")
    assert {one["paradigm"] for one in both} == {"run/naive", "fused", "words"}


# Pairs of a duel


def test_pairs_are_those_of_the_duel_drawn_blindly(tmp_path: Path):
    run = made_run(tmp_path / "run", questions=24, paradigms=["naive", "words"], duels=True, judged=False)
    records = list(Records(run))
    work = Labelling(run, records, by="ann", count=8, verdict="better")
    assert (len(work.tasks), work.choices) == (8, ("first", "even", "second", "skip"))
    assert all(task.answer and task.other and task.answer != task.other for task in work.tasks)
    work.give(0, "first")
    work.give(1, "second")
    again = Labelling(run, records, by="ann", count=12, verdict="better")
    assert again.tasks[:8] == work.tasks
    assert (again.first, again.counts) == (2, {"first": 1, "even": 0, "second": 1, "skip": 0})
    labels = Labels(run).of_pairs()
    assert {frozenset((one.paradigm, one.against)) for one in labels} == {frozenset(("naive", "words"))}
    every = Labelling(run, records, by="ben", count=100, verdict="better")
    for at in range(len(every.tasks)):
        every.give(at, "first")
    firsts = Counter(one.paradigm for one in Labels(run).of_pairs() if one.by == "ben")
    assert min(firsts["naive"], firsts["words"]) >= 3, "which stands first is drawn"
    assert agreement_tables([("run", run, records, {})])[0].rows == (), "a pair is no answer"


def test_pairs_need_a_duel_and_two_paradigms(run: Path):
    with pytest.raises(UsageError, match="pairs are of two paradigms, here are 3"):
        Labelling(run, list(Records(run)), by="ann", count=3, verdict="better")
    with pytest.raises(UsageError, match="no duel of naive and words") as error:
        Labelling(run, list(Records(run)), by="ann", count=3, verdict="better", names=["naive", "words"])
    assert "ragways eval duel" in (error.value.cure or "")
