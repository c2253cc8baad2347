"""Runs and openings cost what they change or read: no more steps of SQLite where the corpus is ten times larger."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragways.core.errors import WrongVersion
from ragways.index import array_tables
from ragways.index.build import build, remove
from ragways.index.communities import finding
from ragways.index.folder import FORMAT, writing
from ragways.index.graph import kept_facts, tables
from ragways.index.reader import Index
from tests.fakes import recipe, write
from tests.index.whole import whole

LAYERS = frozenset({"words"})
SMALL, LARGE = 40, 400


@contextmanager
def steps() -> Iterator[list[int]]:
    """Counts the instructions that SQLite carries out for all connections of the process, by tens."""
    counted = [0]
    real = sqlite3.connect

    def step() -> int:
        counted[0] += 1
        return 0

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = real(*args, **options)
        db.set_progress_handler(step, 10)
        return db

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect)
        yield counted


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two corpora with their indexes."""
    made = []
    for size in (SMALL, LARGE):
        home = tmp_path_factory.mktemp(f"of {size}")
        write(home / "docs", {f"{n}.md": f"# Ship {n}\n\nShip {n} lay in harbour {n % 7}.\n" for n in range(size)})
        asyncio.run(build(home / "index", [home / "docs"], recipe(layers=LAYERS)))
        made.append(home)
    return made


def _add(home: Path) -> None:
    file = home / "docs" / "more.md"
    file.write_text("# More\n\nOne more ship.\n")
    asyncio.run(build(home / "index", [file], recipe(layers=LAYERS)))


def _change(home: Path) -> None:
    file = home / "docs" / "3.md"
    file.write_text("# Ship 3\n\nShip 3 was lost.\n")
    asyncio.run(build(home / "index", [file], recipe(layers=LAYERS)))


def _remove(home: Path) -> None:
    asyncio.run(remove(home / "index", ["docs/5.md"]))


def _name_what_is_there(home: Path) -> None:
    asyncio.run(build(home / "index", [home / "docs" / "1.md"], recipe(layers=LAYERS)))


def _open(home: Path) -> None:
    with closing(Index.open(home / "index")) as index:
        assert index.pieces(id for id, _ in index.words.search("ship", 5))


@pytest.mark.parametrize("act", [_add, _change, _remove, _name_what_is_there, _open])
def test_sqlite_takes_no_more_steps_in_a_larger_index(homes: list[Path], act: Callable[[Path], None]):
    taken = []
    for home in homes:
        with steps() as counted:
            act(home)
        taken.append(counted[0])
    small, large = taken
    assert small > 0
    assert large < 1.2 * small + 10  # trees may be a level deeper


FEW_ROWS = {"meta", "sqlite_master", "graph_state", "graph_phrases", "community_released"}
"""Tables that do not grow with the corpus, or hardly."""
OF_WHAT_IS_OWED = {"reports_without_vector", "communities_owed", "graph_entity_texts_waiting"}
"""Indexes that hold only what a run has still to do."""


@contextmanager
def statements() -> Iterator[set[str]]:
    """Gathers what is asked of SQLite."""
    told = set[str]()
    real = sqlite3.connect

    class Noting(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            told.add(sql)
            return super().execute(sql, *values)

        def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
            told.add(sql)
            return super().executemany(sql, *values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *args, **options: real(*args, factory=Noting, **options))
        yield told


def test_no_statement_of_a_change_goes_through_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(finding, "SMALL", 0)
    monkeypatch.setattr(finding, "MUCH", 100)
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(array_tables, "_VALUES", (600, 600))
    texts = {f"{n}.md": f"# Ship {n}\n\nShip {n} met Otto Tamsett and Ship {n + 1} in Saltrey.\n" for n in range(30)}
    docs, layers = write(tmp_path / "docs", texts), frozenset({"vectors", "words", "graph", "communities"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=layers)))
    with statements() as told:
        for name, text in (("more.md", "# More\n\nShip 3 met Saltrey.\n"), ("3.md", "# Ship 3\n\nIt was lost.\n")):
            (docs / name).write_text(text)
            asyncio.run(build(tmp_path / "index", [docs / name], recipe(layers=layers)))
        asyncio.run(remove(tmp_path / "index", ["docs/5.md"]))
    explained, through = 0, list[tuple[str, str]]()
    with closing(sqlite3.connect(tmp_path / "index" / "index.sqlite")) as db:
        for sql in sorted(told):
            if not sql.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE")) or "count(*)" in sql:
                continue
            values = ["1"] * (len(set(re.findall(r"\?\d+", sql))) or sql.count("?"))
            try:
                plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
            except sqlite3.OperationalError:  # of the work cache, or of tables that are gone by now
                continue
            explained += 1
            for step in plan:
                words = step.split()
                small = words[1] in {*FEW_ROWS, "json_each", "CONSTANT"} or words[-1] in OF_WHAT_IS_OWED
                if words[0] == "SCAN" and not small and not re.search(r"LIMIT 1\b", sql):
                    through.append((step, sql))
    assert not through
    assert explained > 100


@pytest.mark.parametrize("layer", ["graph", "words"])
def test_derived_files_that_may_not_be_taken_over_do_not_have_the_graph_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layer: str
):
    """It is in the store: for another format, or a damaged file, files are made anew and no text is read."""
    texts = {f"{n}.md": f"# Ship {n}\n\nShip {n} met Otto Tamsett and Ship {n + 1} in Saltrey.\n" for n in range(30)}
    docs, layers = write(tmp_path / "docs", texts), frozenset({"vectors", "words", "graph", "communities"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=layers)))
    derived = tmp_path / "index" / "derived" / "1"
    if layer == "graph":
        (derived / f"format-{FORMAT}").rename(derived / "format-1")
    else:
        (derived / "words" / "1" / "rows.npy").write_bytes(b"damaged")
    (docs / "more.md").write_text("# More\n\nOtto Tamsett met Ship 3 in Saltrey.\n")
    with monkeypatch.context() as patch:
        patch.setattr(kept_facts, "_read_all", None)
        patch.setattr(finding, "SMALL", 0)
        patch.setattr(finding, "MUCH", 100)
        patch.setattr(finding, "_changed", None)  # communities rest on these files, and are found anew
        asyncio.run(build(tmp_path / "index", [docs], recipe(layers=layers)))
    asyncio.run(build(tmp_path / "anew", [docs], recipe(layers=layers)))
    grown, anew = (whole(tmp_path / name) for name in ("index", "anew"))
    del grown["index.sqlite/community_released"]  # what a run that only adds leaves to be forgotten
    assert grown == {name: held for name, held in anew.items() if name in grown}
    assert anew.keys() - grown.keys() == {"index.sqlite/community_released"}


def test_a_patch_has_what_differs_and_not_all_that_was_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    texts = {f"{n}.md": f"# Ship {n}\n\nShip {n} met Otto Tamsett and Ship {n + 1} in Saltrey.\n" for n in range(30)}
    docs = write(tmp_path / "docs", texts)
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=frozenset({"words", "graph"}))))
    (docs / "more.md").write_text("# More\n\nShip 3 met Otto Tamsett and Ship 4 in Saltrey.\n")
    asyncio.run(build(tmp_path / "index", [docs / "more.md"], recipe(layers=frozenset({"words", "graph"}))))
    (folder,) = (each for each in (tmp_path / "index" / "derived").iterdir() if each.name == "2")
    assert len(np.load(folder / "graph-names-lengths-cells.patch.npy")) == 1, "only the new article's own name came"
    assert len(np.load(folder / "graph-relations-ids-cells.patch.npy")) < 8
    assert not (folder / "graph-words-rows-gone.patch.npy").exists()


def test_more_names_than_there_is_room_for_have_all_arrays_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An article of `Alder Bay, Norland` brings two names and one entity, so room for names is the first to end."""
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(kept_facts, "_MUCH", 0)
    monkeypatch.setattr(array_tables, "_ROWS", (16, 64))
    texts = {f"{n}.md": f"# Ship {n}\n\nShip {n} met Otto Tamsett and Ship {n + 1} in Saltrey.\n" for n in range(30)}
    docs, graph = write(tmp_path / "docs", texts), frozenset({"words", "graph"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=graph)))
    for tree in ("Alder", "Birch", "Cedar", "Elder", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine"):
        (docs / f"{tree}.md").write_text(f"# {tree} Bay, Norland\n\nIt was quiet there.\n")
        asyncio.run(build(tmp_path / "index", [docs / f"{tree}.md"], recipe(layers=graph)))
    asyncio.run(build(tmp_path / "anew", [docs], recipe(layers=graph)))
    with closing(Index.open(tmp_path / "index")) as index:
        assert [index.graph.entities([id])[id].name for id in index.graph.named("Pine Bay")] == ["Pine Bay, Norland"]
        assert index.graph.counts() == _counts(tmp_path / "anew")


def _counts(folder: Path) -> dict[str, int]:
    with closing(Index.open(folder)) as index:
        return index.graph.counts()


def test_a_graph_of_an_earlier_format_is_told_while_it_cannot_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.05)
    docs = write(tmp_path / "docs", {"a.md": "# Ship\n\nThe Ship met Otto Tamsett in Saltrey.\n"})
    asyncio.run(build(tmp_path / "index", [docs], recipe(layers=frozenset({"words", "graph"}))))
    derived = tmp_path / "index" / "derived" / "1"
    (derived / f"format-{FORMAT}").rename(derived / "format-1")
    (derived / "graph-nodes-links-marks.npy").rename(derived / "graph-nodes-links-weights.npy")
    with writing(tmp_path / "index", rebuild=False), closing(Index.open(tmp_path / "index")) as index:
        assert index.words.search("ship", 5), "the rest is as it was"
        with pytest.raises(WrongVersion, match="another version"):
            _ = index.graph
    with closing(Index.open(tmp_path / "index")) as index:
        assert len(index.graph.passages)
