"""A layer that another package brings is built, planned, shown, set and read like those of ragways; runs report how far
they are, and cost what they change.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ragways.apps.settings_file import settings_text
from ragways.assemble import recipe_of
from ragways.core.errors import SettingsError, UsageError
from ragways.core.runtime import Progress, reported
from ragways.index.build import remove
from ragways.index.filtered import only
from ragways.index.open import Index
from ragways.index.plan import plan
from ragways.index.status import layer_status
from ragways.layers.table import LAYERS, check_layers, in_order
from ragways.settings import Settings, read_settings
from ragways.store.cache import WorkCache
from tests.fakes import recipe, write
from tests.index.builds import TEXTS, Notes, NotesSettings, notes, run

__all__ = ["notes"]
OURS = ["vectors", "words", "windows", "graph", "communities"]


def test_a_plug_in_is_in_the_table_behind_ours_and_brings_what_it_needs(notes: Notes):
    assert LAYERS.package_of("notes") == "ragways-notes"
    assert check_layers(["notes"]) == {"notes", "words"}
    assert [layer.name for layer in LAYERS.values()] == list(LAYERS) == [*OURS, "notes"]
    mixed = in_order(["notes", "communities", "words", "graph", "gone"])
    assert [layer.name for layer in mixed] == ["words", "graph", "communities", "notes"]


def test_a_plug_in_is_planned_and_its_status_has_rows_bytes_and_failures(tmp_path: Path, notes: Notes):
    docs, index, chosen = write(tmp_path / "docs", TEXTS), tmp_path / "index", check_layers(["notes"])
    planned = asyncio.run(plan(index, [docs], recipe(layers=chosen)))
    assert [(layer.name, layer.rows) for layer in planned.layers] == [("words", 5), ("notes", 5)]
    run(index, [docs], layers=chosen)
    with closing(WorkCache(index)) as cache:
        cache.keep_failure("note:one", "hash", "no luck")
    [status] = [each for each in layer_status(index) if each.name == "notes"]
    assert status.built
    assert (status.rows, status.failures) == (5, 1)
    assert status.bytes == (index / "views" / str(Index.open(index).generation) / "notes" / "notes.json").stat().st_size
    with closing(Index.open(index)) as opened:
        assert opened.layer("notes") is opened.layer("notes")
        with pytest.raises(UsageError, match="the layer 'notes' cannot be filtered"):
            only(opened, "has path").layer("notes")


def test_settings_of_a_plug_in_come_from_the_file_and_are_checked(tmp_path: Path, notes: Notes):
    settings = read_settings(environment={"RAGWAYS_LAYERS__NOTES__MARK": "- ", "HOME": str(tmp_path)})
    assert recipe_of(settings, frozenset({"notes"})).settings["notes"] == NotesSettings(mark="- ")
    for wrong, message in (({"mrak": "-"}, r"there is no setting layers\.notes\.mrak.*mark"), ({"upper": 7}, "upper")):
        with pytest.raises(SettingsError, match=message):
            recipe_of(Settings(layers={"notes": wrong}), frozenset())
    with pytest.raises(UsageError, match="there is no layer 'nots'"):
        recipe_of(Settings(layers={"nots": {}}), frozenset())
    assert "[layers.notes]\n" in settings_text()


@pytest.mark.parametrize("count", [0, 1, 200, 450])
def test_items_stay_and_the_last_report_is_how_many_there_were(count: int):
    reports: list[Progress] = []
    assert list(reported(reports.append, "x", iter(range(count)), count)) == list(range(count))
    assert reports[-1:] == [Progress("x", count, count)][: min(1, count)]
    assert all(after.done - before.done <= 200 for before, after in pairwise(reports))


def test_each_stage_of_a_run_is_counted_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.reading._OFTEN", 100)
    monkeypatch.setattr("ragways.index.run.BATCH", 200)
    text = "Keeper {0} Holm kept Light {0} near Port Elm. Light {0} stands by Light {1}."
    rows = [{"id": n, "title": f"Light {n}", "text": text.format(n, n // 2)} for n in range(450)]
    corpus = write(tmp_path / "corpus", {"rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    reports: list[Progress] = []
    layers = frozenset({"vectors", "words", "graph", "communities"})
    run(tmp_path / "index", [corpus], {"progress": reports.append}, layers=layers)
    notes = [each.note for each in reports if each.stage == "reading"]
    assert notes[-4:] == [f"corpus/rows.jsonl: {count} documents" for count in (100, 200, 300, 400)]
    assert {*(f"{name} view" for name in layers), "finding communities"} <= {each.stage for each in reports}
    for stage in ("graph", "reports by rules"):
        counts = [(each.done, each.total) for each in reports if each.stage == stage]
        assert counts[-1][0] == counts[-1][1] > 0, stage
    assert ("graph", 200, 450) in {(each.stage, each.done, each.total) for each in reports}


# What a run costs


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


def add(home: Path, turn: int) -> None:
    run(home / "index", [write(home / "docs", {f"more {turn}.md": "# More\n\nOne more ship.\n"}) / f"more {turn}.md"])


def edit(home: Path, turn: int) -> None:
    run(home / "index", [write(home / "docs", {f"{turn}.md": f"# Ship {turn}\n\nIt was lost.\n"}) / f"{turn}.md"])


def remove_one(home: Path, turn: int) -> None:
    asyncio.run(remove(home / "index", [f"docs/{50 + turn}.md"]))


def open_index(home: Path, turn: int) -> None:
    with closing(Index.open(home / "index")) as index:
        assert index.pieces(id for id, _ in index.words.search("ship", 5 + turn))


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two corpora with their indexes, the second seven times as large."""
    made = []
    for size in (100, 700):
        home = tmp_path_factory.mktemp(f"of {size}")
        write(home / "docs", {f"{n}.md": f"# Ship {n}\n\nShip {n} lay in harbour {n % 7}.\n" for n in range(size)})
        run(home / "index", [home / "docs"])
        made.append(home)
    return made


def steps_of(act: Callable[[Path, int], None], home: Path, turn: int) -> int:
    with steps() as counted:
        act(home, turn)
    return counted[0]


@pytest.mark.parametrize("act", [add, edit, remove_one, open_index])
def test_sqlite_takes_no_more_steps_in_a_larger_index(homes: list[Path], act: Callable[[Path, int], None]):
    """The least of three turns: now and then SQLite joins segments of the titles, as many as batches have left."""
    small, large = (min(steps_of(act, home, turn) for turn in range(3)) for home in homes)
    assert small > 0
    assert large < 2 * small + 10
