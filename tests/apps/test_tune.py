"""`ragways tune`: questions on one's own corpus, arms tried on them, and a router by which `auto` then goes."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

from ragways.evaluation.record import Records
from ragways.settings import Settings
from ragways.store.place import claim
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run, one_line
from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture

ARMS = "words[k=1],words[k=6]"


@pytest.fixture
def index(ragways: Run, home: Path, demo_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    """An index of the bundled corpus without a graph, so that looks are quick, and a cache of its own for runs."""
    claim(home / "index")
    shutil.copyfile(demo_settings.cache / "demo-vectors.sqlite", home / "index" / "work_cache.sqlite")
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        assert ragways("index", str(demo / "corpus"), "--index", "index").code == 0
    monkeypatch.setenv("RAGWAYS_CACHE", str(home / "cache"))
    return home / "index"


def test_where_no_gain_is_shown_auto_stays_as_it_was(ragways: Run, home: Path, index: Path):
    explain = ("route", "explain", "Who designed the Pell Rock Lighthouse?", "--index", "index", "--json")
    before = ragways(*explain).data
    tuned = ("tune", "--index", "index", "--count", "4", "--arms", ARMS)
    done = ragways(*tuned, "--json")
    assert done.code == 0, done.err
    found = done.data
    assert found["file"] == ""
    assert ragways(*explain).data == before
    assert found["quality"] == "all-evidence"
    assert {one["arm"] for one in found["arms"]} == {*ARMS.split(","), "abstain"}
    run = Path(found["run"])
    assert run.is_relative_to(home / "cache" / "tuning")
    asked = [json.loads(line) for line in (run / "questions.jsonl").read_text().splitlines()]
    records = list(Records(run))
    assert len(records) == 2 * len(asked) >= 40
    assert sum(one["questions"] for one in found["types"]) == found["questions"]
    for one in found["types"]:
        assert one["quality"] - 0.01 * one["cost"] / 1000 >= (
            one["fixed_quality"] - 0.01 * one["fixed_cost"] / 1000 - 1e-9
        )
    again = ragways(*tuned)
    assert len(list(Records(run))) == len(records), "nothing is asked twice"
    assert "which arm is best for which type of question" in again.out
    assert "too few to show a gain: routing is off" in again.out
    assert f"`auto` stays as it is (--out FILE writes this one all the same); its run is stored in {run}" in again.out
    assert not (index / "router.json").exists()
    assert f"wrote mine.json; its run is stored in {run}" in ragways(*tuned, "--out", "mine.json").out
    assert (home / "mine.json").is_file()


def test_a_corpus_is_tuned_in_one_command_and_auto_goes_by_it(ragways: Run, home: Path, index: Path):
    asked = resources.files("ragways").joinpath("demo/questions.jsonl").read_text().splitlines()
    rows = [{**json.loads(line), "id": f"{n}"} for n, line in enumerate(2 * asked)]
    (home / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tuned = ("tune", "--index", "index", "--questions", "questions.jsonl", "--arms", ARMS, "--tolerance", "1")
    done = ragways(*tuned, "--json")
    assert done.code == 0, done.err
    assert done.data["file"] == str(Path("index") / "router.json")
    explained = ragways("route", "explain", "Who designed the Pell Rock Lighthouse?", "--index", "index", "--json").data
    assert explained["router"] == str(Path("index") / "router.json")
    assert explained["decision"]["arm"] in (*ARMS.split(","), "abstain")
    ragways(*tuned, "--out", "mine.json")
    assert (home / "mine.json").read_bytes() == (index / "router.json").read_bytes()


def test_a_plan_says_what_would_be_asked_and_does_nothing(
    ragways: Run, home: Path, index: Path, monkeypatch: pytest.MonkeyPatch
):
    (home / "ragways.toml").write_text("[prices.loopback]\ninput = 1.0\noutput = 2.0\n")
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        done = ragways("tune", "--plan", "--index", "index", "--count", "1", "--json", "--arms",
                       "words[k=2],words[k=20],agent-graph,llm-only")  # fmt: skip
        assert not server.requests
    plan = done.data
    arms = {one["arm"]: one for one in plan["arms"]}
    few, many, agent, alone = (arms[name] for name in ("words[k=2]", "words[k=20]", "agent-graph", "llm-only"))
    assert few["calls"] == many["calls"] == alone["calls"] == plan["questions"]
    assert few["input"] < many["input"]
    assert alone["input"] < few["input"]
    assert agent["calls"] == 10 * plan["questions"], "all its rounds"
    assert many["usd"] == pytest.approx((many["input"] + 2 * many["output"]) / 1e6)
    assert plan["usd"] == pytest.approx(sum(one["usd"] for one in arms.values()))
    assert "write and check the questions" in plan["unasked"]
    assert not (home / "cache" / "tuning").exists()
    assert not (index / "router.json").exists()


def test_a_budget_is_held_and_what_was_asked_is_kept(indexed: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGWAYS_CACHE", str(home / "cache"))
    (home / "ragways.toml").write_text("[prices.loopback]\ninput = 1.0\noutput = 2.0\n")
    rows = [{"question": f"Who built the light {n}?", "answers": ["loopback"], "id": str(n)} for n in range(20)]
    (home / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tuned = ("tune", "--questions", "questions.jsonl", "--arms", "words[k=1],llm-only")
    with LoopbackServer() as server:
        monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", server.base_url)
        monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
        one_line(indexed(*tuned, "--budget", "0.006"), 5, "raise the budget and run again")
        first = len(server.requests)
        assert 0 < first < 40
        done = indexed(*tuned)
        assert len(server.requests) == 40, "what was asked is not asked again"
    assert done.code == 2, "the server knows nothing"
    assert "nothing to learn" in done.err
    assert not (home / ".ragways" / "router.json").exists()


def test_the_usual_arms_are_those_that_the_layers_and_the_model_allow(
    indexed: Run,
    home: Path,
    demo_settings: Settings,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
):
    def arms(index: str) -> list[str]:
        questions = home / "questions.jsonl"
        questions.write_text('{"question": "Who built the harbour light?", "answers": ["Anna Brack"]}\n')
        done = indexed("tune", "--plan", "--questions", str(questions), "--index", index, "--json")
        assert done.code == 0, done.err
        return [one["arm"] for one in done.data["arms"]]

    assert arms(".ragways") == [f"hybrid-words[k={k}]" for k in (3, 10, 30)]
    assert arms(str(demo_settings.index)) == [*(f"fused[k={k}]" for k in (3, 10, 30)), "community-global"]
    shown = indexed("tune", "--plan", "--questions", "questions.jsonl")
    assert "3 answers, $0.0000 at most; nothing was done" in shown.out
    monkeypatch.setenv("RAGWAYS_MODEL__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RAGWAYS_MODEL__NAME", "loopback")
    assert arms(".ragways") == [
        *(f"hybrid-words[k={k}]" for k in (3, 10, 30)), "recursive", "agent-graph", "llm-only",
    ]  # fmt: skip


def test_what_cannot_be_tuned_is_said_and_nothing_is_written(indexed: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGWAYS_CACHE", str(home / "cache"))
    questions = home / "questions.jsonl"
    rows = [{"question": f"Who built the light {n}?", "answers": ["Anna Brack"], "id": str(n)} for n in range(20)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    two = ("tune", "--questions", "questions.jsonl", "--arms", "words[k=20],words[k=30]")
    one_line(indexed("tune", "--arms", "words"), 2, "there is one method only (words)")
    one_line(indexed("tune", "--arms", "words,auto"), 2, "auto is what is tuned")
    one_line(indexed("tune", "--arms", "words,fused"), 3, "graph")
    one_line(indexed("tune", "--arms", "words,wrods"), 2, "did you mean words")
    one_line(indexed(*two, "--quality", "acuracy"), 2, "accuracy")
    one_line(indexed("tune", "--questions", "nowhere.jsonl", *two[3:]), 2, "nowhere.jsonl")
    few = home / "few.jsonl"
    few.write_text(questions.read_text().partition("\n")[0] + "\n")
    one_line(indexed("tune", "--questions", "few.jsonl", *two[3:]), 2, "1 question is too few")
    one_line(indexed(*two), 2, "all-evidence is unscored in every record (no gold evidence)")
    assert not (home / ".ragways" / "router.json").exists()
