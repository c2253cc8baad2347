"""Query → Hits on two levels: the things that a question names, and the themes that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Hits, Query
from ragways.index.vectors import Scored
from ragways.index.words import terms
from ragways.modules.bonds import Bonds, naming
from ragways.modules.link import likeness
from ragways.modules.resources import Resources
from ragways.modules.retrieve import dense
from ragways.modules.rewrite import keywords
from ragways.modules.told import told
from ragways.modules.triplets import (
    DESCRIPTION,
    by_date,
    cut,
    entity_pieces,
    hits_of,
    in_turn,
    interleaved,
    said,
    triplet_pieces,
)

Mode = Literal["local", "global", "hybrid", "mix"]

EDGES = 200
"""Relations of the entities found that are looked at."""
NAMED, MENTIONS = 10, 50
"""Entities whose chunks are looked at, and chunks of each: a hub is named everywhere, which says nothing."""
AROUND, NEARBY, WORDED = 10, 100, 100
"""Where relations have no vectors: chunks near a theme, entities in them, and relations between these to look at."""


@dataclass(frozen=True, slots=True)
class Level:
    """What the keywords of one level led to, each best first."""

    name: str
    entities: Scored
    relations: Scored
    chunks: Scored


def two_levels(
    use: Resources,
    *,
    mode: Mode = "mix",
    top: int = 40,
    k: int = 20,
    least: float = 0.2,
    entity_tokens: int = 2000,
    relation_tokens: int = 2000,
    chunk_tokens: int = 4000,
) -> Step[Query, Hits]:
    """Entities, relations and chunks, merged in turn from all levels of the mode, each kind within its budget."""

    @told
    async def run(query: Query) -> Hits:
        found = await keywords(use, query.text)
        current_span().details.update(low=found.low, high=found.high)
        levels = []
        if mode != "global":
            levels.append(await low_level(use, found.low, top=top, k=k, least=least))
        if mode != "local":
            levels.append(await high_level(use, found.high, top=top, k=k, least=least))
        if mode == "mix":
            nearest = await dense(use, k=k)(query)
            levels.append(Level("vector", [], [], [(hit.piece.id, hit.score) for hit in nearest.items]))
        return _merged(use, query, levels, (entity_tokens, relation_tokens, chunk_tokens), top, k)

    return Step("two levels", run, mode=mode, top=top, k=k)


async def low_level(use: Resources, low: Sequence[str], *, top: int, k: int, least: float) -> Level:
    """The entities nearest the keywords, the relations that touch them, and the chunks that speak of both."""
    graph = use.index.graph
    alike = await likeness(use, low)
    entities = alike.nearest(top, least)[:top]
    score = dict(entities)
    bonds = Bonds.of(graph).touching(score, EDGES)
    near = {bond.id: max(score.get(bond.subject, 0.0), score.get(bond.object, 0.0)) for bond in bonds}
    bonds.sort(key=lambda bond: (-near[bond.id], -bond.weight, bond.id))
    relations = [(bond.id, near[bond.id]) for bond in bonds[:top]]
    return Level("local", entities, relations, _chunks(use, entities, relations)[:k])


async def high_level(use: Resources, high: Sequence[str], *, top: int, k: int, least: float) -> Level:
    """The relations nearest the keywords, their end points, and the chunks that state them."""
    graph = use.index.graph
    theme = ", ".join(high)
    if graph.relation_vectors is not None:
        relations = graph.nearest_relations(await use.embed_question(theme), top, least)
    else:
        relations = (await _by_words(use, theme))[:top]
    rows = graph.relations([id for id, _ in relations])
    ends: dict[str, float] = {}
    for id, score in relations:
        for end in (rows[id].subject, rows[id].object):
            ends.setdefault(end, score)
    return Level("global", list(ends.items())[:top], relations, _chunks(use, [], relations)[:k])


async def _by_words(use: Resources, theme: str) -> Scored:
    """Relations around the chunks nearest a theme, by the share of the theme's words that they hold."""
    graph = use.index.graph
    around = use.index.vectors.search(await use.embed_question(theme), AROUND)
    named = [id for id, _ in graph.mentioned([id for id, _ in around], NEARBY)]
    wanted = set(terms(theme))
    found = []
    bonds = Bonds.of(graph).between(named, WORDED)
    for triplet in graph.relations([bond.id for bond in bonds]).values():
        shared = wanted & set(terms(f"{said(triplet)} {triplet.description[:DESCRIPTION]}"))
        found += [(triplet, len(shared) / len(wanted))] if shared else []
    found.sort(key=lambda pair: (-pair[1], -pair[0].weight, pair[0].id))
    return [(triplet.id, score) for triplet, score in found]


def _chunks(use: Resources, entities: Scored, relations: Scored) -> Scored:
    """Source chunks, by the scores of the best entities they name and of all relations they state."""
    total: dict[str, float] = defaultdict(float)
    for id, score in entities[:NAMED]:
        for chunk in naming(use.index.graph, id, MENTIONS):
            total[chunk] += score
    stated = use.index.graph.relation_chunks([id for id, _ in relations])
    for id, score in relations:
        for chunk in stated.get(id, ()):
            total[chunk] += score
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def _merged(
    use: Resources, query: Query, levels: Sequence[Level], budgets: tuple[int, int, int], top: int, k: int
) -> Hits:
    graph = use.index.graph
    entities = _union([(level.name, level.entities) for level in levels], top)
    relations = _union([(level.name, level.relations) for level in levels], top)
    chunks = _union([(level.name, level.chunks) for level in levels], k)
    rows = graph.relations(relations)
    known = graph.entities(entities)
    kinds = (
        (entity_pieces(use, [known[id] for id in entities]), entities),
        (triplet_pieces(use, rows.values()), relations),
        (use.index.pieces(chunks), chunks),
    )
    hits = [
        cut(hits_of(query, "light", pieces, found, found.__getitem__).items, budget)
        for (pieces, found), budget in zip(kinds, budgets, strict=True)
    ]
    current_span().details.update(entities=len(hits[0]), relations=len(hits[1]), chunks=len(hits[2]))
    return interleaved(query, (hits[2], by_date(query.text, hits[1], lambda hit: rows[hit.piece.id]), hits[0]))


def _union(lists: Sequence[tuple[str, Scored]], most: int) -> dict[str, tuple[float, str]]:
    """Ids merged in turn, each once, with its score and level where it came first."""
    turns = in_turn([[(id, (score, level)) for id, score in scored] for level, scored in lists])
    first: dict[str, tuple[float, str]] = {}
    for id, found in turns:
        first.setdefault(id, found)
    return dict(list(first.items())[:most])
