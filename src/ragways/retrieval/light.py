"""Retrieval on two levels, the things that a question names and the themes that it is about: light."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from annotated_types import Ge

from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Hits, Query
from ragways.index.graph.reader import Triplet
from ragways.index.graph.relations import DESCRIPTION
from ragways.index.vectors import Scored
from ragways.index.words import terms
from ragways.retrieval.answer import answer
from ragways.retrieval.graph_pieces import (
    STATED,
    by_date,
    cut,
    entity_pieces,
    hits_of,
    in_turn,
    interleaved,
    leading,
    naming,
    of_ends,
    triplet_pieces,
)
from ragways.retrieval.knowledge_graph import known_names, likeness
from ragways.retrieval.paradigm import Count, Paradigm, Strategy
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack
from ragways.tasks.search import (
    KEYWORDS,
    Keywords,
    KeywordsInput,
)

T = TypeVar("T")
Mode = Literal["local", "global", "hybrid", "mix"]

EDGES = 200
"""Relations of the entities found that are looked at."""
NAMED, MENTIONS = 10, 50
"""Entities whose chunks are looked at, and chunks of each: a hub is named everywhere, which says nothing."""
AROUND, NEARBY, WORDED = 10, 100, 100
"""Where relations have no vectors: chunks near a theme, entities in them, and relations between these to look at."""


Numbered = list[tuple[int, float]]
"""Relations by number, with scores."""


@dataclass(frozen=True, slots=True)
class Level:
    """What the keywords of one level led to, each best first."""

    name: str
    entities: Scored
    relations: Numbered
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
    import numpy as np

    graph = use.index.graph
    alike = await likeness(use, low)
    entities = alike.nearest(top, minimum)[:top]
    score = dict(entities)
    nodes = graph.ids.of(score)
    numbers = graph.relation_arrays.touching(nodes, EDGES)
    near = np.maximum(*of_ends(graph, numbers, nodes, score.values())[0])
    ties = graph.relation_arrays.ranks(numbers)
    best = np.lexsort((ties, -graph.relation_arrays.weights[numbers], -near))[:top]
    relations = list(zip(numbers[best].tolist(), near[best].tolist(), strict=True))
    return Level("local", entities, relations, _chunks(use, entities, relations, k))


async def high_level(use: Resources, high: Sequence[str], *, top: int, k: int, minimum: float) -> Level:
    """The relations nearest the keywords, their end points, and the chunks that state them."""
    graph = use.index.graph
    theme = ", ".join(high)
    if graph.relation_vectors is not None:
        nearest = graph.nearest_relations(await use.embed_question(theme), top, minimum)
        numbers = graph.relation_arrays.numbers([id for id, _ in nearest]).tolist()
        relations = [(number, score) for number, (_, score) in zip(numbers, nearest, strict=True)]
    else:
        relations = (await _by_words(use, theme))[:top]
    ends: dict[str, float] = {}
    for number, score in relations:
        for end in (graph.relation_arrays.subjects[number], graph.relation_arrays.objects[number]):
            ends.setdefault(graph.ids.id(end), score)
    return Level("global", list(ends.items())[:top], relations, _chunks(use, [], relations, k))


async def _by_words(use: Resources, theme: str) -> Numbered:
    """Relations around the chunks nearest a theme, by the share of the theme's words that they hold."""
    import numpy as np

    graph = use.index.graph
    around = use.index.vectors.search(await use.embed_question(theme), AROUND)
    named = [id for id, _ in graph.mentioned([id for id, _ in around], NEARBY)]
    wanted = set(terms(theme))
    numbers = graph.relation_arrays.between(graph.ids.of(named), WORDED)
    rows = graph.relations_at(numbers.tolist())
    shared = np.array([len(wanted & _terms(rows[number])) for number in numbers.tolist()], dtype=np.int64)
    order = np.lexsort((graph.relation_arrays.ranks(numbers), -graph.relation_arrays.weights[numbers], -shared))
    best = zip(numbers[order].tolist(), shared[order].tolist(), strict=True)
    return [(number, count / len(wanted)) for number, count in best if count]


def _terms(triplet: Triplet) -> set[str]:
    """The words of a relation as it is shown, but for the dashes: letters beyond ASCII have the script looked for."""
    return set(terms(f"{triplet.text} {triplet.description[:DESCRIPTION]}"))


def _chunks(use: Resources, entities: Scored, relations: Numbered, k: int) -> Scored:
    """Source chunks, by the scores of the best entities they name and of all relations they state: the k best."""
    import numpy as np

    graph = use.index.graph
    total: dict[int, float] = defaultdict(float)
    for id, score in entities[:NAMED]:
        for chunk in naming(graph, id, MENTIONS):
            total[chunk] += score
    numbers = np.array([number for number, _ in relations], dtype=np.int64)
    stating, which = graph.relation_arrays.sources(numbers, STATED)
    for chunk, place in zip(stating.tolist(), which.tolist(), strict=True):
        total[chunk] += relations[place][1]
    chunks, scores = list(total), np.array(list(total.values()))
    best = ((graph.chunks[chunks[place]], float(scores[place])) for place in leading((scores,), k).tolist())
    return sorted(best, key=lambda pair: (-pair[1], pair[0]))[:k]


def _merged(
    use: Resources, query: Query, levels: Sequence[Level], budgets: tuple[int, int, int], top: int, k: int
) -> Hits:
    graph = use.index.graph
    entities = _union([(level.name, level.entities) for level in levels], top)
    relations = _union([(level.name, level.relations) for level in levels], top)
    chunks = _union([(level.name, level.chunks) for level in levels], k)
    triplets = graph.relations_at(relations)
    rows = {row.id: row for row in triplets.values()}
    known = graph.entities(entities)
    kinds = (
        (entity_pieces(use, [known[id] for id in entities]), entities),
        (triplet_pieces(use, rows.values()), {triplets[number].id: found for number, found in relations.items()}),
        (use.index.pieces(chunks), chunks),
    )
    hits = [
        cut(hits_of(query, "light", pieces, found, found.__getitem__).items, budget)
        for (pieces, found), budget in zip(kinds, budgets, strict=True)
    ]
    current_span().details.update(entities=len(hits[0]), relations=len(hits[1]), chunks=len(hits[2]))
    return interleaved(query, (hits[2], by_date(query.text, hits[1], lambda hit: rows[hit.piece.id]), hits[0]))


def _union(lists: Iterable[tuple[str, Sequence[tuple[T, float]]]], limit: int) -> dict[T, tuple[float, str]]:
    """Things merged in turn, each once, with its score and level where it came first."""
    turns = in_turn([[(id, (score, level)) for id, score in scored] for level, scored in lists])
    first: dict[T, tuple[float, str]] = {}
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
