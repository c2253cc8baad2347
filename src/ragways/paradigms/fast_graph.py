from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Lt

from ragways.modules.generate import answer
from ragways.modules.link import link_entities
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.walk import short_forms, spread
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    near: Count = 8,
    least: float = 0.4,
    damping: Annotated[float, Ge(0), Lt(1)] = 0.85,
    entities: Annotated[int, Ge(0)] = 8,
    relations: Annotated[int, Ge(0)] = 12,
    chunks: Annotated[int, Ge(0)] = 4,
    tokens: Tokens = 2000,
) -> Strategy:
    return (
        link_entities(use, near=near, least=least, most=2 * near)
        >> spread(use, damping=damping)
        >> short_forms(use, entities=entities, relations=relations, chunks=chunks)
        >> pack(tokens)
        >> answer(use, "facts")
    )


PARADIGM = Paradigm(
    name="fast-graph",
    summary="PageRank from the question's entities scores relations, these score chunks; the best of each, in short.",
    source="U",
    needs=frozenset({"vectors", "graph"}),
    build=build,
)
