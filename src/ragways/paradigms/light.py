from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from ragways.modules.generate import answer
from ragways.modules.levels import Mode, two_levels
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Count, Paradigm, Strategy


def build(
    use: Resources,
    *,
    mode: Mode = "mix",
    top: Count = 40,
    k: Count = 20,
    least: float = 0.2,
    entity_tokens: Annotated[int, Ge(0)] = 2000,
    relation_tokens: Annotated[int, Ge(0)] = 2000,
    chunk_tokens: Annotated[int, Ge(0)] = 4000,
) -> Strategy:
    levels = two_levels(
        use,
        mode=mode,
        top=top,
        k=k,
        least=least,
        entity_tokens=entity_tokens,
        relation_tokens=relation_tokens,
        chunk_tokens=chunk_tokens,
    )
    return levels >> pack(entity_tokens + relation_tokens + chunk_tokens) >> answer(use, "facts")


PARADIGM = Paradigm(
    name="light",
    summary="Entities near the question's names and relations near its themes, with their source chunks.",
    source="U",
    needs=frozenset({"vectors", "graph"}),
    build=build,
)
