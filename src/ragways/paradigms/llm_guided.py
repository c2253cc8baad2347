from __future__ import annotations

from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.modules.traverse import llm_guided
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(
    use: Resources,
    *,
    max_sentences: Count = 15,
    min_sentences: Count = 8,
    previews: Count = 5,
    characters: Count = 200,
    tokens: Tokens = 8000,
) -> Strategy:
    walk = llm_guided(
        use, max_sentences=max_sentences, min_sentences=min_sentences, previews=previews, characters=characters
    )
    return walk >> pack(tokens) >> answer(use, "walk")


PARADIGM = Paradigm(
    name="llm-guided",
    summary="A walk on which the model picks the next window from previews, or stops.",
    source="W",
    needs=frozenset({"vectors", "windows"}),
    build=build,
)
