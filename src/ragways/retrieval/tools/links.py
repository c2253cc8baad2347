"""Which articles link to which. Where a document has no links, titles that stand in its text serve.

Links are rows. A question reads those of the articles that it reaches, up to a bound; its note reports what was
left out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby, islice
from typing import TypeVar

from ragways.index.open import Index
from ragways.layers.words import sure_terms
from ragways.retrieval.tools.catalogue import Catalogue, names_of, pattern_of

CHARACTERS = 500_000
"""Characters of documents without links that are read for one question."""
LINKS = 30_000
"""Links that are followed for one question."""
_PLACES = 20
_CACHED = 5000

Place = tuple[int, int]
"""A document, and where in its text."""
Targets = dict[int, list[int]]
"""The articles that a document links to, and where."""
T = TypeVar("T")


class ArticleLinks:
    """The links of a corpus for one question; `note` then reports what was left out."""

    def __init__(self, index: Index, catalogue: Catalogue, known: OrderedDict[int, Targets] | None = None) -> None:
        """`known`: targets that earlier questions have read."""
        self._index, self._lookup, self._catalogue = index, index.articles, catalogue
        self._known = OrderedDict[int, Targets]() if known is None else known
        self._into: dict[int, list[int]] = {}
        self._characters, self._followed = CHARACTERS, LINKS
        self._left_out = False

    @property
    def note(self) -> str:
        if not self._left_out:
            return ""
        return (
            f"the corpus is large: no more than {CHARACTERS:,} characters and {LINKS:,} links were looked at for this, "
            "and there may be more"
        )

    def targets(self, article: int) -> Targets:
        """The articles that one links to, or mentions, and where."""
        if article in self._known:
            self._known.move_to_end(article)
            return self._known[article]
        before, self._left_out = self._left_out, False
        found: Targets = {}
        if rows := self._follow(iter(self._lookup.links_of(article, max(0, self._followed) + 1))):
            articles = self._catalogue.by_names({name for _, name in rows})
            meant = ((start, articles[name]) for start, name in rows if name in articles)
        else:
            titles = self._catalogue.titles_in(self._text(article))
            meant = ((each.start, target) for each in titles for target in each.articles)
        for start, target in meant:
            if target != article:
                found.setdefault(target, []).append(start)
        if not self._left_out:
            self._known[article] = found
            if len(self._known) > _CACHED:
                self._known.popitem(last=False)
        self._left_out |= before
        return found

    def between(self, source: int, target: int) -> list[Place]:
        """The first places of one article that link to another, or mention it."""
        return [(source, start) for start in self.targets(source).get(target, ())[:_PLACES]]

    def into(self, article: int) -> list[int]:
        """Articles that link to one, or mention it."""
        if article not in self._into:
            names = self._catalogue.names(article)
            found = {each for name in names for each in self._follow(self._lookup.linking(name))}
            found.update(source for source, _ in self._mentions(article, names))
            self._into[article] = sorted(found - {article})
        return self._into[article]

    def to(self, article: int) -> Iterator[Place]:
        """Every place elsewhere that links to an article, or mentions it; in reading order of each document."""
        names = self._catalogue.names(article)
        linking = merge(*map(self._lookup.links_to, names))
        for source, some in groupby(linking, key=lambda place: place[0]):
            if source != article:
                yield from sorted(set(some))
        yield from self._mentions(article, names)

    def _mentions(self, article: int, names: dict[str, str]) -> Iterator[Place]:
        """Places of documents without links where an article is called by one of its names."""
        if "words" not in self._index.layers:
            return
        called = names_of(names.values())
        pattern, holding = pattern_of(called), self._index.words.holding
        for source in sorted({number for words in set(map(sure_terms, called)) for number in holding(words).tolist()}):
            if source != article and (text := self._text(source)):
                yield from ((source, start) for start in self._catalogue.places(text, article, pattern))

    def within(self, article: int, steps: int, direction: str = "both") -> dict[int, int]:
        """Articles at most so many steps away, with their distance."""
        distance = {article: 0}
        frontier = [article]
        for step in range(1, steps + 1):
            reached = {other for _, other in self._expand(frontier, direction)}
            frontier = sorted(reached - distance.keys())
            distance |= dict.fromkeys(frontier, step)
        return {other: distance[other] for other in sorted(distance) if other != article}

    def _expand(self, frontier: Iterable[int], direction: str = "both") -> Iterator[tuple[int, int]]:
        """Each of these with each that it has a link to or from."""
        for article in frontier:
            outward = self.targets(article) if direction != "in" else ()
            inward = self.into(article) if direction != "out" else ()
            yield from ((article, other) for other in sorted({*outward, *inward}))

    def path(self, start: int, end: int, limit: int, direction: str = "both") -> list[int] | None:
        """A shortest chain of at most so many links, followed forward ("out") or either way, searched from both ends in
        turn, the smaller side first; among several, one is always the same.
        """
        ways = ("out", "in") if direction == "out" else ("both", "both")
        if start == end:
            return [start]
        parents: tuple[dict[int, int], dict[int, int]] = ({start: start}, {end: end})
        frontiers = [[start], [end]]
        for _ in range(limit):
            here = 0 if len(frontiers[0]) <= len(frontiers[1]) else 1
            new: dict[int, int] = {}
            for source, other in self._expand(frontiers[here], ways[here]):
                if other not in parents[here]:
                    new.setdefault(other, source)
                    if other in parents[1 - here]:
                        parents[here].update(new)
                        return [*reversed(_back(parents[0], other)), *_back(parents[1], other)[1:]]
            parents[here].update(new)
            frontiers[here] = sorted(new)
            if not new:
                return None
        return None

    def _follow(self, links: Iterator[T]) -> list[T]:
        """As many of these links as may still be followed for the question."""
        room = max(0, self._followed)
        some = list(islice(links, room + 1))
        self._left_out |= len(some) > room
        self._followed -= len(some[:room])
        return some[:room]

    def _text(self, article: int) -> str:
        """The text of a document without links, as far as it may still be read for the question."""
        text = self._lookup.text_without_links(article) or ""
        room = max(0, self._characters)
        self._left_out |= len(text) > room
        self._characters -= len(text[:room])
        return text[:room]


def _back(parents: dict[int, int], article: int) -> list[int]:
    chain = [article]
    while parents[chain[-1]] != chain[-1]:
        chain.append(parents[chain[-1]])
    return chain
