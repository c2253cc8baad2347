"""Rows: a batch is there whole or not at all, changes are net, and whatever fails ends in one line with its cure."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import NoIndex, StoreBusy, StoreFailed, WrongVersion
from ragways.store.database import log_size, store_errors
from ragways.store.place import LOCK
from ragways.store.store import FILE, PARTS, Store
from tests.store.rows import number, write_texts

A, B, C = (number(key) for key in ("a.txt", "b.txt", "c.txt"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.write(tmp_path / "index")
    yield opened
    opened.close()


def texts(folder: Path) -> dict[str, str]:
    with closing(Store.open(folder)) as reader:
        return {source.key: source.text for source in reader.sources()}


# Batches and generations


def test_a_batch_is_there_whole_or_not_at_all(store: Store):
    write_texts(store, {"a.txt": "One."})
    with suppress(RuntimeError), store.batch() as batch:
        batch.remove(A)
        raise RuntimeError
    assert texts(store.folder) == {"a.txt": "One."}
    assert store.generation == 1
    with store.batch():
        pass
    assert store.generation == 1, "what changes nothing makes no generation"


def test_pages_are_brought_into_the_file_when_a_run_says_so_and_not_before(store: Store):
    """A page that many batches change would else be written to the file many times."""
    store.finish()
    size = store.path.stat().st_size
    for n in range(20):
        write_texts(store, {f"{n}.txt": f"{n} has a harbour. " * 20_000})
    assert store.path.stat().st_size == size
    assert log_size(store.path) > 1000 * 4096
    assert store.finish()
    assert (log_size(store.path), store.path.stat().st_size > size) == (0, True)


def test_a_reader_stays_at_its_snapshot_until_it_resumes(store: Store):
    write_texts(store, {"a.txt": "One."})
    with closing(Store.open(store.folder)) as reader:
        write_texts(store, {"a.txt": "Two.", "b.txt": "Three."})
        assert (reader.generation, reader.numbers()) == (1, [A])
        reader.pause()
        assert reader.resume()
        assert (reader.generation, reader.numbers()) == (2, sorted([A, B]))


def test_a_reader_does_not_resume_on_another_file(store: Store, tmp_path: Path):
    with closing(Store.open(store.folder)) as reader:
        reader.pause()
        os.rename(store.path, tmp_path / "moved")
        assert not reader.resume()
        (store.folder / FILE).write_bytes(b"")
        assert not reader.resume()


def test_removing_leaves_no_row_of_a_document(store: Store):
    write_texts(store, {"a.txt": "One.\n\nTwo.", "b.txt": "Three."})
    with store.batch() as batch:
        batch.put_facts("windows", A, {"themes": [(0, "lamps", "rules")]}, ("themes",), "1")
        batch.remove(A)
    for table in (*PARTS, "themes", "extracted"):
        rows = store.db.execute(f"SELECT count(*) FROM {table} WHERE document = ?", (A,)).fetchone()
        assert rows == (0,), table
    assert store.numbers() == [B]


def test_facts_take_the_place_of_earlier_ones(store: Store):
    write_texts(store, {"a.txt": "One.", "b.txt": "Two."})
    assert store.not_extracted("windows", "1") == sorted([A, B])
    for theme in ("lamps", "ships"):
        with store.batch() as batch:
            batch.put_facts("windows", A, {"themes": [(0, theme, "rules")]}, ("themes",), theme)
    assert list(store.facts("themes", "document, theme", [A])) == [(A, "ships")]
    assert store.not_extracted("windows", "ships") == [B]
    assert store.not_extracted("windows", "lamps") == sorted([A, B])


EDITS = st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "One.", "Two."])), max_size=6)


@given(EDITS, st.integers(0, 6))
def test_changes_are_what_a_view_of_any_generation_lacks(edits: list[dict[str, str]], since: int):
    """Taken out and put in, they make of the documents of then those of now."""
    store = Store.scratch(Path())
    states: list[dict[int, str]] = [{}]
    for edit in edits:
        before = store.generation
        write_texts(store, {f"{key}.txt": text for key, text in edit.items()})
        now = {source.number: source.text for source in store.sources()}
        states += [now] * (store.generation - before)
    view = dict(states[since := min(since, store.generation)])
    change = store.changes(since, "words")
    assert change.removed == tuple(sorted(set(change.removed) & view.keys())), "only what the view has is taken out"
    for gone in change.removed:
        del view[gone]
    view |= {come: states[-1][come] for come in change.added}
    assert view == states[-1]
    assert set(change.added) | set(change.removed) <= store.changed_since(since)


# Faults


def test_no_index(tmp_path: Path):
    with pytest.raises(NoIndex, match="no index"):
        Store.open(tmp_path)
    (tmp_path / FILE).write_bytes(b"")  # as a first run leaves it that was killed at once
    with pytest.raises(NoIndex, match="not whole yet"):
        Store.open(tmp_path)


def test_an_index_of_another_format_is_named_with_the_cure(tmp_path: Path):
    with closing(Store.write(tmp_path)) as store:
        store.set_meta({"version": "9"})
    for opened in (Store.open, Store.write):
        with pytest.raises(WrongVersion) as caught:
            opened(tmp_path)
        assert "--rebuild" in caught.value.cure


@pytest.mark.parametrize("log", [False, True])
def test_an_index_in_a_folder_that_cannot_be_written_is_read(store: Store, monkeypatch: pytest.MonkeyPatch, log: bool):
    write_texts(store, {"a.txt": "One."})
    if not log:
        store.finish()
    before = sorted(path.name for path in store.folder.iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert texts(store.folder) == {"a.txt": "One."}
    assert sorted(path.name for path in store.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("message", "problem", "cure"),
    [
        ("database or disk is full", "is full", "free some space"),
        ("disk I/O error", "disk I/O error", "check the disk"),
        ("attempt to write a readonly database", "cannot write to", "permissions"),
        ("unable to open database file", "could not be opened", "ulimit"),
        ("database is locked", "another process is writing", "wait"),
    ],
)
def test_what_sqlite_reports_is_an_error_with_its_cure(tmp_path: Path, message: str, problem: str, cure: str):
    with pytest.raises((StoreFailed, StoreBusy)) as caught, store_errors(tmp_path / FILE):
        raise sqlite3.OperationalError(message)
    assert problem in caught.value.message
    assert cure in caught.value.cure


def test_too_few_handles_and_no_permission_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Store.write(tmp_path).close()
    opened = os.open
    for code, cure in ((24, "ulimit -n"), (13, "change its permissions"), (28, "free some space")):

        def fails(path: Any, *rest: Any, code: int = code) -> int:
            if str(path).endswith(LOCK):
                raise OSError(code, os.strerror(code), path)
            return opened(path, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", fails)
            with pytest.raises(StoreFailed) as caught:
                Store.write(tmp_path)
        assert cure in caught.value.cure
