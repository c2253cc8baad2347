"""Plain text (.txt, .text, .rst): blank lines separate paragraphs, wrapped lines are joined."""

from __future__ import annotations

from collections.abc import Iterator

from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.characters import normal_lines
from ragways.corpus.reading import read_text
from ragways.corpus.source import LoadOptions, SourceFile


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    text, metadata = read_text(file, options.max_bytes)
    builder = TextBuilder(options.max_text)
    write_plain(builder, text)
    yield builder.document(file.key, file.stem, "text", metadata)


def write_plain(builder: TextBuilder, text: str) -> None:
    """Append plain text, paragraph by paragraph."""
    if "\n" not in text and "\r" not in text:
        builder.paragraph()
        builder.text(text)
        return
    block: list[str] = []
    for line in normal_lines(text):
        if line.strip():
            block.append(line.strip())
        elif block:
            _write_block(builder, block)
            block = []
    if block:
        _write_block(builder, block)


def _write_block(builder: TextBuilder, lines: list[str]) -> None:
    """Long lines are paragraphs, lines of nearly equal width were wrapped, other lines (lists, verse) stay."""
    builder.paragraph()
    width = max(map(len, lines))
    wrapped = 40 <= width <= 120 and all(len(line) >= width * 0.6 for line in lines[:-1])
    for line in lines:
        if width > 200:
            builder.paragraph()
        elif wrapped:
            builder.space()
        else:
            builder.line()
        builder.text(line)
