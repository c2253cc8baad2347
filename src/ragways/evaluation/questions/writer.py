"""Questions written without a model, by the templates: of facts, of sentences about entities, and without an answer.

Each function draws one question at random. `NothingToAsk` says that the draw had none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import NothingToAsk, QuestionDraft, SupportingChunk, null
from ragways.evaluation.questions.draws import Grouping
from ragways.evaluation.questions.facts import Chain, Fact, Subject, facts_of, written_forms
from ragways.evaluation.questions.source import QuestionSource, drawn_ways, grouped
from ragways.evaluation.questions.templates import RELATIONS, Wording, date_of
from ragways.layers.graph.names import COARSE, split_title

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
        asked = "" if person and not known.day else _which(fact.subject)  # a year alone does not say who is meant
        if not asked or not min(*years, known.year - _FARTHEST // 2) <= year <= max(years):
            continue
        other = replace(fact, value=fact.value.replace(str(known.year), str(year)))
        # Of a day, or a life, no document may speak at all: it may stand in brackets, without a word for what happened.
        cues = ("",) if known.day or person else fact.relation.cues
        absent = tuple((form, cues) for form in written_forms(other.value))
        path = (fact.id, other.value)
        text = f"{asked} {_state(other)}?"
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
