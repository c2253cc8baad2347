"""How an answer is dressed, apart from what it says: taken off before it is judged, and put on to test the judge.

Markup, citations and names of systems can be taken off: `normal_form` does, for every answer of a duel. What cannot be
taken off without a model (long words, one more sentence, an assured tone) is put on answers to see whether the judge
likes it: `DRESSES`. What the judge gave for such a style is then allowed for where the two sides differ in it:
`style_allowance`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Literal

from ragways.evaluation.statistics.inference import ALPHA, sign_flip

StyleName = Literal["bullets", "sources", "system names", "long words", "more words", "assurance"]

# --- Taken off ----------------------------------------------------------------------------------------------------

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


# --- Put on -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dress:
    """`wear` gives an answer (with its question and the name of its system) dressed, and plain in as many words.

    `measure`: how much of it a text wears; None where the normal form takes it off.
    """

    name: StyleName
    wear: Callable[[str, str, str], tuple[str, str]]
    measure: Callable[[str], float] | None = None


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SURE = re.compile(
    r"\b(?:absolutely|certainly|clearly|conclusively|decidedly|definitely|doubtless|evidently|obviously|surely|"
    r"undeniably|undoubtedly|unquestionably|without (?:any |a )?doubt|of course|no doubt)\b",
    re.IGNORECASE,
)
ECHO = 7
"""Words of the question that are said again: with three before them, as much as the tolerance of lengths leaves."""


def word_length(text: str) -> float:
    """Letters of a word, the mean."""
    words = text.split()
    return sum(map(len, words)) / len(words) if words else 0.0


def word_count(text: str) -> float:
    return float(len(text.split()))


def sure_words(text: str) -> float:
    """How many words there are that only say how sure it is."""
    return float(len(_SURE.findall(text)))


def _bulleted(text: str, *_: str) -> tuple[str, str]:
    return "\n".join(f"- {_emphasised(one)}" for one in _SENTENCE_END.split(text)), text


def _emphasised(sentence: str) -> str:
    first, _, rest = sentence.partition(" ")
    return f"**{first}** {rest}" if rest else sentence


def _sourced(text: str, *_: str) -> tuple[str, str]:
    parts = _SENTENCE_END.split(text)
    cited = [f"{one[:-1]} (source: document {n}){one[-1]}" for n, one in enumerate(parts, start=1) if one]
    return " ".join(cited), text


def _named(text: str, _: str, name: str) -> tuple[str, str]:
    return f"According to {name}: {text}", text


def _in_long_words(text: str, *_: str) -> tuple[str, str]:
    return (
        f"Correspondingly, comprehensively summarised: {text} Circumstantial particularities notwithstanding.",
        f"So, in short: {text} Give or take.",
    )


def _with_more_words(text: str, question: str, _: str) -> tuple[str, str]:
    """With a sentence more, within the tolerance of lengths, that says nothing but what was asked."""
    asked = " ".join(question.split()[:ECHO]).rstrip("?.!,;:")
    return f"{text} Asked about was: {asked}.", text


def _assured(text: str, *_: str) -> tuple[str, str]:
    return (
        f"Certainly, without doubt: {text} This is definitely so.",
        f"As asked, briefly: {text} This is the answer.",
    )


DRESSES = (
    Dress("bullets", _bulleted),
    Dress("sources", _sourced),
    Dress("system names", _named),
    Dress("long words", _in_long_words, word_length),
    Dress("more words", _with_more_words, word_count),
    Dress("assurance", _assured, sure_words),
)


# --- What styles may have added -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StyleAllowance:
    """Points of 20 by which a's answers, and b's, may lead because the judge likes how they are dressed, at most; and
    which styles these are.
    """

    for_a: float = 0.0
    for_b: float = 0.0
    styles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StyleBias:
    """What the judge's test says about one style: `amount` of it, as `measure` counts, was worth between `low` and
    `high` points.
    """

    name: str
    measure: Callable[[str], float]
    amount: float
    low: float
    high: float


def style_allowance(pairs: Sequence[tuple[str, str]], biases: Iterable[StyleBias]) -> StyleAllowance:
    """`pairs` are answers of a and b. A style in which they are not shown to differ adds nothing. Where they are, what
    it is worth is taken in proportion; but for no less than the share of pairs where one side wears more, as a judge
    may care about that alone.
    """
    for_a = for_b = 0.0
    named = []
    for bias in biases:
        between = [bias.measure(a) - bias.measure(b) for a, b in pairs]
        signs = [(one > 0) - (one < 0) for one in between]
        if not between or not bias.amount or min(sign_flip(between)[0], sign_flip(signs)[0]) > ALPHA:
            continue
        worn = max((fmean(between) / bias.amount, fmean(signs)), key=abs)
        ends = worn * bias.low, worn * bias.high
        for_a += max(0.0, *ends)
        for_b += max(0.0, *(-end for end in ends))
        named.append(bias.name)
    return StyleAllowance(for_a, for_b, tuple(named))
