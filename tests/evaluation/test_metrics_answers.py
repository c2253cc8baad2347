"""Exact metrics where the gold answer is unusual: none, empty, an article, a sign; and how a plain set says so."""

from __future__ import annotations

import json
import re
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.apps.evaluation.score import show_scores
from ragways.core.types import ABSTENTION
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.metric import Metric, unanswerable
from ragways.evaluation.metrics import METRICS, find_metric, record_metrics
from ragways.evaluation.question import compared, normal, squad_normal
from ragways.evaluation.record import Record
from ragways.evaluation.score import score_records, with_values


def record(answer: str = "", gold: tuple[str, ...] = (), type: str = "", abstained: bool = False) -> Record:
    return Record("q", "?", type, gold, "naive", 0, answer, abstained)


def value(name: str, one: Record) -> float | None:
    return METRICS[name].score(one).value


@pytest.mark.parametrize("gold", [(), ("Insufficient information.",), ("",)])
@pytest.mark.parametrize("type", ["null", "Null"])
def test_a_null_question_needs_no_words_for_its_answer(gold: tuple[str, ...], type: str):
    right, wrong = record("", gold, type, abstained=True), record("Anna Brack", gold, type)
    for name in ("accuracy", "accuracy-stated", "accuracy-strict", "accuracy-official"):
        assert (value(name, right), value(name, wrong)) == (1, 0), name
    assert (value("hallucinated", right), value("hallucinated", wrong)) == (0, 1)
    for name in ("em", "f1", "abstained"):
        assert METRICS[name].score(right).why == "the question has no answer"


def test_a_refusal_counts_as_the_metric_declares():
    one = Record(
        "q", "?", "", ("Anna Brack of Insufficient information",), "naive", 0, ABSTENTION, True, ranks=(1, None)
    )
    said = replace(one, abstained=False)
    for metric in record_metrics():
        expected = {"zero": 0, "wrong": 0, "left out": None, "as text": metric.score(said).value,
                    "no matter": metric.score(said).value}  # fmt: skip
        if metric.refusal != "defined":
            assert metric.score(one).value == expected[metric.refusal], metric.name
    assert value("abstained", one) == 1
    assert {metric.name for metric in METRICS.values() if metric.refusal == "defined"} == {
        "abstained", "hallucinated", "judged-incorrect", "judged-incomplete", "crag-coarse", "crag-fine",
    }  # fmt: skip


def squad(text: str) -> str:
    """SQuAD's evaluate-v1.1.py, as it is: lower, punctuation, articles, white space."""
    kept = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("US", "U.S."), ("Rock-n-Roll", "rocknroll"), ("4,000", "4000"), ("O'Neill", "ONeill"), ("AC/DC", "acdc"),
     ("The Beatles", "beatles!"), ("U. S.", "U.S."), ("rock n roll", "rock-n-roll")],
)  # fmt: skip
def test_em_and_f1_compare_as_squad_does(answer: str, gold: str):
    one = record(answer, (gold,))
    assert value("em", one) == (squad(answer) == squad(gold))
    shared = len(set(squad(answer).split()) & set(squad(gold).split()))
    assert value("f1", one) == pytest.approx(2 * shared / (len(squad(answer).split()) + len(squad(gold).split())))


@given(
    st.text(st.sampled_from("aA bThe.,-'’é_[0]!"), min_size=1), st.text(st.sampled_from("aA bThe.,-'’é_!"), min_size=1)
)
def test_squads_normal_form_is_squads(text: str, gold: str):
    assert squad_normal(text) == squad(re.sub(r"\[\d+\]", " ", text))
    if squad(gold):
        assert value("em", record(gold.upper(), (gold,))) == 1


@pytest.mark.parametrize(
    ("answer", "gold", "stated"),
    [
        ("Not Paris but Lyon", "Paris", 0), ("Not Paris but Lyon", "Lyon", 1), ("Lyon, not Paris", "Paris", 0),
        ("It isn't Paris, it's Lyon.", "Paris", 0), ("Paris is not the capital; Lyon is.", "Paris", 0),
        ("Paris wasn’t it", "Paris", 0), ("Lyon rather than Paris", "Paris", 0), ("Neither Paris nor Lyon", "Lyon", 0),
        ("Paris or Lyon", "Paris", 0), ("Either Paris or Lyon", "Lyon", 0), ("There is no doubt: yes", "no", 0),
        ("No doubt it was", "no", 0), ("Paris", "Paris", 1), ("The capital is Paris. [1]", "Paris", 1),
        ("There is no doubt: yes", "yes", 1), ("No, it was not.", "no", 1), ("Yes [1]", "yes", 1),
        ("Not only Paris", "Paris", 1), ("Paris and Lyon", "Paris and Lyon", 1), ("the U.S. Navy", "U.S.", 1),
        ("He did not stay long and died in Paris.", "Paris", 1), ("It was \"Don't Stop\"", "Don't Stop", 1),
        ("The answer is A", "A", 1),
        ("后台任务在返回响应之后运行。", "返回响应之后", 1),
    ],
)  # fmt: skip
def test_only_what_is_stated_is_right_for_the_stricter_accuracy(answer: str, gold: str, stated: float):
    assert value("accuracy-stated", record(answer, (gold,))) == stated
    if gold not in ("yes", "no"):
        assert value("accuracy", record(answer, (gold,))) == 1, "the lenient one takes the words"
    assert value("accuracy-stated", record(answer, (gold,), abstained=True)) == 0


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("A", "", (0, 0, 0)),
        ("A", "the", (0, 0, 0)),
        ("A", "A", (1, 1, 1)),
        ("A", "a. [1]", (1, 1, 1)),
        ("A", "The answer is A", (1, 0, 0.4)),
        ("The", "Anna Brack", (0, 0, 0)),
        ("+", "", (0, 0, 0)),
        ("+", "+ [1]", (1, 1, 1)),
        ("?!", "the", (0, 0, 0)),
        ("[1]", "", (0, 0, 0)),
        ("B", "The answer is B", (1, 0, 0.5)),
        ("the Tern", "A Tern!", (1, 1, 1)),
    ],
)
def test_a_gold_answer_of_which_normalising_leaves_nothing(gold: str, answer: str, expected: tuple[float, ...]):
    one = record(answer, (gold,))
    assert tuple(value(name, one) for name in ("accuracy", "em", "f1")) == pytest.approx(expected)
    assert value("accuracy-strict", one) == expected[1]


@given(st.text(max_size=12), st.text(max_size=12))
def test_what_is_compared_is_never_nothing(said: str, gold: str):
    left, right = compared(said, gold)
    if normal(gold):
        assert (left, right) == (normal(said), normal(gold))
    assert bool(right) == bool(gold.strip())
    if "[" not in gold:  # but for marks of citations, everything equals itself
        assert compared(gold, gold) == (right, right) or not right


blanks = st.text(" .\t\n\u00a0\u2003Aa+", max_size=4)


@given(blanks, st.lists(blanks, max_size=3).map(tuple), st.booleans())
def test_no_gold_answer_is_too_odd_to_be_scored_or_left_unscored(answer: str, gold: tuple[str, ...], abstained: bool):
    one = record(answer, gold, abstained=abstained)
    for metric in record_metrics():
        found = metric.score(one)
        assert (found.value is None) == bool(found.why)
        assert found.value is None or 0 <= found.value <= 1
    if not answer.strip() and not unanswerable(one) and gold:
        assert value("accuracy", one) == 0


@pytest.mark.parametrize(
    ("row", "answers"),
    [
        ({}, ()),
        ({"answer": None}, ()),
        ({"answers": None, "answer": "Brack"}, ("Brack",)),
        ({"answers": ["Brack", None, ""]}, ("Brack",)),
        ({"answers": []}, ()),
        ({"answer": 1912}, ("1912",)),
        ({"answer": True}, ("yes",)),
        ({"answers": ["Brack", "A. Brack"]}, ("Brack", "A. Brack")),
    ],
)
def test_answers_of_a_set_of_ones_own(row: dict[str, object], answers: tuple[str, ...], tmp_path: Path):
    file = tmp_path / "set.jsonl"
    file.write_text(json.dumps({"question": "Who?", "type": None, "id": None, "evidence": None, **row}))
    (found,) = load_questions("plain", file)
    assert (found.answers, found.type, found.id, found.gold) == (answers, "", "0", ())


def test_a_metric_of_a_plug_in_is_scored_found_and_shown_like_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    words = Metric("Answer-Words", "exact", "words of the answer", of=lambda one: float(len(one.answer.split())))

    class Point:
        name, value, dist = "words", "plugin:words", None

        def load(self) -> Metric:
            return words

    monkeypatch.setattr("ragways.core.registry.entry_points", lambda group: [Point()] * (group == "ragways.metrics"))
    monkeypatch.setattr(METRICS, "_all", None)
    monkeypatch.setattr(METRICS, "_packages", {})
    assert find_metric("answer-words") is words
    assert METRICS.package_of("Answer-Words") == "plugin"
    assert words in record_metrics()
    (found,) = with_values([record("Anna Brack")])
    assert found.values["Answer-Words"].value == 2
    tables = score_records([found])
    show_scores(tables)
    assert "Answer-Words" in capsys.readouterr().out
    assert tables["figures"].cell("mean", metric="Answer-Words", type="") == 2
