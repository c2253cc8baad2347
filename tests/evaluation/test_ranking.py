"""Cuts are values, and agree with their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.evaluation.metrics import FAMILIES, Cut

RANKS = st.lists(st.one_of(st.none(), st.integers(1, 20)), min_size=1, max_size=6)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_metric_prints_and_parses_as_itself(family: str):
    metric = Cut(family, 5)
    assert Cut.parse(str(metric)) == metric
    assert Cut.parse(f" {family.upper()} @ 5 ") == metric
    assert len({metric, Cut.parse(str(metric))}) == 1


@pytest.mark.parametrize("text", ["recall", "recall@0", "recall@-1", "recal@5", "@5", "recall@5.5"])
def test_what_is_no_metric(text: str):
    with pytest.raises(UsageError):
        Cut.parse(text)


def test_by_hand():
    ranks = [1, 3, None]
    scores = {str(m): m.score(ranks) for m in map(Cut.parse, ("recall@2", "recall@5", "all-evidence@8", "mrr@10",
                                                                 "hits@2", "map@5"))}  # fmt: skip
    assert scores == {
        "recall@2": pytest.approx(1 / 3),
        "recall@5": pytest.approx(2 / 3),
        "all-evidence@8": 0.0,
        "mrr@10": 1.0,
        "hits@2": 1.0,
        "map@5": pytest.approx((1 + 2 / 3) / 3),
    }


@given(st.sets(st.integers(1, 20), max_size=6), st.integers(0, 3), st.integers(1, 15))
def test_ndcg_and_precision_are_those_of_judged_lists(found: set[int], missed: int, k: int):
    """Another way round: a list of judgements, its gains against those of the same judgements sorted (as scikit-learn
    and trec_eval compute them), and the mean of the first k.
    """
    ranks = [*found, *[None] * missed]
    if not ranks:
        return
    judged = np.zeros(40)
    judged[[rank - 1 for rank in found]] = 1
    judged[30 : 30 + missed] = 1  # relevant, and ranked below everything that was returned
    discount = 1 / np.log2(np.arange(40) + 2)
    discount[k:] = 0
    assert Cut("ndcg", k).score(ranks) == pytest.approx(judged @ discount / (np.sort(judged)[::-1] @ discount))
    assert Cut("precision", k).score(ranks) == pytest.approx(judged[:k].mean())


@given(RANKS, st.integers(1, 10))
def test_a_deeper_look_never_loses(ranks, k):
    for family in ("recall", "all-evidence", "hits", "mrr"):
        assert (Cut(family, k + 1).score(ranks) or 0) >= (Cut(family, k).score(ranks) or 0)


@given(RANKS, st.integers(1, 10))
def test_every_metric_lies_between_0_and_1_however_gold_is_spread(ranks, k):
    for family in FAMILIES:
        assert 0 <= (Cut(family, k).score(ranks) or 0) <= 1
    assert Cut("map", 5).score([1, 1, 1]) == 1, "three quotes in the first hit"
