"""Exact search against a plain sort, ties included, and products against their definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragways.core.errors import StoreDamaged
from ragways.index.packed import PackedRows
from ragways.index.vectors import Vectors, best


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0]), max_size=30), st.integers(0, 35), st.sampled_from([-1.0, 0.3])
)
def test_best_is_a_sort(scores, k, least):
    ids = [f"id{(7 * n) % 31:02}" for n in range(len(scores))]
    expected = sorted(((id, s) for id, s in zip(ids, scores, strict=True) if s >= least), key=lambda p: (-p[1], p[0]))
    assert best(ids, np.array(scores, np.float32), k, least) == expected[:k] if k else True


def test_search_save_and_load(tmp_path: Path):
    chance = np.random.default_rng(3)
    matrix = chance.standard_normal((50, 8)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    vectors = Vectors([f"id{n}" for n in range(50)], matrix)
    vectors.save(tmp_path, "chunks")
    loaded = Vectors.load(tmp_path, "chunks")
    question = matrix[7]
    assert loaded.search(question, 5) == vectors.search(question, 5)
    assert loaded.search(question, 1)[0][0] == "id7"
    assert loaded.search(question, 5, minimum=0.999) == [("id7", loaded.search(question, 1)[0][1])]
    assert loaded.search(question, 0) == []


@given(st.integers(0, 40), st.integers(0, 2**32 - 1), st.integers(1, 50), st.floats(0, 1))
def test_search_among_some_rows_is_a_sort_of_those(rows: int, seed: int, k: int, share: float):
    chance = np.random.default_rng(seed)
    # Few different vectors, so that many are equal.
    matrix = chance.standard_normal((5, 8)).astype(np.float32)[chance.integers(0, 5, rows)]
    kept = chance.random(rows) < share
    question = chance.standard_normal(8).astype(np.float32)
    vectors = Vectors([f"id{(7 * n) % 41:02}" for n in range(rows)], matrix)
    scores = {id: float(score) for id, score in zip(vectors.ids, vectors.matrix @ question, strict=True)}
    chosen = [vectors.ids[n] for n in np.flatnonzero(kept).tolist()]
    found = vectors.only(kept).search(question, k, minimum=-100.0)
    expected = sorted(((id, scores[id]) for id in chosen), key=lambda pair: (-pair[1], pair[0]))
    assert found == expected[:k]


def test_rows_of_another_format_are_refused_and_never_misread():
    for other in (np.zeros((3, 8), np.float32), np.zeros(8, np.int8), np.zeros((3, 2), np.int8)):
        with pytest.raises(StoreDamaged, match="as this version keeps them"):
            PackedRows(other)  # type: ignore[arg-type]


# Products


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
