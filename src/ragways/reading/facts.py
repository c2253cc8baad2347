"""Facts that passages state of a thing, by rules: when it began, where it is from, what it is, who made it.

Texts that describe things do so in few ways: the first sentence has dates in brackets behind the name, then "is a", the
nation and the kind; what follows says "directed by", "released on", "founded in". Each rule gives a value with the
sentence it stands in, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from ragways.core.text import lazy_regex
from ragways.reading.pages import IS_A, LEAD, FoundValue, Page, name_key
from ragways.reading.values import STATES, Country, Period, amounts, countries, periods

# When

_DASH = lazy_regex(r"[–—−]|\s-|-\s|^-$|\buntil\b|\bto\b")
_BORN = lazy_regex(r"\b(?:[Bb]orn\b|b\. ?(?=\w))")
_DIED = lazy_regex(
    r"\b(?:(?:died|death|killed|executed|assassinated|murdered|drowned|passed away|beheaded)\b|d\. ?(?=\w))"
)
_REIGN = lazy_regex(r"\b(?:r\.|reign\w*|ruled|fl\.|floruit|active|married|crowned)[^;,]{0,30}$", re.IGNORECASE)
_OWN = lazy_regex(r"(?:he|she|it|they|his|her|its|born|the)\b", re.IGNORECASE)
_RELEASED = lazy_regex(
    r"(?<!re)(?<!re-)\b(?:releas\w+|premier\w+|publish\w+|publication|aired|issued|broadcast|debuted|came out)\b"
)
_STARTED = lazy_regex(
    r"\b(?:found(?:ed|ing|ation)|form(?:ed|ing|ation)|establish\w+|started|opened|opening|built|created|launched|beg[au]n|"
    r"construct\w+|completed|introduced|incorporated|chartered|since|dat(?:es|ing) (?:from|to|back)|inaugurated)\b"
)


def _dated(page: Page, period: Period) -> FoundValue:
    text = page.text[period.start : period.end]
    return FoundValue(page.number, page.sentence_at(period.start), text, day(period.first), day(period.last))


def day(date: tuple[int, int, int]) -> float:
    """A date on a scale of days; months are 31 days and years 12 of them, so that all differ."""
    return (date[0] * 12 + date[1]) * 31.0 + date[2]


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Where stretches in outer round brackets begin and end."""
    depth = start = 0
    for place, letter in enumerate(text):
        if letter == "(":
            depth, start = depth + 1, start if depth else place + 1
        elif letter == ")" and depth:
            depth -= 1
            if not depth:
                yield start, place


def life(page: Page) -> tuple[FoundValue | None, FoundValue | None]:
    """When the subject of a passage was born and died: from the first brackets with dates, else from "born in …"."""
    text = page.text
    birth = death = None
    for start, end in _brackets(text[:LEAD]):
        inside = text[start:end]
        found = [p for p in periods(inside) if not _REIGN.search(inside, max(0, p.start - 40), p.start)]
        birth, death = _birth_and_death(inside, found)
        birth, death = (_moved(birth, start), _moved(death, start))
        if birth or death:
            break
    born = birth or _after(page, _BORN)
    died = death or _after(page, _DIED)
    return _dated(page, born) if born else None, _dated(page, died) if died else None


def _moved(period: Period | None, by: int) -> Period | None:
    return period and Period(period.first, period.last, period.start + by, period.end + by)


def _birth_and_death(text: str, found: list[Period]) -> tuple[Period | None, Period | None]:
    for one, other in pairwise(found):
        if _DASH.search(text[one.end : other.start]):
            return one, other
    birth = death = None
    for period in found:
        before = text[: period.start]
        born, died = (max((m.end() for m in words.finditer(before)), default=-1) for words in (_BORN, _DIED))
        if max(born, died) < 0 and _DASH.search(before):
            died = 0
        if born > died:
            birth = birth or period
        elif died >= 0:
            death = death or period
        elif _DASH.match(text[period.end :].strip()):
            birth = birth or period
    return birth, death


def _after(page: Page, words: re.Pattern[str]) -> Period | None:
    """The first date behind such a word, in a sentence about the subject."""
    found = periods(page.text)
    for match in words.finditer(page.text) if found else ():
        number = page.sentence_at(match.start())
        sentence = page.sentences[number]
        end = min(page.sentence_span(match.start())[1], match.end() + 100)
        if _OWN.match(sentence) or set(name_key(sentence[:120]).split()) & set(page.key.split()):
            near = next((p for p in found if match.end() <= p.start < end), None)
            if near:
                return near
    return None


def released(page: Page) -> FoundValue | None:
    """When a work came out: "is a 1936 film", made exact by a date of release in that year."""
    year = _year_of_kind(page)
    dates = list(_near(page, _RELEASED))
    exact = next((p for p in dates if year is None or year.first <= p.first <= p.last <= year.last), None)
    found = exact or year
    if found is None and (named := periods(page.title)):
        return FoundValue(page.number, 0, page.title, day(named[0].first), day(named[0].last))
    return _dated(page, found) if found else None


def started(page: Page) -> FoundValue | None:
    """When a group, a place or a company began."""
    found = next(_near(page, _STARTED), None)
    return _dated(page, found) if found else None


_NO_KIND = lazy_regex(r"\b(?:in|on|by|since|of|from(?! $))\b|\.")


def _year_of_kind(page: Page) -> Period | None:
    copula = IS_A.search(page.text, 0, LEAD)
    if copula is None:
        return None
    for period in periods(page.text[:LEAD]):
        between = page.text[copula.end() : period.start]
        if copula.end() <= period.start < copula.end() + 70 and not _NO_KIND.search(between):
            return period
    return None


def _near(page: Page, words: re.Pattern[str]) -> Iterator[Period]:
    """Dates behind such words in their sentence, else the last one before them."""
    found = periods(page.text)
    for match in words.finditer(page.text) if found else ():
        begin, end = page.sentence_span(match.start())
        begin, end = max(begin, match.start() - 60), min(end, match.end() + 80)
        near = next((p for p in found if match.end() <= p.start < end), None)
        near = near or next((p for p in reversed(found) if begin <= p.start and p.end <= match.start()), None)
        if near:
            yield near


# Where from

_KIND_ENDS = lazy_regex(
    r"\b(?:in|by|who|that|which|from|for|with|based|directed|written|released|located|situated|starring|produced|about|at|"
    r"on|near|(?<!-)(?<!- )born(?! ?-))\b|[.;(]|, (?!\w+(?: and)? \w*(?:ish|an|ian|ese)\b)"
)
_BY_BIRTH = lazy_regex(r"[ -]{1,3}born\b")
_WORK = lazy_regex(r"\b(?:film|song|album|single|novel|book|series|game|painting|play|opera|poem|story|comedy|drama)\b")


def nations(page: Page) -> FoundValue | None:
    """The countries a thing is from: those of what it is called ("a British-American film"), or where it lies. The
    places that the first sentence names beside a work are what the work is about, and do not count.
    """
    copula = IS_A.search(page.lead)
    if copula is None:
        return None
    ends = _KIND_ENDS.search(page.lead, copula.end())
    end = ends.start() if ends else len(page.lead)
    found = [country for country in countries(page.lead) if copula.end() <= country.start]
    kind = [country for country in found if country.start < end]
    own = [country for country in kind if not _BY_BIRTH.match(page.lead, country.end)]
    if kind:
        return _named(page, own or kind)
    stop = page.lead.find(page.sentences[0][-20:])
    lies = [c for c in found if not c.people and (stop < 0 or c.start < stop + 20)]
    return _named(page, lies[-1:]) if lies and not _WORK.search(page.lead, copula.end(), end) else None


def nations_named(page: Page) -> FoundValue | None:
    """The first country that a text names at all: enough to find that two agree, not that they differ."""
    found = countries(page.lead)[:1]
    return _named(page, found) if found else None


def _named(page: Page, found: Sequence[Country]) -> FoundValue:
    quote = page.lead[found[0].start : found[-1].end]
    place = page.text.find(page.lead[found[0].start : found[0].end])
    return FoundValue(page.number, page.sentence_at(max(place, 0)), quote, names=frozenset(c.name for c in found))


_IS_ENDS = lazy_regex(
    r"\b(?:who|that|which|from|in|by|for|best|most|known|of|at|with|(?<!-)based|located|directed|written|starring)\b|[.;]"
)


def profession(page: Page) -> FoundValue | None:
    """What a thing or a person is: the nouns of "is a film director, producer and screenwriter"."""
    copula = IS_A.search(page.lead)
    if copula is None:
        return None
    ends = _IS_ENDS.search(page.lead, copula.end())
    quote = page.lead[copula.end() : ends.start() if ends else copula.end() + 120].strip(" ,")
    quote = re.sub(r" \w+(?:ed|ing)$", "", quote)
    nouns = {singular(part.rsplit(" ", 1)[-1].casefold()) for part in re.split(r",? and |, ?", quote) if part.strip()}
    return FoundValue(page.number, 0, quote, names=frozenset(nouns)) if nouns else None


_STATE = lazy_regex(rf"\b(?:{'|'.join(sorted(STATES, key=len, reverse=True))}|Georgia|Washington)\b")


def state(page: Page) -> FoundValue | None:
    """The state of the United States that a thing lies in, by the beginning of the text: the last of its list."""
    first = next(iter(page.sentences), "")[:LEAD]
    found = _STATE.findall(first)
    return FoundValue(page.number, 0, found[-1], names=frozenset({found[-1]})) if found else None


# How much

_MEASURES: Final = (
    ("population", "", r"population|inhabitants|residents"),
    ("area", "m2", r""),
    ("tall", "m", r"tall|high|height|storey"),
    ("high", "m", r"high|elevation|altitude|summit|peak|above sea|height|tall"),
    ("deep", "m", r"deep|depth"),
    ("long", "m min", r"long|length|runs|runtime|running|stretch"),
    ("short", "m min", r"long|length|runs|runtime|running|high|tall"),
    ("heavi", "kg", r""),
    ("larg bigg small great", "m2", r""),
    ("larg bigg small great", "", r"population|inhabitants|residents|students|seats|capacity|enrol"),
)


def measured(page: Page, claim: str) -> list[tuple[str, FoundValue]]:
    """Amounts that a comparison may be about ("taller", "smaller population", "members"), each with its unit."""
    found = amounts(page.text)
    rows = [
        row for row in _MEASURES if any(claim.startswith(begin) or f" {begin}" in claim for begin in row[0].split())
    ]
    exact = [row for row in rows if row[0] in ("population", "area")] or rows
    result = []
    for _, units, words in exact:
        for one in found:
            near = page.text[max(0, one.start - 50) : one.end + 30]
            if one.unit in units.split() + [""] * (not units) and (not words or re.search(words, near)):
                place = page.sentence_at(one.start)
                result.append(
                    (one.unit, FoundValue(page.number, place, page.text[one.start : one.end], one.value, one.value))
                )
    if not rows:
        noun = re.compile(
            rf"(?:[ -][\w'’-]+){{0,2}}?[ -]{re.escape(singular(claim.rsplit(' ', 1)[-1]))}", re.IGNORECASE
        )
        for one in found:
            if not one.unit and (match := noun.match(page.text, one.end)):
                quote = page.text[one.start : match.end()]
                result.append(("", FoundValue(page.number, page.sentence_at(one.start), quote, one.value, one.value)))
    return result


def singular(word: str) -> str:
    """A noun without the sign of the plural, as far as the end tells."""
    if word in ("species", "series"):
        return word
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ies")) else word


# Who made it

_UPPER = "".join(chr(code) for code in range(0x41, 0x530) if chr(code).isupper())
_TOKEN = rf"[{_UPPER}](?:\w?\.(?=\s)|[\w'’-]*)"
_SMALL = r"(?:de|da|di|do|dos|das|del|della|degli|van|von|der|den|la|le|el|al|bin|ibn|y|du|af|ter|ten|zu) "
_NAME = rf"{_TOKEN}(?:\s(?:{_SMALL}){{0,2}}{_TOKEN}){{0,5}}"
_MADE: Final = {
    "director": ("directed", "film|movie|documentary|short"),
    "composer": ("composed|scored", "music|score|soundtrack"),
    "performer": ("performed|recorded|sung", "song|single|album|track|recording"),
    "author": ("written|authored", "novel|book|story|play|poem|memoir"),
    "founder": ("founded|established|created|formed|started|set up", "company|organisation|organization"),
    "producer": ("produced", ""),
    "creator": ("created|developed", "series|show"),
    "screenwriter": ("written|scripted", "screenplay|script"),
    "architect": ("designed|built", ""),
    "developer": ("developed", "game"),
    "publisher": ("published", ""),
    "inventor": ("invented", "invention"),
    "editor": ("edited", ""),
}
"""What was done by whom, and what is by whom: "directed by", "a film by"."""
_MADE_ALIKE: Final = {"writer": "author", "singer": "performer", "artist": "performer"}
RELATIONS: Final = frozenset({*_MADE, *_MADE_ALIKE})
_AFTER_NATION = lazy_regex(rf"(?:[ /-]{{1,3}}[a-z-]+){{1,4}} ({_NAME})")
_MORE_NAMES = lazy_regex(rf"(?:,? and |, | & )({_NAME})")
_RELATION_RULES: Final = {
    relation: (
        lazy_regex(rf"\b(?:{done})\b[a-z, -]{{0,60}}?\bby\b(?:,? [a-z-]+){{0,5}}? (?P<who>{_NAME})"),
        lazy_regex(rf"\b(?:{relation}s?|direction of) (?:is |was |are |were )?(?P<who>{_NAME})"),
        lazy_regex(rf"\b(?:{thing or done}) by(?: [a-z-]+){{0,4}}? (?P<who>{_NAME})"),
    )
    for relation, (done, thing) in _MADE.items()
}


def makers(page: Page, relation: str) -> list[FoundValue]:
    """Who directed, composed, wrote, … the subject of a passage, in the order of the text."""
    rules = _RELATION_RULES.get(_MADE_ALIKE.get(relation, relation), ())
    match = next((found for rule in rules if (found := rule.search(page.text))), None)
    if match is None:
        return []
    quote, end = [(match.start("who"), match["who"])], match.end()
    if not _person(match["who"]) and (next_name := _AFTER_NATION.match(page.text, end)):
        quote, end = [(next_name.start(1), next_name[1])], next_name.end()
    while len(quote) < 4 and (more := _MORE_NAMES.match(page.text, end)):
        quote.append((more.start(1), more[1]))
        end = more.end()
    return [FoundValue(page.number, page.sentence_at(at), name, names=frozenset({_person(name)})) for at, name in quote]


def _person(name: str) -> str:
    """A name's key without a nation before it."""
    nation = countries(name)
    return name_key(name[nation[0].end :] if nation and nation[0].start == 0 and nation[0].people else name)


RULES: Final[dict[str, Sequence[Callable[[Page], FoundValue | None]]]] = {
    "birth": (lambda page: life(page)[0],),
    "death": (lambda page: life(page)[1],),
    "release": (released, started),
    "start": (started, released),
    "age": (lambda page: life(page)[0] if _brackets_hold_a_life(page) else None, started, released),
    "country": (nations,),
    "state": (state,),
    "profession": (profession,),
}
"""For each attribute, the rules that find it, the surest first."""


def _brackets_hold_a_life(page: Page) -> bool:
    return any(
        _BORN.search(page.text[a:b]) or len(periods(page.text[a:b])) == 2 for a, b in _brackets(page.text[:LEAD])
    )
