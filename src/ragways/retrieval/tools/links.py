"""Which articles link to which. Where a document has no links, titles that stand in its text serve.

The links of a small corpus are held in arrays. In a large one those of an article are looked up when it is reached.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from heapq import merge
from itertools import groupby
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.index.reader import Index
from ragways.retrieval.tools.catalogue import Catalogue
from ragways.retrieval.tools.link_graph import LinkGraph, distinct
from ragways.retrieval.tools.queries import Queries, in_parts
from ragways.retrieval.tools.title_finder import Mention, TitleFinder

SCANNED = 32_000_000
"""Characters of documents without links that are searched for titles at once; that is done once for an open index."""
LINKS = 1_000_000
"""Links that are held in arrays."""
_PLACES = 20
_MEANINGS = 5
"""A mention that could mean more articles than this means none."""
_KEPT = 10_000
"""Texts whose mentions are kept."""
_AT_ONCE = 16
"""Texts that are searched for titles together where one may be enough."""

Place = tuple[int, int]
"""A document, and where in its text."""
Mentioned = dict[int, list[int]]
"""The articles that a text mentions, and where."""

_PARTIAL = "the corpus has few links of its own and is large: titles were looked for in the first part of it only"


class Neighbours(Protocol):
    """Links between articles, for one question of a tool. `note` tells, when it was answered, what was left out."""

    @property
    def note(self) -> str: ...

    def out(self, article: int) -> Collection[int]: ...

    def within(self, article: int, steps: int, direction: str) -> dict[int, int]:
        """Articles at most so many steps away, by number, with their distance."""
        ...

    def path(self, start: int, end: int, limit: int) -> list[int] | None:
        """A shortest chain of at most so many links, followed either way; among several, one is always the same."""
        ...

    def to(self, article: int) -> Iterator[Place]:
        """Every place elsewhere that links to an article, or mentions it; by document, in reading order."""
        ...


class ArticleLinks:
    """The links of a corpus, between articles that it holds."""

    def __init__(self, index: Index, queries: Queries, catalogue: Catalogue) -> None:
        self.index = index
        self.queries = queries
        self.catalogue = catalogue
        self._mentions: OrderedDict[int, Mentioned] = OrderedDict()

    @cached_property
    def _finder(self) -> TitleFinder:
        return TitleFinder(self.catalogue)

    @cached_property
    def held(self) -> HeldLinks | None:
        """All links, where they are few; and, where nothing tells which documents hold a word, those of the first
        texts.
        """
        large = self.queries.has_texts_without_links(SCANNED)
        told = "words" in self.index.layers and self.index._shard_list is None
        if told and (large or self.queries.has_links(LINKS)):
            return None
        return HeldLinks(self, self._pairs(), _PARTIAL if large else "")

    def titles_in(self, text: str) -> list[Mention]:
        """Titles that stand in a text: where, and the articles that are called so."""
        return next(self._finder.mentions([text]))

    def _pairs(self) -> NDArray[np.int64]:
        """Each article with each other that it links to or mentions."""
        parts = [np.zeros((0, 2), dtype=np.int64)]
        for some in in_parts(self._first_texts(), 10_000):
            numbers, texts = [number for number, _ in some], [text for _, text in some]
            found = zip(numbers, self._finder.meant(texts), strict=True)
            parts.append(_edges((number, target) for number, there in found for target in _targets(number, there)))
        for links in in_parts(self.queries.linked(), 100_000):
            targets = self.catalogue.all.meant(np.fromiter((hash(name) for _, name in links), np.int64, len(links)))
            edges = np.stack([np.fromiter((source for source, _ in links), np.int64, len(links)), targets], axis=1)
            parts.append(edges[(targets >= 0) & (targets != edges[:, 0])])
        return np.concatenate(parts)

    def _first_texts(self) -> Iterator[tuple[int, str]]:
        left = SCANNED
        for number, text in self.queries.texts_without_links():
            if left <= 0:
                return
            yield number, text[:left]
            left -= len(text)

    def mentions_of(self, articles: Iterable[int]) -> dict[int, Mentioned]:
        """What the texts of articles without links mention; nothing of any other."""
        found: dict[int, Mentioned] = {}
        texts: dict[int, str] = {}
        for article in articles:
            if (kept := self._mentions.get(article)) is not None:
                self._mentions.move_to_end(article)
                found[article] = kept
            else:
                texts[article] = self.queries.text_without_links(article) or ""
        for article, there in zip(texts, self._finder.mentions(texts.values()), strict=True):
            found[article] = self._mentions[article] = mentioned(article, there)
        while len(self._mentions) > _KEPT:
            self._mentions.popitem(last=False)
        return found

    def between(self, source: int, target: int) -> list[Place]:
        """The first places of one article that link to another, or mention it."""
        if starts := self.mentions_of([source])[source].get(target):
            return [(source, start) for start in starts[:_PLACES]]
        return self.queries.links_between(source, self.catalogue.names(target))

    def to(self, article: int, sources: Iterable[int]) -> Iterator[Place]:
        """The places that link to an article, and those of `sources`, in order, that mention it."""
        linking = [self.queries.links_to(name) for name in self.catalogue.names(article)]
        places = merge(*linking, self._mentioning(article, sources), key=lambda place: place[0])
        for source, some in groupby(places, key=lambda place: place[0]):
            if source != article:
                yield from sorted(set(some))

    def _mentioning(self, article: int, sources: Iterable[int]) -> Iterator[Place]:
        for some in in_parts(sources, _AT_ONCE):
            for source, there in sorted(self.mentions_of(some).items()):
                yield from ((source, start) for start in there.get(article, ()))


class HeldLinks:
    """The links of a corpus in arrays."""

    def __init__(self, links: ArticleLinks, pairs: NDArray[np.int64], note: str) -> None:
        titles = links.catalogue.all
        self._links = links
        self._nodes = titles.articles[: titles.count]
        self._graph = LinkGraph(len(self._nodes), distinct(len(self._nodes), np.searchsorted(self._nodes, pairs)))
        self.note = note

    def _node(self, article: int) -> int:
        return int(np.searchsorted(self._nodes, article))

    def out(self, article: int) -> Collection[int]:
        return self._nodes[self._graph.out(self._node(article))].tolist()  # type: ignore[no-any-return]

    def within(self, article: int, steps: int, direction: str) -> dict[int, int]:
        found = self._graph.within(self._node(article), steps, direction)
        return dict(zip(self._nodes[list(found)].tolist(), found.values(), strict=True)) if found else {}

    def path(self, start: int, end: int, limit: int) -> list[int] | None:
        chain = self._graph.path(self._node(start), self._node(end), limit)
        return None if chain is None else self._nodes[chain].tolist()

    def to(self, article: int) -> Iterator[Place]:
        return self._links.to(article, self._nodes[self._graph.into(self._node(article))].tolist())


def mentioned(article: int, there: Iterable[Mention]) -> Mentioned:
    """The articles that a text mentions, other than its own, and where."""
    found: Mentioned = {}
    for start, _, meant in there:
        for target in _targets(article, [meant]):
            found.setdefault(target, []).append(start)
    return found


def _targets(article: int, there: Iterable[list[int]]) -> set[int]:
    return {target for meant in there if len(meant) <= _MEANINGS for target in meant} - {article}


def _edges(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
