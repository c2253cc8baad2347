"""Entities, relations and stretches of the graph, drawn at random, and questions about them by templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random

import numpy as np

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.corpus import CorpusText
from ragways.evaluation.questions.draft import OTHER_ENTITY, NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.entities import (
    alike,
    central,
    common,
    means_one,
    nameable,
    real,
    shown,
    states,
    telling,
    tells,
    titled,
    told_by_story,
)
from ragways.evaluation.questions.source import QuestionSource
from ragways.index.graph.names import STOP, coarse, fold, split_title, type_of_sentence
from ragways.index.graph.reader import GraphEntity, Triplet
from ragways.index.pagerank import Adjacency, pagerank

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
_STALE = 3
"""Steps for each edge wanted that a walk may take over edges it knows: then it has gone where it can."""
_SUMMARIES = ("What is known about {x}?", "Give an overview of {x}.", "Summarise what is known about {x}.")
_LINKS = ("How are {a} and {b} connected?", "What does {a} have to do with {b}?")
_DEFINED = re.compile(
    r"\s(is|was|are|were)\s+(an?|the|one of the)\s+"
    r"((?:[^.;:()\n]|\.(?=\d)|(?:(?<=\b[A-Z])|(?<=\b[A-Z][rst]))\.(?= )){4,200})(?=[.;:(\n]|$)"
)
_BEGINS = re.compile(
    r"(?:The |An? )?([^\W\d_][^,;:()\n]{1,60}?)(?: \([^()]{1,80}\))*"
    r"(?:,? (?:also|sometimes|often|or|commonly|formerly|officially)\b[^,]{2,80},)?"
    r" (?=(?:is|was|are|were) (?:an?|the|one of the) )"
)
"""A sentence that says what something is, up to the verb."""
_VAGUE = re.compile(
    r"(?:an?|the|one of the) (?:very|most(?! common)|real|big|same|only|best|worst|main|good|great|lot|bit|matter|few|"
    r"must|point|problem|reason|result|case|one|thing|question|way|time|first|last|next|important|key|"
    r"favou?rites?|underdogs?)\b"
)
"""Words that say how something is judged, not what it is."""
_TITLE = re.compile(r"(?:Professor|Dr|Mrs?|Ms|Sir|Lady|Lord|Captain|President|Senator|King|Queen)\b")
_LIVED = re.compile(r"\([^()]*\d{3,4} ?[–-] ?[^()]*\d{3,4}\) (?:is|was)\b")
_AGENT = re.compile(r"(?:[eo]r|ist|ian|man|woman)$")
MAX_CENTRES = 10
FEWEST, MOST = 2, 3
"""Entities that a question about a stretch of the graph joins to its centre."""


@dataclass(frozen=True, slots=True)
class EntitySupport:
    """An entity and text that names it, a place a document; `same` is False where they may mean others of its name."""

    entity: GraphEntity
    support: tuple[SupportingChunk, ...]
    same: bool


def node(source: QuestionSource, random: Random) -> GraphEntity:
    """Any entity that is one, each with the same chance."""
    ids = source.graph.ids
    for _ in range(_TRIES if ids else 0):
        entity = source.entity(ids.id(random.choice(ids.numbers)))
        if real(source, entity):
            return entity
    raise NothingToAsk


Fits = Callable[[QuestionSource, GraphEntity], bool]


def connected(source: QuestionSource, random: Random, fits: Fits = central) -> GraphEntity:
    """A well-connected entity: drawn by its PageRank."""
    ranks = _ranks(source)
    for _ in range(_TRIES if len(ranks) else 0):
        at = min(int(np.searchsorted(ranks, random.random() * ranks[-1])), len(ranks) - 1)
        entity = source.entity(source.graph.id_in_order(at))
        if fits(source, entity):
            return entity
    raise NothingToAsk


def _ranks(source: QuestionSource) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Running sums of the PageRank of all entities, made once."""
    links = source.graph.in_order
    return source.once("ranks", lambda: np.cumsum(pagerank(links, np.ones(len(links)), tolerance=1e-6)))


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
    same = not any(fold(split_title(e.name)[0]) == fold(name) for e in source.graph.entities(others).values())
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
    for triplet in _triplets(source, random):
        pair = source.graph.entities([triplet.subject, triplet.object])
        if len(pair) < 2 or not all(real(source, entity) for entity in pair.values()):
            continue
        chunks = source.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:_STATING]
        if chunks:
            return triplet, tuple(source.support_of(chunk) for chunk in chunks)
    raise NothingToAsk


def _triplets(source: QuestionSource, random: Random) -> list[Triplet]:
    count = source.once("relations", lambda: source.graph.counts()["relations"])
    numbers = [random.randrange(count) for _ in range(_TRIES if count else 0)]
    found = source.graph.relations_at(numbers)
    return [found[number] for number in numbers if number in found]


def joined(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    """The sentence about one end of a relation that holds the other too, if there is one that is understood alone."""
    return source.once(f"joined {triplet.id}", lambda: _joined(source, triplet))


def _joined(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    pair = source.graph.entities([triplet.subject, triplet.object])
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
    for entity in graph.entities(named).values():
        if not 2 <= entity.chunks <= MAX_CHUNKS or entity.name in bridges or not real(source, entity):
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
    entity = connected(source, random)
    if told_by_story(source, entity) or split_title(entity.name)[1]:
        raise NothingToAsk  # what needs an ending to its name is not always meant by it
    drawn = around(source, entity)
    if not drawn.same:
        raise NothingToAsk(OTHER_ENTITY)
    name = shown(source, drawn.entity.name, drawn.support[0].quote)
    return _from_sentences(random.choice(_SUMMARIES).format(x=name), drawn.support, (name,), (drawn.entity.id,))


def described(source: QuestionSource, random: Random) -> QuestionDraft:
    """What an entity is, by a sentence that begins with it and says so."""
    defined = source.once("defined", lambda: _defined(source))
    if not defined:
        raise NothingToAsk
    name, text, (start, end) = defined[random.choice(list(defined))]
    sentence = " ".join(text.document.text[start:end].split())
    found, piece = definition(sentence), source.texts.piece(text, start, end)
    if found is None or piece is None:
        raise NothingToAsk
    subject = source.subjects.named(name)
    type = type_of_sentence(sentence)
    kind = (
        (subject.kind if subject is not None else "")
        or coarse(type)
        or ("person" if _TITLE.match(name) or _LIVED.search(sentence) else "")
    )
    proper = subject is None and name[1:] != name[1:].casefold() and not sentence.startswith("The ")
    if not kind and (_AGENT.search(type) or proper):
        raise NothingToAsk  # who or what?
    asked = shown(source, name, sentence)
    if sentence.startswith(("A ", "An ")) and asked == name and " " not in name:
        asked = f"{sentence.split()[0].lower()} {name.casefold()}"
    support = (source.support(piece, sentence),)
    text_asked = f"{'Who' if kind == 'person' else 'What'} {found[0]} {asked}?"
    return QuestionDraft(text_asked, (found[1],), support, names=(split_title(name)[0],), path=(fold(name),))


Defined = dict[str, tuple[str, CorpusText, tuple[int, int]]]


def _defined(source: QuestionSource) -> Defined:
    """By name, the first sentence that says what a document or an entity is about: name, document and place."""
    found: Defined = {}
    for subject in source.subjects.all.values():
        lead = " ".join(subject.text.document.text[slice(*subject.lead)].split())
        said_of = set(fold(re.split(r" (?:is|was|are|were) ", lead)[0]).split())
        named = source.subjects.named(subject.text.title) is not None and set(fold(subject.bare).split()) <= said_of
        if named and means_one(subject) and _clear(lead):
            found.setdefault(fold(subject.text.title), (subject.text.title, subject.text, subject.lead))
    for text in source.texts.all:
        for start, end in source.texts.sentences(text):
            sentence = " ".join(text.document.text[start : min(end, start + 500)].split())
            begins = _BEGINS.match(sentence)
            if begins is None or fold(begins[1]) in found or not tells(sentence, begins[1]) or not _clear(sentence):
                continue
            entity = next(iter(source.graph.entities(source.graph.named(begins[1], 1)).values()), None)
            if entity is not None and fold(entity.name) == fold(begins[1]) and nameable(source, entity):
                found.setdefault(fold(entity.name), (entity.name, text, (start, end)))
    return dict(sorted(found.items()))


def _clear(sentence: str) -> bool:
    """Whether a definition says more than how something is judged."""
    defined = definition(sentence)
    return defined is not None and len(defined[1].split()) > 2 and not _VAGUE.match(defined[1])


def definition(sentence: str) -> tuple[str, str] | None:
    """`Ada Holm was a lawyer and politician.` → `was`, `a lawyer and politician`: what it is, up to the first stop."""
    match = _DEFINED.search(sentence)
    if match is None or re.match(r"\S*\([^()]*\)(?:\(| [a-z])", sentence[match.end() :]):
        return None  # `a non-profit 501(c)(3) corporation`, `an overgrowth (cancer) of cells`
    phrase = re.split(r",? whose?\b|, (?:which|that)\b", match[3])[0]
    if re.search(r"(?:^|[ .])[A-Z]$", phrase.strip()):
        return None  # cut at an initial
    # `the man who built it`: without what follows it would say nothing.
    phrase = phrase if len(phrase.split()) > 2 else match[3]
    return match[1], f"{match[2]} {phrase}".strip(" ,")


def related(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins two entities, by a sentence about one that names the other."""
    for triplet in _triplets(source, random):
        support = joined(source, triplet)
        if support is not None:
            names = [shown(source, name, support.quote) for name in (triplet.subject_name, triplet.object_name)]
            path = tuple(sorted((triplet.subject, triplet.object)))
            text = random.choice(_LINKS).format(a=names[0], b=names[1])
            return _from_sentences(text, (support,), tuple(names), path)
    raise NothingToAsk


def connected_by_walk(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins the centre of a random walk to others on it, each by a sentence of its own."""
    walk = random_walk(source.graph.in_order, random)
    reached: dict[int, list[int]] = {}
    for one, other in walk.edges:
        reached.setdefault(one, []).append(other)
        reached.setdefault(other, []).append(one)
    for centre in sorted(reached, key=lambda n: (-len(reached[n]), n))[:MAX_CENTRES]:
        entity = source.entity(source.graph.id_in_order(centre))
        if not central(source, entity):
            continue
        links = _links(source, centre, reached[centre])
        if len(links) >= FEWEST:
            quotes = " ".join(link.quote for link in links.values())
            names = [shown(source, name, quotes) for name in (entity.name, *links)]
            text = f"What connects {names[0]} with {', '.join(names[1:-1])} and {names[-1]}?"
            note = "" if walk.whole else f"the walk reached {len(walk.edges)} edges only"
            return replace(_from_sentences(text, tuple(links.values()), tuple(names), (entity.id,)), note=note)
    raise NothingToAsk


def _links(source: QuestionSource, centre: int, others: list[int]) -> dict[str, SupportingChunk]:
    """Names of entities joined to the centre, with the sentence that joins them; no sentence twice."""
    links = dict[str, SupportingChunk]()
    for other in others:
        link = source.once(f"link {centre} {other}", partial(_link, source, centre, other))
        if link is not None and all(link[1].quote != known.quote for known in links.values()):
            links.setdefault(*link)
        if len(links) == MOST:
            break
    return links


def _link(source: QuestionSource, centre: int, other: int) -> tuple[str, SupportingChunk] | None:
    one, two = map(source.graph.id_in_order, (centre, other))
    if not nameable(source, source.entity(two)):
        return None
    for triplet in source.graph.induced([one, two], 3):
        sentence = joined(source, triplet)
        if sentence is not None:
            return triplet.object_name if triplet.subject == one else triplet.subject_name, sentence
    return None


def _from_sentences(
    text: str, support: tuple[SupportingChunk, ...], names: tuple[str, ...], path: tuple[str, ...]
) -> QuestionDraft:
    """A question whose answer is what the sentences say."""
    answer = " ".join(dict.fromkeys(one.quote for one in support))
    return QuestionDraft(text, (answer,), support, names=names, path=path, parts=True)
