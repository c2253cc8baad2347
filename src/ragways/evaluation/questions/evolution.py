"""A question made harder once: by reasoning, over several contexts, or by a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.comparisons import compared
from ragways.evaluation.questions.draft import NO_MATERIAL, Draft, Nothing, Support
from ragways.evaluation.questions.fact import Fact
from ragways.evaluation.questions.groupings import Grouping
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.templates import chained, direct, inverse

WEIGHTS = {"reasoning": 0.4, "multi-context": 0.4, "comparative": 0.2}
"""How a question is evolved, with the share of each."""
_MOST_PAIRS = 200


def drawn(random: Random) -> list[str]:
    """The ways in the order in which they are tried: drawn by weight, without putting back."""
    left, order = dict(WEIGHTS), []
    while left:
        way = random.choices(list(left), list(left.values()))[0]
        order.append(way)
        del left[way]
    return order


def grouped(grouping: Grouping) -> Callable[[Material, Random], Draft]:
    """A drafter, without a model, of questions on facts that a context states."""

    def draft(material: Material, random: Random) -> Draft:
        facts = stated_in(material, grouping(material, random))
        if not facts:
            raise Nothing(NO_MATERIAL)
        random.shuffle(facts)
        for way in drawn(random):
            evolved = _WAYS[way](material, facts)
            if evolved is not None:
                return replace(evolved, note=way)
        return replace(direct(material, facts[0]), note="not evolved")

    return draft


def stated_in(material: Material, context: Sequence[Support]) -> list[Fact]:
    """The facts that the sentences of a context state."""
    found: dict[str, Fact] = {}
    for support in context:
        words = f" {plain_words(support.quote or support.text)} "
        for fact in material.facts.in_chunk.get(support.chunk, ()):
            if f" {plain_words(fact.quote)} " in words:
                found.setdefault(fact.id, fact)
    return list(found.values())


def _reasoning(material: Material, facts: list[Fact]) -> Draft | None:
    """One of the facts, its subject described by another that leads to it."""
    for fact in facts:
        for before in material.leading_to(fact.subject.id):
            if before.document != fact.document and before.subject.id != fact.leads_to:
                return chained(material, (before, fact))
    return None


def _multi_context(material: Material, facts: list[Fact]) -> Draft | None:
    """A subject from two things that are said of it in different places."""
    for one, other in list(combinations(facts, 2))[:_MOST_PAIRS]:
        if one.subject.id == other.subject.id and one.quote != other.quote:
            drafted = inverse(material, (one, other))
            if drafted is not None:
                return drafted
    return None


def _comparative(material: Material, facts: list[Fact]) -> Draft | None:
    for one, other in list(combinations(facts, 2))[:_MOST_PAIRS]:
        if one.wording.name == other.wording.name and one.wording.happened:
            drafted = compared(material, one, other)
            if drafted is not None:
                return drafted
    return None


_WAYS: dict[str, Callable[[Material, list[Fact]], Draft | None]] = {
    "reasoning": _reasoning,
    "multi-context": _multi_context,
    "comparative": _comparative,
}
