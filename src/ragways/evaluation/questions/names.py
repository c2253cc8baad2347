"""Names, places and dates at a place in a sentence, read with enough care to be given as an answer."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\s*(&|[^\W_](?:[\w'’&-]|\.(?=[^\W\d_]\b))*\.?)")
_PARTICLES_WORDS = "of de von van der den da di del della la le les bin ibn al the and & du dos das y zu af av"
_PARTICLES = frozenset(_PARTICLES_WORDS.split())
_JOINED = frozenset({"and", "&"})
_FOLLOW_WORDS = (
    "and in on for starring from with at as who which that based to after before during when while by under until "
    "is was are were has had or near but since where whose about between also then"
)
_FOLLOW = frozenset(_FOLLOW_WORDS.split())
_ABBREVIATED = re.compile(
    r"(?:[^\W\d_](?:\.[^\W\d_])*|Jr|Sr|St|Mt|Dr|Mr|Mrs|Ms|Prof|Rev|Smt|Sri|Shri|Fr|Gen|Col|Capt)\."
)
_NOT_NAMES_WORDS = "he she it his her its their they this that these those the a an i we"
_NOT_NAMES = frozenset(_NOT_NAMES_WORDS.split())
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(
    rf"\d{{1,2}} (?:{_MONTHS}),? \d{{3,4}}|(?:{_MONTHS}) \d{{1,2}}, ?\d{{4}}|(?:{_MONTHS}),? \d{{4}}|1\d{{3}}|20\d{{2}}"
)
DATED = re.compile(rf"\b(?:{_MONTHS})\b|\d{{4}}$|^\d")
"""A name that is a date, or little more."""
_DAY = re.compile(rf"(\d{{1,2}}) ({_MONTHS}),? (\d{{3,4}})|({_MONTHS}) (\d{{1,2}}), ?(\d{{4}})")
_YEAR = re.compile(r"\b(\d{3,4})\b")
_ROLE = re.compile(  # `the English rock band The Tides`: what stands before the name itself
    r"\s*(?:(?:the|an?|his|her) )?(?:[^\W\d_][\w'’-]* ){0,4}?(?:band|group|duo|singer|rapper|musician|artist|composer|"
    r"songwriter|singer-songwriter|director|filmmaker|producer|writer|author|novelist|poet|playwright|architect|engineer|"
    r"screenwriter|company|publisher|designer|developer|brothers|studio|label) (?=[^\W\d_a-z])"
)
_AFTER = re.compile(r"\s*(?:$|[,.;:!?()\[\]\"“”–—]|\s-|\w|&)")
"""What may stand after a name: no hyphen that joins more to it, no brace, no sign."""
MOST_WORDS = 8


def name_at(text: str, at: int) -> tuple[str, int] | None:
    """The name that begins here and where it ends, unless more follows that might belong to it ("Indian filmmaker")."""
    match = _ROLE.match(text, at) or re.compile(r"\s*(?:the )?").match(text, at)
    start = at = match.end() if match else at
    words: list[str] = []
    end = start
    while len(words) < MOST_WORDS and (token := _TOKEN.match(text, at)) is not None:
        word = token[1]
        if not (word[0].isupper() or (words and word in _PARTICLES and _capital_follows(text, token.end()))):
            break
        if word in _JOINED and not _one_name(text, start, token.end()):
            break
        words.append(word)
        at = end = token.end()
        if word.endswith(".") and not _ABBREVIATED.fullmatch(word):
            end -= 1
            break
    name = text[start:end].strip()
    if (
        not words
        or len(words) >= MOST_WORDS
        or (words[0].casefold() in _NOT_NAMES and (words[0] != "The" or len(words) == 1))
        or name.endswith(("'s", "’s", "’", "'"))
    ):
        return None
    following = _TOKEN.match(text, end)
    if not _AFTER.match(text, end):
        return None
    if following is not None and not following[1][0].isdigit() and following[1].rstrip(".").casefold() not in _FOLLOW:
        return None
    return name, end


def _capital_follows(text: str, at: int) -> bool:
    following = _TOKEN.match(text, at)
    return following is not None and (following[1][0].isupper() or following[1] in _PARTICLES - _JOINED)


def _one_name(text: str, start: int, at: int) -> bool:
    """`Hesk & Daughters` is one, `Anna Holm and Bertil Oakes` are two."""
    return text[start:at].rstrip().endswith("&")


def only_name_at(text: str, at: int) -> tuple[str, int] | None:
    """As `name_at`, and nothing where a list of names begins."""
    found = name_at(text, at)
    if found is None:
        return None
    rest = re.compile(r"\s*(?:,|and\b|&)\s*(?:and\s+)?").match(text, found[1])
    following = _TOKEN.match(text, rest.end()) if rest else None
    return None if following is not None and following[1][0].isupper() else found


def place_at(text: str, at: int) -> tuple[str, int] | None:
    """A name with the larger places it lies in: `Hill, New Hampshire`."""
    found = _loose(text, at)
    if found is None:
        return None
    start, end = found
    for _ in range(3):
        comma = re.compile(r",\s*").match(text, end)
        further = _loose(text, comma.end()) if comma else None
        if further is None:
            break
        end = further[1]
    return text[start:end].strip(), end


def _loose(text: str, at: int) -> tuple[int, int] | None:
    found = name_at(text, at)
    return None if found is None else (found[1] - len(found[0]), found[1])


def date_at(text: str, at: int) -> tuple[str, int] | None:
    match = re.compile(r"\s*").match(text, at)
    found = DATE.match(text, match.end() if match else at)
    if found is None or text[found.end() : found.end() + 1] in ("–", "-", "s", "/"):
        return None
    return found.group(), found.end()


def forms(value: str) -> tuple[str, ...]:
    """A value and the other ways to write it: a date with its day first or its month first."""
    match = _DAY.fullmatch(value)
    if match is not None:
        day, month, year = (match[1], match[2], match[3]) if match[1] else (match[5], match[4], match[6])
        return tuple(dict.fromkeys((value, f"{day} {month} {year}", f"{month} {day}, {year}")))
    return (value,)


def year(value: str) -> int | None:
    """The year of a date, where there is only one."""
    found = set(_YEAR.findall(value))
    return int(found.pop()) if len(found) == 1 else None


def moment(value: str) -> tuple[int, int, int] | None:
    """A date as it is compared; month and day are 0 where they are not known."""
    at = year(value)
    if at is None:
        return None
    months = _MONTHS.split("|")
    month = next((n for n, name in enumerate(months, start=1) if re.search(rf"\b{name}\b", value)), 0)
    match = _DAY.search(value)
    return at, month, int(match[1] or match[5]) if match else 0
