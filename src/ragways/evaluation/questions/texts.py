"""All documents as plain words, to be sure that something stands in one of them, or in none."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ragways.core.errors import UsageError
from ragways.core.types import Document, Piece
from ragways.evaluation.question import plain_words
from ragways.index.reader import Index

MOST_CHARACTERS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Text:
    """A document with its chunks in reading order; redirects and empty documents are left out before."""

    id: str
    document: Document
    chunks: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.document.title


class Texts:
    """The corpus, read once. Documents by key, so that nothing depends on the order of adding."""

    def __init__(self, index: Index) -> None:
        self._index = index
        chunks: dict[str, list[str]] = {}
        for id in chunk_ids(index):
            chunks.setdefault(":".join(id.split(":")[:2]), []).append(id)
        self.all: list[Text] = []
        self.redirects: list[tuple[str, str]] = []
        size = 0
        for id, _, title in index.documents():
            document = index.document(id)
            if document is None:
                continue
            if document.redirect:
                self.redirects.append((title, document.redirect))
            elif document.text.strip() and id in chunks:
                size += len(document.text)
                if size > MOST_CHARACTERS:
                    raise UsageError(
                        f"the corpus has more than {MOST_CHARACTERS:,} characters", "make questions on a part of it"
                    )
                self.all.append(Text(id, document, tuple(chunks[id])))
        self.by_id = {text.id: text for text in self.all}

    def piece(self, text: Text, start: int, end: int) -> Piece | None:
        """The chunk in which a stretch of a document lies whole."""
        for piece in self.pieces(text):
            if piece.start <= start and end <= piece.end:
                return piece
        return None

    def pieces(self, text: Text) -> list[Piece]:
        """The chunks of a document in reading order."""
        found = self._index.pieces(text.chunks).values()
        return sorted(found, key=lambda piece: (piece.start, piece.end, piece.id))

    def sentences(self, text: Text) -> list[tuple[int, int]]:
        whole = text.document.text
        return self._index.sentences(Piece(text.id, "article", whole, text.id, text.title, 0, len(whole), 0))

    @cached_property
    def plain(self) -> list[str]:
        """Title and text of every document in plain words, with a space at both ends."""
        return [f" {plain_words(f'{text.title} {text.document.text}')} " for text in self.all]

    @cached_property
    def _places(self) -> dict[str, array[int]]:
        places: dict[str, array[int]] = {}
        for number, plain in enumerate(self.plain):
            for word in set(plain.split()):
                places.setdefault(word, array("I")).append(number)
        return places

    def holding(self, *phrases: str) -> list[Text]:
        """The documents in which all these phrases stand, whole words in a row."""
        return [self.all[number] for number in self._holding(*phrases)]

    def _holding(self, *phrases: str) -> list[int]:
        wanted = [plain_words(phrase) for phrase in phrases]
        words = sorted(
            {word for phrase in wanted for word in phrase.split()}, key=lambda w: len(self._places.get(w, ()))
        )
        if not words or any(word not in self._places for word in words):
            return []
        numbers: set[int] = set(self._places[words[0]])
        for word in words[1:]:
            numbers &= set(self._places[word])
        return [n for n in sorted(numbers) if all(f" {phrase} " in self.plain[n] for phrase in wanted)]

    def speaking(self, name: str, cues: Iterable[str]) -> list[Text]:
        """The documents that hold a name and a word that begins with one of the cues; any word, with an empty cue."""
        beginnings = tuple(f" {plain_words(cue)}" for cue in cues)
        return [self.all[n] for n in self._holding(name) if any(cue in self.plain[n] for cue in beginnings)]


def chunk_ids(index: Index) -> list[str]:
    """All chunks, sorted, so that drawing from them does not depend on how they are stored."""
    if "vectors" in index.layers:
        return sorted(index.vectors.ids)
    index.require(["graph"])
    return sorted(index.graph.chunks)
