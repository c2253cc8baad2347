"""Runs and openings cost what they change or read: no more steps of SQLite where the corpus is ten times larger."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragways.index.build import build, remove
from ragways.index.reader import Index
from tests.fakes import recipe, write

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
