"""A new index gets a graph by itself where its corpus gains by one, and nowhere else."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ragways.index.build import build
from ragways.index.diagnosis import MANY, graph_pays
from ragways.index.plan import plan
from ragways.index.recipe import Summary
from ragways.store.store import Store
from tests.fakes import recipe

OPEN = replace(recipe(), graph_where_it_pays=True)
NAMED = frozenset({"vectors", "words", "graph"})


def corpus(folder: Path, name: str, text: str, count: int = MANY) -> Path:
    """Documents of one paragraph; `{}` in the text is the title of the one before."""
    file = folder / f"{name}.jsonl"
    rows = [{"title": f"Isle {n}", "text": text.format(f"Isle {n - 1}", n=n)} for n in range(count)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def layers(index: Path) -> frozenset[str]:
    store = Store.open(index)
    try:
        return frozenset(store.meta()["layers"].split())
    finally:
        store.close()


def run(index: Path, file: Path, how: object = OPEN) -> Summary:
    return asyncio.run(build(index, [file], how))  # type: ignore[arg-type]


def test_many_short_documents_that_name_each_other_get_a_graph_which_later_runs_keep(tmp_path: Path):
    index, file = tmp_path / "index", corpus(tmp_path, "isles", "It lies {n} miles from {} and has a tower.")
    assert "graph" in {layer.name for layer in asyncio.run(plan(index, [file], OPEN)).layers}
    summary = run(index, file)
    assert layers(index) == NAMED
    assert "graph built as well" in summary.chosen
    assert f"{MANY} documents of 1.0 passages, and 99% of its documents name another one" in summary.chosen
    file.write_text(file.read_text().replace("tower", "quay"), encoding="utf-8")
    again = run(index, file)
    assert (again.chosen, layers(index)) == ("", NAMED)
    store = Store.open(index)
    assert store.db.execute("SELECT count(*) FROM mentions WHERE name = 'isle 7'").fetchone()[0] > 0
    store.close()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It lies far from all others and has a tower.", MANY),
        ("It lies {n} miles from {} and has a tower.", MANY - 1),
        ("It lies {n} miles from {}.\n\n" + "\n\n".join(["A tower stands there. " * 60] * 4), MANY),
    ],
    ids=["naming none", "few", "long"],
)
def test_others_get_none(tmp_path: Path, text: str, count: int):
    index, file = tmp_path / "index", corpus(tmp_path, "isles", text, count)
    assert "graph" not in {layer.name for layer in asyncio.run(plan(index, [file], OPEN)).layers}
    assert run(index, file).chosen == ""
    assert layers(index) == frozenset({"vectors", "words"})
    assert run(index, corpus(tmp_path, "isles", "It lies {n} miles from {} and has a tower.")).chosen == ""
    assert layers(index) == frozenset({"vectors", "words"})


def test_layers_that_are_named_win(tmp_path: Path):
    index, file = tmp_path / "index", corpus(tmp_path, "isles", "It lies {n} miles from {} and has a tower.")
    assert run(index, file, recipe()).chosen == ""
    assert run(index, file).chosen == ""
    assert layers(index) == frozenset({"vectors", "words"})
    store = Store.open(index)
    assert graph_pays(store)
    store.close()
