from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import query_traversal
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    max_sentences: Count = 15,
    min_sentences: Count = 8,
    tokens: Tokens = 8000,
) -> Strategy:
    walk = query_traversal(use, max_sentences=max_sentences, min_sentences=min_sentences)
    return walk >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="query-traversal",
    summary="A walk from window to window, always to the neighbour nearest the question.",
    source="W",
    needs=frozenset({"vectors", "windows"}),
    build=build,
)
