"""Links of a large corpus: those of an article are looked up when it is reached, so that no question costs more than a
bound; what that leaves out is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.known_names import names_of_title, title_words
from ragways.index.words import english_terms, sure_terms
from ragways.retrieval.tools.links import ArticleLinks, Place
from ragways.retrieval.tools.queries import in_parts

DOCUMENTS = 1_000
"""Documents that are looked into for one question."""
LINKS = 30_000
"""Links that are followed for one question."""
_INITIALS = 6
"""Letters of a word that a text may write with full stops."""
_COMMON = 64
"""A word that so many times more chunks hold than others of a name tells too little to be looked at."""

_T = TypeVar("_T")


class LinksOnDemand:
    """The links of a corpus for one question (`Neighbours`)."""

    def __init__(self, links: ArticleLinks) -> None:
        self._links = links
        self._documents, self._followed = DOCUMENTS, LINKS
        self._out: dict[int, list[int]] = {}
        self._into: dict[int, list[int]] = {}
        self._left_out = False

    @property
    def note(self) -> str:
        if not self._left_out:
            return ""
        return (
            f"the corpus is large: no more than {DOCUMENTS:,} documents and {LINKS:,} links were looked at for this, "
            "and there may be more"
        )

    def out(self, article: int) -> Collection[int]:
        self._read([article])
        return self._out[article]

    def _read(self, articles: Iterable[int]) -> None:
        """Look into documents that were not looked into yet, as far as that is allowed."""
        wanted = [article for article in articles if article not in self._out]
        self._out.update((article, []) for article in wanted)
        for article, there in self._links.mentions_of(self._allowed(wanted)).items():
            names = () if there else self._follow(self._links.queries.links_of(article))
            meant = filter(None, map(self._links.catalogue.by_name, names))
            self._out[article] = sorted({*there, *meant} - {article})

    def _linking(self, article: int) -> list[int]:
        """Articles that link to one, or mention it."""
        if article not in self._into:
            found = set()
            for name in sorted(self._links.catalogue.names(article)):
                found.update(self._follow(self._links.queries.linking(name)))
            able = list(islice(self._able(article), max(0, self._documents) + 1)) if self._allowed([article]) else []
            self._read(able)
            found.update(source for source in able if article in self._out[source])
            self._into[article] = sorted(found - {article})
        return self._into[article]

    def _follow(self, links: Iterable[_T]) -> list[_T]:
        """As many of these links as may still be followed for the question."""
        room = max(0, self._followed)
        some = list(islice(links, room + 1))
        self._left_out |= len(some) > room
        self._followed -= len(some[:room])
        return some[:room]

    def _able(self, article: int) -> Iterator[int]:
        """Documents that may mention an article, in order: where one has links, only these count."""
        for some in in_parts(self._holding(article), DOCUMENTS):
            yield from self._links.queries.without_links(some)

    def _holding(self, article: int) -> list[int]:
        """Documents that hold the words of what an article is called, in order: others do not mention it, but for those
        that write a word otherwise than the index of words can tell (`O'Neil` and `Oneil`).
        """
        catalogue = self._links.catalogue
        titles = [catalogue.title(article) or "", *map(catalogue.all.title_at, catalogue.all.redirects_to(article))]
        names = {name for title in titles for name in names_of_title(title)}
        told: set[int] = set().union(*(self._with_words(name).tolist() for name in sorted(names)))
        return sorted(told - {article})

    def _with_words(self, name: str) -> NDArray[np.int64]:
        """Documents with the words of a name, as it writes them or as they are compared; some may not have all."""
        words, written, _ = title_words(name)
        forms = list(filter(None, map(_forms, words, written))) or [{sure_terms(name)} - {()}]
        if not forms[0] and (known := english_terms(name)):  # other texts leave them out
            forms, self._left_out = [{known}], True
        if not words or not forms[0]:
            self._left_out |= bool(words)
            return np.zeros(0, dtype=np.int64)
        index = self._links.index.words
        counts = index.statistics([term for some in forms for terms in some for term in terms]).frequencies
        ordered = sorted(
            (sum(min(counts[term] for term in terms) for terms in some), some) for some in map(sorted, forms)
        )
        held: NDArray[np.int64] | None = None
        for count, some in ordered:
            if held is not None and count > _COMMON * len(held):
                break
            found = np.concatenate([index.holding(terms) for terms in some])
            held = found if held is None else held[np.isin(held, found)]
        return held if held is not None else np.zeros(0, dtype=np.int64)

    def within(self, article: int, steps: int, direction: str = "both") -> dict[int, int]:
        distance = {article: 0}
        frontier = [article]
        for step in range(1, steps + 1):
            reached = {other for _, other in self._expand(frontier, direction)}
            frontier = sorted(reached - distance.keys())
            distance |= dict.fromkeys(frontier, step)
        return {other: distance[other] for other in sorted(distance) if other != article}

    def _expand(self, frontier: list[int], direction: str = "both") -> Iterator[tuple[int, int]]:
        """Each of these with each that it has a link to or from."""
        if direction != "in":
            self._read(frontier)
        for article in frontier:
            outward = self._out[article] if direction != "in" else []
            inward = self._linking(article) if direction != "out" else []
            yield from ((article, other) for other in (sorted({*outward, *inward}) if inward else outward))

    def path(self, start: int, end: int, limit: int) -> list[int] | None:
        """As `LinkGraph.path`: from both ends in turn, the smaller side first."""
        if start == end:
            return [start]
        parents: tuple[dict[int, int], dict[int, int]] = ({start: start}, {end: end})
        frontiers = [[start], [end]]
        for _ in range(limit):
            here = 0 if len(frontiers[0]) <= len(frontiers[1]) else 1
            new: dict[int, int] = {}
            for source, other in self._expand(frontiers[here]):
                if other not in parents[here]:
                    new.setdefault(other, source)
            parents[here].update(new)
            frontiers[here] = sorted(new)
            met = next((other for other in frontiers[here] if other in parents[1 - here]), None)
            if met is not None:
                return [*reversed(_back(parents[0], met)), *_back(parents[1], met)[1:]]
            if not new:
                return None
        return None

    def to(self, article: int) -> Iterator[Place]:
        return self._links.to(article, (document for document in self._able(article) if self._allowed([document])))

    def _allowed(self, documents: list[int]) -> list[int]:
        """As many of these documents as may still be looked at for the question."""
        some = documents[: max(0, self._documents)]
        self._left_out |= len(some) < len(documents)
        self._documents -= len(some)
        return some


def _forms(word: str, written: str) -> set[tuple[str, ...]]:
    """By which terms texts with a word of a name are known: as it is compared, and as it is written."""
    forms = {sure_terms(word), sure_terms(written.removesuffix("'s").removesuffix("’s"))}
    if 1 < len(word) <= _INITIALS:  # `UK` is `U.K.` too
        forms.add(sure_terms(" ".join(word)))
    if len(word) == 1:  # of scripts without spaces, the index knows few signs alone
        forms &= {(term,) for term in sure_terms(2 * word)}
    return set() if () in forms else forms


def _back(parents: dict[int, int], article: int) -> list[int]:
    chain = [article]
    while parents[chain[-1]] != chain[-1]:
        chain.append(parents[chain[-1]])
    return chain
