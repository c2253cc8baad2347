from __future__ import annotations

from ragways.modules.generate import recall
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Paradigm, Strategy


def build(use: Resources) -> Strategy:
    return recall(use)


PARADIGM = Paradigm(
    name="llm-only",
    summary="The model answers from what it knows, without looking anything up.",
    source="R, A",
    needs=frozenset(),
    build=build,
)
