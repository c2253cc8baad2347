"""Documents are found by the keys that they left, whatever came and went."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.graph import asked_keys
from ragways.index.graph.asked_keys import BLOCK, AskedKeys, Keys, packed_buckets, table_of_keys, unpacked_buckets
from ragways.index.packed_numbers import packed_gaps, unpacked_gaps

KEY = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 1 << 18, (1 << 18) + 1, 2**32 - 1]))
KEYS = st.sets(KEY, max_size=8)
PLACE = st.sampled_from([0, 1, 255, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
STEPS = st.lists(st.dictionaries(PLACE, st.none() | KEYS, max_size=5), max_size=6)


def as_keys(keys: Iterable[int]) -> Keys:
    return np.array(sorted(keys), np.uint32)


def table() -> AskedKeys:
    db = sqlite3.connect(":memory:")
    db.execute(table_of_keys("asked"))
    return AskedKeys(db, "asked")


def rows(keys: AskedKeys) -> list[tuple[int, bytes]]:
    return keys._db.execute("SELECT bucket, held FROM asked ORDER BY bucket").fetchall()


def run(keys: AskedKeys, left: dict[int, set[int]], step: Mapping[int, set[int] | None]) -> None:
    """Documents come, change, and go."""
    for place, now in step.items():
        if place in left:
            keys.drop(place, packed_buckets(as_keys(left.pop(place))))
        if now is not None:
            left[place] = now
            keys.put(place, as_keys(now))
    keys.flush()


@given(STEPS, st.sampled_from([asked_keys._HELD, 3]))
def test_what_is_found_is_what_was_left_and_the_rows_are_those_of_a_fresh_table(
    steps: list[dict[int, set[int] | None]], held: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asked_keys, "_HELD", held)  # so that some is written in the midst of a step
        _compare(steps)


def _compare(steps: list[dict[int, set[int] | None]]) -> None:
    keys, left = table(), dict[int, set[int]]()
    for step in steps:
        run(keys, left, step)
        places: dict[int, set[int]] = defaultdict(set)
        for place, some in left.items():
            for key in some:
                places[key].add(place)
        for key in {*places, 5}:
            found = keys.places(range(4), [key])
            assert all(len(each) for each in found.values())
            assert [block * BLOCK + p for block in found for p in found[block].tolist()] == sorted(places.get(key, ()))
        every = keys.places(range(4), places)
        assert {block * BLOCK + p for block in every for p in every[block].tolist()} == set().union(*places.values())
        for place, some in left.items():
            assert keys.keys_of(place, packed_buckets(as_keys(some))).tolist() == sorted(some)
    fresh = table()
    run(fresh, {}, left)
    assert rows(keys) == rows(fresh)


def test_blocks_that_are_read_one_after_the_other_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = table()
    run(keys, {}, {block * BLOCK + 1: {7, 1 << 20, block << 25} for block in range(9)})
    asked = [7, 1 << 20, 3 << 25]
    at_once = {block: places.tolist() for block, places in keys.places(range(9), asked).items()}
    monkeypatch.setattr(asked_keys, "_AT_ONCE", 1)
    assert {block: places.tolist() for block, places in keys.places(range(9), asked).items()} == at_once
    assert at_once == {block: [1] for block in range(9)}


def test_one_that_comes_may_have_the_place_of_one_that_goes() -> None:
    keys = table()
    run(keys, {}, {3: {1, 1 << 30}})
    keys.drop(3, packed_buckets(as_keys({1, 1 << 30})))
    keys.put(3, as_keys({2, 1 << 19}))
    keys.flush()
    fresh = table()
    run(fresh, {}, {3: {2, 1 << 19}})
    assert rows(keys) == rows(fresh)


def test_a_row_that_stays_as_it_is_is_not_written() -> None:
    keys, left = table(), {2: {8, 1 << 31}}
    run(keys, {}, left)
    before = keys._db.total_changes
    run(keys, left, {2: {8, 1 << 31, 9 << 20}})
    assert keys._db.total_changes - before == 1


@given(st.sets(st.integers(0, 2**32 - 1), max_size=300))
def test_buckets_come_back_from_nine_bits_each(keys: set[int]) -> None:
    packed = packed_buckets(as_keys(keys))
    buckets = sorted({key >> 18 for key in keys})
    assert unpacked_buckets(packed).tolist() == buckets
    assert len(packed) == len(buckets) + 8 + -(-len(buckets) // 8)


@given(st.lists(st.sets(st.integers(0, 2**60), min_size=1, max_size=9).map(sorted), max_size=6))
def test_rising_numbers_come_back(lists: list[list[int]]) -> None:
    numbers = np.array([number for some in lists for number in some], np.uint64)
    packed, ends = packed_gaps(numbers, np.cumsum([0, *map(len, lists)])[: len(lists)])
    rows = [packed[begin:end] for begin, end in pairwise([0, *ends.tolist()])]
    found, counts = unpacked_gaps(rows)
    assert found.tolist() == numbers.tolist()
    assert counts.tolist() == [len(some) for some in lists]
    for row, some in zip(rows, lists, strict=True):
        gaps = [some[0], *(b - a for a, b in pairwise(some))]
        assert len(row) == sum(max(1, -(-gap.bit_length() // 7)) for gap in gaps)
