"""One answer on the command line: what is said first, where it is from below, and each sentence as it comes."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sys
import threading
from pathlib import Path

import pytest

from ragways.apps.answer import AnswerWriter, show_answer
from ragways.apps.logs import BEGUN_ANEW
from ragways.apps.markdown import UNCITED
from ragways.core.trace import Span
from ragways.core.types import Answer, Citation, Evidence, Hit, Hits, Piece, Query
from ragways.retrieval.ask import Result
from ragways.testing import Fault, LoopbackServer
from tests.apps.conftest import Run, one_line
from tests.fakes import write

QUESTION = "Who built the harbour light?"
ANSWER = "The harbour light was built by Anna Brack in 1801. [1]"
WHERE = "docs/harbour.md › Lights › Old, lines 9–10"
MARKDOWN = """# Harbour

Boats lie here.

## Lights

### Old

The harbour light was built
by Anna Brack in 1801.
"""


@pytest.fixture
def harbour(ragways: Run, home: Path) -> Run:
    write(home / "docs", {"harbour.md": MARKDOWN})
    assert ragways("index", "docs").code == 0
    return ragways


def test_the_answer_comes_first_then_its_sources_then_a_line_of_figures(harbour: Run):
    said = harbour("ask", QUESTION)
    answer, _, sentence, _, head, _, source, passage, _, second, _, _, figures = said.out.rstrip("\n").split("\n")
    assert (answer, sentence, head) == ("Anna Brack [1]", ANSWER, "From your documents")
    assert source == f"[1] Harbour  {WHERE}"
    assert passage.strip() == "The harbour light was built by Anna Brack in 1801."
    assert second.startswith("[2] Harbour  docs/harbour.md")
    assert re.fullmatch(r"auto: hybrid-words · [\d.]+ s · 2 passages · read without a model, chance \d\d%", figures)
    assert "no router was fitted" in harbour("ask", QUESTION, "--details").out
    assert not any(sign in said.out for sign in "│┃┌┏\x1b"), "nothing but text goes down a pipe"


def test_where_nothing_is_answered_the_nearest_three_passages_are_shown_by_their_best_sentences(
    ragways: Run, home: Path
):
    filler = {
        "east": "Boats of all sizes lie at anchor here.",
        "west": "Cattle graze on hills behind a village.",
        "north": "Snow closes our mountain road each winter.",
        "south": "Vineyards produce sweet wine for export.",
    }
    cages = " and a cage" * 40
    for name, text in filler.items():
        write(
            home / "docs",
            {f"{name}.md": f"# {name.title()}\n\n{f'{text} ' * 9}The keeper of {name} has a red parrot{cages}.\n"},
        )
    assert ragways("index", "docs").code == 0
    screen = ragways("ask", "What does the keeper's red parrot cost in Portuguese escudos?")
    nearest = screen.out[screen.out.index("Nearest passages") :]
    assert nearest.count("has a red parrot and a cage") == 3
    answer = json.loads(ragways("ask", "What does the keeper's red parrot cost in escudos?", "--json").out)
    assert answer["abstained"]
    assert ["red parrot" in each.get("nearest", "") for each in answer["evidence"]] == [True, True, True, False]


def test_every_sentence_that_is_cited_is_quoted_once(capsys: pytest.CaptureFixture[str]):
    said = ["The captain of the port is at work.", "Her name is Ada Marsh."]
    hit = Hit(Piece("article:1:c0", "chunk", "article:1", "Port", " ".join(said), 0, 58, 12), 1.0)
    cited = [said[0], said[1], said[1]]
    citations = tuple(Citation(n, "article:1:c0", "article:1", 0, 1, quote) for n, quote in enumerate(cited))
    answer = Answer(Evidence(Hits(Query("?"), (hit,)), (hit,), 12), "Ada Marsh [1]", citations=citations)
    show_answer(Result("?", "words", {}, answer, Span("words")), written=True)
    quotes = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    assert quotes == [f"“{said[0]}”", f"“{said[1]}”"]


def test_quiet_has_no_figures_and_answer_only_nothing_but_the_answer(harbour: Run):
    quiet = harbour("ask", QUESTION, "--quiet")
    assert WHERE in quiet.out
    assert "hybrid-words" not in quiet.out
    assert "auto" not in quiet.out
    assert quiet.err == ""
    only = harbour("ask", QUESTION, "--answer-only")
    assert (only.out, only.err, only.code) == ("Anna Brack [1]\n", "", 0)
    nothing = harbour("ask", "Which quokka plays the zither?", "--answer-only", "-p", "words")
    assert (nothing.out, nothing.code) == ("Insufficient information\n", 0)
    one_line(harbour("ask", QUESTION, "--answer-only", "-p", "words,naive"), 2, "name one paradigm")


def test_several_paradigms_stand_below_each_other_and_details_have_every_passage(harbour: Run):
    both = harbour("ask", QUESTION, "-p", "words,naive").out
    assert [line for line in both.splitlines() if line.startswith("──")] == ["── words", "── naive"]
    assert both.count(WHERE) == 2
    details = harbour("ask", QUESTION, "-p", "naive", "--details").out
    assert WHERE in details
    assert re.search(r"\d\.\d{3}  article:\d+", details)
    assert "--details" not in details, "nothing is left out"


def test_json_says_where_evidence_and_citations_are_from(harbour: Run):
    data = harbour("ask", QUESTION, "--json").data
    wanted = {
        "key": "docs/harbour.md", "url": "", "section": ["Lights", "Old"], "page": 0, "last_page": 0,
        "line": 9, "last_line": 10, "text": WHERE,
    }  # fmt: skip
    assert data["evidence"][0]["source"] == wanted
    assert data["citations"][0]["source"] == wanted


def test_lines_that_move_are_told_anew_without_embedding_anything(harbour: Run, home: Path):
    (home / "docs" / "harbour.md").write_text(f"\n\n\n{MARKDOWN}")
    assert harbour("index", "docs", "--json").data["embedded"] == 0
    assert "lines 12–13" in harbour("ask", QUESTION).out


# Streams

FIRST, SECOND = "Anna Brack built it.", "The Tern saved its keeper."


def _reply(*sentences: tuple[str, int]) -> str:
    return " ".join(f"{text} [{passage}]" for text, passage in sentences)


class Screen(io.StringIO):
    """Standard output that lets somebody wait for a text to be written."""

    def __init__(self, wanted: str, *, terminal: bool) -> None:
        super().__init__()
        self._wanted = wanted
        self._terminal = terminal
        self.seen = threading.Event()

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._wanted in self.getvalue():
            self.seen.set()
        return written


def streamed(harbour: Run, monkeypatch: pytest.MonkeyPatch, screen: Screen, *arguments: str) -> bool:
    """Ask a model whose second sentence is held back until the first was seen: whether it was."""
    sent, seen = "", list[bool]()

    async def hold_back(event: bytes) -> None:
        nonlocal sent
        sent += "".join(json.loads(event[6:])["choices"][0]["delta"].get("content", "") if b"delta" in event else "")
        if "Tern" in sent and not seen:
            seen.append(await asyncio.to_thread(screen.seen.wait, 20))

    with LoopbackServer(lambda _: _reply((FIRST, 1), (SECOND, 1)), before_event=hold_back) as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", screen)
            assert harbour("ask", QUESTION, "-p", "words", *arguments).code == 0
    return seen == [True]


def test_a_sentence_is_written_before_the_next_was_sent(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    screen = Screen(f"{FIRST} [1]", terminal=True)
    assert streamed(harbour, monkeypatch, screen)
    said = left_on(screen)
    assert f"{FIRST} [1] {SECOND} [1]" in said
    assert said.count(SECOND) == 1, "what was written as it came is not written again"
    assert WHERE in said


def test_a_pipe_gets_the_stream_only_where_it_is_asked_for(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    assert streamed(harbour, monkeypatch, Screen(FIRST, terminal=False), "--stream")
    whole = Screen("never", terminal=True)
    whole.seen.set()
    streamed(harbour, monkeypatch, whole, "--no-stream")
    assert "\x1b[2K" not in whole.getvalue(), "nothing is drawn before the whole is there"
    assert f"{FIRST} [1] {SECOND} [1]" in left_on(whole)


def test_json_events_come_as_the_answer_is_written(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    screen = Screen('"event": "text"', terminal=False)
    assert streamed(harbour, monkeypatch, screen, "--json", "--stream")
    *pieces, last = [json.loads(line) for line in screen.getvalue().splitlines()]
    assert {event["event"] for event in pieces} == {"text"}
    assert [event["restart"] for event in pieces] == [True] + [False] * (len(pieces) - 1)
    assert last["event"] == "result"
    assert last["paradigm"] == "words"
    assert "".join(event["text"] for event in pieces) == last["answer"] == f"{FIRST} [1] {SECOND} [1]"


def test_an_answer_that_is_begun_anew_says_so(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    with LoopbackServer(lambda _: f"{FIRST * 3} [1]", faults=[Fault("cut", requests=1)]) as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        said = harbour("ask", QUESTION, "-p", "words", "--stream").out
    void, _, counts = said.partition(f"\n{BEGUN_ANEW}\n")
    assert void.startswith("Anna")
    assert counts.startswith(f"{FIRST * 3} [1]\n\nSources\n[1] Harbour")


CODE = """Set `timeout` on the call [1].

```python
import requests

requests.get("https://api.example.com/v1?a=1&b=2", timeout={"connect": 5, "read": 30}, headers={"accept": "json"})
\tx: List<Item> = items[0]  # Map<String, Item>
```

- Data: 5 rows [1]
- items[0] (y)

| limit | seconds |
|---|---|
| connect | 5 [1] |

See [the guide](https://docs.example.com/guide)."""


def code_of(text: str) -> str:
    return text.partition("```python\n")[2].partition("```")[0]


def by_model(harbour: Run, monkeypatch: pytest.MonkeyPatch, *arguments: str, terminal: bool = False) -> str:
    """What the command prints where the model writes code, a list, a table and a link."""
    screen = Screen("never", terminal=terminal)
    with LoopbackServer(lambda _: CODE) as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", screen)
            assert harbour("ask", QUESTION, "-p", "words", *arguments).code == 0
    return screen.getvalue() if not terminal else left_on(screen)


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_a_terminal_shows_code_as_the_model_wrote_it_and_links_with_their_address(
    harbour: Run, monkeypatch: pytest.MonkeyPatch, stream: str
):
    said = by_model(harbour, monkeypatch, stream, terminal=True)
    for line in code_of(CODE).splitlines():
        assert line.expandtabs(8).strip() in said.expandtabs(8), "whole, and not broken"
    assert "\nimport requests" in said, "from the first column on"
    assert "• Data: 5 rows [1]" in said
    assert f"• items[0] (y)  {UNCITED}" in said
    assert "connect" in said
    assert f"the guide (https://docs.example.com/guide).  {UNCITED}" in " ".join(said.split("\n"))
    assert said.count(UNCITED) == 2


def test_a_pipe_gets_the_text_itself(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    assert by_model(harbour, monkeypatch).startswith(f"{CODE}\n")
    assert by_model(harbour, monkeypatch, "--answer-only") == f"{CODE}\n"


def test_json_has_the_answer_but_for_links_that_no_document_names(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    data = json.loads(by_model(harbour, monkeypatch, "--json"))
    assert data["answer"] == CODE.replace("[the guide](https://docs.example.com/guide)", "the guide")
    assert [data["answer"][start:end] for start, end in data["uncited"]] == ["- items[0] (y)", "See the guide."]
    assert [citation["quote"] for citation in data["citations"]] == [ANSWER.removesuffix(" [1]")] * 3
    *_, last = by_model(harbour, monkeypatch, "--json", "--stream").splitlines()
    assert json.loads(last)["answer"] == data["answer"]


def left_on(screen: Screen) -> str:
    """What stays on a terminal: the lines that were drawn over are gone, and signs of style are no text."""
    lines, row, column = [""], 0, 0
    for part in re.split(r"(\x1b\[[?\d;]*[A-Za-z]|\n|\r)", screen.getvalue()):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif found := re.fullmatch(r"\x1b\[(\d*)A", part):
            row -= int(found[1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif not part.startswith("\x1b"):
            lines[row] = f"{lines[row][:column]:<{column}}{part}{lines[row][column + len(part) :]}"
            column += len(part)
    return "\n".join(line.rstrip() for line in lines)


def test_pieces_are_written_without_control_signs():
    out = io.StringIO()
    write_piece = AnswerWriter(out)
    for piece in ("The li", "ght of the har", "bour stands\x1b[2J ", "here.\n\tTab"):
        write_piece(piece)
    write_piece.end()
    assert out.getvalue() == "The light of the harbour stands\ufffd[2J here.\n\tTab\n"


def test_an_answer_without_a_model_is_broken_between_words(harbour: Run, monkeypatch: pytest.MonkeyPatch):
    screen = Screen("never", terminal=True)
    monkeypatch.setenv("COLUMNS", "30")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        assert harbour("ask", QUESTION, "-p", "words", "--set", "reader=extract", "--quiet").code == 0
    assert left_on(screen).startswith("The harbour light was built by\nAnna Brack in 1801. [1]\n")
