"""Ours: words, meaning and the graph together, with no model before the answer.

Three lists are joined by weighted rank; from the best of that, bridges are followed to passages the question does not
resemble, and a small trained model puts all in order (`modules/fusion_features.py` says what it looks at). What it
goes by depends on whether passages are articles by themselves or parts of long ones. docs/figures.md tells how all
this was chosen, and how it does on data it was not chosen on.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from ragways.core.step import fuse
from ragways.modules.fusion import Fusion, weighed
from ragways.modules.generate import answer
from ragways.modules.refine import pack, reorder, top
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense, linked, words
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    k: Count = 10,
    depth: Count = 30,
    meaning: Annotated[float, Ge(0)] = 1.0,
    word: Annotated[float, Ge(0)] = 0.3,
    graph: Annotated[float, Ge(0)] = 2.5,
    bridge: Annotated[float, Ge(0)] = 0.25,
    rank: Count = 5,
    fusion: Fusion = "learned",
    late: Annotated[float, Ge(0)] = 0.0,
    among: Count = 30,
    tokens: Tokens = 8000,
) -> Strategy:
    """`fusion`: `learned`, or `rank`, which uses no trained weights. `late`: what MaxSim among the best counts."""
    together = fuse(
        dense(use, k=depth), words(use, k=depth), linked(use, k=depth), k=rank, weights=(meaning, word, graph)
    )
    weigh = weighed(use, fusion=fusion, k=rank, bridge=bridge)
    return together >> weigh >> reorder(use, among=among, weight=late, k=rank) >> top(k) >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="fused",
    summary="Meaning, words and a walk over the graph together, bridged through entities, weighed by a trained model.",
    source="beyond",
    needs=frozenset({"vectors", "words", "graph"}),
    build=build,
)
