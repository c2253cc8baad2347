"""Seeds → Spread → Hits: personalised PageRank from the entities of a question, and the text that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.core.brief import counted, traced
from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Hits, Query
from ragways.index.graph.reader import Graph, Triplet
from ragways.modules.bonds import nodes, of_ends, summed
from ragways.modules.link import Seeds, link_entities
from ragways.modules.resources import Resources
from ragways.modules.triplets import by_date, entity_pieces, hits_of, interleaved, said, triplet_pieces

EXACT = 2_000
"""Nodes up to which power iteration is as quick as pushing; beyond it, work must not grow with the graph."""
NEAR = 5e-5
"""How fine PageRank is on a large graph. On that of 2Wiki, 95 of the 100 best are then those of the exact one.
A coarser one saves little and misses the shares themselves by more.
"""
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

    @traced
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

    @traced
    async def run(reached: Spread) -> Hits:
        import numpy as np

        graph, mass = use.index.graph, reached.mass
        numbers = graph.relation_arrays.between(nodes(graph, mass), limit)
        near = np.maximum(*of_ends(graph, numbers, reached.seeds.likeness.of(mass)))
        share = np.add(*of_ends(graph, numbers, mass))
        rank = np.lexsort((numbers, -graph.relation_arrays.weights[numbers], -share, -near))
        numbers, near, share = numbers[rank], near[rank], share[rank]
        stating, which = graph.relation_arrays.sources(numbers)
        found, first, total = summed(stating, share[which])
        # What a chunk is found by is the first triplet that it states.
        by = which[first]
        columns = ((-near[by]).tolist(), (-total).tolist(), [graph.chunks[n] for n in found.tolist()], by.tolist())
        best = sorted(zip(*columns, strict=True))[:chunks]
        current_span().details.update(
            triplets=len(numbers),
            found=len(best),
            reached=[(id, round(-total, 6)) for _, total, id, _ in best[:SHOWN]],
        )
        stated = numbers.tolist()
        rows = graph.relations_at({stated[place] for *_, place in best})
        seeds = {id for id, _ in reached.seeds.nodes}
        notes = {number: _why(row, seeds) for number, row in rows.items()}
        why = {id: (-alike, notes[stated[place]]) for alike, _, id, place in best}
        return hits_of(reached.seeds.query, "graph-ppr", use.index.pieces(why), why, why.__getitem__)

    return Step("sources", run, limit=limit, chunks=chunks)


def short_forms(
    use: Resources, *, entities: int = 8, relations: int = 12, chunks: int = 4, limit: int = 500
) -> Step[Spread, Hits]:
    """The best entities, relations and chunks that PageRank leads to.

    An entity's score is its share, a relation's the sum of its ends', a chunk's the sum of the relations it states.
    """

    @traced
    async def run(reached: Spread) -> Hits:
        import numpy as np

        graph, mass, query = use.index.graph, reached.mass, reached.seeds.query
        numbers = graph.relation_arrays.between(nodes(graph, mass), limit)
        share = np.add(*of_ends(graph, numbers, mass))
        # Relations are in the order of their ids, chunks are not.
        best = np.lexsort((numbers, -share))[:relations]
        stated = dict(zip(graph.relation_arrays.names(numbers[best]), share[best].tolist(), strict=True))
        stating, which = graph.relation_arrays.sources(numbers)
        found, _, total = summed(stating, share[which])
        source = _best({graph.chunks[n]: sum for n, sum in zip(found.tolist(), total.tolist(), strict=True)}, chunks)
        named = _best(mass, entities)
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
    able = np.flatnonzero(mass >= border)
    best = able[np.argsort(-mass[able], kind="stable")][:keep]
    chosen = np.union1d(best, nodes(graph, (id for id, _ in seeds.nodes)))
    order = chosen[np.argsort(-mass[chosen], kind="stable")]
    return dict(zip([graph.ids[n] for n in order.tolist()], mass[order].tolist(), strict=True))


def _best(scores: Mapping[str, float], k: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k])


def _why(triplet: Triplet, seeds: set[str]) -> str:
    ends = ((triplet.subject, triplet.subject_name), (triplet.object, triplet.object_name))
    names = [name for id, name in ends if id in seeds]
    return f"{said(triplet)}; {'seed ' + ' and '.join(names) if names else REACHED}"
