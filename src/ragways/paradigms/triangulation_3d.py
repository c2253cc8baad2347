from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import triangulation_3d
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(use: Resources, *, max_sentences: Count = 15, tokens: Tokens = 8000) -> Strategy:
    walk = triangulation_3d(use, max_sentences=max_sentences)
    return walk >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="triangulation-3d",
    summary="A walk by the centroid of question, current window and next, in three dimensions.",
    source="W",
    needs=frozenset({"vectors", "windows"}),
    build=build,
)
