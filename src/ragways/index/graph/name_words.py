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
    """Names in the order of their entities: name i belongs to entity `entities[i]` and has `lengths[i]` words. Word j
    of the sorted `words` stands in the names `rows[ends[j - 1]:ends[j]]`, in rising order.
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

    def changed(self, old: Ints, new: Ints, touched: Ints, names: Iterable[tuple[int, Collection[str]]]) -> NameWords:
        """As they are when some entities have other names than before. `old` and `new` are the ids of entities by
        number before and now, `touched` those of entities that are other or gone, `names` what these are called now.
        """
        ids, come = old[self.entities], [(id, name.split(" ")) for id, called in names for name in called]
        kept = np.flatnonzero(~np.isin(ids, touched))
        added = np.array([id for id, _ in come], dtype=np.int64)
        # Numbers of names, now: of those that stay, and of those that come between them.
        stay = np.full(len(ids), -1, dtype=np.int32)
        stay[kept] = np.arange(len(kept)) + np.searchsorted(added, ids[kept])
        places = np.searchsorted(ids[kept], added) + np.arange(len(added))
        words, known = list(self.words), len(self.words)
        words += sorted({word for _, found in come for word in found}.difference(words))
        number = {word: n for n, word in enumerate(words)}
        rows = stay[self.rows]
        there = np.flatnonzero(rows >= 0)
        of_word = np.repeat(np.arange(known), np.diff(self.ends, prepend=0))[there]
        numbered = zip(come, places.tolist(), strict=True)
        said = [(number[word], row) for (_, found), row in numbered for word in set(found)]
        pairs = np.array(said, dtype=np.int64).reshape(-1, 2)
        of_word, rows = np.concatenate([of_word, pairs[:, 0]]), np.concatenate([rows[there], pairs[:, 1]])
        used = sorted(np.unique(of_word).tolist(), key=words.__getitem__)
        rank = np.zeros(len(number), dtype=np.int64)
        rank[used] = np.arange(len(used))
        ranks = rank[of_word]
        order = np.lexsort((rows, ranks))
        entities, lengths = np.zeros(len(kept) + len(added), np.int32), np.zeros(len(kept) + len(added), np.int32)
        entities[stay[kept]], lengths[stay[kept]] = np.searchsorted(new, ids[kept]), self.lengths[kept]
        entities[places], lengths[places] = np.searchsorted(new, added), [len(found) for _, found in come]
        return NameWords(
            TextColumn.of(words[n] for n in used),
            np.cumsum(np.bincount(ranks, minlength=len(used)), dtype=np.int64),
            rows[order].astype(np.int32),
            entities,
            lengths,
        )

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
