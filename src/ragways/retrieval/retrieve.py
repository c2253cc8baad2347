"""Query → Hits, Hits → Hits and Hits → Evidence: retrieval, and the selection of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Evidence, Found, Hit, Hits, Query, ranked
from ragways.layers.layer import Scored
from ragways.models.embed import reads
from ragways.retrieval.guard import guarded
from ragways.retrieval.paradigm import Count
from ragways.retrieval.reader import ordered
from ragways.retrieval.resources import Resources
from ragways.tasks.answers import ANSWER


def dense(use: Resources, *, k: int = 10, minimum: float = -1.0, beside: bool = False) -> Step[Query, Hits]:
    """The k chunks nearest the question by cosine, those at least `minimum` similar.

    `beside`: other ways look too, so that nothing is found here where the embedder cannot read the question.
    """

    async def run(query: Query) -> Hits:
        if beside and not reads(use.embedder, query.text):
            current_span().details["unread"] = "the embedder does not know the question's language"
            return Hits(query)
        vector = await use.embed_question(query.text)
        return scored_hits(use, query, "dense", use.index.vectors.search(vector, k, minimum=minimum))

    return Step("dense", run, k=k, minimum=minimum)


def words(use: Resources, *, k: Count = 10) -> Step[Query, Hits]:
    """The k chunks that match the question's words best (BM25)."""

    async def run(query: Query) -> Hits:
        return scored_hits(use, query, "words", use.index.words.search(query.text, k))

    return Step("words", run, k=k)


def scored_hits(use: Resources, query: Query, by: str, scored: Scored) -> Hits:
    pieces = use.index.pieces(id for id, _ in scored)
    current_span().details["found"] = len(pieces)
    return ranked(
        query,
        (
            Hit(pieces[id], score, (Found(by, rank, score),))
            for rank, (id, score) in enumerate(scored, start=1)
            if id in pieces
        ),
    )


def top(k: int) -> Step[Hits, Hits]:
    """The k best."""

    async def run(hits: Hits) -> Hits:
        return Hits(hits.query, hits.items[:k])

    return Step("top", run, k=k)


_FITS_ANYWHERE: Final = 1000
"""Tokens of evidence that the smallest context in use has room for."""


def _fitting(hits: Sequence[Hit], tokens: int) -> tuple[int, int]:
    """Return how many of the best fit a budget, and their tokens."""
    used = 0
    for count, hit in enumerate(hits):
        if used + hit.piece.tokens > tokens:
            return count, used
        used += hit.piece.tokens
    return len(hits), used


def pack(use: Resources, tokens: int, *, order: bool = True) -> Step[Hits, Evidence]:
    """As many of the best as fit the budget, without what the guard leaves out (see `guard.py`).

    Packing ends at the first hit that does not fit, rather than going on to smaller ones behind it: so a larger budget
    never loses what a smaller one had. A model is shown no more than its context has room for. The reader may put the
    best in order before (`answer.order`); `order=False` is for lists that it had a say in already.
    """

    async def run(hits: Hits) -> Evidence:
        by_source = use.guard.trust or use.guard.most
        sources = use.index.keys(hit.piece.document for hit in hits.items) if by_source else {}
        checked = guarded(await ordered(use, hits) if order else hits, use.guard, sources)
        count, used = _fitting(checked.hits.items, tokens)
        if used > _FITS_ANYWHERE and (room := await use.model.room(use.wishes.tokens or ANSWER.max_output)) is not None:
            count, used = _fitting(checked.hits.items, min(tokens, room))
        current_span().details.update(shown=count, used=used)
        if checked.held_back:
            current_span().details["held_back"] = dict(checked.held_back)
        items = checked.hits.items[:count]
        return Evidence(
            checked.hits,
            items,
            used,
            tuple(use.index.origins([(hit.piece.document, hit.piece.start, hit.piece.end) for hit in items])),
            tuple(checked.duplicates.get(hit.piece.id, 0) for hit in items),
        )

    return Step("pack", run, tokens=tokens)
