"""An index as tools read it: its queries, its titles and its links, each loaded when first used and kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

from ragways.index.reader import Index
from ragways.models.bound import count_text
from ragways.tools.catalogue import Catalogue
from ragways.tools.links import Links
from ragways.tools.queries import Queries, Span
from ragways.tools.results import Listed, Quote

STRETCH = 2000
"""Characters of a paragraph that are shown at once. A longer one is shown in several parts."""
TOKENS = 2000
"""The most that the texts in one result may cost; the rest is asked for by its offset."""


class Shelf:
    """Reads only."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.queries = Queries(index)

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.queries.titles())

    @cached_property
    def links(self) -> Links:
        return Links(self.queries, self.catalogue)

    def listed(self, article: int, **more: object) -> Listed:
        return Listed(f"article:{article}", self.catalogue.titles[article], **more)  # type: ignore[arg-type]

    def quotes(self, article: int, rows: Iterable[Span], score: float | None = None) -> Iterator[Quote]:
        """Paragraphs as quotes, long ones in parts."""
        title, text, date = self.index._article(article)
        for _, path, start, end in rows:
            parts = list(_parts(text, start, end))
            for number, (first, last, tokens) in enumerate(parts, start=1):
                yield Quote(
                    f"article:{article}:{path}", f"article:{article}", title, text[first:last],
                    number if len(parts) > 1 else None, score, first, last, tokens, date,
                )  # fmt: skip


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Stretches that are short in characters and in tokens, whatever the script; cut at a space where there is one."""
    while start < end:
        last = min(end, start + STRETCH)
        if last < end and (space := text.rfind(" ", start + STRETCH // 2, last)) > 0:
            last = space + 1
        while (tokens := count_text(text[start:last])) > TOKENS:
            last = start + (last - start) // 2
        yield start, last, tokens
        start = last


def page(quotes: Iterable[Quote], offset: int, most: int) -> tuple[tuple[Quote, ...], int | None]:
    """Quotes from an offset on, as many as fit, and the offset of the rest."""
    shown: list[Quote] = []
    used = 0
    for at, quote in enumerate(quotes):
        if at < offset:
            continue
        if shown and (len(shown) == most or used + quote.tokens > TOKENS):
            return tuple(shown), at
        shown.append(quote)
        used += quote.tokens
    return tuple(shown), None


_shelves: WeakKeyDictionary[Index, Shelf] = WeakKeyDictionary()


def shelf_of(index: Index) -> Shelf:
    """One shelf for an open index, however many toolboxes are made on it."""
    shelf = _shelves.get(index)
    if shelf is None:
        shelf = _shelves[index] = Shelf(index)
    return shelf
