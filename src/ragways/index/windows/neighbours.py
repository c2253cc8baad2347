"""The nearest of each row in other documents, brought up to date with the documents: what changes is what is computed.

Of each row a few more are kept than anybody sees. So when a neighbour goes, the next is known, and only a row that has
lost many is searched for anew. A row that is new is searched for, and offered to the others: whoever it is as similar
to as the last that is kept there takes it in. What is kept of a row are its nearest without a gap, as many as they are;
the first of them are those that computing all anew would give.

That holds where all rows were compared with all to begin with. Of many, that would take too long (`descent.py`): there
what is taken over may lack a neighbour, and what a change computes does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.ragged import distinct
from ragways.index.windows.descent import EXACT_ROWS, nearest_around
from ragways.index.windows.edges import Floats, Nearest, Pairs, Rows, Space, nearest_and_offers, nearest_elsewhere
from ragways.index.windows.slots import Slots, SlotTable, write_table

_SPARE = 6
"""How many more are kept than are seen: so many may go before a row is searched for again."""
_MANY = 4
"""Where one row of so many is new, all are computed."""
_AT_ONCE = 65_536


@dataclass(frozen=True)
class SlotTables:
    """Where the table of a name is written, and where that of the generation before is, if there is one. `exact` tells
    whether that was found by comparing all rows with all.
    """

    folder: Path
    name: str
    before: Path | None
    exact: bool = True


def renew_nearest(tables: SlotTables, space: Space, slots: Slots, k: int, *, gone: Slots, fresh: Rows) -> bool:
    """Write the k nearest elsewhere of all rows of the space, which have these slots: from the table before, where that
    is. There, `gone` were slots of rows that are no more; `fresh` are rows that are new. Gives whether all rows were
    compared with all.
    """
    width = k + _SPARE if k else 0
    few = len(space) <= EXACT_ROWS or not k
    many = len(fresh) * _MANY > len(space) or len(fresh) > EXACT_ROWS
    if tables.before is None or many or (few and not tables.exact):
        found = _in_slots(nearest_elsewhere(space, width) if few else nearest_around(space, k, width), slots)
        whole = Nearest.nothing(int(slots.max(initial=-1)) + 1, width)
        whole.to[slots], whole.similarity[slots] = found.to, found.similarity
        write_table(tables.folder, tables.name, whole)
        return few
    table = SlotTable.load(tables.before, tables.name)
    change = _Change(table, space, slots, fresh)
    change.search(fresh, change.forget(gone, k))
    rows, nearest = change.changed()
    table.save(tables.folder, tables.name, tables.before, slots[rows], _in_slots(nearest, slots), slots)
    return tables.exact


def _in_slots(nearest: Nearest, slots: Slots) -> Nearest:
    """Rows named by their slots."""
    return Nearest(np.append(slots, np.int32(-1))[nearest.to], nearest.similarity)


class _Change:
    """What a change of documents does to the nearest of rows."""

    def __init__(self, table: SlotTable, space: Space, slots: Slots, fresh: Rows) -> None:
        self._space = space
        self._table = table
        self._slots = slots
        self._stays = np.ones(len(space), np.bool_)
        self._stays[fresh] = False
        stay = np.flatnonzero(self._stays).astype(np.int32)
        self._rows_of = np.full(len(table) + 1, -1, np.int32)  # the last is that of no slot, −1
        self._rows_of[slots[stay]] = stay
        begins = np.flatnonzero(np.diff(space.groups, prepend=-1))
        sizes = np.diff(begins, append=len(space))
        self._others = np.repeat(len(stay) - sizes, sizes)
        """For each row that stays, how many there are elsewhere that stay."""
        self._at = np.full(len(space), -1, np.int32)
        """Where a row stands among those that are changed."""
        self._changed: list[Rows] = []
        self._nearest: list[Nearest] = []

    def put(self, rows: Rows, nearest: Nearest) -> None:
        """Have these be the nearest of rows."""
        begin = sum(map(len, self._changed))
        self._at[rows] = np.arange(begin, begin + len(rows), dtype=np.int32)
        self._changed.append(rows)
        self._nearest.append(nearest)
        self.__dict__.pop("_put_so_far", None)

    def changed(self) -> tuple[Rows, Nearest]:
        """The rows that have others near now, each once, and what they have."""
        rows, nearest = np.concatenate(self._changed), self._put_so_far
        last = self._at[rows] == np.arange(len(rows))
        return rows[last], Nearest(nearest.to[last], nearest.similarity[last])

    @cached_property
    def _put_so_far(self) -> Nearest:
        to = np.vstack([some.to for some in self._nearest])
        return Nearest(to, np.vstack([some.similarity for some in self._nearest]))

    def _known(self, rows: Rows) -> Nearest:
        """The nearest of rows that stay, as they are by now."""
        known = self._table.of_slots(self._slots[rows])
        to, similarity = self._rows_of[known.to], known.similarity
        at = self._at[rows]
        changed = np.flatnonzero(at >= 0)
        if len(changed):
            put = self._put_so_far
            to[changed], similarity[changed] = put.to[at[changed]], put.similarity[at[changed]]
        return Nearest(to, similarity)

    def forget(self, gone: Slots, k: int) -> Rows:
        """Take slots that are gone out of all that they were near to. Gives the rows that have too few left."""
        near = self._table.nearest.to
        went = np.zeros(len(near) + 1, np.bool_)
        went[gone] = True
        blocks = range(0, len(near), _AT_ONCE) if len(gone) else ()
        touched = [at + np.flatnonzero(went[near[at : at + _AT_ONCE]].any(axis=1)) for at in blocks]
        rows = self._rows_of[np.concatenate([np.zeros(0, np.int64), *touched])]
        rows = rows[rows >= 0]
        known = self._table.of_slots(self._slots[rows])
        there = (known.to >= 0) & ~went[known.to]
        order = np.argsort(~there, axis=1, kind="stable")
        to = np.take_along_axis(np.where(there, self._rows_of[known.to], -1), order, 1)
        similarity = np.take_along_axis(np.where(there, known.similarity, np.float32(-np.inf)), order, 1)
        self.put(rows, Nearest(to, similarity))
        short: Rows = rows[there.sum(axis=1) < np.minimum(k, self._others[rows])]
        return short

    def search(self, fresh: Rows, short: Rows) -> None:
        """Find the nearest of rows that are new, or that have too few left, and have those that are new taken in
        wherever they are near.
        """
        searched = np.concatenate([fresh, short])
        if not len(searched) or not self._table.width:
            self.put(searched, Nearest.nothing(len(searched), self._table.width))
            return
        floor = self._floors()
        floor[searched] = np.inf  # they find out themselves
        found, offers = nearest_and_offers(self._space, searched, self._table.width, floor, len(fresh))
        self._take_in(offers)
        self.put(searched, found)

    def _floors(self) -> Floats:
        """How similar something must be to be taken in by each row that stays."""
        floor = np.full(len(self._space), np.inf, np.float32)
        stay = np.flatnonzero(self._stays).astype(np.int32)
        floor[stay] = self._table.nearest.similarity[self._slots[stay], -1]
        other = stay[(floor[stay] == -np.inf) | (self._at[stay] >= 0)]
        known = self._known(other)
        count = (known.to >= 0).sum(axis=1)
        last = known.similarity[np.arange(len(other)), np.maximum(count - 1, 0)]
        floor[other] = np.where(count < self._others[other], last, np.float32(-np.inf))
        full = stay[self._others[stay] <= self._table.width]
        floor[full] = -np.inf  # they have all that there are
        return floor

    def _take_in(self, pairs: Pairs) -> None:
        """Have rows that stay be near to what is offered to them."""
        taking = distinct(pairs[0])
        old = self._known(taking)
        gapped = (old.to >= 0).sum(axis=1) < self._others[taking]
        self.put(taking, self._merged(old, pairs, taking, gapped))

    def _merged(self, old: Nearest, pairs: Pairs, rows: Rows, gapped: NDArray[np.bool_]) -> Nearest:
        """What was near to rows with what is offered to them. Where something unknown may lie beyond the last
        (`gapped`), nothing is taken in that comes after it.
        """
        width = old.to.shape[1]
        involved = self._space.sorted(distinct(old.to[old.to >= 0], pairs[1]))
        rank = np.full(len(self._space) + 1, len(involved), np.int32)
        rank[involved] = np.arange(len(involved), dtype=np.int32)
        new = _best_of_each(pairs, rows, width, rank)
        count = (old.to >= 0).sum(axis=1)
        last = np.arange(len(rows)), np.maximum(count - 1, 0)
        least, its_rank = old.similarity[last][:, None], rank[old.to[last]][:, None]
        after = (new.similarity < least) | ((new.similarity == least) & (rank[new.to] > its_rank))
        after &= (gapped & (count < width))[:, None]
        to = np.hstack([old.to, np.where(after, np.int32(-1), new.to)])
        similarity = np.hstack([old.similarity, np.where(after, np.float32(-np.inf), new.similarity)])
        order = np.lexsort((rank[to], -similarity), axis=-1)[:, :width]
        return Nearest(np.take_along_axis(to, order, 1), np.take_along_axis(similarity, order, 1))


def _best_of_each(pairs: Pairs, rows: Rows, width: int, rank: NDArray[np.int32]) -> Nearest:
    """The best columns of each of the rows, which are those of the pairs."""
    left, right, similarity = pairs
    order = np.lexsort((rank[right], -similarity, left))
    left, right, similarity = left[order], right[order], similarity[order]
    here = np.searchsorted(rows, left)
    place = np.arange(len(left)) - np.searchsorted(left, left)
    found = Nearest.nothing(len(rows), width)
    keep = place < width
    found.to[here[keep], place[keep]] = right[keep]
    found.similarity[here[keep], place[keep]] = similarity[keep]
    return found
