"""A paradigm: of the chunks nearest the question, the longest ones."""

from __future__ import annotations

from dataclasses import replace

from ragways import Hits, Paradigm, Step
from ragways.core.types import ranked
from ragways.retrieval.answer import answer
from ragways.retrieval.paradigm import Count, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack


def longest_first(keep: int) -> Step[Hits, Hits]:
    """The so many longest hits, longest first."""

    async def run(hits: Hits) -> Hits:
        chosen = sorted(hits.items, key=lambda hit: (-hit.piece.tokens, hit.piece.id))[:keep]
        return ranked(hits.query, (replace(hit, score=float(hit.piece.tokens)) for hit in chosen))

    return Step("longest first", run, keep=keep)


def build(use: Resources, *, k: Count = 20, keep: Count = 5, tokens: Tokens = 8000) -> Strategy:
    """Keyword-only parameters are the paradigm's settings."""
    return dense(use, k=k) >> longest_first(keep) >> pack(use, tokens) >> answer(use)


LONGEST = Paradigm(
    name="longest",
    summary="The longest of the chunks nearest the question.",
    source="an example",
    needs=frozenset({"vectors"}),
    build=build,
)
