"""The nearest of each row in other documents, brought up to date with the documents: what changes is what is computed.

Of each row a few more are kept than anybody sees. So when a neighbour goes, the next is known, and only a row that has
lost many is searched for anew. A row that is new is searched for, and offered to the others: whoever it is as similar
to as the last that is kept there takes it in. What is kept of a row are its nearest without a gap, as many as they are;
the first of them are those that computing all anew would give.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.windows.edges import Floats, Nearest, Pairs, Rows, Space, nearest_elsewhere, pairs_above
from ragways.index.windows.slots import Slots, SlotTable, write_table

_SPARE = 6
"""How many more are kept than are seen: so many may go before a row is searched for again."""
_MANY = 4
"""Where one row of so many is new, all are computed."""
_AT_ONCE = 65_536


def renew_nearest(
    folder: Path, name: str, before: Path | None, space: Space, slots: Slots, k: int, *, gone: Slots, fresh: Rows
) -> None:
    """Write the k nearest elsewhere of all rows of the space, which have these slots: from those in the folder
    `before`, where that has any. There, `gone` were slots of rows that are no more; `fresh` are rows that are new.
    """
    width = k + _SPARE if k else 0
    if before is None or len(fresh) * _MANY > len(space):
        found = _in_slots(nearest_elsewhere(space, width), slots)
        whole = Nearest.nothing(int(slots.max(initial=-1)) + 1, width)
        whole.to[slots], whole.similarity[slots] = found.to, found.similarity
        write_table(folder, name, whole)
        return
    table = SlotTable.load(before, name)
    change = _Change(table, space, slots, fresh)
    searched = np.concatenate([fresh, change.forget(gone, k)])
    change.offer(fresh, searched)
    change.put(searched, nearest_elsewhere(space, width, rows=searched))
    rows, nearest = change.changed()
    table.save(folder, name, before, slots[rows], _in_slots(nearest, slots), slots)


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

    def changed(self) -> tuple[Rows, Nearest]:
        """The rows that have others near now, each once, and what they have."""
        rows = np.concatenate(self._changed)
        last = self._at[rows] == np.arange(len(rows))
        to = np.vstack([some.to for some in self._nearest])
        similarity = np.vstack([some.similarity for some in self._nearest])
        return rows[last], Nearest(to[last], similarity[last])

    def _known(self, rows: Rows) -> Nearest:
        """The nearest of rows that stay, as they are by now."""
        known = self._table.of_slots(self._slots[rows])
        to, similarity = self._rows_of[known.to], known.similarity
        at = self._at[rows]
        if (at >= 0).any():
            _, changed = self.changed()
            to[at >= 0], similarity[at >= 0] = changed.to[at[at >= 0]], changed.similarity[at[at >= 0]]
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

    def offer(self, fresh: Rows, searched: Rows) -> None:
        """Have rows that are new taken in wherever they are near; those that are searched for need not be asked."""
        asked = self._stays.copy()
        asked[searched] = False
        rows = np.flatnonzero(asked).astype(np.int32)
        if not len(fresh) or not len(rows) or not self._table.width:
            return
        known = self._known(rows)
        count = (known.to >= 0).sum(axis=1)
        last = np.arange(len(rows)), np.maximum(count - 1, 0)
        gapped = count < self._others[rows]
        floor: Floats = np.where(gapped, known.similarity[last], np.float32(-np.inf))
        pairs = pairs_above(self._space, rows, fresh, floor)
        taking = np.unique(pairs[0])
        at = np.searchsorted(rows, taking)
        self.put(taking, self._merged(Nearest(known.to[at], known.similarity[at]), pairs, taking, gapped[at]))

    def _merged(self, old: Nearest, pairs: Pairs, rows: Rows, gapped: NDArray[np.bool_]) -> Nearest:
        """What was near to rows with what is offered to them. Where something unknown may lie beyond the last
        (`gapped`), nothing is taken in that comes after it.
        """
        width = old.to.shape[1]
        involved = self._space.sorted(np.unique(np.concatenate([old.to[old.to >= 0], pairs[1]])))
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
