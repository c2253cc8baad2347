"""Comparison, yes or no, and counts, decided from what passages state: no language model, no guess.

For each thing that a question names, the passages about it are looked up, the relation is followed where there is one
(the director of the film), and rules find the attribute (`facts`); the reader runs only where rules fail.
What cannot be decided is None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragways.reading import facts
from ragways.reading.answers import PassageReader
from ragways.reading.claims import fits, listed_count, only_fit, stated
from ragways.reading.pages import FoundValue, Page, about, is_titled, name_key, short_form
from ragways.reading.questions import Option, ParsedQuestion, cuts, options, parse_question
from ragways.reading.values import countries, periods
from ragways.reading.windows import windows

MOST_PASSAGES: Final = 10
PASSES: Final = 4
"""Most runs of the reader."""
SHOWN: Final = 320
"""Characters of a passage that it is shown: with the question, about 100 tokens."""
SURE: Final = 1.0
"""The logit that a span of the reader must have against "not here"."""


@dataclass(frozen=True, slots=True)
class CitedFact:
    """What a sentence says: passage and sentence by number, from 0, the thing it is about, and the value as written."""

    passage: int
    sentence: int
    subject: str
    value: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A short answer (`yes`, `no`, an option in the question's words, or a number) and the facts that it rests on;
    `complete` where a fact was found for each thing that the question names.
    """

    answer: str
    facts: tuple[CitedFact, ...]
    complete: bool = True


async def compared(
    question: str, passages: Sequence[tuple[str, Sequence[str]]], reader: PassageReader
) -> Compared | None:
    """The answer to a question that compares, asks for yes or no, or counts; None where it is another kind of question,
    or where the passages do not decide it. Passages are titles with sentences, the best first.
    """
    what = parse_question(question)
    pages = [Page.of(at, *each) for at, each in enumerate(passages[:MOST_PASSAGES]) if each[1]]
    if not pages or what.form in ("list", "prose", "span"):
        return None
    if what.form == "count":
        return _of_one(listed_count(what.claim, pages))
    if what.form == "yes-no" and not what.options:
        return _of_one(stated(what.claim, pages))
    return await _Comparison(_resolved(what, pages), pages, reader).decided()


def _of_one(found: tuple[str, FoundValue, str] | None) -> Compared | None:
    if found is None:
        return None
    answer, value, subject = found
    return Compared(answer, (CitedFact(value.passage, value.sentence, subject, value.text),))


def _resolved(what: ParsedQuestion, pages: Sequence[Page]) -> ParsedQuestion:
    """The options cut as the titles of passages cut them, where a name holds "and", "or" or a comma."""
    relation = what.options[0].relation
    ways: list[tuple[str, ...]] = list(cuts(what.listed))
    several = tuple(re.split(r", (?:and |or )?| and | or ", what.listed))
    ways += [several] if len(several) > 2 else []
    known = [way for way in ways if all(is_titled(one.name, pages) for one in options(way, relation))]
    return replace(what, options=options(known[0], relation)) if known else what


@dataclass(frozen=True, slots=True)
class _Side:
    """An option, the thing that its relation leads to, the passages about that, and how it was led there."""

    option: Option
    name: str
    pages: tuple[Page, ...]
    way: tuple[CitedFact, ...] = ()


class _Comparison:
    """One question on its way to a decision; counts runs of the reader."""

    def __init__(self, what: ParsedQuestion, pages: Sequence[Page], reader: PassageReader) -> None:
        self.what, self.pages, self.reader, self.left = what, pages, reader, PASSES

    async def decided(self) -> Compared | None:
        sides = [await self._side(option) for option in self.what.options]
        if self.what.form == "both":
            return self._both(sides)
        if self.what.form == "same":
            return await self._same(sides)
        if not self.what.attribute:
            return self._fitting(sides)
        return await self._extreme(sides)

    async def _side(self, option: Option) -> _Side:
        """The passages about what counts: the option itself, or whom the relation leads to."""
        hint = "film" if option.relation in ("director", "screenwriter") else ""
        pages = about(option.name, self.pages, hint)
        if not option.relation:
            return _Side(option, option.name, tuple(pages))
        makers = [maker for page in pages[:2] for maker in facts.makers(page, option.relation)]
        if not makers and pages:
            makers = await self._read(_ASKED_MAKER.get(option.relation, _WHO_IS).format(option), pages[0])
        for maker in makers:
            rest = [page for page in self.pages if page not in pages]
            led = about(maker.text, rest, option.relation)
            if led := led or short_form(maker.text, rest, option.relation):
                return _Side(option, maker.text, tuple(led), (_cited(maker, option.name),))
        # The passage about the film may be missing: one about a director that names it will do.
        key = name_key(option.name)
        for page in self.pages if not makers else ():
            if page.key != key and option.relation in page.lead.casefold() and f" {key} " in name_key(page.text):
                return _Side(option, page.title, (page,))
        return _Side(option, option.name, ())

    async def _value(self, side: _Side) -> FoundValue | None:
        attribute = side.option.attribute or self.what.attribute
        if attribute == "lifespan":
            return _lifespan(side.pages)
        rules = facts.RULES.get(attribute, ())
        for rule in rules:
            found = next((value for page in side.pages[:3] if (value := rule(page))), None)
            if found:
                return found
        return await self._by_reader(side, attribute) if side.pages and attribute != "state" else None

    async def _by_reader(self, side: _Side, attribute: str) -> FoundValue | None:
        question = _ASKED.get(attribute, _WHAT).format(side.name, attribute)
        for value in await self._read(question, side.pages[0]):
            if attribute in _DATES:
                dated = periods(value.text)
                return replace(value, low=facts.day(dated[0].first), high=facts.day(dated[0].last)) if dated else None
            if attribute == "country":
                named = frozenset(country.name for country in countries(value.text))
                return replace(value, names=named) if named else None
            return value
        return None

    async def _read(self, question: str, page: Page) -> list[FoundValue]:
        """What the reader finds in a passage, if it is sure and may still be run."""
        if not self.left:
            return []
        self.left -= 1
        (window,) = windows(question, [(page.title, page.sentences)], SHOWN)
        (reading,) = await self.reader.read(question, [[window.shown]], most=1)
        shown = window.shown.shown
        return [
            FoundValue(page.number, at, text, names=frozenset({name_key(text)}))
            for span in reading.spans[:1]
            if span.score >= SURE
            and (text := shown[span.start : span.end])
            and (at := window.sentence_at(span.start)) is not None
        ]

    async def _extreme(self, sides: Sequence[_Side]) -> Compared | None:
        """The option with the least or most; None where one has no value or two may be equal."""
        values = _in_one_unit(sides, self.what.claim) if self.what.attribute == "number" else None
        if values is None:
            values = [] if self.what.attribute == "number" else [v for s in sides if (v := await self._value(s))]
        if len(values) < len(sides):
            return None
        sign = 1 if self.what.direction == "least" else -1
        order = sorted(range(len(values)), key=lambda at: sign * values[at].low)
        first, second = values[order[0]], values[order[1]]
        apart = first.high < second.low if sign > 0 else second.high < first.low
        if not apart:
            return None
        chosen = sides[order[0]]
        answer = chosen.name if chosen.option.who else chosen.option.name
        if self.what.form == "yes-no":
            answer = "no" if order[0] else "yes"
        return Compared(answer, _facts(sides, values))

    async def _same(self, sides: Sequence[_Side]) -> Compared | None:
        if self.what.attribute in facts.RELATIONS:
            made = [
                [maker for page in side.pages[:2] for maker in facts.makers(page, self.what.attribute)]
                for side in sides
            ]
            values = [replace(one[0], names=frozenset().union(*(m.names for m in one))) for one in made if one]
        else:
            values = [value for side in sides if (value := await self._value(side))]
        if self.what.attribute == "country" and len(values) < len(sides):
            seen = [next(filter(None, map(facts.nations_named, side.pages[:2])), None) for side in sides]
            values = [value for value in seen if value]
            if len({value.names for value in values}) > 1:
                return None
        if len(values) < len(sides):
            return None
        if self.what.attribute in _DATES:
            same = len({value.low // (12 * 31) for value in values}) == 1
        else:
            same = bool(frozenset.intersection(*(value.names for value in values)))
        return Compared("yes" if same != (self.what.claim == "different") else "no", _facts(sides, values))

    def _both(self, sides: Sequence[_Side]) -> Compared | None:
        """Yes where the claim holds for each, no where it fails for one."""
        kind = self.what.attribute == "kind"
        found = [fits(self.what.claim, side.pages, kind=kind) for side in sides]
        known = [(side, *each) for side, each in zip(sides, found, strict=True) if each]
        cited = _facts([side for side, _, _ in known], [value for _, _, value in known])
        if any(not holds for _, holds, _ in known):
            return Compared("no", cited, complete=len(known) == len(sides))
        return Compared("yes", cited) if len(known) == len(sides) else None

    def _fitting(self, sides: Sequence[_Side]) -> Compared | None:
        """The one option that the claim fits, where it is known not to fit the others."""
        found = [each for side in sides if (each := fits(self.what.claim, side.pages, kind=True))]
        right = [at for at, (holds, _) in enumerate(found) if holds]
        if len(found) == len(sides) and len(right) == 1:
            return Compared(sides[right[0]].option.name, _facts(sides, [value for _, value in found]))
        only = only_fit(self.what.claim, [side.pages for side in sides])
        return Compared(sides[only[0]].option.name, _facts(sides, only[1])) if only else None


_DATES: Final = ("birth", "death", "release", "start", "age")
_ASKED: Final = {
    "birth": "When was {0} born?",
    "death": "When did {0} die?",
    "release": "When was {0} released?",
    "start": "When was {0} founded?",
    "age": "When was {0} founded?",
    "country": "What country is {0} from?",
}
_WHAT: Final = "What is the {1} of {0}?"
_WHO_IS: Final = "Who is the {0.relation} of {0.name}?"
_ASKED_MAKER: Final = {
    "director": "Who directed {0.name}?",
    "composer": "Who composed {0.name}?",
    "performer": "Who performed {0.name}?",
    "author": "Who wrote {0.name}?",
    "founder": "Who founded {0.name}?",
}


def _lifespan(pages: Sequence[Page]) -> FoundValue | None:
    for page in pages[:3]:
        birth, death = facts.life(page)
        if birth and death:
            text = f"{birth.text} – {death.text}"
            return replace(birth, text=text, low=death.low - birth.high, high=death.high - birth.low)
    return None


def _in_one_unit(sides: Sequence[_Side], claim: str) -> list[FoundValue] | None:
    """The first amount of each side, in the first unit that all of them have."""
    found = [[each for page in side.pages[:3] for each in facts.measured(page, claim)] for side in sides]
    for unit in dict.fromkeys(unit for unit, _ in found[0]):
        values = [next((value for other, value in each if other == unit), None) for each in found]
        if all(values):
            return [value for value in values if value]
    return None


def _cited(value: FoundValue, subject: str) -> CitedFact:
    return CitedFact(value.passage, value.sentence, subject, value.text)


def _facts(sides: Sequence[_Side], values: Sequence[FoundValue]) -> tuple[CitedFact, ...]:
    return tuple(
        fact for side, value in zip(sides, values, strict=True) for fact in (*side.way, _cited(value, side.name))
    )
