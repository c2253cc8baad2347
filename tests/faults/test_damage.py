"""A damaged file of an index is mended, or reported with its cure: no answer changes unnoticed."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import StoreDamaged
from ragways.index.build import build
from ragways.index.check import check
from ragways.index.open import Index
from ragways.index.views import published
from ragways.store.store import Store
from tests.fakes import recipe, write
from tests.faults.damage import built, emptied, flipped, trial, truncated, zeroed
from tests.index.builds import contents

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


def read_all(index: Path) -> None:
    with closing(Index.open(index)) as opened:
        for id, _, _ in opened.documents():
            opened.document(id)


def vectors(index: Path) -> Path:
    views = published(index)
    assert views is not None
    return views.of("vectors") / "rows.i8"


def test_no_damage_of_any_file_changes_an_answer_unnoticed(whole: Path, tmp_path: Path):
    outcome = trial(whole, tmp_path, trials=16, seed=5)
    assert outcome.wrong == []
    assert outcome.crashed == []
    assert outcome.seen == outcome.of_views
    assert outcome.mended
    assert set(outcome.by_damage) == {each.__name__ for each in (flipped, truncated, emptied, zeroed)}


def test_a_damaged_view_is_made_again_and_one_line_reports_it(index: Path, caplog: pytest.LogCaptureFixture):
    before = contents(index)
    flip(vectors(index), -3)
    with caplog.at_level(logging.WARNING):
        assert contents(index) == before
    [line] = caplog.messages
    assert "rows.i8 was damaged, and is made again" in line
    assert check(index).fit


@pytest.mark.parametrize("more", [{}, {"more.md": "# More\n\nAnother light.\n"}])
def test_a_run_takes_nothing_over_from_a_damaged_view(index: Path, docs: Path, tmp_path: Path, more: dict[str, str]):
    flip(vectors(index), -1)
    damaged = vectors(index).read_bytes()
    assert not check(index).fit
    run(index, write(docs, more))
    run(tmp_path / "fresh", docs)
    assert check(index).fit
    assert not vectors(index).read_bytes().startswith(damaged)
    assert contents(index) == contents(tmp_path / "fresh")


@pytest.mark.parametrize("damage", [lambda file: flip(file, file.read_bytes().index(b"the Harbour Light")),
                                    lambda file: file.write_bytes(file.read_bytes()[:5000])],
                         ids=["a bit of a text", "a torn write"])  # fmt: skip
def test_damaged_rows_are_an_error_whose_cure_cures(index: Path, docs: Path, damage: Callable[[Path], object]):
    before = contents(index)
    damage(index / "index.sqlite")
    with pytest.raises(StoreDamaged, match="--rebuild"):
        read_all(index)
    findings = check(index).findings
    assert any(finding.severity == "error" and "--rebuild" in finding.cure for finding in findings)
    run(index, docs, rebuild=True)
    assert contents(index) == before
    assert check(index).fit


def test_a_torn_log_of_a_run_that_was_cut_off_leaves_the_last_whole_commit(index: Path, tmp_path: Path):
    """Power fails while a batch is written: the log ends in the middle of it."""
    with closing(Store.write(index)) as store:
        before = store.meta()
        store.set_meta({"more": "x" * 50_000})
        copy = Path(shutil.copytree(index, tmp_path / "copy"))
    log = copy / "index.sqlite-wal"
    log.write_bytes(log.read_bytes()[:-5000] + bytes(2000))
    (copy / "index.sqlite-shm").unlink()
    with closing(Store.open(copy)) as store:
        assert store.meta() == before
    assert contents(copy) == contents(index)
    assert check(copy).fit


def test_a_damaged_row_of_the_work_cache_is_dropped_and_made_again(index: Path, docs: Path):
    before = contents(index)
    with closing(sqlite3.connect(index / "work_cache.sqlite")) as db, db:
        db.execute("UPDATE vectors SET vector = zeroblob(128) WHERE rowid = 1")
    assert [f.name for f in check(index).findings if f.severity == "error"] == ["damaged rows in work_cache.sqlite"]
    shutil.rmtree(index / "views")
    cure = pytest.raises(StoreDamaged, match="have them made again: ragways index PATH")
    with cure, closing(Index.open(index)) as opened:
        opened.vectors  # noqa: B018
    run(index, docs)
    assert contents(index) == before


@pytest.mark.parametrize("damage", [lambda file: flip(file, 5000), lambda file: file.write_bytes(b"")])
def test_a_damaged_lexicon_is_made_anew_and_one_line_reports_it(
    tmp_path: Path, docs: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], object]
):
    index, layers = tmp_path / "index", frozenset({"words", "graph"})
    asyncio.run(build(index, [docs], recipe(layers=layers)))
    lexicon = (index / "lexicon.sqlite").read_bytes()
    damage(index / "lexicon.sqlite")
    [finding] = check(index).findings
    assert (finding.name, finding.severity) == ("damage in lexicon.sqlite", "error")
    with caplog.at_level(logging.WARNING):
        asyncio.run(build(index, [docs], recipe(layers=frozenset())))
    [line] = caplog.messages
    assert "lexicon.sqlite was damaged, and is made anew" in line
    assert (index / "lexicon.sqlite").read_bytes() == lexicon
    assert check(index).fit
