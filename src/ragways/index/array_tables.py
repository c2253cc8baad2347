"""Tables of arrays that change by rows: what is written once is never copied again for a few rows that are others now.

A table has rows by number. A column has one value a row, or it is ragged: any number of values a row, perhaps in
several parts. Files of a table are written once, with room at their end, and are linked from generation to generation.
What has changed since is a patch: whole rows, with the numbers of those whose place they take, or with numbers of their
own from the room. A reader maps the files and writes the patch into its own copy of the pages that it touches, so that
whatever reads the arrays sees plain ones. When a patch no longer fits, the table is written anew.

The room is a hole at the end of a file: most file systems keep no blocks for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragways.index.checksums import link_file

Ints = NDArray[np.int64]
Values = NDArray[Any]
Parts = Mapping[str, Values]

_ROOM = 8
"""A table has room for one more row, and for one more value, for so many that it has."""
_LEAST = 1 << 14
"""Rows that there is room for at least."""
_LEAST_VALUES = 1 << 17
"""Values that there is room for at least: a row may be long."""
_PATCH = ".patch.npy"


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
        first = self.begins.take(rows).astype(np.int64)
        counts = self.ends.take(rows).astype(np.int64) - first
        places = np.repeat(first - (np.cumsum(counts) - counts), counts)
        places += np.arange(len(places))
        return places, counts

    def owners(self) -> Ints:
        """The row of each of the values that `places` gives for all rows."""
        return np.repeat(np.arange(len(self)), self.counts)


def ragged(counts: NDArray[np.integer], **parts: Values) -> Ragged:
    """From the values of all rows, one row after the other."""
    lengths = counts.astype(np.int64)
    ends = np.cumsum(lengths)
    return Ragged(ends - lengths, ends, parts)


@dataclass(frozen=True)
class Rows:
    """Some rows of a table, all columns of each: `numbers` are different and in rising order."""

    numbers: Ints
    columns: Mapping[str, Values] = field(default_factory=dict)
    ragged: Mapping[str, Ragged] = field(default_factory=dict)

    def joined(self, newer: Rows) -> Rows:
        """These rows, and newer ones, which take the place of those of the same numbers."""
        kept = np.flatnonzero(~np.isin(self.numbers, newer.numbers))
        numbers = np.concatenate([self.numbers[kept], newer.numbers])
        order = np.argsort(numbers)
        columns = {
            name: np.concatenate([self.columns[name][kept], values])[order] for name, values in newer.columns.items()
        }
        return Rows(
            numbers[order],
            columns,
            {name: _joined(self.ragged[name], kept, values, order) for name, values in newer.ragged.items()},
        )


def _joined(old: Ragged, kept: Ints, new: Ragged, order: Ints) -> Ragged:
    """The kept rows of one and all of the other, in this order."""
    shift = len(next(iter(old.parts.values())))
    begins, ends = (
        np.concatenate([before[kept].astype(np.int64), after.astype(np.int64) + shift])[order]
        for before, after in ((old.begins, new.begins), (old.ends, new.ends))
    )
    both = Ragged(begins, ends, {})
    places, _ = both.places(np.arange(len(both)))
    return ragged(both.counts, **{name: np.concatenate([part, new[name]])[places] for name, part in old.parts.items()})


@dataclass(frozen=True)
class TableSize:
    """Rows that a table was written with, rows that it has room for in all, and values of each ragged column."""

    rows: int
    capacity: int
    values: Mapping[str, int]

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
        self._patched: Ints | None = np.load(patched) if patched.is_file() else None
        self._copied = writable or self._patched is not None

    @property
    def used(self) -> int:
        """Numbers up to here are or were those of rows."""
        return max(self.size.rows, int(self._patched[-1]) + 1 if self._patched is not None else 0)

    def column(self, name: str) -> Values:
        """One value a row; 0 where there is no row."""
        values = self._load(name)
        if self._patched is not None:
            values[self._patched] = self._load_patch(name)
        return values

    def ragged(self, name: str) -> Ragged:
        """Any number of values a row; none where there is no row."""
        # A row begins where the one before ends; rows that were changed do not, so the two are mapped each for itself.
        begins, ends = self._load(f"{name}-bounds", copied=True)[:-1], self._load(f"{name}-bounds")[1:]
        begins[self.size.rows : self.size.rows + 1] = 0  # the first that is not there yet
        parts = {part: self._load(f"{name}-{part}") for part in self._parts(name)}
        if self._patched is not None:
            lengths = self._load_patch(f"{name}-counts")
            first = self.size.values[name]
            ends[self._patched] = until = first + np.cumsum(lengths, dtype=np.int64)
            begins[self._patched] = until - lengths
            for part, values in parts.items():
                new = self._load_patch(f"{name}-{part}")
                values[first : first + len(new)] = new
        return Ragged(begins, ends, parts)

    def patch(self, columns: Sequence[str], ragged_columns: Sequence[str]) -> Rows:
        """What the patch has of these columns."""
        numbers = self._patched if self._patched is not None else np.zeros(0, np.int64)
        if self._patched is None:
            empty = {name: self._load(name)[:0] for name in columns}
            return Rows(numbers, empty, {name: self._no_rows(name) for name in ragged_columns})
        return Rows(
            numbers,
            {name: self._load_patch(name) for name in columns},
            {name: self._patch_rows(name) for name in ragged_columns},
        )

    def _no_rows(self, name: str) -> Ragged:
        parts = {part: self._load(f"{name}-{part}")[:0] for part in self._parts(name)}
        return ragged(np.zeros(0, np.int32), **parts)

    def _patch_rows(self, name: str) -> Ragged:
        parts = {part: self._load_patch(f"{name}-{part}") for part in self._parts(name)}
        return ragged(self._load_patch(f"{name}-counts"), **parts)

    def _parts(self, name: str) -> list[str]:
        prefix = f"{self._name}-{name}-"
        files = self._folder.glob(f"{prefix}*.npy")
        found = {file.name.removesuffix(_PATCH).removesuffix(".npy").removeprefix(prefix) for file in files}
        return sorted(found - {"bounds", "counts"})

    def _load(self, part: str, *, copied: bool = False) -> Values:
        # What is written to is copied, page by page. A plain view: indexing a memmap costs as much again.
        mode: Literal["c", "r"] = "c" if self._copied or copied else "r"
        return np.asarray(np.load(self._folder / f"{self._name}-{part}.npy", mmap_mode=mode))

    def _load_patch(self, part: str) -> Values:
        values: Values = np.load(self._folder / f"{self._name}-{part}{_PATCH}")
        return values

    def has_room(self, rows: Rows) -> bool:
        """Whether a patch of these rows fits."""
        last = int(rows.numbers[-1]) if len(rows.numbers) else -1
        if last >= self.size.capacity or len(rows.numbers) > _room(self.size.rows, _LEAST):
            return False
        return all(
            int(values.counts.sum()) <= _room(self.size.values[name], _LEAST_VALUES)
            for name, values in rows.ragged.items()
        )


def write_table(folder: Path, name: str, rows: Rows, *, with_room: bool = True) -> None:
    """Write a table of rows that are numbered from 0 on, and no patch."""
    count = len(rows.numbers)
    capacity = count + (_room(count, _LEAST) if with_room else 0)
    for column, values in rows.columns.items():
        _write(folder / f"{name}-{column}.npy", values, capacity)
    sizes: dict[str, int] = {}
    for column, held in rows.ragged.items():
        total = sizes[column] = int(held.counts.sum())
        room = _room(total, _LEAST_VALUES) if with_room else 0
        narrow = np.uint32 if total + room < 1 << 32 else np.int64
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(held.counts)]).astype(narrow)
        _write(folder / f"{name}-{column}-bounds.npy", bounds, capacity + 1)
        for part, values in held.parts.items():
            _write(folder / f"{name}-{column}-{part}.npy", values, total + room)
    size = {"rows": count, "capacity": capacity, "values": sizes}
    (folder / f"{name}.json").write_text(json.dumps(size, sort_keys=True), encoding="utf-8")


def patch_table(folder: Path, name: str, before: Path, rows: Rows) -> None:
    """Take over a table from the folder before, with a patch of these rows, which must be all that the patch has."""
    for file in sorted(before.glob(f"{name}[-.]*")):
        if not file.name.endswith(_PATCH):
            link_file(file, folder / file.name)
    if not len(rows.numbers):
        return
    np.save(folder / f"{name}{_PATCH}", rows.numbers)
    for column, values in rows.columns.items():
        np.save(folder / f"{name}-{column}{_PATCH}", values)
    for column, held in rows.ragged.items():
        np.save(folder / f"{name}-{column}-counts{_PATCH}", held.counts.astype(np.int32))
        for part, values in held.parts.items():
            np.save(folder / f"{name}-{column}-{part}{_PATCH}", values)


def _room(count: int, least: int) -> int:
    return max(least, count // _ROOM)


def _write(file: Path, values: Values, length: int) -> None:
    """An array of this length, of which only the values are written."""
    with file.open("wb") as target:
        shape = (length, *values.shape[1:])
        header = {"descr": np.lib.format.dtype_to_descr(values.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(target, header)
        target.write(np.ascontiguousarray(values).data)
        begin = target.tell() - values.nbytes
        target.truncate(begin + length * values.dtype.itemsize * int(np.prod(values.shape[1:], dtype=np.int64)))
