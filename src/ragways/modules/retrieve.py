"""Query → Hits: the retrievers."""

from __future__ import annotations

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Query, ranked
from ragways.index.vectors import Scored
from ragways.modules.resources import Resources
from ragways.modules.told import told

SHOWN = 20
"""Seeds and passages of a walk that the trace keeps."""


def dense(use: Resources, *, k: int = 10, least: float = -1.0) -> Step[Query, Hits]:
    """The k chunks nearest the question by cosine, those at least `least` similar."""

    @told
    async def run(query: Query) -> Hits:
        vector = await use.embed_question(query.text)
        return _hits(use, query, "dense", use.index.vectors.search(vector, k, least=least))

    return Step("dense", run, k=k, least=least)


def words(use: Resources, *, k: int = 10) -> Step[Query, Hits]:
    """The k chunks that match the question's words best (BM25)."""

    @told
    async def run(query: Query) -> Hits:
        return _hits(use, query, "words", use.index.words.search(query.text, k))

    return Step("words", run, k=k)


def linked(use: Resources, *, k: int = 10, damping: float = 0.7) -> Step[Query, Hits]:
    """The k chunks that a walk from the entities of the question visits most (PageRank over entities and passages)."""

    @told
    async def run(query: Query) -> Hits:
        from ragways.index.graph.retrieve import passages, question_seeds

        seeds = question_seeds(use.index.graph, query.text)
        found = passages(use.index.graph, query.text, k=k, seeds=seeds, damping=damping)
        best = sorted(seeds.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
        current_span().details.update(seeds=_rounded(best), reached=_rounded(found[:SHOWN]))
        return _hits(use, query, "linked", found)

    return Step("linked", run, k=k, damping=damping)


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
