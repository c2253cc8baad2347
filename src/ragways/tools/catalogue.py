"""The titles of a corpus: which article a name or an id means, and which titles are nearest a text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import title_name
from ragways.tools.error import ToolError

_LONGEST = 200
_HOPS = 5
_ID = re.compile(r"article:([0-9]{1,18})(:.*)?", re.ASCII | re.DOTALL)


class Catalogue:
    """Every title, and where each redirect ends. Articles are numbers; `article:` is put before them for showing."""

    def __init__(self, rows: Iterable[tuple[int, str, str | None]]) -> None:
        self.titles: dict[int, str] = {}
        self._by_name: dict[str, int] = {}
        leads: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for number, title, redirect in rows:
            name = title_name(title)
            if redirect is None:
                self.titles[number] = title
                self._by_name.setdefault(name, number)
            else:
                leads[name] = title_name(redirect)
                spelled[name] = title
        self.redirects = self._ends(leads, spelled)
        self.numbers = sorted(self.titles)

    def _ends(self, leads: dict[str, str], spelled: dict[str, str]) -> dict[str, int]:
        """Titles of redirects with the article each leads to; one that leads nowhere, or in a circle, is left out."""
        ends = {}
        for name in leads:
            here = name
            for _ in range(_HOPS):
                if here not in leads or here in self._by_name:
                    break
                here = leads[here]
            if here in self._by_name and name not in self._by_name:
                ends[spelled[name]] = self._by_name[here]
        self._by_name |= {title_name(title): number for title, number in ends.items()}
        return ends

    @cached_property
    def names(self) -> dict[int, frozenset[str]]:
        """The names by which an article can be linked to: its own, and those of its redirects."""
        known: dict[int, set[str]] = defaultdict(set)
        for name, number in self._by_name.items():
            known[number].add(name)
        return {number: frozenset(some) for number, some in known.items()}

    def by_name(self, name: str) -> int | None:
        """The article of a name as names are compared, redirects resolved."""
        return self._by_name.get(name)

    def find(self, text: str) -> int:
        """The article that an id, the id of one of its parts, or a title means."""
        text = text.strip()[:_LONGEST]
        match = _ID.fullmatch(text)
        if match is not None:
            if int(match[1]) in self.titles:
                return int(match[1])
            raise ToolError(f"there is no article with the id {shown(text)}", self._near_number(int(match[1])))
        found = self._by_name.get(title_name(text))
        if found is None:
            near = [self.label(number) for number, _ in self.nearest(text, 5)]
            raise ToolError(f"there is no article called {shown(text)}", near)
        return found

    def label(self, number: int) -> str:
        return f"article:{number} ({self.titles[number][:_LONGEST]})"

    def _near_number(self, number: int) -> list[str]:
        at = bisect_left(self.numbers, number)
        return [self.label(near) for near in self.numbers[max(0, at - 2) : at + 2]]

    def nearest(self, text: str, k: int) -> list[tuple[int, float]]:
        """The k articles with the titles most like a text, by the letters they share; 1.0 is the same title."""
        exact = self._by_name.get(title_name(text[:_LONGEST]))
        found: dict[int, float] = {} if exact is None else {exact: 1.0}
        # A redirect and its article are one: look at more titles than are wanted.
        for place, score in self._grams.nearest(_plain(text[:_LONGEST]), 4 * k + 8):
            found.setdefault(self._entries[place], score)
        return list(found.items())[:k]

    @cached_property
    def _entries(self) -> list[int]:
        return [*self.numbers, *self.redirects.values()]

    @cached_property
    def _grams(self) -> Grams:
        return Grams([*(_plain(self.titles[n][:_LONGEST]) for n in self.numbers), *map(_plain, self.redirects)])


class Grams:
    """Texts by their runs of three letters, rare ones counting more; a cosine, so that 1.0 is the same text."""

    def __init__(self, texts: list[str]) -> None:
        places: dict[str, list[int]] = defaultdict(list)
        for at, text in enumerate(texts):
            for gram in _runs(text):
                places[gram].append(at)
        self._places = {gram: np.array(some, dtype=np.int32) for gram, some in places.items()}
        self._weights = {gram: float(np.log(1 + len(texts) / len(some))) for gram, some in places.items()}
        self._sizes = np.full(len(texts), 1e-9, dtype=np.float64)
        for gram, some in self._places.items():
            self._sizes[some] += self._weights[gram] ** 2
        self._sizes = np.sqrt(self._sizes)

    def nearest(self, text: str, k: int) -> list[tuple[int, float]]:
        """Places and scores of the k texts most like this one; equal scores in the order of the texts."""
        scores = self._scores(text)
        some = np.argpartition(-scores, k)[:k] if k < len(scores) else np.arange(len(scores))
        order = some[np.lexsort((some, -scores[some]))]
        return [(int(at), round(float(scores[at]), 4)) for at in order if scores[at] > 0]

    def _scores(self, text: str) -> NDArray[np.float64]:
        total = np.zeros(len(self._sizes), dtype=np.float64)
        size = 1e-9
        for gram in sorted(_runs(text)):
            weight = self._weights.get(gram, 1.0) ** 2
            size += weight
            if gram in self._places:
                total[self._places[gram]] += weight
        scores: NDArray[np.float64] = np.round(total / self._sizes / np.sqrt(size), 6)
        return scores


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", title_name(text))
    return "".join(c for c in decomposed if not unicodedata.combining(c))[: 2 * _LONGEST]


def _runs(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def shown(text: str) -> str:
    """What was asked for, short and on one line, for an error."""
    short = text if len(text) <= 80 else text[:79] + "…"
    return repr(short.encode("utf-8", "replace").decode())
