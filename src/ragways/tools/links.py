"""Who links to whom. Where a document has no links of its own, titles mentioned in it serve as links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.rule_names import TitleTree
from ragways.tools.catalogue import Catalogue
from ragways.tools.queries import Queries

SCANNED = 32_000_000
"""Characters of documents without links that are searched for titles; the scan is done once for an open index."""
_PLACES = 20
_MEANINGS = 5
"""A mention that could mean more articles than this means none."""

Place = tuple[int, int]
"""A document, and where in its text."""


class Links:
    """The links of a corpus, between articles that it holds."""

    def __init__(self, queries: Queries, catalogue: Catalogue) -> None:
        self._queries = queries
        self._catalogue = catalogue
        self._mentions: dict[int, dict[int, list[int]]] = defaultdict(dict)
        self.partial = False
        self._scan()
        self._nodes = np.array(catalogue.numbers, dtype=np.int64)
        self.adjacency = Adjacency(len(self._nodes), self._pairs())

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


class Adjacency:
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

    def path(self, start: int, end: int, most: int) -> list[int] | None:
        """A shortest chain of at most so many edges, followed either way; among several, one is always the same."""
        if start == end:
            return [start]
        sides = (_Side(self.size, start), _Side(self.size, end))
        for _ in range(most):
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
