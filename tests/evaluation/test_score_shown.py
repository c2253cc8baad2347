"""The figures on a terminal of 80 columns: whole names, whole headers, and no figure cut."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragways.apps.evaluation.score import SHOWN, show_retrieval, show_run
from ragways.core.table import Table
from ragways.evaluation.metrics import USUAL
from tests.evaluation.report.made import made_run

NAMES = ("naive", "naive[k=20]", "hybrid-words", "agent[steps=12;tools=everything]")
HEADS = " ".join((*SHOWN.values(), "tokens", "s p50", "failed", "paradigm")).split()


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def tables(shown: str) -> list[str]:
    """Lines that were not left to the terminal to wrap."""
    return [line.rstrip() for line in shown.splitlines() if not re.match(r"unscored |.*median and range of", line)]


def test_names_and_headers_are_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    show_run(made_run(tmp_path / "run", questions=30, paradigms=NAMES, repeats=2), False)
    shown = capsys.readouterr().out
    lines = tables(shown)
    assert max(map(len, lines)) <= 80
    assert "…" not in shown
    above = " ".join(lines[:4])
    assert [head for head in HEADS if head not in above.split()] == []
    for name in NAMES[:3]:
        assert any(line.startswith(f"{name} ") for line in lines), "as it is: no brackets lost"
    beginnings = [line[:18].strip() for line in lines]
    assert "".join(beginnings).count("agent[steps=12;tools=everything]") == 1, "folded, not cut"
    judged = shown[shown.index("judged") :]
    assert "naive[k=20]" in judged
    assert re.search(r"-?\d\.\d{3} n \d+", judged)


def test_the_table_of_retrieval(capsys: pytest.CaptureFixture[str]):
    figures = {f"{metric}{end}": value for metric in USUAL for end, value in
               (("", 0.9123), (" low", 0.81), (" high", 0.97))}  # fmt: skip
    one = figures | {"recall@2": 1.0, "recall@2 low": None, "recall@2 high": None}
    rest = {"questions": 10, "unscored": 0, "gold_not_in_index": 0, "evidence_tokens": 12345.0, "cpu_ms_p50": 1234.5,
            "cpu_ms_p95": 2234.5}  # fmt: skip
    made = [{"paradigm": name, **(one if name == NAMES[0] else figures), **rest} for name in NAMES]
    rows = Table.of(["paradigm", *figures, *rest], made)
    show_retrieval("a[b]: 10 questions", rows)
    shown = capsys.readouterr().out
    assert max(map(len, tables(shown))) <= 80
    assert "…" not in shown
    assert "a[b]: 10 questions" in shown
    assert shown.count("1234.5") == len(NAMES)
    assert ".81–.97" in shown
    assert "[k=20]" in "".join(line[:10].strip() for line in shown.splitlines())
