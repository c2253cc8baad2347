"""Places in a text, found by halving: a long document has thousands of sentences, links and names to look among."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

Placed = TypeVar("Placed", bound=tuple[Any, ...])


class InOrder(Generic[Placed]):
    """Tuples that begin with their start and end, by start."""

    def __init__(self, items: Sequence[Placed]) -> None:
        self._items = sorted(items, key=lambda item: item[0])
        self._starts: list[int] = [item[0] for item in self._items]

    def within(self, start: int, end: int) -> Sequence[Placed]:
        """Those that begin in this stretch."""
        return self._items[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def at(self, place: int) -> Placed | None:
        """The last one that begins at this place or before it, if it reaches beyond it."""
        number = bisect_right(self._starts, place) - 1
        return self._items[number] if number >= 0 and place < self._items[number][1] else None


class Stretch(Protocol):
    """Whatever has a start and an end."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


S = TypeVar("S", bound=Stretch)


class Apart(Generic[S]):
    """Stretches of which no two touch the same character, by place."""

    def __init__(self) -> None:
        self._items: list[S] = []

    def __iter__(self) -> Iterator[S]:
        return iter(self._items)

    def touching(self, start: int, end: int) -> Sequence[S]:
        """Those that share a character with this stretch."""
        first = bisect_right(self._items, start, key=lambda item: item.end)
        return self._items[first : bisect_left(self._items, end, first, key=lambda item: item.start)]

    def put(self, item: S) -> None:
        """Take up a stretch that touches none of those here."""
        self._items.insert(bisect_left(self._items, item.start, key=lambda kept: kept.start), item)
