"""Rows of any number of values in arrays, and what came into such rows and went from them since they were written.

Values that came and went are all that a change writes: a row of a million values that gets one more is not copied.
Values of a row are different, and their order is known: where one stands, or would, is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Values = NDArray[Any]
Parts = Mapping[str, Values]
Keys = tuple[Ints, ...]
"""What values are sorted by: first by the first of them."""
Kind = TypeVar("Kind", bound=np.generic)
_LONG = 256
"""Values that are copied as one."""


@dataclass(frozen=True)
class Ragged:
    """Values of rows: those of row i stand from `begins[i]` to `ends[i]` in each part."""

    begins: NDArray[np.integer]
    ends: NDArray[np.integer]
    parts: Parts

    def __len__(self) -> int:
        return len(self.begins)

    def __getitem__(self, part: str) -> Values:
        return self.parts[part]

    def row(self, number: int) -> slice:
        """Where the values of a row stand."""
        return slice(int(self.begins[number]), int(self.ends[number]))

    @property
    def counts(self) -> Ints:
        """How many values each row has."""
        return self.ends.astype(np.int64) - self.begins.astype(np.int64)

    def counts_of(self, rows: NDArray[np.integer]) -> Ints:
        """How many values these rows have."""
        return self.ends.take(rows).astype(np.int64) - self.begins.take(rows).astype(np.int64)

    def places(self, rows: NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Where the values of these rows stand, row after row; and how many each row has."""
        counts = self.counts_of(rows)
        return stretches(self.begins.take(rows).astype(np.int64), counts), counts

    def owners(self) -> Ints:
        """The row of each of the values that `places` gives for all rows."""
        return np.repeat(np.arange(len(self)), self.counts)


def ragged(counts: NDArray[np.integer], **parts: Values) -> Ragged:
    """From the values of all rows, one row after the other."""
    lengths = counts.astype(np.int64)
    ends = np.cumsum(lengths)
    return Ragged(ends - lengths, ends, parts)


def stretches(begins: Ints, counts: Ints) -> Ints:
    """The places of several stretches, one after the other: each begins somewhere, and has so many places."""
    # Place by place: where its stretch begins, and how far it is from the first of the stretch.
    places = np.repeat(begins - (np.cumsum(counts) - counts), counts)
    return places + np.arange(len(places))


def distinct(*values: NDArray[Kind]) -> NDArray[Kind]:
    """Each of these whole numbers once, in rising order; the arrays have one dimension. `np.unique` looks for them by
    hashing, which takes ten times as long as to sort them, and fifty times where they are many.
    """
    held = np.sort(values[0] if len(values) == 1 else np.concatenate(values))
    return held[np.flatnonzero(np.append(held[:1] == held[:1], held[1:] != held[:-1]))]


def is_among(values: NDArray[np.integer], few: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which of the values are among these, which are in rising order: it takes a tenth of what `isin` does."""
    if not len(few):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = few.take(few.searchsorted(values), mode="clip") == values
    return found


@dataclass(frozen=True)
class Order:
    """The order of the values of a row: they are told apart by one `part`, and `keys` gives what it is sorted by."""

    part: str
    keys: Callable[[Ints], Keys]


@dataclass(frozen=True)
class Edits:
    """Values that went, by their places among those that were written, in rising order. And values that came: the row
    of each, the place in front of which it stands, and its parts; by row, and in their order there.
    """

    gone: Ints
    rows: Ints
    places: Ints
    parts: Parts

    @classmethod
    def none(cls, parts: Parts) -> Edits:
        """Of rows with these parts."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing, {name: values[:0] for name, values in parts.items()})

    def __len__(self) -> int:
        """How many values came or went."""
        return len(self.gone) + len(self.rows)


@dataclass(frozen=True)
class EditedRows:
    """Rows as they were `written`, the first `size` of them in rising places and no others, and edits of them."""

    written: Ragged
    size: int
    edits: Edits

    def changed(self) -> Ints:
        """The rows that are others than was written, in rising order."""
        return distinct(self._rows_of_gone, self.edits.rows)

    @cached_property
    def _rows_of_gone(self) -> Ints:
        """The row of each value that went, in rising order as these are."""
        begins = self.written.begins[: self.size]
        return np.searchsorted(begins, self.edits.gone.astype(begins.dtype), side="right") - 1

    def now(self, rows: Ints) -> Ragged:
        """These rows as they are now; they are in rising order."""
        written, edits, old = self.written, self.edits, rows[: np.searchsorted(rows, self.size)]
        first_gone, lost = _stretches_of(self._rows_of_gone, rows)
        first_came, more = _stretches_of(edits.rows, rows)
        came, gone = stretches(first_came, more), edits.gone[stretches(first_gone, lost)]
        in_front_of = edits.places[came[: more[: len(old)].sum()]]
        # Of what was written stays what lies between where a row begins or ends, a value went, or one came.
        begins = np.sort(np.concatenate([written.begins[old].astype(np.int64), gone + 1, in_front_of]))
        lengths = np.sort(np.concatenate([written.ends[old].astype(np.int64), gone, in_front_of])) - begins
        stay = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        to = stay[:-1] + np.searchsorted(in_front_of, begins, side="right")
        # Rows that are new have nothing but what came.
        came_to = np.arange(len(came)) + stay[-1]
        came_to[: len(in_front_of)] += stay[np.searchsorted(begins, in_front_of)] - stay[-1]
        counts = written.counts_of(rows) - lost + more
        parts = {}
        for name, values in written.parts.items():
            parts[name] = now = np.empty(len(came) + stay[-1], values.dtype)
            _copy(values, begins, lengths, now, to)
            now[came_to] = edits.parts[name][came]
        return ragged(counts, **parts)

    def counts_of(self, rows: Ints) -> Ints:
        """How many values these rows have now."""
        lost, more = (_stretches_of(owners, rows)[1] for owners in (self._rows_of_gone, self.edits.rows))
        return self.written.counts_of(rows) - lost + more

    def found(self, rows: Ints, order: Order, keys: Keys) -> Ints:
        """In front of which of the written values one with these keys stands in its row; its own place where it is
        among them.
        """
        values = self.written[order.part]
        low, high = (ends.take(rows).astype(np.int64) for ends in (self.written.begins, self.written.ends))
        for _ in range(int((high - low).max(initial=0)).bit_length()):
            middle = (low + high) // 2
            open_ = low < high
            here = order.keys(values.take(np.where(open_, middle, 0)).astype(np.int64))
            below = open_ & _less(here, keys)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        return low

    def lookup(self, rows: Ints, values: Ints, order: Order) -> tuple[NDArray[np.bool_], Parts]:
        """Whether these values are in their rows now, and all parts of those that are."""
        places, there = self._written_places(rows, values, order)
        there &= ~np.isin(places, self.edits.gone)
        pairs = _pairs(self.edits.rows, self.edits.parts[order.part])
        sorted_by, wanted = np.argsort(pairs), _pairs(rows, values)
        at = np.searchsorted(pairs, wanted, sorter=sorted_by)
        came = np.flatnonzero(at < len(pairs))
        came = came[pairs[sorted_by[at[came]]] == wanted[came]]
        parts = {}
        for name, held in self.written.parts.items():
            parts[name] = np.zeros(len(rows), held.dtype)
            parts[name][there] = held[places[there]]
            parts[name][came] = self.edits.parts[name][sorted_by[at[came]]]
        there[came] = True
        return there, parts

    def _written_places(self, rows: Ints, values: Ints, order: Order) -> tuple[Ints, NDArray[np.bool_]]:
        """Where values stand, or would, and whether they were written there."""
        places = self.found(rows, order, order.keys(values))
        there = places < self.written.ends.take(rows)
        there[there] = self.written[order.part][places[there]] == values[there]
        return places, there

    def edited(self, order: Order, gone: tuple[Ints, Ints], rows: Ints, parts: Parts) -> EditedRows:
        """The same rows, where values go (`gone`: their rows and themselves), and then others come or take the place of
        those that they are: what is there as it comes just stays.
        """
        values = parts[order.part].astype(np.int64)
        there, now = self.lookup(rows, values, order)
        same = there & np.logical_and.reduce([now[name] == each for name, each in parts.items()])
        other, come = there & ~same, np.flatnonzero(~same)
        stays = np.isin(_pairs(*gone), _pairs(rows[same], values[same]))
        lost = np.concatenate([gone[0][~stays], rows[other]]), np.concatenate([gone[1][~stays], values[other]])
        places, written = self._written_places(*lost, order)
        old = self.edits
        kept = np.flatnonzero(~np.isin(_pairs(old.rows, old.parts[order.part]), _pairs(*lost)))
        new = Edits(
            distinct(old.gone, places[written]),
            np.concatenate([old.rows[kept], rows[come]]),
            np.concatenate([old.places[kept], self.found(rows[come], order, order.keys(values[come]))]),
            {name: np.concatenate([old.parts[name][kept], each[come]]) for name, each in parts.items()},
        )
        return self._with(new, _by_row(new, len(kept), order))

    def replaced(self, rows: Ints, new: Ragged) -> EditedRows:
        """The same rows, where these, in rising order, hold other values than before, in any order: what they hold as
        it was written is no edit.
        """
        other = np.flatnonzero(~self._as_written(rows, new))
        values, _ = new.places(other)
        places, _ = self.written.places(rows[other])
        kept, still_gone = (np.flatnonzero(~np.isin(of, rows)) for of in (self.edits.rows, self._rows_of_gone))
        owners = np.repeat(rows[other], new.counts_of(other))
        edits = Edits(
            distinct(self.edits.gone[still_gone], places),
            np.concatenate([self.edits.rows[kept], owners]),
            np.concatenate([self.edits.places[kept], self.written.begins[owners].astype(np.int64)]),
            {name: np.concatenate([self.edits.parts[name][kept], part[values]]) for name, part in new.parts.items()},
        )
        return self._with(edits, np.argsort(edits.rows, kind="stable"))

    def _as_written(self, rows: Ints, new: Ragged) -> NDArray[np.bool_]:
        """Of which of these rows the new values are those that were written."""
        same: NDArray[np.bool_] = self.written.counts_of(rows) == new.counts
        those = np.flatnonzero(same)
        (mine, counts), (theirs, _) = self.written.places(rows[those]), new.places(those)
        differ = np.logical_or.reduce([self.written[name][mine] != part[theirs] for name, part in new.parts.items()])
        same[np.repeat(those, counts)[differ]] = False
        return same

    def _with(self, edits: Edits, by: Ints) -> EditedRows:
        parts = {name: values[by] for name, values in edits.parts.items()}
        return EditedRows(self.written, self.size, Edits(edits.gone, edits.rows[by], edits.places[by], parts))


def _by_row(edits: Edits, known: int, order: Order) -> Ints:
    """Values that came, by row and in their order there. The first ones, which were known, stand so already: only rows
    that got one more are sorted, for to ask for the keys of all takes longer than most changes.
    """
    more = np.isin(edits.rows, edits.rows[known:])
    some = np.flatnonzero(more)
    keys = order.keys(edits.parts[order.part][some].astype(np.int64))
    every = np.concatenate([np.flatnonzero(~more), some[np.lexsort((*reversed(keys), edits.rows[some]))]])
    return every[np.argsort(edits.rows[every], kind="stable")]


def _copy(values: Values, begins: Ints, lengths: Ints, target: Values, to: Ints) -> None:
    """Copy stretches of values. Long ones are copied each for itself: quicker than by the place of each value."""
    short = lengths < _LONG
    target[stretches(to[short], lengths[short])] = values[stretches(begins[short], lengths[short])]
    for begin, length, at in zip(*(each[~short].tolist() for each in (begins, lengths, to)), strict=True):
        target[at : at + length] = values[begin : begin + length]


def _stretches_of(owners: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where each of these rows begins among owners in rising order, and how often it is there."""
    begins = np.searchsorted(owners, rows)
    return begins, np.searchsorted(owners, rows, side="right") - begins


def _pairs(rows: Ints, values: Values) -> Ints:
    """A row and a value in it as one number."""
    return rows << 32 | values.astype(np.int64)


def _less(left: Keys, right: Keys) -> NDArray[np.bool_]:
    less, same = left[0] < right[0], left[0] == right[0]
    for mine, other in zip(left[1:], right[1:], strict=True):
        less, same = less | (same & (mine < other)), same & (mine == other)
    return less
