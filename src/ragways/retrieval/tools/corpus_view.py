"""An index as tools see it: its titles and links, text as quotes of bounded size, and titles that are linked to without
an article of their own (stubs).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import title_name
from ragways.index.open import Index
from ragways.layers.protocols import PartRow
from ragways.models.tokens import count_text
from ragways.retrieval.tools.catalogue import Catalogue, shown
from ragways.retrieval.tools.links import ArticleLinks, Targets
from ragways.retrieval.tools.results import Excerpt, Listed, StubLink
from ragways.store.store import number_of

STRETCH = 2000
"""Characters of a paragraph that are shown at once. A longer one is shown in several parts."""
TOKENS = 1000
"""The most that the texts in one result may cost; the rest is asked for by its offset."""
FIELD = 300
"""Characters of a field of an infobox, or of a name."""
_LINKING = 20
"""Articles that are named as linking to a stub; all of them can be read by backlinks."""
_NAMES = 5


class CorpusView:
    """The articles, titles and links of one open index. Reads only."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.articles = index.articles
        self.catalogue = Catalogue(self.articles)
        self._targets = OrderedDict[int, Targets]()

    @cached_property
    def has_links(self) -> bool:
        """Whether any document has links."""
        return self.articles.any_links()

    def links(self) -> ArticleLinks:
        """The links of articles, for one question."""
        return ArticleLinks(self.index, self.catalogue, self._targets)

    def opening_like(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """The k articles whose first chunk is nearest a vector: it is an introduction, and usually has the
        title before it. So titles need no vectors of their own.
        """
        return [(number_of(id), round(score, 4)) for id, score in self.index.vectors.openings(vector, k)]

    def listed(self, article: int, **more: object) -> Listed:
        return Listed(f"article:{article}", self.catalogue.title(article) or "", **more)  # type: ignore[arg-type]

    def quotes(self, article: int, rows: Iterable[PartRow], score: float | None = None) -> Iterator[Excerpt]:
        """Paragraphs as quotes, long ones in parts."""
        title, text, date = self.index.article(article)
        known = self.index.paragraph_tokens(article)
        for _, path, start, end in rows:
            parts = list(_parts(text, start, end, known.get(path) or count_text(text[start:end])))
            for number, (first, last, tokens) in enumerate(parts, start=1):
                yield Excerpt(
                    f"article:{article}:{path}", f"article:{article}", title, text[first:last],
                    number if len(parts) > 1 else None, score, first, last, tokens, date,
                )  # fmt: skip


def view_of(index: Index) -> CorpusView:
    """One view for an open index, however many toolboxes are made on it."""
    return index.once(CorpusView)


# Text, a part and a page at a time


def _parts(text: str, start: int, end: int, tokens: int) -> Iterator[tuple[int, int, int]]:
    """Stretches that are short in characters and in tokens, whatever the script; cut at a space where there is one.
    `tokens` is how many the whole has; each part has its share of them.
    """
    rate = tokens / max(1, end - start)
    stretch = min(STRETCH, int(TOKENS / max(rate, 1 / STRETCH)))
    while start < end:
        last = min(end, start + stretch)
        if last < end and (space := text.rfind(" ", start + stretch // 2, last)) > 0:
            last = space + 1
        yield start, last, math.ceil((last - start) * rate)
        start = last


def page(quotes: Iterable[Excerpt], offset: int, limit: int) -> tuple[tuple[Excerpt, ...], int | None]:
    """Quotes from an offset on, as many as fit, and the offset of the rest."""
    shown: list[Excerpt] = []
    used = 0
    for at, quote in enumerate(quotes):
        if at < offset:
            continue
        if shown and (len(shown) == limit or used + quote.tokens > TOKENS):
            return tuple(shown), at
        shown.append(quote)
        used += quote.tokens
    return tuple(shown), None


# Stubs


@dataclass(frozen=True)
class Stub:
    """A title that has no article here though others link to it; `places` are document, start and end of the links."""

    title: str
    places: Sequence[tuple[int, int, int]]

    @property
    def note(self) -> str:
        count = len({source for source, _, _ in self.places})
        return (
            f"{shown(self.title)} is a stub: the corpus has no article of that title, and {count:,} that link to it; "
            "backlinks reads what they say of it"
        )

    def links(self, view: CorpusView) -> tuple[StubLink, ...]:
        """The first articles that link to it, and what each calls it."""
        names: dict[int, dict[str, None]] = {}
        for source, start, end in self.places:
            if source in names or len(names) < _LINKING:
                called = " ".join(view.index.text(f"article:{source}", start, end).split())
                names.setdefault(source, {})[called[:FIELD]] = None
        return tuple(
            StubLink(f"article:{source}", view.catalogue.title(source) or "", tuple(called)[:_NAMES])
            for source, called in names.items()
        )


def stub_of(view: CorpusView, text: str) -> Stub | None:
    """What a title stands for that is linked to and has no article; None for any other text."""
    title = " ".join(text.split())
    name = title_name(title)
    if not name or view.catalogue.by_name(name) is not None:
        return None
    places = [place for place in view.articles.links_named(name) if view.catalogue.title(place[0]) is not None]
    return Stub(title, places) if places else None
