"""An index opens at one state, follows what is written, leaves out what changed, and mends a view that is damaged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragways.core.errors import MissingLayer, NoIndex, StoreBusy, StoreError
from ragways.index import open as opening
from ragways.index.open import Index, LiveIndex
from ragways.store import database
from ragways.store.store import Store
from tests.fakes import write
from tests.index.runs import indexed, removed, run
from tests.store.rows import document, put

FILES = {"a.txt": "The harbour light burns.", "b.txt": "A storm took the tower.", "c.txt": "Nobody came."}
WORDS = "harbour storm nobody"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.1)
    return indexed(tmp_path, FILES)


@pytest.fixture
def live(index: Path) -> Iterator[LiveIndex]:
    opened = LiveIndex(index)
    yield opened
    opened.close()


def found(index: Index, words: str = WORDS) -> set[str]:
    """Titles of the hits, as a question gets them."""
    ids = [id for id, _ in index.words.search(words, 9)]
    return {piece.title for piece in index.pieces(ids).values()}


def remove_from_rows(folder: Path, title: str) -> None:
    """As a run does that has not published its views yet."""
    with closing(Store.write(folder)) as store, store.batch() as batch:
        [number] = store.db.execute("SELECT number FROM documents WHERE title = ?", (title,)).fetchone()
        assert batch.remove(number)


def views(folder: Path) -> Path:
    return max((folder / "views").iterdir(), key=lambda path: int(path.name))


def test_an_index_without_layers_is_documents(tmp_path: Path):
    Store.write(tmp_path).close()
    with closing(Index.open(tmp_path)) as opened:
        assert opened.documents() == []
        assert opened.counts()["chunks"] == 0
        assert opened.layers == frozenset()
        with pytest.raises(MissingLayer, match="no words"):
            _ = opened.words
    with pytest.raises(NoIndex):
        Index.open(tmp_path / "nothing")


def test_documents_that_changed_since_the_views_are_left_out(index: Path):
    """While a run goes on, rows are ahead of the views: a removed document is gone at once, an edited one is not read
    by the places that its text had before.
    """
    remove_from_rows(index, "b")
    with closing(Store.write(index)) as store:
        [(key,)] = store.db.execute("SELECT key FROM documents WHERE title = 'c'").fetchall()
        with store.batch() as batch:
            put(batch, document(key, "Somebody came."))
    with closing(Index.open(index)) as opened:
        assert found(opened) == {"a"}
        assert opened.named("key", key), "its rows can be read"
        assert len(opened.stale) == 2


def test_rows_that_change_are_followed_without_opening_views_again(live: LiveIndex, index: Path):
    with live.snapshot() as first:
        assert found(first) == {"a", "b", "c"}
        counted = first.once(lambda index: index.counts()["documents"])
    remove_from_rows(index, "b")
    with live.snapshot() as second:
        assert second is first
        assert found(second) == {"a", "c"}
        assert second.counts()["documents"] == counted - 1 == 2


def test_questions_side_by_side_each_have_their_state(live: LiveIndex, index: Path):
    with live.snapshot() as first:
        with live.snapshot() as beside:
            assert found(beside) == {"a", "b", "c"}
            assert beside is first
        removed(index, "b")
        with live.snapshot() as second:
            assert found(second) == {"a", "c"}
            assert found(first) == {"a", "b", "c"}
    with live.snapshot() as third:
        assert third is second


def test_an_index_in_the_same_place_is_followed(live: LiveIndex, index: Path, tmp_path: Path):
    with live.snapshot() as first:
        assert found(first) == {"a", "b", "c"}
    other = indexed(tmp_path / "other", {"d.txt": "Another storm."})
    shutil.rmtree(index)
    other.rename(index)
    with live.snapshot() as second:
        assert found(second) == {"d"}


def test_no_transaction_is_open_between_questions(live: LiveIndex, index: Path):
    with live.snapshot() as opened:
        found(opened)
    write(index.parent / "docs", {"d.txt": "Another storm."})
    run(index)
    assert not (index / "index.sqlite-wal").exists() or not (index / "index.sqlite-wal").stat().st_size


@pytest.mark.parametrize("damage", ["flipped", "cut", "removed", "layer", "list", "views"])
def test_a_damaged_view_is_made_again(index: Path, damage: str):
    words = views(index) / "words"
    largest = max(words.rglob("*"), key=lambda path: path.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    {
        "flipped": lambda: largest.write_bytes(data),
        "cut": lambda: os.truncate(largest, 10),
        "removed": largest.unlink,
        "layer": lambda: shutil.rmtree(words),
        "list": lambda: (words.parent / "views.json").write_text("{"),
        "views": lambda: shutil.rmtree(words.parent.parent),
    }[damage]()
    with closing(Index.open(index)) as opened:
        assert found(opened) == {"a", "b", "c"}
        assert len(opened.vectors.ids) == 3


def test_a_damaged_view_that_cannot_be_made_again_is_an_error_with_its_cure(
    index: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.rmtree(views(index) / "words")
    with closing(Store.write(index)), closing(Index.open(index)) as opened:
        assert len(opened.documents()) == 3
        with pytest.raises(StoreBusy) as busy:
            _ = opened.words
        assert "ask again" in busy.value.cure
    monkeypatch.setattr("ragways.index.writer.make_views", refuse)
    with closing(Index.open(index)) as opened, pytest.raises(StoreError, match="could not be made again") as caught:
        _ = opened.words
    assert caught.value.cure == "change its permissions"


def refuse(folder: Path) -> None:
    raise StoreError(f"cannot write to {folder}", "change its permissions")


def test_views_of_other_rows_are_not_taken(index: Path, tmp_path: Path):
    other = indexed(tmp_path / "other", {"d.txt": "Another storm."})
    shutil.rmtree(index / "views")
    shutil.copytree(other / "views", index / "views")
    with closing(Store.open(index)) as store:
        assert opening.views_of(store) is None
    with closing(Index.open(index)) as opened:
        assert found(opened) == {"a", "b", "c"}
