"""Hits → Hits and Hits → Evidence: what is kept."""

from __future__ import annotations

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Evidence, Hits


def top(k: int) -> Step[Hits, Hits]:
    """The k best."""

    async def run(hits: Hits) -> Hits:
        return Hits(hits.query, hits.items[:k])

    return Step("top", run, k=k)


def pack(tokens: int) -> Step[Hits, Evidence]:
    """As many of the best as fit the budget.

    Packing ends at the first hit that does not fit, rather than going on to smaller ones behind it: so a larger budget
    never loses what a smaller one had.
    """

    async def run(hits: Hits) -> Evidence:
        kept, used = 0, 0
        for hit in hits.items:
            if used + hit.piece.tokens > tokens:
                break
            kept, used = kept + 1, used + hit.piece.tokens
        current_span().details.update(kept=kept, used=used)
        return Evidence(hits, hits.items[:kept], used)

    return Step("pack", run, tokens=tokens)
