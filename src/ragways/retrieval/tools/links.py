"""The titles of a corpus, and which articles link to which."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import ToolError
from ragways.core.types import title_name
from ragways.index.graph.known_names import TitleTree
from ragways.retrieval.tools.queries import Queries

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


SCANNED = 32_000_000
"""Characters of documents without links that are searched for titles; the scan is done once for an open index."""
_PLACES = 20
_MEANINGS = 5
"""A mention that could mean more articles than this means none."""

Place = tuple[int, int]
"""A document, and where in its text."""


class ArticleLinks:
    """The links of a corpus, between articles that it holds."""

    def __init__(self, queries: Queries, catalogue: Catalogue) -> None:
        self._queries = queries
        self._catalogue = catalogue
        self._mentions: dict[int, dict[int, list[int]]] = defaultdict(dict)
        self.partial = False
        self._scan()
        self._nodes = np.array(catalogue.numbers, dtype=np.int64)
        self.adjacency = LinkGraph(len(self._nodes), self._pairs())

    def titles_in(self, text: str) -> list[tuple[int, int, list[int]]]:
        """TitleTree that stand in a text: where, and the articles that are called so."""
        return [
            (start, end, sorted({self._of_title[title] for title in titles}))
            for start, end, titles in self._titles.find(text, 0, len(text))
        ]

    def _scan(self) -> None:
        titles = self._catalogue.titles
        self._of_title = {title: number for number, title in reversed(titles.items())}
        leads = [(title, titles[number]) for title, number in self._catalogue.redirects.items()]
        self._titles = TitleTree([*((title, title) for title in self._of_title), *leads])
        left = SCANNED
        for number, text in self._queries.texts_without_links():
            self.partial = self.partial or len(text) > left
            self._scan_one(number, text[: max(0, left)])
            left -= len(text)

    def _scan_one(self, number: int, text: str) -> None:
        to = self._mentions[number]
        for start, _, meant in self.titles_in(text):
            for target in meant if len(meant) <= _MEANINGS else ():
                if target != number:
                    to.setdefault(target, []).append(start)

    def _pairs(self) -> NDArray[np.int64]:
        pairs = [(source, target) for source, some in self._mentions.items() for target in some]
        for source, name in self._queries.linked():
            target = self._catalogue.by_name(name)
            if target is not None and target != source:
                pairs.append((source, target))
        if not pairs:
            return np.zeros((0, 2), dtype=np.int64)
        return distinct(len(self._nodes), np.searchsorted(self._nodes, np.array(pairs, dtype=np.int64)))

    def node(self, article: int) -> int:
        return int(np.searchsorted(self._nodes, article))

    def articles(self, nodes: Iterable[int]) -> list[int]:
        return [int(self._nodes[node]) for node in nodes]

    def to(self, article: int) -> list[Place]:
        """Every place elsewhere that links to an article, or mentions it; by document, in reading order."""
        names = self._catalogue.names.get(article, ())
        places = set(self._queries.links_to(names, article))
        node = self.node(article)
        for source in self.articles(self.adjacency.into(node)):
            places |= {(source, start) for start in self._mentions.get(source, {}).get(article, ())}
        return sorted(places)

    def between(self, source: int, target: int) -> list[Place]:
        """The first places of one article that link to another, or mention it."""
        mentioned = self._mentions.get(source, {}).get(target, [])
        if mentioned:
            return [(source, start) for start in mentioned[:_PLACES]]
        return self._queries.links_between(source, self._catalogue.names.get(target, ()))


class LinkGraph:
    """A directed graph as arrays; nodes are 0 … n-1 and each edge stands once."""

    def __init__(self, nodes: int, edges: NDArray[np.int64]) -> None:
        self.size = nodes
        self._out = _rows(nodes, edges)
        self._in = _rows(nodes, edges[:, ::-1])
        self._both = _rows(nodes, distinct(nodes, np.concatenate([edges, edges[:, ::-1]])))

    def out(self, node: int) -> NDArray[np.int64]:
        return _row(self._out, node)

    def into(self, node: int) -> NDArray[np.int64]:
        return _row(self._in, node)

    def within(self, node: int, steps: int, direction: str = "both") -> dict[int, int]:
        """Nodes at most so many steps away, with their distance."""
        rows = {"out": self._out, "in": self._in}.get(direction, self._both)
        distance = np.full(self.size, -1, dtype=np.int64)
        distance[node] = 0
        frontier = np.array([node], dtype=np.int64)
        for step in range(1, steps + 1):
            _, reached = _expand(rows, frontier)
            frontier = np.unique(reached[distance[reached] < 0])
            distance[frontier] = step
        found = np.flatnonzero(distance > 0)
        return dict(zip(found.tolist(), distance[found].tolist(), strict=True))

    def path(self, start: int, end: int, limit: int) -> list[int] | None:
        """A shortest chain of at most so many edges, followed either way; among several, one is always the same."""
        if start == end:
            return [start]
        sides = (_Side(self.size, start), _Side(self.size, end))
        for _ in range(limit):
            here, there = sides if len(sides[0].frontier) <= len(sides[1].frontier) else (sides[1], sides[0])
            here.step(self._both)
            met = here.frontier[there.parents[here.frontier] >= 0]
            if len(met):
                middle = int(met[0])
                return [*reversed(sides[0].back(middle)), *sides[1].back(middle)[1:]]
            if not len(here.frontier):
                return None
        return None


class _Side:
    """One end's half of a search: who was reached from where."""

    def __init__(self, size: int, root: int) -> None:
        self.parents = np.full(size, -1, dtype=np.int64)
        self.parents[root] = root
        self.frontier = np.array([root], dtype=np.int64)

    def step(self, rows: _Rows) -> None:
        sources, reached = _expand(rows, self.frontier)
        new = self.parents[reached] < 0
        sources, reached = sources[new], reached[new]
        self.frontier, first = np.unique(reached, return_index=True)
        self.parents[self.frontier] = sources[first]

    def back(self, node: int) -> list[int]:
        chain = [node]
        while (parent := int(self.parents[chain[-1]])) != chain[-1]:
            chain.append(parent)
        return chain


_Rows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where each node's neighbours begin, and all neighbours."""


def distinct(nodes: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each edge once, in order: as single numbers, which sort ten times as fast as pairs."""
    return np.stack(np.divmod(np.unique(edges[:, 0] * nodes + edges[:, 1]), max(1, nodes)), axis=1)


def _rows(nodes: int, edges: NDArray[np.int64]) -> _Rows:
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    begins = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(edges[:, 0], minlength=nodes), out=begins[1:])
    return begins, np.ascontiguousarray(edges[order, 1])


def _row(rows: _Rows, node: int) -> NDArray[np.int64]:
    begins, targets = rows
    return targets[begins[node] : begins[node + 1]]


def _expand(rows: _Rows, frontier: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All edges that leave these nodes: their sources and their targets."""
    begins, targets = rows
    counts = begins[frontier + 1] - begins[frontier]
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins[frontier] - (ends - counts), counts)
    return np.repeat(frontier, counts), targets[places]
