"""Entities, relations and stretches of the graph that a question can be about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

import numpy as np

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import NO_MATERIAL, Nothing, Support
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.names import DATED
from ragways.evaluation.questions.subjects import Subject
from ragways.evaluation.questions.walk import HOPS, Walk, random_walk
from ragways.index.graph.names import fold, split_title
from ragways.index.graph.reader import GraphEntity, Triplet
from ragways.index.pagerank import pagerank

_NOT_ASKED = frozenset({"date", "quantity"})
MOST_DOCUMENTS = 5
_WHOLE = re.compile(r"(?=.{30,400}$)(?!.* \| )[^\W\d_a-z\"“].*[.!?][\"”)]?")
"""A sentence, rather than a line of a box, a row of a table or a point of a list."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Around:
    """An entity and sentences that name it, one a document; `same` is False where they may mean others of its name."""

    entity: GraphEntity
    support: tuple[Support, ...]
    same: bool


def asked_about(entity: GraphEntity) -> bool:
    """Whether a name can stand in a question: capitals, no date, no phrase."""
    name = split_title(entity.name)[0]
    capital = all(word[:1].isupper() for word in re.findall(r"[^\W\d_][\w'’]{3,}", name))
    traced = entity.type in _NOT_ASKED or DATED.search(name) is not None
    return capital and not traced and 3 < len(name) <= 60 and name[0].isupper() and "\n" not in name


def nameable(material: Material, entity: GraphEntity) -> bool:
    """A name that stands for one thing: that of a document, or one of several words. `French` and `Church` do not."""
    if not asked_about(entity):
        return False
    subject = material.subjects.named(entity.name)
    if subject is not None:
        # What is called by one common word, or by a first name, is hardly ever meant by it.
        return " " in subject.bare or (subject.kind in ("place", "person", "organization") and not _ending(subject))
    return " " in entity.name and not entity.name.startswith(("The ", "A ")) and not entity.name[-1].isdigit()


def _ending(subject: Subject) -> str:
    """The words in brackets that tell a title from others."""
    return split_title(subject.text.title)[1]


def central(material: Material, entity: GraphEntity) -> bool:
    """A name that much may be asked about: where documents are about things, one of those."""
    return nameable(material, entity) and (not _titled(material) or material.subjects.named(entity.name) is not None)


def node(material: Material, random: Random) -> GraphEntity:
    """Any entity, each with the same chance."""
    for _ in range(_TRIES):
        ids = material.graph.ids
        if not ids:
            break
        id = random.choice(ids)
        entity = material.graph.entities([id])[id]
        if asked_about(entity):
            return entity
    raise Nothing(NO_MATERIAL)


def connected(material: Material, random: Random) -> GraphEntity:
    """A well-connected entity: drawn by its PageRank."""
    ranks = _ranks(material)
    if not len(ranks):
        raise Nothing(NO_MATERIAL)
    for _ in range(_TRIES):
        at = min(int(np.searchsorted(ranks, random.random() * ranks[-1])), len(ranks) - 1)
        id = material.graph.ids[at]
        entity = material.graph.entities([id])[id]
        if central(material, entity):
            return entity
    raise Nothing(NO_MATERIAL)


def _ranks(material: Material) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Running sums of the PageRank of all entities, made once."""
    links = material.graph.adjacency
    return material.once("ranks", lambda: np.cumsum(pagerank(links, np.ones(len(links)), tolerance=1e-6)))


def around(material: Material, entity: GraphEntity, least: int = 2) -> Around:
    """Sentences of the documents that name an entity most, its own first."""
    support: dict[str, Support] = {}
    name, _ = split_title(entity.name)
    for chunk, _ in material.graph.mentions([entity.id]):
        piece = material.index.pieces([chunk]).get(chunk)
        if piece is None or piece.document in support:
            continue
        sentence = sentence_with(material, chunk, name)
        if sentence:
            support[piece.document] = material.support(piece, sentence)
        if len(support) == MOST_DOCUMENTS:
            break
    if len(support) < least:
        raise Nothing(NO_MATERIAL)
    others = [id for id in material.graph.named(name) if id != entity.id]
    same = not any(fold(split_title(e.name)[0]) == fold(name) for e in material.graph.entities(others).values())
    # Two documents that begin by saying who somebody of this name was speak of two people.
    introduced = sum(bool(re.match(rf"{re.escape(name)}\s*\(", one.quote)) for one in support.values())
    return Around(entity, tuple(support.values()), same and introduced <= 1 and material.subjects.rivals(name) <= 1)


def sentence_with(material: Material, chunk: str, *names: str) -> str:
    """The first sentence of a chunk that holds all these names, whole words in a row."""
    piece = material.index.pieces([chunk]).get(chunk)
    if piece is None:
        return ""
    for start, end in material.index.sentences(piece):
        sentence = " ".join(material.index.text(piece.document, start, end).split())
        # What stands in brackets is another name of something rather than another thing.
        outside = re.sub(r"\([^()]*\)", "", sentence)
        words = f" {plain_words(outside)} "
        if _WHOLE.fullmatch(sentence) and all(n in outside and f" {plain_words(n)} " in words for n in names):
            return sentence
    return ""


def edge(material: Material, random: Random) -> tuple[Triplet, Support]:
    """Any relation between two names, with the sentence that joins them."""
    count = material.once("relations", lambda: material.graph.counts()["relations"])
    for _ in range(_TRIES if count else 0):
        triplet = material.graph.relations_at([number := random.randrange(count)]).get(number)
        found = joined(material, triplet) if triplet is not None else None
        if found is not None:
            return found
    raise Nothing(NO_MATERIAL)


def joined(material: Material, triplet: Triplet) -> tuple[Triplet, Support] | None:
    """A relation with a sentence that holds both of its ends, where there is one."""
    pair = material.graph.entities([triplet.subject, triplet.object])
    names = [split_title(entity.name)[0] for entity in pair.values()]
    if len(pair) < 2 or not all(nameable(material, entity) for entity in pair.values()) or _alike(*names):
        return None
    if _titled(material) and not any(material.subjects.named(entity.name) for entity in pair.values()):
        return None
    for chunk in material.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:5]:
        sentence = sentence_with(material, chunk, *names)
        if sentence:
            return triplet, material.support_of(chunk, sentence)
    return None


def _titled(material: Material) -> bool:
    """Whether most documents are about the thing their title names; of headlines and chapters that cannot be said."""
    return 2 * len(material.subjects.all) >= len(material.texts.all)


def _alike(one: str, other: str) -> bool:
    """Whether one name holds the other: nothing is to be asked between `Ghent` and `Ghent University`."""
    first, second = f" {fold(one)} ", f" {fold(other)} "
    return first in second or second in first or first.split()[:1] == second.split()[:1]


def subgraph(material: Material, random: Random, hops: int = HOPS) -> Walk:
    return random_walk(material.graph.adjacency, random, hops)
