"""What of a passage the reader is shown: the stretch of whole sentences that shares most with the question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ragways.models.reader import Passage

_WORD = re.compile(r"\w+")
_STEM = 6
"""Letters by which words are compared: enough to tell most apart, few enough for their forms to be one."""
_EMPTY = frozenset(
    _WORD.findall(
        "a an and are as at be by did do does for from had has have how if in is it its of on or that the their there "
        "this to was were what when where which who whom whose why will with you your"
    )
)
MOST = 400
"""Sentences of a passage that are looked at."""


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences of the passage `passage` (from 0) with the title, from its sentence `first` on."""

    passage: int
    first: int
    title: str
    sentences: tuple[str, ...]

    @property
    def shown(self) -> Passage:
        return Passage(self.title, " ".join(self.sentences))

    def sentence_at(self, place: int) -> int | None:
        """The sentence of the passage in which a character of what is shown stands; None in the title."""
        begin = self.shown.begin
        if place < begin:
            return None
        ends = accumulate((len(sentence) + 1 for sentence in self.sentences), initial=begin)
        return self.first + max(number for number, start in enumerate(list(ends)[:-1]) if start <= place)


def windows(question: str, passages: Sequence[tuple[str, Sequence[str]]], size: int) -> list[Window]:
    """For each passage, a title and sentences, the stretch of at most `size` characters that shares most words with the
    question; the first of equal ones. Words that few sentences hold weigh more. A single sentence that is longer is
    shown from where most words of the question stand.
    """
    wanted = content_stems(question)
    stems_of = [[stems(sentence) & wanted for sentence in sentences[:MOST]] for _, sentences in passages]
    counts = Counter(stem for passage in stems_of for found in passage for stem in found)
    total = sum(map(len, stems_of))
    weights = {stem: math.log(1 + total / (1 + counts[stem])) for stem in wanted}
    return [
        _window(number, title, sentences, found, weights, size)
        for number, ((title, sentences), found) in enumerate(zip(passages, stems_of, strict=True))
        if sentences
    ]


def _window(
    number: int,
    title: str,
    sentences: Sequence[str],
    stems_of: Sequence[frozenset[str]],
    weights: dict[str, float],
    size: int,
) -> Window:
    best, most = (0, 1), -1.0
    for first in range(len(stems_of)):
        room, last = size - len(sentences[first]), first + 1
        while last < len(stems_of) and len(sentences[last]) + 1 <= room:
            room -= len(sentences[last]) + 1
            last += 1
        shared = sum(weights[stem] for stem in frozenset[str]().union(*stems_of[first:last]))
        if shared > most + 1e-9:
            best, most = (first, last), shared
        if last == len(stems_of):
            break
    first, last = best
    return Window(number, first, title, tuple(_cut(sentence, weights, size) for sentence in sentences[first:last]))


def _cut(sentence: str, weights: dict[str, float], size: int) -> str:
    """Of a sentence that is longer than `size`, the whole words of the part in which most of the question's stand."""
    if len(sentence) <= size:
        return sentence
    found = [(m.start(), weights.get(m.group().casefold()[:_STEM], 0.0)) for m in _WORD.finditer(sentence[: 50 * size])]
    best, most = 0, -1.0
    for begin in range(0, min(len(sentence), 50 * size), max(size // 4, 1)):
        shared = sum(weight for place, weight in found if begin <= place < begin + size)
        if shared > most + 1e-9:
            best, most = begin, shared
    shown = sentence[best : best + size]
    if best and not sentence[best - 1].isspace():
        shown = shown.partition(" ")[2] or shown
    if best + size < len(sentence) and not sentence[best + size].isspace():
        shown = shown.rpartition(" ")[0] or shown
    return shown


@lru_cache(maxsize=20_000)
def stems(text: str) -> frozenset[str]:
    """The first letters of a text's words."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))


def content_stems(text: str) -> frozenset[str]:
    """The same without words that say nothing of what a text is about."""
    return stems(text) - _EMPTY
