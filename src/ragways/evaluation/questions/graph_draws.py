"""Parts of the graph drawn at random, with the text that tells of them: an entity, a relation, documents joined by
names, a stretch of the graph.

What is drawn must be worth a question: an entity that is one, a sentence that is understood alone. `NothingToAsk` says
that a draw found none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import NothingToAsk, SupportingChunk
from ragways.evaluation.questions.entities import (
    alike,
    central,
    common,
    nameable,
    real,
    states,
    telling,
    titled,
    told_by_story,
)
from ragways.evaluation.questions.source import QuestionSource
from ragways.layers.graph.names import STOP, fold, split_title
from ragways.layers.protocols import Graph, GraphEntity, Triplet

MAX_DOCUMENTS = 5
_TRIES = 20
MAX_CHUNKS = 30
"""Chunks that may name a bridge: what is named everywhere joins nothing."""
_TOGETHER = 4
"""Documents that may name both ends of a relation: with more, one sentence is not the answer."""
_STATING = 2
"""Chunks that a model is shown of a relation."""
HOPS = 50
"""Different edges that a walk must cross, else another is begun."""
_WALKS = 5
_NEAR = 10_000
"""Neighbours of an entity that a walk may go on to."""
_STALE = 3
"""Steps for each edge wanted that a walk may take over edges it knows: then it has gone where it can."""


@dataclass(frozen=True, slots=True)
class EntitySupport:
    """An entity and text that names it, a place a document; `same` is False where they may mean others of its name."""

    entity: GraphEntity
    support: tuple[SupportingChunk, ...]
    same: bool


def node(source: QuestionSource, random: Random) -> GraphEntity:
    """Any entity that is one, each with the same chance."""
    count = source.graph.counts()["entities"]
    for _ in range(_TRIES if count else 0):
        entity = source.entity(source.graph.entity_at(random.randrange(count)))
        if real(source, entity):
            return entity
    raise NothingToAsk


Fits = Callable[[QuestionSource, GraphEntity], bool]


def connected(source: QuestionSource, random: Random, fits: Fits = central) -> GraphEntity:
    """A well-connected entity: drawn by its PageRank."""
    ranks = _ranks(source)
    for _ in range(_TRIES if len(ranks) else 0):
        at = min(int(np.searchsorted(ranks, random.random() * ranks[-1])), len(ranks) - 1)
        entity = source.entity(source.graph.entity_at(at))
        if fits(source, entity):
            return entity
    raise NothingToAsk


def _ranks(source: QuestionSource) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Running sums of the PageRank of all entities, made once."""
    return source.once("ranks", lambda: np.cumsum(source.graph.ranks()))


def around(source: QuestionSource, entity: GraphEntity, minimum: int = 2, *, whole: bool = False) -> EntitySupport:
    """Where an entity is named most, its own document first: sentences about it or, for a model, the `whole` chunks.

    One a document; of a corpus that is one document, one a chunk.
    """
    support: dict[str, SupportingChunk] = {}
    name, alone = split_title(entity.name)[0], len(source.texts.all) == 1
    for chunk, _ in source.graph.mentions([entity.id]):
        piece = source.piece(chunk)
        place = chunk if alone or piece is None else piece.document
        if piece is None or place in support:
            continue
        sentence = "" if whole else telling(source, chunk, name)
        if sentence.startswith("The ") and sentence[5 : 4 + len(name)].islower():
            continue  # `The surgery` is one that was spoken of before
        if whole or (sentence and not any(_repeats(sentence, known.quote) for known in support.values())):
            support[place] = source.support(piece, sentence)
        if len(support) == MAX_DOCUMENTS:
            break
    if len(support) < minimum:
        raise NothingToAsk
    others = [id for id in source.graph.named(name) if id != entity.id]
    same = not any(
        fold(split_title(e.name)[0]) == fold(name) for e in source.graph.entities(others, described=False).values()
    )
    # Two documents that begin by saying who somebody of this name was speak of two people.
    introduced = sum(bool(re.match(rf"{re.escape(name)}\s*\(", one.quote)) for one in support.values())
    return EntitySupport(
        entity, tuple(support.values()), same and introduced <= 1 and source.subjects.rivals(name) <= 1
    )


def _repeats(one: str, other: str) -> bool:
    """Whether two sentences say nearly the same."""
    first, second = (set(plain_words(text).split()) - STOP for text in (one, other))
    return 2 * len(first & second) >= len(first | second)


def edge(source: QuestionSource, random: Random) -> tuple[Triplet, tuple[SupportingChunk, ...]]:
    """Any relation between two entities that are some, with the chunks that state it, whole."""
    for triplet in triplets(source, random):
        pair = source.graph.entities([triplet.subject, triplet.object], described=False)
        if len(pair) < 2 or not all(real(source, entity) for entity in pair.values()):
            continue
        chunks = source.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:_STATING]
        if chunks:
            return triplet, tuple(source.support_of(chunk) for chunk in chunks)
    raise NothingToAsk


def triplets(source: QuestionSource, random: Random) -> list[Triplet]:
    """Some relations, each with the same chance."""
    count = source.graph.counts()["relations"]
    numbers = [random.randrange(count) for _ in range(_TRIES if count else 0)]
    found = source.graph.relations_at(numbers)
    return [found[number] for number in numbers if number in found]


def joined(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    """The sentence about one end of a relation that holds the other too, if there is one that is understood alone."""
    return source.once(f"joined {triplet.id}", lambda: _joined(source, triplet))


def _joined(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    pair = source.graph.entities([triplet.subject, triplet.object], described=False)
    names = [split_title(entity.name)[0] for entity in pair.values()]
    if len(pair) < 2 or alike(*names) or any(common(source, e) or not nameable(source, e) for e in pair.values()):
        return None
    if titled(source) and not any(source.subjects.named(entity.name) for entity in pair.values()):
        return None
    if len(source.texts.holding(*names)) > _TOGETHER:
        return None
    story = all(told_by_story(source, entity) for entity in pair.values())
    for chunk in source.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:5]:
        sentence = telling(source, chunk, *names)
        if sentence and (not story or any(states(sentence, name) for name in names)):
            return source.support_of(chunk, sentence)
    return None


# Random walks over documents: from one to the next by an entity that both name


@dataclass(frozen=True, slots=True)
class BridgeWalk:
    """Documents in order, and between each two the name that joins them."""

    support: tuple[SupportingChunk, ...]
    bridges: tuple[str, ...]


def bridge_walk(source: QuestionSource, random: Random, documents: int) -> BridgeWalk:
    """So many documents, none twice and no bridge twice; `NothingToAsk` where the walk cannot go on."""
    piece = source.chunk(random)
    support, bridges, seen = [source.support(piece)], list[str](), {piece.document}
    while len(support) < documents:
        steps = _steps(source, support[-1].chunk, seen, bridges)
        if not steps:
            raise NothingToAsk
        name, chunk = random.choice(steps)
        support.append(source.support_of(chunk))
        bridges.append(name)
        seen.add(support[-1].document)
    return BridgeWalk(tuple(support), tuple(bridges))


def _steps(source: QuestionSource, chunk: str, seen: set[str], bridges: list[str]) -> list[tuple[str, str]]:
    """Where a chunk leads: names in it, each with a chunk of another document that names it too."""
    graph = source.graph
    named = [id for id, _ in graph.mentioned([chunk], 50)]
    steps = []
    for entity in graph.entities(named, described=False).values():
        if not 2 <= entity.chunks <= MAX_CHUNKS or entity.name in bridges or not real(source, entity):
            continue
        others = [id for id, _ in graph.mentions([entity.id], MAX_CHUNKS) if ":".join(id.split(":")[:2]) not in seen]
        steps += [(entity.name, others[0])] if others else []
    return sorted(steps)


# Random walks over the graph until so many different edges have been crossed


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """Nodes in the order they were first reached, and the edges crossed; `whole` if they are as many as wanted."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    whole: bool


def random_walk(graph: Graph, random: Random, hops: int = HOPS) -> RandomWalk:
    """From a random entity on; where five walks in a row fall short, the longest of them, and it says so."""
    best = RandomWalk((), (), False)
    for _ in range(_WALKS if graph.counts()["entities"] else 0):
        walk = _walk_once(graph, random, hops)
        if len(walk.edges) > len(best.edges):
            best = walk
        if best.whole:
            break
    return best


def _walk_once(graph: Graph, random: Random, hops: int) -> RandomWalk:
    node = graph.entity_at(random.randrange(graph.counts()["entities"]))
    nodes, edges = {node: None}, dict[tuple[str, str], None]()
    stale = 0
    while len(edges) < hops and stale < hops * _STALE:
        near = graph.neighbours(node, _NEAR)
        if not near:
            break
        step, _ = random.choice(near)
        edge = min(node, step), max(node, step)
        stale = stale + 1 if edge in edges else 0
        edges[edge] = nodes[step] = None
        node = step
    return RandomWalk(tuple(nodes), tuple(edges), len(edges) >= hops)
