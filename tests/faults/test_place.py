"""Only what ragways made is ever written to or deleted; whatever else lies there is refused and stays as it was."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import NoIndex, StoreFailed, UsageError
from ragways.index.build import build
from ragways.index.open import Index
from ragways.store.place import check_place
from tests.fakes import recipe, write
from tests.index.builds import contents


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", {"a.txt": "The harbour light.", "b.txt": "A storm took the tower."})


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> Path:
    run(tmp_path / "index", docs)
    return tmp_path / "index"


def run(index: Path, docs: Path, *, rebuild: bool = False) -> None:
    asyncio.run(build(index, [docs], recipe(), rebuild=rebuild))


def changed(docs: Path, turn: int) -> Path:
    return write(docs, {"a.txt": f"The harbour light of turn {turn}."})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def database(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE letters (text TEXT)")
    return file


FOREIGN: dict[str, Callable[[Path], object]] = {
    "files": lambda folder: write(folder, {"thesis.tex": "Ten years of work."}),
    "views": lambda folder: write(folder, {"views/photos/1.jpg": "A photo."}),
    "numbered": lambda folder: write(folder, {"views/2024/report.txt": "A report."}),
    "database": lambda folder: database(folder / "index.sqlite"),
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
    with pytest.raises((StoreFailed, NoIndex)):
        Index.open(folder)
    assert tree(folder) == before


def test_the_root_of_the_disk_is_refused_and_a_wrong_path_leaves_no_folder(tmp_path: Path):
    with pytest.raises(StoreFailed, match="not empty"):
        check_place(Path("/"))
    with pytest.raises(UsageError, match="does not exist"):
        run(tmp_path / "index", tmp_path / "dosc")
    assert not list(tmp_path.iterdir())


def test_what_a_user_put_into_an_index_stays(index: Path, tmp_path: Path, docs: Path):
    own = write(tmp_path / "own", {"notes.txt": "Mine."})
    files = {"notes.txt": "Mine.", "views/photos/1.jpg": "A photo.", "views/2024/report.txt": "A report."}
    write(index, files)
    (index / "elsewhere").symlink_to(own)
    for turn in range(4):
        run(index, changed(docs, turn), rebuild=turn == 2)
        assert all((index / name).read_text() == text for name, text in files.items())
    assert tree(own) == {"notes.txt": b"Mine."}
    assert len({path.name for path in (index / "views").iterdir()} - {"photos", "2024"}) == 1


def test_views_of_somebody_else_are_refused(index: Path, docs: Path):
    shutil.rmtree(index / "views")
    write(index, {"views/photos/1.jpg": "A photo."})
    for attempt in (lambda: run(index, docs), lambda: Index.open(index).vectors):
        with pytest.raises(StoreFailed, match="nothing that ragways made"):
            attempt()
    assert tree(index / "views") == {"photos/1.jpg": b"A photo."}


@pytest.mark.parametrize("part", ["views", "views/1", "views/9.draft", "index.sqlite", "work_cache.sqlite"])
def test_a_link_in_a_received_index_is_not_followed(index: Path, tmp_path: Path, docs: Path, part: str):
    path, home = index / part, tmp_path / "home"
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


def test_a_link_to_a_whole_index_is_followed_and_an_empty_folder_becomes_one(tmp_path: Path, docs: Path):
    (tmp_path / "big").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "big")
    run(tmp_path / "link", docs)
    run(tmp_path / "link", changed(docs, 1))
    assert contents(tmp_path / "link") == contents(tmp_path / "big")
