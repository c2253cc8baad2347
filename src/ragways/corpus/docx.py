"""Word documents (.docx): headings by style, lists, tables, links and core properties. Unpacked within bounds."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from defusedxml.ElementTree import fromstring, iterparse

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import MIB, LoadOptions, SourceFile, article_of, read_all

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_UNPACKED = 64 * MIB
_MAX_RATIO = 200
_MAX_DEPTH = 200
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FACTS = {"title": "title", "creator": "author", "created": "date", "category": "category", "language": "language"}


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    data = read_all(file, options.max_bytes)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError) as error:
        raise LoadError("is no readable Word document", "check that it is whole and really a .docx") from error
    with archive:
        body = _part(archive, "word/document.xml")
        if body is None:
            raise LoadError("is no Word document", "save it as .docx")
        facts = _core(_part(archive, "docProps/core.xml"))
        writer = _Writer(
            builder=TextBuilder(options.max_text),
            styles=_styles(_part(archive, "word/styles.xml")),
            targets=_targets(_part(archive, "word/_rels/document.xml.rels")),
        )
    writer.write(body)
    title = facts.pop("title", "") or writer.title or file.stem
    yield writer.builder.document(file.key, title, "docx", facts)


def _part(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """One part of the archive. What the archive claims of its size is not believed: reading stops by itself."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        return None
    if info.flag_bits & 1:
        raise LoadError("is encrypted", "save a copy without a password")
    allowed = min(_MAX_UNPACKED, max(MIB, info.compress_size * _MAX_RATIO))
    with archive.open(info) as stream:
        data = stream.read(allowed + 1)
    if len(data) > allowed:
        raise LoadError("unpacks to far more than its size (a zip bomb?)")
    return data


def _core(data: bytes | None) -> dict[str, str]:
    facts: dict[str, str] = {}
    for element in _tree(data):
        name = element.tag.rpartition("}")[2]
        if name in _FACTS and element.text:
            facts.setdefault(_FACTS[name], element.text.strip())
    return {**facts, "date": iso_date(facts.get("date", ""))}


def _styles(data: bytes | None) -> dict[str, str]:
    """Style id → its name in lower case; Word translates ids, but not these names."""
    styles: dict[str, str] = {}
    for style in _tree(data):
        name = style.find(f"{_W}name")
        if style.tag == f"{_W}style" and name is not None:
            styles[style.get(f"{_W}styleId", "")] = name.get(f"{_W}val", "").lower()
    return styles


def _targets(data: bytes | None) -> dict[str, str]:
    return {element.get("Id", ""): element.get("Target", "") for element in _tree(data)}


def _tree(data: bytes | None) -> Iterator[Element]:
    return iter(fromstring(data, forbid_dtd=True)) if data else iter(())


@dataclass(slots=True)
class _Writer:
    builder: TextBuilder
    styles: dict[str, str]
    targets: dict[str, str]
    title: str = ""
    listing: bool = False
    hidden: int = 0
    depth: int = 0

    def write(self, data: bytes) -> None:
        """Stream the body: a paragraph is written at its end and then forgotten."""
        for event, element in iterparse(io.BytesIO(data), ("start", "end"), forbid_dtd=True):
            name = element.tag.rpartition("}")[2]
            if event == "start":
                self.depth += 1
                if self.depth > _MAX_DEPTH:
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
            self.builder.paragraph()
            self.listing = False
        elif name == "tr":
            self.builder.row()
        elif name == "tc":
            self.builder.cell()
            self.builder.flat()

    def _end(self, name: str) -> None:
        if name == "tc":
            self.builder.unflat()
        elif name == "tbl":
            self.builder.paragraph()

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
            self._runs(element, self.builder)
        else:
            self.builder.paragraph()
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
                mark = builder.mark()
                self._run_texts(child, builder)
                builder.link(mark, article_of(self.targets.get(child.get(f"{_R}id", ""), "")))
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
