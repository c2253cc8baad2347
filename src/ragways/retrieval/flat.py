"""Paradigms without a graph and without rounds: by meaning, by words, by both, and from the model's memory alone."""

from __future__ import annotations

from ragways.core.step import Step, fuse
from ragways.core.types import Hits, Query
from ragways.retrieval.answer import answer, answered, recall
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack, top, words

LLM_ONLY = Paradigm(
    name="llm-only",
    summary="The model answers from what it knows, without looking anything up.",
    source="R, A",
    needs=frozenset(),
    build=recall,
)


def build_naive(use: Resources, *, k: Count = 10, minimum: float = -1.0, tokens: Tokens = 8000) -> Strategy:
    return dense(use, k=k, minimum=minimum) >> pack(use, tokens) >> answer(use)


NAIVE = Paradigm(
    name="naive",
    summary="The chunks nearest the question by meaning.",
    source="T, R, U",
    needs=frozenset({"vectors"}),
    build=build_naive,
)


WORDS = Paradigm(
    name="words",
    summary="The chunks that match the question's words best (BM25).",
    source="beyond",
    needs=frozenset({"words"}),
    build=answered(words),
)


def side_by_side(use: Resources, *, depth: int = 50) -> Step[Query, Hits]:
    """All that `hybrid-words` looks at, in its order, before any is left out."""
    return fuse(dense(use, k=depth, beside=True), words(use, k=depth))


def build_hybrid_words(
    use: Resources,
    *,
    k: Count = 10,
    depth: Count = 50,
    tokens: Tokens = 8000,
) -> Strategy:
    return side_by_side(use, depth=depth) >> top(k) >> pack(use, tokens) >> answer(use)


HYBRID_WORDS = Paradigm(
    name="hybrid-words",
    summary="Meaning and words side by side, joined by rank.",
    source="beyond",
    needs=frozenset({"vectors", "words"}),
    build=build_hybrid_words,
)
