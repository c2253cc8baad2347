"""The passages that a person is shown without a model: of each the part around what the question asks for.

A short passage is shown whole. Of a longer one the stretch of whole lines, sentences and blocks of code is shown that
holds most of the question's words, from the first line that has any of them, with the code that it leads to.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ragways.core.types import Answer
from ragways.corpus.structure import sentence_spans
from ragways.reading.windows import content_stems, stems

SHOWN: Final = 3
SIZE: Final = 700
"""Characters of a window, code that it leads to apart."""
CODE: Final = 600
_FENCE: Final = re.compile(r"\s*(`{3,})")

Unit = tuple[str, str]
"""A line, a sentence or a block of code, and what stands between it and the one before."""


def shown_passages(answer: Answer) -> dict[int, str]:
    """Return the passages to show by their numbers, from 1: those that are cited, then the best of the others."""
    cited = {citation.piece for citation in answer.citations}
    items = list(enumerate(answer.evidence.items, start=1))
    first = [number for number, hit in items if hit.piece.id in cited][:SHOWN]
    rest = [number for number, _ in items if number not in first]
    question = answer.evidence.hits.query.text
    texts = answer.evidence.shown or tuple(hit.piece.text for _, hit in items)
    return {number: window(question, texts[number - 1]) for number in [*first, *rest][:SHOWN]}


def window(question: str, markdown: str) -> str:
    """Return the part of a passage that holds most of a question's words."""
    units = list(_units(markdown))
    if len(markdown) <= SIZE or len(units) < 2:
        return markdown[: SIZE + CODE]
    wanted = content_stems(question)
    present = [stems(text) & wanted for text, _ in units]
    counts = Counter(stem for found in present for stem in found)
    weights = {stem: math.log1p(len(units) / count) for stem, count in counts.items()}
    best, most = (0, 1), -1.0
    for first in range(len(units)):
        last = _end(units, first)
        worth = sum(weights[stem] for stem in frozenset[str]().union(*present[first:last]))
        if worth > most + 1e-9:
            best, most = (first, last), worth
    first, last = best
    while first + 1 < last and not present[first] and not units[first][0].endswith(":"):
        first += 1
    last = _end(units, first)
    if last < len(units) and _FENCE.match(units[last][0]) and len(units[last][0]) <= CODE:
        last += 1
    chosen = units[first:last]
    return "".join([chosen[0][0], *(between + text for text, between in chosen[1:])])[: SIZE + CODE]


def _end(units: list[Unit], first: int) -> int:
    """The first unit that a window from `first` on has no room for."""
    room, last = SIZE, first
    while last < len(units) and (last == first or room >= len(units[last][0])):
        room -= len(units[last][0])
        last += 1
    return last


def _units(markdown: str) -> Iterator[Unit]:
    """Yield the lines of a text, long ones by sentences, and blocks of code whole."""
    code: list[str] = []
    fence, between = "", ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if fence or mark:
            code.append(line)
            if fence and mark and mark[1].startswith(fence):
                yield "\n".join(code), between
                code, fence, between = [], "", "\n"
            elif mark and not fence:
                fence = mark[1]
        elif not line.strip():
            between = "\n\n"
        else:
            spans = sentence_spans(line) if len(line) > SIZE // 2 else [(0, len(line))]
            for number, (start, end) in enumerate(spans):
                yield line[start:end], " " if number else between
            between = "\n"
    if code:
        yield "\n".join(code), between
