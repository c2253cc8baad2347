"""A document taken apart: sections, paragraphs, chunks and sentences, each with an id and its place in the text.

Ids hold their parents: `article:12:s8:p2` is paragraph 2 of section 8, `…:c0` the first chunk that begins in it and
`…:t3` its fourth sentence. Section 0 is what stands before the first heading. A chunk may run past its paragraph.
How a text is cut into chunks is a setting, with the sources' own ways as presets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import UsageError
from ragways.core.language import full_stops
from ragways.core.types import Document, Part, Structure
from ragways.models.tokens import token_ends

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter

Span = tuple[int, int]

_GAP = re.compile(r"\n\s*\n")
_ROWS = re.compile(r"[^\n]+")
_SIGN = re.compile("[.!?…]")
_WORDS = re.compile(r"\S{1,1000}")
_LONG_WORD = re.compile(r"\S{100,}")


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


# A document that falls into crumbs (a list of 300,000 lines, a heading for each letter) would cost a row, a window and
# a comparison with all others for each of them. So neighbours are joined where there are many and most are tiny.

MANY = 2000
"""Sections, paragraphs or sentences of a document that are never too many."""
CRUMB = 60
"""Characters of text for each, below which more than that are too many."""
JOINED = 300
"""Characters that joined neighbours have at least."""


def _crowded(document: Document, count: int) -> bool:
    return count > MANY and len(document.text) < CRUMB * count


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Neighbours as one until it is long enough."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and joined[-1][1] - joined[-1][0] < JOINED:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _sections(document: Document) -> Iterator[Part]:
    """Section 0 is the lead, then one a heading; a section ends where the next heading begins."""
    headings = list(document.headings)
    if _crowded(document, len(headings)):
        starts = {
            start for start, _ in _joined(pairwise([*(heading.start for heading in headings), len(document.text)]))
        }
        headings = [heading for heading in headings if heading.start in starts]
    borders = [*(heading.start for heading in headings), len(document.text)]
    yield Part(f"{document.id}:s0", 0, borders[0], document.title, 1)
    for number, heading in enumerate(headings, start=1):
        yield Part(f"{document.id}:s{number}", heading.end, borders[number], heading.title, heading.level)


def _paragraphs(document: Document, sections: tuple[Part, ...]) -> Iterator[Part]:
    blocks = [list(_blocks(document.text, section.start, section.end)) for section in sections]
    crowded = _crowded(document, sum(map(len, blocks)))
    for section, found in zip(sections, blocks, strict=True):
        for number, (start, end) in enumerate(_joined(found) if crowded else found):
            yield Part(f"{section.id}:p{number}", start, end)


def _blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """Stretches between blank lines, without the white space around them."""
    here = start
    for stop, following in [*(gap.span() for gap in _GAP.finditer(text, start, end)), (end, end)]:
        yield from _trimmed(text, here, stop)
        here = following


def _chunks(
    document: Document, sections: tuple[Part, ...], paragraphs: tuple[Part, ...], chunking: Chunking
) -> Iterator[Part]:
    if not paragraphs:
        return
    ends = [paragraph.end for paragraph in paragraphs]
    seen: Counter[str] = Counter()
    apart = not chunking.overlap and not chunking.fixed  # else the source's own way says where chunks begin
    blocks = [
        (one.start, one.end)
        for one in document.markup
        if one.kind in ("code", "table") and one.end - one.start <= chunking.size
    ]
    for area in _areas(document, sections, paragraphs, chunking):
        spans = (
            _cut_around(document.text, area.start, area.end, blocks, chunking)
            if apart
            else cut(document.text, area.start, area.end, chunking)
        )
        for start, end in spans:
            # The paragraph it begins in; a chunk that begins with a heading belongs to what follows.
            owner = paragraphs[min(bisect_right(ends, start), len(paragraphs) - 1)]
            yield Part(f"{owner.id}:c{seen[owner.id]}", start, end)
            seen[owner.id] += 1


def _cut_around(text: str, start: int, end: int, blocks: Sequence[Span], chunking: Chunking) -> Iterator[Span]:
    """Cut a stretch into chunks none of which begins inside one of these blocks: a chunk ends before a block that does
    not fit into what is left of it, and before a line that leads to what follows.
    """
    at = bisect_left(blocks, (start, start))
    while start < end:
        # Only so far ahead, because all behind a block is cut anew.
        stop = min(end, start + max(AHEAD, 4 * chunking.size))
        spans = cut(text, start, stop, chunking)
        for first, last in spans[: None if stop == end or len(spans) == 1 else -1]:
            while at < len(blocks) and blocks[at][1] <= last:
                at += 1
            inside = at < len(blocks) and first < blocks[at][0] < last
            border = blocks[at][0] if inside else last
            whole = blocks[at][1] if at < len(blocks) and blocks[at][0] <= border + 2 else border
            if border < end and (lead := _lead(text, first, border)) > first and whole - lead <= chunking.size:
                # A last line of code such as `name:` leads nowhere.
                border = border if at and blocks[at - 1][1] > lead else lead
            yield from _trimmed(text, first, border)
            start = border
            if border != last:
                break
        else:
            start = end if stop == end or not spans else start


def _lead(text: str, first: int, last: int) -> int:
    """Where the last paragraph of a stretch begins, if it ends in a colon and leads to what follows; else its end."""
    stretch = text[first:last].rstrip()
    if not stretch.endswith(":"):
        return last
    begins = stretch.rfind("\n\n")
    return first + (begins + 2 if begins >= 0 else stretch.rfind("\n") + 1)


def _areas(
    document: Document, sections: tuple[Part, ...], paragraphs: tuple[Part, ...], chunking: Chunking
) -> tuple[Part, ...]:
    if chunking.within == "document":
        return (Part(document.id, 0, len(document.text)),)
    return sections if chunking.within == "section" else paragraphs


def _sentences(document: Document, paragraphs: tuple[Part, ...]) -> Iterator[Part]:
    spans = [sentence_spans(document.text[paragraph.start : paragraph.end]) for paragraph in paragraphs]
    crowded = _crowded(document, sum(map(len, spans)))
    for paragraph, found in zip(paragraphs, spans, strict=True):
        for number, (start, end) in enumerate(_joined(found) if crowded else found):
            yield Part(f"{paragraph.id}:t{number}", paragraph.start + start, paragraph.start + end)


def sentence_spans(text: str) -> list[Span]:
    """Sentences of a paragraph as offsets. Rows of a table, box or list end a sentence as a full stop does."""
    found = []
    for row in _ROWS.finditer(text):
        line = row.group()
        ends = full_stops(line)
        parts = [(0, line)] if len(ends) == 1 else [(start, line[start:end]) for start, end in pairwise([0, *ends])]
        for start, end in ((at + start, at + end) for at, part in parts for start, end in _row_spans(part)):
            found += _trimmed(text, row.start() + start, row.start() + end)
    return found


def _row_spans(line: str) -> Iterable[Span]:
    """Sentences of one row. The splitter looks at each sign that may end one, which takes 20 µs a sign."""
    from nupunkt import sent_spans

    if not _SIGN.search(line, 0, len(line) - 1):
        return ((0, len(line)),)
    plain = _LONG_WORD.sub(_without_signs, line)
    signs = len(_SIGN.findall(plain))
    if signs > MANY // 4 and len(line) < CRUMB // 4 * signs:
        return _joined(word.span() for word in _WORDS.finditer(line))
    spans: Iterable[Span] = sent_spans(plain)
    return spans


def _without_signs(word: re.Match[str]) -> str:
    """As long, but only its last signs may end a sentence: the splitter looks at all of a word from each sign in it."""
    return "x" * (len(word.group()) - 8) + word.group()[-8:]


# Chunks


@dataclass(frozen=True, slots=True)
class Chunking:
    """At most `size` units a chunk, never across the borders of `within`; cuts at the highest border that fits.

    With `title`, a chunk is searched by its article's and section's title as well as by its text. With `fixed`, every
    chunk has exactly `size` units, whatever borders lie in it; the last ones of a text have what is left.
    """

    size: int
    overlap: int
    unit: Literal["characters", "tokens"] = "characters"
    within: Literal["document", "section", "paragraph"] = "document"
    title: bool = True
    fixed: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise UsageError(
                f"a chunk of {self.size} {self.unit} cannot overlap by {self.overlap}",
                "set chunking.overlap below chunking.size",
            )

    @property
    def name(self) -> str:
        """Everything that shapes the chunks, as a text to compare by."""
        values = asdict(self)
        if not self.fixed:
            del values["fixed"]  # an index made before there was such a setting has the same chunks
        return " ".join(f"{key}={value}" for key, value in values.items())


PRESETS: dict[str, Chunking] = {
    # A section at a time, as long as the offline embedder reads in one go.
    "section": Chunking(1000, 0, within="section"),
    "thesis": Chunking(1200, 100, title=False),
    "router-bench": Chunking(512, 100, unit="tokens", fixed=True),
    "agentic": Chunking(500, 40, within="paragraph", title=False),
}


AHEAD = 10_000
"""Characters cut at once where blocks of code must stay whole."""
STRETCH = 50_000
"""Characters cut at once."""
BARE = 5_000
"""The same where there is not one space to cut at."""


@cache
def _splitter(chunking: Chunking) -> TextSplitter:
    from semantic_text_splitter import TextSplitter

    if chunking.unit == "tokens":
        return TextSplitter.from_tiktoken_model("gpt-4", chunking.size, chunking.overlap)
    return TextSplitter(chunking.size, chunking.overlap)


def cut(text: str, start: int, end: int, chunking: Chunking) -> list[Span]:
    """Chunks of `text[start:end]` as offsets into `text`, in order, without white space at their ends."""
    # A token is at least a byte, so a text of so few bytes needs no splitter.
    length = end - start if chunking.unit == "characters" else len(text[start:end].encode())
    if length <= chunking.size:
        return _trimmed(text, start, end)
    if chunking.fixed:
        return _fixed(text, start, end, chunking)
    splitter = _splitter(chunking)
    return [
        (begin + offset, begin + offset + len(piece))
        for begin, stop in _stretches(text, start, end)
        for offset, piece in splitter.chunk_indices(text[begin:stop])
    ]


def _fixed(text: str, start: int, end: int, chunking: Chunking) -> list[Span]:
    """Windows of `size` units that slide by `size - overlap`. A character of several tokens belongs to its last one."""
    ends = token_ends(text[start:end]) if chunking.unit == "tokens" else range(1, end - start + 1)
    borders = [start, *(start + place for place in ends)]
    count = len(borders) - 1
    begins = range(0, count, chunking.size - chunking.overlap)
    windows = ((borders[begin], borders[min(begin + chunking.size, count)]) for begin in begins)
    return [span for window in windows for span in _trimmed(text, *window)]


def _stretches(text: str, start: int, end: int) -> Iterator[Span]:
    """Parts that the splitter can take: its time grows with the square of a text that has no borders to cut at."""
    while end - start > STRETCH:
        borders = (text.rfind(mark, start + STRETCH // 2, start + STRETCH) for mark in ("\n\n", "\n", "。", " "))
        stop = next((border + (text[border] == "。") for border in borders if border > 0), start + BARE)
        yield start, stop
        start = stop
    yield start, end


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    """A stretch without the white space around it; none where it is nothing else."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    return [(start + left, start + left + len(stripped))] if stripped else []
