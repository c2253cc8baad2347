from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from ragways.modules.communities import report_points
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    level: Annotated[int, Ge(-1)] = -1,
    reports: Count = 9000,
    batch: Count = 3500,
    seed: int = 0,
    tokens: Tokens = 2500,
) -> Strategy:
    return (
        report_points(use, level=level, reports=reports, batch=batch, seed=seed)
        >> pack(tokens)
        >> answer(use, "points")
    )


PARADIGM = Paradigm(
    name="community-global",
    summary="Reports of communities read in batches for rated points; the best points make the answer.",
    source="T, U",
    needs=frozenset({"vectors", "graph", "communities"}),
    build=build,
)
