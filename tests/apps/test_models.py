"""The command line with models that misbehave: an answer all the same, and a line that says what went wrong."""

from __future__ import annotations

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
    with LoopbackServer(lambda _: "Anna Brack built it. [1]", forms=(), refuses=("tools",)) as server:
        point_at(server)
        done = indexed("ask", QUESTION, "--json")
        assert (done.code, done.err) == (0, "")
        assert done.data["answer"] == "Anna Brack built it. [1]"
        assert done.data["citations"][0]["quote"] == "The harbour light was built by Anna Brack in 1801."
        assert done.data["way"] == "model loop"


def test_a_model_that_cannot_answer_costs_no_evidence(indexed: Run):
    with LoopbackServer(lambda _: "<think>hm</think>") as server:
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
    reply = "Anna Brack. [1]"
    with LoopbackServer(lambda _: reply, faults=[Fault("down", seconds=7, requests=1)]) as server:
        point_at(server)
        done = indexed("ask", QUESTION)
        one_line(done, 0, "model loop: 503: down for a while; waiting 7 s")
    with LoopbackServer(lambda _: reply, faults=[Fault("down", seconds=7, requests=1)]) as server:
        point_at(server)
        done = indexed("ask", "When was the harbour light built?", "--quiet")
        assert (done.code, done.err) == (0, "")
    assert slept == [7.0, 7.0]


def test_what_a_server_says_of_a_wait_is_made_printable(capsys: pytest.CaptureFixture[str]):
    from ragways.apps.terminal import show_wait

    show_wait(Wait("model m", "503: \x1b[2J\nnow", 3.2))
    assert capsys.readouterr().err.count("\n") == 1


def test_model_check_says_how_to_set_a_model(ragways: Run):
    done = ragways("model", "check")
    assert done.code == 4
    assert done.err.count("\n") == 4
    assert "--provider" in done.err


def test_model_check_prints_what_works_and_what_it_cost(ragways: Run, monkeypatch: pytest.MonkeyPatch):
    with LoopbackServer(refuses=["temperature"]) as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        done = ragways("model", "check", "--provider", "lmstudio", "--model", "loop")
        assert done.code == 0
        for words in ("JSON by schema", "streaming", "embeddings", "8 numbers a text", "no temperature", "calls"):
            assert words in done.out
        data = ragways("model", "check", "--provider", "lmstudio", "--model", "loop", "--json").data
        assert data["remembered"]["temperature"] is False
        assert data["provider"] == "lmstudio"
        assert {probe["name"]: probe["works"] for probe in data["probes"]}["embeddings"] is True
        assert data["usd"] is None, "nobody knows the price of a model of that name"
        forgot = ("model", "check", "--provider", "lmstudio", "--model", "loop", "--forget")
        assert (ragways(*forgot).out, ragways(*forgot).out[:7]) == ("forgotten\n", "nothing")


def test_model_check_looks_at_the_models_of_roles_too(ragways: Run, monkeypatch: pytest.MonkeyPatch):
    with LoopbackServer() as server, LoopbackServer(forms=["json_object"]) as other:
        for name, value in (("BASE_URL", server.base_url), ("NAME", "large"), ("SMALL__NAME", "little"),
                            ("EXTRACT__BASE_URL", other.base_url)):  # fmt: skip
            monkeypatch.setenv(f"RAGWAYS_MODEL__{name}", value)
        done = ragways("model", "check")
        assert done.code == 0, done.err
        assert f"model.small: little at {server.base_url}" in done.out
        data = ragways("model", "check", "--json").data
        assert (data["model"], data["roles"].keys()) == ("large", {"small", "extract"})
        assert data["roles"]["extract"]["model"] == "large", "what is not set is as in [model]"
        assert data["roles"]["extract"]["remembered"]["form"] == "tool"


def test_model_check_of_a_server_that_is_not_there(ragways: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", "http://127.0.0.1:9/v1")
    done = ragways("model", "check", "--model", "loop", "--json")
    assert done.code == 4
    assert "is the server running?" in done.data["probes"][0]["note"]
    assert done.data["remembered"] is None


def test_a_provider_that_nobody_knows_is_an_error(ragways: Run):
    one_line(ragways("model", "check", "--provider", "olama", "--model", "x"), 2, "model.provider")


@pytest.mark.parametrize("paradigm", ["agent-vector", "agent-graph", "iterative[base=naive]", "llm-only", "naive"])
def test_every_way_answers_with_a_server_that_gives_plain_text_only(indexed: Run, paradigm: str):
    """Tools and JSON are ignored: the endpoint neither refuses nor obeys them."""
    name, _, settings = paradigm.removesuffix("]").partition("[")
    if name == "iterative":
        assert indexed("index", "docs", "--with", "vectors,words,graph").code == 0
    with LoopbackServer(lambda _: "Anna Brack built it. [1]") as server:
        point_at(server)
        done = indexed("ask", QUESTION, "-p", name, *(["--set", settings] if settings else []), "--json")
    assert done.code == 0, done.err
    assert done.data["answer"] == "Anna Brack built it. [1]"
    assert done.data["way"] == "model loop"
    assert bool(done.data["citations"]) == (name != "llm-only")
