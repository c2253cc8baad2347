"""What a question asks for, by its words alone: one of two options, yes or no, a count, a list, prose or a span.

`parse_question` never looks at documents, so that a question is parsed the same way whatever is retrieved for it. Names
are recognised by capital letters first and by closed lists of words second: most titles are written with capitals, most
words of asking are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from ragways.core.text import lazy_regex
from ragways.reading.values import countries

Form = Literal["choice", "same", "both", "yes-no", "count", "list", "prose", "span"]
Direction = Literal["", "least", "most"]
LONGEST: Final = 600
"""Characters of a question that are looked at."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the things compared, in the question's words, and what leads from it to the answer: the `relation`
    (`director`: not the film counts but who directed it) and the attribute, where it has one of its own. `who` where
    the question names it as the one that the relation leads to ("the director of …"), so that an answer is a person.
    """

    name: str
    relation: str = ""
    attribute: str = ""
    who: bool = False


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question's form and its parts.

    - `choice`: which of the `options` has the least or most (`direction`) of an `attribute`, or fits the `claim`
    - `same`: whether the options share the `attribute` (or, with the claim `different`, whether they do not)
    - `both`: whether the `claim` holds for each; with the attribute `kind` where it says what they are
    - `yes-no`: whether the `claim` holds; with options, whether the first has less or more than the second
    - `count`: how many; the `claim` names what is counted. `list`, `prose`, `span` have no parts

    The attribute is `birth`, `death`, `lifespan`, `age` (birth, or the start of a thing), `release`, `start`,
    `country`, `state`, `profession`, `number` (the `claim` says of what), or another noun ("genre"). `listed` is the
    stretch that names the options: where a name holds "or" or "and", it can be cut in several ways (`cuts`).
    """

    form: Form
    options: tuple[Option, ...] = ()
    attribute: str = ""
    direction: Direction = ""
    claim: str = ""
    listed: str = ""


_AUXILIARY = lazy_regex(r"(?:are|is|was|were|do|does|did|have|has|had|can|could|will|would|should)\b ?", re.IGNORECASE)
_BE = lazy_regex(r"(?:are|is|was|were) ", re.IGNORECASE)
_NO_KIND = lazy_regex(
    r"(?:from|in|of|at|on|by|to|for|with|known|made|born|the|"
    r"\w+(?:ed|ing|able)(?= (?:by|in|as|for|to|at|on|from|with|the|an?)\b))\b",
    re.IGNORECASE,
)
"""How a claim begins that does not say what a thing is."""
_KIND_BEHIND = lazy_regex(r" (?:an?|the) [a-z]+$")
_NO_NAMES = lazy_regex(r"\b(?:it|there|to|i|you|we|they|he|she|need|use|possible|in|by|that)\b", re.IGNORECASE)
"""What stands before names only in the middle of a sentence."""
_WH = lazy_regex(r"(?:in |at |on |from |by |to )?(?:which|who|whom|whose|what|when|where)\b", re.IGNORECASE)
_SET_BEFORE = lazy_regex(
    r"(?:between|out of|of|among) (.+? (?:and|or) .+?), ((?:which|who|what|whose)\b.+)", re.IGNORECASE
)
_OUT_OF = lazy_regex(r"(.+?),? (?:out of|between|among|of the two,?) (.+ (?:and|or) .+)", re.IGNORECASE)
_OF_TWO = lazy_regex(
    r"(?:which|who|what)(?: one)? (?:(?P<before>(?:is|was) the [a-z]+) of (?P<one>.+ (?:and|or) .+)|"
    r"of (?P<other>.+ (?:and|or) .+?) (?P<after>(?:is|was|were|has|had|came|died|did)\b.+))",
    re.IGNORECASE,
)
_JOINT = lazy_regex(r",? (?:and|or) ")
_PLAIN = lazy_regex(r"[a-z'’-]+,?")
"""A word that is no part of a name."""

_LEAST = (
    "first|earlier|earliest|before|older|oldest|elder|eldest|sooner|smaller|smallest|fewer|fewest|less|least|lower|"
    "lowest|lighter|nearer|closer|shorter|shortest|narrower"
)
_MOST = (
    "later|latest|last|after|younger|youngest|newer|newest|recently|recent|more|most|larger|largest|bigger|biggest|"
    "longer|longest|higher|highest|taller|tallest|greater|greatest|heavier|heaviest|deeper|deepest|farther|wider"
)
_DONE = (
    "born|die|died|released?|published|founded|formed|established|opened|built|created|launched|started?|come|came|out|"
    "lived?|have|has|had|been|is|was|the"
)
"""Words that stand between a name and a word of degree."""
_DIRECTION = lazy_regex(rf"\b(?:(?P<least>{_LEAST})|(?P<most>{_MOST}))\b", re.IGNORECASE)
_HEAD = lazy_regex(rf"(.*?\b(?:{_LEAST}|{_MOST})\b),? ((?:the (?:[a-z]+ of )?)?[A-Z0-9\"“'].+ or .+)")
_HEAD_SMALL = lazy_regex(rf"(.*?\b(?:{_LEAST}|{_MOST})\b) (.+ or .+)")
"""The same of a question without any capital letter."""
_TAIL = lazy_regex(rf",?(?: (?:{_DONE}|{_LEAST}|{_MOST})\b)+[a-z ]*$")
_THAN = lazy_regex(
    rf"(?P<one>.+?) (?P<how>(?:(?:{_DONE}) )*(?:(?:{_LEAST}|{_MOST})(?: [a-z]+)? than|before|after)) "
    r"(?P<other>.+?)(?: (?:did|was|is|does|has))?$"
)
_RELATIONS: Final = (
    "director|composer|performer|author|writer|founder|producer|singer|screenwriter|creator|artist|architect|developer|"
    "publisher|inventor|editor"
)
_RELATION = lazy_regex(
    rf"\bwhose (?P<a>{_RELATIONS})\b|\b(?:has|have|had|with) (?:the |a |an )?(?P<b>{_RELATIONS})s?\b|"
    rf"\b(?P<c>{_RELATIONS})s? of\b|['’]s (?P<d>{_RELATIONS})\b|"
    rf"\bby (?:the|an?) (?:older|younger) (?P<e>{_RELATIONS})\b"
)
_EVENT = lazy_regex(
    r"(?:the )?(birth|death|release|publication|form(?:ing|ation)|founding|foundation|opening|start) of "
)
_AT_AGE = r"\b(?:died|lived to) (?:at |be |to be )?(?:an? )?(?:older|younger)(?: age)?$"
_ATTRIBUTES: Final = tuple(
    (name, re.compile(words, re.IGNORECASE))
    for name, words in (
        ("lifespan", r"\bliv(?:e|ed|es) (?:longer|shorter|the longest)|life ?span|(?:longer|shorter) life|" + _AT_AGE),
        ("death", r"\bdie[ds]?\b|\bdeath\b|passed away"),
        ("birth", r"\bborn\b|\bbirth(?:day|date)?\b"),
        ("release", r"\b(?:came|come) out\b|\b(?:released?|publi(?:shed|cation)|premiered?|aired|issued)\b"),
        (
            "start",
            r"\b(?:found(?:ed|ing|ation)|form(?:ed|ing|ation)|establish\w*|start(?:ed)?|open(?:ed|ing)|built|creat\w+|"
            r"launched|beg[au]n|construct\w+|completed|introduced|c[ao]me first|incorporated|newer|newest)\b",
        ),
        ("age", r"\b(?:older|oldest|elder|eldest|younger|youngest|age)\b"),
    )
)
_YEAR = lazy_regex(r"1\d{3}|20\d\d")
_NUMBER = lazy_regex(
    r"\b(?:(?:more|most|fewer|fewest|less|least|(?:greater|larger|higher|smaller|lower) (?:number|amount|count) of) "
    r"(?P<what>[a-z]+(?: [a-z]+)?)|"
    r"(?P<size>(?:larg|bigg|small|long|short|high|low|tall|heavi|light|deep|great|wid)(?:er|est))(?P<of> [a-z]+)?)\b"
)
_SAME = lazy_regex(r"\b(?:(?:the |a )?(?:same|common)|(?P<different>(?:a )?different)) (?P<noun>[a-z]+)", re.IGNORECASE)
_NOUNS: Final = {
    "nationality": "country", "nationalities": "country", "nation": "country", "countries": "country", "year": "",
    "occupation": "profession", "occupations": "profession", "professions": "profession", "job": "profession",
    "career": "profession", "states": "state", "kind": "profession", "type": "profession",
}  # fmt: skip
"""Nouns behind "same" that are an attribute; a year is one of what the rest of the question says."""
_EITHER: Final = 4
"""Words of a choice that is no name, at most."""
_OPEN = lazy_regex(r"\b(?:in|of|by|during|for|at|from|to|on) (?:which|what|whom)\b", re.IGNORECASE)
"""What makes a question that begins like one for yes or no ask for something else."""
_BEHIND = lazy_regex(
    r"[.;!] (?:Are|Is|Was|Were|Do|Does|Did|Have|Has|Had|Can|Could|Will|Would|Should) |"
    r"^(?:After|Before|Between|Since|While|Given|Considering|Although|If) .+, "
    r"(?:are|is|was|were|do|does|did|have|has|had|can|could|will|would|should) "
)
"""Where a question for yes or no begins behind a clause or a sentence."""
_NO_CHOICE = lazy_regex(
    r"(?:later|newer|earlier|older|above|below|higher|lower|more|less|not|so|other|another)\b", re.IGNORECASE
)
"""What behind an "or" is no other choice: "version 3 or later"."""
_COUNT = lazy_regex(r"(?:how many|(?:what (?:is|was) the )?(?:total )?number of) (.+)", re.IGNORECASE)
_PROSE = lazy_regex(
    r"(?:how(?! (?:many|much|old|long|tall|far|often|high|large|big|deep|fast|wide|heavy)\b)|why|describe|explain|"
    r"summari[sz]e|compare|discuss|outline|tell me about|in what way)\b",
    re.IGNORECASE,
)
_LIST = lazy_regex(
    r"(?:(?:which|what) (?:two|three|four|five|six|seven|eight|nine|ten|\d+) |"
    r"(?:name|list|give|what are|what were|who are|who were) (?:me )?(?:all )?(?:of )?(?:the )?(?:\w+ )?"
    r"\w+(?<![su])s\b|"
    r"(?:which|what) (?!is|was|has|does)[a-z]+(?<![su])s (?!(?:is|was|has|does)\b))",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def parse_question(question: str) -> ParsedQuestion:
    """The form of a question and its parts."""
    text = " ".join(question.split())[:LONGEST].rstrip(" ?.!")
    found = _choice(text) or _together(text) or _less_or_more(text)
    if found is not None:
        return found
    begin = _AUXILIARY.match(text)
    if begin and not _OPEN.search(text):
        return _either(text, begin.end()) or ParsedQuestion("yes-no", claim=text[begin.end() :])
    if not begin and not _WH.match(text) and not _OPEN.search(text) and (begin := _BEHIND.search(text)):
        return ParsedQuestion("yes-no", claim=text[begin.end() :])
    if count := _COUNT.match(text):
        return ParsedQuestion("count", claim=count[1])
    return ParsedQuestion("prose" if _PROSE.match(text) else "list" if _LIST.match(text) else "span")


def _either(text: str, begin: int) -> ParsedQuestion | None:
    """One of two things that are no names: "Is it red or blue"."""
    before, _, other = text[begin:].rpartition(" or ")
    words, size = before.split(" "), len(other.split(" "))
    if len(words) <= size or size > _EITHER or not _BE.match(text) or _NO_CHOICE.match(other):
        return None
    pair = (" ".join(words[-size:]), other)
    return ParsedQuestion("choice", tuple(map(Option, pair)), claim=" ".join(words[:-size]))


def cuts(listed: str) -> Iterator[tuple[str, str]]:
    """The ways to cut a stretch into two names, at each "and" or "or"; the middle one first, as either may hold one."""
    places = list(_JOINT.finditer(listed))
    middle = (len(places) - 1) / 2
    for place in sorted(places, key=lambda each: (abs(places.index(each) - middle), each.start())):
        yield listed[: place.start()], listed[place.end() :]


def options(pair: tuple[str, ...], relation: str) -> tuple[Option, ...]:
    """Names as they stand in a question, without the words before them, which may say how to go on from each."""
    return tuple(_option(each, relation) for each in pair)


def _option(text: str, relation: str) -> Option:
    text = text.strip(" ,;:").removeprefix("either ").removeprefix("both ")
    event = _EVENT.match(text)
    found = Option(text[event.end() :] if event else text, relation, attribute_of(event[1]) if event else "")
    words = found.name.split(" ")
    plain = next((at for at, word in enumerate(words) if not _PLAIN.fullmatch(word)), 0)
    before = " ".join(words[:plain])
    name = " ".join(words[plain:]).strip(" ,")
    own = _relation(before)
    return replace(found, name=name or found.name, relation=own or relation, who=bool(own))


def _choice(text: str) -> ParsedQuestion | None:
    """One of several: "Which …, A or B", "Was A or B born first", "Between A and B, who …"."""
    if before := _SET_BEFORE.fullmatch(text):
        return _chosen(before[2], before[1])
    if (two := _OF_TWO.fullmatch(text)) and "," not in text and _DIRECTION.search(two["before"] or two["after"]):
        head = two["before"] or two["after"]
        return _chosen(f"{text.split(' ', 1)[0]} {head}", two["one"] or two["other"])
    if _WH.match(text):
        head, listed = _head_and_listed(text)
        return _chosen(head, listed) if listed else None
    begin = _AUXILIARY.match(text)
    if begin and " or " in text:
        rest = text[begin.end() :]
        tail = _TAIL.search(rest, rest.find(" or ") + 4)
        if tail and _DIRECTION.search(tail.group()):
            return _chosen(tail.group(), rest[: tail.start()])
        verbless = re.search(r" (?=(?:the|an?|from|in|known|located) )", rest[rest.find(" or ") + 5 :])
        place = rest.find(" or ") + 5 + verbless.start() if verbless else len(rest)
        if verbless and all(_is_name(each) for each in rest[:place].split(" or ")):
            options_named = options(next(cuts(rest[:place])), "")
            return ParsedQuestion("choice", options_named, claim=rest[place:].strip(), listed=rest[:place])
    return None


def _is_name(text: str) -> bool:
    return any(letter.isupper() or letter.isdigit() for letter in text)


def _head_and_listed(text: str) -> tuple[str, str]:
    """The head of the question and the stretch that names the options, which begins behind the first comma or colon;
    nothing where no options are named.
    """
    last = text.rfind(" or ")
    comma = re.search(r"[,:–—] ", text[: max(last, 0)])
    if comma:
        head, listed = text[: comma.start()].strip(), text[comma.end() :]
        rest = re.search(r", (?=(?:is|was|were|has|had|did|came)\b)", listed)
        if rest and not _DIRECTION.search(head):
            return f"{head} {listed[rest.end() :]}", listed[: rest.start()]
        return head, listed
    if last >= 0 and (after := (_HEAD_SMALL if text.islower() else _HEAD).fullmatch(text)):
        return after[1], after[2]
    if (after := _OUT_OF.fullmatch(text)) and _DIRECTION.search(after[1]) and _is_name(after[2].rsplit(" ", 1)[-1]):
        return after[1], after[2]
    return text, ""


def _chosen(head: str, listed: str) -> ParsedQuestion | None:
    pair = next(cuts(listed), None)
    relation = _relation(head)
    found, direction = attribute_of(head), _direction(head)
    # Without a word of degree, an "or" joins options only where it joins names: "for early, late or unknown cases" asks
    # for something else.
    if pair is None or not (direction or all(_is_name(each.rsplit(" ", 1)[-1]) for each in pair)):
        return None
    number = _NUMBER.search(head)
    claim = ""
    if not found and direction and number and number[0] not in ("more recent", "most recent", "more recently"):
        found = "number"
        claim = number["what"] or f"{number['size']}{number['of'] or ''}"
    elif not found and direction:
        found = "start"
    elif not direction:
        verb = re.search(r"\b(?:is|was|were|are|has|had|did|does)\b ?", head)
        found, claim = "", head[verb.end() :] if verb else head.split(" ", 2)[-1]
    if found == "lifespan" and re.search(r"\b(?:older|younger)\b", head):
        direction = "most" if "older" in head else "least"
    if found == "age" and (relation or re.match(r"who\b", head, re.IGNORECASE)):
        found = "birth"
    return ParsedQuestion("choice", options(pair, relation), found, direction, claim, listed)


def _together(text: str) -> ParsedQuestion | None:
    """Both: "Are A and B from the same country", "Are both A and B American actors"."""
    begin = _AUXILIARY.match(text)
    if begin is None or not _JOINT.search(text):
        return None
    rest = text[begin.end() :]
    same = _SAME.search(rest)
    listed, tail = _named(rest[: same.start()] if same else rest, claimed=same is None)
    pair = next(cuts(listed), None)
    before = " ".join(_leading(listed))
    if pair is None or not all(map(_is_name, pair)) or _KIND_BEHIND.search(pair[0]) or _NO_NAMES.search(before):
        return None
    relation = _relation(f"{before} {tail}")
    if same:
        noun = same["noun"].casefold()
        noun = _NOUNS.get(noun, noun) or attribute_of(rest) or "start"
        claim = "different" if same["different"] else ""
        return ParsedQuestion("same", options(pair, relation), noun, claim=claim, listed=listed)
    kind = _BE.match(text) and not _NO_KIND.match(tail)
    return (
        ParsedQuestion("both", options(pair, relation), "kind" if kind else "", claim=tail, listed=listed)
        if tail
        else None
    )


def _named(text: str, *, claimed: bool) -> tuple[str, str]:
    """The stretch that names things, and the claim about them behind it."""
    text = text.rstrip(" ,")
    if " both " in text and (halves := text.rsplit(" both ", 1)) and _JOINT.search(halves[0]):
        return halves[0].strip(" ,"), halves[1]
    words = text.split(" ")
    last = len(words)
    while last and words[last - 1] not in ("and", "or"):
        if (
            claimed
            and last > 2
            and len(countries(" ".join(words[last - 2 : last]))) == 1
            and not countries(words[last - 1])
        ):
            last -= 2
        elif _PLAIN.fullmatch(words[last - 1]) or (
            claimed and (countries(words[last - 1]) or _YEAR.fullmatch(words[last - 1]))
        ):
            last -= 1
        else:
            break
    return " ".join(words[:last]).strip(" ,"), " ".join(words[last:])


def _leading(text: str) -> list[str]:
    words = text.split(" ")
    return words[: next((at for at, word in enumerate(words) if not _PLAIN.fullmatch(word)), 0)]


def _less_or_more(text: str) -> ParsedQuestion | None:
    """Yes or no about two: "Is A older than B", "Was A born before B"."""
    begin = _AUXILIARY.match(text)
    if begin is None or not (found := _THAN.fullmatch(text[begin.end() :])):
        return None
    head = found["how"]
    attribute = attribute_of(head)
    number = _NUMBER.search(head)
    if not attribute and not number:
        return None
    claim = "" if attribute or number is None else (number["what"] or number["size"]).removesuffix(" than")
    pair = options((found["one"], found["other"]), "")
    return ParsedQuestion("yes-no", pair, attribute or "number", _direction(head), claim)


def _relation(text: str) -> str:
    found = _RELATION.search(text)
    return next(filter(None, found.groups())) if found else ""


def attribute_of(text: str) -> str:
    """The attribute that a text compares, as in `ParsedQuestion`; nothing where it is no attribute of time."""
    return next((name for name, words in _ATTRIBUTES if words.search(text)), "")


def _direction(text: str) -> Direction:
    """The last word of degree counts: "more recently" is about time, "first released" about being first."""
    found = _DIRECTION.search(text)
    if found is None:
        return ""
    if re.search(r"\bless recent", text):
        return "least"
    return "least" if found["least"] else "most"
