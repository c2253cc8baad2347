"""The normal form of an answer: what it says, without markup, citations and names of systems, which judges like."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

_RULE = re.compile(r"^[\s|:=_*~-]{3,}$")
_ITEM = re.compile(r"^\s*(?:[-*+•‣◦–—]|#{1,6}|>)\s+")
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[a-z]\))\s+")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_LIST_OF_SOURCES = re.compile(r"^\W*(?:sources?|references|citations|bibliography|further reading)\W*$", re.IGNORECASE)
_SOURCE_LINE = re.compile(r"^\W*(?:sources?|references?|citations?)\W*:\W*\S", re.IGNORECASE)
_TAGS = r"</?(?:b|i|u|em|strong|ul|ol|li|br|p|div|span|h[1-6]|sup|sub|table|tr|td|th|code|pre)\b[^<>]{0,200}>"
_CITED = r"(?:sources?|refs?|references?|citations?|cited from|see)\b[^()\[\]\n]{0,300}"
_PIECE = r"(?:docs?|documents?|passages?|chunks?|evidence|excerpts?)\W{0,3}\d[^()\[\]\n]{0,100}"
# What must stand in a text for a pattern to be tried: most answers have nothing of the kind.
_INLINE = [
    (("`",), re.compile(r"```[\w+-]{0,20}|`"), ""),
    (("](",), re.compile(r"!?\[([^\[\]\n]{0,300})\]\((?:[^()\s]{1,500})\)"), r"\1"),
    (("://", "www."), re.compile(r"\s?(?:https?://|www\.)[^\s)\]]{0,500}[^\s)\].,;:!?]"), ""),
    (("[", "【"), re.compile(r"\s?\[\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20}\]|\s?【[^【】\n]{0,100}】"), ""),
    (("(", "["), re.compile(rf"\s?[(\[](?:{_CITED}|{_PIECE})[)\]]", re.IGNORECASE), ""),
    (("<",), re.compile(_TAGS, re.IGNORECASE), " "),
    (("**", "__", "~~"), re.compile(r"(\*\*|__|~~)(?=\S)([^\n]{1,2000}?)(?<=\S)\1"), r"\2"),
    (("*",), re.compile(r"(?<![\w*])\*(?=\S)([^*\n]{1,2000})(?<=\S)\*(?![\w*])"), r"\1"),
    (("_",), re.compile(r"(?<!\w)_(?=\S)([^_\n]{1,2000})(?<=\S)_(?!\w)"), r"\1"),
    (("",), re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]"), ""),
]
_ACCORDING = re.compile(
    r"(^|[.!?]\s)(?:according to|based on|as stated in|as per) (?:the |these |all )?"
    r"(?:provided |given |retrieved |available |above |cited ){0,2}"
    r"(?:sources?|passages?|documents?|context|evidence|excerpts?|information|texts?)(?: (?:above|provided))?,\s*(\w)",
    re.IGNORECASE | re.MULTILINE,
)
_LOOSE = re.compile(r"(?: \(\))? ([.,;!?])(?=\s|$)")
_END = (".", "!", "?", ":", ";", ",", "…")
SHORTEST_NAME = 3
"""Characters of a system's name; what is shorter is one only where the answer speaks of itself."""


def normal_form(text: str, names: Iterable[str] = (), question: str = "") -> str:
    """The answer as one paragraph: no lists, headings, tables, emphasis or links, no citations, and no `names` of
    systems where it speaks of itself; it begins with a capital. Names that are no usual words are taken out
    everywhere, unless the question names them.
    """
    for signs, pattern, put in _INLINE:
        if any(sign in text for sign in signs):
            text = pattern.sub(put, text)
    text = _ACCORDING.sub(lambda found: found[1] + found[2].upper(), text)
    text = _unnamed(_joined(text.splitlines()), names, question)
    text = _LOOSE.sub(r"\1", " ".join(text.split()))
    return text[:1].upper() + text[1:]


def _joined(lines: list[str]) -> str:
    numbered = sum(bool(_NUMBERED.match(line)) for line in lines) > 1
    found: list[tuple[str, bool]] = []
    for line in lines:
        if found and _LIST_OF_SOURCES.match(line):
            break
        if not line.strip() or _RULE.match(line) or (found and _SOURCE_LINE.match(line)):
            continue
        if _ROW.match(line):
            found.append((", ".join(cell.strip() for cell in line.strip().strip("|").split("|") if cell.strip()), True))
            continue
        bare = _ITEM.sub("", line)
        if numbered:
            bare = _NUMBERED.sub("", bare)
        found.append((bare.strip(), bare != line))
    parts: list[str] = []
    for (line, item), (_, next_item) in pairwise([*found, ("", False)]):
        last = len(parts) == len(found) - 1
        parts.append(line if last or not (item or next_item) or line.endswith(_END) else f"{line}.")
    return " ".join(parts)


def _unnamed(text: str, names: Iterable[str], question: str) -> str:
    for name in sorted(set(names) - {""}, key=lambda name: (-len(name), name)):
        if name.casefold() not in text.casefold():
            continue
        own = re.escape(name)
        begins = rf"(^|[.!?]\s)(?:(?:according to|as|answer(?:ed)? (?:by|of|from)|i am|this is) {own}"
        label = re.compile(
            rf"{begins}(?: (?:says|said|found|finds|puts it|answers|reports))?\s?[:,.–-]|[(\[]?{own}[)\]]?\s?:)\s?(\w)",
            re.IGNORECASE,
        )
        text = label.sub(lambda found: found[1] + found[2].upper(), text)
        if len(name) < SHORTEST_NAME:
            continue
        text = re.sub(rf"\s?[(\[](?:(?:by|from|via|answer of) )?{own}[)\]]", "", text, flags=re.IGNORECASE)
        usual = name.isalpha() and name.islower()
        if not usual and name.casefold() not in question.casefold():
            text = re.sub(rf"(?<!\w){own}(?!\w)", "the system", text, flags=re.IGNORECASE)
    return text
