"""Word documents (.docx): headings by style, lists, tables, links and core properties. Unpacked within bounds."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from defusedxml.ElementTree import iterparse

from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.archive import Archive, tree
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import LoadOptions, SourceFile, article_of, read_all

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_DEPTH = 200
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def load(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    with Archive(read_all(file, options.max_bytes), "Word document", ".docx") as archive:
        body = archive.part("word/document.xml")
        if body is None:
            raise LoadError("is no Word document", "save it as .docx")
        facts = archive.facts()
        writer = _Writer(
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
