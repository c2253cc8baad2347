from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from ragways.modules.communities import surroundings
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens

Share = Annotated[float, Ge(0)]


def build(
    use: Resources,
    *,
    entities: Count = 10,
    least: float = 0.3,
    named: bool = True,
    chunks: Share = 0.5,
    relations: Share = 0.35,
    reports: Share = 0.15,
    tokens: Tokens = 8000,
) -> Strategy:
    around = surroundings(
        use, entities=entities, least=least, named=named, chunks=chunks, relations=relations, reports=reports
    )
    return around >> pack(tokens) >> answer(use, "facts")


PARADIGM = Paradigm(
    name="community-local",
    summary="The entities nearest the question, with their relations, reports and source chunks.",
    source="T",
    needs=frozenset({"vectors", "graph", "communities"}),
    build=build,
)
