"""A disk that fills up at any moment leaves the index as it was, and the next run goes on."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragways.core.errors import StoreFailed
from tests.faults.killing import changed, corpus, run
from tests.index.whole import unlike, whole

DOCUMENTS = 20
WRITES = ("INSERT", "DELETE", "CREATE", "COMMIT", "UPDATE")


class Disk:
    """Counts what is written, by SQLite and to files, and is full from a chosen write on."""

    def __init__(self, patch: pytest.MonkeyPatch, full_at: int | None) -> None:
        self.writes = 0
        self.full_at = full_at
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
                if sql.lstrip().startswith(WRITES) and disk.full():
                    raise sqlite3.OperationalError("database or disk is full")
                return super().execute(sql, *rest)

            def executemany(self, sql: str, *rest: Any) -> sqlite3.Cursor:
                if disk.full():
                    raise sqlite3.OperationalError("database or disk is full")
                return super().executemany(sql, *rest)

        connect = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, **{"factory": Connection, **more}))
        for owner, name in ((np, "save"), (Path, "write_text"), (Path, "rename"), (Path, "mkdir")):
            patch.setattr(owner, name, self.limited(getattr(owner, name)))

    def full(self) -> bool:
        self.writes += 1
        return self.full_at is not None and self.writes >= self.full_at

    def limited(self, write: Any) -> Any:
        def attempt(*args: Any, **more: Any) -> Any:
            if self.full():
                raise OSError(28, "No space left on device")
            return write(*args, **more)

        return attempt


def test_full_at_any_write(tmp_path: Path):
    docs, index, bill = corpus(tmp_path / "docs", DOCUMENTS), tmp_path / "index", tmp_path / "bill"
    run(index, docs, bill)
    before = whole(index)
    changed(docs, DOCUMENTS)
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch, None)
        run(tmp_path / "fresh", docs, bill)
    dice = random.Random(7)
    moments = sorted(dice.sample(range(1, disk.writes), 12))
    for moment in moments:
        with pytest.MonkeyPatch.context() as patch:
            full = Disk(patch, moment)
            try:
                run(index, docs, bill)
            except StoreFailed as error:
                assert "full" in str(error)  # noqa: PT017 - it may also have had room enough
                if "is in place" in str(error):
                    assert set(unlike(whole(tmp_path / "fresh"), whole(index))) <= {"index.sqlite/meta"}
                    break
            else:
                assert full.writes < moment
                break
        assert unlike(before, whole(index)) == [], moment
    run(index, docs, bill)
    assert unlike(whole(tmp_path / "fresh"), whole(index)) == []


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
    changed(docs, DOCUMENTS)
    before = whole(index)
    failed = 0
    for room in (0, 40, 90, 150, 250, 400, 700):
        filler = small_disk / "filler"
        free = os.statvfs(small_disk)
        filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - room * 1024))
        try:
            run(index, docs, bill)
        except StoreFailed as error:
            assert "full" in str(error)  # noqa: PT017
            failed += 1
        else:
            break
        finally:
            filler.unlink()
        assert unlike(before, whole(index)) == [], room
    assert failed
    run(index, docs, bill)
    run(tmp_path / "fresh", docs, bill)
    assert unlike(whole(tmp_path / "fresh"), whole(index)) == []
