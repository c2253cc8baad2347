"""Edges against brute force, whatever the size of a block and however the documents came about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.windows.edges import (
    EdgeInputs,
    Edges,
    Nearest,
    Space,
    nearest_elsewhere,
    nearest_within,
    renew,
    write_json,
)
from ragways.index.windows.reader import Projection


def space(seed: int, sizes: list[int], *, level: bool, different: int = 30) -> Space:
    """Documents of these sizes, whose windows are drawn from a few different texts: so many similarities are equal."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([-0.5, 0.5], (different, 4)) if level else rng.standard_normal((different, 12))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    texts = rng.integers(different, size=sum(sizes))
    groups = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    same = np.array([texts.tolist().index(text) for text in texts.tolist()], np.int32)
    return Space(rows[texts], groups, same)


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


def known(documents: list[int], prints: list[str], top: int) -> EdgeInputs:
    return EdgeInputs("e", 3, 1, top, top, tuple(f"article:{n}" for n in documents), tuple(prints))


@given(st.integers(0, 10_000), st.lists(st.sampled_from(["same", "gone", "new", "changed"]), min_size=1, max_size=9),
       st.booleans(), st.integers(0, 5))  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_renewed_edges_are_those_computed_anew(tmp_path_factory, seed, fates, level, top):
    rng = np.random.default_rng(seed)
    old_texts = [rng.integers(30, size=rng.integers(1, 7)) for _ in fates]
    new_texts = [rng.integers(30, size=rng.integers(1, 7)) if fate in ("new", "changed") else old
                 for fate, old in zip(fates, old_texts, strict=True)]  # fmt: skip
    rows = rng.choice([-0.5, 0.5], (30, 4)) if level else rng.standard_normal((30, 12))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def state(which: list[int], texts: list[np.ndarray]) -> tuple[Space, EdgeInputs]:
        all_texts = [int(text) for n in which for text in texts[n]]
        groups = np.repeat(np.arange(len(which)), [len(texts[n]) for n in which]).astype(np.int32)
        same = np.array([all_texts.index(text) for text in all_texts], np.int32)
        matrix = rows[all_texts] if all_texts else np.zeros((0, rows.shape[1]), np.float32)
        return Space(matrix, groups, same), known(which, [str(texts[n].tolist()) for n in which], top)

    before, was = state([n for n, fate in enumerate(fates) if fate != "new"], old_texts)
    after, now = state([n for n, fate in enumerate(fates) if fate != "gone"], new_texts)
    folder = tmp_path_factory.mktemp("before")
    save(folder, before, was)
    for renewed, anew in zip(renew(after, now, folder), renew(after, now, None), strict=True):
        assert np.array_equal(renewed.to, anew.to)
        assert np.array_equal(renewed.similarity, anew.similarity)


def save(folder: Path, of: Space, made: EdgeInputs) -> None:
    from dataclasses import asdict

    within, across = renew(of, made, None)
    Edges.pack(within).save(folder, "within")
    Edges.pack(across).save(folder, "across")
    at = np.stack([np.zeros_like(of.groups)] * 2 + [of.groups], axis=1)
    np.save(folder / "window_at.npy", at)
    write_json(folder, "known", asdict(made))


def test_other_settings_take_nothing_over(tmp_path: Path):
    of = space(1, [4, 4, 4], level=False)
    save(tmp_path, of, known([1, 2, 3], ["a", "b", "c"], 2))
    more = known([1, 2, 3], ["a", "b", "c"], 4)
    assert np.array_equal(renew(of, more, tmp_path)[1].to, nearest_elsewhere(of, 4).to)


def test_three_axes_hold_most_of_the_spread_with_a_fixed_sign():
    rng = np.random.default_rng(5)
    rows = (rng.standard_normal((300, 8)) * [9, 5, 3, 1, 1, 1, 1, 1] + 2).astype(np.float32)
    projection = Projection.fit(rows)
    centred = rows.astype(np.float64) - rows.astype(np.float64).mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(projection.axes @ axes[:3].T), np.eye(3), atol=1e-6)
    assert (projection.axes[np.arange(3), np.abs(projection.axes).argmax(axis=1)] > 0).all()
    assert np.allclose(projection.apply(rows), centred @ projection.axes.T)


@pytest.mark.parametrize("shape", [(0, 4), (1, 4), (5, 2)])
def test_few_windows_or_dimensions_have_axes_of_zero(shape: tuple[int, int]):
    projection = Projection.fit(np.ones(shape, np.float32))
    assert projection.apply(np.ones(shape, np.float32)).shape == (shape[0], 3)
