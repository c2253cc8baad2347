"""Exact search against a plain sort, ties included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

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
