"""Segments of a layer: the same rows after any changes, few segments, and nothing written that need not be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index import segments as under_test
from ragways.index.layer import BuildContext, Changes
from ragways.index.segments import SEGMENT_CHUNKS, SegmentDocuments, renew, segments
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient


class Lines:
    """A layer that keeps a line for each chunk; it notes which segments it wrote how."""

    def __init__(self) -> None:
        self.made: list[Path] = []
        self.taken: list[Path] = []

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        self.made.append(target)
        held = {number: context.store.db.execute(ROWS, (number,)).fetchall() for number in documents}
        lines = [f"{number} {path} {version}" for number, rows in held.items() for path, version in rows]
        (target / "lines").write_text("\n".join(lines))

    def take(self, target: Path, sources: Sequence[Path], rows: np.ndarray) -> None:
        self.taken.append(target)
        lines = [line for source in sources for line in (source / "lines").read_text().split("\n")]
        assert len(sources) > 1 or (np.diff(rows) > 0).all()
        (target / "lines").write_text("\n".join(lines[row] for row in rows.tolist()))


ROWS = "SELECT path, hash FROM chunks WHERE document = ? ORDER BY ordinal"


class Corpus:
    """A store with documents that are nothing but chunks, and the layer of each generation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder, sqlite3.connect(":memory:"))
        self.store.create()
        self.kind = Lines()
        self.generation = 0
        self.version = 0
        self.held: dict[int, list[str]] = {}

    def change(self, put: dict[int, int], removed: set[int], *, whole: bool = False) -> Path:
        """Put documents with so many chunks each, and remove others; gives the folder of the next generation."""
        added, changed = put.keys() - self.held.keys(), put.keys() & self.held.keys()
        for number in {*put, *removed}:
            self.store.db.execute("DELETE FROM chunks WHERE document = ?", (number,))
            self.held.pop(number, None)
        for number, count in put.items():
            self.version += 1
            rows = [(number, n, f"c{n}", 0, 0, 1, str(self.version)) for n in range(count)]
            self.store.db.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self.held[number] = [f"{number} c{n} {self.version}" for n in range(count)]
        return self.renew(None if whole else Changes(frozenset(added), frozenset(changed), frozenset(removed)))

    def renew(self, changes: Changes | None) -> Path:
        async def embed(_: object) -> None: ...

        no_work = cast(WorkCache, None)
        context = BuildContext(self.store, no_work, ModelClient(None), None, embed, changes=changes)
        self.kind = Lines()
        before, self.generation = self.folder / str(self.generation), self.generation + 1
        renew(self.folder / str(self.generation), before, context, self.kind)
        return self.folder / str(self.generation)

    def expected(self) -> list[str]:
        return [line for number in sorted(self.held) for line in self.held[number]]


@contextmanager
def corpus() -> Iterator[Corpus]:
    with TemporaryDirectory() as folder:
        made = Corpus(Path(folder))
        try:
            yield made
        finally:
            made.store.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of 64 chunks, with classes from 4 on: a test meets all of them."""
    make_small(monkeypatch)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "SEGMENT_CHUNKS", 64)
    monkeypatch.setattr(under_test, "_SMALL", 4)


def lines(folder: Path) -> list[str]:
    """All lines, and in each segment by document."""
    found = []
    for path in segments(folder):
        some = (path / "lines").read_text().split("\n")
        documents = SegmentDocuments.load(path)
        assert documents.size == len(some)
        numbers = np.repeat(documents.numbers, documents.counts).tolist()
        assert numbers == [int(line.split()[0]) for line in some] == sorted(numbers)
        found += some
    return sorted(found, key=lambda line: (int(line.split()[0]), int(line.split()[1][1:])))


def sizes(folder: Path) -> list[int]:
    return sorted(SegmentDocuments.load(path).size for path in segments(folder))


@settings(max_examples=40, deadline=None)
@given(
    runs=st.lists(
        st.tuples(
            st.dictionaries(st.integers(0, 60), st.integers(0, 9) | st.integers(0, 100), max_size=12),
            st.sets(st.integers(0, 60), max_size=8),
        ),
        max_size=14,
    )
)
def test_any_changes_leave_the_documents_there_are_in_few_segments(runs: list[tuple[dict[int, int], set[int]]]):
    """Rows are those of the store, segments are bounded in number and size, and what did not change is linked."""
    with pytest.MonkeyPatch.context() as patch, corpus() as made:
        make_small(patch)
        made.change({}, set())
        for put, removed in runs:
            before = {path.name: path for path in segments(made.folder / str(made.generation))}
            touched = {*put, *removed}
            folder = made.change(put, removed - put.keys())
            assert lines(folder) == made.expected()
            check_bounds(made, folder)
            for path in segments(folder):
                if path.name in before:
                    assert not touched & set(SegmentDocuments.load(before[path.name]).numbers.tolist())
                    linked = {file.name: file.stat().st_ino for file in before[path.name].iterdir()}
                    assert {file.name: file.stat().st_ino for file in path.iterdir()} == linked
            assert {path.name for path in folder.iterdir()} == {path.name for path in segments(folder)}


def check_bounds(made: Corpus, folder: Path) -> None:
    found = sizes(folder)
    largest = max(map(len, made.held.values()), default=0)
    assert all(size <= max(64, largest) for size in found)
    # One small, three of each class up to 16, and of the rest any two are more than one may be.
    assert sum(size < 4 for size in found) <= 1
    assert sum(4 <= size < 16 for size in found) <= 3
    rest = [size for size in found if 16 <= size < 64]
    assert len(rest) <= 3 or rest[0] + rest[1] > 64
    assert 0 not in found


@pytest.mark.usefixtures("small")
def test_a_change_writes_what_it_changes():
    with corpus() as made:
        made.change(dict.fromkeys(range(100, 400), 8), set())
        assert len(made.kind.made) == 38
        added = made.change({5: 1}, set())
        assert len(made.kind.made) == 1
        assert not made.kind.taken
        changed = made.change({100: 3}, set())
        assert [path.parent for path in made.kind.taken] == [changed] * 2, "the one it was in, and the two small ones"
        removed = made.change({}, {399})
        assert len(made.kind.made) == 0
        assert len(made.kind.taken) == 1
        assert sum(len(list(path.iterdir())) for path in segments(removed)) == 3 * len(segments(removed))
        nothing = made.change({}, set())
        assert not made.kind.made
        assert not made.kind.taken
        assert lines(nothing) == lines(removed) != lines(changed) != lines(added)


@pytest.mark.usefixtures("small")
def test_where_nothing_may_be_taken_over_all_is_made_anew():
    with corpus() as made:
        made.change(dict.fromkeys(range(30), 10), set())
        folder = made.change({}, {3}, whole=True)
        assert lines(folder) == made.expected()
        assert not made.kind.taken
        assert [path.name for path in segments(folder)] == ["1", "2", "3", "4", "5"]


@pytest.mark.usefixtures("small")
def test_a_document_larger_than_a_segment_is_alone_in_one():
    with corpus() as made:
        folder = made.change({1: 5, 2: 200, 3: 5}, set())
        assert sizes(folder) == [5, 5, 200]
        assert sizes(made.change({4: 1}, {1})) == [1, 5, 200]


def test_documents_that_came_one_by_one_lie_in_few_segments():
    """With the sizes of the real thing: some ten segments, and each chunk written some ten times at most."""
    with corpus() as made:
        written = 0
        made.change({}, set())
        for number in range(60):
            folder = made.change({number: 1000}, set())
            written += sum(SegmentDocuments.load(path).size for path in made.kind.taken)
        assert lines(folder) == made.expected()
        assert len(segments(folder)) <= 10
        assert written <= 10 * 60 * 1000
        assert max(sizes(folder)) <= SEGMENT_CHUNKS


def test_documents_are_written_over_the_files_that_they_were_read_from(tmp_path: Path):
    """As a layer does that writes them anew when it takes rows over."""
    SegmentDocuments.of((3 * n, 2) for n in range(5000)).save(tmp_path)
    held = SegmentDocuments.load(tmp_path)
    held.save(tmp_path)
    again = SegmentDocuments.load(tmp_path)
    assert again.numbers.tolist() == [3 * n for n in range(5000)]
    assert again.ends.tolist() == [2 * n + 2 for n in range(5000)]
