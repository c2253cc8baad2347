"""What a question asks for, by its words alone: one of two options, yes or no, a count, a list, prose or a span.

`parse_question` never looks at documents, so that a question is parsed the same way whatever is retrieved for it. Names
are recognised by capital letters first and by closed lists of words second: most titles are written with capitals, most
words of asking are not. A question that is recognised as one in another language asks for a span.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ragways.core.language import language
from ragways.core.text import lazy_regex

Form = Literal["choice", "same", "both", "yes-no", "count", "list", "prose", "span"]
LONGEST: Final = 600
"""Characters of a question that are looked at."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question's form, and how many things it names to be compared.

    - `choice`: which of two has more of something, or which of them something is said of
    - `same`: whether two things share something; `both`: whether something is said of both
    - `yes-no`: whether something is so; `count`: how many; `list`: several things; `span`: one thing
    - `prose`: how or why, in sentences
    """

    form: Form
    compared: int = 0


_AUXILIARY = lazy_regex(r"(?:are|is|was|were|do|does|did|have|has|had|can|could|will|would|should)\b ?", re.IGNORECASE)
_BE = lazy_regex(r"(?:are|is|was|were) ", re.IGNORECASE)
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
_DEGREE = lazy_regex(rf"\b(?:{_LEAST}|{_MOST})\b", re.IGNORECASE)
_HEAD = lazy_regex(rf"(.*?\b(?:{_LEAST}|{_MOST})\b),? ((?:the (?:[a-z]+ of )?)?[A-Z0-9\"“'].+ or .+)")
_HEAD_SMALL = lazy_regex(rf"(.*?\b(?:{_LEAST}|{_MOST})\b) (.+ or .+)")
"""The same of a question without any capital letter."""
_TAIL = lazy_regex(rf",?(?: (?:{_DONE}|{_LEAST}|{_MOST})\b)+[a-z ]*$")
_THAN = lazy_regex(
    rf".+? (?:(?:(?:{_DONE}) )*(?:{_LEAST}|{_MOST})(?: [a-z]+)? than|(?:(?:{_DONE}) )+(?:before|after)) .+"
)
_SAME = lazy_regex(r"\b(?:(?:the |a )?(?:same|common)|(?:a )?different) [a-z]+", re.IGNORECASE)
_YEAR = lazy_regex(r"1\d{3}|20\d\d")
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
def parse_question(question: str) -> ParsedQuestion:  # noqa: PLR0911 - a form a line
    """Return the form of a question; of one in another language than English nothing is recognised."""
    text = " ".join(question.split())[:LONGEST].rstrip(" ?.!")
    if language(question[:LONGEST]) not in ("", "en"):
        return ParsedQuestion("span")
    if _is_choice(text):
        return ParsedQuestion("choice", compared=2)
    if form := _joint_form(text):
        return ParsedQuestion(form, compared=2)
    begin = _AUXILIARY.match(text)
    if begin and _THAN.fullmatch(text[begin.end() :]):
        return ParsedQuestion("yes-no", compared=2)
    if begin and not _OPEN.search(text):
        return ParsedQuestion("choice", compared=2) if _is_either(text, begin.end()) else ParsedQuestion("yes-no")
    if not begin and not _WH.match(text) and not _OPEN.search(text) and _BEHIND.search(text):
        return ParsedQuestion("yes-no")
    if _COUNT.match(text):
        return ParsedQuestion("count")
    return ParsedQuestion("prose" if _PROSE.match(text) else "list" if _LIST.match(text) else "span")


def _is_either(text: str, begin: int) -> bool:
    """Recognise a choice between two things that are no names: "Is it red or blue"."""
    before, _, other = text[begin:].rpartition(" or ")
    size = len(other.split(" "))
    return len(before.split(" ")) > size <= _EITHER and bool(_BE.match(text)) and not _NO_CHOICE.match(other)


def _pair(listed: str) -> tuple[str, str] | None:
    """Cut a stretch into two names, at the "and" or "or" that is nearest to the middle: either name may hold one."""
    places = list(_JOINT.finditer(listed))
    if not places:
        return None
    middle = places[(len(places) - 1) // 2]
    return listed[: middle.start()], listed[middle.end() :]


def _is_choice(text: str) -> bool:
    """Recognise "Which …, A or B", "Was A or B born first", "Between A and B, who …"."""
    if before := _SET_BEFORE.fullmatch(text):
        return _chooses(before[2], before[1])
    if (two := _OF_TWO.fullmatch(text)) and "," not in text and _DEGREE.search(two["before"] or two["after"]):
        return True
    if _WH.match(text):
        head, listed = _head_and_listed(text)
        return bool(listed) and _chooses(head, listed)
    begin = _AUXILIARY.match(text)
    if begin is None or " or " not in text:
        return False
    rest = text[begin.end() :]
    tail = _TAIL.search(rest, rest.find(" or ") + 4)
    if tail and _DEGREE.search(tail.group()):
        return True
    verbless = re.search(r" (?=(?:the|an?|from|in|known|located) )", rest[rest.find(" or ") + 5 :])
    return verbless is not None and all(map(_is_name, rest[: rest.find(" or ") + 5 + verbless.start()].split(" or ")))


def _is_name(text: str) -> bool:
    return any(letter.isupper() or letter.isdigit() for letter in text)


def _head_and_listed(text: str) -> tuple[str, str]:
    """Return the head of the question and the stretch that names the options, which begins behind the first comma or
    colon; nothing where no options are named.
    """
    last = text.rfind(" or ")
    comma = re.search(r"[,:–—] ", text[: max(last, 0)])
    if comma:
        head, listed = text[: comma.start()].strip(), text[comma.end() :]
        rest = re.search(r", (?=(?:is|was|were|has|had|did|came)\b)", listed)
        if rest and not _DEGREE.search(head):
            return f"{head} {listed[rest.end() :]}", listed[: rest.start()]
        return head, listed
    if last >= 0 and (after := (_HEAD_SMALL if text.islower() else _HEAD).fullmatch(text)):
        return after[1], after[2]
    if (after := _OUT_OF.fullmatch(text)) and _DEGREE.search(after[1]) and _is_name(after[2].rsplit(" ", 1)[-1]):
        return after[1], after[2]
    return text, ""


def _chooses(head: str, listed: str) -> bool:
    # Without a word of degree, an "or" joins options only where it joins names: "for early, late or unknown cases" asks
    # for something else.
    pair = _pair(listed)
    return pair is not None and (bool(_DEGREE.search(head)) or all(_is_name(each.rsplit(" ", 1)[-1]) for each in pair))


def _joint_form(text: str) -> Literal["same", "both"] | None:
    """Recognise "Are A and B from the same country" and "Are both A and B American actors"."""
    begin = _AUXILIARY.match(text)
    if begin is None or not _JOINT.search(text):
        return None
    rest = text[begin.end() :]
    same = _SAME.search(rest)
    listed = (rest[: same.start()] if same else rest).rstrip(" ,")
    if " both " in listed and _JOINT.search(listed.rsplit(" both ", 1)[0]):
        listed = listed.rsplit(" both ", 1)[0]
    words = listed.split(" ")
    while words and words[-1] not in ("and", "or") and (_PLAIN.fullmatch(words[-1]) or _YEAR.fullmatch(words[-1])):
        words.pop()
    pair = _pair(" ".join(words).strip(" ,"))
    plain = next((at for at, word in enumerate(words) if not _PLAIN.fullmatch(word)), 0)
    if pair is None or not all(map(_is_name, pair)) or _KIND_BEHIND.search(pair[0]):
        return None
    return None if _NO_NAMES.search(" ".join(words[:plain])) else "same" if same else "both"
