"""A layer in segments, so that a change costs what it changes.

A segmented layer is a folder of segments, each a folder of files that never change, with the rows of some documents: by
the document's number, and in a document by the chunk's place. A run that adds, changes or removes documents links the
segments that lose nothing, writes those without the rows that go which lose some, and puts what is new into a segment
of its own. Small ones are joined on the way: there are some ten beside the large, and what is in them is written a few
times over. Which documents lie together tells of the order in which they came, so nothing that is answered may depend
on it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.index.checksums import link_file
from ragways.index.columns import mapped, write_array
from ragways.index.layer import BuildContext
from ragways.index.ragged import stretches
from ragways.index.store import Store

SEGMENT_CHUNKS = 65_536
"""Chunks of a segment at most; a document that has more is alone in one."""
_SMALL = 1024
"""Chunks that are soon written: all smaller segments are joined whenever there are two."""
_ALIKE = 4
"""As many segments of one class are joined. A class begins at so many times the size at which the one before does."""

Rows = NDArray[np.int64]
RowCounts = Callable[[Sequence[int] | None], Iterator[tuple[int, int]]]
"""Documents that have rows, of these numbers or of all, by number, with how many rows each has."""


class SegmentKind(Protocol):
    """What a layer keeps of chunks. Both methods write into a folder that is there and has only its documents yet."""

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        """Write the rows of these documents, in their order, from what the store holds of them. Where some cannot be
        made yet, the documents of the folder are written anew without them.
        """

    def take(self, target: Path, sources: Sequence[Path], rows: Rows) -> None:
        """Write these rows of the sources, in this order. Row 0 is the first of the first source; those of the second
        follow on the last of the first. Of one source alone, the rows are in their order there.
        """


class SegmentDocuments:
    """The documents of a segment, by number, and where the rows of each end."""

    def __init__(self, numbers: Rows, ends: NDArray[np.integer]) -> None:
        self.numbers = numbers
        self.ends = ends

    @classmethod
    def load(cls, segment: Path) -> SegmentDocuments:
        return cls(cls.load_numbers(segment), mapped(segment / "documents.ends.npy"))

    @staticmethod
    def load_numbers(segment: Path) -> Rows:
        """The numbers alone, where it is known that each has one row; raises ValueError where an earlier version has
        written ends beside them.
        """
        numbers: Rows = mapped(segment / "documents.npy")
        if numbers.ndim != 1:
            raise ValueError(f"{segment} was written by another version")
        return numbers

    @classmethod
    def of(cls, counts: Iterable[tuple[int, int]]) -> SegmentDocuments:
        """Of numbers, in order, with how many rows each has."""
        table = np.array(list(counts), dtype=np.int64).reshape(-1, 2)
        return cls(table[:, 0], np.cumsum(table[:, 1]))

    def save(self, segment: Path) -> None:
        # Copies, for it may be these very files that are mapped.
        numbers, ends = np.array(self.numbers), self.ends.astype(np.min_scalar_type(self.size))
        write_array(segment / "documents.npy", numbers)
        write_array(segment / "documents.ends.npy", ends)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.ends[-1]) if len(self.ends) else 0

    @property
    def counts(self) -> Rows:
        """How many rows each document has."""
        ends: Rows = self.ends.astype(np.int64)
        return np.diff(ends, prepend=0)

    def places(self, numbers: Rows) -> NDArray[np.intp]:
        """Where those of these documents stand that it has. Costs what these are, where they are few."""
        places = np.searchsorted(self.numbers, numbers)
        inside = places < len(self.numbers)
        places, numbers = places[inside], numbers[inside]
        found: NDArray[np.intp] = places[self.numbers[places] == numbers]
        return found

    def holds(self, numbers: Rows) -> NDArray[np.bool_]:
        """Which of its documents are among these, which are sorted."""
        held = np.zeros(len(self.numbers), np.bool_)
        held[self.places(numbers)] = True
        return held

    def only(self, documents: NDArray[np.bool_]) -> SegmentDocuments:
        """The chosen ones."""
        return SegmentDocuments(self.numbers[documents], np.cumsum(self.counts[documents]))

    def rows(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows are of the chosen documents."""
        return np.repeat(documents, self.counts)

    def stretches(self, places: NDArray[np.intp]) -> tuple[Rows, Rows]:
        """The first row of each document that stands at one of these places, and how many rows it has."""
        begins = np.where(places > 0, self.ends[places - 1], 0).astype(np.int64)
        return begins, self.ends[places] - begins

    def place(self, row: int) -> int:
        """Where the document of a row stands."""
        return int(self.ends.searchsorted(self.ends.dtype.type(row), side="right"))

    def rows_beside(self, row: int) -> range:
        """All rows of the document of a row."""
        place = self.place(row)
        return range(int(self.ends[place - 1]) if place else 0, int(self.ends[place]))

    def owner(self, row: int) -> int:
        """The number of the document of a row."""
        return int(self.numbers[self.place(row)])

    def owners(self, rows: NDArray[np.integer]) -> Rows:
        """The number of the document of each of these rows."""
        # In the type of the ends: else all of these are copied into that of the rows.
        return self.numbers[self.ends.searchsorted(rows.astype(self.ends.dtype), side="right")]


def segments(folder: Path) -> list[Path]:
    """The segments of a layer, in the order in which they were made."""
    return sorted((path for path in folder.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name))


def renew(
    folder: Path,
    before: Path | None,
    context: BuildContext,
    kind: SegmentKind,
    *,
    counts: RowCounts | None = None,
    again: frozenset[int] = frozenset(),
) -> None:
    """Write a layer's folder, which is not there yet, of the documents that the store holds.

    What the folder of the generation before holds is taken over, as far as the run's changes let it; where there is
    none, or nothing may be taken over, all is made of the store. `counts` tells how many rows documents have, by
    default their chunks; documents that are to be made `again` are, though they did not change.
    """
    counts = counts or partial(_counts, context.store)
    changes = context.changes if before is not None and before.is_dir() else None
    if changes is None:
        write_segments(folder, None, (), counts(None), context, kind)
    else:
        fresh = counts(sorted(changes.fresh | (again - changes.gone)))
        write_segments(folder, before, changes.gone | changes.fresh | again, fresh, context, kind)


def write_segments(
    folder: Path,
    before: Path | None,
    gone: Iterable[int],
    fresh: Iterable[tuple[int, int]],
    context: BuildContext,
    kind: SegmentKind,
    most: int = 0,
) -> None:
    """Write a folder, which is not there yet, of what lies in the folder `before`, if any, but for what is `gone`, and
    of what is `fresh`: documents by number, in order, with how many rows each has. What else has rows and a number may
    lie in segments too, as entities do. `most`: rows of a segment, if not `SEGMENT_CHUNKS`.
    """
    folder.mkdir(parents=True)
    most = most or SEGMENT_CHUNKS
    there = segments(before) if before is not None else []
    names = map(str, count(1 + max((int(path.name) for path in there), default=0)))
    lost = np.array(sorted(gone), dtype=np.int64)
    pieces = [piece for path in there if (piece := _Piece.of(path, lost)).size]
    for made in _dealt(fresh, most):
        target = folder / next(names)
        target.mkdir()
        made.save(target)
        kind.make(target, context, made.numbers.tolist())
        if (piece := _Piece(target, SegmentDocuments.load(target), None)).size:
            pieces.append(piece)
        else:
            shutil.rmtree(target)
    for group in _grouped(pieces, most):
        _write(group, folder, names, kind)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A segment, or what is left of it: the documents that stay, or None where all do."""

    path: Path
    documents: SegmentDocuments
    kept: NDArray[np.bool_] | None

    @classmethod
    def of(cls, path: Path, gone: Rows) -> _Piece:
        documents = SegmentDocuments.load(path)
        lost = documents.holds(gone)
        return cls(path, documents, ~lost if lost.any() else None)

    @cached_property
    def size(self) -> int:
        return self.documents.size if self.kept is None else int(self.documents.counts[self.kept].sum())


def _counts(store: Store, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, int]]:
    """Documents that have chunks, by number, with how many."""
    if numbers is None:
        yield from store.db.execute("SELECT document, count(*) FROM chunks GROUP BY document ORDER BY document")
    for number in numbers or ():
        [chunks] = store.db.execute("SELECT count(*) FROM chunks WHERE document = ?", (number,)).fetchone()
        if chunks:
            yield number, chunks


def _dealt(counts: Iterable[tuple[int, int]], most: int) -> Iterator[SegmentDocuments]:
    """Documents, in their order, dealt to segments that are as full as they may be."""
    some: list[tuple[int, int]] = []
    size = 0
    for number, chunks in counts:
        if some and size + chunks > most:
            yield SegmentDocuments.of(some)
            some, size = [], 0
        some.append((number, chunks))
        size += chunks
    if some:
        yield SegmentDocuments.of(some)


def _class(size: int) -> int:
    """0 for a small segment, then one more for each time that the size is four times as large."""
    return 0 if size < _SMALL else 1 + ((size // _SMALL).bit_length() - 1) // 2


def _grouped(pieces: Sequence[_Piece], most: int) -> list[list[_Piece]]:
    """Which pieces are joined into one. Of each class too few stay to be joined, or any two are too large together."""
    groups = sorted(([piece] for piece in pieces), key=_size)
    while joined := next((found for some in _classes(groups, most) if (found := _too_many(some, most))), None):
        groups = [group for group in groups if group not in joined]
        groups.append([*chain(*joined)])
        groups.sort(key=_size)
    return groups


def _size(group: Sequence[_Piece]) -> int:
    return sum(piece.size for piece in group)


def _classes(groups: Iterable[list[_Piece]], most: int) -> Iterator[list[list[_Piece]]]:
    """The groups of each class; those that are full belong to none."""
    classes: dict[int, list[list[_Piece]]] = {}
    for group in groups:
        if (size := _size(group)) < most:
            classes.setdefault(_class(size), []).append(group)
    return (classes[each] for each in sorted(classes))


def _too_many(groups: Sequence[list[_Piece]], most: int) -> list[list[_Piece]]:
    """Those of a class, from the smallest on, that are to be joined; none where they are few or too large."""
    if len(groups) < (_ALIKE if _class(_size(groups[0])) else 2):
        return []
    fit = int(np.searchsorted(np.cumsum([_size(group) for group in groups]), most, side="right"))
    return list(groups[:fit]) if fit > 1 else []


def _write(group: Sequence[_Piece], folder: Path, names: Iterator[str], kind: SegmentKind) -> None:
    """Have the folder hold a segment of these pieces."""
    if len(group) == 1 and group[0].kept is None:
        if group[0].path.parent != folder:
            _link(group[0].path, folder / group[0].path.name)
        return
    documents, rows = _joined(group)
    target = folder / next(names)
    target.mkdir()
    documents.save(target)
    kind.take(target, [piece.path for piece in group], rows)
    for piece in group:
        if piece.path.parent == folder:
            shutil.rmtree(piece.path)


def _joined(group: Sequence[_Piece]) -> tuple[SegmentDocuments, Rows]:
    """The documents of these pieces by number, and their rows in that order."""
    all_kept = [np.ones(len(p.documents.numbers), np.bool_) if p.kept is None else p.kept for p in group]
    numbers = np.concatenate([p.documents.numbers[kept] for p, kept in zip(group, all_kept, strict=True)])
    counts = np.concatenate([p.documents.counts[kept] for p, kept in zip(group, all_kept, strict=True)])
    offsets = np.cumsum([0, *(p.documents.size for p in group)])
    pieces = zip(group, all_kept, offsets, strict=False)
    starts = np.concatenate([(p.documents.ends - p.documents.counts)[kept] + at for p, kept, at in pieces])
    order = np.argsort(numbers)
    numbers, counts, starts = numbers[order], counts[order], starts[order]
    ends = np.cumsum(counts)
    return SegmentDocuments(numbers, ends), stretches(starts, counts)


def _link(source: Path, target: Path) -> None:
    """Take over a segment, for its files never change."""
    target.mkdir()
    for file in sorted(source.iterdir()):
        link_file(file, target / file.name)
