"""Query → Hits: the retrievers."""

from __future__ import annotations

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Query, ranked
from ragways.index.vectors import Scored
from ragways.modules.resources import Resources


def dense(use: Resources, *, k: int = 10, least: float = -1.0) -> Step[Query, Hits]:
    """The k chunks nearest the question by cosine, those at least `least` similar."""

    async def run(query: Query) -> Hits:
        vector = await use.embed_question(query.text)
        return _hits(use, query, "dense", use.index.vectors.search(vector, k, least=least))

    return Step("dense", run, k=k, least=least)


def words(use: Resources, *, k: int = 10) -> Step[Query, Hits]:
    """The k chunks that match the question's words best (BM25)."""

    async def run(query: Query) -> Hits:
        return _hits(use, query, "words", use.index.words.search(query.text, k))

    return Step("words", run, k=k)


def linked(use: Resources, *, k: int = 10, damping: float = 0.85) -> Step[Query, Hits]:
    """The k chunks that a walk from the entities of the question visits most (PageRank over entities and passages)."""

    async def run(query: Query) -> Hits:
        from ragways.index.graph.retrieve import passages, question_seeds

        seeds = question_seeds(use.index.graph, query.text)
        current_span().details["seeds"] = list(seeds)[:20]
        return _hits(use, query, "linked", passages(use.index.graph, query.text, k=k, seeds=seeds, damping=damping))

    return Step("linked", run, k=k, damping=damping)


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
