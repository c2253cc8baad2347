"""Questions from facts, by templates: of one fact, of a chain of facts, of two dates, and of facts of one context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.draft import NO_MATERIAL, NothingToAsk, QuestionDraft, SupportingChunk
from ragways.evaluation.questions.facts import Fact, written_forms
from ragways.evaluation.questions.groupings import Grouping
from ragways.evaluation.questions.source import Chain, QuestionSource
from ragways.evaluation.questions.wordings import date_of
from ragways.index.graph.names import COARSE

_PLACES_WORDS = "town city village island country county district suburb region province"
_PLACES = frozenset(_PLACES_WORDS.split())
INVERSE = 0.2
"""Of factual questions, the share that gives the value and asks for the subject."""
BRIDGED = 0.4
"""Of comparisons, the share that compares what two chains lead to, where the corpus has such chains."""
WEIGHTS = {"reasoning": 0.4, "multi-context": 0.4, "comparative": 0.2}
"""How a question is evolved, with the share of each."""
_MOST_PAIRS = 200


def factual(source: QuestionSource, random: Random) -> QuestionDraft:
    """A fact of a random chunk."""
    facts = source.facts.in_chunk.get(source.chunk(random).id, [])
    if not facts:
        raise NothingToAsk(NO_MATERIAL)
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
            raise NothingToAsk(NO_MATERIAL)
        return chained(source, random.choice(chains[random.choice(list(chains))]))

    return draft


def chained(source: QuestionSource, chain: Chain) -> QuestionDraft:
    """The last fact, its subject described by the one before, and so on: only the first is named."""
    first, last = chain[0], chain[-1]
    described = first.subject.name
    for fact in chain[:-1]:
        described = describe(source, fact, described)
    return QuestionDraft(
        last.wording.ask.format(x=described),
        last.answers,
        tuple(source.support_of(fact.chunk, fact.quote) for fact in chain),
        names=(first.subject.bare,),
        path=tuple(fact.id for fact in chain),
        checked=tuple(fact.id for fact in chain),
        multi_hop=len(chain) > 1,
    )


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
    subject = facts[0].subject
    if not all(fact.wording.state for fact in facts) or len({fact.wording.state for fact in facts}) < len(facts):
        return None
    asked = which(subject.type, subject.kind)
    if len(facts) == 1 and facts[0].wording.sort not in ("person", "date"):
        return None  # of a place there is more to say than an index knows
    if asked is None or (not all(_alone(source, fact) for fact in facts[:1]) and len(facts) == 1):
        return None
    if len(facts) > 1 and not _alone_together(source, facts):
        return None
    return QuestionDraft(
        f"{asked} {stated(source, *facts)}?",
        (subject.bare,) if subject.name.endswith(subject.bare) else (subject.name, subject.bare),
        tuple(source.support_of(fact.chunk, fact.quote) for fact in facts),
        names=tuple(fact.value for fact in facts),
        path=tuple(fact.id for fact in facts),
        checked=tuple(fact.id for fact in facts),
        note="inverse",
    )


def which(type: str, kind: str) -> str | None:
    """`Who` of people, `Which film` of what has a type that is a plain word, else nothing."""
    if kind == "person":
        return "Who"
    return f"Which {type}" if type in COARSE and kind not in ("", "date", "quantity") else None


def stated(source: QuestionSource, *facts: Fact) -> str:
    """What is true, in words: `died in Quillhaven on 6 July 1976`. What shares a verb is said once, dates last."""
    said: dict[str, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: fact.wording.sort == "date"):
        verb, joined = fact.wording.parts
        date = date_of(fact.value) if fact.wording.sort == "date" else None
        named = source.subjects.all.get(fact.leads_to)
        value = named.name if named is not None and "," not in fact.value else fact.value
        said.setdefault(verb, []).append(joined.format(**{"v": value, "in": "on" if date and date.day else "in"}))
    return " and ".join(f"{verb} {' '.join(values)}" for verb, values in said.items())


def _alone(source: QuestionSource, fact: Fact) -> bool:
    """No other subject of which the same is said, by a fact or by any document with the value and a word for it."""
    same = [f for f in source.facts.saying[fact.wording.name] if set(f.answers) & set(fact.answers)]
    if len(same) != 1:
        return False
    # A day may stand without a word for what happened on it, in brackets after a name.
    cues = ("",) if fact.wording.sort == "date" else fact.wording.cues
    speaking = {text.id for form in written_forms(fact.value) for text in source.texts.speaking(form, cues)}
    return speaking <= {fact.subject.id, fact.document}


def _alone_together(source: QuestionSource, facts: tuple[Fact, ...]) -> bool:
    ids = [
        {f.subject.id for f in source.facts.saying[fact.wording.name] if set(f.answers) & set(fact.answers)}
        for fact in facts
    ]
    holding = {text.id for text in source.texts.holding(*(fact.value for fact in facts))}
    return set.intersection(*ids) == {facts[0].subject.id} and holding <= {facts[0].subject.id}


# Which came first? Questions that list their answers


def comparison(source: QuestionSource, random: Random) -> QuestionDraft:
    """Two subjects of one type and the same sort of date: which came first?"""
    if random.random() < BRIDGED and (drafted := _bridged(source, random)) is not None:
        return drafted
    dated = source.once("comparable", lambda: _comparable(source))
    if not dated:
        raise NothingToAsk(NO_MATERIAL)
    facts = random.choice(dated)
    one, other = random.sample(facts, 2)
    drafted = compared(source, one, other)
    if drafted is None:
        raise NothingToAsk(NO_MATERIAL)
    return drafted


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
        row
        for row, chains in source.chains(2).items()
        if len(chains) > 1 and chains[0][-1].wording.happened and chains[0][0].wording.sort == "person"
    ]
    if not rows:
        return None
    one, other = random.sample(source.chains(2)[random.choice(rows)], 2)
    type, ends = one[0].subject.type, (one[-1], other[-1])
    first, second = date_of(ends[0].value), date_of(ends[1].value)
    if (
        type != other[0].subject.type
        or COARSE.get(type) not in ("work", "place", "vehicle")
        or ends[0].subject.id == ends[1].subject.id
    ):
        return None
    if (
        first is None
        or second is None
        or first.year == second.year
        or ends[0].wording.happened != ends[1].wording.happened
    ):
        return None
    names, noun = (one[0].subject, other[0].subject), one[0].wording.describe.removesuffix(" of {x}")
    earlier = names[0] if first < second else names[1]
    facts = (*one, *other)
    return QuestionDraft(
        f"Which {type} has {noun} who {ends[0].wording.first}, {names[0].name} or {names[1].name}?",
        tuple(dict.fromkeys((earlier.name, earlier.bare))),
        tuple(source.support_of(fact.chunk, fact.quote) for fact in facts),
        names=tuple(subject.bare for subject in names),
        path=tuple(fact.id for fact in facts),
        checked=tuple(fact.id for fact in facts),
        choice=True,
        note="comparative over bridges",
    )


def compared(source: QuestionSource, one: Fact, other: Fact) -> QuestionDraft | None:
    """None where the two cannot be compared: of other sorts, the same thing, or one within the other's year."""
    first, second = date_of(one.value), date_of(other.value)
    alike = one.subject.group == other.subject.group or one.subject.kind == other.subject.kind == "person"
    same = alike and one.wording.happened == other.wording.happened
    if not same or one.subject.id == other.subject.id or first is None or second is None or first.year == second.year:
        return None
    earlier = one if first < second else other
    who = "Who" if one.subject.kind == "person" else "Which"
    return QuestionDraft(
        f"{who} {one.wording.first}, {one.subject.name} or {other.subject.name}?",
        tuple(dict.fromkeys((earlier.subject.name, earlier.subject.bare))),
        tuple(source.support_of(fact.chunk, fact.quote) for fact in (one, other)),
        names=(one.subject.bare, other.subject.bare),
        path=(one.id, other.id),
        checked=(one.id, other.id),
        choice=True,
        note="comparative",
    )


# A question made harder once: by reasoning, over several contexts, or by a comparison


def drawn(random: Random) -> list[str]:
    """The ways in the order in which they are tried: drawn by weight, without putting back."""
    left, order = dict(WEIGHTS), []
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
            raise NothingToAsk(NO_MATERIAL)
        random.shuffle(facts)
        for way in drawn(random):
            evolved = _WAYS[way](source, facts)
            if evolved is not None:
                return replace(evolved, note=way)
        return replace(direct(source, facts[0]), note="not evolved")

    return draft


def stated_in(source: QuestionSource, context: Sequence[SupportingChunk]) -> list[Fact]:
    """The facts that the sentences of a context state."""
    found: dict[str, Fact] = {}
    for support in context:
        words = f" {plain_words(support.quote or support.text)} "
        for fact in source.facts.in_chunk.get(support.chunk, ()):
            if f" {plain_words(fact.quote)} " in words:
                found.setdefault(fact.id, fact)
    return list(found.values())


def _reasoning(source: QuestionSource, facts: list[Fact]) -> QuestionDraft | None:
    """One of the facts, its subject described by another that leads to it."""
    for fact in facts:
        for before in source.leading_to(fact.subject.id):
            if before.document != fact.document and before.subject.id != fact.leads_to:
                return chained(source, (before, fact))
    return None


def _multi_context(source: QuestionSource, facts: list[Fact]) -> QuestionDraft | None:
    """A subject from two things that are said of it in different places."""
    for one, other in list(combinations(facts, 2))[:_MOST_PAIRS]:
        if one.subject.id == other.subject.id and one.quote != other.quote:
            drafted = inverse(source, (one, other))
            if drafted is not None:
                return drafted
    return None


def _comparative(source: QuestionSource, facts: list[Fact]) -> QuestionDraft | None:
    for one, other in list(combinations(facts, 2))[:_MOST_PAIRS]:
        if one.wording.name == other.wording.name and one.wording.happened:
            drafted = compared(source, one, other)
            if drafted is not None:
                return drafted
    return None


_WAYS: dict[str, Callable[[QuestionSource, list[Fact]], QuestionDraft | None]] = {
    "reasoning": _reasoning,
    "multi-context": _multi_context,
    "comparative": _comparative,
}
