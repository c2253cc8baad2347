from __future__ import annotations

from ragways.core.step import fuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.modules.walk import by_pagerank
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    k: Count = 100,
    least: float = 0.4,
    nodes: Count = 100,
    smoothing: Count = 60,
    tokens: Tokens = 8000,
) -> Strategy:
    both = fuse(dense(use, k=k, least=least), by_pagerank(use, least=least, nodes=nodes), k=smoothing)
    return both >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="hybrid",
    summary="Chunks by meaning and chunks by PageRank over the graph, joined by rank.",
    source="R",
    needs=frozenset({"vectors", "graph"}),
    build=build,
)
