"""The data of a report: every figure where it comes from, every count, and what is said where something is missing."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.duel.entries import duel_entries
from ragways.evaluation.duel.replies import duel_judge
from ragways.evaluation.duel.result import duel_result
from ragways.evaluation.judging import Judgement, Judgements
from ragways.evaluation.record import AnswerUsage, Record, Records, begin
from ragways.evaluation.report import comparisons
from ragways.evaluation.report import data as report_module
from ragways.evaluation.report.data import cut, evaluation_report
from ragways.evaluation.report.markdown import markdown
from ragways.evaluation.score import score, scored
from ragways.evaluation.statistics.comparison import Comparisons, PairComparison
from ragways.evaluation.statistics.inference import detectable_effect
from tests.evaluation.report.made import EVIL, PARADIGMS, RULES, fight, labelled, made_run, report_data
from tests.evaluation.test_gate import row as scores_of

NONE = detectable_effect(9, None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return labelled(made_run(tmp_path_factory.mktemp("report") / "run", duels=True, repeats=2))


@pytest.fixture(scope="module")
def data(run: Path) -> dict[str, Any]:
    return report_data([run])


def test_figures_are_those_of_the_run(run: Path, data: dict[str, Any]):
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    expected = score(scored(run))
    assert [row["paradigm"] for row in data["rows"]] == [row.paradigm for row in expected] == list(PARADIGMS)
    for row, own in zip(expected, data["rows"], strict=True):
        assert own["failed"] == row.failed
        for name, figure in row.metrics.items():
            assert own["metrics"][name]["mean"] == pytest.approx(figure.mean, abs=1e-6)
            assert own["metrics"][name]["why"] == figure.why
    assert data["types"] == ["factual", "null", "reasoning", "summary"]
    assert data["main"][0] == data["metrics"][0]["name"] == "accuracy"
    assert {"crag-fine", "faithfulness"} <= set(data["main"])
    assert data["missing"] == {}
    assert data["notes"] == []
    assert len(data["runs"]) == 1
    assert data["asked"] == len(data["questions"]) == 24
    assert data["runs"][0]["made"] == {"version": ["0.1.0"], "model": ["a-model"], "embedder": ["an-embedder"]}


def test_it_opens_with_what_to_use(run: Path, data: dict[str, Any]):
    said = data["verdict"]
    used = re.match(r".*?Use ([\w-]+): accuracy (0\.\d+), [\d.,]+ tokens per answer", said)
    assert used, said
    best = data["best"]["accuracy"] or data["paradigms"]
    cheapest = min((row for row in data["rows"] if row["paradigm"] in best), key=lambda row: row["cost"]["tokens"])
    assert used[1] == cheapest["paradigm"]
    assert float(used[2]) == pytest.approx(cheapest["metrics"]["accuracy"]["mean"], abs=5e-4)
    assert data["comparisons"]["tables"][0]["sentence"] in said
    assert markdown(evaluation_report([run])).splitlines()[2].startswith("**")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", data["runs"][0]["date"])


@pytest.mark.parametrize(
    ("means", "pairs", "said"),
    [
        ({"a": 0.9, "b": 0.5}, [("a", "b", "better")], "Use a: f1 0.900, 5 tokens; it is shown to be better than each"),
        (
            {"a": 0.9, "b": 0.8},
            [("a", "b", "no difference shown")],
            "none is shown to be the best on f1. Use b: f1 0.800",
        ),
        (
            {"a": 0.9, "b": 0.8, "c": 0.1},
            [("a", "b", "no difference shown"), ("c", "a", "worse"), ("b", "c", "better")],
            "Use b: f1 0.800, 2 tokens; the cheapest of those not shown to be worse than the best (a).",
        ),
    ],
)
def test_the_verdict_takes_the_cheapest_of_the_best(means, pairs, said):
    rows = [scores_of(name, f1=mean) for name, mean in means.items()]
    made = [PairComparison(n=9, a=a, b=b, adjusted=0.5, verdict=said_of, detectable=NONE) for a, b, said_of in pairs]
    table = Comparisons("f1", False, "", 0.05, tuple(made), {}, {}, "So many questions.")
    costs = {"a": {"tokens": 5.0}, "b": {"tokens": 2.0}, "c": {"tokens": 1.0}}
    got = comparisons.verdict(rows, [table], costs, {"tokens": "tokens"})
    assert said in got
    assert got.endswith("So many questions.")


def test_every_answer_is_there_with_its_scores(run: Path, data: dict[str, Any]):
    answers = {(q["id"], a["paradigm"], a["repeat"]): a for q in data["questions"] for a in q["answers"]}
    rows = list(scored(run))
    assert len(answers) == len(rows) == 24 * 5 * 2
    for row in rows:
        answer = answers[row.record.key]
        assert answer["answer"] == row.record.answer
        assert answer.get("error", "") == row.record.error
        known = {name: one.value for name, one in row.values.items() if one.value is not None}
        assert answer["values"] == pytest.approx(known, abs=1e-4)
        if not row.record.error:
            assert set(answer.get("why", {})) == set(row.values) - set(known)
        pieces = [data["pieces"][place] for place, _ in answer.get("evidence", [])]
        assert [piece["id"] for piece in pieces] == [piece.id for piece in row.record.evidence]
        assert [piece["text"] for piece in pieces] == [piece.text for piece in row.record.evidence]
    assert len({(piece["id"], piece["text"]) for piece in data["pieces"]}) == len(data["pieces"])
    said = [judged for answer in answers.values() for judged in answer.get("details", [])]
    assert {"metrics": ["crag-fine"], "said": {"reply": "I think that"}} in said


def test_costs_share_out_what_the_index_cost(run: Path, data: dict[str, Any]):
    row = next(row for row in data["rows"] if row["paradigm"] == "naive")
    answered = [r for r in Records(run) if r.paradigm == "naive" and not r.error]
    tokens = sum(r.usage.all_tokens for r in answered) / len(answered)
    assert row["cost"]["tokens"] == pytest.approx(tokens, abs=0.01)
    assert row["cost"]["tokens_with_index"] == pytest.approx(tokens + 90_000 / 24, abs=0.01)
    assert row["resources"]["answered"] + row["failed"] == row["records"]


def test_calls_of_tools_are_a_distribution_over_questions(run: Path, data: dict[str, Any]):
    """A mean of one call may be one for each question, or ten for a tenth of them."""
    [row] = data["tools"]
    records = [one.record for one in scored(run) if one.record.paradigm == "agent" and not one.record.error]
    assert row["answers"] == len(records)
    for tool in ("chunk_search", "sections"):
        expected = Counter(record.tools.get(tool, 0) for record in records)
        assert row["distribution"][tool] == [expected[calls] for calls in range(max(expected) + 1)]
        assert len(expected) > 1
        assert row["calls"][tool] == sum(calls * answers for calls, answers in expected.items())
    text = markdown(evaluation_report([run]))
    [cells] = re.findall(r"^\| agent +\| chunk\\_search \|(.+)\|$", text, re.MULTILINE)
    assert [int(cell) for cell in cells.split("|")] == row["distribution"]["chunk_search"]


def test_duels_are_those_of_the_duel(run: Path, data: dict[str, Any]):
    (duel,) = data["duels"]
    field = duel_entries(Records(run), RULES)
    expected = duel_result(field, run, duel_judge("a-judge", RULES.mode), RULES)
    assert [(p["a"], p["b"], p["verdict"]["outcome"]) for p in duel["pairs"]] == [
        (p.a, p.b, p.verdict.outcome) for p in expected.pairs
    ]
    assert duel["map"]["rates"] == json.loads(json.dumps(expected.map.rates), parse_float=lambda x: round(float(x), 6))
    assert duel["selftest"]["passed"]
    assert any(pair["verdict"]["outcome"] == "win" for pair in duel["pairs"])


def test_a_duel_over_the_first_questions_is_not_an_unfinished_one(tmp_path: Path):
    import random

    folder = made_run(tmp_path / "run", judged=False, sampled=False)
    first = [record for record in Records(folder) if record.question < "q011"]
    fight(folder, first, random.Random(1), ("fused", "words"))
    (duel,) = report_data([folder])["duels"]
    assert duel["questions"] == 11
    assert len(duel["pairs"]) == 1
    assert "unfinished" not in duel["pairs"][0]["verdict"]["words"]


def test_what_is_missing_is_said_with_its_cure(tmp_path: Path):
    folder = made_run(tmp_path / "run", paradigms=["naive"], judged=False, sampled=False)
    missing = report_data([folder])["missing"]
    assert set(missing) == {"comparisons", "timeline", "tools", "labels", "duels", "breakevens"}
    assert missing["duels"] == "no duel was run: ragways eval duel RUN"
    assert all("ragways eval" in why for why in missing.values())
    data = report_data([folder])
    assert not set(missing) & set(data)


def test_runs_side_by_side_are_told_apart(tmp_path: Path):
    one = made_run(tmp_path / "a" / "run", paradigms=["naive", "words"], questions=6, duels=True)
    two = made_run(tmp_path / "b" / "run", paradigms=["naive", "fused"], questions=6, seed=2)
    data = report_data([one, two, one])
    assert [run["name"] for run in data["runs"]] == ["a/run", "b/run"]
    assert data["paradigms"] == ["a/run/naive", "words", "b/run/naive", "fused"]
    assert len(data["questions"]) == 6
    assert {answer["paradigm"] for answer in data["questions"][0]["answers"]} == set(data["paradigms"])
    assert data["duels"][0]["map"]["names"] == ["a/run/naive", "words"]
    assert {point[1] for line in data["timeline"] for point in line["points"]} <= set(data["paradigms"])
    assert [line["run"] for line in data["timeline"]] == ["a/run", "b/run"]


def test_one_id_with_two_texts_is_two_questions(tmp_path: Path):
    for name, text in (("one", "What is red?"), ("two", "What is blue?")):
        begin(tmp_path / name)
        Records(tmp_path / name).append(Record("q1", text, "", ("x",), f"p-{name}", 0, answer="x"))
        Records(tmp_path / name).append(Record("q2", "Same?", "", ("x",), f"p-{name}", 0, answer="x"))
    data = report_data([tmp_path / "one", tmp_path / "two"])
    assert [(q["id"], len(q["answers"])) for q in data["questions"]] == [("one/q1", 1), ("q2", 2), ("two/q1", 1)]
    (note,) = data["notes"]
    assert "asked all 3 questions (p-one 2, p-two 2)" in note
    report = evaluation_report([tmp_path / "one", tmp_path / "two"])
    assert note in markdown(report, answers=False).replace("\\", "")


@pytest.mark.parametrize("folders", [[], ["empty"], ["none"]])
def test_no_run(tmp_path: Path, folders: list[str]):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "records.jsonl").write_text("")
    with pytest.raises(UsageError):
        report_data([tmp_path / name for name in folders])


def test_a_paradigm_that_always_fails(tmp_path: Path):
    folder = tmp_path / "run"
    for number in range(3):
        for name in ("good", "bad"):
            failed = {"error": "gone"} if name == "bad" else {"answer": "x"}
            Records(folder).append(Record(f"q{number}", "?", "t", ("x",), name, 0, **failed))  # type: ignore[arg-type]
    data = report_data([folder])
    bad = data["rows"][1]
    assert (bad["records"], bad["failed"], bad["metrics"]["accuracy"]["mean"]) == (3, 3, None)
    assert data["comparisons"]["tables"][0]["rows"][0]["verdict"] == "not compared"


def test_a_value_that_is_no_number_does_not_spoil_the_file(tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=3, judged=False, sampled=False)
    Judgements(folder).append(Judgement("q000", "naive", 0, "crag", "crag-fine", float("nan"), "", {"p": float("inf")}))
    json.dumps(report_data([folder]), allow_nan=False)


def test_long_texts_are_cut_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = made_run(tmp_path / "run", questions=4, hostile=True, sampled=False)
    data = report_data([folder])
    longest = max(data["pieces"], key=lambda piece: len(piece["text"]))["text"]
    assert longest.endswith(" more characters)")
    assert len(longest) < 2100
    assert max(len(a["answer"]) for q in data["questions"] for a in q["answers"]) < 20_100
    assert EVIL in data["questions"][0]["text"]
    monkeypatch.setattr(report_module, "ALL_EVIDENCE", 1000 * len(data["pieces"]))
    shorter = report_data([folder])
    assert shorter["evidence_cut_at"] == 1000
    assert all(len(piece["text"]) < 1100 for piece in shorter["pieces"])
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcdef… (1 more characters)"


def test_comparisons_keep_within_bounds_and_name_what_they_left_out(
    run: Path, data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    found = data["comparisons"]
    assert found["left_out"] == []
    assert all(len(one["rows"]) == 10 for one in found["tables"])
    monkeypatch.setattr(comparisons, "COMPARED_QUESTIONS", 24 * 10 * 2)
    few = report_data([run])["comparisons"]
    assert [one["metric"] for one in few["tables"]] == ["accuracy", "crag-fine"]
    assert len(few["left_out"]) == len(found["tables"]) - 2
    against = report_data([run], baseline="words")["comparisons"]
    assert all({row["b"] for row in one["rows"]} == {"words"} for one in against["tables"])
    with pytest.raises(UsageError, match="did you mean words"):
        report_data([run], baseline="wrods")


def test_break_evens_stand_for_every_pair_with_other_layers(tmp_path: Path):
    report = evaluation_report([made_run(tmp_path / "run")])
    lines = report.to_plain()["breakevens"]["lines"]
    assert {(one["paradigm"], one["against"]) for one in lines} >= {("naive", "llm-only"), ("fused", "llm-only")}
    work_cache = next(one for one in lines if (one["paradigm"], one["against"]) == ("naive", "llm-only"))
    assert work_cache["construction"] == 90_000, "what the run says its vectors cost"
    assert work_cache["questions"] == math.ceil(90_000 / work_cache["saved"])
    assert f"{work_cache['questions']:,} questions" in markdown(report, answers=False)


def made_of(folder: Path, right: dict[str, int], n: int = 40, **changes: Any) -> Path:
    """Paradigms that are right on the first so many of n questions."""
    for name, count in right.items():
        for number in range(n):
            said = "x" if number < count else "y"
            Records(folder).append(Record(f"q{number}", "?", "", ("x",), name, 0, answer=said, **changes))
    return folder


@pytest.mark.parametrize(
    ("right", "best"),
    [
        ({"good": 38, "alike": 36, "bad": 5}, ["good", "alike"]),
        ({"good": 38, "alike": 36}, []),  # no difference shown: nobody is best
        ({"bad": 5, "good": 38}, ["good"]),
        ({"one": 20, "two": 20}, []),
        ({"one": 20}, None),
    ],
)
def test_the_best_are_those_not_shown_to_differ(tmp_path: Path, right: dict[str, int], best: list[str] | None):
    data = report_data([made_of(tmp_path / "run", right)])
    assert data["best"].get("accuracy") == best


def test_against_a_baseline_only_what_was_compared_is_best(tmp_path: Path):
    folder = made_of(tmp_path / "run", {"good": 38, "alike": 36, "bad": 5})
    assert report_data([folder], baseline="bad")["best"]["accuracy"] == [], "the best two were not compared"
    assert report_data([folder], baseline="good")["best"]["accuracy"] == ["good", "alike"]


def test_where_less_is_better_the_least_is_best(run: Path):
    report = evaluation_report([run])
    assert report.comparisons is not None
    less = next(one for one in report.comparisons.tables if one.less_is_better)
    rows = [scores_of(name, **{less.metric: mean}) for name, mean in (("a", 0.1), ("b", 0.9))]
    pair = replace(less.rows[0], a="b", b="a", verdict="worse")
    assert comparisons.best_of(rows, [replace(less, rows=(pair,))]) == {less.metric: ["a"]}


def test_cpu_is_the_first_cost_where_no_model_was_asked(tmp_path: Path, data: dict[str, Any]):
    free = AnswerUsage(calls=0, input=0, output=0, usd=0.0)
    folder = made_of(tmp_path / "run", {"one": 3, "two": 5}, 6, usage=free, seconds=0.5, cpu=0.2)
    assert list(report_data([folder])["costs"]) == ["cpu", "seconds"]
    assert next(iter(data["costs"])) == "tokens"


def test_types_that_failed_or_are_missing_are_among_the_types(tmp_path: Path):
    folder = tmp_path / "run"
    for at, (type, error) in enumerate([("easy", ""), ("", ""), ("hard", "gone")]):
        Records(folder).append(Record(f"q{at}", "?", type, ("x",), "naive", 0, answer="x", error=error))
    data = report_data([folder])
    assert data["types"] == ["(none)", "easy", "hard"]
    assert "–, 1 failed" in markdown(evaluation_report([folder]), answers=False)
