"""Questions from facts, by templates: of one fact, of a chain of facts, of two dates, and of facts of one context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.corpus import Subject
from ragways.evaluation.questions.draft import NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.facts import Fact, written_forms
from ragways.evaluation.questions.groupings import Grouping
from ragways.evaluation.questions.source import Chain, QuestionSource
from ragways.evaluation.questions.wordings import date_of
from ragways.layers.graph.names import COARSE

_PLACES_WORDS = "town city village island country county district suburb region province"
_PLACES = frozenset(_PLACES_WORDS.split())
INVERSE = 0.2
"""Of factual questions, the share that gives the value and asks for the subject."""
BRIDGED = 0.4
"""Of comparisons, the share that compares what two chains lead to, where the corpus has such chains."""
_MAX_PAIRS = 200


def factual(source: QuestionSource, random: Random) -> QuestionDraft:
    """A fact of a random chunk."""
    facts = source.facts.in_chunk.get(source.chunk(random).id, [])
    if not facts:
        raise NothingToAsk
    fact = random.choice(facts)
    if random.random() < INVERSE and (asked := inverse(source, (fact,))) is not None:
        return asked
    return direct(source, fact)


def direct(source: QuestionSource, fact: Fact) -> QuestionDraft:
    """`When was the Osker Viaduct opened?`"""
    return chained(source, (fact,))


def reasoning(hops: int) -> Callable[[QuestionSource, Random], QuestionDraft]:
    """A drafter of questions over so many documents: a random chain, the same chance for every row of relations."""

    def draft(source: QuestionSource, random: Random) -> QuestionDraft:
        chains = source.chains(hops)
        if not chains:
            raise NothingToAsk
        return chained(source, random.choice(chains[random.choice(list(chains))]))

    return draft


def chained(source: QuestionSource, chain: Chain) -> QuestionDraft:
    """The last fact, its subject described by the one before, and so on: only the first is named."""
    first, last = chain[0], chain[-1]
    described = first.subject.name
    for fact in chain[:-1]:
        described = describe(source, fact, described)
    text = last.wording.ask.format(x=described)
    return source.draft(text, last.answers, chain, (first.subject.bare,), multi_hop=len(chain) > 1)


def describe(source: QuestionSource, fact: Fact, subject: str) -> str:
    """What a fact leads to, without its name: `the town where Jorun Askeby was born`."""
    led = source.subjects.all.get(fact.leads_to)
    described = fact.wording.describe.format(x=subject)
    if led is not None and led.type in _PLACES:
        return described.replace("the place where ", f"the {led.type} where ", 1)
    return described


def inverse(source: QuestionSource, facts: tuple[Fact, ...]) -> QuestionDraft | None:
    """`Which bridge was designed by Lucan Ferrimore and opened on 22 May 1868?`: the subject from what is true of it.

    None unless exactly one subject fits: no other fact, and no other document that holds the values and speaks so.
    """
    subject, states = facts[0].subject, {fact.wording.state for fact in facts}
    asked = which(subject.type, subject.kind)
    if asked is None or "" in states or len(states) < len(facts):
        return None
    if not (_alone(source, facts[0]) if len(facts) == 1 else _alone_together(source, facts)):
        return None
    if len(facts) > 1 and any(len(_said_of(source, fact)) < 2 for fact in facts):
        return None  # one of them would do
    answers = (subject.bare,) if subject.name.endswith(subject.bare) else (subject.name, subject.bare)
    text = f"{asked} {stated(source, *facts)}?"
    return source.draft(text, answers, facts, tuple(fact.value for fact in facts), note="inverse")


def which(type: str, kind: str) -> str | None:
    """`Who` of people, `Which film` of what has a type that is a plain word, else nothing."""
    if kind == "person":
        return "Who"
    return f"Which {type}" if type in COARSE and kind not in ("", "date", "quantity") else None


def stated(source: QuestionSource, *facts: Fact) -> str:
    """What is true, in words: `died in Quillhaven on 6 July 1976`. What shares a verb is said once, dates last."""
    by_verb: dict[str, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: fact.wording.sort == "date"):
        verb, joined = fact.wording.parts
        date = date_of(fact.value) if fact.wording.sort == "date" else None
        named = source.subjects.all.get(fact.leads_to)
        value = named.name if named is not None and "," not in fact.value else fact.value
        by_verb.setdefault(verb, []).append(joined.format(**{"v": value, "in": "on" if date and date.day else "in"}))
    return " and ".join(f"{verb} {' '.join(values)}" for verb, values in by_verb.items())


def _alone(source: QuestionSource, fact: Fact) -> bool:
    """No other subject of which the same is said, by a fact or by any document with the value and a word for it."""
    date = date_of(fact.value) if fact.wording.sort == "date" else None
    if date is None or not date.day:
        return False  # of a place, a year or an author's works there is more to say than an index knows
    same = [f for f in source.facts.saying[fact.wording.name] if set(f.answers) & set(fact.answers)]
    if len(same) != 1:
        return False
    # A day may stand without a word for what happened on it, in brackets after a name.
    speaking = {text.id for form in written_forms(fact.value) for text in source.texts.speaking(form, ("",))}
    return speaking <= {fact.subject.id, fact.document}


def _alone_together(source: QuestionSource, facts: tuple[Fact, ...]) -> bool:
    ids = [_said_of(source, fact) for fact in facts]
    holding = {text.id for text in source.texts.holding(*(fact.value for fact in facts))}
    return set.intersection(*ids) == {facts[0].subject.id} and holding <= {facts[0].subject.id}


def _said_of(source: QuestionSource, fact: Fact) -> set[str]:
    """The subjects of which a fact says the same."""
    return {f.subject.id for f in source.facts.saying[fact.wording.name] if set(f.answers) & set(fact.answers)}


# Which came first? Questions that list their answers


def comparison(source: QuestionSource, random: Random) -> QuestionDraft:
    """Two subjects of one type and the same sort of date: which came first?"""
    if random.random() < BRIDGED and (draft := _bridged(source, random)) is not None:
        return draft
    dated = source.once("comparable", lambda: _comparable(source))
    draft = compared(source, *random.sample(random.choice(dated), 2)) if dated else None
    if draft is None:
        raise NothingToAsk
    return draft


def _comparable(source: QuestionSource) -> list[list[Fact]]:
    """Dates of one sort, where there are several."""
    return [
        facts
        for _, facts in sorted(source.facts.saying.items())
        if len(facts) > 1 and facts[0].wording.sort == "date" and facts[0].wording.happened
    ]


def _bridged(source: QuestionSource, random: Random) -> QuestionDraft | None:
    """`Which film has the director who was born first, A or B?`: a comparison at the end of two chains."""
    rows = [
        chains
        for chains in source.chains(2).values()
        if len(chains) > 1 and chains[0][-1].wording.happened and chains[0][0].wording.sort == "person"
    ]
    if not rows:
        return None
    one, other = random.sample(random.choice(rows), 2)
    subjects, first = (one[0].subject, other[0].subject), _first(one[-1], other[-1])
    type = subjects[0].type
    if first is None or type != subjects[1].type or COARSE.get(type) not in ("work", "place", "vehicle"):
        return None
    noun = one[0].wording.describe.removesuffix(" of {x}")
    text = f"Which {type} has {noun} who {one[-1].wording.first}, {subjects[0].name} or {subjects[1].name}?"
    return _choice(source, text, subjects, first, (*one, *other), "comparative over bridges")


def compared(source: QuestionSource, one: Fact, other: Fact) -> QuestionDraft | None:
    """`Who was born first, A or B?`; None where the two cannot be compared: of other sorts, or of one year."""
    subjects, first = (one.subject, other.subject), _first(one, other)
    alike = subjects[0].group == subjects[1].group or subjects[0].kind == subjects[1].kind == "person"
    if first is None or not alike:
        return None
    who = "Who" if subjects[0].kind == "person" else "Which"
    text = f"{who} {one.wording.first}, {subjects[0].name} or {subjects[1].name}?"
    return _choice(source, text, subjects, first, (one, other), "comparative")


def _first(one: Fact, other: Fact) -> int | None:
    """Which of two dates is the earlier, 0 or 1; None of one subject, of other events or within a year."""
    dates = date_of(one.value), date_of(other.value)
    if one.subject.id == other.subject.id or one.wording.happened != other.wording.happened:
        return None
    if dates[0] is None or dates[1] is None or dates[0].year == dates[1].year:
        return None
    return 0 if dates[0] < dates[1] else 1


def _choice(
    source: QuestionSource, text: str, subjects: tuple[Subject, ...], first: int, facts: Sequence[Fact], note: str
) -> QuestionDraft:
    answers, names = (subjects[first].name, subjects[first].bare), tuple(subject.bare for subject in subjects)
    return source.draft(text, answers, facts, names, choice=True, multi_hop=True, note=note)


# A question made harder once: by reasoning, over several contexts, or by a comparison


def drawn_ways(random: Random, shares: Mapping[str, float]) -> list[str]:
    """The ways to make a question harder, in the order they are tried: drawn by their shares, without putting back."""
    left, order = dict(shares), list[str]()
    while left:
        way = random.choices(list(left), list(left.values()))[0]
        order.append(way)
        del left[way]
    return order


def grouped(grouping: Grouping) -> Callable[[QuestionSource, Random], QuestionDraft]:
    """A drafter, without a model, of questions on facts that a context states."""

    def draft(source: QuestionSource, random: Random) -> QuestionDraft:
        facts = stated_in(source, grouping(source, random))
        if not facts:
            raise NothingToAsk
        random.shuffle(facts)
        for way in drawn_ways(random, source.evolutions):
            evolved = _WAYS[way](source, facts)
            if evolved is not None:
                return replace(evolved, note=way)
        return replace(direct(source, facts[0]), note="not evolved")

    return draft


def stated_in(source: QuestionSource, context: Sequence[SupportingChunk]) -> list[Fact]:
    """The facts that the sentences of a context state."""
    facts: dict[str, Fact] = {}
    for support in context:
        words = f" {plain_words(support.quote or support.text)} "
        for fact in source.facts.in_chunk.get(support.chunk, ()):
            if f" {plain_words(fact.quote)} " in words:
                facts.setdefault(fact.id, fact)
    return list(facts.values())


def _reasoning(source: QuestionSource, facts: list[Fact]) -> QuestionDraft | None:
    """One of the facts, its subject described by another that leads to it."""
    for fact in facts:
        for before in source.leading_to(fact.subject.id):
            if before.document != fact.document and before.subject.id != fact.leads_to:
                return chained(source, (before, fact))
    return None


def _multi_context(source: QuestionSource, facts: list[Fact]) -> QuestionDraft | None:
    """A subject from two things that are said of it in different places."""
    pairs = (
        pair for pair in _pairs(facts) if pair[0].subject.id == pair[1].subject.id and pair[0].quote != pair[1].quote
    )
    return next((draft for pair in pairs if (draft := inverse(source, pair)) is not None), None)


def _comparative(source: QuestionSource, facts: list[Fact]) -> QuestionDraft | None:
    pairs = (
        pair for pair in _pairs(facts) if pair[0].wording.name == pair[1].wording.name and pair[0].wording.happened
    )
    return next((draft for pair in pairs if (draft := compared(source, *pair)) is not None), None)


def _pairs(facts: list[Fact]) -> list[tuple[Fact, Fact]]:
    return list(combinations(facts, 2))[:_MAX_PAIRS]


_WAYS: dict[str, Callable[[QuestionSource, list[Fact]], QuestionDraft | None]] = {
    "reasoning": _reasoning,
    "multi-context": _multi_context,
    "comparative": _comparative,
}
