"""Entities, relations and stretches of the graph, drawn at random, and questions about them by templates."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from ragways.core import dates
from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import OTHER_ENTITY, NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.source import QuestionSource
from ragways.index.graph.names import fold, split_title
from ragways.index.graph.reader import GraphEntity, Triplet
from ragways.index.pagerank import Adjacency, pagerank

_NOT_ASKED = frozenset({"date", "quantity"})
MAX_DOCUMENTS = 5
_WHOLE = re.compile(r"(?=.{30,400}$)(?!.* \| )[^\W\d_a-z\"“].*[.!?][\"”)]?")
"""A sentence, rather than a line of a box, a row of a table or a point of a list."""
_TRIES = 20
MAX_CHUNKS = 30
"""Chunks that may name a bridge: what is named everywhere joins nothing."""
HOPS = 50
"""Different edges that a walk must cross, else another is begun."""
_WALKS = 5
_STALE = 3
"""Steps for each edge wanted that a walk may take over edges it knows: then it has gone where it can."""
_DATED = re.compile(rf"\b(?:{'|'.join(dates.MONTHS)})\b|\d{{4}}$|^\d")
"""A name that is a date, or little more."""
_SUMMARIES = (
    "What is known about {x}?",
    "Give an overview of what the documents say about {x}.",
    "Summarise what is said about {x} in different documents.",
)
_LINKS = ("How are {a} and {b} connected?", "What does {a} have to do with {b}?")
_DEFINED = re.compile(
    r"\s(is|was|are|were)\s+(an?|the|one of the)\s+"
    r"((?:[^.;:()\n]|(?:(?<=\b[A-Z])|(?<=\b[A-Z][rst]))\.(?= )){4,200})(?=[.;:(\n]|$)"
)
MAX_CENTRES = 10
FEWEST, MOST = 2, 3
"""Entities that a question about a stretch of the graph joins to its centre."""


@dataclass(frozen=True, slots=True)
class EntitySupport:
    """An entity and sentences that name it, one a document; `same` is False where they may mean others of its name."""

    entity: GraphEntity
    support: tuple[SupportingChunk, ...]
    same: bool


def asked_about(entity: GraphEntity) -> bool:
    """Whether a name can stand in a question: capitals, no date, no phrase."""
    name = split_title(entity.name)[0]
    capital = all(word[:1].isupper() for word in re.findall(r"[^\W\d_][\w'’]{3,}", name))
    dated = entity.type in _NOT_ASKED or _DATED.search(name) is not None
    return capital and not dated and 3 < len(name) <= 60 and name[0].isupper() and "\n" not in name


def nameable(source: QuestionSource, entity: GraphEntity) -> bool:
    """A name that stands for one thing: that of a document, or one of several words. `French` and `Church` do not."""
    if not asked_about(entity):
        return False
    subject = source.subjects.named(entity.name)
    if subject is not None:
        # What is called by one common word, or by a first name, is hardly ever meant by it.
        return " " in subject.bare or (
            subject.kind in ("place", "person", "organization") and not split_title(subject.text.title)[1]
        )
    return " " in entity.name and not entity.name.startswith(("The ", "A ")) and not entity.name[-1].isdigit()


def central(source: QuestionSource, entity: GraphEntity) -> bool:
    """A name that much may be asked about: where documents are about things, one of those."""
    return nameable(source, entity) and (not _titled(source) or source.subjects.named(entity.name) is not None)


def node(source: QuestionSource, random: Random) -> GraphEntity:
    """Any entity, each with the same chance."""
    for _ in range(_TRIES):
        ids = source.graph.ids
        if not ids:
            break
        id = random.choice(ids)
        entity = source.graph.entities([id])[id]
        if asked_about(entity):
            return entity
    raise NothingToAsk


def connected(source: QuestionSource, random: Random) -> GraphEntity:
    """A well-connected entity: drawn by its PageRank."""
    ranks = _ranks(source)
    if not len(ranks):
        raise NothingToAsk
    for _ in range(_TRIES):
        at = min(int(np.searchsorted(ranks, random.random() * ranks[-1])), len(ranks) - 1)
        id = source.graph.ids[at]
        entity = source.graph.entities([id])[id]
        if central(source, entity):
            return entity
    raise NothingToAsk


def _ranks(source: QuestionSource) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Running sums of the PageRank of all entities, made once."""
    links = source.graph.adjacency
    return source.once("ranks", lambda: np.cumsum(pagerank(links, np.ones(len(links)), tolerance=1e-6)))


def around(source: QuestionSource, entity: GraphEntity, minimum: int = 2) -> EntitySupport:
    """Sentences of the documents that name an entity most, its own first."""
    support: dict[str, SupportingChunk] = {}
    name, _ = split_title(entity.name)
    for chunk, _ in source.graph.mentions([entity.id]):
        piece = source.index.pieces([chunk]).get(chunk)
        if piece is None or piece.document in support:
            continue
        sentence = sentence_with(source, chunk, name)
        if sentence:
            support[piece.document] = source.support(piece, sentence)
        if len(support) == MAX_DOCUMENTS:
            break
    if len(support) < minimum:
        raise NothingToAsk
    others = [id for id in source.graph.named(name) if id != entity.id]
    same = not any(fold(split_title(e.name)[0]) == fold(name) for e in source.graph.entities(others).values())
    # Two documents that begin by saying who somebody of this name was speak of two people.
    introduced = sum(bool(re.match(rf"{re.escape(name)}\s*\(", one.quote)) for one in support.values())
    return EntitySupport(
        entity, tuple(support.values()), same and introduced <= 1 and source.subjects.rivals(name) <= 1
    )


def sentence_with(source: QuestionSource, chunk: str, *names: str) -> str:
    """The first sentence of a chunk that holds all these names, whole words in a row."""
    piece = source.index.pieces([chunk]).get(chunk)
    if piece is None:
        return ""
    for start, end in source.index.sentences(piece):
        sentence = " ".join(source.index.text(piece.document, start, end).split())
        # What stands in brackets is another name of something rather than another thing.
        outside = re.sub(r"\([^()]*\)", "", sentence)
        words = f" {plain_words(outside)} "
        if _WHOLE.fullmatch(sentence) and all(n in outside and f" {plain_words(n)} " in words for n in names):
            return sentence
    return ""


def edge(source: QuestionSource, random: Random) -> tuple[Triplet, SupportingChunk]:
    """Any relation between two names, with the sentence that joins them."""
    count = source.once("relations", lambda: source.graph.counts()["relations"])
    for _ in range(_TRIES if count else 0):
        triplet = source.graph.relations_at([number := random.randrange(count)]).get(number)
        support = joined(source, triplet) if triplet is not None else None
        if triplet is not None and support is not None:
            return triplet, support
    raise NothingToAsk


def joined(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    """A sentence that holds both ends of a relation, where there is one."""
    pair = source.graph.entities([triplet.subject, triplet.object])
    names = [split_title(entity.name)[0] for entity in pair.values()]
    if len(pair) < 2 or not all(nameable(source, entity) for entity in pair.values()) or _alike(*names):
        return None
    if _titled(source) and not any(source.subjects.named(entity.name) for entity in pair.values()):
        return None
    for chunk in source.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:5]:
        sentence = sentence_with(source, chunk, *names)
        if sentence:
            return source.support_of(chunk, sentence)
    return None


def _titled(source: QuestionSource) -> bool:
    """Whether most documents are about the thing their title names; of headlines and chapters that cannot be said."""
    return 2 * len(source.subjects.all) >= len(source.texts.all)


def _alike(one: str, other: str) -> bool:
    """Whether one name holds the other: nothing is to be asked between `Ghent` and `Ghent University`."""
    first, second = f" {fold(one)} ", f" {fold(other)} "
    return first in second or second in first or first.split()[:1] == second.split()[:1]


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
    for entity in graph.entities(named).values():
        if not 2 <= entity.chunks <= MAX_CHUNKS or entity.name in bridges or not nameable(source, entity):
            continue
        others = [id for id, _ in graph.mentions([entity.id], MAX_CHUNKS) if ":".join(id.split(":")[:2]) not in seen]
        steps += [(entity.name, others[0])] if others else []
    return sorted(steps)


# Random walks over the graph until so many different edges have been crossed


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """Nodes in the order they were first reached, and the edges crossed; `whole` if they are as many as wanted."""

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    whole: bool


def random_walk(links: Adjacency, random: Random, hops: int = HOPS) -> RandomWalk:
    """From a random node on; where five walks in a row fall short, the longest of them, and it says so."""
    best = RandomWalk((), (), False)
    for _ in range(_WALKS if len(links) else 0):
        walk = _walk_once(links, random, hops)
        if len(walk.edges) > len(best.edges):
            best = walk
        if best.whole:
            break
    return best


def _walk_once(links: Adjacency, random: Random, hops: int) -> RandomWalk:
    node = random.randrange(len(links))
    nodes, edges = {node: None}, dict[tuple[int, int], None]()
    stale = 0
    while len(edges) < hops and stale < hops * _STALE:
        near, _ = links.neighbours(node)
        if not len(near):
            break
        step = int(near[random.randrange(len(near))])
        edge = min(node, step), max(node, step)
        stale = stale + 1 if edge in edges else 0
        edges[edge] = nodes[step] = None
        node = step
    return RandomWalk(tuple(nodes), tuple(edges), len(edges) >= hops)


# Questions by templates: about an entity, a relation, a stretch of the graph, all that is said of something


def summarised(source: QuestionSource, random: Random) -> QuestionDraft:
    """What several documents say about a well-connected entity."""
    drawn = around(source, connected(source, random))
    if not drawn.same:
        raise NothingToAsk(OTHER_ENTITY)
    name = _shown(source, drawn.entity.name)
    return _from_sentences(random.choice(_SUMMARIES).format(x=name), drawn.support, (name,), (drawn.entity.id,))


def described(source: QuestionSource, random: Random) -> QuestionDraft:
    """What an entity is, by the first sentence of the document about it."""
    subject = source.subjects.named(node(source, random).name)
    if subject is None:
        raise NothingToAsk
    sentence = " ".join(subject.text.document.text[slice(*subject.lead)].split())
    defined, piece = definition(sentence), source.texts.piece(subject.text, *subject.lead)
    if defined is None or piece is None:
        raise NothingToAsk
    text = f"{'Who' if subject.kind == 'person' else 'What'} {defined[0]} {subject.name}?"
    support = (source.support(piece, sentence),)
    return QuestionDraft(text, (defined[1],), support, names=(subject.bare,), path=(subject.id,))


def definition(sentence: str) -> tuple[str, str] | None:
    """`Ada Holm was a lawyer and politician.` → `was`, `a lawyer and politician`: what it is, up to the first stop."""
    match = _DEFINED.search(sentence)
    if match is None:
        return None
    phrase = re.split(r",? (?:who|which|that|whose)\b", match[3])[0]
    # `the strait that separates A from B`: without what follows it would say nothing.
    phrase = phrase if len(phrase.split()) > 2 else match[3]
    return match[1], f"{match[2]} {phrase}".strip(" ,")


def related(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins two entities, by the sentence that names both."""
    triplet, support = edge(source, random)
    names = [_shown(source, name) for name in (triplet.subject_name, triplet.object_name)]
    path = (triplet.subject, triplet.object)
    return _from_sentences(random.choice(_LINKS).format(a=names[0], b=names[1]), (support,), tuple(names), path)


def connected_by_walk(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins the centre of a random walk to others on it, each by a sentence of its own."""
    walk = random_walk(source.graph.adjacency, random)
    reached: dict[int, list[int]] = {}
    for one, other in walk.edges:
        reached.setdefault(one, []).append(other)
        reached.setdefault(other, []).append(one)
    for centre in sorted(reached, key=lambda n: (-len(reached[n]), n))[:MAX_CENTRES]:
        id = source.graph.ids[centre]
        entity = source.graph.entities([id])[id]
        if not central(source, entity):
            continue
        links = _links(source, centre, reached[centre])
        if len(links) >= FEWEST:
            names = [_shown(source, name) for name in (entity.name, *links)]
            text = f"What connects {names[0]} with {', '.join(names[1:-1])} and {names[-1]}?"
            path = tuple(source.graph.ids[n] for n in walk.nodes)
            note = "" if walk.whole else f"the walk reached {len(walk.edges)} edges only"
            return replace(_from_sentences(text, tuple(links.values()), tuple(names), path), note=note)
    raise NothingToAsk


def _links(source: QuestionSource, centre: int, others: list[int]) -> dict[str, SupportingChunk]:
    """Names of entities joined to the centre, with the sentence that joins them; no sentence twice."""
    ids, links = source.graph.ids, dict[str, SupportingChunk]()
    for other in others:
        for triplet in source.graph.induced([ids[centre], ids[other]], 3):
            sentence = joined(source, triplet)
            if sentence is None or any(sentence.quote == known.quote for known in links.values()):
                continue
            name = triplet.object_name if triplet.subject == ids[centre] else triplet.subject_name
            links.setdefault(name, sentence)
            break
        if len(links) == MOST:
            break
    return links


def _from_sentences(
    text: str, support: tuple[SupportingChunk, ...], names: tuple[str, ...], path: tuple[str, ...]
) -> QuestionDraft:
    """A question whose answer is what the sentences say."""
    answer = " ".join(dict.fromkeys(one.quote for one in support))
    return QuestionDraft(text, (answer,), support, names=names, path=path, parts=True)


def _shown(source: QuestionSource, name: str) -> str:
    """A name as questions write it: with its article where a document is about it."""
    subject = source.subjects.named(name)
    return subject.name if subject is not None else split_title(name)[0]
