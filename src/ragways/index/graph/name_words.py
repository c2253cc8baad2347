"""Which names hold a word: so that a name of which a question says a part is found without reading all of them.

Words are kept as hashes, so that a word of a name that is gone cannot be read there.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.array_tables import ArrayTable, Change, Patch, Rows, TableSize, patch_table, write_table
from ragways.index.ragged import Values, ragged

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

NAMES = "graph-names"
"""The table of names: the entity of each, and how many words it has: none where it is gone."""
_WORDS = "graph-words"
"""The table of words, by hash: the names that each stands in."""
_LATER = "graph-later-words.npy"
"""Hashes of words and names that came later: no file of the table, which is linked from generation to generation."""


class NameWords:
    """The names of a generation, by the words in them."""

    def __init__(self, folder: Path) -> None:
        words = ArrayTable(folder, _WORDS)
        self.names = ArrayTable(folder, NAMES)
        self._hashes = words.column("hashes")[: words.size.rows]
        self._rows = words.ragged("rows")
        self.entities, self.lengths = self.names.column("entities"), self.names.column("lengths")
        later = folder / _LATER
        self.later: Hashes = np.load(later) if later.is_file() else np.zeros((2, 0), np.uint64)

    @staticmethod
    def write(folder: Path, names: Iterable[tuple[str, int]], *, with_room: bool) -> None:
        """Write names as they are compared, each with the number of its entity, by entity."""
        numbers: dict[str, int] = {}
        places, rows, entities, lengths = array("i"), array("i"), array("i"), bytearray()
        for row, (name, entity) in enumerate(names):
            found = name.split(" ")
            entities.append(entity)
            lengths.append(_length(found))
            for word in dict.fromkeys(found):
                places.append(numbers.setdefault(word, len(numbers)))
                rows.append(row)
        hashes = np.fromiter(map(_hash, numbers), dtype=np.uint64, count=len(numbers))
        order = np.argsort(hashes)
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order))
        ranks = rank[np.frombuffer(places, dtype=np.int32)]
        held = np.frombuffer(rows, dtype=np.int32)[np.argsort(ranks, kind="stable")]
        counts = np.bincount(ranks, minlength=len(hashes)).astype(np.int32)
        words = Rows(np.arange(len(hashes)), {"hashes": hashes[order]}, {"rows": ragged(counts, names=held)})
        write_table(folder, _WORDS, words, with_room=False)
        columns: dict[str, Values] = {
            "entities": np.array(entities, dtype=np.int32),
            "lengths": np.frombuffer(bytes(lengths), np.uint8),
        }
        write_table(folder, NAMES, Rows(np.arange(len(entities)), columns), with_room=with_room)

    def patched(self, entities: Ints, names: Iterable[tuple[str, int]]) -> tuple[Patch, Hashes]:
        """The patch of the names, and the words that came later, where these entities have other names than before;
        `names` are those of now, with their entities.
        """
        first = self.names.size.rows
        known = self.entities[:first]
        begins, ends = np.searchsorted(known, entities), np.searchsorted(known, entities, side="right")
        gone = [row for begin, end in zip(begins.tolist(), ends.tolist(), strict=True) for row in range(begin, end)]
        later = np.arange(first, self.names.used)
        gone += later[np.isin(self.entities[first : self.names.used], entities)].tolist()
        come = [(name.split(" "), entity) for name, entity in names]
        numbers = [*sorted(gone), *range(self.names.used, self.names.used + len(come))]
        change = Change(
            np.array(numbers, dtype=np.int64),
            {
                "entities": np.concatenate([self.entities[sorted(gone)], np.array([e for _, e in come], np.int32)]),
                "lengths": np.array([0] * len(gone) + [_length(words) for words, _ in come], dtype=np.uint8),
            },
        )
        pairs = [
            (_hash(word), self.names.used + row) for row, (words, _) in enumerate(come) for word in dict.fromkeys(words)
        ]
        kept = self.later[:, ~np.isin(self.later[1], np.array(gone, dtype=np.uint64))]
        added = np.array(pairs, dtype=np.uint64).reshape(-1, 2).T
        joined = np.concatenate([kept, added], axis=1)
        joined = joined[:, np.lexsort((joined[1], joined[0]))]
        return self.names.patch(change), joined

    @staticmethod
    def save_patch(folder: Path, before: Path, names: Patch, later: Hashes) -> None:
        """Take over the names of the folder before, with what `patched` gave."""
        patch_table(folder, NAMES, before, names)
        patch_table(folder, _WORDS, before, Patch(TableSize.load(before, _WORDS).rows))
        np.save(folder / _LATER, later)

    def holding(self, words: Collection[str], ranks: Callable[[Ints], NDArray[Any]] | None = None) -> Ints:
        """The entities of names that hold all of these words: shortest names first, an entity for each of its names."""
        found = sorted((self._names(word) for word in set(words)), key=len)
        if not found:
            return np.empty(0, dtype=np.int64)
        rows = found[0]
        for others in found[1:]:
            if not len(rows):
                break
            rows = rows[others.take(np.searchsorted(others, rows), mode="clip") == rows]
        lengths = self.lengths.take(rows)
        there = np.flatnonzero(lengths)
        entities, lengths = self.entities.take(rows[there]).astype(np.int64), lengths[there]
        return entities[np.lexsort((entities if ranks is None else ranks(entities), lengths))]

    def _names(self, word: str) -> Ints:
        """The names that hold a word, in rising order: those of before, then those that came later."""
        wanted = np.uint64(_hash(word))
        place = int(np.searchsorted(self._hashes, wanted))
        there = place < len(self._hashes) and self._hashes[place] == wanted
        rows = self._rows["names"][self._rows.row(place)] if there else np.empty(0, np.int32)
        later = slice(*np.searchsorted(self.later[0], [wanted, wanted + np.uint64(1)]).tolist())
        return np.concatenate([rows.astype(np.int64), self.later[1][later].astype(np.int64)])


def _length(words: Sequence[str]) -> int:
    """In a byte: longer names are as good as each other."""
    return min(len(words), 255)


def _hash(word: str) -> int:
    # Below the largest number, so that there is one after it.
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big") >> 1
