"""Ids of chunks that are made of a document's number and a path: those of the store, in any segments."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.types import document_number
from ragways.index import segment_ids
from ragways.index import segments as under_test
from ragways.index.build import build, remove
from ragways.index.layer import BuildContext, Changes
from ragways.index.reader import Index
from ragways.index.segment_ids import SegmentIds
from ragways.index.segments import Rows, SegmentDocuments, renew, segments
from ragways.index.store import Store, number_of
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from tests.fakes import recipe, write

NUMBERS = st.integers(0, 120) | st.integers(0, 2**63 - 1) | st.text().map(document_number)
"""Of documents with keys of all kinds; some are of few digits, so that one begins as another does."""
COUNTED = st.tuples(*[st.integers(0, 12) | st.integers(0, 10**9)] * 3).map(lambda n: "s{}:p{}:c{}".format(*n))
PATHS = COUNTED | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


class OnlyIds:
    """A layer that keeps nothing of chunks but their ids."""

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        query = "SELECT path FROM chunks WHERE document = ? ORDER BY ordinal"
        paths = (path for number in documents for (path,) in context.store.db.execute(query, (number,)))
        SegmentIds.of(SegmentDocuments.load(target), paths).save(target)

    def take(self, target: Path, sources: Sequence[Path], rows: Rows) -> None:
        parts = [SegmentIds.load(source) for source in sources]
        SegmentIds.taken(SegmentDocuments.load(target), parts, rows).save(target)


def context(store: Store, changes: Changes) -> BuildContext:
    async def embed(_: object) -> None: ...

    return BuildContext(store, cast(WorkCache, None), ModelClient(None), None, embed, changes=changes)


Runs = list[tuple[dict[int, list[str]], list[int]]]
"""Documents that a run puts, with the paths of their chunks, and some that it removes."""


@st.composite
def changing(draw: st.DrawFn) -> Runs:
    numbers = draw(st.lists(NUMBERS, min_size=1, max_size=12, unique=True))
    some = st.sampled_from(numbers)
    put = st.dictionaries(some, st.lists(PATHS, max_size=6, unique=True), max_size=6)
    return draw(st.lists(st.tuples(put, st.lists(some, max_size=4, unique=True)), min_size=1, max_size=6))


@settings(max_examples=80, deadline=None)
@given(changing())
def test_ids_are_those_of_the_store_whatever_came_and_went(runs: Runs):
    """And of what is gone there is no path left, nor how long one was."""
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "SEGMENT_CHUNKS", 16)
        patch.setattr(under_test, "_SMALL", 2)
        store = Store(Path(place), sqlite3.connect(":memory:"))
        store.create()
        held: set[int] = set()
        before: Path | None = None
        for generation, (put, gone) in enumerate(runs):
            removed = frozenset(gone) & held - put.keys()
            for number in {*put, *removed}:
                store.db.execute("DELETE FROM chunks WHERE document = ?", (number,))
            rows = [(n, i, path, 0, 0, 0, b"") for n, paths in put.items() for i, path in enumerate(paths)]
            store.db.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            changes = Changes(frozenset(put.keys() - held), frozenset(put.keys() & held), removed)
            folder = Path(place) / str(generation)
            renew(folder, before, context(store, changes), OnlyIds())
            held, before = (held | put.keys()) - removed, folder
            expected = [id for id, _ in store.chunk_rows()]
            found = [id for path in segments(folder) for id in SegmentIds.load(path)]
            assert sorted(found) == sorted(expected)
            for path in segments(folder):
                check_segment(path, expected)


def check_segment(path: Path, expected: Sequence[str]) -> None:
    ids = SegmentIds.load(path)
    made = list(ids)
    assert made == [ids[row] for row in range(len(ids))] == ids[:] == ids.take(np.arange(len(ids)))
    assert made == list(ids.in_memory())
    numbers = frozenset(map(number_of, made))
    assert made == [id for id in expected if number_of(id) in numbers], "in the store's order"
    paths = np.load(path / "paths.npy")
    assert paths.tolist() == sorted({id.split(":", 2)[2].encode() for id in made})
    assert paths.itemsize == max(map(len, paths.tolist()))
    assert np.load(path / "path_numbers.npy").itemsize == 1
    some = ids.documents.numbers[::2]
    assert list(ids.only(ids.documents.holds(some))) == [id for id in made if number_of(id) in some]


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(NUMBERS, st.lists(PATHS, min_size=1, max_size=9, unique=True), min_size=1, max_size=12),
    st.sampled_from([0, 64]),
    st.data(),
)
def test_the_first_ids_of_some_are_found(documents: dict[int, list[str]], few: int, data: st.DataObject):
    held = {number: documents[number] for number in sorted(documents)}
    ids = SegmentIds.of(
        SegmentDocuments.of((number, len(paths)) for number, paths in held.items()),
        (path for paths in held.values() for path in paths),
    )
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(ids) - 1), min_size=1))))
    k = data.draw(st.integers(1, len(rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_ids, "_FEW", few)
        check_first(ids, rows, k)


def check_first(ids: SegmentIds, rows: np.ndarray, k: int) -> None:
    found = ids.first(rows, k)
    assert sorted(ids.take(rows[found])) == sorted(ids.take(rows))[:k]


def test_a_number_that_begins_as_another_comes_after_it(monkeypatch: pytest.MonkeyPatch):
    """For what follows a number in an id is a colon, which comes after all digits."""
    numbers = [0, 1, 9, 10, 19, 99, 100, 190, 199, 999, 10**18 - 1, 10**18, 2**63 - 1]
    ids = SegmentIds.of(SegmentDocuments.of((number, 3) for number in numbers), ["c9", "c10", "c1"] * len(numbers))
    monkeypatch.setattr(segment_ids, "_FEW", 0)
    for k in range(1, len(ids)):
        check_first(ids, np.arange(len(ids)), k)
        check_first(ids, np.arange(len(ids))[::2], k)


def test_of_a_path_that_only_a_gone_chunk_had_nothing_stays(tmp_path: Path):
    held = SegmentDocuments.of([(3, 2), (5, 1)])
    ids = SegmentIds.of(held, ["s0:p0:c0", "s1:p0:c0", "s1000:p0:c0"])
    for name, documents in (("whole", held), ("left", SegmentDocuments.of([(3, 2)])), ("fresh", held)):
        (tmp_path / name).mkdir()
        documents.save(tmp_path / name)
    ids.save(tmp_path / "whole")
    left = SegmentDocuments.load(tmp_path / "left")
    SegmentIds.taken(left, [SegmentIds.load(tmp_path / "whole")], np.arange(2)).save(tmp_path / "left")
    SegmentIds.of(left, ["s0:p0:c0", "s1:p0:c0"]).save(tmp_path / "fresh")
    for name in ("paths.npy", "path_numbers.npy"):
        assert (tmp_path / "left" / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()


def test_a_full_segment_and_one_beyond():
    """Rows are counted in the smallest type that has room for all, also at its border."""
    for size in (255, 256, 65_535, 65_536):
        with TemporaryDirectory() as place:
            documents = SegmentDocuments.of((3 * n, 1) for n in range(size))
            documents.save(Path(place))
            SegmentIds.of(documents, (f"s{n}:p0:c0" for n in range(size))).save(Path(place))
            ids = SegmentIds.load(Path(place))
            assert list(ids) == [f"article:{3 * n}:s{n}:p0:c0" for n in range(size)]
            assert ids[-1] == f"article:{3 * size - 3}:s{size - 1}:p0:c0"


def test_ids_of_an_index_are_those_of_its_store(tmp_path: Path):
    """Of files with odd names, in both layers, as it was built and as it was changed."""
    names = ["plain.md", "with space & more.md", "über#straße.md", "港口.md", "a:b:c.md", "100%.md", "🌊.md"]
    body = "\n\n".join(f"## Part {n}\n\n" + "The harbour light was lit again. " * 40 for n in range(12))
    docs = write(tmp_path / "docs", {name: f"# {name}\n\n{body[n * 300 :]}\n" for n, name in enumerate(names)})
    index, layers = tmp_path / "index", frozenset({"vectors", "words"})
    asyncio.run(build(index, [docs], recipe(layers=layers)))
    check_index(index)
    (docs / "more.md").write_text("# More\n\nThe light.\n")
    asyncio.run(build(index, [docs], recipe(layers=layers)))
    check_index(index)
    asyncio.run(remove(index, [names[2]]))
    check_index(index)


def check_index(folder: Path) -> None:
    with closing(Store.open(folder)) as store, closing(Index.open(folder)) as index:
        expected = sorted(id for id, _ in store.chunk_rows())
        assert sorted(index.vectors.ids) == expected
        assert sorted(id for id, _ in index.words.search("light", len(expected))) == expected
        derived = folder / "derived" / store.meta()["generation"]
        assert index.vectors.places(expected).keys() == set(expected)
    for layer in ("vectors", "words"):
        held = [id for path in segments(derived / layer) for id in SegmentIds.load(path)]
        assert sorted(held) == expected
