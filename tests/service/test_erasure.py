"""The search for what was removed: it finds what is there, tells what says nothing, and says where it stopped."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragways
from ragways.service import erasure
from ragways.service.erasure import SHORTEST, _Wanted, leaving, search

LIGHT = "The lighthouse of Sollen was built in 1871 by the engineer Ada Marsh on the northern cliff."
FERRY = "The ferry Halcyon carries the post to the outer islands every second Tuesday of the month."


@given(st.lists(st.binary(min_size=SHORTEST, max_size=40), min_size=1, max_size=8, unique=True), st.randoms())
def test_all_strings_are_found_and_no_others(strings: list[bytes], dice: random.Random):
    there = [string for string in strings if dice.random() < 0.5]
    block = b"".join(dice.randbytes(dice.randrange(40)) + string for string in there) + dice.randbytes(20)
    assert _Wanted(strings).within(block) == {string for string in strings if string in block} >= set(there)


def test_a_string_over_the_edge_of_two_blocks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(erasure, "_BLOCK", 100)
    file = tmp_path / "file"
    for before in range(60, 140):
        file.write_bytes(b"." * before + LIGHT.encode()[:80] + b"." * 50)
        found = set[bytes]()
        for block in erasure._blocks(file):
            found |= _Wanted([LIGHT.encode()[:80]]).within(block)
        assert found, before


class Kept:
    """A collection's folder with files and an index of them."""

    def __init__(self, folder: Path, texts: dict[str, str]) -> None:
        self.folder, self.files, self.index = folder, folder / "files", folder / "index"
        self.files.mkdir(parents=True)
        for name, text in texts.items():
            (self.files / name).write_text(text)
        self.build()

    def build(self) -> None:
        ragways.build(self.files, self.index, layers=["words"])

    def removed(self, *names: str) -> erasure.ErasureReport | None:
        for name in names:
            (self.files / name).unlink()
        before = leaving(self.index, self.files)
        self.build()
        return search(self.folder, self.index, before)


def test_each_removed_document_is_told_of(tmp_path: Path):
    texts = {"light.txt": LIGHT, "ferry.txt": FERRY, "copy.txt": FERRY, "short.txt": "Too short.", "stay.txt": "Stays."}
    kept = Kept(tmp_path / "docs", texts)
    assert kept.removed() is None
    (tmp_path / "docs" / "runs").mkdir()
    (tmp_path / "docs" / "runs" / "answers.jsonl").write_text(f'{{"quote": "{LIGHT}"}}')
    report = kept.removed("light.txt", "ferry.txt", "short.txt")
    assert report is not None
    told = {one.key: (one.looked_for, one.found, one.note) for one in report.documents}
    assert told == {
        "files/light.txt": (1, ["runs/answers.jsonl"], ""),
        "files/ferry.txt": (0, [], "all of it stands in other documents"),
        "files/short.txt": (0, [], "it has no sentence to look for"),
    }
    assert not report.erased
    assert not report.in_index


def test_something_left_in_the_index_is_found(tmp_path: Path):
    kept = Kept(tmp_path / "docs", {"light.txt": LIGHT, "ferry.txt": FERRY})
    (kept.index / "index.sqlite-journal.old").write_bytes(b"\0" * 5000 + LIGHT.encode())
    report = kept.removed("light.txt")
    assert report is not None
    assert report.documents[0].found == ["index/index.sqlite-journal.old"]
    assert report.in_index


def test_what_was_too_much_is_told_and_counts_as_not_erased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    texts = {f"{n}.txt": f"The keeper number {n} wrote this line into the book of the island." for n in range(4)}
    kept = Kept(tmp_path / "docs", texts)
    monkeypatch.setattr(erasure, "DOCUMENTS", 2)
    report = kept.removed("0.txt", "1.txt", "2.txt")
    assert report is not None
    assert (len(report.documents), report.not_looked_at, report.erased) == (2, 1, False)
    monkeypatch.setattr(erasure, "DOCUMENTS", 1000)
    monkeypatch.setattr(erasure, "LARGEST", 100)
    (kept.files / "4.txt").write_text("Another keeper came to the island in the spring of that year.")
    kept.build()
    report = kept.removed("4.txt")
    assert report is not None
    assert report.not_searched > 0
    assert not report.erased
