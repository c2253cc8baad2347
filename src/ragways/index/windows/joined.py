"""All segments of the layer as one: rows as they lie, and the order in which readers have them.

Rows lie by segment, which tells of the order in which documents came. Readers have them by the document's number, and
in a document by place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.columns import JoinedTexts, TextRows
from ragways.index.packed import Floats, PackedRows, unpacked
from ragways.index.ragged import stretches
from ragways.index.segments import Rows, segments
from ragways.index.store import number_of
from ragways.index.windows.edges import Edges, Space
from ragways.index.windows.segment import WindowSegment
from ragways.index.windows.themes import DocumentThemes


class JoinedSegments:
    """The rows of all segments, those of one after those of the other."""

    def __init__(self, parts: Sequence[WindowSegment], dimension: int) -> None:
        self.parts = parts
        self._width = dimension + 4

    @classmethod
    def load(cls, folder: Path, dimension: int) -> JoinedSegments:
        return cls([WindowSegment.load(path) for path in segments(folder)], dimension)

    @cached_property
    def numbers(self) -> Rows:
        """The number of each document."""
        return np.concatenate([np.zeros(0, np.int64), *(part.documents.numbers for part in self.parts)])

    @cached_property
    def window_counts(self) -> Rows:
        return np.concatenate([np.zeros(0, np.int64), *(part.documents.counts for part in self.parts)])

    @cached_property
    def sentence_counts(self) -> Rows:
        return np.concatenate([np.zeros(0, np.int64), *(part.sentence_counts for part in self.parts)])

    def of_documents(self, name: str, nothing: NDArray[Any]) -> NDArray[Any]:
        """An array with a row for each document; `nothing` is what it is where there is none."""
        return np.concatenate([nothing, *(getattr(part.of_documents, name) for part in self.parts)])

    def of_windows(self, name: str, nothing: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([nothing, *(getattr(part.of_windows, name) for part in self.parts)])

    def of_sentences(self, name: str, nothing: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([nothing, *(getattr(part.of_sentences, name) for part in self.parts)])

    @cached_property
    def slots(self) -> NDArray[np.int32]:
        return self.of_windows("slots", np.zeros(0, np.int32))

    @cached_property
    def theme_slots(self) -> NDArray[np.int32]:
        return self.of_documents("theme_slots", np.zeros(0, np.int32))

    def vectors(self, name: str) -> list[NDArray[np.int8]]:
        """Packed vectors of `windows`, `sentences` or `themes`, segment by segment."""
        kinds = {"windows": "of_windows", "sentences": "of_sentences", "themes": "of_documents"}
        found = [getattr(getattr(part, kinds[name]), name) for part in self.parts]
        return found or [np.zeros((0, self._width), np.int8)]

    def windows_space(self) -> Space:
        marks = [part.of_windows.window_texts[:, 0] for part in self.parts]
        owners = np.repeat(self.numbers, self.window_counts)
        return Space(PackedRows(*self.vectors("windows")), owners, np.concatenate([np.zeros(0, np.uint64), *marks]))

    def themes_space(self) -> Space:
        marks = [part.of_documents.work[:, 0, 0] for part in self.parts]
        return Space(
            PackedRows(*self.vectors("themes")), self.numbers, np.concatenate([np.zeros(0, np.uint64), *marks])
        )

    def holds(self, numbers: Rows) -> NDArray[np.bool_]:
        """Which of the documents are among these, which are sorted."""
        return np.concatenate([np.zeros(0, np.bool_), *(part.documents.holds(numbers) for part in self.parts)])

    # In the order of readers

    @cached_property
    def documents_in_order(self) -> Rows:
        return np.argsort(self.numbers, kind="stable")

    @cached_property
    def windows_in_order(self) -> Rows:
        return self._in_order(self.window_counts)

    @cached_property
    def sentences_in_order(self) -> Rows:
        return self._in_order(self.sentence_counts)

    def _in_order(self, counts: Rows) -> Rows:
        order = self.documents_in_order
        return stretches((np.cumsum(counts) - counts)[order], counts[order])


class OrderedRows(PackedRows):
    """Packed vectors in another order than they lie in."""

    def __init__(self, parts: Sequence[NDArray[np.int8]], order: Rows) -> None:
        super().__init__(*parts)
        self._order = order

    @property
    def packed(self) -> NDArray[np.int8]:
        return self.take(np.arange(len(self))).packed

    def __getitem__(self, rows: Any) -> Floats:  # noqa: ANN401 - whatever NumPy takes for rows
        chosen = np.arange(len(self))[rows]
        numbers: Floats = unpacked(self.take(np.atleast_1d(chosen)).packed)
        return numbers if np.ndim(chosen) else numbers[0]

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> PackedRows:
        return super().take(self._order[np.asarray(rows, dtype=np.int64)])

    def __matmul__(self, other: Floats) -> Floats:
        products: Floats = super().__matmul__(other)[self._order]
        return products


class DocumentIds(TextRows):
    """Ids of documents, whose numbers rise."""

    def __init__(self, numbers: Rows) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def _at(self, row: int) -> str:
        return f"article:{self.numbers[row]}"

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.place(id) is not None

    def place(self, id: str) -> int | None:
        """Where a document stands among them."""
        try:
            number = number_of(id)
        except (ValueError, IndexError):
            return None
        at = int(np.searchsorted(self.numbers, number))
        return at if at < len(self.numbers) and self.numbers[at] == number else None


class PartIds(TextRows):
    """Ids of parts of documents, which end at `ends`: the document's, and what follows it."""

    def __init__(self, documents: DocumentIds, ends: Rows) -> None:
        self._documents = documents
        self._ends = ends

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def _at(self, row: int) -> str:
        document = int(np.searchsorted(self._ends, row, side="right"))
        return f"{self._documents[document]}:{self._name(row, row - int(self._ends[document - 1] if document else 0))}"

    def _name(self, row: int, place: int) -> str:  # noqa: ARG002 - those that are named otherwise need the row
        return f"w{place}"


class SentenceIds(PartIds):
    """Ids of sentences, which have names of their own."""

    def __init__(self, documents: DocumentIds, ends: Rows, paths: Sequence[str], order: Rows) -> None:
        super().__init__(documents, ends)
        self._paths = paths
        self._order = order

    def _name(self, row: int, place: int) -> str:  # noqa: ARG002
        return self._paths[int(self._order[row])]


class ThemedDocuments(Mapping[str, DocumentThemes]):
    """Themes by document."""

    def __init__(self, documents: DocumentIds, texts: Sequence[str], order: Rows) -> None:
        self._documents = documents
        self._texts = texts
        self._order = order

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __getitem__(self, id: str) -> DocumentThemes:
        place = self._documents.place(id)
        if place is None:
            raise KeyError(id)
        return DocumentThemes.from_json(self._texts[int(self._order[place])])


class WithinEdges:
    """Edges within documents, by the rows that readers have."""

    def __init__(self, joined: JoinedSegments) -> None:
        self._parts = joined.parts
        self._begins = np.cumsum([0, *(part.documents.size for part in joined.parts)])
        self._order = joined.windows_in_order
        counts = joined.window_counts[joined.documents_in_order]
        self._ends = np.cumsum(counts)

    def __len__(self) -> int:
        return len(self._order)

    def of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        lies = int(self._order[row])
        at = int(np.searchsorted(self._begins, lies, side="right")) - 1
        part, lies = self._parts[at], lies - int(self._begins[at])
        ends = part.of_windows.within_ends
        edges = slice(int(ends[lies - 1]) if lies else 0, int(ends[lies]))
        document = int(np.searchsorted(self._ends, row, side="right"))
        first = int(self._ends[document - 1]) if document else 0
        return part.within_to[edges] + np.int32(first), part.within_similarity[edges]

    def packed(self) -> Edges:
        parts = self._parts
        counts = np.concatenate(
            [np.zeros(0, np.int64), *(np.diff(part.of_windows.within_ends, prepend=0) for part in parts)]
        )
        edges = stretches((np.cumsum(counts) - counts)[self._order], counts[self._order])
        to = np.concatenate([np.zeros(0, np.int32), *(part.within_to for part in parts)])[edges]
        similarity = np.concatenate([np.zeros(0, np.float32), *(part.within_similarity for part in parts)])[edges]
        sizes = np.diff(self._ends, prepend=0)
        firsts = np.repeat(np.repeat(self._ends - sizes, sizes), counts[self._order])
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[self._order])])
        return Edges(start, (to + firsts).astype(np.int32), similarity)


def themed_documents(joined: JoinedSegments, documents: DocumentIds) -> ThemedDocuments:
    return ThemedDocuments(documents, JoinedTexts([part.themed for part in joined.parts]), joined.documents_in_order)
