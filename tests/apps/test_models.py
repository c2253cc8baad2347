"""The command line with models that misbehave: an answer all the same, and a line that says what went wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragways.models import limits
from ragways.models.limits import Wait
from ragways.testing.replies import Fault
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run, one_line

QUESTION = "Who built the harbour light?"


def point_at(server: LoopbackServer, more: str = "") -> None:
    Path("ragways.toml").write_text(f"[model]\nbase_url = '{server.base_url}'\nname = 'loop'\n{more}")


def test_a_model_that_answers_in_plain_text_only(indexed: Run):
    with LoopbackServer(lambda _: "Anna Brack built it. [1]", forms=(), tools=False) as server:
        point_at(server)
        done = indexed("ask", QUESTION, "--json")
        assert (done.code, done.err) == (0, "")
        assert done.data["answer"] == "Anna Brack built it. [1]"
        assert done.data["citations"][0]["quote"] == "The harbour light was built by Anna Brack in 1801."
        assert done.data["way"] == "model loop"


def test_a_model_that_cannot_answer_costs_no_evidence(indexed: Run):
    with LoopbackServer(lambda _: '{"what": <<') as server:
        point_at(server)
        done = indexed("ask", QUESTION, "--json")
        one_line(done, 6, "answered without the model", "no usable reply")
        assert "Anna Brack" in done.data["answer"]
        assert done.data["way"] == "rule, after an unusable reply"
        assert done.data["evidence"]
        assert "no usable reply" in done.data["error"]
        point_at(server, "[answer]\nfallback = false\n")
        one_line(indexed("ask", QUESTION), 4, "no usable reply")


def test_a_wait_is_shown(indexed: Run, monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    unhurried = limits.Time(sleep=sleep)
    monkeypatch.setattr(limits, "Time", lambda: unhurried)
    reply = {"answered": True, "sentences": [{"text": "Anna Brack.", "passages": [1]}]}
    with LoopbackServer(lambda _: json.dumps(reply), faults=[Fault("down", seconds=7, requests=1)]) as server:
        point_at(server)
        done = indexed("ask", QUESTION)
    one_line(done, 0, "model loop: 503: down for a while; waiting 7 s")
    assert slept == [7.0]


def test_what_a_server_says_of_a_wait_is_made_printable(capsys: pytest.CaptureFixture[str]):
    from ragways.apps.terminal import show_wait

    show_wait(Wait("model m", "503: \x1b[2J\nnow", 3.2))
    assert capsys.readouterr().err.count("\n") == 1
