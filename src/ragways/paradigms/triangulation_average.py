from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import triangulation_average
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    max_sentences: Count = 15,
    min_sentences: Count = 8,
    tokens: Tokens = 8000,
) -> Strategy:
    walk = triangulation_average(use, max_sentences=max_sentences, min_sentences=min_sentences)
    return walk >> pack(tokens) >> answer(use)


PARADIGM = Paradigm(
    name="triangulation-average",
    summary="A walk by the mean similarity of question, current window and next.",
    source="W",
    needs=frozenset({"vectors", "windows"}),
    build=build,
)
