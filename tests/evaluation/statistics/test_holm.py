"""Holm's correction against its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.statistics.inference import holm

PS = st.lists(st.floats(0, 1), max_size=12)


def rejected_by_steps(ps: list[float], alpha: float) -> set[int]:
    """As Holm wrote it: from the smallest on, against alpha / (what is left), until one is not below."""
    found: set[int] = set()
    for at in sorted(range(len(ps)), key=lambda n: ps[n]):
        if ps[at] > alpha / (len(ps) - len(found)):
            break
        found.add(at)
    return found


@given(PS)
def test_never_below_p_nor_above_one_and_in_the_same_order(ps):
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    assert [adjusted[n] for n in order] == sorted(adjusted)


@given(PS, st.randoms(use_true_random=False))
def test_the_order_in_which_they_come_does_not_matter(ps, chance):
    order = list(range(len(ps)))
    chance.shuffle(order)
    adjusted, shuffled = holm(ps), holm([ps[n] for n in order])
    assert shuffled == [adjusted[n] for n in order]


@given(PS, st.sampled_from([0.01, 0.049, 0.1, 0.333]))
def test_it_rejects_what_the_steps_reject(ps, alpha):
    near = any(abs(p * (len(ps) - n) - alpha) < 1e-9 for p in ps for n in range(len(ps)))
    if not near:  # there, rounding decides
        assert {n for n, p in enumerate(holm(ps)) if p <= alpha} == rejected_by_steps(ps, alpha)


def test_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            holm([0.5, wrong])
