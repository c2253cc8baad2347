from __future__ import annotations

from typing import Annotated

from annotated_types import Gt

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import query_traversal
from ragways.paradigms.paradigm import Paradigm, Strategy


def build(
    use: Resources,
    *,
    max_sentences: Annotated[int, Gt(0)] = 15,
    min_sentences: Annotated[int, Gt(0)] = 8,
    tokens: int = 8000,
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
