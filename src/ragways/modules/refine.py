"""Hits → Hits and Hits → Evidence: what is kept."""

from __future__ import annotations

from dataclasses import replace

from ragways.core.brief import traced
from ragways.core.step import Step, rank_fusion
from ragways.core.trace import current_span
from ragways.core.types import Evidence, Found, Hit, Hits, ranked
from ragways.modules.resources import Resources


def top(k: int) -> Step[Hits, Hits]:
    """The k best."""

    @traced
    async def run(hits: Hits) -> Hits:
        return Hits(hits.query, hits.items[:k])

    return Step("top", run, k=k)


def reorder(use: Resources, *, among: int, weight: float, k: int) -> Step[Hits, Hits]:
    """Let late interaction have a say in the order of the best `among` hits.

    Each token of the question is matched to its nearest token of a passage (MaxSim over the embedder's token vectors).
    The order that gives is joined to the one there was by rank, rather than put in its place: a passage two hops away
    is not like the question, and found all the same.
    """

    @traced
    async def run(hits: Hits) -> Hits:
        from ragways.models.embed import maxsim

        best = hits.items[:among]
        if not best or weight <= 0:
            return hits
        question, *passages = await use.embedder.tokens([hits.query.text, *(hit.piece.text for hit in best)])
        scored = [
            Hit(hit.piece, score, (Found("maxsim", 0, score),))
            for hit, score in zip(best, (maxsim(question, passage) for passage in passages), strict=True)
        ]
        order = ranked(hits.query, scored)
        named = [
            replace(hit, found=(replace(hit.found[0], rank=rank),)) for rank, hit in enumerate(order.items, start=1)
        ]
        return rank_fusion([hits, Hits(hits.query, tuple(named))], k, [1.0, weight])

    return Step("reorder", run, among=among, weight=weight)


def pack(tokens: int) -> Step[Hits, Evidence]:
    """As many of the best as fit the budget.

    Packing ends at the first hit that does not fit, rather than going on to smaller ones behind it: so a larger budget
    never loses what a smaller one had.
    """

    @traced
    async def run(hits: Hits) -> Evidence:
        kept, used = 0, 0
        for hit in hits.items:
            if used + hit.piece.tokens > tokens:
                break
            kept, used = kept + 1, used + hit.piece.tokens
        current_span().details.update(kept=kept, used=used)
        return Evidence(hits, hits.items[:kept], used)

    return Step("pack", run, tokens=tokens)
