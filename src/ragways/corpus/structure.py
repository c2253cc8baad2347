"""A document taken apart: sections, paragraphs, chunks and sentences, each with an id and its place in the text.

Ids hold their parents: `article:12:s8:p2` is paragraph 2 of section 8, `…:c0` the first chunk that begins in it and
`…:t3` its fourth sentence. Section 0 is what stands before the first heading. A chunk may run past its paragraph.
How a text is cut into chunks is a setting, with the sources' own ways as presets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import UsageError
from ragways.core.types import Document, Part, Structure

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter

_GAP = re.compile(r"\n\s*\n")
_ROWS = re.compile(r"[^\n]+")


def structure(document: Document, chunking: Chunking) -> Structure:
    sections = tuple(_sections(document))
    paragraphs = tuple(_paragraphs(document, sections))
    return Structure(
        document,
        sections,
        paragraphs,
        tuple(_chunks(document, sections, paragraphs, chunking)),
        tuple(_sentences(document, paragraphs)),
    )


def _sections(document: Document) -> Iterator[Part]:
    """Section 0 is the lead, then one a heading; a section ends where the next heading begins."""
    borders = [*(heading.start for heading in document.headings), len(document.text)]
    yield Part(f"{document.id}:s0", 0, borders[0], document.title, 1)
    for number, heading in enumerate(document.headings, start=1):
        yield Part(f"{document.id}:s{number}", heading.end, borders[number], heading.title, heading.level)


def _paragraphs(document: Document, sections: tuple[Part, ...]) -> Iterator[Part]:
    for section in sections:
        for number, (start, end) in enumerate(_blocks(document.text, section.start, section.end)):
            yield Part(f"{section.id}:p{number}", start, end)


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches between blank lines, without the white space around them."""
    here = start
    for stop, following in [*(gap.span() for gap in _GAP.finditer(text, start, end)), (end, end)]:
        block = text[here:stop]
        stripped = block.strip()
        if stripped:
            first = here + len(block) - len(block.lstrip())
            yield first, first + len(stripped)
        here = following


def _chunks(
    document: Document, sections: tuple[Part, ...], paragraphs: tuple[Part, ...], chunking: Chunking
) -> Iterator[Part]:
    if not paragraphs:
        return
    ends = [paragraph.end for paragraph in paragraphs]
    seen: Counter[str] = Counter()
    for area in _areas(document, sections, paragraphs, chunking):
        for start, end in cut(document.text, area.start, area.end, chunking):
            # The paragraph it begins in; a chunk that begins with a heading belongs to what follows.
            owner = paragraphs[min(bisect_right(ends, start), len(paragraphs) - 1)]
            yield Part(f"{owner.id}:c{seen[owner.id]}", start, end)
            seen[owner.id] += 1


def _areas(
    document: Document, sections: tuple[Part, ...], paragraphs: tuple[Part, ...], chunking: Chunking
) -> tuple[Part, ...]:
    if chunking.within == "document":
        return (Part(document.id, 0, len(document.text)),)
    return sections if chunking.within == "section" else paragraphs


def _sentences(document: Document, paragraphs: tuple[Part, ...]) -> Iterator[Part]:
    for paragraph in paragraphs:
        spans = sentence_spans(document.text[paragraph.start : paragraph.end])
        for number, (start, end) in enumerate(spans):
            yield Part(f"{paragraph.id}:t{number}", paragraph.start + start, paragraph.start + end)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Sentences of a paragraph as offsets. Rows of a table, box or list end a sentence as a full stop does."""
    from nupunkt import sent_spans

    found = []
    for row in _ROWS.finditer(text):
        line = row.group()
        for start, end in sent_spans(line):
            sentence = line[start:end]
            stripped = sentence.strip()
            if stripped:
                first = row.start() + start + len(sentence) - len(sentence.lstrip())
                found.append((first, first + len(stripped)))
    return found


# Chunks


@dataclass(frozen=True, slots=True)
class Chunking:
    """At most `size` units a chunk, never across the borders of `within`; cuts at the highest border that fits.

    With `title`, a chunk is searched by its article's and section's title as well as by its text.
    """

    size: int
    overlap: int
    unit: Literal["characters", "tokens"] = "characters"
    within: Literal["document", "section", "paragraph"] = "document"
    title: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise UsageError(
                f"a chunk of {self.size} {self.unit} cannot overlap by {self.overlap}",
                "set chunking.overlap below chunking.size",
            )

    @property
    def name(self) -> str:
        """Everything that shapes the chunks, as a text to compare by."""
        return " ".join(f"{key}={value}" for key, value in asdict(self).items())


PRESETS: dict[str, Chunking] = {
    # A section at a time, as long as the offline embedder reads in one go.
    "section": Chunking(1000, 0, within="section"),
    "thesis": Chunking(1200, 100, title=False),
    "router-bench": Chunking(512, 100, unit="tokens"),
    "agentic": Chunking(500, 40, within="paragraph", title=False),
}


STRETCH = 50_000
"""Characters cut at once."""


@cache
def _splitter(chunking: Chunking) -> TextSplitter:
    from semantic_text_splitter import TextSplitter

    if chunking.unit == "tokens":
        return TextSplitter.from_tiktoken_model("gpt-4", chunking.size, chunking.overlap)
    return TextSplitter(chunking.size, chunking.overlap)


def cut(text: str, start: int, end: int, chunking: Chunking) -> list[tuple[int, int]]:
    """Chunks of `text[start:end]` as offsets into `text`, in order, without white space at their ends."""
    # A token is at least a byte, so a text of so few bytes needs no splitter.
    length = end - start if chunking.unit == "characters" else len(text[start:end].encode())
    if length <= chunking.size:
        return _trimmed(text, start, end)
    splitter = _splitter(chunking)
    return [
        (begin + offset, begin + offset + len(piece))
        for begin, stop in _stretches(text, start, end)
        for offset, piece in splitter.chunk_indices(text[begin:stop])
    ]


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts that the splitter can take: its time grows with the square of a text that has no borders to cut at."""
    while end - start > STRETCH:
        borders = (text.rfind(mark, start + STRETCH // 2, start + STRETCH) for mark in ("\n\n", "\n", " "))
        stop = next((border for border in borders if border > 0), start + STRETCH)
        yield start, stop
        start = stop
    yield start, end


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    return [(start + left, start + left + len(stripped))] if stripped else []
