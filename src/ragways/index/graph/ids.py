"""Ids of entities as numbers: sixteen hexadecimal digits have the same order so, in a third of the room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

_PREFIX = "entity:"
_ID = re.compile(rf"{_PREFIX}([0-9a-f]{{16}})")
IDS = "graph-ids.npy"


def as_ids(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The numbers of ids as SQLite has them (`number_of_id`), without their sign."""
    return numbers.view(np.uint64) ^ np.uint64(1 << 63)


def as_numbers(ids: NDArray[np.uint64]) -> NDArray[np.int64]:
    """What `as_ids` was made of."""
    return (ids ^ np.uint64(1 << 63)).view(np.int64)


class EntityIds(Sequence[str]):
    """The ids of all entities, in their order: entity i has the i-th. Mapped, so that opening reads none of them."""

    def __init__(self, numbers: NDArray[np.uint64]) -> None:
        self.numbers = numbers

    @classmethod
    def of(cls, ids: Iterable[str]) -> EntityIds:
        """From ids in rising order."""
        return cls(np.fromiter((int(id.removeprefix(_PREFIX), 16) for id in ids), dtype=np.uint64))

    def save(self, folder: Path) -> None:
        np.save(folder / IDS, self.numbers)

    @classmethod
    def load(cls, folder: Path) -> EntityIds:
        # A plain view of the mapped file: indexing a memmap costs as much again in bookkeeping.
        return cls(np.asarray(np.load(folder / IDS, mmap_mode="r")))

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [f"{_PREFIX}{number:016x}" for number in self.numbers[place].tolist()]
        return f"{_PREFIX}{int(self.numbers[place]):016x}"

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def places(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of those of the entities that are there, in rising order."""
        wanted = {int(digits[1], 16) for digits in map(_ID.fullmatch, ids) if digits is not None}
        numbers = np.array(sorted(wanted), dtype=np.uint64)
        places = self.numbers.searchsorted(numbers)
        there = self.numbers.take(places, mode="clip") == numbers if len(self) else np.zeros(len(numbers), np.bool_)
        found: NDArray[np.int64] = places[there].astype(np.int64)
        return found


class EntityPlaces(Mapping[str, int]):
    """The number of each entity by its id, found by halving: a dictionary of a million takes a second to make."""

    def __init__(self, ids: EntityIds) -> None:
        self._ids = ids

    def __getitem__(self, id: str) -> int:
        digits = _ID.fullmatch(id)
        if digits is not None:
            number = np.uint64(int(digits[1], 16))
            place = int(self._ids.numbers.searchsorted(number))
            if place < len(self._ids) and self._ids.numbers[place] == number:
                return place
        raise KeyError(id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
