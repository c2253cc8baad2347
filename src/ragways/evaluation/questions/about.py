"""Questions about entities, relations, stretches of the graph and all that is said of something, without a model."""

from __future__ import annotations

from random import Random

from ragways.evaluation.questions.draft import NO_MATERIAL, OTHER_ENTITY, Draft, Nothing, Support
from ragways.evaluation.questions.entities import around, central, connected, edge, joined, subgraph
from ragways.evaluation.questions.entities import node as any_node
from ragways.evaluation.questions.facts import after_subject
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.patterns import definition
from ragways.index.graph.names import split_title

_SUMMARIES = (
    "What is known about {x}?",
    "Give an overview of what the documents say about {x}.",
    "Summarise what is said about {x} in different documents.",
)
_LINKS = ("How are {a} and {b} connected?", "What does {a} have to do with {b}?")
MOST_CENTRES = 10
FEWEST, MOST = 2, 3
"""Entities that a question about a stretch of the graph joins to its centre."""


def summary(material: Material, random: Random) -> Draft:
    """What several documents say about a well-connected entity."""
    found = around(material, connected(material, random))
    if not found.same:
        raise Nothing(OTHER_ENTITY)
    name = _shown(material, found.entity.name)
    return _told(random.choice(_SUMMARIES).format(x=name), found.support, (name,), (found.entity.id,))


def node(material: Material, random: Random) -> Draft:
    """What an entity is, by the first sentence of the document about it."""
    subject = material.subjects.named(any_node(material, random).name)
    if subject is None:
        raise Nothing(NO_MATERIAL)
    whole = subject.text.document.text
    sentence = whole[slice(*subject.lead)]
    after = after_subject(sentence, subject, lead=True, itself=False)
    found = definition(sentence[after:].replace("\n", " ")) if after >= 0 else None
    piece = material.texts.piece(subject.text, *subject.lead)
    if found is None or piece is None:
        raise Nothing(NO_MATERIAL)
    be, said = found
    support = material.support(piece, " ".join(sentence.split()))
    who = "Who" if subject.kind == "person" else "What"
    return Draft(f"{who} {be} {subject.name}?", (said,), (support,), names=(subject.bare,), path=(subject.id,))


def relation(material: Material, random: Random) -> Draft:
    """What joins two entities, by the sentence that names both."""
    triplet, support = edge(material, random)
    names = [_shown(material, name) for name in (triplet.subject_name, triplet.object_name)]
    path = (triplet.subject, triplet.object)
    return _told(random.choice(_LINKS).format(a=names[0], b=names[1]), (support,), tuple(names), path)


def stretch(material: Material, random: Random) -> Draft:
    """What joins the centre of a random walk to others on it, each by a sentence of its own."""
    walk = subgraph(material, random)
    reached: dict[int, list[int]] = {}
    for one, other in walk.edges:
        reached.setdefault(one, []).append(other)
        reached.setdefault(other, []).append(one)
    for centre in sorted(reached, key=lambda n: (-len(reached[n]), n))[:MOST_CENTRES]:
        id = material.graph.ids[centre]
        if not central(material, material.graph.entities([id])[id]):
            continue
        found = _links(material, centre, reached[centre])
        if len(found) >= FEWEST:
            names = [_shown(material, name) for name in found]
            centre_name = _shown(material, material.graph.entities([material.graph.ids[centre]]).popitem()[1].name)
            others = f"{', '.join(names[:-1])} and {names[-1]}"
            asked = f"What connects {centre_name} with {others}?"
            path = tuple(material.graph.ids[n] for n in walk.nodes)
            drafted = _told(asked, tuple(found.values()), (centre_name, *names), path)
            return drafted if walk.whole else _short(drafted, len(walk.edges))
    raise Nothing(NO_MATERIAL)


def _short(draft: Draft, hops: int) -> Draft:
    from dataclasses import replace

    return replace(draft, note=f"the walk reached {hops} edges only")


def _links(material: Material, centre: int, others: list[int]) -> dict[str, Support]:
    """Names of entities joined to the centre, with the sentence that joins them; no sentence twice."""
    ids, found = material.graph.ids, dict[str, Support]()
    for other in others:
        for triplet in material.graph.induced([ids[centre], ids[other]], 3):
            both = joined(material, triplet)
            if both is None or any(both[1].quote == known.quote for known in found.values()):
                continue
            name = triplet.object_name if triplet.subject == ids[centre] else triplet.subject_name
            found.setdefault(name, both[1])
            break
        if len(found) == MOST:
            break
    return found


def _told(text: str, support: tuple[Support, ...], names: tuple[str, ...], path: tuple[str, ...]) -> Draft:
    """A question whose answer is what the sentences say."""
    answer = " ".join(dict.fromkeys(one.quote for one in support))
    return Draft(text, (answer,), support, names=names, path=path, parts=True)


def _shown(material: Material, name: str) -> str:
    """A name as questions write it: with its article where a document is about it."""
    subject = material.subjects.named(name)
    return subject.name if subject is not None else split_title(name)[0]
