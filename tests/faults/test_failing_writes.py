"""Calls on the disk that fail end in a sentence, and the sentence is true."""

from __future__ import annotations

import errno
import resource
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from ragways.core.errors import StoreFailed
from ragways.index import folder as index_folder
from ragways.index.database import store_errors
from ragways.index.words import Words
from ragways.index.work_cache import WorkCache
from tests.faults.failing import outcome_of
from tests.faults.killing import changed, corpus, run
from tests.index.whole import unlike, whole


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile the shim that makes calls fail")
def test_calls_that_fail_at_any_moment(tmp_path: Path):
    outcome = outcome_of(tmp_path, trials=10, seed=11)
    assert outcome.crashed == []
    assert outcome.untrue == []
    assert outcome.unlike == []
    assert outcome.said >= 5


@pytest.fixture
def index(tmp_path: Path) -> Path:
    run(tmp_path / "index", corpus(tmp_path / "docs", 10), tmp_path / "bill")
    changed(tmp_path / "docs", 10)
    return tmp_path / "index"


def test_the_lexical_index_meets_a_limit(tmp_path: Path):
    """The system refuses to let a file grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        with (
            pytest.raises(StoreFailed, match=r"words: File too large: check the disk"),
            store_errors(tmp_path / "words"),
        ):
            Words.build(tmp_path / "words", [(f"article:{n}:c0", f"a ship of {n} masts " * 50) for n in range(50)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_what_fails_after_the_commit_is_not_called_unharmed(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(WorkCache, "keep_only", full)
    with pytest.raises(StoreFailed, match=r"is full: .* what the run changed is in place") as failed:
        run(index, tmp_path / "docs", tmp_path / "bill")
    assert "unharmed" not in str(failed.value)
    monkeypatch.undo()
    run(tmp_path / "fresh", tmp_path / "docs", tmp_path / "bill")
    assert unlike(whole(tmp_path / "fresh"), whole(index)) == ["index.sqlite/meta"]  # that it has still to forget
    run(index, tmp_path / "docs", tmp_path / "bill")
    assert unlike(whole(tmp_path / "fresh"), whole(index)) == []


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOSPC])
def test_what_fails_before_the_commit_has_changed_nothing(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    before = whole(index)

    def fail(*_: object) -> None:
        raise OSError(number, "said by the system")

    monkeypatch.setattr(index_folder, "seal_files", fail)
    with pytest.raises(StoreFailed, match="run again; what was there is unharmed"):
        run(index, tmp_path / "docs", tmp_path / "bill")
    assert unlike(before, whole(index)) == []


@pytest.mark.parametrize(
    ("segment", "said"), [("2", "codes.npy is not whole: check the disk"), ("3", "codes.npy was not written whole")]
)
def test_an_array_that_was_cut_short_is_noticed(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segment: str, said: str
):
    """NumPy writes by C's buffers, and does not always hear that the last of them did not fit. The second segment is
    read again in the same run, to be joined to the first in a third.
    """
    save = np.save

    def cut(file: Path, array: np.ndarray) -> None:
        save(file, array)
        if Path(file).name == "codes.npy" and Path(file).parent.name == segment:
            with Path(file).open("r+b") as written:
                written.truncate(140)

    monkeypatch.setattr(np, "save", cut)
    with pytest.raises(StoreFailed, match=said):
        run(index, tmp_path / "docs", tmp_path / "bill")
