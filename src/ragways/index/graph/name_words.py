"""Which names hold a word: so that a name of which a question says a part is found without reading all of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import TextColumn

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

_WORDS = "graph-name-words"
_ARRAYS = ("ends", "rows", "entities", "lengths")


@dataclass(frozen=True)
class NameWords:
    """Names by number: name i belongs to entity `entities[i]` and has `lengths[i]` words. Word j of the sorted `words`
    stands in the names `rows[ends[j - 1]:ends[j]]`, in rising order.
    """

    words: TextColumn
    ends: Ints
    rows: Small
    entities: Small
    lengths: Small

    @classmethod
    def of(cls, names: Iterable[tuple[str, int]]) -> NameWords:
        """From names as they are compared, each with the number of its entity."""
        numbers: dict[str, int] = {}
        places, rows, entities, lengths = array("i"), array("i"), array("i"), array("i")
        for row, (name, entity) in enumerate(names):
            found = name.split(" ")
            entities.append(entity)
            lengths.append(len(found))
            for word in set(found):
                places.append(numbers.setdefault(word, len(numbers)))
                rows.append(row)
        words = sorted(numbers)
        rank = np.empty(len(words), dtype=np.int32)
        rank[[numbers[word] for word in words]] = np.arange(len(words))
        ranks, held = rank[np.array(places, dtype=np.int32)], np.array(rows, dtype=np.int32)
        order = np.argsort(ranks, kind="stable")
        ends = np.cumsum(np.bincount(ranks, minlength=len(words)), dtype=np.int64)
        small = (np.array(each, dtype=np.int32) for each in (entities, lengths))
        return cls(TextColumn.of(words), ends, held[order], *small)

    def save(self, folder: Path) -> None:
        TextColumn.write(folder, _WORDS, self.words)
        for part in _ARRAYS:
            np.save(folder / f"{_WORDS}-{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, folder: Path) -> NameWords:
        parts = (np.load(folder / f"{_WORDS}-{part}.npy", mmap_mode="r") for part in _ARRAYS)
        return cls(TextColumn.load(folder, _WORDS), *map(np.asarray, parts))

    def holding(self, words: Collection[str]) -> Small:
        """The entities of names that hold all of these words: shortest names first, an entity for each of its names."""
        found = sorted((self._rows(word) for word in set(words)), key=len)
        if not found:
            return np.empty(0, dtype=np.int32)
        rows = found[0]
        for others in found[1:]:
            if not len(rows):
                break
            rows = rows[others.take(np.searchsorted(others, rows), mode="clip") == rows]
        entities, lengths = self.entities.take(rows), self.lengths.take(rows)
        return entities[np.lexsort((entities, lengths))]

    def _rows(self, word: str) -> Small:
        place = bisect_left(self.words, word)
        if place == len(self.words) or self.words[place] != word:
            return np.empty(0, dtype=np.int32)
        return self.rows[int(self.ends[place - 1]) if place else 0 : int(self.ends[place])]
