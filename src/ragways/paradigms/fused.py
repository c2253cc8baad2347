"""Ours: words, meaning and the graph together, with no model before the answer.

The weights were chosen on MuSiQue, HotpotQA and 2WikiMultihopQA together, from a coarse grid, and none of the three
depends on their exact values (docs/figures.md). The walk over the graph counts most: it alone finds a passage that
the question does not resemble. A small constant of rank fusion lets the first places of each list stand out.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt

from ragways.core.step import fuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack, reorder, top
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense, linked, words
from ragways.paradigms.paradigm import Paradigm, Strategy


def build(
    use: Resources,
    *,
    k: Annotated[int, Gt(0)] = 10,
    depth: Annotated[int, Gt(0)] = 50,
    meaning: Annotated[float, Ge(0)] = 1.0,
    word: Annotated[float, Ge(0)] = 0.3,
    graph: Annotated[float, Ge(0)] = 2.5,
    rank: Annotated[int, Gt(0)] = 5,
    late: Annotated[float, Ge(0)] = 0.0,
    among: Annotated[int, Gt(0)] = 30,
    tokens: int = 8000,
) -> Strategy:
    together = fuse(
        dense(use, k=depth), words(use, k=depth), linked(use, k=depth), k=rank, weights=(meaning, word, graph)
    )
    return together >> reorder(use, among=among, weight=late, k=rank) >> top(k) >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="fused",
    summary="Meaning, words and a walk over the graph together, joined by weighted rank.",
    source="beyond",
    needs=frozenset({"vectors", "words", "graph"}),
    build=build,
)
