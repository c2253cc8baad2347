"""Calls on the disk that fail end in one line with the cure, and the index stays whole."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from ragways.core.errors import StoreFailed
from ragways.index.check import check
from ragways.index.views import Draft
from tests.faults.failing import outcome_of
from tests.faults.killing import changed, corpus, run
from tests.index.builds import contents, unlike


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
