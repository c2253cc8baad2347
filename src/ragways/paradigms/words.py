from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.retrieve import words
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(use: Resources, *, k: Count = 10, tokens: Tokens = 8000) -> Strategy:
    return words(use, k=k) >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="words",
    summary="The chunks that match the question's words best (BM25).",
    source="beyond",
    needs=frozenset({"words"}),
    build=build,
)
