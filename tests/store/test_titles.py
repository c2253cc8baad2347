"""Titles match by their letters as long as their documents are there, and erased with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragways.store.store import FILE, Store
from ragways.store.titles import letters, likeness, query_of
from tests.store.rows import document, number, write_documents, write_texts


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.write(tmp_path)) as store:
        write_texts(store, {"Qyvzux Harbour.txt": "One.", "Old Harbour.txt": "Two.", "Lonely Rock.txt": "Three."})
        yield store


def found(store: Store, name: str) -> set[int]:
    query = "SELECT rowid FROM titles WHERE letters MATCH ?"
    return {row[0] for row in store.db.execute(query, (query_of(name),))}


def test_titles_come_and_go_with_their_documents(store: Store):
    old, new = number("Old Harbour.txt"), number("Qyvzux Harbour.txt")
    assert found(store, "Hrbour") == {old, new}
    write_texts(store, {"Qyvzux Harbour.txt": ""})
    write_documents(store, [document("Old Harbour.txt", "Two, edited.")])
    assert found(store, "Hrbour") == {old}
    assert found(store, "Qyvzux") == set()


def test_an_erased_title_leaves_no_run_of_its_letters(store: Store, tmp_path: Path):
    write_texts(store, {f"Page {n}.txt": "More." for n in range(50)})
    assert b"yvz" in (tmp_path / FILE).read_bytes() + (tmp_path / f"{FILE}-wal").read_bytes()
    write_texts(store, {"Qyvzux Harbour.txt": ""})
    assert store.finish(vacuum=True)
    left = (tmp_path / FILE).read_bytes()
    assert not [run for run in (b"qyv", b"yvz", b"vzu", b"zux") if run in left.lower()]
    assert b"harbour" in left
    assert found(store, "Harbor") == {number("Old Harbour.txt")}


def test_letters_are_compared_without_marks_and_capitals():
    assert letters("Zürich_Süd") == letters("zurich  sud") == "  zurich sud "
    assert likeness(letters("Old Harbour"), letters("OLD harbour")) == 1.0
    assert likeness(letters("Old Harbour"), letters("Old Harbur")) > 0.7
    assert likeness(letters("東京"), letters("東京タワー")) < 0.7
