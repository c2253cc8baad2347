"""Seeds → Spread → Hits: personalised PageRank from the entities of a question, and the text that it leads to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Hits, Query
from ragways.index.graph.reader import Graph
from ragways.index.graph.rows import Triplet
from ragways.modules.bonds import Bond, Bonds
from ragways.modules.link import Seeds, link_entities
from ragways.modules.resources import Resources
from ragways.modules.told import counted, told
from ragways.modules.triplets import by_date, entity_pieces, hits_of, interleaved, said, triplet_pieces

EXACT = 2_000
"""Nodes up to which power iteration is as quick as pushing; beyond it, work must not grow with the graph."""
NEAR = 5e-5
"""How fine PageRank is on a large graph: 98 of the 100 best are then those of the exact one, at half the time of 99."""
SHORT = 80
"""Characters of a description in short form."""
SHOWN = 20
"""Entities and passages that the trace keeps."""
REACHED = "reached by PageRank"


@dataclass(frozen=True)
class Spread:
    """The entities that PageRank leads to, each with its share π: best first, and the seeds whatever their share."""

    seeds: Seeds
    mass: dict[str, float]

    @property
    def brief(self) -> str:
        return counted(len(self.mass), (), "entity", "entities")


def spread(
    use: Resources, *, damping: float = 0.85, rounds: int = 100, least: float = 1e-5, keep: int = 100
) -> Step[Seeds, Spread]:
    """Personalised PageRank on the undirected graph of entities; kept are the `keep` best that have at least `least`,
    and the seeds. Exact on a small graph, near the seeds on a large one; the trace says which.
    """

    @told
    async def run(seeds: Seeds) -> Spread:
        graph = use.index.graph
        kept = _kept(graph, seeds, damping=damping, rounds=rounds, least=least, keep=keep)
        current_span().details.update(
            way="exact" if len(graph.ids) <= EXACT else "push",
            nodes=len(kept),
            best=[(id, round(mass, 6)) for id, mass in list(kept.items())[:SHOWN]],
        )
        return Spread(seeds, kept)

    return Step("pagerank", run, damping=damping, rounds=rounds, least=least, keep=keep)


def sources(use: Resources, *, limit: int = 500, chunks: int = 100) -> Step[Spread, Hits]:
    """The source text of the triplets between the entities that were reached, most similar ends first.

    All triplets of one seed are equally similar, so among the chunks of equals those come first whose triplets hold the
    larger shares in sum: they say most about what PageRank leads to.
    """

    @told
    async def run(reached: Spread) -> Hits:
        graph, mass = use.index.graph, reached.mass
        alike = reached.seeds.likeness.of(mass)
        bonds = Bonds.of(graph).between(mass, limit)
        share = {bond.id: mass[bond.subject] + mass[bond.object] for bond in bonds}
        near = {bond.id: max(alike[bond.subject], alike[bond.object]) for bond in bonds}
        bonds.sort(key=lambda bond: (-near[bond.id], -share[bond.id], -bond.weight, bond.id))
        first = {chunk: bond.id for bond in reversed(bonds) for chunk in bond.chunks}
        total = _chunk_scores(bonds, share)
        order = sorted(first, key=lambda id: (-near[first[id]], -total[id], id))[:chunks]
        current_span().details.update(
            triplets=len(bonds), found=len(order), reached=[(id, round(total[id], 6)) for id in order[:SHOWN]]
        )
        rows = graph.relations({first[id] for id in order})
        seeds = {id for id, _ in reached.seeds.nodes}
        return hits_of(
            reached.seeds.query,
            "graph-ppr",
            use.index.pieces(order),
            order,
            lambda id: (near[first[id]], _why(rows[first[id]], seeds)),
        )

    return Step("sources", run, limit=limit, chunks=chunks)


def short_forms(
    use: Resources, *, entities: int = 8, relations: int = 12, chunks: int = 4, limit: int = 500
) -> Step[Spread, Hits]:
    """The best entities, relations and chunks that PageRank leads to.

    An entity's score is its share, a relation's the sum of its ends', a chunk's the sum of the relations it states.
    """

    @told
    async def run(reached: Spread) -> Hits:
        graph, mass, query = use.index.graph, reached.mass, reached.seeds.query
        bonds = Bonds.of(graph).between(mass, limit)
        of_relations = {bond.id: mass[bond.subject] + mass[bond.object] for bond in bonds}
        named, stated = _best(mass, entities), _best(of_relations, relations)
        source = _best(_chunk_scores(bonds, of_relations), chunks)
        known, rows = graph.entities(named), graph.relations(stated)
        entity = entity_pieces(use, [known[id] for id in named], described=SHORT)
        triplet = triplet_pieces(use, [rows[id] for id in stated], described=SHORT)
        current_span().details["reached"] = [(id, round(score, 6)) for id, score in source.items()][:SHOWN]
        chunk = use.index.pieces(source)
        seeds = {id for id, _ in reached.seeds.nodes}
        by = "fast-graph"
        chunk_hits = hits_of(query, by, chunk, source, lambda id: (source[id], "states relations that were reached"))
        triplet_hits = hits_of(query, by, triplet, stated, lambda id: (stated[id], _why(rows[id], seeds)))
        entity_hits = hits_of(query, by, entity, named, lambda id: (named[id], "seed" if id in seeds else REACHED))
        in_time = by_date(query.text, triplet_hits.items, lambda hit: rows[hit.piece.id])
        return interleaved(query, (chunk_hits.items, in_time, entity_hits.items))

    return Step("short forms", run, entities=entities, relations=relations, chunks=chunks)


def by_pagerank(
    use: Resources,
    *,
    near: int = 20,
    least: float = 0.4,
    seeds: int = 20,
    damping: float = 0.85,
    rounds: int = 100,
    nodes: int = 100,
    triplets: int = 500,
) -> Step[Query, Hits]:
    """Graph retrieval as a whole: entities of the question, PageRank, source text."""
    return (
        link_entities(use, near=near, least=least, most=seeds)
        >> spread(use, damping=damping, rounds=rounds, keep=nodes)
        >> sources(use, limit=triplets)
    )


def _kept(graph: Graph, seeds: Seeds, *, damping: float, rounds: int, least: float, keep: int) -> dict[str, float]:
    import numpy as np

    from ragways.index.pagerank import pagerank, push

    if not seeds.nodes:
        return {}
    start = np.zeros(len(graph.ids))
    for id, score in seeds.nodes:
        start[graph.ordinals[id]] = score
    if len(start) <= EXACT:
        mass = pagerank(graph.adjacency, start, damping=damping, rounds=rounds)
    else:
        mass = push(graph.adjacency, start, damping=damping, epsilon=NEAR)
    border = max(least, float(np.partition(mass, -keep)[-keep])) if keep < len(mass) else least
    # Nodes are in the order of their ids, so equals go by id.
    best = sorted(np.flatnonzero(mass >= border).tolist(), key=lambda n: (-mass[n], n))[:keep]
    chosen = {*best, *(graph.ordinals[id] for id, _ in seeds.nodes)}
    return {graph.ids[n]: float(mass[n]) for n in sorted(chosen, key=lambda n: (-mass[n], n))}


def _chunk_scores(bonds: Sequence[Bond], scores: Mapping[str, float]) -> dict[str, float]:
    """Of each chunk, the scores of the relations it states, in sum."""
    parts: dict[str, list[float]] = {}
    for bond in bonds:
        for chunk in bond.chunks:
            parts.setdefault(chunk, []).append(scores[bond.id])
    return {chunk: math.fsum(some) for chunk, some in parts.items()}


def _best(scores: Mapping[str, float], k: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k])


def _why(triplet: Triplet, seeds: set[str]) -> str:
    ends = ((triplet.subject, triplet.subject_name), (triplet.object, triplet.object_name))
    names = [name for id, name in ends if id in seeds]
    return f"{said(triplet)}; {'seed ' + ' and '.join(names) if names else REACHED}"
