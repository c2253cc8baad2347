"""Only what ragways made is ever written to or deleted; whatever else lies there is refused and stays as it was."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ragways.core.errors import NoIndex, StoreFailed, UsageError
from ragways.index.build import build
from ragways.index.place import MARK, check_place
from ragways.index.plan import plan
from ragways.index.reader import Index
from ragways.index.work_cache import WorkCache
from tests.fakes import contents, recipe, write


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", {"a.txt": "The harbour light.", "b.txt": "A storm took the tower."})


def run(index: Path, docs: Path, *, rebuild: bool = False) -> None:
    asyncio.run(build(index, [docs], recipe(), rebuild=rebuild))


def changed(docs: Path, turn: int) -> Path:
    return write(docs, {"a.txt": f"The harbour light of turn {turn}."})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def database(file: Path, *, wal: bool = False) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(file)
    if wal:
        db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE letters (text TEXT)")
    db.commit()
    db.close()
    return file


FOREIGN: dict[str, Callable[[Path], object]] = {
    "files": lambda folder: write(folder, {"thesis.tex": "Ten years of work."}),
    "derived": lambda folder: write(folder, {"derived/photos/1.jpg": "A photo."}),
    "numbered": lambda folder: write(folder, {"derived/2024/report.txt": "A report."}),
    "database": lambda folder: database(folder / "index.sqlite"),
    "wal": lambda folder: database(folder / "index.sqlite", wal=True),
    "junk": lambda folder: write(folder, {"index.sqlite": "Not a database at all. " * 500}),
    "blank": lambda folder: write(folder, {"index.sqlite": "", "thesis.tex": "Ten years of work."}),
    "work cache": lambda folder: database(folder / "work_cache.sqlite"),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("rebuild", [False, True])
def test_a_folder_that_is_no_index_is_refused_and_stays_as_it_was(tmp_path: Path, docs: Path, kind: str, rebuild: bool):
    folder = tmp_path / "project"
    FOREIGN[kind](folder)
    before = tree(folder)
    with pytest.raises(StoreFailed, match="--index"):
        run(folder, docs, rebuild=rebuild)
    with pytest.raises(StoreFailed, match="--index"):
        asyncio.run(plan(folder, [docs], recipe()))
    with pytest.raises((StoreFailed, NoIndex)):
        Index.open(folder)
    assert tree(folder) == before


def test_the_root_of_the_disk_is_refused():
    with pytest.raises(StoreFailed, match="not empty"):
        check_place(Path("/"))


def test_an_index_that_another_process_makes_meanwhile_is_no_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A listing that began before the mark was made may hold the store, made later, and not the mark."""
    (tmp_path / MARK).write_text("", encoding="utf-8")
    (tmp_path / "index.sqlite").write_bytes(b"half")
    listed = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda folder: (path for path in listed(folder) if path.name != MARK))
    check_place(tmp_path)


def test_a_missing_and_an_empty_folder_become_an_index(tmp_path: Path, docs: Path):
    (tmp_path / "empty").mkdir()
    run(tmp_path / "empty", docs)
    run(tmp_path / "new" / "deep", docs)
    assert contents(tmp_path / "empty") == contents(tmp_path / "new" / "deep")


def test_a_wrong_path_leaves_no_folder_behind(tmp_path: Path):
    with pytest.raises(UsageError, match="does not exist"):
        run(tmp_path / "index", tmp_path / "dosc")
    with pytest.raises(NoIndex):
        Index.open(tmp_path / "index")
    assert not list(tmp_path.iterdir())


def test_what_a_user_put_into_an_index_stays(tmp_path: Path, docs: Path):
    index = tmp_path / "index"
    run(index, docs)
    own = write(tmp_path / "own", {"notes.txt": "Mine."})
    kept = {"notes.txt": "Mine.", "derived/photos/1.jpg": "A photo.", "derived/2024/report.txt": "A report."}
    write(index, kept)
    (index / "elsewhere").symlink_to(own)
    for turn in range(4):
        run(index, changed(docs, turn), rebuild=turn == 2)
        assert all((index / name).read_text() == text for name, text in kept.items())
    assert tree(own) == {"notes.txt": b"Mine."}
    generations = {path.name for path in (index / "derived").iterdir()} - {"photos", "2024"}
    assert generations == {"5"}  # those of ours before it are still cleared


def test_a_folder_in_the_way_of_a_generation_is_refused(tmp_path: Path, docs: Path):
    index = tmp_path / "index"
    run(index, docs)
    write(index, {"derived/2/report.txt": "A report."})
    with pytest.raises(StoreFailed, match="move it elsewhere"):
        run(index, changed(docs, 1))
    assert (index / "derived" / "2" / "report.txt").read_text() == "A report."
    shutil.rmtree(index / "derived" / "2")
    run(index, docs)
    assert len(contents(index)["documents"]) == 2


def test_a_derived_folder_of_somebody_else_is_refused(tmp_path: Path, docs: Path):
    index = tmp_path / "index"
    run(index, docs)
    shutil.rmtree(index / "derived")
    write(index, {"derived/photos/1.jpg": "A photo."})
    for attempt in (lambda: run(index, docs), lambda: Index.open(index)):
        with pytest.raises(StoreFailed, match="nothing that ragways made"):
            attempt()
    assert tree(index / "derived") == {"photos/1.jpg": b"A photo."}


@pytest.mark.parametrize("part", ["derived", "derived/1", "derived/2.draft", "index.sqlite", "work_cache.sqlite"])
def test_a_link_in_a_received_index_is_not_followed(tmp_path: Path, docs: Path, part: str):
    index, home = tmp_path / "index", tmp_path / "home"
    run(index, docs)
    path = index / part
    if part.endswith("sqlite"):
        target = database(home / "mine.sqlite")
        path.unlink()
    else:
        target = write(home / "folders", {"1/letter.txt": "Dear.", "photos/1.jpg": "A photo."})
        shutil.rmtree(path, ignore_errors=True)
    path.symlink_to(target)
    before = tree(home)
    for attempt in (
        lambda: Index.open(index),
        lambda: run(index, changed(docs, 1)),
        lambda: run(index, docs, rebuild=True),
    ):
        with pytest.raises(StoreFailed, match="is a link"):
            attempt()
    assert tree(home) == before
    assert path.is_symlink()


def test_replies_are_not_written_to_a_database_of_somebody_else(tmp_path: Path):
    for folder, file in (("plain", "work_cache.sqlite"), ("linked", "mine.sqlite")):
        database(tmp_path / folder / file)
    (tmp_path / "linked" / "work_cache.sqlite").symlink_to(tmp_path / "linked" / "mine.sqlite")
    before = tree(tmp_path)
    for folder in ("plain", "linked"):
        with pytest.raises(StoreFailed):
            WorkCache(tmp_path / folder)
    assert tree(tmp_path) == before


def test_a_link_to_a_whole_index_is_followed(tmp_path: Path, docs: Path):
    (tmp_path / "big").mkdir()
    (tmp_path / "index").symlink_to(tmp_path / "big")
    run(tmp_path / "index", docs)
    run(tmp_path / "index", changed(docs, 1))
    assert contents(tmp_path / "index") == contents(tmp_path / "big")


def test_an_index_from_before_the_mark_is_known_by_its_store(tmp_path: Path, docs: Path):
    index = tmp_path / "index"
    run(index, docs)
    (index / MARK).unlink()
    run(index, changed(docs, 1))
    assert (index / MARK).is_file()
    assert {path.name for path in (index / "derived").iterdir()} == {"2"}
    (index / MARK).unlink()
    db = sqlite3.connect(index / "index.sqlite")
    db.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
    db.commit()
    db.close()
    run(index, docs, rebuild=True)
    assert len(contents(index)["documents"]) == 2


def test_an_emptied_file_is_left_out_and_nothing_failed(tmp_path: Path, docs: Path):
    index = tmp_path / "index"
    run(index, docs)
    write(docs, {"a.txt": "", "c.pdf": "", "d.json": "", "e.md": "\n \n"})
    planned = asyncio.run(plan(index, [docs], recipe()))
    summary = asyncio.run(build(index, [docs], recipe()))
    for found in (planned, summary):
        assert found.failed == []
        assert {skip.key for skip in found.skipped} == {"docs/a.txt", "docs/c.pdf", "docs/d.json", "docs/e.md"}
    assert (summary.removed, summary.unchanged) == (1, 1)
