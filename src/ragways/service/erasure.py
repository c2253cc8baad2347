"""Erasing what was removed from all that a server has, and showing that it is gone.

Documents whose file is gone or has changed are noted before a run, which erases them from the index (`index/erase.py`).
Then, in this order: conversations, jobs and feedback that rest on the documents or quote them are deleted; the server's
own database is written anew without them, and its log emptied; and strings of the documents are looked for in every
file of the collection (index, work cache, questions, runs, feedback), and in the server's database and audit log.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ragways.core.errors import RagwaysError, StoreBusy, StoreFailed
from ragways.index.erase import MOST_DOCUMENTS, Erasure, LeavingDocument, RemovedDocuments, SearchedStrings
from ragways.index.views import clear_others, published
from ragways.service import feedback
from ragways.service.conversations import Conversations
from ragways.service.job_table import TABLE, forget_jobs
from ragways.service.state import State
from ragways.store.cache import FILE as WORK_CACHE
from ragways.store.database import connect, empty_log
from ragways.store.store import FILE as INDEX
from ragways.store.store import Store

UNERASED = "unerased.json"
"""The file of a collection that lists documents that are about to be removed, until they are erased: so the next run
ends what a killed one has begun.
"""
_TRIES = 10  # seconds that readers of what was removed get to end
_IN_USE = (StoreBusy, StoreFailed, sqlite3.OperationalError)


def leaving(folder: Path, index: Path, files: Path) -> dict[int, LeavingDocument]:
    """Documents whose file is gone or has changed, by number, and those that a killed run has not erased. Of the latter
    no strings are known any more.
    """
    note = folder / UNERASED
    known = json.loads(note.read_bytes()) if note.is_file() else {}
    found = {int(number): LeavingDocument(key, bytes.fromhex(hash)) for number, (key, hash) in known.items()}
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
        draft = note.with_name(f"{UNERASED}.draft")
        draft.write_text(json.dumps({number: (one.key, one.hash.hex()) for number, one in found.items()}))
        draft.replace(note)
    return found


def _unchanged(path: Path, size: int, modified: int) -> bool:
    try:
        stat = os.lstat(path)
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns) == (size, modified)


async def erase(
    folder: Path, index: Path, before: dict[int, LeavingDocument], state: Path, of_index: Erasure | None
) -> Erasure | None:
    """Clean what rests on documents that a run removed, then look for them: in every file below the collection's folder
    but those that were uploaded, and in what the server has beside it. None where nothing was removed.

    `folder` is named by the id of the collection; `state` is the database of the server; `of_index` is what the run
    found. A question that is under way may need the log of a database or earlier views: it gets some seconds to end.
    """
    with closing(Store.open(index)) as store:
        removed = RemovedDocuments(store, before)
    report = None
    for left in reversed(range(_TRIES)) if removed.by_number else ():
        report = _erased(folder, index, removed, state)
        if not report.in_use:
            break
        await asyncio.sleep(min(left, 1.0))
    (folder / UNERASED).unlink(missing_ok=True)
    if report is None or of_index is None:
        return report
    return replace(report, words=of_index.words, words_left=of_index.words_left)


def _erased(folder: Path, index: Path, removed: RemovedDocuments, state: Path) -> Erasure:
    feedback.take_out(folder / "feedback.jsonl", lambda line: _rests(line, removed))
    in_use = not (_clean(state, folder.name, removed) & _settle(index))
    removed.places.clear()
    files = list(_searched(folder))
    size = sum(removed.search(path, path.relative_to(folder).as_posix()) for path in files)
    in_use |= not _search_state(state, folder.name, removed)
    return replace(removed.report(), files=len(files), bytes=size, in_use=in_use)


def _rests(line: bytes, removed: RemovedDocuments) -> bool:
    """Whether a line of feedback quotes one of the documents, or names it among its evidence."""
    if removed.wanted.within(line):
        return True
    try:
        evidence = json.loads(line)["provenance"]["evidence"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return any(":".join(str(id).split(":")[:2]) in removed.ids for id in evidence)


def _clean(state: Path, collection: str, removed: RemovedDocuments) -> bool:
    """Delete what rests on the documents or quotes them, and have no byte of it left in the database. False where it is
    in use.
    """

    def quoted(text: str) -> bool:
        return bool(removed.wanted.within(text.encode("utf-8", "replace")))

    try:
        with closing(State(state)) as opened:
            Conversations(opened).forget_documents(collection, removed.ids, quoted)
            opened.tables(TABLE)
            forget_jobs(opened, collection, quoted)
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


def _search_state(state: Path, collection: str, removed: RemovedDocuments) -> bool:
    """Search the files of the whole server. What others wrote, who may have the same text, is neither counted nor
    shown: whoever removes a document must not learn of it. False where the database is in use.
    """
    audit = sorted(state.parent.glob("audit*.jsonl"))
    found = {
        path.name: strings
        for path in [*audit, *sorted(state.parent.glob(f"{state.name}*"))]
        if (strings := removed.wanted.in_file(path)[0])
    }
    try:
        wanted = SearchedStrings(frozenset().union(*found.values()))
        others = _of_others(state, audit, collection, wanted) if found else set()
    except _IN_USE:
        return False
    for name, strings in found.items():
        for string in strings - others:
            removed.places.setdefault(string, []).append(name)
    return True


def _of_others(state: Path, audit: Iterable[Path], collection: str, wanted: SearchedStrings) -> set[bytes]:
    """Those of the strings that stand in a row or line which is not of this collection."""
    seen = set[bytes]()
    with closing(State(state)) as opened:
        db = opened.db
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            of = {"collection": "= :id", "conversation": "IN (SELECT id FROM conversations WHERE collection = :id)"}
            mine = next((f"{column} {owner}" for column, owner in of.items() if column in columns), "FALSE")
            for row in db.execute(f"SELECT * FROM {table} WHERE NOT {mine}", {"id": collection}):  # noqa: S608 - ours
                seen |= wanted.within("\0".join(map(str, row)).encode("utf-8", "replace"))
        row = db.execute("SELECT tenant, name FROM collections WHERE id = ?", (collection,)).fetchone()
    for path in audit:
        for line in path.read_bytes().splitlines():
            if (strings := wanted.within(line)) and _owner(line) != row:
                seen |= strings
    return seen


def _owner(line: bytes) -> tuple[object, object] | None:
    """Tenant and collection of a line of the audit log."""
    try:
        row = json.loads(line)
        return row["tenant"], row["collection"]
    except (ValueError, KeyError, TypeError):
        return None


def _searched(folder: Path) -> Iterator[Path]:
    """Every file that is no upload: those are what was asked to stay."""
    for parent, folders, names in os.walk(folder, followlinks=False):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name not in ("files", "incoming")]
        for name in sorted(names):
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield path
