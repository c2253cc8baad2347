"""Runs that are killed, and runs that meet: the index is whole, and the next run goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from ragways.core.errors import StoreBusy
from ragways.index.store import Store
from tests.faults.killing import corpus, finished, run, trial
from tests.index.whole import unlike, whole

_FORKED = multiprocessing.get_context("fork")


def test_ten_kills_at_random_moments(tmp_path: Path):
    outcome = trial(tmp_path, documents=20, kills=10, seed=3)
    assert outcome.unlike == []
    assert outcome.equal == outcome.kills == 10
    assert outcome.most_twice <= 64


def hold(index: Path, holding: Event) -> None:
    """Take the lock, write a little and never let go."""
    store = Store.create_or_open(index)
    store.set_meta({"half": "done"})
    holding.set()
    time.sleep(600)


def test_the_lock_of_a_dead_writer_is_freed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.2)
    docs, index, bill = corpus(tmp_path / "docs", 5), tmp_path / "index", tmp_path / "bill"
    holding = _FORKED.Event()
    holder = _FORKED.Process(target=hold, args=(index, holding))
    holder.start()
    assert holding.wait(30)
    with pytest.raises(StoreBusy, match="another process is writing"):
        run(index, docs, bill)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    run(index, docs, bill)
    run(tmp_path / "fresh", docs, bill)
    assert unlike(whole(tmp_path / "fresh"), whole(index)) == []  # nothing of what the dead one wrote


def test_writers_that_meet_come_one_after_the_other(tmp_path: Path):
    docs = [corpus(tmp_path / f"docs{n}", 8) for n in range(3)]
    index, bill = tmp_path / "index", tmp_path / "bill"
    writers = [_FORKED.Process(target=run_patiently, args=(index, folder, bill)) for folder in docs]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)  # each waits for those before it, and the disk may be slow
        assert writer.exitcode == 0
    for folder in docs:
        finished(tmp_path / "fresh", folder, bill)
    assert unlike(whole(tmp_path / "fresh"), whole(index)) == []
    db = sqlite3.connect(index / "index.sqlite")
    assert db.execute("SELECT count(*) FROM documents").fetchone()[0] == 24
    db.close()


def run_patiently(index: Path, docs: Path, bill: Path) -> None:
    """As a user would who is told to wait: run again while another writes."""
    for _ in range(100):
        try:
            return run(index, docs, bill)
        except StoreBusy:
            time.sleep(0.05)
    raise AssertionError("the other writers never ended")
