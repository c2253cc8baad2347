"""A system that lacks room or file handles: a command says so in one line, and calls no file damaged."""

from __future__ import annotations

import gc
import os
import resource
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import StoreExhausted
from ragways.index.check import check
from ragways.index.open import Index
from ragways.service.state import State
from ragways.store.cache import WorkCache
from ragways.store.store import Store
from tests.index.runs import indexed

DOCS = {"light.txt": "The harbour light was built by Ada Marsh.", "ferry.txt": "The ferry carries the post."}
LAYERS = ("vectors", "words", "graph")

FULL_DISK = """
set -e
cd $1
truncate -s 4M image
mkfs.ext4 -q -b 1024 -m 0 -O ^has_journal image
mkdir disk
mount -o loop image disk
cp -r index disk
rm -f disk/index/*-shm
dd if=/dev/zero of=disk/rest bs=1024 2>/dev/null || true
truncate -s -10K disk/rest
sync -f disk
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("exhausted"), DOCS, *LAYERS)


def read(index: Path) -> None:
    with closing(Index.open(index)) as opened:
        for layer in LAYERS:
            opened.layer(layer)
        opened.words.search("harbour light", 3)


def check_all(index: Path) -> None:
    assert check(index).fit


def test_too_few_handles_are_not_damage(index: Path):
    for use in (read, check_all):
        use(index)  # modules are imported
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    outcomes = list[object]()
    try:
        for more in range(64):  # handles above the lowest free one may be in use
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + more, before[1]))
            for use in (read, check_all):
                gc.collect()  # a view that was opened in part has cycles, which hold handles
                try:
                    use(index)
                    outcomes.append("done")
                except StoreExhausted as error:
                    outcomes.append("ulimit -n" in error.cure)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert set(outcomes) == {"done", True}


def test_a_full_disk_with_small_blocks_ends_commands_in_one_line(index: Path):
    """A real one where this user may mount it: there SQLite's file in memory ended them by a bus error."""
    home = index.parent
    commands = [
        ["ask", "Who built the light?", "--paradigm", "words"], ["check"], ["status"],
        ["index", str(home / "docs"), "--with", "words"],
    ]  # fmt: skip
    run = [shlex.join([sys.executable, "-m", "ragways", *command, "--index", "disk/index"]) for command in commands]
    script = FULL_DISK + "\n".join(f"{line} >&2 || echo $?" for line in run)
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", script, "bash", str(home)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("no disk of one's own: mounting takes root, unshare and mkfs.ext4")
    assert done.stdout.split() == ["3"] * len(commands), done.stderr
    said = done.stderr.splitlines()
    assert len(said) == len(commands), done.stderr
    assert all("is full: free some space" in line for line in said)


def test_no_database_is_opened_on_a_full_disk_with_small_blocks(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    State(tmp_path / "service.sqlite").close()
    status = os.statvfs(index)

    def full(_: object) -> os.statvfs_result:
        return os.statvfs_result((1024, 1024, status[2], 8, 8, *status[5:]))

    monkeypatch.setattr(os, "statvfs", full)
    for use in (Store.open, Store.write, WorkCache, check, lambda _: State(tmp_path / "service.sqlite")):
        with pytest.raises(StoreExhausted, match="free some space"):
            use(index)


def test_a_full_disk_for_what_is_printed_is_one_line(index: Path):
    command = [sys.executable, "-m", "ragways", "check", "--index", str(index)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "ragways: No space left on device: free some space and run again\n"


def test_a_check_on_a_full_disk_says_so_and_does_not_call_the_index_unfit(index: Path, monkeypatch: pytest.MonkeyPatch):
    """The titles are compared in a scratch database, for which the disk has no room."""

    def full(_: Path) -> Store:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "scratch", full)
    with pytest.raises(StoreExhausted, match="free some space"):
        check(index)
