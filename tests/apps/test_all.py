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
    asked = [name for name, paradigm in PARADIGMS.items() if paradigm.needs <= {"vectors", "words"}]
    rows = {name: [line for line in lines if line.split()[:1] == [name] and len(line.split()) > 4] for name in asked}
    assert all(len(found) == 1 for found in rows.values()), "a row each"
    others = " ".join(" ".join(lines).partition("not asked:")[2].split())
    assert all(name in others for name in PARADIGMS if name not in asked)
    head = next(line for line in lines if "paradigm" in line)
    assert all(word in head for word in ("answer", "evidence", "tokens", "calls", " s"))
    assert "2 found; first: Harbour" in out
    assert "the same 2 as" in out
    assert out.count("Anna Brack in 1801.") < len(PARADIGMS) / 3, "an answer is written once for all who gave it"
    assert "different answers from" in out
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
