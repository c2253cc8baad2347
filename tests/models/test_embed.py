"""The seam itself: what both embedders share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragways.models.embed import Vectors, maxsim, unit

rows = arrays(np.float32, st.tuples(st.integers(1, 5), st.just(4)), elements=st.floats(-8, 8, width=16))


def slow_maxsim(query: Vectors, document: Vectors) -> float:
    return sum(max(float(np.dot(q, d)) for d in document) for q in query) / len(query)


@given(rows, rows)
def test_maxsim_is_the_mean_of_each_query_tokens_best(query: Vectors, document: Vectors) -> None:
    assert maxsim(query, document) == pytest.approx(slow_maxsim(query, document), abs=1e-4)


def test_maxsim_of_nothing_is_zero() -> None:
    nothing, something = np.zeros((0, 4), np.float32), np.ones((2, 4), np.float32)
    assert maxsim(nothing, something) == maxsim(something, nothing) == maxsim(nothing, nothing) == 0.0


@given(rows)
def test_unit_rows_have_length_one_and_zero_rows_stay_zero(given_rows: Vectors) -> None:
    lengths = np.linalg.norm(unit(given_rows), axis=1)
    expected = (np.linalg.norm(given_rows, axis=1) > 0).astype(float)
    assert lengths == pytest.approx(expected, abs=1e-3)
