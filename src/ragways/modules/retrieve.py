"""Query → Hits: the retrievers."""

from __future__ import annotations

from ragways.core.brief import traced
from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Query, ranked
from ragways.index.vectors import Scored
from ragways.modules.resources import Resources

SHOWN = 20
"""Seeds and passages of a walk that the trace keeps."""


def dense(use: Resources, *, k: int = 10, least: float = -1.0) -> Step[Query, Hits]:
    """The k chunks nearest the question by cosine, those at least `least` similar."""

    @traced
    async def run(query: Query) -> Hits:
        vector = await use.embed_question(query.text)
        return _hits(use, query, "dense", use.index.vectors.search(vector, k, least=least))

    return Step("dense", run, k=k, least=least)


def words(use: Resources, *, k: int = 10) -> Step[Query, Hits]:
    """The k chunks that match the question's words best (BM25)."""

    @traced
    async def run(query: Query) -> Hits:
        return _hits(use, query, "words", use.index.words.search(query.text, k))

    return Step("words", run, k=k)


PRIOR = 10
"""Passages that a walk starts from where the question names no entity."""


def linked(use: Resources, *, k: int = 10, damping: float = 0.7) -> Step[Query, Hits]:
    """The k chunks that a walk from the entities of the question visits most (PageRank over entities and passages).

    A question that names none starts from the passages nearest it. Beside named entities they would only blur the walk
    (docs/figures.md).
    """

    @traced
    async def run(query: Query) -> Hits:
        from ragways.index.graph.retrieve import passages, question_seeds

        seeds = question_seeds(use.index.graph, query.text)
        prior = {} if seeds or "vectors" not in use.index.layers else await _nearest(use, query)
        found = passages(use.index.graph, query.text, k=k, seeds=seeds, prior=prior, damping=damping)
        best = sorted((seeds or prior).items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
        current_span().details.update(seeds=_rounded(best), reached=_rounded(found[:SHOWN]))
        return _hits(use, query, "linked", found)

    return Step("linked", run, k=k, damping=damping)


async def _nearest(use: Resources, query: Query) -> dict[str, float]:
    """The passages nearest the question, with shares that make 1 together."""
    near = use.index.vectors.search(await use.embed_question(query.text), PRIOR, least=0.0)
    total = sum(score for _, score in near)
    return {id: score / total for id, score in near} if total > 0 else {}


def _rounded(scored: Scored) -> Scored:
    return [(id, round(score, 6)) for id, score in scored]


def _hits(use: Resources, query: Query, by: str, scored: Scored) -> Hits:
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
