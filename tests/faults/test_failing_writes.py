"""Calls on the disk that fail end in one line with the cure, and the index stays whole."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.core.errors import StoreFailed
from ragways.index.check import check
from ragways.index.views import Draft
from tests.faults.failing import outcome_of
from tests.faults.killing import changed, corpus, run
from tests.index.builds import contents, unlike

DOCUMENTS = 20


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile the shim that makes calls fail")
def test_calls_that_fail_at_any_moment(tmp_path: Path):
    outcome = outcome_of(tmp_path, trials=10, seed=11)
    assert outcome.crashed == []
    assert outcome.harmed == []
    assert outcome.unlike == []
    assert outcome.reported >= 5


@pytest.fixture
def index(tmp_path: Path) -> Path:
    run(tmp_path / "index", corpus(tmp_path / "docs", 10), tmp_path / "bill")
    changed(tmp_path / "docs", 10)
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.EIO, "check the disk"), (errno.EMFILE, "ulimit -n"), (errno.ENOSPC, "free some space")]
)
def test_views_that_cannot_be_published_are_left_to_the_next_run(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, cure: str
):
    undisturbed = Path(shutil.copytree(index, tmp_path / "undisturbed"))

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Draft, "publish", fail)
        with pytest.raises(StoreFailed, match="what was stored before is unharmed") as failed:
            run(index, tmp_path / "docs", tmp_path / "bill")
    assert cure in failed.value.cure
    assert check(index).fit
    run(index, tmp_path / "docs", tmp_path / "bill")
    run(undisturbed, tmp_path / "docs", tmp_path / "bill")
    assert unlike(contents(undisturbed), contents(index)) == []


def test_a_file_that_may_not_grow(index: Path, tmp_path: Path):
    """The system refuses to let a file grow: SQLite, tantivy and NumPy each report it in their own way."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    largest = max(path.stat().st_size for path in (index / "views").rglob("*") if path.is_file())
    failed = 0
    try:
        for limit in (200, largest // 4, largest, 300_000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            try:
                run(index, tmp_path / "docs", tmp_path / "bill")
            except StoreFailed as error:
                failed += 1
                assert error.cure  # noqa: PT017 - it may also have had room enough
                assert "\n" not in str(error)  # noqa: PT017
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert failed
    assert check(index).fit


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], capture_output=True, check=False
    ).returncode  # fmt: skip
    if not mounted:
        pytest.skip("cannot mount a small disk here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # files may still be mapped


def test_a_real_disk_that_is_full(small_disk: Path, tmp_path: Path):
    docs, index, bill = corpus(tmp_path / "docs", DOCUMENTS), small_disk / "index", tmp_path / "bill"
    run(index, docs, bill)
    undisturbed = Path(shutil.copytree(index, tmp_path / "undisturbed"))
    changed(docs, DOCUMENTS)
    failed = 0
    for room in (0, 40, 90, 150, 250, 400, 700):
        filler = small_disk / "filler"
        free = os.statvfs(small_disk)
        filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - room * 1024))
        try:
            run(index, docs, bill)
        except StoreFailed as error:
            assert "full: free some space and run again" in str(error)  # noqa: PT017
            failed += 1
        else:
            break
        finally:
            filler.unlink()
        assert check(index).fit, room
    assert failed
    run(index, docs, bill)
    run(undisturbed, docs, bill)
    assert unlike(contents(undisturbed), contents(index)) == []
