"""Notebooks (.ipynb): cells in order, Markdown as prose, code as it stands, and the first lines of what it printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ragways.core.errors import LoadError
from ragways.core.text import normal_lines
from ragways.core.types import Document
from ragways.corpus.builder import UNTITLED, TextBuilder
from ragways.corpus.markdown import markdown_document
from ragways.corpus.source import LoadOptions, SourceFile, read_text

_MAX_OUTPUT = 10
"""Lines of an output that are kept."""


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    """Cells in order; the number of a cell, counted from 1, is its page."""
    source, metadata = read_text(file, options.max_bytes)
    try:
        book = json.loads(source)
    except ValueError as error:
        raise LoadError("is no notebook: not valid JSON", "check that it is whole") from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise LoadError("is no notebook", "save it in format 4 of Jupyter")
    builder = TextBuilder(options.max_text)
    title = ""
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        builder.at(page=number)
        text = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            prose = markdown_document(text, SourceFile(Path(UNTITLED), file.key), options, {})
            if not title and not builder.length and prose.title != UNTITLED:
                title, prose = prose.title, replace(prose, title=UNTITLED)
            builder.append(prose)
        elif cell.get("cell_type") == "code":
            builder.preformatted(text)
            _outputs(builder, cell.get("outputs"))
    yield builder.document(file.key, title or file.stem, "notebook", metadata)


def _outputs(builder: TextBuilder, outputs: object) -> None:
    for output in outputs[:20] if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        text = _joined(output.get("text") or (data.get("text/plain") if isinstance(data, dict) else ""))
        lines = [line[:500] for line in normal_lines(text) if line.strip()]
        if lines:
            builder.preformatted("\n".join(["Output:", *lines[:_MAX_OUTPUT], *(["…"] if lines[_MAX_OUTPUT:] else [])]))


def _joined(value: object) -> str:
    """A text, or the list of its lines as notebooks keep it."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
