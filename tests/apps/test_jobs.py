"""Units of work: what each layer cost and could not do, how the command says so, and that nothing of a text stays."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragways.index.run import IndexRun
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run
from tests.apps.test_plan import LAYERS, reply, settings, texts
from tests.fakes import write
from tests.index.builds import contents, unlike

BAD = "# Ghost\n\nThe Marrowgate ghost was seen by Piet Vane at Tollen in 1899.\n"


def rather_not(body: Mapping[str, object]) -> str:
    """Malformed for whatever shows the ghost."""
    return '{"entities": <<' if "Marrowgate" in json.dumps(body["messages"]) else reply(body)


def rows(index: Path, query: str) -> list[tuple[object, ...]]:
    db = sqlite3.connect(index / "work_cache.sqlite")
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def test_status_tells_what_each_layer_cost(ragways: Run, home: Path):
    write(home / "docs", texts(20))
    with LoopbackServer(reply) as server:
        (home / "ragways.toml").write_text(settings(server))
        used = ragways("index", "docs", "--with", LAYERS, "--json").data["usage"]
        layers = {layer["name"]: layer for layer in ragways("status", "--json").data["by_layer"]}
        for name in ("vectors", "windows", "graph", "communities"):
            assert layers[name]["spent"]["calls"] > 0, name
            assert layers[name]["spent"]["usd"] > 0, name
            assert layers[name]["spent"]["seconds"] > 0, name
            assert layers[name]["built_at"].startswith("20")
        assert layers["words"]["spent"]["calls"] == 0
        for figure in ("calls", "input", "output", "usd"):
            assert sum(layer["spent"][figure] for layer in layers.values()) == pytest.approx(used[figure]), figure
        shown = ragways("status").out
        assert "cost so far" in shown
        assert f"${layers['graph']['spent']['usd']:.4f}" in shown
        before = rows(home / ".ragways", "SELECT * FROM spent")
        assert ragways("index", "docs", "--with", LAYERS, "--json").data["usage"]["calls"] == 0
        assert rows(home / ".ragways", "SELECT * FROM spent") == before


def test_the_offline_embedder_costs_seconds(ragways: Run, home: Path):
    write(home / "docs", texts(3))
    ragways("index", "docs")
    layers = {layer["name"]: layer for layer in ragways("status", "--json").data["by_layer"]}
    assert layers["vectors"]["spent"]["seconds"] > 0
    assert layers["vectors"]["spent"]["usd"] == 0


def test_what_stays_malformed_is_listed_and_tried_again(ragways: Run, home: Path):
    write(home / "docs", texts(20) | {"ghost.md": BAD})
    with LoopbackServer(rather_not) as server:
        (home / "ragways.toml").write_text(settings(server))
        done = ragways("index", "docs", "--with", "vectors,words,graph", "--json")
        assert (done.code, done.data["undone"]) == (6, 1)
        said = ragways("index", "docs", "--with", "vectors,words,graph")
        assert said.code == 6
        assert "not done: 1 unit of work, to be tried again on the next run" in said.out
        assert "the first because: facts: model" in said.out
        assert "gave no usable reply" in done.data["why"]
        [(tries, error, said_so)] = rows(home / ".ragways", "SELECT tries, error, reply FROM failures")
        assert tries == 2
        assert "no usable reply" in str(error)
        assert "<<" in str(said_so)
        [graph] = [layer for layer in ragways("status", "--json").data["by_layer"] if layer["name"] == "graph"]
        assert graph["failures"] == 1
        assert "graph is not whole: 1 unit of work not done; run again: ragways index PATH" in ragways("status").out
        assert any("failed work" in finding["name"] for finding in ragways("check", "--json").data["findings"])
    with LoopbackServer(reply) as server:
        (home / "ragways.toml").write_text(settings(server))
        healed = ragways("index", "docs", "--with", "vectors,words,graph", "--json")
        assert (healed.code, healed.data["undone"], server.count) == (0, 0, healed.data["usage"]["calls"])
        assert rows(home / ".ragways", "SELECT * FROM failures") == []
        ragways("index", "docs", "--with", "vectors,words,graph", "--index", "fresh")
    assert unlike(contents(home / "fresh"), contents(home / ".ragways")) == []


def no_reports(body: Mapping[str, object]) -> str:
    """No report that can be read."""
    said = reply(body)
    return "no report today" if "findings" in said else said


def test_reports_are_written_though_views_were_published_in_mid_run(
    ragways: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """As by a model that takes longer than views wait."""
    write(home / "docs", texts(20))
    with LoopbackServer(reply) as server:
        (home / "ragways.toml").write_text(settings(server))
        assert ragways("index", "docs", "--with", "words,graph,communities", "--index", "quick").code == 0
        monkeypatch.setattr(IndexRun, "_pause", property(lambda run: 0.0, lambda run, seconds: None), raising=False)
        assert ragways("index", "docs", "--with", "words,graph,communities", "--index", "slow").code == 0
    assert [row[:2] for row in rows(home / "slow", "SELECT kind, calls FROM spent")] == [
        row[:2] for row in rows(home / "quick", "SELECT kind, calls FROM spent")
    ]
    assert unlike(contents(home / "slow"), contents(home / "quick")) == []


def test_reports_that_could_not_be_read_are_named_and_made_by_the_next_run(ragways: Run, home: Path):
    write(home / "docs", texts(20))
    layers = "words,graph,communities"
    with LoopbackServer(no_reports) as server:
        (home / "ragways.toml").write_text(settings(server))
        done = ragways("index", "docs", "--with", layers, "--json")
        assert done.code == 6
        undone = done.data["undone"]
        assert undone > 0
    [status] = [layer for layer in ragways("status", "--json").data["by_layer"] if layer["name"] == "communities"]
    assert status["failures"] == undone
    assert "communities is not whole" in ragways("status").out
    checked = ragways("check", "--json")
    [finding] = [one for one in checked.data["findings"] if one["name"] == "work of communities that is not done"]
    assert (checked.code, finding["severity"], finding["count"]) == (3, "error", undone)
    with LoopbackServer(reply) as server:
        (home / "ragways.toml").write_text(settings(server))
        assert ragways("index", "docs", "--with", layers, "--plan", "--json").data["model_calls"] == undone
        assert ragways("index", "docs", "--with", layers).code == 0
        assert server.count == undone
    assert "not whole" not in ragways("status").out
    assert ragways("check").code == 0


def test_removal_leaves_nothing_of_a_text_in_any_table(ragways: Run, home: Path):
    write(
        home / "docs", texts(20) | {"ghost.md": BAD, "other.md": BAD.replace("Ghost", "Other").replace("1899", "1900")}
    )
    with LoopbackServer(rather_not) as server:
        (home / "ragways.toml").write_text(settings(server))
        assert ragways("index", "docs", "--with", LAYERS).code == 6
        (home / "docs" / "other.md").unlink()
        (home / "docs" / "ghost.md").unlink()
        assert ragways("index", "docs", "--with", LAYERS, "--erase").code == 0
    assert rows(home / ".ragways", "SELECT * FROM spent")
    for file in (home / ".ragways").rglob("*"):
        if file.is_file():
            assert b"Marrowgate" not in file.read_bytes(), file


MERGED = {
    "light.md": "# Harbour Light\n\nThe Harbour Light was built by Anna Brack. Brack died in 1840 in Port Averne.\n",
    "storm.md": "# Storm\n\nThe storm of 1883 was seen by Carl Dorn. Dorn wrote to Anna Brack.\n",
}


def test_merges_are_listed_and_can_be_split(ragways: Run, home: Path):
    write(home / "docs", MERGED)
    layers = ("--with", "graph")
    assert ragways("index", "docs", *layers).code == 0
    merges = ragways("graph", "merges", "--json").data
    pairs = {(merge["name"], merge["into"]) for merge in merges}
    name, into = next((n, i) for n, i in pairs if n.casefold() == "brack")
    assert all(merge["reason"] and merge["documents"] >= 1 for merge in merges)
    assert "short form" in ragways("graph", "merges").out
    assert ragways("graph", "show", "Brack", "--json").data["nodes"][0]["name"] == "Anna Brack"

    done = ragways("graph", "split", "Brack", "Anna Brack")
    assert done.code == 0
    assert "after the next run of: ragways index" in done.out
    assert ragways("graph", "show", "Brack", "--json").data["nodes"][0]["name"] == "Anna Brack"
    assert ragways("index", "docs", *layers).code == 0
    assert ragways("graph", "show", "Brack", "--json").data["nodes"][0]["name"] == "Brack"
    after = {(merge["name"], merge["into"]) for merge in ragways("graph", "merges", "--json").data}
    assert after == pairs - {(name, into)}
    wrong = ragways("graph", "split", "Brack", "Anna Brack")
    assert wrong.code == 2
    assert "ragways graph merges" in wrong.err
