"""`ragways check`, `ragways diagnose` and the status of layers, as a user meets them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ragways.apps import index as commands
from ragways.core.errors import NoIndex, UsageError
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.status import bytes_on_disk, layer_status
from ragways.index.views import LIST, published
from ragways.store.cache import WorkCache
from tests.fakes import recipe, write

DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne.\n",
    "port.md": "# Port Averne\n\nPort Averne is on the Lanner Sound. Anna Brack saw it.\n",
}

app = typer.Typer()
app.command()(commands.check)
app.command()(commands.diagnose)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    layers = frozenset({"vectors", "words", "graph"})
    docs = write(tmp_path / "docs", DOCS)
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=layers, settings={"graph": {}})))
    return tmp_path / "index"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_a_sound_index_is_fit(index: Path):
    done = run("check", "--index", str(index))
    assert done.exit_code == 0, done.output
    assert "fit; 0 errors" in done.output
    data = json.loads(run("check", "--index", str(index), "--json").output)
    assert data["fit"] is True
    assert data["figures"]["entities"] > 0


def test_check_prints_how_many_of_the_nearest_a_search_finds(index: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.layers.vectors.recall", lambda _: 0.9931)
    assert (
        "recall@10 of a search by meaning against an exact one: 0.993\n" in run("check", "--index", str(index)).output
    )


def test_an_index_that_is_not_fit_exits_with_3(index: Path):
    db = sqlite3.connect(index / "index.sqlite")
    db.execute("UPDATE sections SET end = 100000")
    db.commit()
    db.close()
    done = run("check", "--index", str(index))
    assert done.exit_code == 3
    assert "not fit" in done.output
    assert "parts outside their document's text" in done.output
    data = json.loads(run("check", "--index", str(index), "--json").output)
    assert data["fit"] is False
    assert {"name", "severity", "count", "example", "cure"} == data["findings"][0].keys()


def test_no_index(tmp_path: Path):
    for command in ("check", "diagnose"):
        assert isinstance(run(command, "--index", str(tmp_path)).exception, NoIndex)


def test_diagnose_prints_and_keeps_the_figures(index: Path, tmp_path: Path):
    done = run("diagnose", "--index", str(index), "--out", str(tmp_path / "figures.json"))
    assert done.exit_code == 0, done.output
    for said in ("density", "intrinsic dimension", "hubness", "centroid", "all 2"):
        assert said in done.output
    kept = json.loads((index / "diagnosis.json").read_text())
    with closing(Index.open(index)) as opened:
        assert kept["generation"] == opened.generation
    assert kept["structure"]["nodes"] > 2
    assert kept["texts"]["documents"] == 2
    assert "mean tokens of a passage" in done.output
    assert json.loads((tmp_path / "figures.json").read_text())["structure"] == kept["structure"]
    shown = json.loads(run("diagnose", "--index", str(index), "--json").output)
    assert shown["meaning"] == kept["meaning"]


def test_diagnose_says_what_is_not_built(tmp_path: Path):
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", DOCS)], recipe()))
    done = run("diagnose", "--index", str(tmp_path / "index"))
    assert "not built, run ragways index PATH --with graph" in " ".join(done.output.split())


def test_a_place_that_cannot_be_written(index: Path, tmp_path: Path):
    done = run("diagnose", "--index", str(index), "--out", "/dev/null/figures.json")
    assert isinstance(done.exception, UsageError)


def test_the_status_of_layers(index: Path):
    found = {layer.name: layer for layer in layer_status(index)}
    assert list(found)[:3] == ["structure", "vectors", "words"]
    assert (found["structure"].rows, found["vectors"].rows, found["words"].rows) == (2, 2, 2)
    assert found["graph"].rows > 2
    for layer in ("structure", "vectors", "words", "graph"):
        assert found[layer].built
        assert found[layer].bytes > 0
        assert found[layer].built_at.startswith("20")
        assert found[layer].failures == 0
    views = published(index)
    assert views is not None
    files = [file for file in views.folder.rglob("*") if file.is_file() and file.name != LIST]
    sizes = sum(layer.bytes for name, layer in found.items() if name != "structure")
    assert sizes == sum(file.stat().st_size for file in files), "every file of a view belongs to one layer"


def test_holes_and_shared_files_take_no_room(tmp_path: Path):
    one = tmp_path / "one"
    one.write_bytes(b"x" * 10_000)
    os.truncate(one, 10_000_000)
    os.link(one, tmp_path / "the same")
    assert 10_000 <= bytes_on_disk(tmp_path.rglob("*")) < 100_000


def test_failures_are_counted_with_their_layer(index: Path):
    work_cache = WorkCache(index)
    work_cache.keep_failure("facts:model-x", "one", "no JSON")
    work_cache.keep_failure("facts:model-x", "two", "no JSON")
    work_cache.close()
    assert {layer.name: layer.failures for layer in layer_status(index)}["graph"] == 2


def test_layers_that_are_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", DOCS)], recipe()))
    graph = {layer.name: layer for layer in layer_status(tmp_path / "index")}["graph"]
    assert (graph.built, graph.rows, graph.bytes, graph.built_at) == (False, 0, 0, "")
    shutil.rmtree(tmp_path / "index" / "views")
    assert not {layer.name: layer for layer in layer_status(tmp_path / "index")}["vectors"].built
