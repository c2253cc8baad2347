"""Retrieval on two levels, the things that a question names and the themes that it is about: light."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Hits, Query
from ragways.layers.layer import Scored
from ragways.layers.protocols import Triplet
from ragways.layers.words import terms
from ragways.retrieval.answer import answer
from ragways.retrieval.knowledge_graph import (
    DESCRIPTION,
    by_date,
    cut,
    entity_pieces,
    hits_of,
    in_turn,
    interleaved,
    known_names,
    likeness,
    triplet_pieces,
)
from ragways.retrieval.paradigm import Count, Paradigm, Strategy
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack
from ragways.tasks.search import (
    KEYWORDS,
    Keywords,
    KeywordsInput,
)

Mode = Literal["local", "global", "hybrid", "mix"]

EDGES = 200
"""Relations of the entities found that are looked at."""
NAMED, MENTIONS = 10, 50
"""Entities whose chunks are looked at, and chunks of each: a hub is named everywhere, which distinguishes nothing."""
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
    minimum: float = 0.2,
    entity_tokens: int = 2000,
    relation_tokens: int = 2000,
    chunk_tokens: int = 4000,
) -> Step[Query, Hits]:
    """Entities, relations and chunks, merged in turn from all levels of the mode, each kind within its budget."""

    async def run(query: Query) -> Hits:
        found = await keywords(use, query.text)
        current_span().details.update(low=found.low, high=found.high)
        levels = []
        if mode != "global":
            levels.append(await low_level(use, found.low, top=top, k=k, minimum=minimum))
        if mode != "local":
            levels.append(await high_level(use, found.high, top=top, k=k, minimum=minimum))
        if mode == "mix":
            nearest = await dense(use, k=k)(query)
            levels.append(Level("vector", [], [], [(hit.piece.id, hit.score) for hit in nearest.items]))
        return _merged(use, query, levels, (entity_tokens, relation_tokens, chunk_tokens), top, k)

    return Step("two levels", run, mode=mode, top=top, k=k)


async def keywords(use: Resources, question: str) -> Keywords:
    """Low-level and high-level keywords; of a kind that has none, the question itself is the only one."""
    graph = use.index.graph
    given = KeywordsInput(question, names=lambda text: known_names(graph, text), terms=terms)
    found = (await use.model.do(KEYWORDS, given, rule_if_unusable=True)).value
    low, high = (tuple(dict.fromkeys(w.strip() for w in some if w.strip())) for some in (found.low, found.high))
    return Keywords(low or (question,), high or (question,))


async def low_level(use: Resources, low: Sequence[str], *, top: int, k: int, minimum: float) -> Level:
    """The entities nearest the keywords, the relations that touch them, and the chunks that speak of both."""
    graph = use.index.graph
    alike = await likeness(use, low)
    entities = alike.nearest(top, minimum)[:top]
    score = dict(entities)
    edges = graph.edges(score, EDGES)
    near = {edge.id: max(score.get(edge.subject, 0.0), score.get(edge.object, 0.0)) for edge in edges}
    edges.sort(key=lambda edge: (-near[edge.id], -edge.weight, edge.id))
    relations = [(edge.id, near[edge.id]) for edge in edges[:top]]
    return Level("local", entities, relations, _chunks(use, entities, relations, k))


async def high_level(use: Resources, high: Sequence[str], *, top: int, k: int, minimum: float) -> Level:
    """The relations nearest the keywords, their end points, and the chunks that state them."""
    graph = use.index.graph
    theme = ", ".join(high)
    if graph.has_relation_vectors:
        relations = graph.nearest_relations(await use.embed_question(theme), top, minimum)
    else:
        relations = (await _by_words(use, theme))[:top]
    rows = graph.relations([id for id, _ in relations], described=False)
    ends: dict[str, float] = {}
    for id, score in relations:
        for end in (rows[id].subject, rows[id].object) if id in rows else ():
            ends.setdefault(end, score)
    return Level("global", list(ends.items())[:top], relations, _chunks(use, [], relations, k))


async def _by_words(use: Resources, theme: str) -> Scored:
    """Relations around the chunks nearest a theme, by the share of the theme's words that they hold."""
    graph = use.index.graph
    around = use.index.vectors.search(await use.embed_question(theme), AROUND)
    named = [id for id, _ in graph.mentioned([id for id, _ in around], NEARBY)]
    wanted = set(terms(theme))
    shared = [(len(wanted & _terms(row)), row) for row in graph.triplets(named, WORDED, induced=True)]
    shared.sort(key=lambda pair: (-pair[0], -pair[1].weight, pair[1].id))
    return [(row.id, count / len(wanted)) for count, row in shared if count]


def _terms(triplet: Triplet) -> set[str]:
    """The words of a relation as it is shown, but for the dashes: letters beyond ASCII have the script looked for."""
    return set(terms(f"{triplet.text} {triplet.description[:DESCRIPTION]}"))


def _chunks(use: Resources, entities: Scored, relations: Scored, k: int) -> Scored:
    """Source chunks, by the scores of the best entities they name and of all relations they state: the k best."""
    found = use.index.graph.sources(relations, k, entities=entities[:NAMED], mentions=MENTIONS)
    return [(source.chunk, source.score) for source in found]


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


def _union(lists: Iterable[tuple[str, Scored]], limit: int) -> dict[str, tuple[float, str]]:
    """Things merged in turn, each once, with its score and level where it came first."""
    turns = in_turn([[(id, (score, level)) for id, score in scored] for level, scored in lists])
    first: dict[str, tuple[float, str]] = {}
    for id, found in turns:
        first.setdefault(id, found)
    return dict(list(first.items())[:limit])


def build_light(
    use: Resources,
    *,
    mode: Mode = "mix",
    top: Count = 40,
    k: Count = 20,
    minimum: float = 0.2,
    entity_tokens: Annotated[int, Ge(0)] = 2000,
    relation_tokens: Annotated[int, Ge(0)] = 2000,
    chunk_tokens: Annotated[int, Ge(0)] = 4000,
) -> Strategy:
    levels = two_levels(
        use,
        mode=mode,
        top=top,
        k=k,
        minimum=minimum,
        entity_tokens=entity_tokens,
        relation_tokens=relation_tokens,
        chunk_tokens=chunk_tokens,
    )
    return levels >> pack(use, entity_tokens + relation_tokens + chunk_tokens) >> answer(use, "facts")


LIGHT = Paradigm(
    name="light",
    summary="Entities near the question's names and relations near its themes, with their source chunks.",
    source="U",
    needs=frozenset({"vectors", "graph"}),
    build=build_light,
)
