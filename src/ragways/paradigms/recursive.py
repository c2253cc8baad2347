from __future__ import annotations

from typing import Annotated

from annotated_types import Gt

from ragways.modules.generate import answer
from ragways.modules.loops import gather_in_rounds
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Paradigm, Strategy


def build(
    use: Resources, *, rounds: Annotated[int, Gt(0)] = 5, k: Annotated[int, Gt(0)] = 7, tokens: int = 8000
) -> Strategy:
    return gather_in_rounds(use, rounds=rounds, k=k) >> pack(tokens) >> answer(use, "rounds")


PARADIGM = Paradigm(
    name="recursive",
    summary="Search in rounds; each appends to the query what the passages found so far leave open.",
    source="T",
    needs=frozenset({"vectors"}),
    build=build,
)
