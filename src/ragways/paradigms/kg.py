from __future__ import annotations

from typing import Annotated

from annotated_types import Gt

from ragways.core.step import fuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.modules.triplets import edges
from ragways.paradigms.paradigm import Paradigm, Strategy


def build(
    use: Resources,
    *,
    k: Annotated[int, Gt(0)] = 10,
    triplets: Annotated[int, Gt(0)] = 50,
    entities: Annotated[int, Gt(0)] = 5,
    tokens: int = 8000,
) -> Strategy:
    # Triplets and chunks have no id in common, so joining them by rank lets them alternate.
    both = fuse(edges(use, k=triplets, entities=entities), dense(use, k=k))
    return both >> pack(tokens) >> answer(use, "facts")


PARADIGM = Paradigm(
    name="kg",
    summary="The triplets of the entities that the question names, beside the chunks nearest by meaning.",
    source="T",
    needs=frozenset({"vectors", "graph"}),
    build=build,
)
