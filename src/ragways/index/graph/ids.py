"""Ids of entities as numbers: sixteen hexadecimal digits have the same order so, in a third of the room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable
from ragways.index.row_keys import Ranks, RowKeys

_PREFIX = "entity:"
_ID = re.compile(rf"{_PREFIX}([0-9a-f]{{16}})")
ENTITIES = "graph-entities"
"""The table of entities: their ids, whether they are there and join passages, what joins them and who names them."""


def as_ids(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The numbers of ids as SQLite has them (`number_of_id`), without their sign."""
    return numbers.view(np.uint64) ^ np.uint64(1 << 63)


def as_numbers(ids: NDArray[np.uint64]) -> NDArray[np.int64]:
    """What `as_ids` was made of."""
    return (ids ^ np.uint64(1 << 63)).view(np.int64)


class EntityIds(Mapping[str, int]):
    """The numbers of entities by id, in the order of ids. Mapped, so that opening reads none of them.

    A number between 0 and `capacity` is that of an entity, or was, or may be that of one to come.
    """

    def __init__(self, rows: RowKeys, capacity: int) -> None:
        self.rows, self.capacity = rows, capacity

    @classmethod
    def load(cls, table: ArrayTable) -> EntityIds:
        rows = RowKeys(table.column("ids"), table.column("alive"), table.size.rows, table.used)
        return cls(rows, table.size.capacity)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return len(self.rows)

    def __getitem__(self, id: str) -> int:
        digits = _ID.fullmatch(id)
        place = -1 if digits is None else self.rows.place(np.uint64(int(digits[1], 16)))
        if place < 0:
            raise KeyError(id)
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self.at(self.numbers))

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of all entities, in the order of their ids."""
        return self.rows.numbers()

    @cached_property
    def ranks(self) -> Ranks | None:
        """The order of entities where numbers do not tell it."""
        return self.rows.ranks

    def id(self, number: int) -> str:
        return f"{_PREFIX}{int(self.rows.keys[number]):016x}"

    def at(self, numbers: NDArray[np.integer]) -> list[str]:
        """The ids of entities by their numbers."""
        return [f"{_PREFIX}{id:016x}" for id in self.rows.keys[numbers].tolist()]

    def of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of these entities, in their order; a KeyError where one is not there."""
        asked = list(ids)
        digits = [_ID.fullmatch(id) for id in asked]
        keys = np.array([0 if each is None else int(each[1], 16) for each in digits], dtype=np.uint64)
        places = np.where(np.array([each is not None for each in digits], dtype=np.bool_), self.rows.places(keys), -1)
        if len(missing := np.flatnonzero(places < 0)):
            raise KeyError(asked[int(missing[0])])
        return places

    def places(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of those of the entities that are there, in the order of their ids."""
        wanted = {int(digits[1], 16) for digits in map(_ID.fullmatch, ids) if digits is not None}
        places = self.rows.places(np.array(sorted(wanted), dtype=np.uint64))
        return places[places >= 0]
