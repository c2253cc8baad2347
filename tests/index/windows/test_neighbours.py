"""Edges against brute force, whatever the size of a block and however the documents came about."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.windows import neighbours
from ragways.index.windows import slots as slots_module
from ragways.index.windows.descent import nearest_around
from ragways.index.windows.edges import Edges, Nearest, Space, nearest_elsewhere, nearest_within
from ragways.index.windows.neighbours import SlotTables, renew_nearest
from ragways.index.windows.projection import Moments, Projection
from ragways.index.windows.slots import SlotEdges, SlotTable, free_slots


def space(seed: int, sizes: list[int], *, level: bool, different: int = 30) -> Space:
    """Documents of these sizes, whose windows are drawn from a few different texts: so many similarities are equal."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([-0.5, 0.5], (different, 4)) if level else rng.standard_normal((different, 12))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    texts = rng.integers(different, size=sum(sizes))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return Space(rows[texts], groups, texts.astype(np.uint64))


def brute(of: Space, k: int, *, own: bool) -> list[list[tuple[int, float]]]:
    found = []
    for row in range(len(of)):
        products = [
            (float(np.float32(of.matrix[row].astype(np.float64) @ of.matrix[other].astype(np.float64))), other)
            for other in range(len(of))
            if other != row and (of.groups[other] == of.groups[row]) == own
        ]
        found.append([(other, s) for s, other in sorted(products, key=lambda p: (-p[0], p[1]))[:k]])
    return found


def listed(nearest: Nearest) -> list[list[tuple[int, float]]]:
    edges = Edges.pack(nearest)
    return [[(int(to), float(s)) for to, s in zip(*edges.of(row), strict=True)] for row in range(len(nearest.to))]


def agree(one: list[list[tuple[int, float]]], other: list[list[tuple[int, float]]], *, exactly: bool) -> bool:
    if exactly:
        return one == other
    return [[to for to, _ in row] for row in one] == [[to for to, _ in row] for row in other]


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@given(st.integers(0, 10_000), SIZES, st.booleans(), st.integers(0, 6), st.integers(1, 400))
@settings(max_examples=40, deadline=None)
def test_edges_are_those_of_brute_force_whatever_the_block(seed, sizes, level, k, cells):
    of = space(seed, sizes, level=level)
    within, across = nearest_within(of, k, cells=cells), nearest_elsewhere(of, k, cells=cells)
    assert agree(listed(within), brute(of, k, own=True), exactly=level)
    assert agree(listed(across), brute(of, k, own=False), exactly=level)
    whole = nearest_elsewhere(of, k)
    assert np.array_equal(across.to, whole.to)
    assert np.array_equal(across.similarity, whole.similarity)


@pytest.mark.parametrize("cells", [280, 3_000, 10_000_000])
def test_many_columns_take_the_quick_way_to_the_same_edges(cells: int):
    of = space(1, [7] * 40, level=False, different=200)
    assert agree(listed(nearest_elsewhere(of, 3, cells=cells)), brute(of, 3, own=False), exactly=False)


def test_a_text_that_stands_everywhere_is_joined_to_its_earliest_copies():
    of = space(3, [1] * 200, level=False, different=1)
    assert nearest_elsewhere(of, 3).to[[0, 1, 50]].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 2]]


def state(which: list[int], texts: list[np.ndarray], rows: np.ndarray, *, lie: list[int]) -> Space:
    """Documents of these numbers with the rows of their texts; they `lie` in this order, whatever their numbers."""
    shown = [n for n in lie if n in which]
    marks = np.array([int(text) for n in shown for text in texts[n]], np.uint64)
    groups = np.repeat(np.array(shown, np.int64), [len(texts[n]) for n in shown])
    return Space(rows[marks.astype(np.int64)].reshape(-1, rows.shape[1]), groups, marks)


def by_name(of: Space, slots: np.ndarray, folder: Path, k: int) -> dict[tuple[int, int], list[object]]:
    """The k nearest of each window, all by document and place."""
    first = {group: row for row, group in reversed(list(enumerate(of.groups.tolist())))}
    names = [(group, row - first[group]) for row, group in enumerate(of.groups.tolist())]
    edges = SlotEdges(SlotTable.load(folder, "across"), slots, k)
    packed = edges.packed()
    assert all(
        np.array_equal(a, b) for row in range(len(of)) for a, b in zip(edges.of(row), packed.of(row), strict=True)
    )
    return {
        names[row]: [(names[to], similar) for to, similar in zip(*map(np.ndarray.tolist, edges.of(row)), strict=True)]
        for row in range(len(of))
    }


FATES = st.lists(st.lists(st.sampled_from("sssgnc"), min_size=9, max_size=9), min_size=1, max_size=6)


@given(st.integers(0, 10_000), FATES, st.booleans(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_renewed_edges_are_those_computed_anew(tmp_path_factory, seed, fates, level, k):
    """Step by step each of nine documents stays, goes, comes or changes; they lie in another order each time."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([-0.5, 0.5], (30, 4)) if level else rng.standard_normal((30, 12))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    texts = [rng.integers(30, size=rng.integers(1, 7)) for _ in range(9)]
    there = set(rng.permutation(9)[:6].tolist())
    slots: dict[int, np.ndarray] = {}
    before: Path | None = None
    for step in [["s"] * 9, *fates]:
        gone = {n for n in there if step[n] in "gc"}
        new = {n for n, fate in enumerate(step) if (fate == "c" and n in there) or (fate == "n" and n not in there)}
        if before is None:
            new = set(there)
        there = (there - gone) | new
        texts = [rng.integers(30, size=rng.integers(1, 7)) if n in new else text for n, text in enumerate(texts)]
        freed = np.concatenate([np.zeros(0, np.int32), *(slots.pop(n) for n in gone)])
        lie = rng.permutation(9).tolist()
        for n in [n for n in lie if n in new]:
            used = np.concatenate([np.zeros(0, np.int32), *slots.values()])
            slots[n] = free_slots(used, len(texts[n]))
        of = state(sorted(there), texts, rows, lie=lie)
        of_rows = np.concatenate([np.zeros(0, np.int32), *(slots[n] for n in lie if n in there)])
        fresh = np.flatnonzero(np.isin(of.groups, list(new))).astype(np.int32)
        folder, anew = tmp_path_factory.mktemp("now"), tmp_path_factory.mktemp("anew")
        with patch.object(neighbours, "_MANY", 0):  # so that nothing is computed whole
            renew_nearest(SlotTables(folder, "across", before), of, of_rows, k, gone=freed, fresh=fresh)
        whole = np.arange(len(of), dtype=np.int32)
        renew_nearest(SlotTables(anew, "across", None), of, whole, k, gone=whole[:0], fresh=whole)
        found = by_name(of, of_rows, folder, k)
        assert found == by_name(of, whole, anew, k)
        assert all(len(near) == min(k, (of.groups != name[0]).sum()) for name, near in found.items())
        before = folder


def test_a_patch_that_does_not_fit_is_written_into_new_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slots_module, "_LEAST", 12)
    monkeypatch.setattr(neighbours, "_MANY", 1)
    of = space(1, [1] * 40, level=False)
    slots, before = np.arange(40, dtype=np.int32), tmp_path / "0"
    before.mkdir()
    few = Space(of.matrix[:30], of.groups[:30], of.marks[:30])
    renew_nearest(SlotTables(before, "across", None), few, slots[:30], 2, gone=slots[:0], fresh=few.every())
    linked = []
    for count in range(31, 41):
        some = Space(of.matrix[:count], of.groups[:count], of.marks[:count])
        folder = tmp_path / str(count)
        folder.mkdir()
        renew_nearest(
            SlotTables(folder, "across", before),
            some,
            slots[:count],
            2,
            gone=slots[:0],
            fresh=some.every()[count - 1 :],
        )
        linked.append((folder / "across.to.npy").samefile(before / "across.to.npy"))
        assert np.array_equal(SlotTable.load(folder, "across").nearest.to[:count, :2], nearest_elsewhere(some, 2).to)
        before = folder
    assert True in linked
    assert False in linked


def clustered(windows: int) -> Space:
    """Windows around some hundred points, five to a document, as texts on a hundred subjects are."""
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((100, 24))[rng.integers(100, size=windows)] + rng.standard_normal((windows, 24))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return Space(rows, np.arange(windows) // 5, np.arange(windows, dtype=np.uint64))


def share_found(of: Space, found: Nearest, k: int) -> float:
    least = nearest_elsewhere(of, k).similarity[:, k - 1 :]
    return float((found.similarity[:, :k] >= least).mean())


def test_looking_around_finds_nearly_all_and_a_change_loses_none_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Beyond the border a fresh build looks around; what a change computes is exact, so no history makes it worse."""
    monkeypatch.setattr(neighbours, "EXACT_ROWS", 500)
    of, k = clustered(3000), 10
    assert share_found(of, nearest_around(of, k, k + 6), k) >= 0.99
    slots, before, exact, size = of.every(), tmp_path / "0", True, 2700
    before.mkdir()

    def first(count: int) -> Space:
        return Space(of.matrix[:count], of.groups[:count], of.marks[:count])

    some = first(size)
    exact = renew_nearest(SlotTables(before, "across", None), some, slots[:size], k, gone=slots[:0], fresh=some.every())
    assert not exact
    for step, count in enumerate([2800, 2900, 3000, 2950, 2600], start=1):
        now, folder = first(count), tmp_path / str(step)
        folder.mkdir()
        tables = SlotTables(folder, "across", before, exact)
        gone, fresh = slots[count:size], slots[size:count]
        exact = renew_nearest(tables, now, slots[:count], k, gone=gone, fresh=fresh)
        found = SlotTable.load(folder, "across").of_slots(slots[:count])
        assert not exact
        assert share_found(now, found, k) >= 0.99
        if len(fresh):
            new = Nearest(found.to[fresh], found.similarity[fresh])
            assert np.array_equal(new.to[:, :k], nearest_elsewhere(now, k, rows=fresh).to)
        before, size = folder, count


def test_rows_that_became_few_are_compared_with_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(neighbours, "EXACT_ROWS", 500)
    of = clustered(505)
    slots = of.every()
    before, after = tmp_path / "0", tmp_path / "1"
    before.mkdir()
    after.mkdir()
    assert not renew_nearest(SlotTables(before, "across", None), of, slots, 3, gone=slots[:0], fresh=slots)
    few = Space(of.matrix[:500], of.groups[:500], of.marks[:500])
    tables = SlotTables(after, "across", before, exact=False)
    assert renew_nearest(tables, few, slots[:500], 3, gone=slots[500:], fresh=slots[:0])
    found = SlotTable.load(after, "across").of_slots(slots[:500])
    assert np.array_equal(found.to[:, :3], nearest_elsewhere(few, 3).to)


def test_three_axes_hold_most_of_the_spread_with_a_fixed_sign():
    rng = np.random.default_rng(5)
    rows = (rng.standard_normal((300, 8)) * [9, 5, 3, 1, 1, 1, 1, 1] + 2).astype(np.float32)
    projection = Projection.fit(rows)
    centred = rows.astype(np.float64) - rows.astype(np.float64).mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(projection.axes @ axes[:3].T), np.eye(3), atol=1e-4)
    assert (projection.axes[np.arange(3), np.abs(projection.axes).argmax(axis=1)] > 0).all()
    assert np.allclose(projection.apply(rows), centred @ projection.axes.T, atol=1e-3)


@pytest.mark.parametrize("shape", [(0, 4), (1, 4), (5, 2)])
def test_few_windows_or_dimensions_have_axes_of_zero(shape: tuple[int, int]):
    projection = Projection.fit(np.ones(shape, np.float32))
    assert projection.apply(np.ones(shape, np.float32)).shape == (shape[0], 3)


def test_axes_do_not_depend_on_what_came_and_went():
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((300, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    moments = Moments.nothing(8)
    moments.add(rows[200:])
    moments.add(rows[:250][::-1])
    moments.add(rows[200:250], times=-1)
    assert Projection.of(moments).axes.tobytes() == Projection.fit(rows).axes.tobytes()
