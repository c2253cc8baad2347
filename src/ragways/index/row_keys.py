"""Rows of a table found by their keys, and the order of keys, where later rows stand behind those that were sorted.

A table is written in the order of its keys; rows that come later have the numbers that follow. So numbers tell the
order of the first ones alone, and what depends on an order asks for the ranks of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_BETWEEN = 32
"""Bits of a rank that tell apart what came between two of the first rows."""


class RowKeys:
    """`keys` in rising order up to `written`, and others behind them up to `used`. Only what is `alive` is found."""

    def __init__(self, keys: NDArray[Any], alive: NDArray[np.bool_], written: int, used: int) -> None:
        self.keys, self.alive = keys, alive
        self._first = keys[:written]
        self._later = keys[written:used]
        self._order = np.argsort(self._later)
        self._sorted = self._later[self._order]

    @property
    def used(self) -> int:
        return len(self._first) + len(self._later)

    def __len__(self) -> int:
        """How many rows there are."""
        return int(np.count_nonzero(self.alive[: self.used]))

    def places(self, wanted: NDArray[Any]) -> Ints:
        """The numbers of the rows that have these keys; -1 where there is none, or it is gone."""
        found = np.full(len(wanted), -1, dtype=np.int64)
        for keys, first in ((self._first, None), (self._sorted, self._order)):
            if len(keys):
                at = np.searchsorted(keys, wanted)
                there = np.flatnonzero(keys.take(at, mode="clip") == wanted)
                found[there] = at[there] if first is None else first[at[there]] + len(self._first)
        there = np.flatnonzero(found >= 0)
        found[there] = np.where(self.alive[found[there]], found[there], -1)
        return found

    def place(self, wanted: Any) -> int:  # noqa: ANN401
        """As `places`, of one key of the keys' own type: a few times as quick."""
        for keys, order in ((self._first, None), (self._sorted, self._order)):
            at = int(keys.searchsorted(wanted))
            if at < len(keys) and keys[at] == wanted:
                place = at if order is None else int(order[at]) + len(self._first)
                return place if self.alive[place] else -1
        return -1

    def numbers(self) -> Ints:
        """The numbers of all rows, in the order of their keys."""
        there = np.flatnonzero(self.alive[: self.used])
        return there[np.argsort(self.keys[there], kind="stable")] if len(self._later) else there

    @property
    def ranks(self) -> Ranks | None:
        """The order of rows where numbers do not tell it."""
        return Ranks.of(self._first, self._later)


class Ranks:
    """Ranks of rows by number: the order of their keys, and of equal keys that of numbers."""

    def __init__(self, written: int, later: Ints) -> None:
        self._written, self._later = written, later

    @classmethod
    def of(cls, first: NDArray[Any], later: NDArray[Any]) -> Ranks | None:
        """From keys that are sorted, and others that follow them; None where none do: then numbers are ranks."""
        if not len(later):
            return None
        order = np.argsort(later, kind="stable")
        ranks = np.empty(len(later), dtype=np.int64)
        # Before the first of the sorted keys that is not smaller, each after those that are smaller than itself.
        behind = np.searchsorted(first, later[order]).astype(np.int64) << _BETWEEN
        ranks[order] = behind - np.arange(len(later), 0, -1)
        return cls(len(first), ranks)

    def __call__(self, numbers: NDArray[np.integer]) -> Ints:
        ranks = numbers.astype(np.int64) << _BETWEEN
        later = np.flatnonzero(numbers >= self._written)
        ranks[later] = self._later.take(numbers.take(later) - self._written)
        return ranks


class JoinedRanks:
    """Ranks of two tables whose rows are numbered together: those of the second begin at `border`."""

    def __init__(self, one: Ranks | None, other: Ranks | None, border: int) -> None:
        self._one, self._other, self._border = one or _as_numbered, other or _as_numbered, border

    def __call__(self, numbers: NDArray[np.integer]) -> Ints:
        below = numbers < self._border
        others = self._other(np.where(below, 0, numbers - self._border)) + (self._border << _BETWEEN)
        return np.where(below, self._one(np.where(below, numbers, 0)), others)


def _as_numbered(numbers: NDArray[np.integer]) -> Ints:
    return numbers.astype(np.int64) << _BETWEEN
