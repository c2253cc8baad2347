"""All paradigms side by side, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import typer

from ragways.apps.answer import evidence_in_words
from ragways.apps.ask import finish
from ragways.core.errors import BudgetExceeded, MissingLayer, RagwaysError
from ragways.core.trace import Span
from ragways.core.types import Answer, Evidence, Hit, Hits, Piece, Query
from ragways.models.client import RULE_AFTER_FAILURE, RULE_INSTEAD, RULE_OVER_BUDGET
from ragways.retrieval.ask import PARADIGMS, Result
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
    assert done.code == 6, "the others have answered"
    assert indexed("ask", QUESTION, "-p", "fused,kg").code == 3, "none has"
    flat = " ".join(done.out.split())
    assert "this index has no windows" in flat
    assert "ragways index PATH --with vectors,windows,words" in flat
    named = indexed("ask", QUESTION, "-p", "words,kg", "--index", ".ragways", "--json").data
    assert "ragways index PATH --index .ragways --with graph" in named[1]["cure"]


def test_a_few_are_shown_in_full_and_more_when_asked(indexed: Run):
    few = indexed("ask", QUESTION, "-p", "naive,words,hybrid-words").out
    assert few.count("From your documents") == 3
    many = ("ask", QUESTION, "-p", "naive,words,hybrid-words,recursive")
    assert "From your documents" not in indexed(*many).out
    assert "article:" in indexed(*many, "--details").out


def test_what_one_way_alone_found_is_named():
    def result(paradigm: str, *titles: str) -> Result:
        hits = tuple(Hit(Piece(f"{t}:c0", "chunk", t, t, t, 0, 1, 1), 1.0) for t in titles)
        answer = Answer(Evidence(Hits(Query("?"), hits), hits, 0), "It is.")
        return Result("?", paradigm, {}, answer, Span(paradigm))

    found = list(
        evidence_in_words([result("a", "X", "Y"), result("b", "X"), result("c", "X", "Y"), result("d", "X", "Z")])
    )
    assert found == ["2 found; first: X", "1 found; first: X", "the same 2 as a", "2 found; only here: Z"]


def test_what_was_not_answered_as_asked_is_told_by_the_exit_code():
    result = Result("?", "naive", {}, Answer(Evidence(Hits(Query("?")), (), 0), "It is."), Span("a"))
    assert _code([result]) == 0
    for way, code in ((RULE_OVER_BUDGET, 5), (RULE_AFTER_FAILURE, 4), (RULE_INSTEAD, 6)):
        assert _code([replace(result, answer=replace(result.answer, error="why", way=way))]) == code
    missing = ("fused", MissingLayer("this index has no graph"))
    assert _code([], [missing]) == 3
    assert _code([result], [missing]) == 6
    assert _code([result], [missing, ("kg", BudgetExceeded("spent"))]) == 5
    failed = replace(result, answer=replace(result.answer, error="why", way=RULE_AFTER_FAILURE))
    assert _code([failed], [missing]) == 4


def _code(results: list[Result], failures: Sequence[tuple[str, RagwaysError]] = ()) -> int:
    try:
        finish(results, failures)
    except typer.Exit as stop:
        return stop.exit_code
    return 0
