"""Copies of indexes at URLs, in the cache folder: one to read for each state, and one to write.

Whoever reads has the folder of one state, which nobody changes but for replies of models. Whoever writes has a folder
that stays: a run that was killed, or could not be published, goes on in it, and nothing is paid for twice.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.cloud.objects import ObjectStore, url_of
from ragways.cloud.published import Manifest, bring, publish
from ragways.core.errors import NoIndex, StoreBusy, UsageError
from ragways.store.database import store_errors

if TYPE_CHECKING:
    from ragways.index.recipe import Summary

_TRIES = 3
"""How often a state is looked up anew that was overtaken while it was brought."""
_KEPT = 2
"""States that stay for those who read them, where nothing was removed since."""
_BASE = "base.json"
_WRITING = "writing"


def readable(index: Path, cache: Path) -> Path:
    """The folder of an index that is to be read: its own, or that of a copy of what its URL shows now."""
    url = url_of(index)
    if not url:
        return index
    store, home = ObjectStore(url), _home(url, cache)
    for left in reversed(range(_TRIES)):
        manifest = Manifest.read(store)
        if not manifest.id:
            raise NoIndex(f"there is no index at {url}", f"build one with: ragways index PATH --index {url}")
        target = home / manifest.id
        try:
            if not target.is_dir():
                with store_errors(target):
                    home.mkdir(parents=True, exist_ok=True)
                bring(store, manifest, target, _copies(home))
            _note(home / f"{manifest.id}.json", manifest)
        except StoreBusy:
            if not left:
                raise
            continue
        _clear(home, manifest)
        break
    return target


class WrittenCopy:
    """A folder that an index is written in, and the name that its user knows it by. Whoever writes sets `summary` to
    what was done.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.summary: Summary | None = None


@contextmanager
def written(index: Path, cache: Path) -> Iterator[WrittenCopy]:
    """A folder to write an index in: its own, or a copy that is published at its URL when the block ends well."""
    url = url_of(index)
    if not url:
        yield WrittenCopy(index, str(index))
        return
    store, home = ObjectStore(url), _home(url, cache)
    with _alone(home, url):
        before, ahead = Manifest.read(store), home / "unpublished"
        folder = _begun(store, home, before)
        # What a run that was not published has removed is not known any more.
        gone = ahead.exists()
        ahead.touch()
        copy = WrittenCopy(folder, url)
        yield copy
        done = copy.summary
        gone |= done is None or bool(done.changed or done.removed or done.erasure)
        _note(home / _BASE, publish(folder, store, before, kept=not gone))
        ahead.unlink()


def no_url(index: Path, what: str) -> Path:
    """The folder of an index, for what cannot be done to one at a URL."""
    if url := url_of(index):
        raise UsageError(f"{what} needs the folder of an index, and {url} is a URL", "name a folder with --index")
    return index


def _begun(store: ObjectStore, home: Path, before: Manifest) -> Path:
    """The folder to write in, at the state that the URL shows, or further by a run that was not published."""
    folder = home / _WRITING
    if _noted(home / _BASE).id != before.id or not folder.is_dir():
        (home / _BASE).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        if before.id:
            bring(store, before, folder, _copies(home))
        _note(home / _BASE, before)
    return folder


def _home(url: str, cache: Path) -> Path:
    """Where the copies of what is at a URL lie."""
    return cache / "indexes" / hashlib.sha256(url.encode()).hexdigest()[:24]


@contextmanager
def _alone(home: Path, url: str) -> Iterator[None]:
    """One writer on this machine; the system frees a dead one's lock."""
    with store_errors(home):
        home.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(home / "lock.sqlite", timeout=1, isolation_level=None)
    with closing(connection) as db:
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise StoreBusy(f"another process is writing to {url}", "wait for it to end, then run again") from None
        yield


def _note(file: Path, manifest: Manifest) -> None:
    draft = file.with_name(f"{file.name}.draft")
    with store_errors(file):
        draft.write_bytes(manifest.data())
        draft.replace(file)


def _noted(file: Path) -> Manifest:
    try:
        return Manifest.of(file.read_bytes())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Manifest()


def _copies(home: Path) -> list[tuple[Path, Manifest]]:
    """Folders that hold states of this index."""
    noted = [(home / (_WRITING if file.name == _BASE else file.stem), _noted(file)) for file in home.glob("*.json")]
    return [(folder, manifest) for folder, manifest in noted if folder.is_dir()]


def _clear(home: Path, newest: Manifest) -> None:
    """Remove states that nobody begins with any more: all others where documents went, else all but the last."""
    states = [file for file in home.glob("*.json") if file.name != _BASE and file.stem != newest.id]
    states.sort(key=lambda file: file.stat().st_mtime)
    for file in states[: len(states) - (_KEPT - 1 if newest.kept else 0)]:
        shutil.rmtree(home / file.stem, ignore_errors=True)
        file.unlink(missing_ok=True)
