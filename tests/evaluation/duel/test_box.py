from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.apps.evaluation.duel_tables import PLOT, drawn
from ragways.evaluation.duel.figures import box_plot


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=1, max_size=60))
def test_a_box_agrees_with_numpy(values: list[float]):
    one = box_plot(values)
    assert one is not None
    assert (one.first, one.median, one.third) == pytest.approx(tuple(np.percentile(values, [25, 50, 75])))
    inside = [v for v in values if one.low <= v <= one.high]
    assert len(inside) + len(one.outliers) == one.n == len(values)
    reach = 1.5 * (one.third - one.first)
    assert all(v < one.first - reach or v > one.third + reach for v in one.outliers)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_a_plot_has_one_width_and_a_median(values: list[float]):
    one = box_plot(values)
    assert one is not None
    row = drawn(one, 1.0)
    assert len(row) == PLOT
    assert row.count("|") == 1 or "o" in row


def test_no_value_no_box():
    assert box_plot([]) is None
