"""The collections of a server: an index each, the files it is made of, and what is known of it without opening it.

A managed collection lives in a folder of its own below the server's data: `files` (what was uploaded), `index`,
`incoming` (uploads under way), `questions` and `runs`. An index that was given to the server by `--index` is only read:
its questions and runs are in a folder below `given`, and are used again when the same index is given again.

What a list of collections shows is in the server's own database, and brought up to date after each job.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragways.core.errors import NoIndex, RagwaysError, WrongVersion
from ragways.layers.table import check_layers
from ragways.service.errors import BadRequest, Conflict
from ragways.service.keys import COLLECTION_NAME, MAIN, Caller
from ragways.service.state import State
from ragways.store.database import store_errors
from ragways.store.store import FILE, Store

MARK = "ragways-collection.txt"
"""Marks a folder as one of ours: no other is ever deleted."""
MOST = 1000
"""Collections of a tenant."""
_MARK_TEXT = "This folder is a collection of ragways serve. It is deleted with its collection, and everything in it.\n"
_GONE = ".deleted"
_LOG = logging.getLogger("ragways.service")
_TABLE = """
CREATE TABLE IF NOT EXISTS collections (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, managed INTEGER NOT NULL, place TEXT NOT NULL,
    created TEXT NOT NULL, wanted TEXT NOT NULL, documents INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0, layers TEXT NOT NULL DEFAULT '', generation INTEGER NOT NULL DEFAULT 0,
    trouble TEXT NOT NULL DEFAULT '', UNIQUE (tenant, name)
);
"""
_COLUMNS = "id, tenant, name, managed, place, created, wanted, documents, chunks, layers, generation, trouble"


@dataclass(frozen=True, slots=True)
class Collection:
    """An index that a server answers from, and what it had when it was last looked at.

    `files` are the folder of what was uploaded; None where the index is only read. `folder` holds all that belongs to
    the collection. `wanted` are the layers that an index job builds unless it names others; where there are none, those
    that `ragways index` builds. `trouble` says why the collection cannot be asked, with the cure; it is empty where it
    can.
    """

    id: str
    tenant: str
    name: str
    managed: bool
    index: Path
    files: Path | None
    created: str
    documents: int
    chunks: int
    layers: tuple[str, ...]
    generation: int
    folder: Path
    wanted: tuple[str, ...]
    trouble: str = ""

    @property
    def incoming(self) -> Path:
        """Uploads under way; what a killed server left there is cleared when the next one starts."""
        return self.folder / "incoming"

    @property
    def questions(self) -> Path:
        """Sets of questions, a file of JSON lines each."""
        return self.folder / "questions"

    @property
    def runs(self) -> Path:
        """Evaluations, a folder each."""
        return self.folder / "runs"


class Collections:
    """The table of collections. `indexes` are folders of indexes to read, which belong to the tenant `main`."""

    def __init__(self, state: State, data_folder: Path, indexes: Sequence[Path] = ()) -> None:
        self._state = state
        self._root = data_folder.resolve() / "collections"
        self._given = data_folder.resolve() / "given"
        for folder in (self._root, self._given):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.tables(_TABLE)
        self._read = lru_cache(4096)(self._collection)  # paths take longer to make than a row to be found
        self._marks: dict[str, object] = {}  # of given indexes, as they were when they were looked at
        self._clear_leftovers()
        self._register(indexes)
        for collection in self.all():
            self.refresh(collection)

    def create(self, tenant: str, name: str, layers: Iterable[str] | None = None) -> Collection:
        """A new, empty collection. Its index is made by the first index job."""
        if not COLLECTION_NAME.fullmatch(name):
            raise BadRequest(
                "this cannot be the name of a collection",
                "use at most 64 small letters, digits, dots, underscores and hyphens; begin with a letter or a digit",
            )
        wanted = check_layers(layers or ())
        if self._state.db.execute("SELECT count(*) FROM collections WHERE tenant = ?", (tenant,)).fetchone()[0] >= MOST:
            raise Conflict(f"there are {MOST} collections already", "delete one first")
        id = secrets.token_hex(8)
        folder = self._root / id
        folder.mkdir(mode=0o700)
        (folder / MARK).write_text(_MARK_TEXT, encoding="utf-8")
        (folder / "files").mkdir(mode=0o700)
        try:
            self._insert(id, tenant, name, managed=True, wanted=wanted)
        except sqlite3.IntegrityError:
            shutil.rmtree(folder)
            raise Conflict("there is a collection of this name already", "choose another name") from None
        return self._select("id = ?", id)[0]

    def find(self, tenant: str, name: str) -> Collection | None:
        """The collection of this name, or None."""
        return next(iter(self._select("tenant = ? AND name = ?", tenant, name)), None)

    def visible(self, caller: Caller) -> list[Collection]:
        """What the caller may see, by name."""
        found = self._select("tenant = ? ORDER BY name", caller.tenant)
        return [one for one in found if caller.sees(one.tenant, one.name)]

    def all(self) -> list[Collection]:
        """Every collection of every tenant."""
        return self._select("TRUE ORDER BY id")

    def _select(self, where: str, *values: object) -> list[Collection]:
        query = f"SELECT {_COLUMNS} FROM collections WHERE {where}"  # noqa: S608 - conditions of ours
        return [self._read(row) for row in self._state.db.execute(query, values).fetchall()]

    def delete(self, collection: Collection) -> None:
        """Forget a collection and delete its folder.

        A folder is deleted only where it bears our mark, and links in it are removed, not followed.
        """
        self.withdraw(collection)
        gone = collection.folder.with_name(f"{collection.folder.name}{_GONE}")
        if self._is_ours(collection.folder):
            collection.folder.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def withdraw(self, collection: Collection) -> None:
        """Remove the row of a collection, so that it is not found; its folder stays. Raises where it is only read."""
        if not collection.managed:
            raise Conflict(
                "this collection was given to the server and is only read", "start the server without its --index"
            )
        with self._state.transaction() as db:
            db.execute("DELETE FROM collections WHERE id = ?", (collection.id,))

    def refresh(self, collection: Collection) -> Collection:
        """Look at the index once more: what it has now, and whether it can be asked."""
        columns = "documents = ?, chunks = ?, layers = ?, generation = ?, trouble = ?"
        values = _look(collection.index, managed=collection.managed)
        with self._state.transaction() as db:  # a thread may call this, and must not end up in what another undoes
            db.execute(f"UPDATE collections SET {columns} WHERE id = ?", (*values, collection.id))  # noqa: S608 - ours
        return next(iter(self._select("id = ?", collection.id)), collection)  # unless it was deleted meanwhile

    def follow(self) -> None:
        """Look again at given indexes whose files were written since the last look."""
        for each in self._select("NOT managed"):
            file = each.index / FILE
            marks = (_mark(file), _mark(file.with_name(f"{file.name}-wal")))
            if self._marks.get(each.id) != marks:
                try:
                    self.refresh(each)
                    self._marks[each.id] = marks
                except (RagwaysError, sqlite3.Error) as error:  # it is tried again
                    _LOG.warning("cannot look at %s: %s", each.name, error)

    # Folders

    def _is_ours(self, folder: Path) -> bool:
        """Whether it is a folder that we made: a real one, right below ours, with our mark."""
        return folder.parent == self._root and not folder.is_symlink() and (folder / MARK).is_file()

    def _clear_leftovers(self) -> None:
        """Remove what a killed server left: half-deleted folders, folders of no collection, uploads under way."""
        known = {row[0] for row in self._state.db.execute("SELECT id FROM collections")}
        for folder in self._root.iterdir():
            if not self._is_ours(folder):
                continue
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                shutil.rmtree(folder / "incoming", ignore_errors=True)

    # Rows

    def _insert(
        self, id: str, tenant: str, name: str, *, managed: bool, place: str = "", wanted: Iterable[str] = ()
    ) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._state.db.execute(
            "INSERT INTO collections (id, tenant, name, managed, place, created, wanted) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (id, tenant, name, managed, place, now, " ".join(sorted(wanted))),
        )

    def _register(self, indexes: Sequence[Path]) -> None:
        """Have the given indexes in the table, and no others; those that were there before keep their names."""
        given = {sha256(os.fsencode(path.resolve())).hexdigest()[:16]: path.resolve() for path in indexes}
        db = self._state.db
        known = {row[0] for row in db.execute("SELECT id FROM collections WHERE NOT managed")}
        for id in known - given.keys():
            db.execute("DELETE FROM collections WHERE id = ?", (id,))
        for id, path in given.items():
            (self._given / id).mkdir(mode=0o700, exist_ok=True)
            if id not in known:
                self._insert(id, MAIN, self._free_name(path.name), managed=False, place=str(path))

    def _free_name(self, folder: str) -> str:
        """The name of a folder made fit for a collection; with a number where it is taken."""
        fit = re.sub(r"[^a-z0-9._-]+", "-", folder.lower()).strip("._-")[:56] or "index"
        names = (fit if number == 1 else f"{fit}-{number}" for number in range(1, MOST + 2))
        return next(name for name in names if self.find(MAIN, name) is None)

    def _collection(self, row: tuple[Any, ...]) -> Collection:
        id, tenant, name, managed, place, created, wanted, documents, chunks, layers, generation, trouble = row
        folder = (self._root if managed else self._given) / id
        return Collection(
            id, tenant, name, bool(managed),
            index=folder / "index" if managed else Path(place),
            files=folder / "files" if managed else None,
            created=created, documents=documents, chunks=chunks, layers=tuple(layers.split()), generation=generation,
            folder=folder, wanted=tuple(wanted.split()), trouble=trouble,
        )  # fmt: skip


def files_below(folder: Path, skip: Sequence[str] = ()) -> Iterator[Path]:
    """Every file below a folder but for these folders right in it; links are left out."""
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if Path(parent) != folder or name not in skip)
        for path in (Path(parent) / name for name in sorted(names)):
            if path.is_file() and not path.is_symlink():
                yield path


def _mark(file: Path) -> object:
    """What changes whenever a file is written. An empty log is as good as none: readers make it too."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat.st_size else None


def _look(index: Path, *, managed: bool) -> tuple[int, int, str, int, str]:
    """What an index has: documents, chunks, layers, generation, and why it cannot be asked. Only its rows are read."""
    trouble = ""
    if not (index / FILE).is_file():
        return (0, 0, "", 0, "" if managed else "there is no index in the folder that was given; build one there")
    try:
        with store_errors(index / FILE), closing(Store.open(index)) as store:
            layers = store.meta().get("layers", "")
            return (store.count("documents"), store.count("chunks"), layers, store.generation, "")
    except NoIndex:
        trouble = "" if managed else "the index is not whole yet; wait for its build to end"
    except WrongVersion:
        cure = "start an index job" if managed else "build it with: ragways index PATH"
        trouble = f"its index was built by another version of ragways; {cure}, which builds it anew"
    except (RagwaysError, KeyError, ValueError):
        cure = "start an index job with rebuild" if managed else "build it again with: ragways index --rebuild PATH"
        trouble = f"its index cannot be read; {cure}"
    return (0, 0, "", 0, trouble)
