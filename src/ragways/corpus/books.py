"""Slides (.pptx), a section each with its notes, and books (.epub), a document with a section for each chapter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from defusedxml.ElementTree import fromstring

from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.archive import Archive, beside, facts_of, local, tree
from ragways.corpus.builder import UNTITLED, TextBuilder
from ragways.corpus.html import html_document
from ragways.corpus.source import LoadOptions, SourceFile, read_all

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MAX_PARTS = 5_000
_MAX_DEPTH = 60
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))


def load_slides(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    with Archive(read_all(file, options.max_bytes), "presentation", ".pptx") as archive:
        show = archive.part("ppt/presentation.xml")
        if show is None:
            raise LoadError("is no presentation", "save it as .pptx")
        facts = archive.facts()
        targets = archive.targets("ppt/_rels/presentation.xml.rels")
        listed = next((element for element in tree(show) if local(element) == "sldIdLst"), ())
        builder = TextBuilder(options.max_text)
        for number, slide in enumerate(list(listed)[:_MAX_PARTS], start=1):
            name = beside("ppt/presentation.xml", targets.get(slide.get(f"{_R}id", ""), ""))
            _slide(builder, archive, name, number)
    yield builder.document(file.key, facts.pop("title", "") or file.stem, "pptx", facts)


def _slide(builder: TextBuilder, archive: Archive, name: str, number: int) -> None:
    data = archive.part(name)
    if data is None:
        return
    folder, _, base = name.rpartition("/")
    shapes = list(_shapes(fromstring(data, forbid_dtd=True)))
    titles = [shape for kind, shape in shapes if kind in ("title", "ctrTitle")]
    title = " ".join(filter(None, (" ".join(_paragraphs(shape)) for shape in titles))).strip()
    mark = builder.block()
    builder.at(page=number)
    builder.text(title or f"Slide {number}")
    builder.heading(mark, 2)
    for kind, shape in shapes:
        if kind not in ("title", "ctrTitle"):
            _shape(builder, shape)
    for target in archive.targets(f"{folder}/_rels/{base}.rels").values():
        notes = archive.part(beside(name, target)) if "notesSlide" in target else None
        if notes is not None:
            spoken = [
                text for kind, shape in _shapes(fromstring(notes, forbid_dtd=True)) for text in _paragraphs(shape)
            ]
            builder.paragraph()
            builder.text(" ".join(("Notes:", *spoken)) if any(map(str.strip, spoken)) else "")


def _shapes(root: Element) -> Iterator[tuple[str, Element]]:
    """Text boxes and tables in order, each with the kind of its place; numbers and dates of slides are left out."""
    pending = [(root, 0)]
    while pending:
        element, depth = pending.pop()
        if depth > _MAX_DEPTH:
            raise LoadError("is nested too deep")
        if local(element) in ("sp", "graphicFrame"):
            place = next((each for each in element.iter() if local(each) == "ph"), None)
            kind = place.get("type", "") if place is not None else ""
            if kind not in _FURNITURE:
                yield kind, element
        elif local(element) != "Fallback":
            pending.extend((child, depth + 1) for child in reversed(element))


def _shape(builder: TextBuilder, shape: Element) -> None:
    builder.paragraph()
    rows = [element for element in shape.iter() if local(element) == "tr"]
    for row in rows:
        builder.row()
        for cell in row:
            builder.cell()
            builder.text(" ".join(_paragraphs(cell)))
    for text in () if rows else _paragraphs(shape):
        builder.line()
        builder.text(text)


def _paragraphs(shape: Element) -> Iterator[str]:
    for paragraph in shape.iter():
        if local(paragraph) == "p":
            yield "".join(
                " " if local(part) == "br" else part.text or ""
                for part in paragraph.iter()
                if local(part) in ("t", "br")
            )


# Books


def load_book(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    with Archive(read_all(file, options.max_bytes), "e-book", ".epub") as archive:
        container = archive.part("META-INF/container.xml")
        root = next((each for outer in tree(container) for each in outer if local(each) == "rootfile"), None)
        name = root.get("full-path", "") if root is not None else ""
        package = archive.part(name)
        if package is None:
            raise LoadError("is no e-book", "check that it is a whole .epub")
        parts = {local(element): element for element in tree(package)}
        facts = facts_of(iter(parts.get("metadata", ())))
        items = {item.get("id", ""): item.get("href", "") for item in parts.get("manifest", ())}
        builder = TextBuilder(options.max_text)
        for reference in list(parts.get("spine", ()))[:_MAX_PARTS]:
            href = unquote(items.get(reference.get("idref", ""), ""))
            chapter = archive.part(beside(name, href)) if href else None
            if chapter is not None and reference.get("linear") != "no":
                builder.append(html_document(chapter, SourceFile(Path(UNTITLED), file.key), options), levels=1)
    yield builder.document(file.key, facts.pop("title", "") or file.stem, "epub", facts)
