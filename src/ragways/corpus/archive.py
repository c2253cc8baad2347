"""Formats that are zip archives of XML (Word, sheets, slides, books): their parts, unpacked within bounds."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from defusedxml.ElementTree import fromstring

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.corpus.source import MIB

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_UNPACKED = 64 * MIB
_MAX_ALL = 256 * MIB
_MAX_RATIO = 200
_FACTS = {"title": "title", "creator": "author", "created": "date", "date": "date", "category": "category",
          "language": "language"}  # fmt: skip


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
