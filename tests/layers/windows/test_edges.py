"""Edges against brute force, whatever the block and however the documents came about."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.layers.windows import edges
from ragways.layers.windows.edges import Nearest, Space, renewed_elsewhere, renewed_within
from ragways.layers.windows.read import Projection
from ragways.store.packed import pack


def texts_packed(rng: np.random.Generator, *, level: bool, different: int = 30, dimension: int = 12) -> np.ndarray:
    """A few different texts; of level ones many similarities are equal."""
    rows = rng.choice([-0.5, 0.5], (different, 4)) if level else rng.standard_normal((different, dimension))
    return pack(rows.astype(np.float32))


def space(seed: int, sizes: list[int], **kind) -> Space:
    """Documents of these sizes, whose windows are drawn from a few different texts."""
    rng = np.random.default_rng(seed)
    rows = texts_packed(rng, **kind)
    return Space(rows[rng.integers(len(rows), size=sum(sizes))], np.repeat(np.arange(len(sizes)), sizes))


def similarity(of: Space, one: int, other: int) -> np.float32:
    """A product of whole numbers, times the factors of both rows."""
    product = np.dot(of.packed[one, :-4].astype(np.int64), of.packed[other, :-4].astype(np.int64))
    factors = of.packed[[one, other], -4:].copy().view("<f4")[:, 0]
    number = np.float32(product) if of.packed.shape[1] < 1040 else np.float64(product)
    return np.float32(number * (factors[0] * factors[1]))


def brute(of: Space, k: int, *, own: bool) -> list[list[tuple[int, float]]]:
    found = []
    for row in range(len(of)):
        others = [n for n in range(len(of)) if n != row and (of.groups[n] == of.groups[row]) == own]
        pairs = [(n, float(similarity(of, row, n))) for n in others]
        found.append(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k])
    return found


def listed(nearest: Nearest) -> list[list[tuple[int, float]]]:
    return [*map(nearest.of, range(len(nearest)))]


def nothing(k: int) -> tuple[Nearest, np.ndarray]:
    return Nearest.none(0, k), np.zeros(0, np.int64)


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=8)
BLOCKS = st.tuples(st.integers(1, 9), st.integers(1, 40))


@given(st.integers(0, 10_000), SIZES, st.booleans(), st.integers(0, 6), BLOCKS)
@settings(max_examples=40, deadline=None)
def test_edges_are_those_of_brute_force_whatever_the_block(seed, sizes, level, k, blocks):
    of = space(seed, sizes, level=level)
    with patch.object(edges, "ROWS_AT_ONCE", blocks[0]), patch.object(edges, "COLUMNS_AT_ONCE", blocks[1]):
        assert listed(renewed_within(of, *nothing(k))) == brute(of, k, own=True)
        assert listed(renewed_elsewhere(of, *nothing(k))) == brute(of, k, own=False)


def test_many_columns_take_the_quick_way_to_the_same_edges():
    of = space(1, [7] * 60, level=False, different=300)
    assert listed(renewed_elsewhere(of, *nothing(3))) == brute(of, 3, own=False)


def test_long_vectors_have_exact_products_too():
    of = space(1, [4] * 5, level=False, dimension=1200)
    assert listed(renewed_elsewhere(of, *nothing(3))) == brute(of, 3, own=False)


FATES = st.lists(st.lists(st.sampled_from("sssgnc"), min_size=9, max_size=9), min_size=1, max_size=6)


@given(st.integers(0, 10_000), FATES, st.booleans(), st.integers(0, 3), BLOCKS)
@settings(max_examples=60, deadline=None)
def test_edges_brought_up_to_date_are_those_of_a_fresh_search(seed, fates, level, k, blocks):
    """Step by step each of nine documents stays, goes, comes or changes."""
    rng = np.random.default_rng(seed)
    packed = texts_packed(rng, level=level)
    texts = [rng.integers(30, size=rng.integers(1, 7)) for _ in range(9)]
    there: set[int] = set(rng.permutation(9)[:6].tolist())
    names: list[tuple[int, int]] = []
    within, across = Nearest.none(0, k), Nearest.none(0, k)
    for step in [["s"] * 9, *fates]:
        gone = {n for n in there if step[n] in "gc"}
        new = {n for n, fate in enumerate(step) if (fate == "c" and n in there) or (fate == "n" and n not in there)}
        there = (there - gone) | new
        texts = [rng.integers(30, size=rng.integers(1, 7)) if n in new else text for n, text in enumerate(texts)]
        now = [(n, place) for n in sorted(there) for place in range(len(texts[n]))]
        of = Space(packed[[texts[n][place] for n, place in now]], np.array([n for n, _ in now], np.int64))
        at = {name: row for row, name in enumerate(now)}
        moved = np.array([-1 if n in gone else at[n, place] for n, place in names], np.int64)
        with patch.object(edges, "ROWS_AT_ONCE", blocks[0]), patch.object(edges, "COLUMNS_AT_ONCE", blocks[1]):
            within, across = renewed_within(of, within, moved), renewed_elsewhere(of, across, moved)
        names = now
        for found, fresh in (
            (within, renewed_within(of, *nothing(k))),
            (across, renewed_elsewhere(of, *nothing(k))),
        ):
            assert found.to.tobytes() == fresh.to.tobytes()
            assert found.similarity.tobytes() == fresh.similarity.tobytes()


def test_rows_that_keep_their_neighbours_are_not_searched_again(monkeypatch: pytest.MonkeyPatch):
    of = space(1, [2] * 50, level=False, different=200)
    known = renewed_elsewhere(of, *nothing(3))
    more = Space(np.concatenate([of.packed, of.packed[:2]]), np.append(of.groups, [50, 50]))
    searched: list[int] = []
    real = Space.similarities

    def noted(self, rows, columns, barred):
        searched.extend(rows.tolist())
        return real(self, rows, columns, barred)

    monkeypatch.setattr(Space, "similarities", noted)
    renewed_elsewhere(more, known, np.arange(100))
    assert searched == [100, 101]


def test_three_axes_have_most_of_the_spread_with_a_fixed_sign():
    rng = np.random.default_rng(5)
    rows = (rng.standard_normal((300, 8)) * [9, 5, 3, 1, 1, 1, 1, 1] + 2).astype(np.float32)
    projection = Projection.fit(rows)
    centred = rows.astype(np.float64) - rows.astype(np.float64).mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(projection.axes @ axes[:3].T), np.eye(3), atol=1e-4)
    assert (projection.axes[np.arange(3), np.abs(projection.axes).argmax(axis=1)] > 0).all()
    assert np.allclose(projection.apply(rows), centred @ projection.axes.T, atol=1e-3)
