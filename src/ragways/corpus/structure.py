"""A document taken apart: sections, paragraphs, chunks and sentences, each with an id and its place in the text.

Ids hold their parents: `article:12:s8:p2` is paragraph 2 of section 8, `…:c0` the first chunk that begins in it and
`…:t3` its fourth sentence. Section 0 is what stands before the first heading. A chunk may run past its paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from ragways.core.types import Document, Part, Structure
from ragways.corpus.chunking import Chunking, cut

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
