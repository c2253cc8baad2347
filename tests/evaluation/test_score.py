"""Figures of a run: every question is counted once, in whichever way it went, and no interval says too much."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.judges import JUDGES
from ragways.evaluation.metric import SIGNED
from ragways.evaluation.metrics import METRICS
from ragways.evaluation.record import Record, Score
from ragways.evaluation.score import gaps, nested, score_records


def row(question: str, value: float | None, *, metric: str = "accuracy", why: str = "no gold answer", **changes: Any):
    base: dict[str, Any] = {"type": "", "gold": (), "paradigm": "naive", "repeat": 0}
    values = {metric: Score(value, "" if value is not None else why)}
    return Record(question=question, text="?", values=values, **(base | changes))


def score(records: list[Record]) -> list[dict[str, Any]]:
    return nested(score_records(records))


def figure_of(records: list[Record], metric: str = "accuracy") -> dict[str, Any]:
    (found,) = score(records)
    own: dict[str, Any] = found["metrics"][metric]
    return own


FAILED = {"error": "down"}


def test_a_type_whose_answers_all_failed_is_there():
    rows = [row("a", 1.0, type="easy"), row("b", None, type="hard", **FAILED), row("c", None, type="hard", **FAILED)]
    (found,) = score(rows)
    assert set(found["by_type"]) == {"easy", "hard"}
    hard = found["by_type"]["hard"]
    assert (hard["failed"], hard["metrics"]["accuracy"]["mean"], hard["metrics"]["accuracy"]["n"]) == (2, None, 0)
    assert found["by_type"]["easy"]["failed"] == 0


ANSWERS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"), st.sampled_from(["", "easy", "hard"]), st.sampled_from([0.0, 1.0, None, "failed"])
    ),
    min_size=1,
    max_size=30,
)


@given(ANSWERS)
def test_every_question_is_scored_unscored_or_failed(answers: list[tuple[str, str, Any]]):
    """Several answers of one question are its repeats; a question is of one type."""
    types: dict[str, str] = {}
    rows = [
        row(question, None if value == "failed" else value, type=types.setdefault(question, type), repeat=at,
            **(FAILED if value == "failed" else {}))
        for at, (question, type, value) in enumerate(answers)
    ]  # fmt: skip
    (found,) = score(rows)
    figure = found["metrics"]["accuracy"]
    assert figure["n"] + figure["unscored_questions"] + found["failed_questions"] == found["questions"]
    assert figure["unscored_questions"] <= figure["unscored"] == sum(figure["why"].values())
    if own := found["by_type"].values():
        assert sum(one["failed"] for one in own) == found["failed"]
        for count in ("n", "unscored", "unscored_questions"):
            assert sum(one["metrics"]["accuracy"][count] for one in own) == figure[count]


def test_unscored_answers_are_counted_by_paradigm():
    rows = [row(question, None, paradigm=name) for name in ("naive", "words") for question in "ab"]
    rows += [row("c", None, paradigm="words", why="not judged"), row("c", 1.0)]
    assert gaps(score_records(rows)).rows == (
        ("accuracy", "each paradigm", 2, "no gold answer"), ("accuracy", "words", 1, "not judged"),
    )  # fmt: skip
    many = [row(question, None, paradigm=f"p{name}") for name in range(6) for question in "ab"[: 1 + (name < 5)]]
    assert gaps(score_records(many)).column("of") == ["p0, p1, p2 and 2 more", "p5"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0], (None, None)),
        ([0.5] * 9, (None, None)),
        ([1.0] * 20, (pytest.approx(0.8389, abs=1e-4), 1.0)),
        ([0.0] * 20, (0.0, pytest.approx(0.1611, abs=1e-4))),
    ],
)
def test_no_interval_is_of_no_width(values: list[float], expected: Any):
    figure = figure_of([row(f"q{at}", value) for at, value in enumerate(values)])
    assert (figure["low"], figure["high"]) == expected


def test_what_may_be_negative_is_no_share():
    assert {name for judge in JUDGES.values() for name in map(str, judge.metrics)} >= SIGNED
    assert {name for name, metric in METRICS.items() if "−1" in metric.summary} == SIGNED
    figure = figure_of([row(f"q{at}", 0.0, metric="crag-fine") for at in range(20)], "crag-fine")
    assert (figure["low"], figure["high"]) == (None, None)
