"""A graph that several processes make is, to the last byte, the one that one process makes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragways.core import children
from ragways.core.runtime import Progress
from ragways.index.build import build
from ragways.index.graph import updates, workers
from ragways.index.graph.claim_rows import unpacked_claims
from ragways.index.graph.layer import split
from tests.index.graph.graph_fakes import recipe, run, write

ARTICLES = {
    "Saltrey.wiki": (
        "{{Infobox island\n| name = Saltrey\n| capital = [[Gallow Quay]]\n| area = 12 km2\n}}\n"
        "'''Saltrey''' is an island. [[Oriel Tamsett]] built the Pier of Saltrey in 1884.\n"
        "{|\n! Year !! Keeper\n|-\n| 1901 || [[Bram Holt]]\n|}\n"
    ),
    "Isle of Salt.wiki": "#REDIRECT [[Saltrey]]",
    "Oriel Tamsett.wiki": "Oriel Tamsett (born 4 May 1850) was an engineer. Tamsett married Ilsabet Corran in 1880.",
    "Gallow Quay": "Gallow Quay is the capital of Saltrey. The Harbour Board (HB) of Gallow Quay owns the Pier.",
    "Ferry": "HB runs the ferry. Bram Holt, a keeper, worked with Tamsett. “The Long Tide” was written by Bram Holt.",
    "Pier (building)": "The Pier is a building. The pier was painted in 1902. A pier is long.",
    "Pier (film)": "The film Pier was directed by Ilsabet Corran. It was shown in Gallow Quay.",
    "1884": "1884 is a film. 1884 was directed by Ilsabet Corran.",
    "Night": "In the night Bram Holt left the Isle of Salt, and saw 1884 in 1884. HB paid for it.",
    "盐岛": "盐岛是一个岛。奥丽尔在盐岛工作。盐岛有一个码头，码头在盐岛的北边。",
    "broken": "A text with half of a pair: \ud83d. Ilsabet Corran wrote it.",
} | {
    f"Light {n}": f"Keeper {n} Holm kept Light {n} near Port Elm from {1800 + n}. Light {n} stands by Light {n // 2}."
    for n in range(150)
}  # fmt: skip
LAYERS = "vectors words graph communities"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", ARTICLES)


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """As of a large corpus: two processes make the graph, three documents at once. Which children were started."""
    started: list[list[Any]] = []
    real = children.Children.__init__

    def noting(self: children.Children, *given: Any) -> None:
        real(self, *given)
        started.append(self._children)

    monkeypatch.setattr(children.Children, "__init__", noting)
    monkeypatch.setattr(workers, "MANY", 1)
    monkeypatch.setattr(workers, "_AT_ONCE", 3)
    monkeypatch.setattr(updates, "_IN_MEMORY", 0)
    return started


def state(index: Path) -> dict[str, object]:
    """All rows of the store, and all derived files."""
    with closing(sqlite3.connect(index / "index.sqlite")) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, object] = {
            name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names if name != "sources"
        }
    return found | {str(path.relative_to(index)): path.read_bytes() for path in (index / "derived").rglob("*.npy")}


def made(place: Path, corpus: Path, **settings: Any) -> dict[str, object]:
    run(place, corpus, recipe(settings, layers=LAYERS))
    return state(place)


@pytest.mark.parametrize("settings", [{}, {"structure": False}, {"apart": [["HB", "Harbour Board"]]}])
def test_several_processes_make_the_same_graph(
    tmp_path: Path, corpus: Path, several: list[list[Any]], settings: dict[str, Any]
):
    alone = made(tmp_path / "alone", corpus, processes=1, **settings)
    assert not several
    together = made(tmp_path / "together", corpus, processes=2, **settings)
    assert [len(each) for each in several] == [2]
    assert together == alone
    # Of each pass something is there that the next ones go by.
    claims = alone["graph_claims"]
    assert {claim for row in claims for claim in unpacked_claims(*row)} == set("suaiyk")  # type: ignore[attr-defined]
    reasons = {row[2] for row in alone["graph_merges"]}  # type: ignore[attr-defined]
    assert reasons >= {"redirect", "short form"} | ({"acronym"} if not settings.get("apart") else set())
    assert len(alone["graph_entities"]) > 300  # type: ignore[arg-type]


def test_nothing_of_them_is_left(tmp_path: Path, corpus: Path, several: list[list[Any]]):
    made(tmp_path / "index", corpus, processes=2)
    assert all(child.poll() is not None for child in several[0])
    assert [path.name for path in (tmp_path / "index" / "derived").iterdir()] == ["1"]
    assert not list((tmp_path / "index").rglob("names.sqlite*"))


def test_a_process_that_is_killed_changes_nothing(tmp_path: Path, corpus: Path, several: list[list[Any]]):
    alone = made(tmp_path / "alone", corpus, processes=1)
    killed: list[int] = []

    def progress(said: Progress) -> None:
        """One goes while documents are read, the other while names are compared."""
        for stage, child in (("finding facts", 0), ("comparing names", 1)):
            if said.stage == stage and several and len(killed) == child:
                os.kill(several[0][child].pid, signal.SIGKILL)
                killed.append(child)

    job = build(tmp_path / "together", [corpus], recipe({"processes": 2}, layers=LAYERS), progress=progress)
    asyncio.run(job)
    assert killed == [0, 1]
    assert state(tmp_path / "together") == alone


def test_a_changed_setting_has_documents_thought_over_and_not_read(
    tmp_path: Path, corpus: Path, several: list[list[Any]], monkeypatch: pytest.MonkeyPatch
):
    for place, processes in (("together", 2), ("alone", 1)):
        made(tmp_path / place, corpus, processes=processes)
        split(tmp_path / place, "HB", "Harbour Board")
    read: list[object] = []
    monkeypatch.setattr(workers.GraphWorkers, "read", lambda *_: read.append(1))
    again = [made(tmp_path / place, corpus, processes=n) for place, n in (("together", 2), ("alone", 1))]
    assert (len(several), read) == (2, [])
    assert again[0] == again[1]


def test_how_many_processes_is_not_kept_with_the_index(tmp_path: Path, corpus: Path):
    made(tmp_path / "index", corpus, processes=1)
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite")) as db:
        kept = dict(db.execute("SELECT key, value FROM meta"))
    assert "processes" not in json.loads(kept["settings:graph"]) | json.loads(kept["layer_settings"])["graph"]
    done = run(tmp_path / "index", corpus, recipe({"processes": 3}, layers=LAYERS))
    assert not done.touched
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite")) as db:
        assert dict(db.execute("SELECT key, value FROM meta")) == kept


def test_a_small_corpus_starts_none(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "Children", None)
    made(tmp_path / "index", corpus, processes=4)
