"""Tables of arrays that change by rows: what is written once is never copied again for a few rows that are others now.

A table has rows by number. A column has one value a row, or it is ragged: any number of values a row, perhaps in
several parts. Files of a table are written once, with room at their end, and are linked from generation to generation.
What has changed since is a patch: values of plain columns that are others, or of rows that have numbers of their own
from the room, and the values that came into ragged rows or went from them. A reader maps the files and writes the patch
into its own copy of the pages that it touches, so that whatever reads the arrays sees plain ones. When a patch no
longer fits, the table is written anew.

The room is a hole at the end of a file: most file systems keep no blocks for it. That of a ragged column would hold all
its rows a second time, for any of them may be another when it is read. A column that is true in all rows has no file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from ragways.index.checksums import link_file
from ragways.index.ragged import EditedRows, Edits, Ints, Ragged, Values

_ROOM = 8
"""A patch may change one row, and one value, for so many that the table has."""
_ROWS = (1 << 14, 1 << 17)
"""Rows that a patch may change in a column at least, and at most: each change goes through the patch before it."""
_VALUES = (1 << 17, 1 << 18)
"""Values that a patch may change of a column at least, and at most."""
_PATCH = ".patch.npy"
_OF_PATCHES = ("gone", "rows", "places")
_ROWS_OF_CELLS = f"-cells{_PATCH}"


@dataclass(frozen=True)
class Rows:
    """Some rows of a table, all columns of each: `numbers` are different and in rising order."""

    numbers: Ints
    columns: Mapping[str, Values] = field(default_factory=dict)
    ragged: Mapping[str, Ragged] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """Rows that are others now, or new: plain columns of each, by number in rising order, and edits of ragged columns,
    which have all that came and went before in them.
    """

    numbers: Ints
    columns: Mapping[str, Values] = field(default_factory=dict)
    edits: Mapping[str, EditedRows] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells:
    """Values of a plain column that are not those that were written, by their rows in rising order."""

    rows: Ints
    values: Values


@dataclass(frozen=True)
class Patch:
    """What is other in a table than was written. Numbers below `used` are or were those of rows."""

    used: int
    cells: Mapping[str, Cells] = field(default_factory=dict)
    edits: Mapping[str, EditedRows] = field(default_factory=dict)


@dataclass(frozen=True)
class TableSize:
    """Rows that a table was written with, rows that it has room for in all, and values of each ragged column. `true`:
    columns that were true in all rows.
    """

    rows: int
    capacity: int
    values: Mapping[str, int]
    true: Sequence[str]

    @classmethod
    def load(cls, folder: Path, table: str) -> TableSize:
        return cls(**json.loads((folder / f"{table}.json").read_text(encoding="utf-8")))


class ArrayTable:
    """A table as it is now. Columns are read when they are asked for, each time anew."""

    def __init__(self, folder: Path, name: str, *, writable: bool = False) -> None:
        """`writable`: whoever asks for a column may write to what is given; nobody else sees that."""
        self._folder, self._name = folder, name
        self.size = TableSize.load(folder, name)
        patched = folder / f"{name}{_PATCH}"
        there = patched.is_file()
        self.used = _whole_number(np.load(patched)) if there else self.size.rows
        """Numbers below this are or were those of rows."""
        self._copied = writable or there

    def column(self, name: str) -> Values:
        """One value a row; 0 where there is no row."""
        values = self._load(name)
        if (cells := self._cells(name)) is not None:
            values[cells.rows] = cells.values
        return values

    def ragged(self, name: str) -> Ragged:
        """Any number of values a row; none where there is no row."""
        rows = self.edited(name)
        if not len(rows.edits):
            return rows.written
        changed, written = rows.changed(), rows.written
        now, first = rows.now(changed), self.size.values[name]
        # A row ends where the next begins; rows that were changed do not, so the two are mapped each for itself.
        written.begins[changed], written.ends[changed] = first + now.begins, first + now.ends
        for part, values in now.parts.items():
            written[part][first : first + len(values)] = values
        return written

    def edited(self, name: str) -> EditedRows:
        """The same as it was written, and what came and went since."""
        begins, ends = self._load(f"{name}-bounds", copied=True)[:-1], self._load(f"{name}-bounds")[1:]
        begins[self.size.rows : self.size.rows + 1] = 0  # the first that is not there yet
        written = Ragged(begins, ends, {part: self._load(f"{name}-{part}") for part in self._parts(name)})
        edits = Edits.none(written.parts)
        if (self._folder / f"{self._name}-{name}-gone{_PATCH}").is_file():
            gone, rows, places = (self._load_patch(f"{name}-{each}").astype(np.int64) for each in _OF_PATCHES)
            edits = Edits(gone, rows, places, {part: self._load_patch(f"{name}-{part}") for part in written.parts})
        return EditedRows(written, self.size.rows, edits)

    def patch(self, change: Change) -> Patch:
        """The patch that this table has after a change."""
        used = max(self.used, int(change.numbers[-1]) + 1 if len(change.numbers) else 0)
        if used > self.size.capacity:
            return Patch(used)  # which has no room
        cells = {name: self._changed(name, change.numbers, values) for name, values in change.columns.items()}
        return Patch(used, cells, change.edits)

    def _changed(self, name: str, rows: Ints, values: Values) -> Cells:
        """The cells of a column when these rows have these values: only what is not as it was written. A page that a
        reader writes to is copied, and most rows that change have another value in one or two columns.
        """
        other = np.flatnonzero(self._load(name)[rows] != values)
        if (before := self._cells(name)) is None:
            return Cells(rows[other], values[other])
        kept = np.flatnonzero(~np.isin(before.rows, rows))
        joined = np.concatenate([before.rows[kept], rows[other]])
        order = np.argsort(joined)
        return Cells(joined[order], np.concatenate([before.values[kept], values[other]])[order])

    def _cells(self, name: str) -> Cells | None:
        if not (self._folder / f"{self._name}-{name}{_ROWS_OF_CELLS}").is_file():
            return None
        return Cells(self._load_patch(f"{name}-cells"), self._load_patch(name))

    def _parts(self, name: str) -> list[str]:
        prefix = f"{self._name}-{name}-"
        files = self._folder.glob(f"{prefix}*.npy")
        found = {file.name.removesuffix(_PATCH).removesuffix(".npy").removeprefix(prefix) for file in files}
        return sorted(found - {"bounds", *_OF_PATCHES})

    def _load(self, part: str, *, copied: bool = False) -> Values:
        if part in self.size.true:
            values = np.zeros(self.size.capacity, np.bool_)
            values[: self.size.rows] = True
            return values
        # What is written to is copied, page by page. A plain view: indexing a memmap costs as much again.
        mode: Literal["c", "r"] = "c" if self._copied or copied else "r"
        return np.asarray(np.load(self._folder / f"{self._name}-{part}.npy", mmap_mode=mode))

    def _load_patch(self, part: str) -> Values:
        values: Values = np.load(self._folder / f"{self._name}-{part}{_PATCH}")
        return values

    def has_room(self, patch: Patch) -> bool:
        """Whether a patch fits."""
        most = _room(self.size.rows, _ROWS)
        return (
            patch.used <= self.size.capacity
            and all(len(cells.rows) <= most for cells in patch.cells.values())
            and all(len(rows.edits) <= _room(self.size.values[name], _VALUES) for name, rows in patch.edits.items())
        )


def write_table(folder: Path, name: str, rows: Rows, *, with_room: bool = True) -> None:
    """Write a table of rows that are numbered from 0 on, and no patch."""
    count = len(rows.numbers)
    capacity = count + (_room(count, _ROWS) if with_room else 0)
    true = [column for column, values in rows.columns.items() if values.dtype == np.bool_ and values.all()]
    for column in rows.columns.keys() - true:
        _write(folder / f"{name}-{column}.npy", rows.columns[column], capacity)
    sizes: dict[str, int] = {}
    for column, held in rows.ragged.items():
        total = sizes[column] = int(held.counts.sum())
        room = total + _room(total, _VALUES) if with_room else 0
        narrow = np.uint32 if total + room < 1 << 32 else np.int64
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(held.counts)]).astype(narrow)
        _write(folder / f"{name}-{column}-bounds.npy", bounds, capacity + 1)
        for part, values in held.parts.items():
            _write(folder / f"{name}-{column}-{part}.npy", values, total + room)
    size = {"rows": count, "capacity": capacity, "values": sizes, "true": true}
    (folder / f"{name}.json").write_text(json.dumps(size, sort_keys=True), encoding="utf-8")


def patch_table(folder: Path, name: str, before: Path, patch: Patch) -> None:
    """Take over a table from the folder before, with this patch, which must be all that is other than was written."""
    for file in sorted(before.glob(f"{name}[-.]*")):
        if not file.name.endswith(_PATCH):
            link_file(file, folder / file.name)
    np.save(folder / f"{name}{_PATCH}", np.int64(patch.used))
    for column, cells in patch.cells.items():
        if len(cells.rows):
            np.save(folder / f"{name}-{column}{_ROWS_OF_CELLS}", cells.rows)
            np.save(folder / f"{name}-{column}{_PATCH}", cells.values)
    for column, rows in patch.edits.items():
        edits, bounds = rows.edits, rows.written.begins.dtype
        if not len(edits):
            continue
        for part, places in zip(_OF_PATCHES, (edits.gone, edits.rows, edits.places), strict=True):
            np.save(folder / f"{name}-{column}-{part}{_PATCH}", places.astype(bounds))
        for part, values in edits.parts.items():
            np.save(folder / f"{name}-{column}-{part}{_PATCH}", values)


def _whole_number(values: Values) -> int:
    if values.ndim:
        raise ValueError("an array, where versions since have a number")
    return int(values)


def _room(count: int, limits: tuple[int, int]) -> int:
    least, most = limits
    return min(most, max(least, count // _ROOM))


def _write(file: Path, values: Values, length: int) -> None:
    """An array of this length, of which only the values are written."""
    with file.open("wb") as target:
        shape = (length, *values.shape[1:])
        header = {"descr": np.lib.format.dtype_to_descr(values.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(target, header)
        target.write(np.ascontiguousarray(values).data)
        begin = target.tell() - values.nbytes
        target.truncate(begin + length * values.dtype.itemsize * int(np.prod(values.shape[1:], dtype=np.int64)))
