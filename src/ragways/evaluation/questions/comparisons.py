"""Which came first? Questions that list their answers."""

from __future__ import annotations

from random import Random

from ragways.evaluation.questions.draft import NO_MATERIAL, Draft, Nothing
from ragways.evaluation.questions.fact import Fact
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.names import moment
from ragways.index.graph.names import COARSE

BRIDGED = 0.4
"""Of comparisons, the share that compares what two chains lead to, where the corpus has such chains."""


def comparison(material: Material, random: Random) -> Draft:
    """Two subjects of one type and the same sort of date: which came first?"""
    if random.random() < BRIDGED and (drafted := _bridged(material, random)) is not None:
        return drafted
    dated = material.once("comparable", lambda: _comparable(material))
    if not dated:
        raise Nothing(NO_MATERIAL)
    facts = random.choice(dated)
    one, other = random.sample(facts, 2)
    drafted = compared(material, one, other)
    if drafted is None:
        raise Nothing(NO_MATERIAL)
    return drafted


def _comparable(material: Material) -> list[list[Fact]]:
    """Dates of one sort, where there are several."""
    return [
        facts
        for _, facts in sorted(material.facts.saying.items())
        if len(facts) > 1 and facts[0].wording.sort == "date" and facts[0].wording.happened
    ]


def _bridged(material: Material, random: Random) -> Draft | None:
    """`Which film has the director who was born first, A or B?`: a comparison at the end of two chains."""
    rows = [
        row
        for row, chains in material.chains(2).items()
        if len(chains) > 1 and chains[0][-1].wording.happened and chains[0][0].wording.sort == "person"
    ]
    if not rows:
        return None
    one, other = random.sample(material.chains(2)[random.choice(rows)], 2)
    type, ends = one[0].subject.type, (one[-1], other[-1])
    first, second = moment(ends[0].value), moment(ends[1].value)
    if (
        type != other[0].subject.type
        or COARSE.get(type) not in ("work", "place", "vehicle")
        or ends[0].subject.id == ends[1].subject.id
    ):
        return None
    if first is None or second is None or first[0] == second[0] or ends[0].wording.happened != ends[1].wording.happened:
        return None
    names, noun = (one[0].subject, other[0].subject), one[0].wording.describe.removesuffix(" of {x}")
    earlier = names[0] if first < second else names[1]
    facts = (*one, *other)
    return Draft(
        f"Which {type} has {noun} who {ends[0].wording.first}, {names[0].name} or {names[1].name}?",
        tuple(dict.fromkeys((earlier.name, earlier.bare))),
        tuple(material.support_of(fact.chunk, fact.quote) for fact in facts),
        names=tuple(subject.bare for subject in names),
        path=tuple(fact.id for fact in facts),
        checked=tuple(fact.id for fact in facts),
        choice=True,
        note="comparative over bridges",
    )


def compared(material: Material, one: Fact, other: Fact) -> Draft | None:
    """None where the two cannot be compared: of other sorts, the same thing, or one within the other's year."""
    first, second = moment(one.value), moment(other.value)
    alike = one.subject.group == other.subject.group or one.subject.kind == other.subject.kind == "person"
    same = alike and one.wording.happened == other.wording.happened
    if not same or one.subject.id == other.subject.id or first is None or second is None or first[0] == second[0]:
        return None
    earlier = one if first < second else other
    who = "Who" if one.subject.kind == "person" else "Which"
    return Draft(
        f"{who} {one.wording.first}, {one.subject.name} or {other.subject.name}?",
        tuple(dict.fromkeys((earlier.subject.name, earlier.subject.bare))),
        tuple(material.support_of(fact.chunk, fact.quote) for fact in (one, other)),
        names=(one.subject.bare, other.subject.bare),
        path=(one.id, other.id),
        checked=(one.id, other.id),
        choice=True,
        note="comparative",
    )
