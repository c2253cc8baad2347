"""Questions on sentences, without a model: what an entity is, what joins two, what several sentences say of one.

An answer is what sentences of the corpus say, word for word. A sentence must be about its entity and understood alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import OTHER_ENTITY, NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.draws import (
    connected,
    naming,
    no_name,
    one_of_its_name,
    random_walk,
    real,
    triplets,
)
from ragways.evaluation.questions.facts import facts_of
from ragways.evaluation.questions.source import QuestionSource
from ragways.evaluation.questions.templates import ENTRIES, LINKS, SUMMARIES
from ragways.layers.graph.names import STOP, coarse, fold, split_title, type_of_sentence
from ragways.layers.protocols import GraphEntity, Triplet

_SENTENCE = re.compile(r"(?=.{30,320}$)(?!.* \| |.*: |.*[a-z)]\. [A-Z])[^\W\d_a-z].*[^\W_)][)]?\.")
"""A sentence, rather than a line of a box, a row of a table, a heading or a point of a list."""
_ELSEWHERE = re.compile(
    r"[\"“”?]|\b(?:I|we|you|me|us|my|our|your|it|this|these|those|here|above|below|following|however|"
    r"also(?! known| called)|therefore|moreover|furthermore|instead|meanwhile|on the other hand|"
    r"for (?:example|instance)|as a result)\b",
    re.IGNORECASE,
)
"""Speech, and words that point to what stands elsewhere: such a sentence is not understood alone."""
_GOES_ON = re.compile(
    r"(?: ?\([^()]*\))*(?:, [^,]{3,80},)? (?:(?:still|now|often|[a-z]{3,}ly) )?(?:is|are|was|were|has|"
    r"had|can|may|must|became|built|wrote|won|led|[a-z]{2,}ed|"
    r"[a-z]{2,}s(?! (?:is|are|was|were|has|have|had|can|may|must|that|who)\b))\b"
)
"""After the name of what a sentence is about: its verb."""
_DEFINED = re.compile(
    r"(?P<term>(?:The |An? )?(?P<name>[^\W\d_][^,;:()\n\"“”]{1,60}?))(?: \([^()]{1,80}\))*"
    r"(?:,? (?:also|sometimes|often|or|commonly|formerly|officially)\b[^,]{2,80},)?"
    r" (?P<verb>is|was|are|were) (?P<what>(?:an?|the|one of the) (?:[^.;:()\n]|\.(?=\d)){8,200})\."
)
"""A sentence that says what something is, and nothing else."""
_VAGUE = re.compile(
    r"(?:an?|the|one of the) (?:very|most(?! common)|real|big|same|only|best|worst|main|good|great|lot|bit|matter|few|"
    r"must|point|problem|reason|result|case|one|thing|question|way|time|first|last|next|important|key|simple|easiest|"
    r"number|list|name|different|separate|better|recommended|favou?rites?|underdogs?)\b|"
    r"the [a-z]{2,}est (?!.* (?:of|in) )"
)
"""Words that say how something is judged, not what it is."""
_OF_WHICH = r" (?:of|in|within) the (?:state|country|city|county|town|region|area|island|province|series|book|film)$"
"""The end of a sentence about something that was spoken of before."""
_LIVED = re.compile(r"\((?:[^()]*\bborn\b[^()]*|[^()]*\d{3,4} ?[–-] ?[^()]*\d{3,4})\) (?:is|was)\b")
_TOGETHER = 4
"""Documents that may name both ends of a relation: with more, one sentence is not the answer."""
_CENTRES, _FEWEST, _MOST = 10, 2, 3


def nameable(source: QuestionSource, entity: GraphEntity) -> bool:
    """Whether a name stands for one thing in a question: that of a document, a proper name or a concept of several
    words.
    """
    name = split_title(entity.name)[0]
    subject = facts_of(source).subjects.named(entity.name)
    if subject is not None:
        return " " in name or subject.kind in ("place", "person", "organization")
    if not real(source, entity) or " " not in name or name.startswith(("The ", "A ")) or name[-1].isdigit():
        return False
    proper = all(word[:1].isupper() for word in re.findall(r"[^\W\d_][\w'’]{3,}", name)) and name[0].isupper()
    return proper or (name.islower() and not entity.way.startswith("rules"))


def shown(source: QuestionSource, name: str, quote: str) -> str:
    """A name as questions write it, with the article that it has in the quote."""
    subject = facts_of(source).subjects.named(name)
    bare = subject.name if subject is not None else split_title(name)[0]
    article = re.search(rf"\b([Tt]he|[Aa]n?) {re.escape(bare)}(?=[,.;)]|$| (?:\(|[a-z]))", quote)
    usual = subject is None and article is not None and (bare.islower() or article[1].casefold() == "the")
    return f"{article[1].lower()} {bare}" if usual and article is not None else bare


def is_about(sentence: str, name: str, *others: str) -> bool:
    """Whether a sentence is about a name, has the others too, and is understood without what stands around it."""
    begin = re.match(rf"(?:The |An? )?{re.escape(name)}", sentence, re.IGNORECASE)
    if begin is None or not _GOES_ON.match(sentence, begin.end()) or not _SENTENCE.fullmatch(sentence):
        return False
    # What stands in brackets is another name of something rather than another thing.
    words = f" {plain_words(re.sub(r'[(][^()]*[)]', '', sentence))} "
    clear = not _ELSEWHERE.search(sentence, begin.end()) and sentence.count(",") <= 5
    return clear and all(f" {plain_words(other)} " in words for other in others)


def definition(sentence: str) -> tuple[str, str, str, str] | None:
    """`Ada Holm (1770–1841) was a lawyer.`: the term with its article, its name, the verb, and what it is."""
    match = _DEFINED.fullmatch(sentence)
    if (
        match is None
        or _VAGUE.match(match["what"])
        or _ELSEWHERE.search(match["what"])
        or len(match["what"].split()) < 4
    ):
        return None
    if re.search(rf",? and (?:\w+ ){{0,5}}(?:is|are|was|were) | [A-Z]$|{_OF_WHICH}|\([^()]*$", match["what"]):
        return None  # more than one thing is stated, or it is cut
    return match["term"], match["name"], match["verb"], match["what"]


def described(source: QuestionSource, random: Random) -> QuestionDraft:
    """What an entity is, by a sentence that begins with it and says so."""
    known = source.once("definitions", lambda: _definitions(source))
    if not known:
        raise NothingToAsk
    return known[random.choice(list(known))]


def _definitions(source: QuestionSource) -> dict[str, QuestionDraft]:
    """A question on the first definition of each entity of the graph, and of what each document is about."""
    found: dict[str, QuestionDraft] = {}
    for text in source.texts.values():
        for piece in text.chunks:
            for sentence in source.sentences(piece.id):
                parts = definition(sentence)
                if parts is None or fold(parts[1]) in found or no_name(parts[1]):
                    continue
                name, what = parts[1], parts[3]
                called = _called(source, name, text.id, sentence)
                asked = _who_or_what(source, called, sentence, *parts) if called else ""
                if asked:
                    support = (source.support(piece, sentence),)
                    found[fold(name)] = QuestionDraft(asked, (what,), support, names=(name,), path=(fold(name),))
    return dict(sorted(found.items()))


def _called(source: QuestionSource, name: str, document: str, sentence: str) -> str:
    """What a sentence defines, as it is called: the subject of its document or an entity of the graph, else nothing."""
    subject = facts_of(source).subjects.named(name)
    if subject is not None:
        plain = not split_title(subject.text.title)[1] and (" " in subject.bare or bool(subject.kind))
        return subject.name if plain and subject.id == document else ""
    if source.texts[document].title.startswith(f"{name},"):
        return ""  # `North Bend, West Virginia`: there are others
    entities = source.graph.entities(source.graph.named(name, 1), described=False).values()
    entity = next((one for one in entities if fold(one.name) == fold(name) and nameable(source, one)), None)
    return entity.name if entity is not None and is_about(sentence, name) else ""


def _who_or_what(source: QuestionSource, called: str, sentence: str, term: str, name: str, verb: str, what: str) -> str:
    """`Who was Ada Holm?`, `What is a bone scan?`; nothing where it is not known whether it is a person."""
    kind = kind_of(source, name, sentence)
    if not kind and (name[1:] != name[1:].casefold() or re.search(r"\w(?:[eo]r|ist|ian|man|woman)\b", what)):
        return ""
    article = term[: len(term) - len(name)].lower()
    if called.startswith(("the ", "The ")):
        article = ""
    elif called.islower() or (article in ("a ", "an ") and name[1:].islower()):
        called = name.casefold()
    ask = "Who {verb} {x}?" if kind == "person" else ENTRIES["is"].replace("is", "{verb}", 1)
    return ask.format(verb=verb, x=f"{article}{called}")


def kind_of(source: QuestionSource, name: str, sentence: str) -> str:
    """The kind of what a definition is about, as far as it is known: `person` is asked for by who."""
    subject = facts_of(source).subjects.named(name)
    known = subject.kind if subject is not None else ""
    return "person" if _LIVED.search(sentence) else known or coarse(type_of_sentence(sentence))


def summarised(source: QuestionSource, random: Random) -> QuestionDraft:
    """What several documents say about a well-connected entity."""
    entity = connected(source, random, nameable)
    name = split_title(entity.name)[0]
    if name != entity.name or (facts_of(source).subjects.named(name) is None and entity.way.startswith("rules")):
        raise NothingToAsk
    support = list[SupportingChunk]()
    for one in naming(source, entity):
        sentences = (sentence for sentence in source.sentences(one.chunk) if is_about(sentence, name))
        quote = next((s for s in sentences if not any(_repeats(s, known.quote) for known in support)), "")
        if quote and not (name.islower() and quote.startswith("The ")):  # `The surgery`: one that was spoken of before
            support.append(source.support_of(one.chunk, quote))
    # Two documents that begin by saying who somebody of this name was speak of two people.
    introduced = sum(bool(re.match(rf"{re.escape(name)}\s*\(", one.quote)) for one in support)
    if introduced > 1 or not one_of_its_name(source, entity):
        raise NothingToAsk(OTHER_ENTITY)
    if len(support) < 2:
        raise NothingToAsk
    asked = shown(source, entity.name, support[0].quote)
    return _from_sentences(random.choice(SUMMARIES).format(x=asked), tuple(support), (asked,), (entity.id,))


def _repeats(one: str, other: str) -> bool:
    """Whether two sentences say nearly the same."""
    first, second = (set(plain_words(text).split()) - STOP for text in (one, other))
    return 2 * len(first & second) >= len(first | second)


def related(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins two entities, by a sentence about one that names the other."""
    for triplet in triplets(source, random):
        support = _joining(source, triplet)
        if support is not None:
            names = [shown(source, name, support.quote) for name in (triplet.subject_name, triplet.object_name)]
            path = tuple(sorted((triplet.subject, triplet.object)))
            text = random.choice(LINKS).format(a=names[0], b=names[1])
            return _from_sentences(text, (support,), tuple(names), path)
    raise NothingToAsk


def connected_by_walk(source: QuestionSource, random: Random) -> QuestionDraft:
    """What joins the centre of a random walk to others on it, each by a sentence of its own."""
    walk = random_walk(source.graph, random)
    reached: dict[str, list[str]] = {}
    for one, other in walk.edges:
        reached.setdefault(one, []).append(other)
        reached.setdefault(other, []).append(one)
    for centre in sorted(reached, key=lambda n: (-len(reached[n]), n))[:_CENTRES]:
        entity, links = source.entity(centre), dict[str, SupportingChunk]()
        for name, support in _links(source, centre, reached[centre]) if nameable(source, entity) else ():
            if len(links) < _MOST and all(support.quote != known.quote for known in links.values()):
                links.setdefault(name, support)
        if len(links) >= _FEWEST:
            quotes = " ".join(link.quote for link in links.values())
            names = [shown(source, name, quotes) for name in (entity.name, *links)]
            text = f"What connects {names[0]} with {', '.join(names[1:-1])} and {names[-1]}?"
            return _from_sentences(text, tuple(links.values()), tuple(names), (entity.id,), walk.note)
    raise NothingToAsk


def _links(source: QuestionSource, centre: str, others: list[str]) -> Iterator[tuple[str, SupportingChunk]]:
    """Names of entities joined to the centre, each with the sentence that joins them."""
    for other in others:
        if nameable(source, source.entity(other)):
            link = source.once(f"link {centre} {other}", partial(_link, source, centre, other))
            if link is not None:
                yield link


def _link(source: QuestionSource, centre: str, other: str) -> tuple[str, SupportingChunk] | None:
    for triplet in source.graph.triplets([centre, other], 3, induced=True):
        support = _joining(source, triplet)
        if support is not None:
            return triplet.object_name if triplet.subject == centre else triplet.subject_name, support
    return None


def _joining(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    """The sentence about one end of a relation that has the other too, if there is one that is understood alone."""
    return source.once(f"joining {triplet.id}", lambda: _find_joining(source, triplet))


def _find_joining(source: QuestionSource, triplet: Triplet) -> SupportingChunk | None:
    pair = list(source.graph.entities([triplet.subject, triplet.object], described=False).values())
    names = [split_title(entity.name)[0] for entity in pair]
    if len(pair) < 2 or not all(nameable(source, entity) for entity in pair):
        return None
    by_model = not all(entity.way.startswith("rules") for entity in pair)
    if not by_model and not any(facts_of(source).subjects.named(entity.name) for entity in pair):
        return None  # rules take names by their capitals: of neither more is known
    folded = [f" {fold(name)} " for name in names]
    if folded[0] in folded[1] or folded[1] in folded[0] or folded[0].split()[0] == folded[1].split()[0]:
        return None  # nothing is to be asked between `Ghent` and `Ghent University`
    if len(source.having(*names)) > _TOGETHER:
        return None
    for chunk in source.graph.relation_chunks([triplet.id]).get(triplet.id, [])[:5]:
        for sentence in source.sentences(chunk):
            if not any(_renamed_or_cut(sentence, name) for name in names) and any(
                is_about(sentence, name, other) for name, other in (names, names[::-1])
            ):
                return source.support_of(chunk, sentence)
    return None


def _renamed_or_cut(sentence: str, name: str) -> bool:
    """Whether a sentence gives a name as another name of something, or goes on with it: `Springer Science+Business`."""
    renamed = re.search(rf"\b(?:known as|called|formerly) {re.escape(name)}", sentence)
    return bool(renamed or re.search(rf"\b{re.escape(name)}(?:[+&-]| [^\W\d_a-z])", sentence))


def _from_sentences(
    text: str, support: tuple[SupportingChunk, ...], names: tuple[str, ...], path: tuple[str, ...], note: str = ""
) -> QuestionDraft:
    """A question whose answer is what the sentences say."""
    answer = " ".join(dict.fromkeys(one.quote for one in support))
    return QuestionDraft(text, (answer,), support, names=names, path=path, parts=True, note=note)
