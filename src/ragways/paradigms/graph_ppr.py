from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Lt

from ragways.modules.generate import answer
from ragways.modules.link import link_entities
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.walk import sources, spread
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    near: Count = 20,
    least: float = 0.4,
    seeds: Count = 20,
    damping: Annotated[float, Ge(0), Lt(1)] = 0.85,
    rounds: Count = 100,
    share: float = 1e-5,
    nodes: Count = 100,
    triplets: Count = 500,
    tokens: Tokens = 8000,
) -> Strategy:
    return (
        link_entities(use, near=near, least=least, most=seeds)
        >> spread(use, damping=damping, rounds=rounds, least=share, keep=nodes)
        >> sources(use, limit=triplets)
        >> pack(tokens)
        >> answer(use)
    )


PARADIGM = Paradigm(
    name="graph-ppr",
    summary="Personalised PageRank over the knowledge graph, from the entities of the question.",
    source="R",
    needs=frozenset({"vectors", "graph"}),
    build=build,
)
