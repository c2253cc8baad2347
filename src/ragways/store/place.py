"""Whose folder it is. ragways writes to, and deletes from, only a folder that it has marked as an index.

Indexes made before there was a mark are known by the tables of their store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Set
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from ragways.core.errors import StoreFailed
from ragways.store.database import store_errors

MARK = "ragways-index.txt"
PAGES = "pages"
"""Where the pages of web sites are kept that were fetched for an index."""
VIEWS = "views"
"""Where the views of the last generations are, each in a numbered folder."""
REBUILT = "rebuild"
"""Where an index is built anew, until it takes the place of the old one."""
LOCK = "index.lock"
_STORE = "index.sqlite"
_STORE_TABLES = frozenset({"meta", "documents"})
_SUFFIXES = ("", "-wal", "-shm", "-journal")
_OWN = frozenset(
    {
        MARK,
        LOCK,
        VIEWS,
        REBUILT,
        PAGES,
        "lexicon.sqlite.draft",
        *(f"{file}{end}" for file in (_STORE, "work_cache.sqlite", "lexicon.sqlite") for end in _SUFFIXES),
    }
)
_ELSEWHERE = "choose another folder with --index"
_TEXT = """This folder is an index of ragways, which replaces and deletes these things in it:
index.sqlite, work_cache.sqlite and lexicon.sqlite, what is named after them, the
numbered folders in views, rebuild, and what is in pages. It leaves everything else alone.
"""


def check_place(folder: Path) -> None:
    """Raise unless an index may be written to this folder: it is missing, empty, or an index already."""
    if folder.exists() and not folder.is_dir():
        raise StoreFailed(f"{folder} is a file, not a folder", _ELSEWHERE)
    check_parts(folder)
    with store_errors(folder / _STORE):
        names = {path.name for path in folder.iterdir()} if folder.exists() else set()
        derived = {path.name for path in (folder / VIEWS).iterdir()} if VIEWS in names else set()
    # Asked for after the listing: one that another process makes meanwhile may be listed in part, without its mark.
    if names and not (folder / MARK).is_file():
        tables = _tables(folder / _STORE)
        # A first build that was killed leaves a store without tables, and nothing but files of ours.
        if tables is None or not (tables or names <= _OWN):
            raise StoreFailed(f"{folder} is not empty, and no index of ragways", f"{_ELSEWHERE}: a new or empty one")
    if derived and not any(name.removesuffix(".draft").isdecimal() for name in derived):
        raise StoreFailed(f"{folder / VIEWS} holds nothing that ragways made", "move that folder elsewhere")


def check_parts(folder: Path) -> None:
    """Raise where a part of the index is a link, for what it leads to may be anybody's, or the store is not ours."""
    parts = [folder / name for name in sorted(_OWN)]
    if not (folder / VIEWS).is_symlink():
        with store_errors(folder / _STORE):
            parts += sorted((folder / VIEWS).glob("*"))
    for path in parts:
        if path.is_symlink():
            raise StoreFailed(
                f"{path} is a link, and ragways does not write or delete through links",
                "put the real thing in its place, or make the whole folder of the index a link",
            )
    check_database(folder / _STORE, _STORE_TABLES)


def check_database(file: Path, tables: Set[str]) -> None:
    """Raise where this is a link, or a database without these tables: somebody else's."""
    if file.is_symlink():
        raise StoreFailed(f"{file} is a link, and ragways does not write through links", "put the file in its place")
    found = _tables(file)
    if found and not found >= tables:
        raise StoreFailed(f"{file} is a database that ragways did not make", f"{_ELSEWHERE}, or move the file away")


def claim(folder: Path) -> None:
    """Make the folder and mark it as an index, unless it is somebody else's."""
    check_place(folder)
    with store_errors(folder / _STORE):
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), (folder / MARK).open("x", encoding="utf-8") as file:
            file.write(_TEXT)


def _tables(file: Path) -> Set[str] | None:
    """Names of the tables in a database; None where there is none that can be read. Leaves no trace beside the file."""
    if not file.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"file:{quote(os.fsencode(file.resolve()))}?immutable=1", uri=True)) as db:
            return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return None
