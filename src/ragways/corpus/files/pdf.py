"""PDF with a text layer: lines are joined to paragraphs by their distance, pages run into each other.

What is repeated at the edges of pages (running heads, page numbers) goes. Sections come from the outline where the file
has one that fits its text, else from lines in larger type.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, pairwise

import pypdfium2
from pypdfium2 import raw

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import one_line
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import LoadOptions, Skipped, SourceFile, read_all

_HYPHENS = ("\ufffe", "\x02", "\xad")
"""How pdfium writes a hyphen that only the line's end made."""
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]?$")
_NO_TITLE = re.compile(
    r"(?:microsoft (?:word|powerpoint)|powerpoint presentation|untitled|no title|slide \d|document ?\d*$|title$)"
    r"|.*\.(?:docx?|dvi|pdf|tex|pptx?|indd|ps|eps|qxd|rtf|odt|xlsx?|html?|txt|p65|fm|wpd|md)\W*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\W_]*(?:page |seite |p\. ?)?(?:\d{1,4}|[ivxlc]{1,7})(?: (?:of|von|/) \d{1,4})?[\W_]*$", re.I)
_EDGE = 3
"""Lines at the top and at the bottom of a page that may be running heads."""
_REPEATS = 3
"""Pages on which a line at the edge makes it a running head."""
_OPENINGS = frozenset(("abstract", "introduction", "summary", "contents", "zusammenfassung", "einleitung"))
_OUTLINE = 5_000
_FEW = 5
_LARGER = 1.12
"""Times the size of most of the text; type of headings."""


@dataclass(slots=True)
class _Line:
    text: str
    top: float
    size: float
    """Of the type; 0 where pdfium does not know it."""
    level: int = 0
    """Of a heading."""


def load_pdf(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    data = read_all(file, options.max_bytes)
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise LoadError("is encrypted", "save a copy without a password") from error
        raise LoadError(f"is no readable PDF ({error})", "check that it is whole") from error
    with closing(pdf):
        if len(pdf) > options.max_pdf_pages:
            raise LoadError(f"has more than {options.max_pdf_pages:,} pages", "split it, or raise max_pdf_pages")
        facts, outline = _facts(pdf), _outline(pdf)
        pages, scanned = _pages(pdf, options.max_text)
    _notice_scans(file, options, scanned, pages)
    title = facts.pop("title") or _largest(pages) or file.stem
    _drop_running_heads(pages)
    if not _mark_outline(pages, outline):
        _mark_larger(pages, title)
    builder = TextBuilder(options.max_text)
    _write(builder, pages)
    yield builder.document(file.key, title, "pdf", facts)


def _facts(pdf: pypdfium2.PdfDocument) -> dict[str, str]:
    given = {key: one_line(value) for key, value in pdf.get_metadata_dict(skip_empty=True).items()}
    title = given.get("Title", "")
    if _NO_TITLE.match(title) or sum(map(str.isalpha, title)) < max(4, len(title) // 2):
        title = ""
    stamp = given.get("CreationDate") or given.get("ModDate", "")
    facts = {"title": title, "author": given.get("Author", ""), "category": given.get("Keywords", "")}
    return {**facts, "date": iso_date(stamp)}


def _outline(pdf: pypdfium2.PdfDocument) -> list[tuple[int, int, str]]:
    """Page, level and title of every bookmark that leads to a page."""
    found = []
    for mark in islice(pdf.get_toc(max_depth=6), _OUTLINE):
        place = mark.get_dest()
        page = place.get_index() if place is not None else None
        if page is not None:
            found.append((page, mark.level, one_line(mark.get_title(), 300)))
    return found


# Lines


def _pages(pdf: pypdfium2.PdfDocument, limit: int) -> tuple[list[list[_Line]], int]:
    """The lines of every page, and how many pages are pictures of text, or have text that means nothing."""
    pages, scanned, length = [], 0, 0
    for number in range(len(pdf)):
        with closing(pdf[number]) as page, closing(page.get_textpage()) as content:
            text = content.get_text_range()
            lines = [] if _is_noise(text) else _lines(content, text)
            if not lines:
                pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
                scanned += bool(text.strip()) or next(pictures, None) is not None
        length += len(text)
        if length > 2 * limit:
            raise LoadError(f"holds more than {limit:,} characters of text", "split it, or raise max_text")
        pages.append(lines)
    return pages, scanned


def _is_noise(text: str) -> bool:
    """Whether these are codes of a font without a map to letters."""
    odd = sum(unicodedata.category(sign) in ("Cc", "Co") for sign in text if sign not in "\r\n\t\x02")
    return odd * 12 > len(text)


def _lines(content: pypdfium2.PdfTextPage, text: str) -> list[_Line]:
    lines: list[_Line] = []
    position = 0
    for line in text.split("\n"):
        place = raw.FPDFText_GetCharIndexFromTextIndex(content, position + len(line) - len(line.lstrip()))
        if line.strip():
            box = content.get_charbox(place, loose=True) if place >= 0 else (0.0, 0.0, 0.0, 0.0)
            lines.append(_Line(line.strip(), float(box[1]), _type_size(content, place, float(box[3] - box[1]))))
        position += len(line) + 1
    return lines


def _type_size(content: pypdfium2.PdfTextPage, place: int, height: float) -> float:
    """The size of a character's type; its height where the font's size is only a unit that the page scales."""
    size = raw.FPDFText_GetFontSize(content, place) if place >= 0 else 0.0
    return round(size if size > 4 else height, 1)


def _notice_scans(file: SourceFile, options: LoadOptions, scanned: int, pages: Sequence[object]) -> None:
    """Report pages without text; raises LoadError where no page has any."""
    cure = "run a text recognition over it first, for example: ocrmypdf FILE NEW_FILE"
    if not any(pages):
        what = f"is scanned: no text on {scanned:,} of {len(pages):,} pages" if scanned else "has no text layer"
        raise LoadError(what, cure)
    if scanned:
        options.notice(Skipped(file.key, f"partly scanned: no text on {scanned:,} of {len(pages):,} pages; {cure}"))


# Titles, running heads and headings


def _largest(pages: Sequence[Sequence[_Line]]) -> str:
    """The largest type in the upper part of the first page with text, if it is larger than the rest."""
    first = next(filter(None, pages))
    usual = _usual_size(pages)
    upper = [line for line in first[: max(12, len(first) // 2)] if sum(map(str.isalpha, line.text)) > 3]
    size = max((line.size for line in upper), default=0.0)
    if size < usual * _LARGER or not usual:
        return ""
    title: list[str] = []
    for line in upper:
        if line.size >= size * 0.93:
            title.append(line.text)
        elif title:
            break
    found = one_line(" ".join(title), 300)
    return found if len(found) <= 250 else ""


def _usual_size(pages: Sequence[Sequence[_Line]]) -> float:
    """The size of most of the text."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], size), default=0.0)


def _drop_running_heads(pages: list[list[_Line]]) -> None:
    """Take off what stands at the edges of several pages, numbers apart: from the edge inwards, up to other text."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen.update({_head(line.text) for line in (*page[:_EDGE], *page[-_EDGE:])})
    repeated = {head for head, count in seen.items() if count >= max(_REPEATS, len(pages) // 20)}
    for page in pages:
        for edge in (0, -1):
            for _ in range(_EDGE):
                if page and _head(page[edge].text) in repeated:
                    del page[edge]


def _head(text: str) -> str:
    """A line as running heads are compared: without numbers; all page numbers are one."""
    return "#" if _NUMBER.match(text) else re.sub(r"\d+", "#", " ".join(text.casefold().split()))


def _mark_outline(pages: list[list[_Line]], outline: Sequence[tuple[int, int, str]]) -> bool:
    """Make headings of the lines that bookmarks lead to; whether at least half of them are there."""
    marked = 0
    for number, level, title in outline:
        wanted = _letters(title)
        page = pages[number] if wanted and number < len(pages) else []
        for line, after in zip(page, [*page[1:], None], strict=True):
            both = line.text + after.text if after is not None else line.text
            if not line.level and (_letters(line.text) == wanted or _letters(both) == wanted):
                line.level = min(6, level + 2)
                if after is not None and _letters(line.text) != wanted:
                    line.text = f"{line.text} {after.text}"
                    page.remove(after)
                marked += 1
                break
    return marked > 0 and 2 * marked >= len(outline)


def _letters(text: str) -> str:
    """Letters only, numbers of sections and signs apart."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalpha())


def _mark_larger(pages: list[list[_Line]], title: str) -> None:
    """Make headings of short lines in larger type, the three largest sizes as three levels."""
    usual = _usual_size(pages)
    if not usual:
        return
    first, *others = filter(None, pages)
    opening = next((i for i, line in enumerate(first) if _letters(line.text) in _OPENINGS), 0)  # below the authors
    lines = [*first[opening:], *(line for page in others for line in page)]
    found = [line for line in lines if line.size >= usual * _LARGER and _is_heading(line.text, title)]
    if len(found) > max(_FEW, len(lines) // 8):
        return  # slides, posters: larger type is nothing special there
    sizes = sorted({round(line.size) for line in found}, reverse=True)
    for line in found:
        line.level = min(4, 2 + sizes.index(round(line.size)))


def _is_heading(text: str, title: str) -> bool:
    letters = sum(map(str.isalpha, text))
    begins = text[0].isupper() or text[0].isdigit()
    return (
        begins and 3 < letters >= len(text) * 0.6 and len(text) < 100 and text[-1] not in ".,;-" and text not in title
    )


# Text


def _write(builder: TextBuilder, pages: Sequence[Sequence[_Line]]) -> None:
    before = _Line("", 0.0, 0.0)
    for number, lines in enumerate(pages):
        gaps = [upper.top - lower.top for upper, lower in pairwise(lines) if upper.top > lower.top]
        usual = statistics.median(gaps) if gaps else 0.0
        width = max((len(line.text) for line in lines), default=0)
        first = True
        for line in lines:
            builder.at(page=number + 1)
            moved = first or (usual > 0 and line.top > before.top)  # the next page, or column
            far = usual > 0 and before.top - line.top > usual * 1.35
            short = len(before.text) < width * 0.75
            ended = _SENTENCE_END.search(before.text) is not None
            if (moved and (ended or not line.text[0].islower())) or (far and not moved) or (short and ended):
                builder.paragraph()
            _write_line(builder, line)
            before, first = line, False


def _write_line(builder: TextBuilder, line: _Line) -> None:
    """A word that was cut at the line's end is made whole."""
    mark = builder.block() if line.level else None
    text = line.text
    for hyphen in _HYPHENS[:2]:
        text = text.replace(hyphen, _HYPHENS[2])
    builder.text(text.removesuffix(_HYPHENS[2]))
    if mark is not None:
        builder.heading(mark, line.level)
    elif not text.endswith(_HYPHENS[2]):
        builder.space()
