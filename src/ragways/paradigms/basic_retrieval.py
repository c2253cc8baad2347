from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import basic_retrieval
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    max_sentences: Count = 15,
    min_sentences: Count = 5,
    tokens: Tokens = 8000,
) -> Strategy:
    walk = basic_retrieval(use, max_sentences=max_sentences, min_sentences=min_sentences)
    return walk >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="basic-retrieval",
    summary="The windows nearest the question, one after the other, until a sentence beats the next; no traversal.",
    source="W",
    needs=frozenset({"vectors", "windows"}),
    build=build,
)
