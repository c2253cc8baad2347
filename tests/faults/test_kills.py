"""Runs that are killed, and runs that meet: the index is whole, and the next run goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import closing
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from ragways.core.errors import StoreBusy
from ragways.index.open import Index
from ragways.store.store import Store
from tests.faults.killing import corpus, run, state, trial
from tests.index.builds import unlike

_FORKED = multiprocessing.get_context("fork")


def test_kills_at_random_moments(tmp_path: Path):
    outcome = trial(tmp_path, documents=20, kills=9, seed=3)
    assert outcome.unlike == []
    assert outcome.equal == outcome.kills == 9
    assert outcome.most_twice <= 2  # replies that had come when it was killed, and were not written yet


def lock_and_wait(index: Path, holding: Event) -> None:
    """Take the lock, write a little and never let go."""
    store = Store.write(index)
    store.db.execute("BEGIN")
    store.set_meta({"half": "done"})
    holding.set()
    time.sleep(600)


def test_the_lock_of_a_dead_writer_is_freed(tmp_path: Path):
    docs, index, bill = corpus(tmp_path / "docs", 5), tmp_path / "index", tmp_path / "bill"
    holding = _FORKED.Event()
    holder = _FORKED.Process(target=lock_and_wait, args=(index, holding))
    holder.start()
    assert holding.wait(30)
    with pytest.raises(StoreBusy, match="another process is writing") as busy:
        run(index, docs, bill)
    assert "wait for it to end, then run again" in busy.value.cure
    assert "\n" not in str(busy.value)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    run(index, docs, bill)
    run(tmp_path / "fresh", docs, bill)
    assert unlike(state(tmp_path / "fresh"), state(index)) == []
    with closing(Store.open(index)) as store:
        assert "half" not in store.meta()


def test_writers_that_meet_come_one_after_the_other(tmp_path: Path):
    docs = [corpus(tmp_path / f"docs{n}", 8) for n in range(3)]
    index, bill = tmp_path / "index", tmp_path / "bill"
    writers = [_FORKED.Process(target=run_patiently, args=(index, folder, bill)) for folder in docs]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)  # each waits for those before it, and the disk may be slow
        assert writer.exitcode == 0
    with closing(Index.open(index)) as opened:
        assert opened.counts()["documents"] == 24
        assert len(opened.vectors) == opened.counts()["chunks"]


def run_patiently(index: Path, docs: Path, bill: Path) -> None:
    """As a user would: run again while another writes."""
    for _ in range(200):
        try:
            return run(index, docs, bill)
        except StoreBusy:
            time.sleep(0.05)
    raise AssertionError("the other writers never ended")
