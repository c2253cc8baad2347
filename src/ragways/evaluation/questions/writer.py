"""Questions written without a model, by the templates: of facts, of sentences about entities, and without an answer.

Each function draws one question at random. `NothingToAsk` says that the draw had none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draws import (
    Grouping,
    connected,
    naming,
    no_name,
    one_of_its_name,
    random_walk,
    real,
    triplets,
)
from ragways.evaluation.questions.facts import Chain, Fact, Subject, facts_of, written_forms
from ragways.evaluation.questions.source import (
    OTHER_ENTITY,
    NothingToAsk,
    QuestionDraft,
    QuestionSource,
    SupportingChunk,
    drawn_ways,
    grouped,
    null,
)
from ragways.evaluation.questions.templates import ENTRIES, LINKS, RELATIONS, SUMMARIES, Wording, date_of
from ragways.layers.graph.names import COARSE, STOP, coarse, fold, split_title, type_of_sentence
from ragways.layers.protocols import GraphEntity, Triplet

_PLACES = frozenset(("town", "city", "village", "island", "country", "county", "district", "region", "province"))
_MAX_PAIRS = 200
_TRIES = 30
_FAR, _FARTHEST = 3, 60
"""Years by which a date is moved."""
_BESIDE = 250
"""Characters after a name in which a year is taken to be of it."""
_OF_PEOPLE = ("birth date", "birth place", "death date", "death place", "spouse", "father", "mother")
_LOOSE_TYPES = frozenset({"series", "record", "single", "show", "map", "sequence"})
"""Of these there are things of other kinds: a series of storms has no director."""


def factual(source: QuestionSource, random: Random) -> QuestionDraft:
    """A fact of a random chunk."""
    facts = facts_of(source).in_chunk.get(source.chunk(random).id, [])
    if not facts:
        raise NothingToAsk
    return chained(source, (random.choice(facts),))


def reasoning(hops: int) -> Callable[[QuestionSource, Random], QuestionDraft]:
    """A drafter of questions over so many documents: a random chain, the same chance for every row of relations."""

    def draft(source: QuestionSource, random: Random) -> QuestionDraft:
        chains = facts_of(source).chains(hops)
        if not chains:
            raise NothingToAsk
        return chained(source, random.choice(chains[random.choice(list(chains))]))

    return draft


def chained(source: QuestionSource, chain: Chain) -> QuestionDraft:
    """The value of the last fact, whose subject the one before describes, and so on: only the first is named."""
    described = chain[0].subject.name
    for fact in chain[:-1]:
        described = _describe(source, fact, described)
    text = chain[-1].relation.ask.format(x=described)
    return _draft(source, text, chain[-1].answers, chain, (chain[0].subject.bare,), multi_hop=len(chain) > 1)


def _describe(source: QuestionSource, fact: Fact, subject: str) -> str:
    """The value of a fact without its name: `the town where Jorun Askeby was born`."""
    led = facts_of(source).subjects.all.get(fact.leads_to)
    described = fact.relation.describe.format(x=subject)
    if led is not None and led.type in _PLACES:
        return described.replace("the place where ", f"the {led.type} where ", 1)
    return described


def _draft(
    source: QuestionSource,
    text: str,
    answers: Iterable[str],
    facts: Sequence[Fact],
    names: tuple[str, ...],
    *,
    choice: bool = False,
    multi_hop: bool = False,
    note: str = "",
) -> QuestionDraft:
    """A question that rests on facts, each of which has to be the only one of its kind."""
    support = tuple(source.support_of(fact.chunk, fact.quote) for fact in facts)
    ids, accepted = tuple(fact.id for fact in facts), tuple(dict.fromkeys(answers))
    return QuestionDraft(text, accepted, support, "", names, ids, ids, choice=choice, multi_hop=multi_hop, note=note)


# Which came first?


def comparison(source: QuestionSource, random: Random) -> QuestionDraft:
    """Two subjects of one type and the same sort of date: which came first?"""
    dated = source.once("comparable", lambda: [
        facts for _, facts in sorted(facts_of(source).stating.items())
        if len(facts) > 1 and facts[0].relation.sort == "date" and facts[0].relation.state
    ])  # fmt: skip
    draft = _compared(source, *random.sample(random.choice(dated), 2)) if dated else None
    if draft is None:
        raise NothingToAsk
    return draft


def _compared(source: QuestionSource, one: Fact, other: Fact) -> QuestionDraft | None:
    """`Who was born first, A or B?`; None where the two cannot be compared: of other sorts, or of one year."""
    subjects, dates = (one.subject, other.subject), (date_of(one.value), date_of(other.value))
    alike = subjects[0].group == subjects[1].group or subjects[0].kind == subjects[1].kind == "person"
    if not alike or one.subject.id == other.subject.id or one.relation.name != other.relation.name:
        return None
    if dates[0] is None or dates[1] is None or dates[0].year == dates[1].year:
        return None
    first = subjects[0 if dates[0] < dates[1] else 1]
    who = "Who" if first.kind == "person" else "Which"
    happened = one.relation.state.removesuffix(" {v}")
    earlier = "earlier" if "first" in happened else "first"
    text = f"{who} {happened} {earlier}, {subjects[0].name} or {subjects[1].name}?"
    names = tuple(subject.bare for subject in subjects)
    answers = (first.name, first.bare)
    return _draft(source, text, answers, (one, other), names, choice=True, multi_hop=True, note="comparative")


# A question on facts of one context, made harder once: by reasoning, over several contexts, or by a comparison


def in_context(grouping: Grouping) -> Callable[[QuestionSource, Random], QuestionDraft]:
    """A drafter of questions on facts that a grouped context states."""

    def draft(source: QuestionSource, random: Random) -> QuestionDraft:
        facts = _stated_in(source, grouping(source, random))
        if not facts:
            raise NothingToAsk
        random.shuffle(facts)
        for way in drawn_ways(random, source.evolutions):
            evolved = next(_WAYS[way](source, facts), None) if way in _WAYS else None
            if evolved is not None:
                return replace(evolved, note=way)
        return replace(chained(source, (facts[0],)), note="not evolved")

    return draft


def _stated_in(source: QuestionSource, context: Sequence[SupportingChunk]) -> list[Fact]:
    """The facts that the sentences of a context state."""
    facts: dict[str, Fact] = {}
    for support in context:
        words = f" {plain_words(support.quote or support.text)} "
        stated = facts_of(source).in_chunk.get(support.chunk, ())
        facts |= {fact.id: fact for fact in stated if f" {plain_words(fact.quote)} " in words}
    return list(facts.values())


def _reasoning(source: QuestionSource, facts: list[Fact]) -> Iterator[QuestionDraft]:
    """One of the facts, its subject described by another that leads to it."""
    leading = source.once("leading", lambda: grouped(facts_of(source).every, lambda fact: fact.leads_to))
    for fact in facts:
        for before in leading.get(fact.subject.id, []):
            if before.document != fact.document and before.subject.id != fact.leads_to:
                yield chained(source, (before, fact))


def _comparative(source: QuestionSource, facts: list[Fact]) -> Iterator[QuestionDraft]:
    pairs = list(combinations((fact for fact in facts if fact.relation.state), 2))[:_MAX_PAIRS]
    return filter(None, (_compared(source, *pair) for pair in pairs))


_WAYS: dict[str, Callable[[QuestionSource, list[Fact]], Iterator[QuestionDraft]]] = {
    "reasoning": _reasoning,
    "comparative": _comparative,
}


def _which(subject: Subject) -> str:
    """`Who` of people, `Which film` of what has a type that is a plain word, else nothing."""
    if subject.kind == "person":
        return "Who"
    return f"Which {subject.type}" if subject.type in COARSE and subject.kind else ""


def _state(fact: Fact) -> str:
    """What is true of its subject: `was born on 9 June 1801`."""
    date = date_of(fact.value) if fact.relation.sort == "date" else None
    value = f"{'on' if date.day else 'in'} {fact.value}" if date is not None else fact.value
    return fact.relation.state.format(v=value)


# Questions that the corpus does not answer. Each is left out by `verify` if any document that has the name also has a
# word with which the answer could be stated.


def swapped(source: QuestionSource, random: Random) -> QuestionDraft:
    """A fact asked of another subject of the same type, of which nothing of the sort is stated."""
    stating = {name: facts for name, facts in sorted(facts_of(source).stating.items()) if facts[0].relation.cues}
    if not stating:
        raise NothingToAsk
    fact = random.choice(stating[random.choice(list(stating))])
    if not fact.subject.kind or fact.subject.type in _LOOSE_TYPES:
        raise NothingToAsk
    groups = source.once("groups", lambda: grouped(
        facts_of(source).subjects.all.values(), lambda subject: (subject.group, subject.kind)
    ))  # fmt: skip
    same = [one for one in groups[fact.subject.group, fact.subject.kind] if one.id != fact.subject.id]
    for subject in (random.choice(same) for _ in range(_TRIES if same else 0)):
        if _silent(source, subject.id, fact.relation, subject.bare):
            absent = ((subject.bare, fact.relation.cues),)
            text, path = fact.relation.ask.format(x=subject.name), (fact.id, subject.id)
            return null(text, names=(subject.bare,), path=path, absent=absent, note="entity swapped")
    raise NothingToAsk


def removed(source: QuestionSource, random: Random) -> QuestionDraft:
    """A chain whose last fact is missing: the bridge is in the corpus, what is asked of it is not."""
    bridges = source.once("bridges", lambda: [
        fact for fact in facts_of(source).every
        if fact.relation.describe and " " in fact.value and fact.id in facts_of(source).sure
    ])  # fmt: skip
    for fact in (random.choice(bridges) for _ in range(_TRIES if bridges else 0)):
        led = facts_of(source).subjects.all.get(fact.leads_to)
        if led is None and (fact.relation.sort != "person" or not fact.relation.cues):
            continue  # a firm may publish, and has no mother
        if led is None or led.kind == "person":
            relation = RELATIONS[random.choice(_OF_PEOPLE)]
        else:
            relation = random.choice(facts_of(source).stating[random.choice(sorted(facts_of(source).stating))]).relation
            if not any(one.subject.group == led.group for one in facts_of(source).stating[relation.name]):
                continue
        names = (fact.value, fact.value.split(",")[0], *([led.bare] if led is not None else []))
        if relation.cues and all(_silent(source, fact.leads_to, relation, name) for name in names):
            text = relation.ask.format(x=_describe(source, fact, fact.subject.name))
            absent, path = tuple((name, relation.cues) for name in names), (fact.id, relation.name)
            return null(text, names=(fact.subject.bare,), path=path, absent=absent, note="fact removed")
    raise NothingToAsk


def moved(source: QuestionSource, random: Random) -> QuestionDraft:
    """A true statement with another date, which no document has, or no document with a word for what happened."""
    stating = {
        n: f for n, f in sorted(facts_of(source).stating.items()) if f[0].relation.sort == "date" and f[0].relation.cues
    }
    for _ in range(_TRIES if stating else 0):
        facts = stating[random.choice(list(stating))]
        fact = random.choice(facts)
        known, years = date_of(fact.value), [date.year for f in facts if (date := date_of(f.value)) is not None]
        if known is None or not fact.relation.state:
            continue
        year = known.year + random.choice((-1, 1)) * random.randint(_FAR, _FARTHEST)
        person = fact.subject.kind == "person"
        question = "" if person and not known.day else _which(fact.subject)  # a year alone does not say who is meant
        if not question or not min(*years, known.year - _FARTHEST // 2) <= year <= max(years):
            continue
        other = replace(fact, value=fact.value.replace(str(known.year), str(year)))
        # Of a day, or a life, no document may speak at all: it may stand in brackets, without a word for what happened.
        cues = ("",) if known.day or person else fact.relation.cues
        absent = tuple((form, cues) for form in written_forms(other.value))
        path = (fact.id, other.value)
        text = f"{question} {_state(other)}?"
        return null(text, names=(fact.subject.bare,), path=path, absent=absent, note="date moved")
    raise NothingToAsk


def _silent(source: QuestionSource, id: str, relation: Wording, name: str) -> bool:
    """Whether nothing of the sort is stated of a name. A date may stand without a word: `Ada Holm (1770–1841)`."""
    if any(fact.relation.name == relation.name for fact in facts_of(source).about.get(id, ())):
        return False
    if source.having(split_title(name)[0], beginning=relation.cues):
        return False
    if relation.sort != "date" and relation.name not in ("birth place", "death place"):
        return True
    texts = [source.texts[text].document.text for text in source.having(name)]
    texts += [source.texts[id].document.text[:_BESIDE]] if id else []
    beside = re.compile(rf"(?:^|{re.escape(name)})[^\n]{{0,{_BESIDE}}}?\b\d{{3,4}}\b")
    return not any(beside.search(text) for text in texts)


# Of sentences about entities: an answer is what they say, word for word. A sentence must be about its entity and
# understood alone.


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
                question = _who_or_what(source, called, sentence, *parts) if called else ""
                if question:
                    support = (source.support(piece, sentence),)
                    found[fold(name)] = QuestionDraft(question, (what,), support, names=(name,), path=(fold(name),))
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
    named = shown(source, entity.name, support[0].quote)
    return _from_sentences(random.choice(SUMMARIES).format(x=named), tuple(support), (named,), (entity.id,))


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
