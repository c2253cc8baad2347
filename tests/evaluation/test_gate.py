"""The gate must not pass where nothing was shown: an empty run, what is gone, what is unscored, other questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.gate import Requirement, question_texts, unlike, worse
from ragways.evaluation.record import FILE, AnswerUsage, Record, Records
from ragways.evaluation.resources.usage import MeanUsage, ParadigmUsage
from ragways.evaluation.score import MetricScore, ParadigmScores
from tests.apps.conftest import Run, home, one_line, ragways  # noqa: F401 - fixtures


def answer(question: int, paradigm: str = "naive", right: bool = True, **changes: Any) -> Record:
    base: dict[str, Any] = {
        "question": f"q{question}", "text": f"Who built light {question}?", "type": "factual", "gold": ("Anna Brack",),
        "paradigm": paradigm, "repeat": 0, "answer": "Anna Brack" if right else "Nobody",
        "usage": AnswerUsage(calls=0, input=0, output=0),
    }  # fmt: skip
    return Record(**{**base, **changes})


def write(folder: Path, *records: Record) -> None:
    for record in records:
        Records(folder).append(record)


def row(paradigm: str, **means: float | None) -> ParadigmScores:
    metrics = {name.replace("_", "-"): MetricScore(mean) for name, mean in means.items()}
    used = ParadigmUsage(paradigm, 1, 0, 1, MeanUsage(), None, None, 0, None)
    return ParadigmScores(paradigm, 1, 1, 1, 0, 0, metrics, {}, used)


def test_a_run_without_a_record_does_not_pass(ragways: Run, home: Path):  # noqa: F811
    (home / "empty").mkdir()
    (home / "empty" / FILE).write_text("")
    write(home / "run", answer(1))
    one_line(ragways("eval", "gate", "empty"), 2, "empty holds no record")
    one_line(ragways("eval", "gate", "empty", "--require", "accuracy>=0.5"), 2, "empty holds no record")
    one_line(ragways("eval", "gate", "run", "--no-worse-than", "empty"), 2, "the earlier run holds no record")
    assert ragways("eval", "gate", "run").code == 0


def test_what_the_earlier_run_has_must_still_be_there():
    before = [row("naive", accuracy=0.5, f1=0.6), row("words", accuracy=0.5)]
    assert worse([row("naive", accuracy=0.5, f1=0.6)], before, 0.0) == ["words is not in this run"]
    said = worse([row("naive", accuracy=0.5), row("words", accuracy=0.5)], before, 0.0)
    assert said == ["naive: f1 was 0.600 and is not in this run"]
    # What is new is no miss, and what was unscored before cannot have fallen.
    assert (
        worse([row("naive", accuracy=0.5, f1=0.1), row("new", f1=0.0)], [row("naive", accuracy=0.5, f1=None)], 0) == []
    )


@pytest.mark.parametrize(
    ("metric", "old"), [("accuracy", 0.667), ("hallucinated", 0.667), ("crag_fine", -1.0), ("crag_fine", 0.5)]
)
def test_what_is_now_unscored_is_a_miss_whichever_way_is_better(metric: str, old: float):
    said = worse([row("naive", **{metric: None})], [row("naive", **{metric: old})], 0.2)
    assert said == [f"naive: {metric.replace('_', '-')} was {old:.3f} and is now unscored"]


def test_the_tolerance_holds_to_the_last_digit():
    before = [row("naive", accuracy=0.7, hallucinated=0.2)]
    assert worse([row("naive", accuracy=0.6, hallucinated=0.3)], before, 0.1) == []
    assert worse([row("naive", accuracy=0.59, hallucinated=0.31)], before, 0.1) == [
        "naive: accuracy went from 0.700 to 0.590", "naive: hallucinated went from 0.200 to 0.310"
    ]  # fmt: skip


def test_other_questions_are_not_compared(ragways: Run, home: Path):  # noqa: F811
    write(home / "before", *(answer(n, right=n > 1) for n in range(4)), answer(0, "words"))
    write(home / "after", *(answer(n) for n in range(3)), answer(0, "words", text="Who built the tower?"))
    said = ragways("eval", "gate", "after", "--no-worse-than", "before")
    assert said.code == 1
    assert "naive: other questions than in the earlier run (1 gone), so that the two cannot be compared" in said.out
    assert "words: other questions than in the earlier run (1 with another text)" in said.out
    write(home / "after", answer(3))
    assert "naive" not in ragways("eval", "gate", "after", "--no-worse-than", "before").out
    assert unlike(question_texts([answer(1), answer(2)]), question_texts([answer(1)])) == {
        "naive": "other questions than in the earlier run (1 new), so that the two cannot be compared"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("naive[k=20]:accuracy>=0.8", Requirement("naive[k=20]", "accuracy", ">=", 0.8)),
        ("naive[k=20,least=0.4]: recall@5 < 1", Requirement("naive[k=20,least=0.4]", "recall@5", "<", 1.0)),
        ("crag-fine>-0.2", Requirement("", "crag-fine", ">", -0.2)),
        ("crag-fine <= +.5", Requirement("", "crag-fine", "<=", 0.5)),
        ("iterative (Iterative (Naive)):f1>=.1", Requirement("iterative (Iterative (Naive))", "f1", ">=", 0.1)),
        ("a run/naive:f1>=1.", Requirement("a run/naive", "f1", ">=", 1.0)),
    ],
)
def test_paradigms_with_settings_and_values_below_0_can_be_named(text: str, expected: Requirement):
    assert Requirement.parse(text) == expected


@pytest.mark.parametrize("text", ["accuracy>=1.2.3", "accuracy>=", "accuracy>=-", ">=0.5", "naive:>=1", "accuracy==1"])
def test_what_is_no_requirement(text: str):
    with pytest.raises(UsageError, match="not a requirement"):
        Requirement.parse(text)


def test_a_paradigm_that_is_not_there_is_named_with_what_was_meant():
    rows = [row("naive[k=20]", accuracy=0.5)]
    assert Requirement.parse("naive[k=20]:accuracy>=0.6").misses(rows) == [
        "naive[k=20]: accuracy is 0.500, required >= 0.6"
    ]
    with pytest.raises(UsageError, match=r"no paradigm 'naive\[k=2\]'") as error:
        Requirement.parse("naive[k=2]:accuracy>=0.6").misses(rows)
    assert "naive[k=20]" in error.value.cure
    with pytest.raises(UsageError, match="holds no record"):
        Requirement.parse("accuracy>=0.6").misses([])
