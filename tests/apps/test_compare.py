"""`ragways eval compare`: what a terminal of 80 columns shows, and what JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragways.apps.evaluation.compare import compare
from ragways.core.errors import UsageError
from ragways.evaluation.record import Record, Records


def answer(question: int, paradigm: str, right: bool, **changes: Any) -> Record:
    base: dict[str, Any] = {
        "question": f"q{question}", "text": "?", "type": "factual", "gold": ("Anna Brack",), "paradigm": paradigm,
        "repeat": 0, "answer": "Anna Brack" if right else "Nobody", "usage": {"calls": 0, "input": 0, "output": 0},
    }  # fmt: skip
    return Record(**{**base, **changes})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "80")
    records = Records(tmp_path / "monday")
    for n in range(40):
        for repeat in range(2):
            records.append(answer(n, "community-global", n % 10 > 0, repeat=repeat))
            records.append(answer(n, "triangulation-average", n % 2 == repeat, repeat=repeat))
        records.append(answer(n, "naive", n % 10 > 3))
    records.append(answer(40, "naive", False, error="the model is down"))
    records.append(answer(41, "naive", True, gold=()))
    return tmp_path / "monday"


def test_the_table_fits_and_counts_everything(folder: Path, capsys: pytest.CaptureFixture[str]):
    compare([folder])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for name in ("community-global", "triangulation-average", "naive"):
        assert name in out
    plain = " ".join(out.split())
    assert "0.500–0.500" in plain
    assert "With 40 questions a true difference below " in plain
    assert "unscored, no gold answer: naive 1" in plain
    assert "better" in plain
    assert "no difference shown" in plain


def test_as_json_against_a_baseline(folder: Path, capsys: pytest.CaptureFixture[str]):
    compare([folder], baseline="naive", json=True)
    data = json.loads(capsys.readouterr().out)
    assert [(row["a"], row["b"]) for row in data["rows"]] == [
        ("community-global", "naive"),
        ("triangulation-average", "naive"),
    ]
    assert data["rows"][0]["difference"] == pytest.approx(0.3)
    assert data["rows"][0]["verdict"] == "better"
    assert data["rows"][0]["missing_b"] == {"failed": 1, "no gold answer": 1}
    assert data["counts"]["naive"] == {
        "questions": 42, "scored_questions": 40, "not_asked": 0, "answers": 42, "scored": 40, "failed": 1,
        "unscored": {"no gold answer": 1}, "repeats": 1, "median": 0.6, "low": 0.6, "high": 0.6,
    }  # fmt: skip
    assert data["counts"]["community-global"]["not_asked"] == 2


def test_a_metric_where_less_is_better_and_one_at_any_rank(folder: Path, capsys: pytest.CaptureFixture[str]):
    compare([folder], metric="abstained", json=True)
    assert json.loads(capsys.readouterr().out)["less_is_better"] is True
    compare([folder], metric="recall@17", json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["metric"] == "recall@17"
    assert {row["verdict"] for row in data["rows"]} == {"not compared"}
    assert data["counts"]["naive"]["unscored"] == {"no gold evidence": 41}
    compare([folder], metric="recall@17")
    assert "Nothing was compared" not in capsys.readouterr().out


def test_of_several_runs_paradigms_are_told_apart(folder: Path, capsys: pytest.CaptureFixture[str]):
    later = Records(folder.parent / "tuesday")
    for n in range(40):
        later.append(answer(n, "naive", n % 10 > 4))
    compare([folder, later.folder, folder], baseline="monday/naive", json=True)
    data = json.loads(capsys.readouterr().out)
    assert set(data["counts"]) == {"community-global", "triangulation-average", "monday/naive", "tuesday/naive"}
    assert next(row["difference"] for row in data["rows"] if row["a"] == "tuesday/naive") == pytest.approx(-0.1)


def test_what_cannot_be_compared(folder: Path):
    alone = Records(folder.parent / "alone")
    alone.append(answer(1, "naive", True))
    with pytest.raises(UsageError, match="only one paradigm"):
        compare([alone.folder])
    with pytest.raises(UsageError, match="holds no run"):
        compare([folder.parent / "nowhere"])
    with pytest.raises(UsageError, match="did you mean naive"):
        compare([folder], baseline="naiv")
    with pytest.raises(UsageError, match="accuracy"):
        compare([folder], metric="acuracy")


def test_different_questions_under_one_id_are_not_paired(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name, paradigm, of in (("monday", "naive", "light"), ("tuesday", "words", "tower")):
        records = Records(tmp_path / name)
        for n in range(10):
            # The first four are the same question in both runs; the others only share their ids.
            text = f"Who built light {n}?" if n < 4 else f"Who built {of} {n}?"
            records.append(answer(n, paradigm, paradigm == "naive", text=text))
    compare([tmp_path / "monday", tmp_path / "tuesday"], json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["rows"][0]["n"] == 4
    assert data["rows"][0]["dropped"] == 12
    assert data["unlike_questions"] == 6
    compare([tmp_path / "monday", tmp_path / "tuesday"])
    assert "different questions under 6 of their ids" in " ".join(capsys.readouterr().out.split())
    compare([tmp_path / "monday", tmp_path / "tuesday"], metric="recall@17", json=True)
    assert json.loads(capsys.readouterr().out)["counts"]["naive"]["unscored"] == {"no gold evidence": 10}
