"""No byte of a removed row stays in a database: looked for in its file, and what is left is whole."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from ragways.index import database, page_gaps, work_cache
from ragways.index.database import descriptor_of
from ragways.index.seal import Seal, seal_of
from ragways.index.store import FILE, Store
from ragways.index.work_cache import FILE as CACHE
from ragways.index.work_cache import WorkCache

SIZES = [1, 3, 8, 8, 180]
"""Of texts, in 50 letters; the last is longer than a page."""
PIECE = 25


def text(dice: Random) -> str:
    """Letters that no other text has."""
    return "".join(f"{dice.getrandbits(200):050x}" for _ in range(dice.choice(SIZES)))


def is_left(file: Path, text: str) -> bool:
    """Whether a file has a piece of a text."""
    held = file.read_bytes()
    return any(text[at : at + PIECE].encode() in held for at in range(0, len(text), PIECE))


def make_rows(store: Store, dice: Random, count: int) -> dict[int, str]:
    """Rows in any order, some in each commit."""
    store.db.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
    rows = {dice.getrandbits(60): text(dice) for _ in range(count)}
    for number, row in enumerate(rows.items()):
        if not store.db.in_transaction:
            store.begin()
        store.db.execute("INSERT INTO rows VALUES (?, ?)", row)
        if not number % 37:
            store.commit()
    store.commit()
    return rows


@pytest.mark.parametrize("seed", range(2))
def test_nothing_of_a_removed_row_stays_in_the_store(tmp_path: Path, seed: int) -> None:
    dice, folder = Random(seed), tmp_path / "index"
    with closing(Store.create_or_open(folder)) as store:
        rows = make_rows(store, dice, 300)
        for id in dice.sample(sorted(rows), 100):
            store.begin()
            if dice.random() < 0.5:
                store.db.execute("DELETE FROM rows WHERE id = ?", (id,))
                gone = rows.pop(id)
            else:
                gone, rows[id] = rows[id], text(dice)
                store.db.execute("UPDATE rows SET text = ? WHERE id = ?", (rows[id], id))
            store.commit()
            assert store.settled
            assert not is_left(folder / FILE, gone)
    with closing(Store.open(folder)) as store:  # which compares the file with its seal
        assert dict(store.db.execute("SELECT id, text FROM rows")) == rows
        assert store.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_an_earlier_version_left_goes_with_the_next_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice, folder = Random(4), tmp_path / "index"
    with monkeypatch.context() as earlier, closing(Store.create_or_open(folder)) as store:
        earlier.setattr("ragways.index.seal.clear_gaps", lambda *_: None)
        earlier.setattr("ragways.index.seal._CLEAR", "sealed")
        rows = make_rows(store, dice, 300)
        for id in dice.sample(sorted(rows), len(rows)):
            store.begin()
            store.db.execute("DELETE FROM rows WHERE id = ?", (id,))
            store.commit()
            if is_left(folder / FILE, rows[id]):
                break
        else:
            pytest.fail("SQLite overwrites all that it deletes: there is nothing to do here any more")
    with closing(Store.create_or_open(folder)) as store:
        store.set_meta({"another": "commit"})
        store.commit()
    assert not is_left(folder / FILE, rows[id])


@pytest.mark.parametrize("way", ["results", "replies", "failures"])
def test_nothing_that_the_work_cache_forgets_stays_in_it(tmp_path: Path, way: str) -> None:
    dice = Random(7)
    kept = {f"{dice.getrandbits(60):015x}": text(dice) for _ in range(300)}
    with closing(WorkCache(tmp_path)) as cache:
        for hash, value in kept.items():
            if way == "results":
                cache.keep_results("kind", {hash: value})
            elif way == "replies":
                cache.put(hash, value)
            else:
                cache.keep_failure("kind", hash, value)
        for hash in dice.sample(sorted(kept), 30 if way != "replies" else 1):
            cache.forget([hash])
            assert cache.settle()
            gone = [kept.pop(hash)] if way != "replies" else list(kept.values())
            assert not [value for value in gone if is_left(tmp_path / CACHE, value)]
        if way == "results":
            assert cache.all_results("kind") == kept


def test_the_work_cache_looks_through_what_was_written_or_through_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Collection[int] | None]()

    def spy(descriptor: int, pages: Collection[int] | None) -> None:
        asked.append(pages)
        page_gaps.clear_gaps(descriptor, pages)

    monkeypatch.setattr(work_cache, "clear_gaps", spy)
    many = {f"{number:08}": "x" * 3000 for number in range(2000)}
    with closing(WorkCache(tmp_path)) as cache:
        cache.keep_results("kind", many)
        assert cache.settle()
        assert asked == [None], "what is in a new file is not known"
        assert cache.settle()
        assert len(asked) == 1, "nothing was written since"
        cache.keep_results("kind", {"one": "more"})
        assert cache.settle()
        assert 0 < len(asked[-1] or ()) < 10
        for hash, value in many.items():
            cache.keep_results("other", {hash: value})
        assert cache.settle()
        assert asked[-1] is None, "the log was begun again"
    with closing(WorkCache(tmp_path)) as cache:
        cache.put("key", "reply")  # and closed without `settle`, as those who only ask do
    with closing(WorkCache(tmp_path)) as cache:
        cache.keep_results("kind", {"one": "less"})
        assert cache.settle()
        assert asked[-1] is None, "somebody else has written"


@pytest.mark.parametrize("fails", [False, True])
def test_what_comes_while_the_work_cache_settles_is_looked_through_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """A server keeps a reply in between: what it wrote is not in the log that was read. Where settling fails by it, the
    next one does not know what the first has brought into the file.
    """
    asked = list[Collection[int] | None]()
    empty = database.empty_log
    with closing(WorkCache(tmp_path)) as cache, closing(WorkCache(tmp_path)) as server:
        cache.keep_results("kind", {"one": "text"})
        assert cache.settle()
        cache.keep_results("kind", {"one": "more"})
        monkeypatch.setattr(work_cache, "clear_gaps", lambda _, pages: asked.append(pages))

        def later(db: sqlite3.Connection) -> bool:
            monkeypatch.setattr(work_cache, "empty_log", empty)
            if not fails:
                server.put("key", "reply")
            done = empty(db)
            if fails:
                server.put("key", "reply")
            return done

        monkeypatch.setattr(work_cache, "empty_log", later)
        assert cache.settle() == (not fails)
        assert cache.settle()
    assert asked == [None]


def test_a_file_of_other_kinds_of_pages_is_left_as_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None)) as db:
        db.execute("PRAGMA page_size = 512")
        db.execute("PRAGMA auto_vacuum = FULL")
        db.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
        db.executemany("INSERT INTO rows (text) VALUES (?)", [(text(Random(n)),) for n in range(300)])
        before = (tmp_path / "db").read_bytes()
        page_gaps.clear_gaps(descriptor_of(tmp_path / "db", write=True))
        assert (tmp_path / "db").read_bytes() == before


def test_no_more_is_cleared_than_what_is_in_no_use(tmp_path: Path) -> None:
    """Page by page, against what SQLite itself counts as not used."""
    with closing(Store.create_or_open(tmp_path / "index")) as store:
        make_rows(store, Random(3), 400)
        size = store.db.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT pageno, pagetype, ncell, unused FROM dbstat WHERE name = 'rows'"
        known = store.db.execute(query).fetchall()
    held = (tmp_path / "index" / FILE).read_bytes()
    kinds = set()
    for number, kind, _, unused in known:
        page = held[(number - 1) * size : number * size]
        begin, end = page_gaps._gap(page, 0)
        kinds.add(kind)
        assert end - begin <= unused
        assert kind != "overflow" or begin == end
        assert not any(page[begin:end])
    assert kinds == {"internal", "leaf", "overflow"}


def _reader_seals(folder: Path) -> None:
    code = "from ragways.index.store import Store; from pathlib import Path; import sys\nStore.open(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)


def test_a_reader_that_comes_before_a_file_is_packed_leaves_it_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "index"
    with closing(Store.create_or_open(folder)) as store:
        store.set_meta({f"{number * 7919 % 10_000:06}": "x" * 300 for number in range(10_000)})
        pack = store._pack

        def later() -> None:
            _reader_seals(folder)
            known = Seal(folder / FILE).read()
            assert known is not None
            assert not known.broken_by
            pack()

        monkeypatch.setattr(store, "_pack", later)
        store.commit()
    with closing(Store.open(folder)) as store:
        assert store.seal.is_whole(_known(folder).was, every=True)


def test_a_run_that_is_killed_when_it_has_packed_the_file_leaves_it_whole(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with closing(Store.create_or_open(folder)) as store:
        store.set_meta({f"{number * 7919 % 10_000:06}": "x" * 300 for number in range(10_000)})
        store.commit(settle=False)
        store.settle(pack=False)
    code = """
import os, sys
from pathlib import Path
from ragways.index.store import Store
store = Store.create_or_open(Path(sys.argv[1]))
store.rollback()
store.db.execute("VACUUM")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
    assert Path(f"{folder / FILE}-wal").stat().st_size > 1_000_000
    assert not _known(folder).broken_by
    for _ in range(2):
        with closing(Store.open(folder)) as store:
            assert store.seal.is_whole(_known(folder).was, every=True)
            assert store.meta()["000042"] == "x" * 300


def _known(folder: Path):
    known = Seal(folder / FILE).read()
    assert known is not None, seal_of(folder / FILE)
    return known


@pytest.mark.parametrize("damage", [lambda page: bytes(len(page)), lambda page: b"\x0d" + b"\xff" * (len(page) - 1)])
def test_a_page_that_is_none_is_left_as_it_is(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """A damaged file is not made worse."""
    with closing(Store.create_or_open(tmp_path / "index")) as store:
        make_rows(store, Random(1), 100)
    file = tmp_path / "index" / FILE
    held = bytearray(file.read_bytes())
    held[8192:12288] = damage(bytes(held[8192:12288]))
    file.write_bytes(held)
    descriptor = os.open(file, os.O_RDWR)
    try:
        page_gaps.clear_gaps(descriptor)
    finally:
        os.close(descriptor)
    assert file.read_bytes() == bytes(held)
