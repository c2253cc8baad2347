"""All paradigms side by side, in one table."""

from __future__ import annotations

import pytest

from ragways.retrieval.ask import PARADIGMS
from tests.apps.conftest import Run

QUESTION = "Who built the harbour light?"


@pytest.mark.parametrize("columns", [80, 140])
def test_all_paradigms_make_one_table(indexed: Run, monkeypatch: pytest.MonkeyPatch, columns: int):
    monkeypatch.setenv("COLUMNS", str(columns))
    out = indexed("ask", QUESTION, "-p", "all").out
    lines = out.splitlines()
    assert max(map(len, lines)) <= columns
    rows = {name: [line for line in lines if line.split()[:1] == [name]] for name in PARADIGMS}
    assert all(len(found) == 1 for found in rows.values()), "a row each"
    head = next(line for line in lines if "paradigm" in line)
    assert all(word in head for word in ("answer", "evidence", "tokens", "calls", " s"))
    assert "2 found: Harbour; storm" in out
    assert rows["naive"][0].split()[-3:-1] == ["0", "0"]


def test_a_missing_layer_shows_the_command_that_builds_it(indexed: Run):
    done = indexed("ask", QUESTION, "-p", "all")
    assert done.code == 3
    flat = " ".join(done.out.split())
    assert "this index has no windows" in flat
    assert "ragways index PATH --with vectors,windows,words" in flat


def test_a_few_are_shown_in_full_and_more_when_asked(indexed: Run):
    few = indexed("ask", QUESTION, "-p", "naive,words,hybrid-words").out
    assert "article:" in few
    many = ("ask", QUESTION, "-p", "naive,words,hybrid-words,recursive")
    assert "article:" not in indexed(*many).out
    assert "article:" in indexed(*many, "--details").out
