"""Exact search against a plain sort, ties included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    # Products of equal vectors may differ in the last bit, so that equals may change places.
    assert np.allclose(
        [score for _, score in found], sorted((scores[id] for id in chosen), reverse=True)[:k], atol=1e-5
    )
    assert np.allclose([score for _, score in found], [scores[id] for id, _ in found], atol=1e-5)
    assert len({id for id, _ in found} & set(chosen)) == len(found)


def test_rows_of_another_format_are_refused_and_never_misread():
    for other in (np.zeros((3, 8), np.float32), np.zeros(8, np.int8), np.zeros((3, 2), np.int8)):
        with pytest.raises(StoreDamaged, match="as this version keeps them"):
            PackedRows(other)  # type: ignore[arg-type]
