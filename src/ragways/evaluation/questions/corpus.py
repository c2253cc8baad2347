"""The corpus that questions are made from: all documents as plain words, and what each of them is about."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ragways.core.errors import UsageError
from ragways.core.types import Document, Piece, title_name
from ragways.evaluation.question import plain_words
from ragways.index.open import Index
from ragways.layers.graph.names import COARSE, coarse, fold, split_title, type_of_sentence

MAX_CHARACTERS = 1_000_000_000
_BORN = re.compile(r"\(\s*born\b|\bwas born\b")
_STOP = re.compile(r"[a-z]{4}\.(?= [A-Z][a-z])")
"""The end of a sentence before another; shorter words may be abbreviations."""
_LETTERS = re.compile(r"[^\W\d_]{2}")
_KIND = re.compile(r"(?:\d{4} )?(?:[A-Z]{2,4} )?[a-z ]+")
"""`1926 film`, `US band`; an ending with a name in it would give that name away."""
_HEADLINE = re.compile(
    r"\b(?:is|was|are|were|to|ends|in the|list of|history of|timeline|economy of|geography of|politics of|culture of|"
    r"demographics of|military of|part \d+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A document with its chunks in reading order; redirects and empty documents are left out before."""

    id: str
    document: Document
    chunks: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.document.title


class CorpusTexts:
    """The corpus, read once. Documents by key, so that nothing depends on the order of adding."""

    def __init__(self, index: Index) -> None:
        self._index = index
        chunks: dict[str, list[str]] = {}
        for id in chunk_ids(index):
            chunks.setdefault(":".join(id.split(":")[:2]), []).append(id)
        self.all: list[CorpusText] = []
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
                if size > MAX_CHARACTERS:
                    raise UsageError(
                        f"the corpus has more than {MAX_CHARACTERS:,} characters", "make questions on a part of it"
                    )
                self.all.append(CorpusText(id, document, tuple(chunks[id])))
        self._pieces: dict[str, list[Piece]] = {}

    def piece(self, text: CorpusText, start: int, end: int) -> Piece | None:
        """The chunk in which a stretch of a document lies whole."""
        for piece in self.pieces(text):
            if piece.start <= start and end <= piece.end:
                return piece
        return None

    def pieces(self, text: CorpusText) -> list[Piece]:
        """The chunks of a document in reading order."""
        if text.id not in self._pieces:
            found = self._index.pieces(text.chunks).values()
            self._pieces[text.id] = sorted(found, key=lambda piece: (piece.start, piece.end, piece.id))
        return self._pieces[text.id]

    def sentences(self, text: CorpusText) -> list[tuple[int, int]]:
        whole = text.document.text
        return single(
            whole, self._index.sentences(Piece(text.id, "article", whole, text.id, text.title, 0, len(whole), 0))
        )

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

    def holding(self, *phrases: str) -> list[CorpusText]:
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

    def speaking(self, name: str, cues: Iterable[str]) -> list[CorpusText]:
        """The documents that hold a name and a word that begins with one of the cues; any word, with an empty cue."""
        beginnings = tuple(f" {plain_words(cue)}" for cue in cues)
        return [self.all[n] for n in self._holding(name) if any(cue in self.plain[n] for cue in beginnings)]


def single(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places of sentences, one each: an index may keep short ones together, and a quote must be one alone."""
    found = list[tuple[int, int]]()
    for start, end in spans:
        stops = [stop.end() for stop in _STOP.finditer(text, start, end)]
        found += zip([start, *(stop + 1 for stop in stops)], [*stops, end], strict=True)
    return found


def chunk_ids(index: Index) -> list[str]:
    """All chunks, sorted, so that drawing from them does not depend on how they are stored."""
    if "vectors" in index.layers:
        return sorted(index.vectors.ids)
    index.require(["graph"])
    return sorted(index.graph.chunk_ids())


# What documents are about


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` as questions write it, `bare` as texts do; `lead` is the offsets of the first sentence."""

    text: CorpusText
    name: str
    bare: str
    type: str
    kind: str
    group: str
    """What it is compared with: subjects whose boxes are alike, else those of its type."""
    lead: tuple[int, int]
    sentences: tuple[tuple[int, int], ...]

    @property
    def id(self) -> str:
        return self.text.id


class Subjects:
    """Subjects by document, and which document a name means: none where several could be meant."""

    def __init__(self, texts: CorpusTexts) -> None:
        self.all: dict[str, Subject] = {}
        bases: dict[str, set[str]] = {}
        titles: dict[str, set[str]] = {}
        for text in texts.all:
            base, _ = split_title(text.title)
            bases.setdefault(fold(base), set()).add(text.id)
            titles.setdefault(title_name(text.title), set()).add(text.id)
        self._bases, self._titles = bases, titles
        for title, target in texts.redirects:
            bases.setdefault(fold(split_title(title)[0]), set()).update(titles.get(title_name(target), ()))
        for text in texts.all:
            subject = self._subject(text, texts)
            if subject is not None:
                self.all[text.id] = subject

    def named(self, name: str) -> Subject | None:
        """The one document that is called so."""
        ids = self._titles.get(title_name(name)) or self._bases.get(fold(name), set())
        if len(ids) != 1 or (
            len(self._bases.get(fold(split_title(name)[0]), ())) > 1 and title_name(name) not in self._titles
        ):
            return None
        return self.all.get(next(iter(ids)))

    def rivals(self, name: str) -> int:
        """How many documents could be meant by a name."""
        return len(self._bases.get(fold(split_title(name)[0]), ()))

    def _subject(self, text: CorpusText, texts: CorpusTexts) -> Subject | None:
        base, ending = split_title(text.title)
        if (
            ending.casefold() == "disambiguation"
            or not _LETTERS.search(base)
            or len(self._titles[title_name(text.title)]) > 1
            or not base[0].isupper()
        ):
            return None
        boxes = [(box.start, box.end) for box in text.document.infoboxes]
        sentences = tuple(
            (start, end)
            for start, end in texts.sentences(text)
            if not any(low <= start < high for low, high in boxes)
            and title_name(text.document.text[start:end].strip(" #")) != title_name(text.title)
        )
        if not sentences:
            return None
        lead = sentences[0]
        words = text.document.text[slice(*lead)]
        known = type_of_sentence(_without_brackets(words))
        type = known or (ending.split()[-1] if ending else "") or next((b.kind for b in text.document.infoboxes), "")
        if not boxes and not _about(words, base):
            return None
        alone = len(self._bases[fold(base)]) == 1
        box = next((box.kind.casefold() for box in text.document.infoboxes), "")
        type = type.casefold()
        kind = coarse(type) or coarse(box) or ("person" if _BORN.search(words) else "")
        name = _shown(text, base, ending, alone)
        return Subject(text, name, base, type, kind, box or type, lead, sentences)


def _without_brackets(words: str) -> str:
    return re.sub(r"\s*\([^()]*\)", "", words)


def _about(lead: str, base: str) -> bool:
    """Whether a text begins with its title's name, so that the title names a thing and is no headline."""
    begin = fold(lead[: 3 * len(base) + 80])
    words = fold(base).split(",")[0].split()
    return bool(words) and (words[-1] in begin.split() or words[0] in begin.split()) and not _HEADLINE.search(base)


def _shown(text: CorpusText, base: str, ending: str, alone: bool) -> str:
    # A title that needs an ending names several things in the world, if not in the corpus.
    if _KIND.fullmatch(ending) and ending.rsplit(maxsplit=1)[-1] in COARSE:
        return f"the {ending} {base}"
    if ending and not alone:
        return text.title
    if base.startswith(("The ", "A ", "An ")):
        return base
    written = text.document.text
    every = len(re.findall(rf"(?<!\w){re.escape(base)}(?!\w)", written))
    definite = len(re.findall(rf"\b[Tt]he {re.escape(base)}(?!\w| [^\W\d_a-z])", written))
    return f"the {base}" if definite and 2 * definite >= every else base
