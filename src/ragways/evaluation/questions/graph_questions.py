"""Questions about the graph by templates: about an entity, a relation, a stretch of the graph, all that is said of
something. An answer is what sentences of the corpus say, word for word.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from random import Random

from ragways.evaluation.questions.corpus import CorpusText
from ragways.evaluation.questions.draft import OTHER_ENTITY, NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.entities import central, means_one, nameable, shown, tells, told_by_story
from ragways.evaluation.questions.graph_draws import around, connected, joined, random_walk, triplets
from ragways.evaluation.questions.source import QuestionSource
from ragways.layers.graph.names import coarse, fold, split_title, type_of_sentence

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
            entity = next(iter(source.graph.entities(source.graph.named(begins[1], 1), described=False).values()), None)
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
    for triplet in triplets(source, random):
        support = joined(source, triplet)
        if support is not None:
            names = [shown(source, name, support.quote) for name in (triplet.subject_name, triplet.object_name)]
            path = tuple(sorted((triplet.subject, triplet.object)))
            text = random.choice(_LINKS).format(a=names[0], b=names[1])
            return _from_sentences(text, (support,), tuple(names), path)
    raise NothingToAsk


def connected_by_walk(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins the centre of a random walk to others on it, each by a sentence of its own."""
    walk = random_walk(source.graph, random)
    reached: dict[str, list[str]] = {}
    for one, other in walk.edges:
        reached.setdefault(one, []).append(other)
        reached.setdefault(other, []).append(one)
    for centre in sorted(reached, key=lambda n: (-len(reached[n]), n))[:MAX_CENTRES]:
        entity = source.entity(centre)
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


def _links(source: QuestionSource, centre: str, others: list[str]) -> dict[str, SupportingChunk]:
    """Names of entities joined to the centre, with the sentence that joins them; no sentence twice."""
    links = dict[str, SupportingChunk]()
    for other in others:
        link = source.once(f"link {centre} {other}", partial(_link, source, centre, other))
        if link is not None and all(link[1].quote != known.quote for known in links.values()):
            links.setdefault(*link)
        if len(links) == MOST:
            break
    return links


def _link(source: QuestionSource, centre: str, other: str) -> tuple[str, SupportingChunk] | None:
    if not nameable(source, source.entity(other)):
        return None
    for triplet in source.graph.triplets([centre, other], 3, induced=True):
        sentence = joined(source, triplet)
        if sentence is not None:
            return triplet.object_name if triplet.subject == centre else triplet.subject_name, sentence
    return None


def _from_sentences(
    text: str, support: tuple[SupportingChunk, ...], names: tuple[str, ...], path: tuple[str, ...]
) -> QuestionDraft:
    """A question whose answer is what the sentences say."""
    answer = " ".join(dict.fromkeys(one.quote for one in support))
    return QuestionDraft(text, (answer,), support, names=names, path=path, parts=True)
