"""The one table of paradigms. The command's list, the settings and the docs are made from it."""

from __future__ import annotations

from ragways.core.errors import UsageError, did_you_mean
from ragways.paradigms import (
    agent_graph,
    agent_vector,
    basic_retrieval,
    community_global,
    community_local,
    fast_graph,
    fused,
    graph_ppr,
    hybrid,
    hybrid_words,
    iterative,
    kg,
    kg_traversal,
    light,
    llm_guided,
    llm_only,
    naive,
    query_traversal,
    recursive,
    triangulation_3d,
    triangulation_average,
    triangulation_full,
    words,
)
from ragways.paradigms.paradigm import Paradigm, Strategy

PARADIGMS: dict[str, Paradigm] = {
    module.PARADIGM.name: module.PARADIGM
    for module in (
        llm_only,
        naive,
        words,
        hybrid_words,
        recursive,
        kg,
        community_global,
        community_local,
        graph_ppr,
        hybrid,
        iterative,
        light,
        fast_graph,
        basic_retrieval,
        query_traversal,
        kg_traversal,
        triangulation_average,
        triangulation_3d,
        triangulation_full,
        llm_guided,
        agent_vector,
        agent_graph,
        fused,
    )
}


def find_paradigm(name: str) -> Paradigm:
    if name not in PARADIGMS:
        raise UsageError(f"there is no paradigm {name!r}", did_you_mean(name, PARADIGMS))
    return PARADIGMS[name]


__all__ = ["PARADIGMS", "Paradigm", "Strategy", "find_paradigm"]
