"""Where in its file a passage stands: the places of a document, kept small."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from ragways.core.types import Place


def packed(places: Sequence[Place]) -> str:
    """Places as they are stored: starts, pages and lines, each number as its distance from the one before it.

    A list of zeros alone is left empty, and so is everything where there are no places.
    """
    columns = ([getattr(place, name) for place in places] for name in ("start", "page", "line"))
    steps = [[b - a for a, b in zip([0, *column], column, strict=False)] if any(column) else [] for column in columns]
    return json.dumps(steps, separators=(",", ":")) if places else ""


def unpacked(stored: str) -> tuple[Place, ...]:
    """The places again."""
    if not stored:
        return ()
    columns = [list(accumulate(steps)) for steps in json.loads(stored)]
    count = max(map(len, columns), default=0)
    return tuple(Place(*values) for values in zip(*(column or [0] * count for column in columns), strict=True))


def pages_and_lines(places: Sequence[Place], start: int, end: int) -> tuple[int, int, int, int]:
    """First and last page, first and last line of `text[start:end]`; 0 where that is not known of its beginning."""
    first, last = bisect_right(places, start, key=_start) - 1, bisect_right(places, max(start, end - 1), key=_start)
    if first < 0:
        return 0, 0, 0, 0
    page, line = places[first].page, places[first].line
    stretch = places[first:last]
    return (
        page,
        max(place.page for place in stretch) if page else 0,
        line,
        max(place.line for place in stretch) if line else 0,
    )


def _start(place: Place) -> int:
    return place.start
