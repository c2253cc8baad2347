"""Answers of other systems find their questions, nothing is lost in silence, and a run is not written over."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ragways.apps.evaluation.questions import import_answers
from ragways.core.errors import PARTLY, UsageError
from ragways.evaluation.importing import (
    ImportedAnswer,
    ImportResult,
    add,
    check_name,
    ranks,
    read_answers,
    to_records,
)
from ragways.evaluation.question import Gold, Question
from ragways.evaluation.record import FILE, AnswerUsage, EvidenceItem, Record, Records

QUESTIONS = [
    Question("q1", "Who built the light?", ("Brack",), "factual", (Gold(title="Harbour"), Gold(title="Storm"))),
    Question("q2", "When did it fall?", ("1883",), "factual", (Gold(quote="fell in 1883"),)),
    Question("q3", "Who was the mayor?", ("Insufficient information.",), "null"),
]


def put(file: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


def brought(tmp_path: Path, rows: object, name: str = "answers.json") -> ImportResult:
    return to_records(read_answers(put(tmp_path / name, rows)), QUESTIONS, "other")


# Matching


def test_by_id_by_words_and_neither(tmp_path: Path):
    rows = [
        {"id": "q1", "answer": "Anna Brack"},
        {"question": "  when did it FALL", "answer": "In 1883."},
        {"id": "q9", "answer": "?"},
        {"question": "What else?", "answer": "?"},
    ]
    done = brought(tmp_path, rows)
    assert [(one.question, one.answer, one.gold) for one in done.records] == [
        ("q1", "Anna Brack", ("Brack",)),
        ("q2", "In 1883.", ("1883",)),
    ]
    assert [one.id or one.question for one in done.unmatched] == ["q9", "What else?"]
    assert [one.id for one in done.unanswered] == ["q3"]


def test_words_speak_against_an_id_that_is_a_row_number(tmp_path: Path):
    numbered = [replace(question, id=str(n)) for n, question in enumerate(QUESTIONS)]
    rows = [{"id": 0, "question": "When did it fall?", "answer": "1883"}, {"id": 1, "question": "Why?", "answer": "x"}]
    done = to_records(read_answers(put(tmp_path / "a.json", rows)), numbered, "other")
    assert [(one.question, one.answer) for one in done.records] == [("1", "1883")]
    assert len(done.unmatched) == 1
    longer = [{"id": 0, "question": "Who built the light? (in “Harbour”)", "answer": "Brack"}]
    assert to_records(read_answers(put(tmp_path / "a.json", longer)), numbered, "other").records[0].question == "0"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2", "q3", "q4", ""]),
            st.sampled_from([*(question.text for question in QUESTIONS), "Why?", ""]),
        )
    )
)
def test_every_answer_and_every_question_is_accounted_for(pairs: list[tuple[str, str]]):
    answers = [ImportedAnswer(id, text, "x") for id, text in pairs]
    done = to_records(answers, QUESTIONS, "other")
    assert len(done.records) + len(done.unmatched) == len(answers)
    assert len({one.question for one in done.records}) + len(done.unanswered) == len(QUESTIONS)
    assert len({one.key for one in done.records}) == len(done.records)


def test_several_answers_are_repeats(tmp_path: Path):
    rows = [{"id": "q1", "answer": str(n)} for n in range(3)] + [{"id": "q2", "answer": "x", "repeat": 4}]
    keys = [(one.question, one.repeat, one.answer) for one in brought(tmp_path, rows).records]
    assert keys == [("q1", 0, "0"), ("q1", 1, "1"), ("q1", 2, "2"), ("q2", 4, "x")]
    same = brought(tmp_path, [{"id": "q1", "answer": a, "repeat": 1} for a in "ab"] + [{"id": "q1", "answer": "c"}])
    assert sorted(one.repeat for one in same.records) == [0, 1, 2]


# Reading


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"id": "q1", "response": "Brack"}\n'),
        ("a.json.gz", [{"question_id": "q1", "prediction": "Brack"}]),
        ("a.json", {"results": [{"query": "Who built the light?", "rag_answer": "Brack"}]}),
        ("a.json", {"q1": "Brack"}),
        ("a.json", {"Who built the light?": {"answer": "Brack"}}),
        ("a.json", [{"input": "Who built the light?", "output": "Brack"}]),
        ("a.csv", "id,answer\nq1,Brack\n"),
    ],
)
def test_usual_forms_are_read(tmp_path: Path, name: str, content: object):
    assert [(one.question, one.answer) for one in brought(tmp_path, content, name).records] == [("q1", "Brack")]


def test_given_fields_are_read_and_missing_ones_stay_unknown(tmp_path: Path):
    rows: list[dict[str, Any]] = [
        {"id": "q1", "answer": "Brack", "usage": {"prompt_tokens": 900, "completion_tokens": 20}, "latency_ms": 1500,
         "contexts": [{"title": "Harbour", "content": "Built by Brack.", "doc_id": "d1", "score": "0.5"}]},
        {"id": "q2", "answer": 1883, "rationale": "The storm of 1883.", "total_tokens": "77", "seconds": 2},
    ]  # fmt: skip
    first, second = brought(tmp_path, rows).records
    assert first.usage == AnswerUsage(input=900, output=20)
    assert (first.seconds, first.ranks, first.way) == (1.5, (1, None), "imported")
    assert first.evidence == (EvidenceItem(text="Built by Brack.", title="Harbour", id="d1", score=0.5),)
    assert first.wanted == (Gold(title="Harbour"), Gold(title="Storm"))
    assert (second.answer, second.usage, second.seconds) == ("1883", AnswerUsage(tokens=77), 2)
    assert (first.explanation, second.explanation) == ("", "The storm of 1883.")
    assert (second.ranks, second.evidence) == ((), ()), "no evidence told: retrieval is unscored, not 0"
    assert first.cpu is None


def test_a_table_may_hold_evidence_as_json(tmp_path: Path):
    file = tmp_path / "a.csv"
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "answer", "evidence", "seconds", "abstained"])
        writer.writerow(["Who built the light?", "Brack", json.dumps(["Storm", "Harbour"]), "", ""])
        writer.writerow(["When did it fall?", "no idea", "", "3", "true"])
    first, second = to_records(read_answers(file), QUESTIONS, "other").records
    assert first.ranks == (2, 1)
    assert (second.abstained, second.seconds) == (True, 3)


def test_refusing_is_abstaining_and_no_answer_is_a_failure(tmp_path: Path):
    rows = [
        {"id": "q1", "answer": None},
        {"id": "q2", "answer": "The context does not mention when it fell."},
        {"id": "q3", "answer": "Nobody knows", "abstained": True},
        {"id": "q3", "answer": "", "error": "timeout"},
    ]
    outcomes = [(one.abstained, one.error) for one in brought(tmp_path, rows).records]
    assert outcomes == [(False, "the file gives no answer"), (True, ""), (True, ""), (False, "timeout")]


def test_what_only_retrieves_is_not_scored_for_answers(tmp_path: Path):
    rows = [{"question": QUESTIONS[0].text, "answer": "", "evidence": ["Storm", "x"], "ground_truth": ["Harbour"]}]
    done = brought(tmp_path, rows)
    (record,) = done.records
    assert done.retrieval_only
    assert (record.gold, record.abstained, record.error, record.ranks) == ((), False, "", (None, 1))
    assert record.evidence == (EvidenceItem(title="Storm"), EvidenceItem(title="x"))
    assert done.evidence == "titles"


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "[1]", "null", '[{"answer": "x"}]', '[{"id": {}, "answer": "x"}]', '[{"id": 1, "answer": {}}]',
     '[{"id": 1, "answer": "x", "seconds": "soon"}]', '[{"id": 1, "answer": "x", "usage": {"input": 1e999}}]',
     '[{"id": 1, "answer": "x", "repeat": "often"}]', '[{"id": 1, "answer": "x", "evidence": [[1]]}]', "[" * 100_000],
)  # fmt: skip
def test_a_wrong_file_is_an_error_that_helps(tmp_path: Path, content: str):
    with pytest.raises(UsageError) as error:
        read_answers(put(tmp_path / "a.json", content))
    assert error.value.cure


# Ranks


def test_documents_are_ranked_once_and_quotes_by_piece():
    found = [
        EvidenceItem(text="x", title="Storm"),
        EvidenceItem(text="y", title="storm"),
        EvidenceItem(text="z fell  in 1883!", title="Harbour"),
        EvidenceItem(text="Old_Pier"),
    ]
    wanted = (Gold(title="Harbour"), Gold(quote="fell in 1883"), Gold(title="Old Pier"), Gold(title="Mole"))
    assert ranks(wanted, found) == (2, 3, 3, None)
    assert ranks((Gold(quote="fell in 1883", title="Storm"),), found) == (None,)
    assert ranks((Gold(key="d7", title="Else"),), [EvidenceItem(id="a#d6"), EvidenceItem(id="a#d7")]) == (2,)
    assert ranks(
        (Gold(title="T", text="the whole passage"),), [EvidenceItem(text="… The whole passage, and more.")]
    ) == (1,)
    assert ranks((Gold(title="T"),), []) == (None,)


@given(st.lists(st.sampled_from("abcde"), max_size=8), st.sampled_from("abcde"))
def test_a_rank_is_that_among_distinct_documents(titles: list[str], wanted: str):
    distinct = list(dict.fromkeys(titles))
    expected = distinct.index(wanted) + 1 if wanted in distinct else None
    assert ranks((Gold(title=wanted),), [EvidenceItem(text="text", title=title) for title in titles]) == (expected,)


# The run


def of(name: str, *answers: str) -> list[Record]:
    given_ = [ImportedAnswer(question.id, "", answer) for question, answer in zip(QUESTIONS, answers, strict=False)]
    return list(to_records(given_, QUESTIONS, name).records)


def test_a_name_is_not_written_over(tmp_path: Path):
    assert add(tmp_path, of("one", "a", "b"), "one") == 2
    assert add(tmp_path, of("two", "c"), "two") == 1
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(UsageError, match="--replace"):
        add(tmp_path, of("one", "a", "other"), "one")
    assert (tmp_path / FILE).read_bytes() == before
    assert add(tmp_path, of("one", "z"), "one", replace=True) == 1
    assert [(one.paradigm, one.answer) for one in Records(tmp_path)] == [("two", "c"), ("one", "z")]


def test_the_same_again_adds_what_is_missing(tmp_path: Path):
    records = of("one", "a", "b", "c")
    add(tmp_path, records, "one")
    lines = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(lines[0] + lines[1][:40])
    assert add(tmp_path, records, "one") == 2
    assert sorted(one.answer for one in Records(tmp_path)) == ["a", "b", "c"], "a line cut short swallows no other"
    assert add(tmp_path, records, "one") == 0


def test_an_id_must_mean_the_same_question(tmp_path: Path):
    add(tmp_path, of("one", "a"), "one")
    other = [replace(record, text="Another?") for record in of("two", "a")]
    with pytest.raises(UsageError, match="reads otherwise"):
        add(tmp_path, other, "two")


@pytest.mark.parametrize("name", ["", " ", "naive", "../x", "a b", "x" * 99, "a\nb", "[red]"])
def test_a_name_that_misleads_is_refused(name: str):
    with pytest.raises(UsageError):
        check_name(name)


# The command

app = typer.Typer()
app.command("import")(import_answers)


def test_the_command_adds_answers_and_names_those_left_over(tmp_path: Path):
    questions = put(
        tmp_path / "q.jsonl", "".join(json.dumps({"id": one.id, "question": one.text}) + "\n" for one in QUESTIONS)
    )
    answers = put(tmp_path / "a.jsonl", '{"id": "q1", "answer": "Brack"}\n{"id": "\u202ezz", "answer": "?"}\n')
    call = [str(answers), "--questions", str(questions), "--name", "lightrag", "--out", str(tmp_path / "run")]
    said = CliRunner().invoke(app, [*call, "--json"])
    assert said.exit_code == PARTLY
    data = json.loads(said.output)
    assert (data["added"], data["unmatched"], data["unanswered"]) == (1, ["\u202ezz"], ["q2", "q3"])
    said = CliRunner().invoke(app, call)
    assert said.exit_code == PARTLY
    assert "0 added" in said.output
    assert "\u202e" not in said.output
    assert "2 questions have no answer: q2; q3" in said.output
    nothing = put(tmp_path / "b.jsonl", '{"id": "q8", "answer": "Brack"}\n')
    failed = CliRunner().invoke(app, [str(nothing), *call[1:]])
    assert isinstance(failed.exception, UsageError)
    assert [one.paradigm for one in Records(tmp_path / "run")] == ["lightrag"]
