"""A damaged file of an index is mended, or said with its cure: no answer changes unnoticed."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ragways.core.errors import StoreDamaged
from ragways.index import checksums
from ragways.index.build import build
from ragways.index.checksums import damaged_files, listed_files, seal_files
from ragways.index.folder import derive
from ragways.index.health import check
from ragways.index.layer import BuildContext, Layer
from ragways.index.packed import unpack
from ragways.index.reader import Index
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache
from tests.fakes import WordHashes, contents, recipe, write
from tests.faults.damage import built, trial

DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne. She came from Dunmarrow in 1801.\n",
    "storm.md": "# Storm\n\nThe storm of 1883 destroyed the Harbour Light. Anna Brack saw it.\n",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("whole"), documents=10)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", DOCS)


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> Path:
    run(tmp_path / "index", docs)
    return tmp_path / "index"


def run(index: Path, docs: Path, *, rebuild: bool = False) -> None:
    asyncio.run(build(index, [docs], recipe(), rebuild=rebuild))


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 4
    file.write_bytes(data)


def flip_text(file: Path, text: bytes) -> None:
    flip(file, file.read_bytes().index(text))


def test_no_damage_of_any_file_changes_an_answer_unnoticed(whole: Path, tmp_path: Path):
    outcome = trial(whole, tmp_path, trials=16, seed=5)
    assert outcome.wrong == []
    assert outcome.crashed == []
    assert outcome.seen == outcome.seeable
    assert outcome.mended
    assert outcome.said


def test_damaged_derived_files_are_made_again_and_one_line_says_so(index: Path, caplog: pytest.LogCaptureFixture):
    before = contents(index)
    flip(index / "derived" / "1" / "vectors" / "1" / "rows.npy", -3)
    with caplog.at_level(logging.WARNING):
        assert contents(index) == before
    [line] = caplog.messages
    assert "rows.npy was damaged, and is made again" in line
    assert check(index).fit


def test_damaged_derived_files_of_an_index_that_cannot_be_written(index: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.05)
    flip(index / "derived" / "1" / "vectors" / "1" / "rows.npy", -3)
    cure = pytest.raises(StoreDamaged, match=r"could not be made again .*: wait for it to end")
    with closing(Store.create_or_open(index)), closing(Index.open(index)) as opened, cure:
        opened.vectors  # noqa: B018


def test_nothing_of_a_damaged_generation_is_taken_over(index: Path, docs: Path, tmp_path: Path):
    postings = index / "derived" / "1" / "words" / "1" / "rows.npy"
    flip(postings, -1)
    damaged = postings.read_bytes()
    write(docs, {"more.md": "# More\n\nAnother light.\n"})
    run(index, docs)
    run(tmp_path / "fresh", docs)
    assert check(index).fit
    assert damaged not in [file.read_bytes() for file in (index / "derived" / "2" / "words").glob("*/*")]
    assert contents(index) == contents(tmp_path / "fresh")


def test_files_in_common_with_the_generation_before_keep_their_sums_unread(tmp_path: Path, monkeypatch):
    before, after = tmp_path / "1", tmp_path / "2"
    for folder, own in ((before, "old"), (after, "new")):
        (folder / "words").mkdir(parents=True)
        (folder / "words" / "own").write_text(own)
    (before / "words" / "same").write_bytes(b"kept" * 9)
    seal_files(before, "list")
    (after / "words" / "same").hardlink_to(before / "words" / "same")
    written: list[str] = []
    real = checksums._written

    def listen(path: Path) -> checksums.Sum:
        written.append(path.name)
        return real(path)

    monkeypatch.setattr(checksums, "_written", listen)
    seal_files(after, "list", before)
    assert written == ["own"]
    listed = listed_files(after, "list")
    assert listed is not None
    assert damaged_files(after, listed) == []
    flip(before / "words" / "same", 3)  # one file by two names
    assert damaged_files(after, listed) == ["words/same"]
    seal_files(after, "list", before)
    assert listed_files(after, "list") == listed


def test_files_of_many_blocks_are_compared_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checksums, "BLOCK", 1000)
    (tmp_path / "file").write_bytes(bytes(range(256)) * 20)
    seal_files(tmp_path, "list")
    listed = listed_files(tmp_path, "list")
    assert listed is not None
    assert len(listed["file"].crcs) == 6
    for at in (0, 999, 1000, 5119):
        flip(tmp_path / "file", at)
        assert damaged_files(tmp_path, listed) == ["file"]
        for limit in ("COMPARED", "DRAWN"):
            monkeypatch.setattr(checksums, limit, 2000)
        assert {bool(damaged_files(tmp_path, listed)) for _ in range(60)} == {True, False}
        assert damaged_files(tmp_path, listed, every=True) == ["file"]
        monkeypatch.undo()
        monkeypatch.setattr(checksums, "BLOCK", 1000)
        flip(tmp_path / "file", at)
        assert damaged_files(tmp_path, listed) == []


def test_nothing_is_made_of_large_files_that_are_damaged(
    index: Path, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of large files not all is compared when a run begins; what it has read is compared when it has."""
    flip(index / "derived" / "1" / "vectors" / "1" / "rows.npy", -3)
    write(docs, {"more.md": "# More\n\nAnother light.\n"})
    told: list[Path | None] = []

    def listen(context: BuildContext, generation: int, layers: list[Layer]) -> None:
        told.append(context.before)
        derive(context, generation, layers)

    monkeypatch.setattr("ragways.index.run.derive", listen)
    for limit in ("COMPARED", "DRAWN"):
        monkeypatch.setattr(checksums, limit, 0)
    run(index, docs)
    assert told == [index / "derived" / "1", None]
    run(tmp_path / "fresh", docs)
    assert check(index).fit
    assert contents(index) == contents(tmp_path / "fresh")


def test_a_run_makes_damaged_files_again_even_if_no_document_changed(index: Path, docs: Path):
    flip(index / "derived" / "1" / "vectors" / "1" / "path_numbers.npy", -1)
    assert not check(index).fit
    run(index, docs)
    assert check(index).fit


def test_a_damaged_store_is_an_error_whose_cure_cures(index: Path, docs: Path):
    before = contents(index)
    flip_text(index / "index.sqlite", b"the Harbour Light")
    for attempt in (lambda: Index.open(index), lambda: run(index, docs)):
        with pytest.raises(StoreDamaged, match="--rebuild"):
            attempt()
    [finding] = check(index).findings
    assert (finding.name, finding.severity) == ("damage in index.sqlite", "error")
    run(index, docs, rebuild=True)
    assert contents(index) == before
    assert check(index).fit


def test_a_store_whose_seal_is_lost_is_looked_through_and_sealed_again(index: Path):
    seal = index / "index.sqlite.sum"
    was = seal.read_text()
    for damage in (lambda: seal.unlink(), lambda: seal.write_text("?"), lambda: flip(seal, 8)):
        damage()
        Index.open(index).close()
        assert seal.read_text() == was


def test_a_commit_that_was_killed_before_it_was_sealed_is_no_damage(index: Path):
    """Between a commit and its seal the file is new and the seal tells of the old one."""
    store = Store.create_or_open(index)
    store.set_meta({"more": "x" * 10_000})
    store.seal.unseal()
    store.db.execute("COMMIT")
    store.db.close()
    assert not check_sealed(index)
    with closing(Index.open(index)) as opened:
        assert opened._store.meta()["more"] == "x" * 10_000
    assert check_sealed(index)


def check_sealed(index: Path) -> bool:
    return (index / "index.sqlite.sum").read_text().startswith("clear")


def test_looking_at_the_file_frees_no_lock_of_sqlite(index: Path):
    """A process that closes any descriptor of a file loses all its locks on it: the checksum must do without."""
    file = index / "index.sqlite"
    with closing(Index.open(index)):
        assert is_locked(file)
        Index.open(index).close()
        assert is_locked(file)
    assert not is_locked(file)


def is_locked(file: Path) -> bool:
    """Whether SQLite's shared lock on `file` is held, asked by another process: one's own locks never hinder one.

    `/proc/locks` would tell, but while other processes lock and unlock it may name a lock twice, or not at all.
    """
    try_lock = """
import fcntl, sys
with open(sys.argv[1], "rb+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        sys.exit(1)
"""
    return subprocess.run([sys.executable, "-c", try_lock, str(file)], check=False).returncode == 1


def test_a_damaged_row_of_the_work_cache_is_dropped_and_made_again(index: Path, docs: Path):
    before = contents(index)
    db = sqlite3.connect(index / "work_cache.sqlite")
    db.execute("UPDATE vectors SET vector = zeroblob(128) WHERE rowid = 1")
    db.commit()
    db.close()
    assert [f.name for f in check(index).findings if f.severity == "error"] == ["damaged rows in work_cache.sqlite"]
    shutil.rmtree(index / "derived" / "1")
    with pytest.raises(StoreDamaged, match="have them made again: ragways index PATH"):
        Index.open(index)
    run(index, docs)
    assert contents(index) == before


def test_damaged_results_and_replies_count_as_not_there(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    cache = WorkCache(tmp_path)
    cache.keep_results("facts", {"a": "one", "b": "two"})
    cache.put("asked", "said")
    assert cache.results("facts", "ab") == {"a": "one", "b": "two"}
    assert cache.get("asked") == "said"
    cache._db.execute("UPDATE results SET value = CAST(x'ff' AS TEXT) WHERE hash = 'a'")
    cache._db.execute("UPDATE replies SET reply = 'other'")
    assert cache.results("facts", "ab") == {"b": "two"}
    assert "1 damaged results" in caplog.text
    assert cache.results("facts", "ab") == {"b": "two"}
    assert cache.get("asked") is None
    cache.close()


def test_vectors_of_an_earlier_version_are_packed_and_not_made_again(tmp_path: Path):
    db = sqlite3.connect(tmp_path / "work_cache.sqlite")
    db.execute("CREATE TABLE vectors (embedder TEXT, hash TEXT, vector BLOB NOT NULL, PRIMARY KEY (embedder, hash))")
    db.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
    db.execute("INSERT INTO vectors VALUES ('e', 'h', ?)", (np.array([0.6, -0.8], np.float32).tobytes(),))
    db.execute("INSERT INTO replies VALUES ('k', 'r')")
    db.commit()
    db.close()
    cache = WorkCache(tmp_path)
    assert cache.known("e", ["h", "other"]) == {"h"}
    assert np.allclose(unpack(cache.vectors("e", ["h"])["h"]), [0.6, -0.8], atol=0.005)
    assert cache.get("k") == "r"
    cache.close()


def test_a_work_cache_that_is_no_database_any_more_is_named_with_its_cure(index: Path, docs: Path):
    before = contents(index)
    file = index / "work_cache.sqlite"
    data = bytearray(file.read_bytes())
    data[4096:] = b"\x55" * (len(data) - 4096)
    file.write_bytes(data)
    write(docs, {"more.md": "# More\n\nAnother light.\n"})
    with pytest.raises(StoreDamaged, match=r"work_cache.sqlite is damaged .* move it away"):
        run(index, docs)
    assert WordHashes().name
    run(index, docs, rebuild=True)
    (docs / "more.md").unlink()
    run(index, docs)
    assert contents(index) == before
