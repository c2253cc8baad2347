"""Numbers of predicates, each with a way of finding relations: they are few, and statements are many.

The numbers tell in which order predicates came, and nobody sees them.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.relation_ids import predicate_hash

TABLE = """
-- Predicates, each with a way of finding relations, and how many statements and rows of relations have them.
CREATE TABLE IF NOT EXISTS graph_predicates (
    number INTEGER PRIMARY KEY, predicate TEXT NOT NULL, way TEXT NOT NULL, count INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS graph_predicates_by_name ON graph_predicates (predicate, way);
"""


class Predicates:
    """Looks numbers up as they are asked for: there are tens of thousands, of which a change needs a few. What is in no
    use goes.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._numbers: dict[tuple[str, str], int] = {}
        self._meanings: dict[int, tuple[str, str]] = {}
        self._uses: Counter[int] = Counter()

    @cached_property
    def _free(self) -> Iterator[int]:
        return count(int(self._db.execute("SELECT coalesce(max(number) + 1, 0) FROM graph_predicates").fetchone()[0]))

    def number(self, predicate: str, way: str) -> int:
        """The number of a predicate with a way; a new one where there is none yet."""
        found = self._numbers.get((predicate, way))
        if found is None:
            row = self._db.execute(_NUMBER, (predicate, way)).fetchone()
            found = next(self._free) if row is None else int(row[0])
            self._know(found, (predicate, way))
        return found

    def meaning(self, number: int) -> tuple[str, str]:
        """The predicate and the way."""
        found = self._meanings.get(number)
        if found is None:
            found = self._db.execute(_MEANING, (number,)).fetchone()
            self._know(number, found)
        return found

    def hashes(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """What stands for the predicates in ids of relations."""
        different, which = np.unique(numbers, return_inverse=True)
        of_each = [predicate_hash(self.meaning(number)[0]) for number in different.tolist()]
        return np.array(of_each, np.uint64)[which]

    def _know(self, number: int, meaning: tuple[str, str]) -> None:
        self._numbers[meaning], self._meanings[number] = number, meaning

    def use(self, number: int, more: int) -> None:
        """So many more have it."""
        self._uses[number] += more

    def flush(self) -> None:
        """Count, and drop what is in no use."""
        for number, more in self._uses.items():
            self._db.execute(_COUNT, (number, *self.meaning(number), more))
        self._db.executemany(_UNUSED, [(number,) for number in self._uses])
        self._numbers.clear()
        self._meanings.clear()
        self._uses.clear()
        self.__dict__.pop("_free", None)


_NUMBER = "SELECT number FROM graph_predicates WHERE predicate = ? AND way = ?"
_MEANING = "SELECT predicate, way FROM graph_predicates WHERE number = ?"
_COUNT = "INSERT INTO graph_predicates VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
_UNUSED = "DELETE FROM graph_predicates WHERE number = ? AND count = 0"
