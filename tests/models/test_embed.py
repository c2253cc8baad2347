"""The seam itself: what both embedders share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragways.models.embed import Vectors, unit

rows = arrays(np.float32, st.tuples(st.integers(1, 5), st.just(4)), elements=st.floats(-8, 8, width=16))


@given(rows)
def test_unit_rows_have_length_one_and_zero_rows_stay_zero(given_rows: Vectors) -> None:
    lengths = np.linalg.norm(unit(given_rows), axis=1)
    expected = (np.linalg.norm(given_rows, axis=1) > 0).astype(float)
    assert lengths == pytest.approx(expected, abs=1e-3)
