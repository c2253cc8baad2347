"""Passages and the things they are about: which of them a name leads to."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

MOST_CHARACTERS: Final = 4000
"""Of a passage that are looked at."""
MOST_SENTENCES: Final = 200
LEAD: Final = 600
"""Characters in which a text says what its subject is."""
IS_A = re.compile(r"\b(?:is|was|are|were|refers to)\b(?! (?:born|also|released|directed|founded|named|located)\b)")
"""Where a text begins to say so."""


@dataclass(frozen=True)
class Page:
    """A passage: its place among those given, its title and its sentences (`of` keeps so much as is looked at)."""

    number: int
    title: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, number: int, title: str, sentences: Sequence[str]) -> Page:
        return cls(number, title[:300], tuple(each[:MOST_CHARACTERS] for each in sentences[:MOST_SENTENCES]))

    @cached_property
    def text(self) -> str:
        return " ".join(self.sentences)[:MOST_CHARACTERS]

    @cached_property
    def key(self) -> str:
        return name_key(self.title)

    @cached_property
    def lead(self) -> str:
        """Its beginning, without what stands in brackets."""
        return _BRACKETS.sub("", self.text[:LEAD])

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(sentence) + 1 for sentence in self.sentences), initial=0))

    def sentence_at(self, place: int) -> int:
        """The sentence in which a character of the text stands."""
        return bisect_right(self._starts, place, hi=len(self.sentences)) - 1

    def sentence_span(self, place: int) -> tuple[int, int]:
        """Where that sentence begins and ends in the text."""
        number = self.sentence_at(place)
        return self._starts[number], self._starts[number + 1] - 1


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value that a sentence states, in its words; `low` and `high` put it on a scale that it shares with its like."""

    passage: int
    sentence: int
    text: str
    low: float = 0.0
    high: float = 0.0
    names: frozenset[str] = frozenset()
    """The countries, states or people it names, in a form that can be compared."""


_BRACKETS = re.compile(r"\([^()]{0,400}\)")
_END_BRACKET = re.compile(r"\([^()]{0,200}\)\s*$")
_MARK = re.compile(r"[\u0300-\u036f]")
_WORD = re.compile(r"\w+")


def name_key(name: str, *, whole: bool = False) -> str:
    """A name so that its spellings are one: no case, accents, punctuation, article, and (unless `whole`) no bracket
    behind it that tells it from others.
    """
    name = name[:MOST_CHARACTERS]
    name = name if whole else _END_BRACKET.sub("", name) or name
    plain = _MARK.sub("", unicodedata.normalize("NFKD", name.casefold())).replace("ı", "i").replace("ł", "l")
    words = _WORD.findall(plain)
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words)


def about(name: str, pages: Sequence[Page], hint: str = "") -> list[Page]:
    """The passages about a thing: those whose title is its name; else whose title begins with it or the other way
    round; else whose text begins with it, or names it before it says what its subject is ("Foo, also called Bar, is").
    Of equals, those that hold the hint come first.
    """
    key, whole = name_key(name), name_key(name, whole=True)
    if not key:
        return []
    ranked = [(_nearness(key, whole, page), page) for page in pages]
    best = max((near for near, _ in ranked), default=0)
    found = [page for near, page in ranked if near == best > 0]
    return sorted(found, key=lambda page: hint not in f"{page.title} {page.lead}".casefold()) if hint else found


def _nearness(key: str, whole: str, page: Page) -> int:
    words, title = key.split(), page.key.split()
    is_a = IS_A.search(page.text, 0, LEAD)
    begin = name_key(page.text[: is_a.start() if is_a else 100], whole=True)
    # A name that says more than the title ("Ash, Kent") is this one where the text says it, too.
    more = set(words[len(title) :]) if title and words[: len(title)] == title else {""}
    ways = (
        name_key(page.title, whole=True) == whole,
        page.key == key,
        title[: len(words)] == words or more <= set(name_key(page.text[:LEAD], whole=True).split()),
        len(words) > 1 and len(title) > 1 and (words[0], words[-1]) == (title[0], title[-1]),
        f"{begin} ".startswith(f"{key} "),
        is_a is not None and f" {key} " in f" {begin} ",
    )
    return next((len(ways) - at for at, holds in enumerate(ways) if holds), 0)


def short_form(name: str, pages: Sequence[Page], hint: str) -> list[Page]:
    """The one passage with the hint whose title has the same last word and first letter: "Joe" stands for "Joseph"."""
    words = name_key(name).split()
    found = [
        page
        for page in pages
        if len(words) > 1 and page.key[:1] == words[0][:1] and page.key.endswith(f" {words[-1]}") and hint in page.lead
    ]
    return found if len(found) == 1 else []


def is_titled(name: str, pages: Sequence[Page]) -> bool:
    """Whether a passage has this name as its title."""
    key = name_key(name)
    return any(page.key == key for page in pages)
