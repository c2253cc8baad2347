from __future__ import annotations

from typing import Literal

from ragways.modules.loops import answer_in_rounds
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.modules.walk import by_pagerank
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    base: Literal["naive", "graph-ppr"] = "graph-ppr",
    rounds: Count = 3,
    k: Count = 10,
    least: float = 0.4,
    tokens: Tokens = 8000,
) -> Strategy:
    retriever = dense(use, k=k, least=least) if base == "naive" else by_pagerank(use, least=least)
    return answer_in_rounds(use, retriever, rounds=rounds, k=k, tokens=tokens)


PARADIGM = Paradigm(
    name="iterative",
    summary="Answer, judge the answer, look up what it lacks, and answer again.",
    source="R",
    needs=frozenset({"vectors", "graph"}),
    build=build,
)
