"""Vectors in a byte a number: the direction stays, and products are the same wherever a row stands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged
from ragways.store.packed import PackedRows, pack, unpack

rows = st.lists(
    st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(lambda row: max(map(abs, row)) > 1e-3),
    min_size=1,
    max_size=5,
)


@given(rows)
def test_packing_keeps_direction_and_makes_length_one(values: list[list[float]]):
    vectors = np.array(values, np.float32)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    packed = PackedRows.of(vectors)
    assert np.abs(packed[:] - units).max() < 0.02
    assert np.allclose(np.linalg.norm(packed[:], axis=1), 1, atol=1e-5)
    for n, row in enumerate(pack(vectors)):
        assert (unpack(row.tobytes()) == packed[n]).all()
    assert np.allclose(packed @ units[0], packed[:] @ units[0], atol=5e-5)
    assert np.allclose(packed @ units.T, packed[:] @ units.T, atol=5e-5)
    assert (pack(packed[:]) == packed.packed).all()  # what was packed once is not changed by packing it again


def test_rows_of_another_format_are_refused_and_never_misread():
    for other in (np.zeros((3, 8), np.float32), np.zeros(8, np.int8), np.zeros((3, 2), np.int8)):
        with pytest.raises(StoreDamaged, match="as this version stores them"):
            PackedRows(other)  # type: ignore[arg-type]


def whole_numbers(rows: PackedRows, question: NDArray[np.float32]) -> list[float]:
    """The product by its definition, in integers of any size and fractions."""
    peak = max(abs(float(number)) for number in question)
    found = []
    for row in rows.packed:
        total = 0
        for number, asked in zip(row[:-4].tolist(), question.tolist(), strict=True):
            scaled = asked * (127 / peak) if peak else 0.0
            total += number * (254 * round(scaled) + round((scaled - round(scaled)) * 254))
        found.append(float(np.float32(total * (peak / (127 * 254)) * float(row[-4:].view("<f4")[0]))))
    return found


@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-3, 1.0, 1e6]))
def test_a_product_is_a_sum_of_integers(rows: int, dimension: int, seed: int, size: float):
    chance = np.random.default_rng(seed)
    packed = PackedRows.of(chance.standard_normal((rows, dimension)).astype(np.float32))
    question = (size * chance.standard_normal(dimension)).astype(np.float32)
    assert (packed @ question).tolist() == whole_numbers(packed, question)


@pytest.mark.parametrize("dimension", [3, 384, 1040, 1041, 3072])
def test_products_are_the_same_whole_and_in_parts_and_near_the_true_ones(dimension: int):
    chance = np.random.default_rng(dimension)
    rows = 70_000 if dimension == 3 else 1_200
    packed = PackedRows.of(chance.standard_normal((rows, dimension)).astype(np.float32))
    questions = chance.standard_normal((5, dimension)).astype(np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    found = packed @ questions.T
    for n, question in enumerate(questions):
        assert np.array_equal(packed @ question, found[:, n])
        some = np.sort(chance.choice(rows, 700, replace=False))
        assert np.array_equal(packed.take(some) @ question, found[some, n])
        assert np.array_equal(PackedRows(packed.packed[::-3]) @ question, found[::-3, n])
    true = packed[:].astype(np.float64) @ questions.T.astype(np.float64)
    assert np.abs(found - true).max() < 3e-5
    # The largest numbers there are: sums of fewer bits would not hold them.
    largest = PackedRows.of(np.ones((2, dimension), np.float32))
    assert np.allclose(largest @ np.ones(dimension, np.float32), np.sqrt(dimension), rtol=1e-5)
