"""Names by their capitals (`Oriel Tamsett`, `University of the Lanner Isles`, `St. Maur Abbey`), and quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragways.index.graph.rules.words import STOP, Lexicon

_UPPER = re.escape("".join(c for c in map(chr, range(128, 0x2C00)) if c.isupper()))
_U = rf"[A-Z{_UPPER}]"
_W = r"[^\W_]"
_CAPITAL = rf"(?:[Aa]l-|[Ee]l-|[dl]['’])?{_U}{_W}*(?:['’\-–]{_W}+)*"
_SHORT = rf"(?:St|Dr|Mr|Mrs|Ms|Jr|Sr|Mt|Ft|Lt|Col|Gen|Capt|Sgt|Prof|Rev|Hon|Bros|Co|Inc|Ltd|{_U})\."
_PARTICLE = (
    r"(?:of the|of|de la|de los|de las|de|del|della|der|den|des|di|da|do|dos|du|la|le|les|von der|von dem|von|van der|"
    r"van den|van de|van|zu|zur|ten|ter|bin|ibn|al|el|af|upon|sur)"
)
_NAME = re.compile(
    rf"(?:{_SHORT}|\b{_CAPITAL})(?:(?: {_PARTICLE} | - | & | |-)(?:{_SHORT}|{_CAPITAL}))*"
    r"(?: \d{1,3}(?![\d%-]|[.,]\d))?"
)
_QUOTED = re.compile(r"(?:[\"“]|``)([^\"“”`\n]{2,100}?)(?:[\"”]|'')")
_STARTED = "the new old great north south east west central upper lower san santa saint little big black white red"
_STARTERS = frozenset(_STARTED.split())
"""Everyday words that begin names: at the start of a sentence, before another capital, they count as part of it."""
_MARK = re.compile(r"[\"“`]")
_POSSESSIVE = re.compile(r"['’]s?$")
_LONG_THEN_SHORT = re.compile(rf"\(\s*(?:the |or |abbreviated |abbreviated as )?({_U}[{_UPPER}A-Z&.]{{1,9}}s?)\s*[);,]")
_DIGIT = re.compile(r"\d")
_UNITS = (
    "%|percent|per cent|km²|km2|km|kilomet(?:er|re)s?|metres?|meters?|m|cm|mm|miles?|feet|ft|inches|inch|acres?|"
    "hectares?|kg|kilograms?|grams?|tonn?es?|tons?|pounds?|lbs?|litres?|liters?|mph|km/h|knots?|°C|°F|degrees|"
    "million|billion|trillion|people|inhabitants|residents|passengers|seats|years?|days?|hours?|minutes?|seconds?|"
    "dollars|euros|watts?|MW|GW|kW|Hz|MHz|kHz|GHz"
)
_QUANTITY = re.compile(rf"(?<![\w.,])[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s?-?\s?(?:{_UNITS}))(?!\w)|[$€£¥]\d[\d,]*(?:\.\d+)?")


def capital_names(text: str, start: int, end: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Places of names in one sentence. Its first word has a capital anyway, so it counts only if it is not common."""
    first = True
    for match in _NAME.finditer(text, start, end):
        low, high = match.span()
        opening = first and not any(c.isalnum() for c in text[start:low])
        first = False
        place = _trimmed(text, low, high, opening, lexicon)
        if place is not None:
            yield place


def _trimmed(text: str, low: int, high: int, opening: bool, lexicon: Lexicon) -> tuple[int, int] | None:
    """The name without the words that open the sentence and are none (`In Paris`, `However Tamsett`).

    Inside a sentence a capital is meant: there `New` and `The` belong to the name.
    """
    name = text[low:high]
    while opening and " " in name:
        head, _, rest = name.partition(" ")
        bare = _POSSESSIVE.sub("", head).casefold()
        if bare in _STARTERS or not lexicon.common(bare):
            break
        low += len(head) + 1
        name, opening = rest, not rest[:1].isupper()
    bare = _POSSESSIVE.sub("", name)
    if " " not in bare and (bare.casefold() in STOP or len(bare) < 2 or (opening and lexicon.common(bare))):
        return None
    return low, low + len(bare)


def quoted_names(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Works in quotation marks that are written as names are: a capital at the start, eight words at most."""
    if not _MARK.search(text, start, end):
        return
    for match in _QUOTED.finditer(text, start, end):
        inner = match[1].strip(" ,.;")
        words = inner.split()
        if inner[:1].isupper() and 1 <= len(words) <= 8 and sum(w[0].isupper() for w in words) * 2 >= len(words):
            low = match.start(1) + match[1].index(inner)
            yield low, low + len(inner)


def acronyms(text: str, span: tuple[int, int], names: list[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """Short forms in brackets after the long form whose letters they are: `World Health Organization (WHO)`."""
    if text.find("(", *span) < 0:
        return
    ends = {high: low for low, high in names}
    for match in _LONG_THEN_SHORT.finditer(text, *span):
        before = match.start()
        while before > 0 and text[before - 1] == " ":
            before -= 1
        low = ends.get(before)
        if low is not None and _spells(match[1], text[low:before]):
            yield match[1], text[low:before]


def _spells(short: str, long: str) -> bool:
    letters = [c for c in short if c.isupper()]
    initials = [word[0] for word in re.findall(r"[^\W_]+", long) if word[0].isupper()]
    every = [word[0].upper() for word in re.findall(r"[^\W_]+", long)]
    words = (initials, every, initials[1:] if long.startswith("The ") else [])
    return len(letters) >= 2 and letters in words


def quantities(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of numbers with a unit."""
    if not _DIGIT.search(text, start, end):
        return
    for match in _QUANTITY.finditer(text, start, end):
        yield match.span()
