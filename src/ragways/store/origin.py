"""Where a passage is from: its file or address, the headings above it, and the pages and lines of the file."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from ragways.core.types import Origin, Place

SectionRow = tuple[int, str, int]
"""End, title and level of a section."""


def packed(places: Sequence[Place]) -> str:
    """Places as they are stored: starts, pages and lines, each number as its distance from the one before it.

    A list of zeros alone is left empty, and so is everything where there are no places.
    """
    columns = ([getattr(place, name) for place in places] for name in ("start", "page", "line"))
    steps = [[b - a for a, b in zip([0, *column], column, strict=False)] if any(column) else [] for column in columns]
    return json.dumps(steps, separators=(",", ":")) if places else ""


def unpacked(stored: str) -> tuple[Place, ...]:
    """The places again."""
    starts, pages, lines = _columns(stored)
    return tuple(map(Place, starts, pages or [0] * len(starts), lines or [0] * len(starts)))


def _columns(stored: str) -> tuple[array[int], array[int], array[int]]:
    """Starts, pages and lines; an empty list where all of them are 0."""
    starts, pages, lines = (array("q", accumulate(steps)) for steps in (json.loads(stored) if stored else ((), (), ())))
    return starts or array("q", [0] * bool(pages or lines)), pages, lines


class OriginFinder(NamedTuple):
    """Tells where stretches of one document are from."""

    key: str
    url: str
    starts: array[int]
    pages: array[int]
    lines: array[int]
    sections: Sequence[SectionRow]

    @classmethod
    def of_rows(cls, key: str, url: str, places: str, sections: Sequence[SectionRow]) -> OriginFinder:
        """From what the store has of a document, with its sections."""
        return cls(key, url, *_columns(places), sorted(sections))

    @property
    def size(self) -> int:
        """How many numbers and titles it holds."""
        return 10 + 3 * len(self.starts) + 3 * len(self.sections)

    def find(self, start: int, end: int) -> Origin:
        """Where `text[start:end]` is from. Pages and lines that are not known of its beginning are 0."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, max(start, end - 1))
        numbers = (_range(column, first, last) for column in (self.pages, self.lines))
        (page, last_page), (line, last_line) = numbers
        return Origin(self.key, self.url, self._headings(start), page, last_page, line, last_line)

    def _headings(self, start: int) -> tuple[str, ...]:
        """Titles of the headings above a place, outermost first, without that of the document itself."""
        # A heading stands between the end of one section and the start of the next, and belongs to the latter.
        at = min(bisect_right(self.sections, start, key=itemgetter(0)), len(self.sections) - 1)
        above: list[str] = []
        level = 100
        for _, title, own in reversed(self.sections[1 : at + 1]):
            if own < level:
                above.append(title)
                level = own
        return tuple(reversed(above))


def _range(column: Sequence[int], first: int, last: int) -> tuple[int, int]:
    if first < 0 or not column or not column[first]:
        return 0, 0
    return column[first], max(column[first:last])
