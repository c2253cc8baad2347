"""Erasing what was removed from an index from all else that a server has of its collection.

An index job notes the documents whose file is gone or has changed, and the run erases them from the index
(`index/erase.py`). Then conversations, feedback and ended jobs that rest on these documents or quote them are deleted,
the server's database is written anew without them, and the files of the collection are searched once more.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ragways.core.errors import RagwaysError, StoreBusy, StoreFailed
from ragways.index.erase import MOST_DOCUMENTS, LeavingDocument, RemovedDocuments
from ragways.index.recipe import Erasure
from ragways.index.views import clear_others, published
from ragways.service.audit import Audit
from ragways.service.collections import files_below
from ragways.service.conversations import Conversations
from ragways.service.feedback import Feedback
from ragways.service.jobs import TABLE
from ragways.service.state import State
from ragways.store.cache import FILE as WORK_CACHE
from ragways.store.database import connect, empty_log
from ragways.store.store import FILE as INDEX
from ragways.store.store import Store

UNERASED = "unerased"
"""A file of a collection that is there from before a removal until it is erased: a run that was killed is ended by the
next.
"""
_TRIES = 10  # seconds that readers of what was removed get to end
_IN_USE = (StoreBusy, StoreFailed, sqlite3.OperationalError)


def leaving(folder: Path, index: Path, files: Path) -> dict[int, LeavingDocument]:
    """Documents whose file is gone or has changed, by number. Marks the collection where there are some."""
    found: dict[int, LeavingDocument] = {}
    try:
        store = Store.open(index)
    except RagwaysError:
        return found
    with closing(store):
        sources = store.db.execute("SELECT key, size, modified FROM sources").fetchall()
        gone = [key for key, *version in sources if not _unchanged(files.parent / key, *version)]
        for number in (number for key in gone for number in store.hashes_of_source(key)):
            document = LeavingDocument.of(store, number, searched=len(found) < MOST_DOCUMENTS)
            if document is not None:
                found[number] = document
    if found:
        (folder / UNERASED).touch()
    return found


def _unchanged(path: Path, size: int, modified: int) -> bool:
    try:
        stat = os.lstat(path)
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns) == (size, modified)


async def erase(
    folder: Path, index: Path, before: dict[int, LeavingDocument], state: Path, of_index: Erasure
) -> Erasure:
    """Delete what rests on documents that a run removed, and search the files of the collection but for uploads.

    `folder` is named by the id of the collection; `state` is the database of the server; `of_index` is what the run
    found. A question under way may need the log of a database or earlier views: it gets some seconds to end.
    """
    with closing(Store.open(index)) as store:
        removed = RemovedDocuments(store, before)
        present = {f"article:{number}" for (number,) in store.db.execute("SELECT number FROM documents")}
    present -= removed.ids
    for left in reversed(range(_TRIES)):
        clean = _clean(state, folder.name, removed, present) & _settle(index)
        if clean:
            break
        await asyncio.sleep(min(left, 1.0))
    files = list(files_below(folder, skip=("files", "incoming")))  # all but uploads
    size = sum(removed.search(path, path.relative_to(folder).as_posix()) for path in files)
    report = replace(removed.report(), files=len(files), bytes=size, in_use=not clean)
    report = replace(report, words=of_index.words, words_left=of_index.words_left)
    with closing(State(state)) as opened:
        named = opened.db.execute("SELECT name FROM collections WHERE id = ?", (folder.name,)).fetchone()
        fields = {"documents": len(removed.by_number), "erased": report.erased}
        titles, turns = Conversations(opened).count(folder.name)
        stays = {"feedback": Feedback(opened).summary(folder.name)[0], "titles": titles, "turns": turns}
        report.not_looked_through = {kind: count for kind, count in stays.items() if count}
        Audit(opened).note(None, "erase", collection=named and named[0], **fields)
    (folder / UNERASED).unlink(missing_ok=True)
    return report


def _rests(line: str, present: set[str]) -> bool:
    """Whether a line of feedback names a document among its evidence that is not there any more."""
    try:
        evidence = [str(id) for id in json.loads(line)["provenance"]["evidence"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return any(id.startswith("article:") and ":".join(id.split(":")[:2]) not in present for id in evidence)


def _clean(state: Path, collection: str, removed: RemovedDocuments, present: set[str]) -> bool:
    """Delete turns, feedback and ended jobs that rest on removed documents or quote them, and write the database anew
    without them. False where it is in use.
    """

    def quoted(text: str) -> bool:
        return bool(removed.wanted.within(text.encode("utf-8", "replace")))

    try:
        with closing(State(state)) as opened:
            Conversations(opened).forget_documents(collection, present, quoted)
            Feedback(opened).remove(collection, lambda line: quoted(line) or _rests(line, present))
            opened.tables(TABLE)
            with opened.transaction() as db:
                rows = db.execute(
                    "SELECT number, arguments, progress, result, error FROM jobs"
                    " WHERE collection = ? AND state IN ('done', 'failed', 'cancelled')",
                    (collection,),
                ).fetchall()
                gone = [(number,) for number, *texts in rows if any(quoted(text) for text in texts if text)]
                db.executemany("DELETE FROM jobs WHERE number = ?", gone)
            return opened.compact()
    except _IN_USE:
        return False


def _settle(index: Path) -> bool:
    """Bring into the files of an index what its run had to leave in their logs, and remove earlier views. False where
    others still read there.
    """
    try:
        views = published(index)
        done = views is None or clear_others(views)
        for name in (INDEX, WORK_CACHE):
            with closing(connect(index / name, write=True)) as db:
                done &= empty_log(db)
    except _IN_USE:
        return False
    return done
