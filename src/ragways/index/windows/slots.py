"""Nearest neighbours in slots, so that a change writes the rows that it changes.

A row has a slot as long as its document is in the index, wherever the row itself lies; when the document goes, the slot
is free for another. A table has for each slot the slots of its nearest and how similar they are. Its arrays are written
once, with room at the end, and linked from generation to generation. What has changed since is a patch, which a reader
writes into its own copy of the pages that it touches. When a patch no longer fits, the arrays are written anew.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.ragged import distinct
from ragways.index.windows.edges import Edges, Nearest

Slots = NDArray[np.int32]

_ROOM = 16
"""A table has room for one more row, and in its patch, for so many that it has."""
_LEAST = 64
"""Rows that there is room for at least."""
_PARTS = ("to", "similarity")


def free_slots(used: Slots, count: int) -> Slots:
    """The first so many slots that are not in use."""
    taken = np.zeros(len(used) + count, np.bool_)
    taken[used[used < len(taken)]] = True
    return np.flatnonzero(~taken)[:count].astype(np.int32)


@dataclass(frozen=True)
class SlotTable:
    """The nearest of each slot, as a patch leaves them. Slots that nobody has may hold anything."""

    nearest: Nearest
    patched: Slots
    """Those that are not as the arrays were written."""

    @property
    def width(self) -> int:
        """How many of the nearest are kept of a row."""
        return int(self.nearest.to.shape[1])

    def __len__(self) -> int:
        """How many slots there is room for."""
        return len(self.nearest.to)

    @classmethod
    def load(cls, folder: Path, name: str) -> SlotTable:
        # Copied where it is written to, page by page. A plain view: indexing a memmap costs as much again.
        to, similarity = (np.asarray(np.load(folder / f"{name}.{part}.npy", mmap_mode="c")) for part in _PARTS)
        patched: Slots = np.zeros(0, np.int32)
        if (folder / f"{name}.patch.npy").is_file():
            patched = np.load(folder / f"{name}.patch.npy")
            to[patched] = np.load(folder / f"{name}.patch.to.npy")
            similarity[patched] = np.load(folder / f"{name}.patch.similarity.npy")
        return cls(Nearest(to, similarity), patched)

    def of_slots(self, slots: NDArray[np.integer]) -> Nearest:
        return Nearest(self.nearest.to[slots], self.nearest.similarity[slots])

    def save(self, folder: Path, name: str, before: Path, slots: Slots, new: Nearest, used: Slots) -> None:
        """Write the table as these rows change it, where `before` is the folder that it was loaded from, and `used`
        are all slots that somebody has. What it holds is changed, too.
        """
        patched = distinct(self.patched, slots)
        if (len(slots) and int(slots.max()) >= len(self)) or len(patched) > _room(len(used)):
            whole = Nearest.nothing(int(used.max(initial=-1)) + 1, self.width)
            old = used[used < len(self)]
            whole.to[old], whole.similarity[old] = self.nearest.to[old], self.nearest.similarity[old]
            whole.to[slots], whole.similarity[slots] = new.to, new.similarity
            write_table(folder, name, whole)
            return
        self.nearest.to[slots], self.nearest.similarity[slots] = new.to, new.similarity
        for part in _PARTS:
            _link(before / f"{name}.{part}.npy", folder)
        np.save(folder / f"{name}.patch.npy", patched.astype(np.int32))
        np.save(folder / f"{name}.patch.to.npy", self.nearest.to[patched])
        np.save(folder / f"{name}.patch.similarity.npy", self.nearest.similarity[patched])


def write_table(folder: Path, name: str, nearest: Nearest) -> None:
    """Write the nearest of all slots, with room for more."""
    room = _room(len(nearest.to))
    for part in _PARTS:
        values = getattr(nearest, part)
        with (folder / f"{name}.{part}.npy").open("wb") as file:
            shape = (len(values) + room, values.shape[1])
            header = {"descr": values.dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            begin = file.tell()
            file.write(np.ascontiguousarray(values).data)
            # A hole: most file systems keep no blocks for it.
            file.truncate(begin + shape[0] * shape[1] * values.dtype.itemsize)


def _room(count: int) -> int:
    return max(_LEAST, count // _ROOM)


def _link(file: Path, folder: Path) -> None:
    """Take over a file, which never changes."""
    try:
        (folder / file.name).hardlink_to(file)
    except OSError:  # a file system without links
        shutil.copyfile(file, folder / file.name)


class SlotEdges:
    """The k nearest of rows, by the numbers that a reader has for them: `slots` are those of its rows."""

    def __init__(self, table: SlotTable, slots: Slots, k: int) -> None:
        self._table = table
        self._slots = slots
        self._k = k
        self._rows = np.full(len(table) + 1, -1, np.int32)  # the last is that of no slot, −1
        self._rows[slots] = np.arange(len(slots), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._slots)

    def of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        slot = self._slots[row]
        to = self._rows[self._table.nearest.to[slot, : self._k]]
        there = to >= 0
        return to[there], self._table.nearest.similarity[slot, : self._k][there]

    def packed(self) -> Edges:
        nearest = self._table.of_slots(self._slots)
        return Edges.pack(Nearest(self._rows[nearest.to[:, : self._k]], nearest.similarity[:, : self._k]))
