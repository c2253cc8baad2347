"""Questions from facts, by templates: of one fact, of a chain of facts, of two dates."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ragways.evaluation.questions.draft import NO_MATERIAL, Draft, Nothing
from ragways.evaluation.questions.fact import Fact
from ragways.evaluation.questions.material import Chain, Material
from ragways.evaluation.questions.names import forms, moment
from ragways.index.graph.names import COARSE

_PLACES_WORDS = "town city village island country county district suburb region province"
_PLACES = frozenset(_PLACES_WORDS.split())
INVERSE = 0.2
"""Of factual questions, the share that gives the value and asks for the subject."""


def factual(material: Material, random: Random) -> Draft:
    """A fact of a random chunk."""
    facts = material.facts.in_chunk.get(material.chunk(random).id, [])
    if not facts:
        raise Nothing(NO_MATERIAL)
    fact = random.choice(facts)
    if random.random() < INVERSE and (asked := inverse(material, (fact,))) is not None:
        return asked
    return direct(material, fact)


def direct(material: Material, fact: Fact) -> Draft:
    """`When was the Osker Viaduct opened?`"""
    return chained(material, (fact,))


def reasoning(hops: int) -> Callable[[Material, Random], Draft]:
    """A drafter of questions over so many documents: a random chain, the same chance for every row of relations."""

    def draft(material: Material, random: Random) -> Draft:
        chains = material.chains(hops)
        if not chains:
            raise Nothing(NO_MATERIAL)
        return chained(material, random.choice(chains[random.choice(list(chains))]))

    return draft


def chained(material: Material, chain: Chain) -> Draft:
    """The last fact, its subject described by the one before, and so on: only the first is named."""
    first, last = chain[0], chain[-1]
    described = first.subject.name
    for fact in chain[:-1]:
        described = describe(material, fact, described)
    return Draft(
        last.wording.ask.format(x=described),
        last.answers,
        tuple(material.support_of(fact.chunk, fact.quote) for fact in chain),
        names=(first.subject.bare,),
        path=tuple(fact.id for fact in chain),
        checked=tuple(fact.id for fact in chain),
        multi_hop=len(chain) > 1,
    )


def describe(material: Material, fact: Fact, subject: str) -> str:
    """What a fact leads to, without its name: `the town where Jorun Askeby was born`."""
    led = material.subjects.all.get(fact.leads_to)
    described = fact.wording.describe.format(x=subject)
    if led is not None and led.type in _PLACES:
        return described.replace("the place where ", f"the {led.type} where ", 1)
    return described


def inverse(material: Material, facts: tuple[Fact, ...]) -> Draft | None:
    """`Which bridge was designed by Lucan Ferrimore and opened on 22 May 1868?`: the subject from what is true of it.

    None unless exactly one subject fits: no other fact, and no other document that holds the values and speaks so.
    """
    subject = facts[0].subject
    if not all(fact.wording.state for fact in facts) or len({fact.wording.state for fact in facts}) < len(facts):
        return None
    asked = which(subject.type, subject.kind)
    if len(facts) == 1 and facts[0].wording.sort not in ("person", "date"):
        return None  # of a place there is more to say than an index knows
    if asked is None or (not all(_alone(material, fact) for fact in facts[:1]) and len(facts) == 1):
        return None
    if len(facts) > 1 and not _alone_together(material, facts):
        return None
    return Draft(
        f"{asked} {stated(material, *facts)}?",
        (subject.bare,) if subject.name.endswith(subject.bare) else (subject.name, subject.bare),
        tuple(material.support_of(fact.chunk, fact.quote) for fact in facts),
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


def stated(material: Material, *facts: Fact) -> str:
    """What is true, in words: `died in Quillhaven on 6 July 1976`. What shares a verb is said once, dates last."""
    said: dict[str, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: fact.wording.sort == "date"):
        verb, joined = fact.wording.parts
        date = moment(fact.value) if fact.wording.sort == "date" else None
        named = material.subjects.all.get(fact.leads_to)
        value = named.name if named is not None and "," not in fact.value else fact.value
        said.setdefault(verb, []).append(joined.format(**{"v": value, "in": "on" if date and date[2] else "in"}))
    return " and ".join(f"{verb} {' '.join(values)}" for verb, values in said.items())


def _alone(material: Material, fact: Fact) -> bool:
    """No other subject of which the same is said, by a fact or by any document with the value and a word for it."""
    same = [f for f in material.facts.saying[fact.wording.name] if set(f.answers) & set(fact.answers)]
    if len(same) != 1:
        return False
    # A day may stand without a word for what happened on it, in brackets after a name.
    cues = ("",) if fact.wording.sort == "date" else fact.wording.cues
    speaking = {text.id for form in forms(fact.value) for text in material.texts.speaking(form, cues)}
    return speaking <= {fact.subject.id, fact.document}


def _alone_together(material: Material, facts: tuple[Fact, ...]) -> bool:
    ids = [
        {f.subject.id for f in material.facts.saying[fact.wording.name] if set(f.answers) & set(fact.answers)}
        for fact in facts
    ]
    holding = {text.id for text in material.texts.holding(*(fact.value for fact in facts))}
    return set.intersection(*ids) == {facts[0].subject.id} and holding <= {facts[0].subject.id}
