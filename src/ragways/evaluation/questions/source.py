"""What questions are drawn from, and what is drawn: the material of an index, and drafts with the text behind them.

Documents, chunks, facts and the graph are each read when first needed. A draft becomes a question once it is verified.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, TypeVar

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.types import ABSTENTION, Document, Piece
from ragways.evaluation.question import plain_words
from ragways.layers.protocols import Graph, GraphEntity
from ragways.retrieval.resources import Resources

# Why a draft did not become a question. Counts of a generated set are by these, `passed` first.

PASSED = "passed"
NO_MATERIAL = "nothing to ask"
UNREADABLE = "unreadable reply"
OTHER_ENTITY = "another entity"
NOT_GROUNDED = "not grounded"
SHORTCUT = "shortcut"
LEAK = "answer in the question"
BY_HEART = "known by heart"
AMBIGUOUS = "ambiguous"
ANSWERABLE = "answerable"
REPEATED = "repeated"

REASONS: dict[str, str] = {
    PASSED: "verified",
    NO_MATERIAL: "what was drawn from the corpus holds nothing to ask about",
    UNREADABLE: "the model gave no usable reply, even on another try",
    OTHER_ENTITY: "the documents do not mean the same entity",
    NOT_GROUNDED: "the answer does not follow from the supporting text alone",
    SHORTCUT: "a part of its evidence suffices where all of it should be needed",
    LEAK: "the answer stands in the question",
    BY_HEART: "the model answers it with the book closed",
    AMBIGUOUS: "another answer is as right",
    ANSWERABLE: "it should have no answer, and the corpus may hold one",
    REPEATED: "the same question was made before",
}

NULL = "null"
"""The type of questions that the corpus does not answer."""
Absent = tuple[tuple[str, tuple[str, ...]], ...]
"""Names, each with beginnings of words that must not stand in a document with it."""


@dataclass(frozen=True, slots=True)
class SupportingChunk:
    """A chunk that a question rests on; `quote` is the sentence in it, the whole chunk where it is empty."""

    chunk: str
    document: str
    key: str
    title: str
    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """`names` are those in the question, `path` is what it was made from, `absent` what no document may state.

    `checked` are facts that have to be the only ones of their kind, `choice` says that the question itself lists the
    answers, `multi_hop` that all of the support is needed, `parts` that the answer is made of the quotes and stands in
    none of them as a whole.
    """

    text: str
    answers: tuple[str, ...]
    support: tuple[SupportingChunk, ...] = ()
    type: str = ""
    names: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    absent: Absent = ()
    choice: bool = False
    parts: bool = False
    multi_hop: bool = False
    note: str = ""

    @property
    def unanswerable(self) -> bool:
        return self.type == NULL


def null(text: str, **more: object) -> QuestionDraft:
    """A question to which the answer is that there is none."""
    return QuestionDraft(text, (ABSTENTION,), type=NULL, **more)  # type: ignore[arg-type]


class NothingToAsk(Exception):
    """Why no question was drafted, in the words of the counts."""

    def __init__(self, reason: str = NO_MATERIAL) -> None:
        super().__init__(reason)
        self.reason = reason


# What questions are drawn from


T = TypeVar("T")
K = TypeVar("K")
_TOGETHER = re.compile(r"(?<=[a-z]{4}\.) (?=[A-Z][a-z])")
"""Between sentences that the index keeps together, because they are short; shorter words may be abbreviations."""
MAX_CHARACTERS = 1_000_000_000
SHORTEST = 80
"""Characters of a chunk worth asking about."""
SHARES: Mapping[str, float] = {"reasoning": 0.4, "multi-context": 0.4, "comparative": 0.2}
"""How questions on a context are made harder, with the share of each."""


def read_shares(text: str) -> Mapping[str, float]:
    """`reasoning` alone, `reasoning, comparative` alike, `reasoning=0.4,comparative=0.2`; empty: the usual."""
    given = dict[str, float]()
    for part in filter(None, (part.strip() for part in text.split(","))):
        way, _, share = part.partition("=")
        try:
            given[way.strip()] = float(share or 1)
        except ValueError:
            raise UsageError(f"{share!r} is no share", "write it as reasoning=0.4") from None
    return checked_shares(given or SHARES)


def checked_shares(shares: Mapping[str, float]) -> Mapping[str, float]:
    """The ways to make questions harder that have a share; an unknown way and a share below 0 are errors."""
    for way, share in shares.items():
        if way not in SHARES:
            raise UsageError(f"there is no way {way!r} to make a question harder", did_you_mean(way, SHARES))
        if not 0 <= share < float("inf"):
            raise UsageError(f"a share of {share} makes no sense", "give 0 or more")
    chosen = {way: share for way, share in shares.items() if share}
    if not chosen:
        raise UsageError("no way to make a question harder has a share", f"choose among {', '.join(SHARES)}")
    return chosen


def drawn_ways(random: Random, shares: Mapping[str, float]) -> list[str]:
    """The ways to make a question harder in the order they are tried: drawn by their shares, without replacement."""
    left, order = dict(shares), list[str]()
    while left:
        order.append(random.choices(list(left), list(left.values()))[0])
        del left[order[-1]]
    return order


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A document that is neither empty nor a redirect, with its chunks in reading order."""

    id: str
    document: Document
    chunks: tuple[Piece, ...]

    @property
    def title(self) -> str:
        return self.document.title

    def chunk_at(self, start: int, end: int) -> Piece | None:
        """The chunk in which a stretch of the document lies whole."""
        return next((piece for piece in self.chunks if piece.start <= start and end <= piece.end), None)


class QuestionSource:
    """The material of questions. Everything is made from `use`, in an order that depends on nothing else.

    `evolutions` are the ways to make questions on a context harder, each with its share.
    """

    def __init__(self, use: Resources, evolutions: Mapping[str, float] = SHARES) -> None:
        self.use = use
        self.evolutions = evolutions
        self.index = use.index
        self.redirects: list[tuple[str, str]] = []
        self._once: dict[str, Any] = {}

    @property
    def graph(self) -> Graph:
        return self.index.graph

    @cached_property
    def chunks(self) -> list[str]:
        """The ids of all chunks, sorted, so that drawing does not depend on how they are stored."""
        if "vectors" in self.index.layers:
            return sorted(self.index.vectors.ids)
        self.index.require(["graph"])
        return sorted(self.graph.chunk_ids())

    @cached_property
    def texts(self) -> dict[str, CorpusText]:
        """All documents by id, in the order of their keys."""
        chunks = grouped(self.chunks, document_of)
        texts: dict[str, CorpusText] = {}
        size = 0
        for id, _, title in self.index.documents():
            document = self.index.document(id)
            if document is not None and document.redirect:
                self.redirects.append((title, document.redirect))
            elif document is not None and document.text.strip() and id in chunks:
                size += len(document.text)
                if size > MAX_CHARACTERS:
                    raise UsageError(
                        f"the corpus has more than {MAX_CHARACTERS:,} characters", "make questions on a part of it"
                    )
                pieces = self.index.pieces(chunks[id]).values()
                texts[id] = CorpusText(id, document, tuple(sorted(pieces, key=lambda p: (p.start, p.end, p.id))))
        return texts

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What is made of the whole corpus and needed again."""
        if name not in self._once:
            self._once[name] = make()
        value: T = self._once[name]
        return value

    def entity(self, id: str) -> GraphEntity:
        return self.once(f"entity {id}", lambda: self.graph.entities([id])[id])

    def chunk(self, random: Random) -> Piece:
        """A random chunk that is long enough to be asked about."""
        for _ in range(20 if self.chunks else 0):
            piece = self.piece(random.choice(self.chunks))
            if piece is not None and len(piece.text.strip()) >= SHORTEST:
                return piece
        raise NothingToAsk

    def chunks_of(self, document: str) -> tuple[Piece, ...]:
        """The chunks of a document in reading order."""
        return self.texts[document].chunks if document in self.texts else ()

    def piece(self, chunk: str) -> Piece | None:
        return next((piece for piece in self.chunks_of(document_of(chunk)) if piece.id == chunk), None)

    def sentences(self, chunk: str) -> tuple[str, ...]:
        """The sentences of a chunk, each on one line."""
        return self.once(f"sentences {chunk}", lambda: self._sentences(chunk))

    def _sentences(self, chunk: str) -> tuple[str, ...]:
        piece = self.piece(chunk)
        if piece is None:
            return ()
        spans = self.index.sentences(piece)
        lines = (" ".join(piece.text[start - piece.start : end - piece.start].split()) for start, end in spans)
        return tuple(one for line in lines for one in _TOGETHER.split(line))

    def support(self, piece: Piece, quote: str = "") -> SupportingChunk:
        """A chunk as evidence of a question."""
        key = self.texts[piece.document].document.key
        return SupportingChunk(piece.id, piece.document, key, piece.title, piece.text, quote)

    def support_of(self, chunk: str, quote: str = "") -> SupportingChunk:
        piece = self.piece(chunk)
        if piece is None:
            raise NothingToAsk
        return self.support(piece, quote)

    # Which documents have a phrase

    @cached_property
    def _plain(self) -> list[tuple[str, str]]:
        """Id, and title and text in plain words with a space at both ends, of every document."""
        return [(id, f" {plain_words(f'{one.title} {one.document.text}')} ") for id, one in self.texts.items()]

    @cached_property
    def _places(self) -> dict[str, array[int]]:
        places: dict[str, array[int]] = {}
        for number, (_, plain) in enumerate(self._plain):
            for word in set(plain.split()):
                places.setdefault(word, array("I")).append(number)
        return places

    def having(self, *phrases: str, beginning: Sequence[str] = ("",)) -> list[str]:
        """The documents with all these phrases, whole words in a row, and a word with one of these beginnings."""
        wanted = [plain_words(phrase) for phrase in phrases]
        words = {word for phrase in wanted for word in phrase.split()}
        postings = sorted((self._places.get(word, array("I")) for word in words), key=len)
        numbers = set.intersection(*map(set, postings)) if postings else set[int]()
        begun = tuple(f" {plain_words(word)}" for word in beginning)
        found = (self._plain[number] for number in sorted(numbers))
        return [
            id
            for id, plain in found
            if all(f" {phrase} " in plain for phrase in wanted) and any(word in plain for word in begun)
        ]


def document_of(chunk: str) -> str:
    """The id of the document that a chunk is of."""
    return ":".join(chunk.split(":")[:2])


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by what they share, each in the order given."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
