"""The layout rule that every loader keeps, as one check."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.load import load
from ragways.corpus.source import LoadOptions, SourceFile

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def check(document: Document) -> None:
    text = document.text
    assert text == text.strip()
    assert "\n\n\n" not in text
    assert not _CONTROL.search(text)
    assert not re.search(r"[ \t]\n", text)
    assert unicodedata.is_normalized("NFC", text)
    for heading in document.headings:
        assert text[heading.start : heading.end] == heading.title.strip() != ""
        assert heading.start == 0 or text[: heading.start].endswith("\n\n")
        assert heading.end == len(text) or text[heading.end :].startswith("\n\n")
        assert "\n" not in heading.title
    for link in document.links:
        anchor = text[link.start : link.end]
        assert anchor
        assert "\n" not in anchor
        assert link.target
    for box in document.infoboxes:
        assert text[box.start : box.end] == "\n".join(f"{key}: {value}" for key, value in box.fields)
    starts = [place.start for place in document.places]
    assert starts == sorted(set(starts))
    assert not text or all(0 <= start < len(text) for start in starts)
    for key, value in document.metadata.items():
        assert key == key.lower()
        assert 0 < len(value) <= 1000
    document.key.encode()
    document.title.encode()
    assert document.title


def read(path: Path, options: LoadOptions | None = None) -> list[Document]:
    """Everything in a file, checked."""
    documents = list(load(SourceFile(path, path.name), options or LoadOptions()))
    for document in documents:
        check(document)
    return documents


def read_text(folder: Path, name: str, content: str | bytes, options: LoadOptions | None = None) -> Document:
    """The one document of a file with this content."""
    path = folder / name
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    (document,) = read(path, options)
    return document


def survives(path: Path) -> None:
    """Nothing but a LoadError that names the file may come of it."""
    failed = None
    try:
        read(path)
    except LoadError as error:
        failed = error
    assert failed is None or failed.message.startswith(f"{path.name} ")


def anchors(document: Document) -> list[tuple[str, str]]:
    return [(document.text[link.start : link.end], link.target) for link in document.links]
