"""Tables of arrays that change by rows, against plain dictionaries."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index import array_tables
from ragways.index.array_tables import ArrayTable, Change, Patch, Rows, patch_table, write_table
from ragways.index.ragged import Order, Ragged, distinct, ragged
from ragways.index.row_keys import JoinedRanks, Ranks, RowKeys

Row = tuple[int, dict[int, float]]
"""The value of a row, and its links: weights by node."""
LINKS = st.dictionaries(st.integers(0, 9), st.sampled_from([0.5, 1.5]), max_size=5)
ROW = st.tuples(st.integers(-5, 5), LINKS)
BACKWARDS = Order("nodes", lambda nodes: (nodes % 2, -nodes))
"""Even nodes before odd ones, and of these the higher first."""


def in_order(links: dict[int, float]) -> list[tuple[int, float]]:
    return sorted(links.items(), key=lambda link: (link[0] % 2, -link[0]))


def made(rows: dict[int, Row]) -> Rows:
    numbers = sorted(rows)
    values = np.array([rows[number][0] for number in numbers], dtype=np.int32)
    links = linked([in_order(rows[number][1]) for number in numbers])
    return Rows(np.array(numbers, dtype=np.int64), {"value": values}, {"links": links})


def linked(rows: list[list[tuple[int, float]]]) -> Ragged:
    held = [pair for row in rows for pair in row]
    return ragged(
        np.array([len(row) for row in rows], dtype=np.int32),
        nodes=np.array([node for node, _ in held], dtype=np.int32),
        weights=np.array([weight for _, weight in held], dtype=np.float32),
    )


def read(table: ArrayTable) -> dict[int, tuple[int, list[tuple[int, float]]]]:
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


CHANGE = st.tuples(st.booleans(), st.dictionaries(st.integers(0, 12), ROW, max_size=4))


@settings(max_examples=200, deadline=None)
@given(st.lists(ROW, max_size=8), st.lists(CHANGE, max_size=5))
def test_a_table_with_patches_is_the_table_of_those_rows(
    first: list[Row], changes: list[tuple[bool, dict[int, Row]]]
) -> None:
    rows = dict(enumerate(first))
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "0"
        here.mkdir()
        write_table(here, "t", made(rows))
        written = {file.name: file.read_bytes() for file in here.iterdir()}
        for n, (whole, change) in enumerate(changes, start=1):
            table = ArrayTable(here, "t")
            # Numbers follow one another, as those of new rows do.
            new = {number if number < table.used else table.used: row for number, row in sorted(change.items())}
            patch = changed(table, rows, new, whole=whole)
            assert table.has_room(patch)
            there = Path(folder) / str(n)
            there.mkdir()
            patch_table(there, "t", here, patch)
            rows |= new
            here = there
        assert read(ArrayTable(here, "t")) == {n: (value, in_order(links)) for n, (value, links) in rows.items()}
        assert {name: (here / name).read_bytes() for name in written} == written, "what was written never changes"


def changed(table: ArrayTable, rows: dict[int, Row], new: dict[int, Row], *, whole: bool) -> Patch:
    """The patch for new rows: with all of their links, or with what came to these and went from them."""
    links = table.edited("links")
    numbers = np.array(sorted(new), dtype=np.int64)
    if whole:
        links = links.replaced(numbers, linked([in_order(new[n][1]) for n in sorted(new)]))
        written = links.written
        held = {n: zip(written["nodes"][written.row(n)], written["weights"][written.row(n)], strict=True) for n in new}
        as_written = [n for n in new if list(held[n]) == in_order(new[n][1])]
        assert not set(as_written) & set(links.changed().tolist()), "what is as it was written is no edit"
    else:
        gone = np.array([(n, x) for n in sorted(new) for x in rows.get(n, (0, {}))[1]], dtype=np.int64).reshape(-1, 2)
        come = [(n, node, weight) for n in sorted(new) for node, weight in new[n][1].items()]
        owners, nodes = (np.array([each[k] for each in come], dtype=np.int64) for k in (0, 1))
        there, parts = links.lookup(owners, nodes, BACKWARDS)
        for (number, node, _), found, weight in zip(come, there.tolist(), parts["weights"].tolist(), strict=True):
            assert (weight if found else None) == rows.get(number, (0, {}))[1].get(node)
        weights = np.array([weight for *_, weight in come], dtype=np.float32)
        before = len(links.edits)
        parts = {"nodes": nodes.astype(np.int32), "weights": weights}
        links = links.edited(BACKWARDS, (gone[:, 0], gone[:, 1]), owners, parts)
        old = [(n, *link) for n in new for link in rows.get(n, (0, {}))[1].items()]
        assert len(links.edits) - before <= len(set(old) ^ set(come)), "what stays as it was is no edit"
    now = links.now(numbers)
    assert now.counts.tolist() == links.counts_of(numbers).tolist() == [len(new[n][1]) for n in sorted(new)]
    columns = {"value": np.array([new[n][0] for n in sorted(new)], dtype=np.int32)}
    return table.patch(Change(numbers, columns, {"links": links}))


def test_a_long_row_that_gets_one_more_is_a_patch_of_one_value(tmp_path: Path) -> None:
    before, after = tmp_path / "0", tmp_path / "1"
    before.mkdir()
    after.mkdir()
    long = dict.fromkeys(range(0, 200000, 2), 0.5)
    write_table(before, "t", made({0: (1, long), 1: (2, {1: 1.5})}))
    table = ArrayTable(before, "t")
    row, parts = np.array([0]), {"nodes": np.array([7], np.int32), "weights": np.array([1.5], np.float32)}
    links = table.edited("links").edited(BACKWARDS, (row, np.array([100])), row, parts)
    assert len(links.edits) == 2
    patch = Patch(table.used, {}, {"links": links})
    assert table.has_room(patch)
    patch_table(after, "t", before, patch)
    assert sum(file.stat().st_size for file in after.glob("*.patch.npy")) < 2_000
    del long[100]
    assert read(ArrayTable(after, "t")) == {0: (1, in_order(long | {7: 1.5})), 1: (2, [(1, 1.5)])}


def test_a_patch_that_does_not_fit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_tables, "_ROWS", (3, 9))
    monkeypatch.setattr(array_tables, "_VALUES", (5, 9))
    write_table(tmp_path, "t", made({0: (1, {1: 0.5}), 1: (2, {})}))
    table = ArrayTable(tmp_path, "t")
    row: Row = (7, {3: 0.5, 2: 0.5})

    def fits(rows: dict[int, Row]) -> bool:
        return table.has_room(changed(table, {0: (1, {1: 0.5}), 1: (2, {})}, rows, whole=False))

    assert fits({1: row, 2: row})
    assert fits({0: row, 1: row})
    assert not fits({0: row, 1: row, 2: row}), "six values came and one went, and there is room for five"
    assert not fits({n: (9, {}) for n in range(4)}), "four rows, and room for three"
    assert fits({0: (1, {1: 0.5}), **{n: (9, {}) for n in range(1, 4)}}), "one of four is as it was written"
    assert not table.has_room(Patch(6)), "a number beyond the last that there is room for"
    numbers = np.arange(4, 7)
    assert not table.has_room(table.patch(Change(numbers, {"value": numbers}))), "such numbers in a change"
    write_table(tmp_path, "t", made({0: row}), with_room=False)
    assert ArrayTable(tmp_path, "t").size.capacity == 1


def test_a_patch_of_a_large_table_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_tables, "_ROWS", (2, 3))
    monkeypatch.setattr(array_tables, "_VALUES", (4, 6))
    rows: dict[int, Row] = {number: (number, {1: 0.5, 2: 0.5}) for number in range(100)}
    write_table(tmp_path, "t", made(rows))
    table = ArrayTable(tmp_path, "t")
    assert table.size.capacity == 103

    def fits(count: int, links: dict[int, float]) -> bool:
        new: dict[int, Row] = {number: (-1, rows[number][1] | links) for number in range(count)}
        return table.has_room(changed(table, rows, new, whole=False))

    assert fits(3, {3: 0.5})
    assert not fits(4, {})
    assert fits(2, {3: 0.5, 4: 0.5, 5: 0.5})
    assert not fits(2, {3: 0.5, 4: 0.5, 5: 0.5, 6: 0.5})


def test_a_patch_of_another_format_is_no_number(tmp_path: Path) -> None:
    write_table(tmp_path, "t", made({0: (1, {})}))
    np.save(tmp_path / "t.patch.npy", np.array([0]))
    with pytest.raises(ValueError, match="number"):
        ArrayTable(tmp_path, "t")


@pytest.mark.parametrize("values", [[True, True, True], [True, False, True], []])
def test_a_column_of_truths_is_what_it_was(tmp_path: Path, values: list[bool]) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    count = len(values)
    write_table(before, "t", Rows(np.arange(count), {"there": np.array(values, np.bool_)}))
    assert (before / "t-there.npy").is_file() == (False in values)
    table = ArrayTable(before, "t")
    assert table.column("there")[:count].tolist() == values
    assert not table.column("there")[count:].any(), "where there is no row"
    other = [not value for value in values[:1]]
    change = Change(np.array([*range(len(other)), count + 1]), {"there": np.array([*other, True], np.bool_)})
    patch_table(after, "t", before, table.patch(change))
    assert ArrayTable(after, "t").column("there")[: count + 3].tolist() == [*other, *values[1:], False, True, False]


def test_room_takes_no_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_tables, "_ROWS", (10_000_000, 10_000_000))
    write_table(tmp_path, "t", made({0: (1, {})}))
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


@given(st.lists(st.lists(st.integers(-(2**62), 2**62), max_size=9), min_size=1, max_size=3))
def test_numbers_once_each(lists: list[list[int]]) -> None:
    assert distinct(*(np.array(some, np.int64) for some in lists)).tolist() == sorted({*chain(*lists)})
