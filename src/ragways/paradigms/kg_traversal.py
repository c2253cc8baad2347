from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import kg_traversal
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(use: Resources, *, max_sentences: Count = 15, tokens: Tokens = 8000) -> Strategy:
    walk = kg_traversal(use, max_sentences=max_sentences)
    return walk >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="kg-traversal",
    summary="A walk to the window most similar to the current one, past what was read already.",
    source="W",
    needs=frozenset({"vectors", "windows"}),
    build=build,
)
