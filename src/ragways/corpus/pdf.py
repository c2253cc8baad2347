"""PDF with a text layer: lines are joined to paragraphs by their distance, pages run into each other."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise

import pypdfium2

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.text import one_line
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import LoadOptions, SourceFile, read_all

_HYPHENS = ("\ufffe", "\x02", "\xad")
"""How pdfium writes a hyphen that only the line's end made."""
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]?$")


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
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
        facts = _facts(pdf)
        builder = TextBuilder(options.max_text)
        for number in range(len(pdf)):
            _write_page(builder, pdf, number)
    if not builder.length:
        raise LoadError("has no text layer (scanned?)", "run a text recognition over it first")
    yield builder.document(file.key, facts.pop("title", "") or file.stem, "pdf", facts)


def _facts(pdf: pypdfium2.PdfDocument) -> dict[str, str]:
    raw = {key: one_line(value) for key, value in pdf.get_metadata_dict(skip_empty=True).items()}
    facts = {"title": raw.get("Title", ""), "author": raw.get("Author", ""), "category": raw.get("Keywords", "")}
    stamp = raw.get("CreationDate") or raw.get("ModDate", "")
    return {**facts, "date": iso_date(stamp)}


def _write_page(builder: TextBuilder, pdf: pypdfium2.PdfDocument, number: int) -> None:
    with closing(pdf[number]) as page, closing(page.get_textpage()) as content:
        text = content.get_text_range()
        lines = _lines(content, text)
    gaps = [upper - lower for (_, upper), (_, lower) in pairwise(lines) if upper > lower]
    usual = statistics.median(gaps) if gaps else 0.0
    width = max((len(line) for line, _ in lines), default=0)
    builder.paragraph()
    builder.at(page=number + 1)
    before, place = "", 0.0
    for line, top in lines:
        far = usual > 0 and (place - top > usual * 1.35 or top > place)
        short = len(before) < width * 0.75 and _SENTENCE_END.search(before) is not None
        if before and (far or short):
            builder.paragraph()
        _write_line(builder, line)
        before, place = line, top


def _lines(content: pypdfium2.PdfTextPage, text: str) -> list[tuple[str, float]]:
    """Lines with their height on the page; a height of 0 where pdfium's text and characters do not match."""
    exact = content.count_chars() == len(text)
    lines: list[tuple[str, float]] = []
    position = 0
    for line in text.split("\n"):
        lead = len(line) - len(line.lstrip())
        if line.strip():
            top = float(content.get_charbox(position + lead, loose=True)[1]) if exact else 0.0
            lines.append((line.strip(), top))
        position += len(line) + 1
    return lines


def _write_line(builder: TextBuilder, line: str) -> None:
    """A word that was cut at the line's end is made whole."""
    for hyphen in _HYPHENS[:2]:
        line = line.replace(hyphen, _HYPHENS[2])
    builder.text(line.removesuffix(_HYPHENS[2]))
    if not line.endswith(_HYPHENS[2]):
        builder.space()
