"""Formats that are zip archives of XML: Word documents (.docx), slides (.pptx) and books (.epub).

`Archive` unpacks their parts, and those of spreadsheets (`sheets.py`), within bounds.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from defusedxml.ElementTree import fromstring, iterparse

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.builder import UNTITLED, Mark, TextBuilder
from ragways.corpus.source import MIB, LoadOptions, SourceFile, article_of, read_all
from ragways.corpus.web.html import html_document

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_UNPACKED = 64 * MIB
_MAX_ALL = 256 * MIB
_MAX_RATIO = 200
_FACTS = {"title": "title", "creator": "author", "created": "date", "date": "date", "category": "category",
          "language": "language"}  # fmt: skip
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
"""The attribute of an element that names a part of the archive."""


class Archive:
    """An archive in memory. What it claims of its sizes is not believed: reading stops by itself."""

    def __init__(self, data: bytes, what: str, suffix: str) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError) as error:
            raise LoadError(f"is no readable {what}", f"check that it is whole and really a {suffix}") from error
        self._unpacked = 0

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def part(self, name: str) -> bytes | None:
        """The bytes of one part; None where there is none of that name."""
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            return None
        if info.flag_bits & 1:
            raise LoadError("is encrypted", "save a copy without a password")
        allowed = min(_MAX_UNPACKED, max(MIB, info.compress_size * _MAX_RATIO))
        with self._zip.open(info) as stream:
            data = stream.read(allowed + 1)
        self._unpacked += len(data)
        if len(data) > allowed or self._unpacked > _MAX_ALL:
            raise LoadError("unpacks to far more than its size (a zip bomb?)")
        return data

    def targets(self, name: str) -> dict[str, str]:
        """Id → target, from a part with relationships."""
        return {element.get("Id", ""): element.get("Target", "") for element in tree(self.part(name))}

    def facts(self) -> dict[str, str]:
        """Title, author, date and so on, as office programs keep them."""
        return facts_of(tree(self.part("docProps/core.xml")))


def tree(data: bytes | None) -> Iterator[Element]:
    """The elements right below the root; none where there is no part."""
    return iter(fromstring(data, forbid_dtd=True)) if data else iter(())


def facts_of(elements: Iterator[Element]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for element in elements:
        name = local(element)
        if name in _FACTS and element.text:
            facts.setdefault(_FACTS[name], element.text.strip())
    return {**facts, "date": iso_date(facts.get("date", ""))}


def local(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def beside(part: str, target: str) -> str:
    """The part that a reference in another part leads to."""
    joined = target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(part), target)
    return posixpath.normpath(joined)


# Word documents

_MAX_NESTING = 200
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def load_docx(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    with Archive(read_all(file, options.max_bytes), "Word document", ".docx") as archive:
        body = archive.part("word/document.xml")
        if body is None:
            raise LoadError("is no Word document", "save it as .docx")
        facts = archive.facts()
        writer = _WordWriter(
            builder=TextBuilder(options.max_text),
            styles=_styles(archive.part("word/styles.xml")),
            targets=archive.targets("word/_rels/document.xml.rels"),
        )
    writer.write(body)
    title = facts.pop("title", "") or writer.title or file.stem
    yield writer.builder.document(file.key, title, "docx", facts)


def _styles(data: bytes | None) -> dict[str, str]:
    """Style id → its name in lower case; Word translates ids, but not these names."""
    styles: dict[str, str] = {}
    for style in tree(data):
        name = style.find(f"{_W}name")
        if style.tag == f"{_W}style" and name is not None:
            styles[style.get(f"{_W}styleId", "")] = name.get(f"{_W}val", "").lower()
    return styles


@dataclass(slots=True)
class _WordWriter:
    builder: TextBuilder
    styles: dict[str, str]
    targets: dict[str, str]
    title: str = ""
    listing: bool = False
    hidden: int = 0
    depth: int = 0
    tables: list[Mark] = field(default_factory=list)

    def write(self, data: bytes) -> None:
        """Stream the body: a paragraph is written at its end and then forgotten."""
        for event, element in iterparse(io.BytesIO(data), ("start", "end"), forbid_dtd=True):
            name = local(element)
            if event == "start":
                self.depth += 1
                if self.depth > _MAX_NESTING:
                    raise LoadError("is nested too deep")
                self._start(name)
                continue
            self.depth -= 1
            if name == "Fallback":  # an older form of what stands beside it
                self.hidden -= 1
                element.clear()
            elif name == "p" and not self.hidden:
                self._paragraph(element)
                element.clear()
            else:
                self._end(name)

    def _start(self, name: str) -> None:
        if name == "Fallback":
            self.hidden += 1
        elif name == "tbl":
            self.tables.append(self.builder.begin_table())
            self.listing = False
        elif name == "tr":
            self.builder.line()
        elif name == "tc":
            self.builder.cell()
            self.builder.flat()

    def _end(self, name: str) -> None:
        if name == "tc":
            self.builder.unflat()
        elif name == "tbl" and self.tables:
            self.builder.end_table(self.tables.pop(), header=True)

    def _paragraph(self, element: Element) -> None:
        style, listed = self._style(element)
        if style == "title" and not self.title:
            own = TextBuilder(10_000, flat=True)
            self._runs(element, own)
            self.title = own.plain()
            return
        level = re.fullmatch(r"heading (\d)", style)
        if level and not self.builder.is_flat:
            mark = self.builder.block()
            self._runs(element, self.builder)
            self.builder.heading(mark, min(int(level[1]) + 1, 6))
        elif listed and self.listing:
            self.builder.line()
            self.builder.item()
            self._runs(element, self.builder)
        else:
            self.builder.paragraph()
            if listed:
                self.builder.item()
            self._runs(element, self.builder)
        self.listing = listed and not level

    def _style(self, element: Element) -> tuple[str, bool]:
        properties = element.find(f"{_W}pPr")
        if properties is None:
            return "", False
        style = properties.find(f"{_W}pStyle")
        name = style.get(f"{_W}val", "") if style is not None else ""
        name = self.styles.get(name, re.sub(r"(?i)^heading(\d)$", r"heading \1", name).lower())
        return name, properties.find(f"{_W}numPr") is not None or name.startswith("list ")

    def _runs(self, element: Element, builder: TextBuilder) -> None:
        for child in element:
            if child.tag == f"{_W}hyperlink":
                mark, address = builder.mark(), self.targets.get(child.get(RELATION, ""), "")
                self._run_texts(child, builder)
                builder.link(mark, article_of(address), address)
            else:
                self._run_texts(child, builder)

    def _run_texts(self, element: Element, builder: TextBuilder) -> None:
        for part in element.iter():
            if part.tag == f"{_W}t":
                builder.text(part.text or "")
            elif part.tag == f"{_W}tab":
                builder.space()
            elif part.tag == f"{_W}noBreakHyphen":
                builder.text("-")
            elif part.tag in (f"{_W}br", f"{_W}cr"):
                if builder.is_flat:
                    builder.space()
                else:
                    builder.line()


# Slides

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
            name = beside("ppt/presentation.xml", targets.get(slide.get(RELATION, ""), ""))
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
    builder.at(page=number)
    builder.titled(title or f"Slide {number}", 2)
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
    rows = [element for element in shape.iter() if local(element) == "tr"]
    builder.table(rows, lambda cell: builder.text(" ".join(_paragraphs(cell))), header=True)
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
