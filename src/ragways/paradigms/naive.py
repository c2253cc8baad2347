from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(use: Resources, *, k: Count = 10, least: float = -1.0, tokens: Tokens = 8000) -> Strategy:
    return dense(use, k=k, least=least) >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="naive",
    summary="The chunks nearest the question by meaning.",
    source="T, R, U",
    needs=frozenset({"vectors"}),
    build=build,
)
