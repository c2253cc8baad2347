from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.loops import gather_in_rounds
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    rounds: Count = 5,
    k: Count = 7,
    tokens: Tokens = 8000,
) -> Strategy:
    return gather_in_rounds(use, rounds=rounds, k=k) >> pack(tokens) >> answer(use, "rounds")


PARADIGM = Paradigm(
    name="recursive",
    summary="Search in rounds; each appends to the query what the passages found so far leave open.",
    source="T",
    needs=frozenset({"vectors"}),
    build=build,
)
