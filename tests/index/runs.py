"""Small indexes beside their files, and what a run does to them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from ragways.index.build import build, remove
from ragways.index.recipe import Summary
from ragways.layers.table import USUAL
from tests.fakes import Sections, recipe, write


def indexed(home: Path, files: Mapping[str, str], *layers: str, settings: Sections | None = None) -> Path:
    """An index of these files, in a folder `index` beside them; those that are there already stay."""
    docs = write(home / "docs", dict(files))
    how = recipe(settings=settings, layers=frozenset(layers) or USUAL)
    asyncio.run(build(home / "index", [docs], how))
    return home / "index"


def run(index: Path) -> Summary:
    """Bring an index of `indexed` up to date with its files."""
    return asyncio.run(build(index, [index.parent / "docs"], recipe(layers=frozenset())))


def removed(index: Path, *names: str) -> None:
    asyncio.run(remove(index, names))


def sql(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
