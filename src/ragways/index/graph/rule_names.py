"""Names in a sentence by rules: capitals, quotation marks, acronyms, and quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ragways.index.graph.kinds import is_given
from ragways.index.graph.names import STOP, Lexicon

_UPPER = re.escape("".join(c for c in map(chr, range(128, 0x2C00)) if c.isupper()))
_U = rf"[A-Z{_UPPER}]"
_W = r"[^\W_]"
_CAPITAL = rf"(?:[Aa]l-|[Ee]l-|[dl]['’])?{_U}{_W}*(?:['’\-–]{_W}+)*"
_SHORT = rf"(?:St|Dr|Mr|Mrs|Ms|Jr|Sr|Mt|Ft|Lt|Col|Gen|Capt|Sgt|Prof|Rev|Hon|Bros|Co|Inc|Ltd|{_U}(?:\.{_U})*)\."
_PARTICLE = (
    r"(?:of the|of|de la|de los|de las|de|del|della|der|den|des|di|da|do|dos|du|la|le|les|von der|von dem|von|van der|"
    r"van den|van de|van|zu|zur|ten|ter|bin|ibn|al|el|af|upon|sur)"
)
_NAME = re.compile(
    rf"(?=[aedlA-Z{_UPPER}])"  # with what a name begins: other places are passed over at once
    rf"(?:{_SHORT}|\b{_CAPITAL})(?:(?: {_PARTICLE} | - | & | |-)(?:{_SHORT}|{_CAPITAL}))*"
    rf"(?: \d{{1,3}}(?![\d%-]|[.,]\d| {_U}| \d))?"
)
_QUOTED = re.compile(r"(?:[\"“]|``)([^\"“”`\n]{2,100}?)(?:[\"”]|'')")
_STARTED = "the new old great north south east west central upper lower san santa saint little big black white red"
_STARTERS = frozenset(_STARTED.split())
"""Everyday words that begin names: at the start of a sentence, before another capital, they count as part of it."""
_OWNED = re.compile(r"([\w ]+)['’]s ([^\W\d_]+) ")
_CROWD = 12
"""Words from which on a run of capitals is no sentence."""
_WORDS = re.compile(r"[^\W_]+")
_BORDER = re.compile(r"(?:[.!?:]\s|[\n\"'“‘(\[{=|])[^\w]*$")
_OF = re.compile(r" (?:of|de|du|del|von|van|&) ")
_ROLE = re.compile(r" (?:CEO|CTO|CFO|COO) (?=\w)")
_HYPHENED = re.compile(r"([^\W\d_]+)(?:[-–][a-z]+)+$")
_CONTRACTED = re.compile(r"['’]\w+$")
_SPELT = 4
"""Letters from which on a common word in capitals is shouted, not an acronym."""
_LOOK_BACK = 12
"""Characters before a name in which a sentence or a line may begin: a list's signs are longer than a space."""
_CODE = re.compile(r"[{}<>=\\/_]")
_MARK = re.compile(r"[\"“`]")
_POSSESSIVE = re.compile(r"['’]s?$")
_LONG_THEN_SHORT = re.compile(rf"\(\s*(?:the |or |abbreviated |abbreviated as )?({_U}[{_UPPER}A-Z&.]{{1,9}}s?)\s*[);,]")


def capital_names(text: str, start: int, end: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Places of names in one sentence. Its first word has a capital anyway, so it counts only if it is not common.

    A heading in common words is no name. Fields of a box that run on without a full stop are cut at common words.
    """
    crowded = is_crowded(text[start:end])
    for low, high in _capitals(text, start, end):
        opening = _opens(text, start, low)
        if crowded:
            yield from _between_common(text, low, high, lexicon)
            continue
        place = _trimmed(text, low, high, opening, lexicon)
        if place is not None and not (opening and _heading(text, place, end, lexicon)):
            yield place


def _opens(text: str, start: int, low: int) -> bool:
    """Whether a sentence that begins at `start`, or a line or a part of it, begins with what stands at `low`."""
    if low - start > 1 and text[low - 1] == " " and text[low - 2].isalnum():
        return False  # as most: one space behind a word
    if low - start <= _LOOK_BACK and not any(map(str.isalnum, text[start:low])):
        return True
    return _BORDER.search(text, max(start, low - _LOOK_BACK), low) is not None


def _capitals(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of words with capitals. `Lanner Ltd. CEO Oriel Tamsett` and `Egypt's George Smith` are two,
    `Euclid's Elements` is one, and a part of `COMP_WORDS` is none.
    """
    for match in _NAME.finditer(text, start, end):
        low, high = match.span()
        if text[high : high + 1] == "_" or text[max(0, low - 1) : low] == "_":
            continue
        name = match.group()
        while " C" in name and (role := _ROLE.search(text, low, high)) is not None:
            yield low, role.start()
            low = role.end()
        owned = _OWNED.match(text, low, high) if "'" in name or "’" in name else None
        if owned is not None and is_given(owned[2]):
            yield low, owned.end(1)
            low = owned.start(2)
        yield low, high


@lru_cache(maxsize=4096)  # a sentence is asked of twice
def is_crowded(sentence: str) -> bool:
    """Whether a sentence is a run of fields: many words, most of them with capitals or digits."""
    words = sentence.split()
    return len(words) >= _CROWD and sum(not word[0].islower() for word in words) > 0.7 * len(words)


def _between_common(text: str, low: int, high: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """The parts of a name that common words divide, those of one word aside."""
    begin = last = -1
    for match in re.finditer(r"\S+", text[low:high] + " \n."):
        word = match.group()
        if word == "." or lexicon.common(word.strip(".")) or word[0].isdigit():
            if begin >= 0 and " " in text[low + begin : low + last]:
                yield low + begin, low + last
            begin = -1
        else:
            begin = match.start() if begin < 0 else begin
            last = match.end()


def _heading(text: str, place: tuple[int, int], end: int, lexicon: Lexicon) -> bool:
    """Whether a name in common words alone is all that its line says."""
    low, high = place
    rest = text[high:end]
    return not any(c.isalnum() or c in ".!?" for c in rest) and all(map(lexicon.opener, _WORDS.findall(text[low:high])))


def _trimmed(text: str, low: int, high: int, opening: bool, lexicon: Lexicon) -> tuple[int, int] | None:
    """The name without the words that open the sentence and are none (`In Paris`, `However Tamsett`, `Add Arabic`).

    Inside a sentence a capital is meant: there `New` and `The` belong to the name. A single word that the corpus
    writes small more often is none even there, nor is a number or a day (`May 4`).
    """
    name = text[low:high]
    while " " in name:
        head, _, rest = name.partition(" ")
        if not (opening and (bare := _bare(head).casefold()) not in _STARTERS and lexicon.opener(bare)) and not (
            _hyphened(head) and lexicon.common(head.rpartition("-")[2])  # `Virginia-based Lanner`
        ):
            break
        low += len(head) + 1
        name, opening = rest, not rest[:1].isupper()
    bare = _ended(_bare(name), text[low + len(name) : low + len(name) + 2])
    words = bare.split()
    if len(bare) < 2 or (not bare[:2].isalnum() and sum(map(str.isalnum, bare)) < 2):
        return None
    if _is_no_name(words[0]) and _is_no_name(words[-1]):
        return None
    return (low, low + len(bare)) if _is_name(words, opening, lexicon) else None


# An expression is tried only where its signs are: most names have none of them.


def _bare(name: str) -> str:
    """A name without the ending of an owner."""
    return _POSSESSIVE.sub("", name) if "'" in name or "’" in name else name


def _hyphened(word: str) -> re.Match[str] | None:
    """`Virginia-based`, with its first part."""
    return _HYPHENED.match(word) if "-" in word or "–" in word else None


def _is_no_name(word: str) -> bool:
    return word.isdigit() or word.casefold() in STOP


def _ended(name: str, after: str) -> str:
    """The name up to where a sentence ended unseen: `World War I. A …`, `PCR A polymerase`."""
    words = name.split() if "." in name else []
    for at in range(1, len(words)):
        if words[at - 1].endswith(".") and words[at].casefold() in STOP:
            return " ".join(words[:at]).rstrip(".")
    return name.removesuffix(" A") if after[:1] == " " and after[1:].islower() else name


def _is_name(words: list[str], opening: bool, lexicon: Lexicon) -> bool:
    """Whether words with capitals are a name rather than common words that begin a line or run on."""
    letters = [word for word in words if not word.isdigit()]
    known = lexicon.opener if opening else lexicon.common
    if len(letters) > 1:
        return lexicon.is_name(letters) or bool(_OF.search(" ".join(words)))
    word = letters[0]
    if (_CONTRACTED.sub("", word) if "'" in word or "’" in word else word).casefold() in STOP:
        return False
    hyphened = _hyphened(word)
    if hyphened and (lexicon.opener(hyphened[1]) or hyphened[1].casefold() in STOP):
        return False
    return (word.isupper() and len(word) < _SPELT) or not known(word)


def quoted_names(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Works in quotation marks that are written as names are: a capital at the start, eight words at most."""
    if not _MARK.search(text, start, end):
        return
    for match in _QUOTED.finditer(text, start, end):
        inner = match[1].strip(" ,.;")
        words = inner.split() if not _CODE.search(inner) else []
        if inner[:1].isupper() and 1 <= len(words) <= 8 and sum(w[0].isupper() for w in words) * 2 >= len(words):
            low = match.start(1) + match[1].index(inner)
            yield low, low + len(inner)


def acronyms(text: str, span: tuple[int, int], names: Iterable[tuple[int, int]]) -> Iterator[tuple[str, str]]:
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


def uncased(text: str) -> bool:
    """Whether most letters of a text, by a sample from its start, belong to a script without capitals."""
    letters = [c for c in text[:400:4] if c.isalpha()]
    return bool(letters) and sum(c.lower() != c.upper() for c in letters) * 2 < len(letters)


_DIGIT = re.compile(r"\d")
_UNITS = (
    "%|percent|per cent|km²|km2|km|kilomet(?:er|re)s?|metres?|meters?|m|cm|mm|miles?|feet|ft|inches|inch|acres?|"
    "hectares?|kg|kilograms?|grams?|tonn?es?|tons?|pounds?|lbs?|litres?|liters?|mph|km/h|knots?|°C|°F|degrees|"
    "million|billion|trillion|people|inhabitants|residents|passengers|seats|years?|days?|hours?|minutes?|seconds?|"
    "dollars|euros|watts?|MW|GW|kW|Hz|MHz|kHz|GHz"
)
_QUANTITY = re.compile(
    r"(?=[$€£¥\d])"  # as above
    rf"(?:(?<![\w.,])[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s?-?\s?(?:{_UNITS}))(?!\w)|[$€£¥]\d[\d,]*(?:\.\d+)?)"
)


_SIGNS = {"%": " percent", "$": " dollars", "€": " euros", "£": " pounds sterling", "¥": " yen"}


def quantities(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Places of numbers with a unit, and how they are called: in words, so that `4%` is compared with no other 4."""
    if not _DIGIT.search(text, start, end):
        return
    for match in _QUANTITY.finditer(text, start, end):
        name = match.group()
        sign = next((unit for sign, unit in _SIGNS.items() if sign in name), "")
        yield *match.span(), "".join(c for c in name if c not in _SIGNS).strip() + sign
