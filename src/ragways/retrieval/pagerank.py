"""Personalised PageRank from the entities of a question: graph-ppr, fast-graph and hybrid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Lt

from ragways.core.step import Step, fuse
from ragways.core.text import counted
from ragways.core.trace import current_span
from ragways.core.types import Hits, Query
from ragways.layers.protocols import Triplet
from ragways.retrieval.answer import answer
from ragways.retrieval.knowledge_graph import (
    EntityScores,
    GraphWalk,
    Seeds,
    by_date,
    entity_pieces,
    hits_of,
    interleaved,
    link_entities,
    rounded,
    triplet_pieces,
)
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack, scored_hits

SHORT = 80
"""Characters of a description in short form."""
REACHED = "reached by PageRank"


@dataclass(frozen=True)
class Spread:
    """The entities that PageRank leads to, each with its share π: best first, and the seeds whatever their share."""

    seeds: Seeds
    mass: dict[str, float]

    @property
    def brief(self) -> str:
        return counted(len(self.mass), "entity", "entities")


def spread(
    use: Resources,
    *,
    damping: float = 0.85,
    rounds: int = 100,
    minimum: float = 1e-5,
    keep: int = 100,
    weighted: bool = True,
) -> Step[Seeds, Spread]:
    """Personalised PageRank on the undirected graph of entities; it gives the `keep` best with a share of at least
    `minimum`, and the seeds. Exact on a small graph, near the seeds on a large one; the trace says which. `weighted`:
    mass goes along edges in proportion to their weights, as often as relations join two entities; source R's goes
    evenly.
    """

    async def run(seeds: Seeds) -> Spread:
        graph = use.index.graph
        reached = graph.walk(
            dict(seeds.nodes), damping=damping, rounds=rounds, minimum=minimum, keep=keep, weighted=weighted
        )
        here = current_span()
        here.details.update(way="exact" if graph.walks_exactly else "push", nodes=len(reached))
        here.attachments.append(EntityScores("strongest", rounded(reached.items())))
        return Spread(seeds, reached)

    return Step("pagerank", run, damping=damping, rounds=rounds, minimum=minimum, keep=keep, weighted=weighted)


def sources(use: Resources, *, limit: int = 500, chunks: int = 100) -> Step[Spread, Hits]:
    """The source text of the triplets between the entities that were reached, most similar ends first: sorted, and
    only then cut to `limit` triplets.

    All triplets of one seed are equally similar, so among the chunks of equals those come first whose triplets hold the
    larger shares in sum: they say most about what PageRank leads to.
    """

    async def run(reached: Spread) -> Hits:
        graph, mass = use.index.graph, reached.mass
        edges = graph.rank_edges(mass, reached.seeds.likeness.of(mass), limit)
        likeness = [edge.likeness for edge in edges]
        # What a chunk is found by is the first triplet that it states.
        best = graph.sources([(edge.id, edge.share) for edge in edges], chunks, likeness=likeness)
        current_span().details.update(triplets=len(edges), found=len(best))
        _attach_walk(reached, ((source.chunk, source.score) for source in best))
        rows = graph.relations({edges[source.relation].id for source in best}, described=False)
        seeds = {id for id, _ in reached.seeds.nodes}
        notes = {id: _why(row, seeds) for id, row in rows.items()}
        why = {
            source.chunk: (likeness[source.relation], notes.get(edges[source.relation].id, REACHED)) for source in best
        }
        return hits_of(reached.seeds.query, "graph-ppr", use.index.pieces(why), why, why.__getitem__)

    return Step("sources", run, limit=limit, chunks=chunks)


def short_forms(
    use: Resources, *, entities: int = 8, relations: int = 12, chunks: int = 4, limit: int = 500
) -> Step[Spread, Hits]:
    """The best entities, relations and chunks that PageRank leads to.

    An entity's score is its share, a relation's the sum of its ends', a chunk's the sum of the relations it states.
    """

    async def run(reached: Spread) -> Hits:
        graph, mass, query = use.index.graph, reached.mass, reached.seeds.query
        edges = graph.edges(mass, limit, induced=True)
        shares = [(edge.id, mass[edge.subject] + mass[edge.object]) for edge in edges]
        shares.sort(key=lambda pair: (-pair[1], pair[0]))
        source = {found.chunk: found.score for found in graph.sources(shares, chunks)}
        rows = graph.relations([id for id, _ in shares[:relations]])
        stated = {id: share for id, share in shares[:relations] if id in rows}
        named = _best(mass, entities)
        known = graph.entities(named)
        entity = entity_pieces(use, [known[id] for id in named], described=SHORT)
        triplet = triplet_pieces(use, [rows[id] for id in stated], described=SHORT)
        _attach_walk(reached, source.items())
        chunk = use.index.pieces(source)
        seeds = {id for id, _ in reached.seeds.nodes}
        by = "fast-graph"
        chunk_hits = hits_of(query, by, chunk, source, lambda id: (source[id], "states relations that were reached"))
        triplet_hits = hits_of(query, by, triplet, stated, lambda id: (stated[id], _why(rows[id], seeds)))
        entity_hits = hits_of(query, by, entity, named, lambda id: (named[id], "seed" if id in seeds else REACHED))
        in_time = by_date(query.text, triplet_hits.items, lambda hit: rows[hit.piece.id])
        return interleaved(query, (chunk_hits.items, in_time, entity_hits.items))

    return Step("short forms", run, entities=entities, relations=relations, chunks=chunks)


PRIOR = 10
"""Passages that a walk starts from where the question names no entity."""


def linked(use: Resources, *, k: int = 10, damping: float = 0.7) -> Step[Query, Hits]:
    """The k chunks that a walk from the entities of the question visits most (PageRank over entities and passages).

    A question that names none starts from the passages nearest it. Beside named entities they would only blur the walk
    (docs/figures.md).
    """

    async def run(query: Query) -> Hits:
        graph = use.index.graph
        seeds = graph.question_seeds(query.text)
        prior = {} if seeds or "vectors" not in use.index.layers else await _nearest(use, query)
        found = graph.passages(seeds, k=k, prior=prior, damping=damping)
        first = rounded(sorted((seeds or prior).items(), key=lambda pair: (-pair[1], pair[0])))
        current_span().attachments += [EntityScores("seeds", first), GraphWalk(first, None, rounded(found))]
        return scored_hits(use, query, "linked", found)

    return Step("linked", run, k=k, damping=damping)


async def _nearest(use: Resources, query: Query) -> dict[str, float]:
    """The passages nearest the question, with shares that make 1 together."""
    near = use.index.vectors.search(await use.embed_question(query.text), PRIOR, minimum=0.0)
    total = sum(score for _, score in near)
    return {id: score / total for id, score in near} if total > 0 else {}


def _attach_walk(reached: Spread, passages: Iterable[tuple[str, float]]) -> None:
    walk = GraphWalk(rounded(reached.seeds.nodes), rounded(reached.mass.items()), rounded(passages))
    current_span().attachments.append(walk)


def by_pagerank(
    use: Resources,
    *,
    near: int = 20,
    minimum: float = 0.4,
    seeds: int = 20,
    damping: float = 0.85,
    rounds: int = 100,
    nodes: int = 100,
    triplets: int = 500,
    weighted: bool = True,
) -> Step[Query, Hits]:
    """Graph retrieval as a whole: entities of the question, PageRank, source text."""
    return (
        link_entities(use, near=near, minimum=minimum, limit=seeds)
        >> spread(use, damping=damping, rounds=rounds, keep=nodes, weighted=weighted)
        >> sources(use, limit=triplets)
    )


def _best(scores: Mapping[str, float], k: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k])


def _why(triplet: Triplet, seeds: set[str]) -> str:
    ends = ((triplet.subject, triplet.subject_name), (triplet.object, triplet.object_name))
    names = [name for id, name in ends if id in seeds]
    return f"{triplet.text}; {'seed ' + ' and '.join(names) if names else REACHED}"


def build_graph_ppr(
    use: Resources,
    *,
    near: Count = 20,
    minimum: float = 0.4,
    seeds: Count = 20,
    damping: Annotated[float, Ge(0), Lt(1)] = 0.85,
    rounds: Count = 100,
    share: float = 1e-5,
    nodes: Count = 100,
    triplets: Count = 500,
    weighted: bool = True,
    tokens: Tokens = 8000,
) -> Strategy:
    return (
        link_entities(use, near=near, minimum=minimum, limit=seeds)
        >> spread(use, damping=damping, rounds=rounds, minimum=share, keep=nodes, weighted=weighted)
        >> sources(use, limit=triplets)
        >> pack(use, tokens)
        >> answer(use)
    )


GRAPH_PPR = Paradigm(
    name="graph-ppr",
    summary="Personalised PageRank over the knowledge graph, from the entities of the question.",
    source="R",
    needs=frozenset({"vectors", "graph"}),
    build=build_graph_ppr,
)


def build_fast_graph(
    use: Resources,
    *,
    near: Count = 8,
    minimum: float = 0.4,
    damping: Annotated[float, Ge(0), Lt(1)] = 0.85,
    entities: Annotated[int, Ge(0)] = 8,
    relations: Annotated[int, Ge(0)] = 12,
    chunks: Annotated[int, Ge(0)] = 4,
    tokens: Tokens = 2000,
) -> Strategy:
    return (
        link_entities(use, near=near, minimum=minimum, limit=2 * near)
        >> spread(use, damping=damping)
        >> short_forms(use, entities=entities, relations=relations, chunks=chunks)
        >> pack(use, tokens)
        >> answer(use, "facts")
    )


FAST_GRAPH = Paradigm(
    name="fast-graph",
    summary="PageRank from the question's entities scores relations, these score chunks; the best of each, in short.",
    source="U",
    needs=frozenset({"vectors", "graph"}),
    build=build_fast_graph,
)


def build_hybrid(
    use: Resources,
    *,
    k: Count = 100,
    minimum: float = 0.4,
    nodes: Count = 100,
    weighted: bool = True,
    smoothing: Count = 60,
    tokens: Tokens = 8000,
) -> Strategy:
    walk = by_pagerank(use, minimum=minimum, nodes=nodes, weighted=weighted)
    both = fuse(dense(use, k=k, minimum=minimum), walk, k=smoothing)
    return both >> pack(use, tokens) >> answer(use)


HYBRID = Paradigm(
    name="hybrid",
    summary="Chunks by meaning and chunks by PageRank over the graph, joined by rank.",
    source="R",
    needs=frozenset({"vectors", "graph"}),
    build=build_hybrid,
)
