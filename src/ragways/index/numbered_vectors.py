"""Vectors of things whose id is a number of 64 bits, as those of entities and relations are: in segments like the
vectors of chunks, so that a change writes what it changes, and searched as one.

A segment keeps its numbers as SQLite has them, with a sign, in their order. A thing lies in one segment only: of what
goes, or has another vector now, nothing is left in the files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import TextRows, mapped
from ragways.index.layer import BuildContext, CheckContext, Finding, findings
from ragways.index.packed import PackedRows
from ragways.index.segments import Rows, SegmentDocuments, segments, write_segments
from ragways.index.sketches import SketchWords, sketches
from ragways.index.vectors import Vectors

PREFIXES = {"entities": "entity:", "relations": "relation:"}
"""How the ids begin whose vectors lie in a folder of this name."""
SEGMENT_ROWS = 16_384
"""Rows of a segment, at most. What a document names lies all over, so that a removal writes several segments anew."""
_SHIFT = 1 << 63


class NumberedIds(TextRows):
    """Ids that are a word and sixteen hexadecimal digits, in several parts of which one follows on the other."""

    def __init__(self, prefix: str, parts: Sequence[Rows]) -> None:
        self.prefix = prefix
        self.parts = parts
        self._ends = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def _at(self, row: int) -> str:
        part = int(np.searchsorted(self._ends, row, side="right")) - 1
        return self._named(int(self.parts[part][row - int(self._ends[part])]))

    def __iter__(self) -> Iterator[str]:
        return map(self._named, chain.from_iterable(part.tolist() for part in self.parts))

    def _named(self, number: int) -> str:
        return f"{self.prefix}{number + _SHIFT:016x}"

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """The row of each of these that is there."""
        known = {int(id[-16:], 16) - _SHIFT: id for id in ids if id.startswith(self.prefix)}
        wanted = np.array(sorted(known), dtype=np.int64)
        found: dict[str, int] = {}
        for part, begin in zip(self.parts, self._ends.tolist(), strict=False):
            rows = np.searchsorted(part, wanted)
            inside = np.flatnonzero(rows < len(part))
            inside = inside[part[rows[inside]] == wanted[inside]]
            for number, row in zip(wanted[inside].tolist(), rows[inside].tolist(), strict=True):
                found[known[number]] = begin + row
        return found


@dataclass(frozen=True, eq=False)
class _Segment:
    """Numbers in rising order; `packed` has a row for each, `sketches` a column."""

    numbers: Rows
    packed: NDArray[np.int8]
    sketches: SketchWords

    @classmethod
    def load(cls, folder: Path) -> _Segment:
        return cls(SegmentDocuments.load_numbers(folder), mapped(folder / "rows.npy"), mapped(folder / "sketches.npy"))

    def only(self, kept: NDArray[np.bool_]) -> _Segment:
        return self if kept.all() else _Segment(self.numbers[kept], self.packed[kept], self.sketches[:, kept])

    @staticmethod
    def write(folder: Path, packed: NDArray[np.int8], words: SketchWords) -> None:
        np.save(folder / "rows.npy", packed)
        np.save(folder / "sketches.npy", words)


class NumberedVectors(Vectors):
    """In which order the rows lie tells nothing."""

    def __init__(self, prefix: str, parts: Sequence[_Segment]) -> None:
        self.numbered = NumberedIds(prefix, [part.numbers for part in parts])
        packed = [part.packed for part in parts] or [np.zeros((0, 4), np.int8)]
        super().__init__(self.numbered, PackedRows(*packed), [part.sketches for part in parts])
        self._parts = parts

    @classmethod
    def open(cls, derived: Path, name: str) -> NumberedVectors | None:
        """Those of a derived folder that has some under this name; next to nothing is read."""
        if not (derived / name).is_dir():
            return None
        found = cls(PREFIXES[name], [_Segment.load(path) for path in segments(derived / name)])
        return found if len(found) else None

    @property
    def numbers(self) -> Rows:
        """The number of each row, as SQLite has it."""
        return np.concatenate([np.zeros(0, np.int64), *self.numbered.parts])

    def places(self, ids: Collection[str]) -> dict[str, int]:
        """The row of each of these that has one."""
        return self.numbered.places(ids)

    def only(self, kept: NDArray[np.bool_]) -> NumberedVectors:
        """Those of the rows that are kept, copied where they are not all: a search is what it would be in these."""
        masks = np.split(kept, np.cumsum([len(part.numbers) for part in self._parts])[:-1])
        parts = [part.only(mask) for part, mask in zip(self._parts, masks, strict=True) if mask.any()]
        return NumberedVectors(self.numbered.prefix, parts)


# Writing


class _Segments:
    """What a segment keeps (`SegmentKind`)."""

    def __init__(self, hashes: Callable[[Sequence[int]], Sequence[str]]) -> None:
        self._hashes = hashes

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        hashes = self._hashes(documents)
        vectors = context.work_cache.vectors(context.store.meta()["embedder"], hashes)
        packed = np.frombuffer(b"".join(map(vectors.__getitem__, hashes)), np.int8).reshape(len(hashes), -1)
        _Segment.write(target, packed, sketches(packed[:, :-4]))

    def take(self, target: Path, sources: Sequence[Path], rows: Rows) -> None:
        parts = [_Segment.load(source) for source in sources]
        packed = PackedRows(*(part.packed for part in parts)).take(rows).packed
        _Segment.write(target, packed, np.concatenate([part.sketches for part in parts], axis=1)[:, rows])


def save_vectors(
    context: BuildContext,
    folder: Path,
    name: str,
    hashes: Callable[[Sequence[int]], Sequence[str]],
    *,
    fresh: Iterable[int],
    gone: Collection[int] | None,
) -> None:
    """Write the vectors of one kind of thing into a derived folder: those of the generation before, but for what is
    `gone` (None: all is), and those that are `fresh`, by number and in order. `hashes` tells under which hashes the
    work cache keeps the vectors of some.
    """
    before = context.before / name if context.before is not None and gone is not None else None
    rows = ((number, 1) for number in fresh)
    write_segments(folder / name, before, gone or (), rows, context, _Segments(hashes), most=SEGMENT_ROWS)


# Checks


def check_numbered(context: CheckContext) -> Iterator[Finding]:
    """Segments of vectors of entities and relations."""
    for name, prefix in PREFIXES.items():
        folder, seen = context.derived / name, np.zeros(0, np.int64)
        for path in segments(folder) if folder.is_dir() else []:
            part = _Segment.load(path)
            sizes = len(part.packed), len(part.numbers), part.sketches.shape[1]
            if len(set(sizes)) > 1:
                example = "{:,} rows, {:,} ids, {:,} sketches".format(*sizes)
                wrong = f"{name}, segment {path.name}: rows and ids differ"
                yield Finding(wrong, "error", 1, example, context.cure_of_derived)
                continue
            ids = NumberedIds(prefix, [part.numbers])
            unsorted = np.flatnonzero(part.numbers[1:] <= part.numbers[:-1]).tolist()
            wrong = f"{name}, segment {path.name}: ids not in their order"
            yield from findings(wrong, "error", (ids[row] for row in unsorted), context.cure_of_derived)
            other = np.flatnonzero((sketches(part.packed[:, :-4]) != part.sketches).any(axis=0)).tolist()
            wrong = f"{name}: sketches of other vectors"
            yield from findings(wrong, "error", (ids[row] for row in other), context.cure_of_derived)
            twice = np.flatnonzero(np.isin(part.numbers, seen)).tolist()
            wrong = f"{name}: two vectors of one"
            yield from findings(wrong, "error", (ids[row] for row in twice), context.cure_of_derived)
            seen = np.concatenate([seen, part.numbers])
