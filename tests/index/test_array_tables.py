"""Tables of arrays that change by rows, against plain dictionaries."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index import array_tables
from ragways.index.array_tables import ArrayTable, Rows, patch_table, ragged, write_table
from ragways.index.row_keys import JoinedRanks, Ranks, RowKeys

Row = tuple[int, list[tuple[int, float]]]
ROW = st.tuples(st.integers(-5, 5), st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.5, 1.5])), max_size=4))


def made(rows: dict[int, Row]) -> Rows:
    numbers = sorted(rows)
    held = [pair for number in numbers for pair in rows[number][1]]
    return Rows(
        np.array(numbers, dtype=np.int64),
        {"value": np.array([rows[number][0] for number in numbers], dtype=np.int32)},
        {
            "links": ragged(
                np.array([len(rows[number][1]) for number in numbers], dtype=np.int32),
                nodes=np.array([node for node, _ in held], dtype=np.int32),
                weights=np.array([weight for _, weight in held], dtype=np.float32),
            )
        },
    )


def read(table: ArrayTable) -> dict[int, Row]:
    value, links = table.column("value"), table.ragged("links")
    assert len(value) == len(links) == table.size.capacity
    rows = {}
    for number in range(table.used):
        here = links.row(number)
        pairs = zip(links["nodes"][here].tolist(), links["weights"][here].tolist(), strict=True)
        rows[number] = int(value[number]), list(pairs)
    places, counts = links.places(np.arange(len(links)))
    flat = [node for row in rows.values() for node, _ in row[1]]
    assert links["nodes"][places].tolist() == flat
    assert np.repeat(np.arange(len(links)), counts).tolist() == links.owners().tolist()
    return rows


@settings(max_examples=100, deadline=None)
@given(st.lists(ROW, max_size=8), st.lists(st.dictionaries(st.integers(0, 12), ROW, max_size=4), max_size=4))
def test_a_table_with_patches_is_the_table_of_those_rows(first: list[Row], changes: list[dict[int, Row]]) -> None:
    rows = dict(enumerate(first))
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "0"
        here.mkdir()
        write_table(here, "t", made(rows))
        written = {file.name: file.read_bytes() for file in here.iterdir()}
        for n, change in enumerate(changes, start=1):
            table = ArrayTable(here, "t")
            # Numbers follow one another, as those of new rows do.
            new = {number if number < table.used else table.used: row for number, row in sorted(change.items())}
            patch = table.patch(["value"], ["links"]).joined(made(new))
            assert table.has_room(patch)
            there = Path(folder) / str(n)
            there.mkdir()
            patch_table(there, "t", here, patch)
            rows |= new
            here = there
        assert read(ArrayTable(here, "t")) == rows
        assert {name: (here / name).read_bytes() for name in written} == written, "what was written never changes"


def test_a_patch_that_does_not_fit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_tables, "_LEAST", 3)
    monkeypatch.setattr(array_tables, "_LEAST_VALUES", 5)
    write_table(tmp_path, "t", made({0: (1, [(1, 0.5)]), 1: (2, [])}))
    table = ArrayTable(tmp_path, "t")
    row: Row = (7, [(1, 0.5), (2, 0.5)])
    assert table.has_room(made({1: row, 2: row}))
    assert not table.has_room(made({0: row, 1: row, 2: row})), "six values, and room for five"
    assert not table.has_room(made({n: (0, []) for n in range(4)})), "four rows, and room for three"
    assert not table.has_room(made({5: (0, [])})), "a number beyond the last that there is room for"
    write_table(tmp_path, "t", made({0: row}), with_room=False)
    assert ArrayTable(tmp_path, "t").size.capacity == 1


def test_room_takes_no_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_tables, "_LEAST", 10_000_000)
    write_table(tmp_path, "t", made({0: (1, [])}))
    file = tmp_path / "t-value.npy"
    assert file.stat().st_size > 40_000_000
    assert file.stat().st_blocks * 512 < 1_000_000


KEYS = st.sets(st.integers(0, 60), max_size=20)


@given(KEYS, KEYS, KEYS)
def test_rows_by_key_and_their_order(first: set[int], later: set[int], dead: set[int]) -> None:
    keys = np.array([*sorted(first), *(later - first), 0, 0], dtype=np.int64)
    used = len(keys) - 2
    alive = np.array([key not in dead for key in keys.tolist()], dtype=np.bool_)
    rows = RowKeys(keys, alive, len(first), used)
    there = sorted((first | later) - dead)
    assert keys[rows.numbers()].tolist() == there
    assert len(rows) == len(there)
    for key in range(61):
        place = rows.place(np.int64(key))
        assert place == rows.places(np.array([key]))[0]
        assert (place >= 0) == (key in there)
        assert place < 0 or keys[place] == key
    every = np.arange(used)
    ranks = rows.ranks
    order = every if ranks is None else ranks(every)
    assert keys[every[np.argsort(order)]].tolist() == sorted(first | later)
    joined = JoinedRanks(ranks, Ranks.of(keys[: len(first)], keys[len(first) : used]), 100)
    both = joined(np.concatenate([every + 100, every]))
    assert keys[np.concatenate([every, every])[np.argsort(both)]].tolist() == 2 * sorted(first | later)
