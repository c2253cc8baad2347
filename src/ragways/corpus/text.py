"""Plain text (.txt, .text), and how plain text becomes paragraphs wherever else it stands."""

from __future__ import annotations

from collections.abc import Iterator

from ragways.core.text import normal_lines
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.rst import rst_document
from ragways.corpus.rstgrammar import is_rst
from ragways.corpus.source import LoadOptions, SourceFile, read_text


def load_text(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    text, metadata = read_text(file, options.max_bytes)
    if is_rst(text):
        yield rst_document(text, file, options, metadata)
        return
    builder = TextBuilder(options.max_text)
    write_plain(builder, text, line=1)
    yield builder.document(file.key, file.stem, "text", metadata)


def write_plain(builder: TextBuilder, text: str, *, line: int = 0) -> None:
    """Append plain text, paragraph by paragraph. `line` is the line of the file that it begins on; 0: not known."""
    if "\n" not in text and "\r" not in text:
        builder.paragraph()
        if line:
            builder.at(line=line)
        builder.text(text)
        return
    block: list[str] = []
    for number, row in enumerate([*normal_lines(text), ""]):
        if row.strip():
            block.append(row.strip())
        elif block:
            _write_block(builder, block, line and line + number - len(block))
            block = []


def _write_block(builder: TextBuilder, lines: list[str], first: int) -> None:
    """Long lines are paragraphs, lines of nearly equal width were wrapped, other lines (lists, verse) stay.

    `first` is the number of the first line; 0: not known.
    """
    builder.paragraph()
    width = max(map(len, lines))
    wrapped = 40 <= width <= 120 and all(len(line) >= width * 0.6 for line in lines[:-1])
    for number, line in enumerate(lines, start=first):
        if first:
            builder.at(line=number)
        if width > 200:
            builder.paragraph()
        elif wrapped:
            builder.space()
        else:
            builder.line()
        builder.text(line)
