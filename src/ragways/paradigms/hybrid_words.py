from __future__ import annotations

from ragways.core.step import fuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack, top
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense, words
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    k: Count = 10,
    depth: Count = 50,
    tokens: Tokens = 8000,
) -> Strategy:
    both = fuse(dense(use, k=depth), words(use, k=depth))
    return both >> top(k) >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="hybrid-words",
    summary="Meaning and words side by side, joined by rank.",
    source="beyond",
    needs=frozenset({"vectors", "words"}),
    build=build,
)
