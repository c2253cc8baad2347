"""What the layer keeps of documents, in segments: windows, sentences and themes, each with its vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import content_hash
from ragways.index.columns import JoinedTexts, TextColumn, mapped
from ragways.index.layer import BuildContext
from ragways.index.packed import PackedRows
from ragways.index.ragged import stretches
from ragways.index.segments import Rows, SegmentDocuments
from ragways.index.settings import WindowSettings
from ragways.index.windows.edges import Edges, Space, nearest_within
from ragways.index.windows.sliding import WindowedDocument, windowed_documents
from ragways.index.windows.slots import Slots, free_slots
from ragways.index.windows.themes import DocumentThemes, themes_hash, themes_of, words_hash

_AT_ONCE = 1000
"""Documents whose texts are held at once."""

Hashes = NDArray[np.uint64]
"""Content hashes, each as two numbers."""


def to_hashes(hashes: Sequence[str]) -> Hashes:
    return np.frombuffer(bytes.fromhex("".join(hashes)), np.uint64).reshape(-1, 2)


def from_hashes(hashes: Hashes) -> set[str]:
    return {row.tobytes().hex() for row in hashes.reshape(-1, 2)}


@dataclass(frozen=True, eq=False)
class ThemeRows:
    """An array for each thing that is kept of a document; there is a row for each document."""

    sentence_ends: Rows
    """Where its sentences end; where its windows do, its segment knows."""
    themes: NDArray[np.int8]
    """The vector of its themes."""
    work: Hashes
    """Hashes of its themes, of what a model was asked for them, and of what the rule made them of."""
    by_model: NDArray[np.bool_]
    """Whether a model named its themes."""
    theme_slots: Slots


@dataclass(frozen=True, eq=False)
class WindowRows:
    """An array for each thing that is kept of a window."""

    windows: NDArray[np.int8]
    spans: NDArray[np.int32]
    """Its first sentence and the end, counted from the first of the document."""
    window_texts: Hashes
    slots: Slots
    within_ends: Rows
    """Where its edges within the document end."""


@dataclass(frozen=True, eq=False)
class SentenceRows:
    """An array for each thing that is kept of a sentence."""

    sentences: NDArray[np.int8]
    places: NDArray[np.int32]
    """Where it stands in the document's text."""
    sentence_texts: Hashes


@dataclass(frozen=True, eq=False)
class WindowSegment:
    """The rows of some documents, by number and place."""

    documents: SegmentDocuments
    of_documents: ThemeRows
    of_windows: WindowRows
    of_sentences: SentenceRows
    within_to: NDArray[np.int32]
    """Windows, counted from the first of the document, that windows are joined to."""
    within_similarity: NDArray[np.float32]
    paths: Sequence[str]
    """What follows the document in the id of each sentence."""
    themed: Sequence[str]
    """The themes of each document, and who named them."""

    @classmethod
    def load(cls, folder: Path) -> WindowSegment:
        def array(name: str) -> Any:  # noqa: ANN401 - of whatever kind it is
            return mapped(folder / f"{name}.npy")

        def arrays(kind: type) -> dict[str, Any]:
            return {field.name: array(field.name) for field in fields(kind)}

        return cls(
            SegmentDocuments.load(folder),
            ThemeRows(**arrays(ThemeRows)),
            WindowRows(**arrays(WindowRows)),
            SentenceRows(**arrays(SentenceRows)),
            array("within_to"),
            array("within_similarity"),
            TextColumn.load(folder, "paths"),
            TextColumn.load(folder, "themed"),
        )

    def save(self, folder: Path) -> None:
        self.documents.save(folder)
        for rows in (self.of_documents, self.of_windows, self.of_sentences):
            for field in fields(rows):
                np.save(folder / f"{field.name}.npy", getattr(rows, field.name))
        np.save(folder / "within_to.npy", self.within_to)
        np.save(folder / "within_similarity.npy", self.within_similarity)
        TextColumn.write(folder, "paths", self.paths)
        TextColumn.write(folder, "themed", self.themed)

    @property
    def sentence_counts(self) -> Rows:
        """How many sentences each document has."""
        return np.diff(self.of_documents.sentence_ends, prepend=0)

    def hashes_of(self, documents: NDArray[np.bool_]) -> set[str]:
        """All hashes that work for the chosen documents is kept under."""
        windows = self.documents.rows(documents)
        sentences = np.repeat(documents, self.sentence_counts)
        return (
            from_hashes(self.of_documents.work[documents])
            | from_hashes(self.of_windows.window_texts[windows])
            | from_hashes(self.of_sentences.sentence_texts[sentences])
        )


# Making one


@dataclass(frozen=True, slots=True)
class _Made:
    """A document with what is kept of it, each by the hash that its vector has."""

    slid: WindowedDocument
    themed: DocumentThemes
    windows: list[str]
    sentences: list[str]

    @property
    def themes(self) -> str:
        return content_hash(self.themed.text)

    @property
    def hashes(self) -> list[str]:
        return [self.themes, *self.windows, *self.sentences]


class WindowSegments:
    """What a segment keeps of documents (`SegmentKind`). `used` are slots of windows and of documents that are taken;
    `left_out` comes to hold the documents that lack a vector.
    """

    def __init__(self, settings: WindowSettings, used: tuple[Slots, Slots]) -> None:
        self._settings = settings
        self._used = list(used)
        self.left_out: list[int] = []

    def make(self, target: Path, context: BuildContext, documents: Sequence[int]) -> None:
        width = int(context.store.meta()["dimension"]) + 4
        made: list[_Made] = []
        vectors: tuple[list[bytes], ...] = ([], [], [])
        for one, known in self._documents(context, documents):
            if any(hash not in known for hash in one.hashes):
                self.left_out.append(one.slid.number)
                continue
            made.append(one)
            for kept, hashes in zip(vectors, ([one.themes], one.windows, one.sentences), strict=True):
                kept += [known[hash] for hash in hashes]
        packed = (np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), width) for rows in vectors)
        self._segment(made, *packed).save(target)

    def _documents(self, context: BuildContext, documents: Sequence[int]) -> Iterator[tuple[_Made, dict[str, bytes]]]:
        """Each document, with the vectors that its texts have."""
        embedder = context.store.meta()["embedder"]
        rest = windowed_documents(context.store, self._settings, documents)
        while some := list(islice(rest, _AT_ONCE)):
            themes = themes_of(context, some)
            made = [
                _Made(
                    slid,
                    themes[slid.id],
                    [content_hash(text) for text in slid.window_texts()],
                    [content_hash(text) for text in slid.sentence_texts()],
                )
                for slid in some
            ]
            known = context.work_cache.vectors(embedder, [hash for one in made for hash in one.hashes])
            yield from ((one, known) for one in made)

    def _segment(
        self, made: Sequence[_Made], themes: NDArray[np.int8], windows: NDArray[np.int8], sentences: NDArray[np.int8]
    ) -> WindowSegment:
        numbers = [one.slid.number for one in made]
        documents = SegmentDocuments.of((number, len(one.windows)) for number, one in zip(numbers, made, strict=True))
        work = [hash for one in made for hash in (one.themes, themes_hash(one.slid), words_hash(one.slid))]
        window_texts = to_hashes([hash for one in made for hash in one.windows])
        owners = np.repeat(documents.numbers, documents.counts)
        space = Space(PackedRows(windows), owners, window_texts[:, 0])
        within = Edges.pack(nearest_within(space, self._settings.top_k))
        firsts = np.repeat(np.repeat(documents.ends - documents.counts, documents.counts), np.diff(within.start))
        return WindowSegment(
            documents,
            ThemeRows(
                np.cumsum([len(one.sentences) for one in made], dtype=np.int64),
                themes,
                to_hashes(work).reshape(-1, 3, 2),
                np.array([one.themed.way == "model" for one in made], np.bool_),
                self._slots(1, len(made)),
            ),
            WindowRows(
                windows,
                np.array([span for one in made for span in one.slid.windows], np.int32).reshape(-1, 2),
                window_texts,
                self._slots(0, len(windows)),
                within.start[1:],
            ),
            SentenceRows(
                sentences,
                np.array([place for one in made for _, *place in one.slid.sentences], np.int32).reshape(-1, 2),
                to_hashes([hash for one in made for hash in one.sentences]),
            ),
            (within.to - firsts).astype(np.int32),
            within.similarity,
            [id.split(":", 2)[2] for one in made for id, _, _ in one.slid.sentences],
            [one.themed.as_json() for one in made],
        )

    def _slots(self, kind: int, count: int) -> Slots:
        """So many slots of windows (0) or documents (1) that were free."""
        found = free_slots(self._used[kind], count)
        self._used[kind] = np.concatenate([self._used[kind], found])
        return found

    def take(self, target: Path, sources: Sequence[Path], rows: Rows) -> None:
        parts = [WindowSegment.load(source) for source in sources]
        documents = SegmentDocuments.load(target)
        # By rows, for a source may still hold an earlier version of a document.
        ends = np.cumsum(np.concatenate([part.documents.counts for part in parts]))
        places = np.searchsorted(ends, rows[documents.ends - documents.counts], side="right")
        counts = np.concatenate([part.sentence_counts for part in parts])
        sentences = stretches((np.cumsum(counts) - counts)[places], counts[places])
        edges = np.concatenate([np.diff(part.of_windows.within_ends, prepend=0) for part in parts])
        within = stretches((np.cumsum(edges) - edges)[rows], edges[rows])
        of_documents = _taken(ThemeRows, [part.of_documents for part in parts], places)
        of_windows = _taken(WindowRows, [part.of_windows for part in parts], rows)
        of_documents["sentence_ends"] = np.cumsum(counts[places])
        of_windows["within_ends"] = np.cumsum(edges[rows])
        # All texts at once: one by one takes ten times as long.
        paths, themed = list(JoinedTexts([part.paths for part in parts])), JoinedTexts([part.themed for part in parts])
        WindowSegment(
            documents,
            ThemeRows(**of_documents),
            WindowRows(**of_windows),
            SentenceRows(**_taken(SentenceRows, [part.of_sentences for part in parts], sentences)),
            np.concatenate([part.within_to for part in parts])[within],
            np.concatenate([part.within_similarity for part in parts])[within],
            [paths[row] for row in sentences.tolist()],
            [themed[place] for place in places.tolist()],
        ).save(target)


def _taken(kind: type, parts: Sequence[object], rows: Rows) -> dict[str, Any]:
    """These rows of all arrays of a kind."""
    names = [field.name for field in fields(kind)]
    return {name: np.concatenate([getattr(part, name) for part in parts])[rows] for name in names}
