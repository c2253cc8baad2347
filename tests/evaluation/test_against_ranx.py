"""Metrics of rankings against an IR library, where it is installed (`pip install ranx`; too heavy to ask for)."""

from __future__ import annotations

import random

import pytest

from ragways.evaluation.metrics import Cut

ranx = pytest.importorskip("ranx")

NAMES = {"recall": "recall", "hits": "hit_rate", "mrr": "mrr", "map": "map", "ndcg": "ndcg", "precision": "precision"}


@pytest.mark.parametrize("family", list(NAMES))
@pytest.mark.parametrize("k", [1, 2, 4, 5, 10])
def test_the_library_says_the_same(family: str, k: int):
    chance = random.Random(k)
    for _ in range(50):
        gold = [f"g{n}" for n in range(chance.randint(1, 6))]
        found = [f"d{n}" for n in range(20)]
        for one in gold:
            if chance.random() < 0.7:
                found.insert(chance.randint(0, len(found)), one)
        ranks = [found.index(one) + 1 if one in found else None for one in gold]
        qrels = ranx.Qrels({"q": dict.fromkeys(gold, 1)})
        run = ranx.Run({"q": {document: 1 / (place + 1) for place, document in enumerate(found)}})
        theirs = ranx.evaluate(qrels, run, f"{NAMES[family]}@{k}")
        assert Cut(family, k).score(ranks) == pytest.approx(float(theirs), abs=1e-9), (ranks, k)
