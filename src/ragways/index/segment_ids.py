"""The ids of a segment's chunks, made when they are asked for: of a document's number and the path of a chunk in it.

A path (`s8:p2:c0`) is short, and most documents have the same ones. So `paths.npy` holds each path of the segment once,
in the order of texts, and `path_numbers.npy` has for each chunk which of them is its own; whose chunk it is, the
segment's documents tell. All are mapped, so opening reads next to nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import TextRows, mapped
from ragways.index.segments import Rows, SegmentDocuments

_AT_ONCE = 4096
"""Ids that are made together."""
_FEW = 64
"""Ids that are made in the time in which the first of many are looked for without them."""
_TENS = 10 ** np.arange(1, 19, dtype=np.int64)
"""The first number of two digits, of three, and so on up to the largest that a document can have."""

Paths = NDArray[np.bytes_]


class SegmentIds(TextRows):
    """The ids of chunks by row: chunk `row` has the path `paths[path_numbers[row]]`. Paths are sorted, and each stands
    there once.
    """

    def __init__(self, documents: SegmentDocuments, paths: Paths, path_numbers: NDArray[np.integer]) -> None:
        if documents.size != len(path_numbers):
            raise ValueError("chunks of a segment and its documents do not belong together")
        self.documents = documents
        self._paths = paths
        self._path_numbers = path_numbers

    @classmethod
    def of(cls, documents: SegmentDocuments, paths: Iterable[str]) -> SegmentIds:
        """Of the paths of all rows, in their order."""
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        rows = np.fromiter(map(numbers.__getitem__, paths), np.int64)
        different, places = np.unique(np.array([path.encode() for path in numbers], np.bytes_), return_inverse=True)
        return cls(documents, different, places[rows])

    @classmethod
    def taken(cls, documents: SegmentDocuments, parts: Sequence[SegmentIds], rows: Rows) -> SegmentIds:
        """Of these rows of others, laid end to end, in this order. `documents` are theirs."""
        paths = np.unique(np.concatenate([part._paths for part in parts]))
        numbers = np.concatenate([np.searchsorted(paths, part._paths)[part._path_numbers] for part in parts])
        return cls(documents, paths, numbers[rows])

    @classmethod
    def load(cls, folder: Path) -> SegmentIds:
        """Those of a segment that was written; raises OSError or ValueError where it is not whole."""
        return cls(SegmentDocuments.load(folder), mapped(folder / "paths.npy"), mapped(folder / "path_numbers.npy"))

    def save(self, folder: Path) -> None:
        """Write what the documents, which are there already, do not tell."""
        used = np.bincount(self._path_numbers, minlength=len(self._paths)) > 0
        # Paths that only chunks had which are gone must leave no trace, not even by how long they were.
        paths = np.array(self._paths[used].tolist(), np.bytes_)
        numbers = (np.cumsum(used) - 1)[self._path_numbers]
        np.save(folder / "paths.npy", paths)
        np.save(folder / "path_numbers.npy", numbers.astype(np.min_scalar_type(max(0, len(paths) - 1))))

    def __len__(self) -> int:
        return len(self._path_numbers)

    def _at(self, row: int) -> str:
        path = self._paths[self._path_numbers[row]].decode()
        return f"article:{self.documents.owner(row)}:{path}"

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> list[str]:
        """The ids of these rows, in their order."""
        wanted = np.asarray(rows, dtype=np.int64)
        paths: list[bytes] = self._paths[self._path_numbers[wanted]].tolist()
        numbers = self.documents.owners(wanted).tolist()
        return [f"article:{number}:{path.decode()}" for number, path in zip(numbers, paths, strict=True)]

    def __iter__(self) -> Iterator[str]:
        paths = [path.decode() for path in self._paths.tolist()]
        for at in range(0, len(self), _AT_ONCE):
            some = self._path_numbers[at : at + _AT_ONCE].tolist()
            numbers = self.documents.owners(np.arange(at, at + len(some))).tolist()
            yield from (f"article:{number}:{paths[path]}" for number, path in zip(numbers, some, strict=True))

    def only(self, documents: NDArray[np.bool_]) -> SegmentIds:
        """Those of the chosen documents, copied."""
        numbers = self._path_numbers[self.documents.rows(documents)]
        return SegmentIds(self.documents.only(documents), self._paths, numbers)

    def in_memory(self) -> SegmentIds:
        """The same with nothing mapped."""
        documents = SegmentDocuments(np.array(self.documents.numbers), np.array(self.documents.ends))
        return SegmentIds(documents, np.array(self._paths), np.array(self._path_numbers))

    def first(self, rows: NDArray[np.intp], k: int) -> NDArray[np.intp]:
        """Where among these rows, which are in rising order, the k stand whose ids are the first of all, as texts."""
        if len(rows) <= k:
            return np.arange(len(rows))
        near = np.arange(len(rows)) if len(rows) <= _FEW else self._near(rows, k)
        ids = self.take(rows[near])
        return near[sorted(range(len(near)), key=ids.__getitem__)[:k]]

    def _near(self, rows: NDArray[np.intp], k: int) -> NDArray[np.intp]:
        """The same and few others; no id is made for it.

        Ids whose numbers have as many digits are in the order of these, as rows are, and those of a document in the
        order of their paths. So of each group of documents the first k rows are enough; for the last document of
        these, its first k by path.
        """
        documents = self.documents.numbers.searchsorted(_TENS)
        borders = rows.searchsorted(np.where(documents > 0, self.documents.ends[documents - 1], 0).astype(np.intp))
        near: list[NDArray[np.intp]] = []
        for begin, end in pairwise([0, *borders.tolist(), len(rows)]):
            if end - begin <= k:
                near.append(np.arange(begin, end))
                continue
            last = self.documents.rows_beside(int(rows[begin + k - 1]))
            low, high = rows.searchsorted([last.start, last.stop]).tolist()
            by_path = np.argsort(self._path_numbers[rows[low:high]])
            near += [np.arange(begin, low), low + by_path[:k]]
        return np.concatenate(near)
