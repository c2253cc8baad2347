from __future__ import annotations

from ragways.core.step import fuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.modules.triplets import edges
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    k: Count = 10,
    triplets: Count = 50,
    entities: Count = 5,
    tokens: Tokens = 8000,
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
