"""The tables of a report: every figure where it comes from, every count, and why a table has no rows."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import UsageError
from ragways.core.table import Table
from ragways.evaluation import answers
from ragways.evaluation import report as report_module
from ragways.evaluation.answers import cut
from ragways.evaluation.judging import Judgement, Judgements
from ragways.evaluation.record import AnswerUsage, Record, Records, Run, RunInfo, begin
from ragways.evaluation.report import read_runs, report, verdict
from ragways.evaluation.score import nested, score, scored
from ragways.evaluation.statistics.comparison import Comparison, Comparisons
from tests.evaluation.report.made import (
    EVIL,
    PARADIGMS,
    as_markdown,
    figures,
    labelled,
    made_report,
    made_run,
    notes_of,
    rows_of,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return labelled(made_run(tmp_path_factory.mktemp("report") / "run", duels=True, repeats=2))


@pytest.fixture(scope="module")
def data(run: Path) -> dict[str, Any]:
    return made_report([run])


def costs_of(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["paradigm"]: row for row in rows_of(data, "costs")}


def test_figures_are_those_of_the_run(run: Path, data: dict[str, Any]):
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    expected = nested(score(Run(run)))
    assert [row["paradigm"] for row in expected] == list(costs_of(data)) == list(PARADIGMS)
    for row in expected:
        assert costs_of(data)[row["paradigm"]]["failed"] == row["failed"]
        for name, figure in row["metrics"].items():
            own = figures(data, name)[row["paradigm"]]
            assert own["mean"] == pytest.approx(figure["mean"], abs=1e-6)
            assert own["why"] == "; ".join(f"{why}: {count}" for why, count in figure["why"].items())
        for type, some in row["by_type"].items():
            mean = some["metrics"]["accuracy"]["mean"]
            assert figures(data, "accuracy", type)[row["paradigm"]]["mean"] == pytest.approx(mean, abs=1e-6)
    assert {row["type"] for row in rows_of(data, "figures")} == {"", "factual", "null", "reasoning", "summary"}
    main = list(dict.fromkeys(row["metric"] for row in rows_of(data, "figures")))
    assert main[0] == rows_of(data, "metrics")[0]["name"] == "accuracy"
    assert {"crag-fine", "faithfulness"} <= set(main)
    assert data["asked"] == len(data["questions"]) == 24
    (own,) = rows_of(data, "runs")
    assert (own["version"], own["model"], own["embedder"]) == ("0.1.0", "a-model", "an-embedder")
    assert len(notes_of(data, "runs")) == 1
    assert all(table["rows"] for table in data["tables"]), "nothing is missing"


def of_means(metric: str, means: dict[str, float]) -> Table:
    return Table.of(["metric", "paradigm", "type", "mean"], [(metric, name, "", mean) for name, mean in means.items()])


def compared(metric: str, *pairs: tuple[Any, ...], less: bool = False) -> Comparisons:
    """Pairs: two paradigms, the verdict on the first, and the ends of the interval where there is one."""
    rows = tuple(
        Comparison(n=9, a=a, b=b, adjusted=0.5, verdict=verdict, low=ends[0], high=ends[1])
        for a, b, verdict, *ends in ((*pair, None, None)[:5] for pair in pairs)
    )
    return Comparisons(metric, less, "", rows, {}, "So many questions.")


NOTHING = "no difference shown"


@pytest.mark.parametrize(
    ("means", "pairs", "less", "said"),
    [
        ({"a": 0.9, "b": 0.5}, [("a", "b", "better", 0.3, 0.5)], False,
         "Use a: f1 0.900, 5 tokens per answer; it is shown to be"),
        ({"a": 0.9, "b": 0.8}, [("a", "b", NOTHING, -0.1, 0.3)], False,
         "none is shown to be the best on f1. Use a: f1 0.900, 5 tokens per answer; it has the best mean, and a loss "
         "of more than 0.02 is not ruled out for what is cheaper (b)."),
        ({"a": 0.9, "b": 0.9}, [("a", "b", NOTHING)], False, "Use b: f1 0.900"),
        ({"a": 0.9, "b": 0.89, "c": 0.1},
         [("a", "b", NOTHING, -0.01, 0.02), ("c", "a", "worse", -0.9, -0.7), ("b", "c", "better", 0.7, 0.9)], False,
         "Use b: f1 0.890, 2 tokens per answer; the cheapest that is shown to lose at most 0.02 beside the best "
         "(a, 0.900)."),
        ({"a": 0.1, "b": 0.11}, [("b", "a", NOTHING, -0.02, 0.02)], True, "Use b: f1 0.110"),
        ({"a": 0.1, "b": 0.11}, [("b", "a", NOTHING, -0.01, 0.03)], True, "Use a: f1 0.100"),
    ],
)  # fmt: skip
def test_a_cheaper_paradigm_is_recommended_where_a_loss_is_ruled_out(means, pairs, less, said):
    kinds = [kind for kind in report_module.COST_KINDS if kind != "tokens"]
    rows = [(name, tokens, *[None] * len(kinds)) for name, tokens in (("a", 5.0), ("b", 2.0), ("c", 1.0))]
    costs = Table.of(["paradigm", "tokens", *kinds], rows)
    got = verdict(of_means("f1", means), [compared("f1", *pairs, less=less)], costs)
    assert said in got
    assert got.endswith("So many questions.")


@pytest.mark.parametrize(
    ("n", "dear", "cheap", "chosen"),
    [(126, range(99), range(40, 126), "dear"), (400, range(399), range(398), "cheap")],
)
def test_the_worst_of_a_run_is_not_recommended_because_it_is_cheap(
    tmp_path: Path, n: int, dear: range, cheap: range, chosen: str
):
    for name, right, tokens in (("dear", dear, 900), ("cheap", cheap, 300)):
        for number in range(n):
            said = "x" if number in right else "y"
            Records(tmp_path).append(
                Record(f"q{number}", "?", "", ("x",), name, 0, answer=said, usage=AnswerUsage(calls=1, input=tokens))
            )
    assert f"Use {chosen}: accuracy" in notes_of(made_report([tmp_path]), "runs")[0]


def test_every_answer_is_there_with_its_scores(run: Path, data: dict[str, Any]):
    found = {(q["id"], a["paradigm"], a["repeat"]): a for q in data["questions"] for a in q["answers"]}
    records = scored(Run(run))
    assert len(found) == len(records) == 24 * 5 * 2
    for record in records:
        answer = found[record.key]
        assert answer["answer"] == record.answer
        assert answer.get("error", "") == record.error
        known = {name: one.value for name, one in record.values.items() if one.value is not None}
        assert answer["values"] == pytest.approx(known, abs=1e-4)
        if not record.error:
            assert set(answer.get("why", {})) == set(record.values) - set(known)
        pieces = [data["pieces"][place] for place, _ in answer.get("evidence", [])]
        assert [(piece["id"], piece["text"]) for piece in pieces] == [(one.id, one.text) for one in record.evidence]
    assert len({(piece["id"], piece["text"]) for piece in data["pieces"]}) == len(data["pieces"])
    said = [judged for answer in found.values() for judged in answer.get("details", [])]
    assert {"metrics": ["crag-fine"], "said": {"reply": "I think that"}} in said


def test_a_missing_table_has_a_note_with_the_cure(tmp_path: Path):
    data = made_report([made_run(tmp_path / "run", paradigms=["naive"], judged=False, sampled=False)])
    missing = {table["name"]: table["notes"] for table in data["tables"] if not table["rows"] and table["notes"]}
    assert set(missing) == {"comparisons", "timeline", "tools", "labels", "duels", "breakevens"}
    assert missing["duels"] == ["Left out: no duel was run: ragways eval duel RUN."]
    assert all("ragways eval" in why for [why] in missing.values())


def test_paradigms_of_several_runs_have_the_name_of_the_run(tmp_path: Path):
    one = made_run(tmp_path / "a" / "run", paradigms=["naive", "words"], questions=6, duels=True)
    two = made_run(tmp_path / "b" / "run", paradigms=["naive", "fused"], questions=6, seed=2)
    data = made_report([one, two, one])
    assert [run["run"] for run in rows_of(data, "runs")] == ["a/run", "b/run"]
    names = ["a/run/naive", "words", "b/run/naive", "fused"]
    assert list(costs_of(data)) == names
    assert all(row["peak_memory"] for row in costs_of(data).values()), "samples are those of the paradigm"
    assert len(data["questions"]) == 6
    assert {answer["paradigm"] for answer in data["questions"][0]["answers"]} == set(names)
    assert [(row["a"], row["b"]) for row in rows_of(data, "duels")] == [("a/run/naive", "words")]
    assert {row["paradigm"] for row in rows_of(data, "timeline")} <= set(names)
    assert {row["run"] for row in rows_of(data, "timeline")} == {"a/run", "b/run"}


def test_one_id_with_two_texts_is_two_questions(tmp_path: Path):
    for name, text in (("one", "What is red?"), ("two", "What is blue?")):
        begin(tmp_path / name, RunInfo())
        Records(tmp_path / name).append(Record("q1", text, "", ("x",), f"p-{name}", 0, answer="x"))
        Records(tmp_path / name).append(Record("q2", "Same?", "", ("x",), f"p-{name}", 0, answer="x"))
    data = made_report([tmp_path / "one", tmp_path / "two"])
    assert [(q["id"], len(q["answers"])) for q in data["questions"]] == [("one/q1", 1), ("q2", 2), ("two/q1", 1)]
    note = notes_of(data, "runs")[1]
    assert "answered all 3 questions (p-one 2, p-two 2)" in note
    assert note in as_markdown([tmp_path / "one", tmp_path / "two"], whole=False).replace("\\", "")


@pytest.mark.parametrize("folders", [[], ["empty"], ["none"]])
def test_no_run(tmp_path: Path, folders: list[str]):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "records.jsonl").write_text("")
    with pytest.raises(UsageError):
        made_report([tmp_path / name for name in folders])


def test_a_value_that_is_no_number_does_not_spoil_the_file(tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=3, judged=False, sampled=False)
    Judgements(folder).append(Judgement("q000", "naive", 0, "crag", "crag-fine", float("nan"), "", {"p": float("inf")}))
    json.dumps(made_report([folder]), allow_nan=False)


def test_long_texts_are_cut_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = made_run(tmp_path / "run", questions=4, hostile=True, sampled=False)
    data = made_report([folder])
    longest = max(data["pieces"], key=lambda piece: len(piece["text"]))["text"]
    assert longest.endswith(" more characters)")
    assert len(longest) < 2100
    assert max(len(a["answer"]) for q in data["questions"] for a in q["answers"]) < 20_100
    assert EVIL in data["questions"][0]["text"]
    monkeypatch.setattr(answers, "ALL_EVIDENCE", 1000 * len(data["pieces"]))
    shorter = made_report([folder])
    assert shorter["evidence_cut_at"] == 1000
    assert all(len(piece["text"]) < 1100 for piece in shorter["pieces"])
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcdef… (1 more characters)"


def test_comparisons_keep_within_bounds_and_name_what_they_left_out(
    run: Path, data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    counts = Counter(row["metric"] for row in rows_of(data, "comparisons"))
    assert set(counts.values()) == {10}
    assert len(notes_of(data, "comparisons")) == 1
    monkeypatch.setattr(report_module, "COMPARED_QUESTIONS", 24 * 10 * 2)
    few = made_report([run])
    assert [row["metric"] for row in rows_of(few, "power")] == ["accuracy", "crag-fine"]
    assert notes_of(few, "comparisons")[1].startswith("Not compared here, which would take long: f1, ")
    against = made_report([run], baseline="words")
    assert {row["b"] for row in rows_of(against, "comparisons")} == {"words"}
    with pytest.raises(UsageError, match="did you mean words"):
        made_report([run], baseline="wrods")


def test_break_evens_stand_for_every_pair_with_other_layers(tmp_path: Path):
    folder = made_run(tmp_path / "run")
    lines = rows_of(made_report([folder]), "breakevens")
    assert {(one["paradigm"], one["against"]) for one in lines} >= {("naive", "llm-only"), ("fused", "llm-only")}
    own = next(one for one in lines if (one["paradigm"], one["against"]) == ("naive", "llm-only"))
    assert own["construction"] == 90_000, "what the run says its vectors cost"
    assert own["questions"] == math.ceil(90_000 / own["saved"])
    assert f"{own['questions']:,} questions" in as_markdown([folder], whole=False)


def made_of(folder: Path, right: dict[str, int], n: int = 40, **changes: Any) -> Path:
    """Paradigms that are right on the first so many of n questions."""
    for name, count in right.items():
        for number in range(n):
            said = "x" if number < count else "y"
            Records(folder).append(Record(f"q{number}", "?", "", ("x",), name, 0, answer=said, **changes))
    return folder


def best(data: dict[str, Any]) -> list[str]:
    return [name for name, row in figures(data, "accuracy").items() if row["best"]]


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ({"good": 38, "alike": 36, "bad": 5}, ["good", "alike"]),
        ({"good": 38, "alike": 36}, []),  # no difference shown: nobody is best
        ({"bad": 5, "good": 38}, ["good"]),
        ({"one": 20, "two": 20}, []),
        ({"one": 20}, []),
    ],
)
def test_the_best_are_those_not_shown_to_differ(tmp_path: Path, right: dict[str, int], expected: list[str]):
    assert best(made_report([made_of(tmp_path / "run", right)])) == expected


def test_nothing_is_recommended_that_gets_nothing_right():
    costs = Table.of(["paradigm", "tokens"], [("a", 2.0), ("b", 5.0)])
    pairs = [compared("accuracy", ("a", "b", "no difference shown"))]
    nothing = verdict(of_means("accuracy", {"a": 0.0, "b": 0.0}), pairs, costs)
    assert nothing.startswith("Nothing to recommend: accuracy is 0 for every paradigm.")
    both = [*of_means("accuracy", {"a": 0.0, "b": 0.0}).rows, *of_means("f1", {"a": 0.02, "b": 0.01}).rows]
    figures = Table.of([column.name for column in of_means("f1", {}).columns], both)
    still = verdict(figures, [*pairs, compared("f1", ("a", "b", "no difference shown"))], costs)
    assert still.startswith("Nothing to recommend"), "words in common are no reason where no answer is right"
    one = verdict(of_means("accuracy", {"a": 0.0, "b": 0.1}), pairs, costs)
    assert "Use b: accuracy 0.100" in one


def test_one_table_has_one_renderer_of_each_kind(run: Path):
    runs = read_runs([Run(run)])
    tables = {table.name: table for table in report(runs)}
    read = list(csv.DictReader(io.StringIO(tables["costs"].csv())))
    assert [row["paradigm"] for row in read] == list(PARADIGMS)
    assert float(read[0]["tokens"]) == tables["costs"].rows[0][tables["costs"].place("tokens")]
    odd = replace(tables["runs"], title="50 % of a_b & {c}").latex()
    assert r"\caption{50 \% of a\_b \& \{c\}}" in odd
    assert odd.count(r"\\") == 2
    assert tables["figures"].parts()[0].title == "accuracy"
