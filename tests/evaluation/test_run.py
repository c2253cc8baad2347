"""Runs record every answer, go on where they were stopped, and are scored from their records alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragways.core.plain import from_plain, to_plain
from ragways.evaluation.metrics import METRICS, record_metrics
from ragways.evaluation.record import FILE, Record, Records
from ragways.evaluation.record import Run as EvaluationRun
from ragways.evaluation.score import nested, score
from tests.apps.conftest import CORPUS, Run, home, one_line, ragways  # noqa: F401 - fixtures
from tests.fakes import write

QUESTIONS = [
    {"id": "a", "question": "Who built the harbour light?", "answers": ["Anna Brack"], "type": "factual",
     "evidence": [{"title": "Harbour", "quote": "built by Anna Brack"}]},
    {"id": "b", "question": "Which ship saved the keeper?", "answers": ["Tern", "the Tern"], "type": "factual",
     "evidence": [{"title": "storm", "quote": "saved by the ship Tern"}]},
    {"id": "c", "question": "Which actor starred in the 1994 film Pulp Fiction?", "type": "null", "evidence": [],
     "answers": ["Insufficient information"]},
]  # fmt: skip


def record(**changes) -> Record:
    base = {"question": "q", "text": "?", "type": "factual", "gold": ("Anna Brack",), "paradigm": "naive", "repeat": 0,
            "usage": {"calls": 0, "input": 0, "output": 0, "usd": 0.0, "evidence": 9}}  # fmt: skip
    return from_plain(Record, {**base, **changes})


@pytest.mark.parametrize(
    ("answer", "gold", "abstained", "expected"),
    [
        ("It was Anna Brack. [1]", ("Anna Brack",), False, {"accuracy": 1, "em": 0, "abstained": 0}),
        ("The Anna Brack [2]", ("anna brack",), False, {"accuracy": 1, "em": 1, "f1": 1, "abstained": 0}),
        ("Annabel Brackley", ("Anna Brack",), False, {"accuracy": 0, "em": 0, "f1": 0}),
        ("Insufficient information", ("Anna Brack",), True, {"accuracy": 0, "abstained": 1, "hallucinated": None}),
        (
            "Insufficient information",
            ("Insufficient information",),
            True,
            {"accuracy": 1, "hallucinated": 0, "em": None},
        ),
        ("Someone", ("Insufficient information",), False, {"accuracy": 0, "hallucinated": 1, "abstained": None}),
        ("Anything", (), False, {"accuracy": None, "em": None, "f1": None, "hallucinated": None}),
    ],
)
def test_exact_metrics_by_hand(answer, gold, abstained, expected):
    one = record(answer=answer, gold=gold, abstained=abstained)
    assert {name: METRICS[name].score(one).value for name in expected} == expected


@pytest.mark.parametrize("metric", record_metrics(), ids=str)
def test_every_metric_is_unscored_with_a_reason_where_nothing_is_known(metric):
    found = metric.score(record(gold=(), ranks=()))
    assert found.value is None
    assert found.why
    assert metric.score(record(error="down")).why == "failed"


def test_a_run_is_recorded_resumed_and_scored(ragways: Run, home: Path):  # noqa: F811
    write(home / "docs", CORPUS)
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    ragways("index", "docs")
    arguments = [
        "eval",
        "run",
        "--questions",
        "questions.jsonl",
        "--out",
        "run",
        "--paradigms",
        "words,naive",
        "--json",
    ]
    rows = ragways(*arguments).data
    words = next(row for row in rows if row["paradigm"] == "words")
    assert words["records"] == 3
    assert words["metrics"]["accuracy"]["mean"] == 1.0
    assert words["metrics"]["recall@5"]["mean"] == 1.0
    assert words["metrics"]["recall@5"]["unscored"] == 1
    assert words["by_type"]["null"]["metrics"]["hallucinated"]["mean"] == 0.0

    records = list(Records(home / "run"))
    assert len(records) == 6
    assert records[0].made.embedder.startswith("all-MiniLM")
    assert records[0].evidence
    # Cut the file in the middle of a line, as a kill would: only what is lost is asked again.
    text = (home / "run" / FILE).read_text()
    kept = text.splitlines()[:4]
    (home / "run" / FILE).write_text("\n".join(kept) + "\n" + text.splitlines()[4][:50])
    assert ragways(*arguments).code == 0
    again = (home / "run" / FILE).read_text().splitlines()
    assert again[:4] == kept
    assert len(again) == 6
    assert ragways("eval", "score", "run", "--json").data == to_plain(nested(score(EvaluationRun(home / "run"))))
    assert ragways("eval", "score", "run").code == 0
    one_line(ragways("eval", "score", "nowhere"), 2, "holds no run")

    assert ragways("eval", "gate", "run", "--require", "words:accuracy>=0.9").code == 0
    missed = ragways("eval", "gate", "run", "--require", "words:hallucinated>0.5")
    assert missed.code == 1
    assert missed.out.startswith("not passed: words: hallucinated is 0.000, required > 0.5")
    assert ragways("eval", "gate", "run", "--no-worse-than", "run", "--least", "3").code == 0
    one_line(ragways("eval", "gate", "run", "--require", "acuracy>=0.9"), 2, "did you mean accuracy?")
    one_line(ragways("eval", "gate", "run", "--require", "accuracy is fine"), 2, "not a requirement")
