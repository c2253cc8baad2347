"""A document as layers extract from it: its text and parts, whether it was just read or comes from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragways.core.types import Structure, content_hash

Span = tuple[int, int]
"""Start and end in the text of a document."""


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A chunk. `hash` is that of the text that is searched, which has the title in some settings only; `key` is that of
    heading and text, under which work paid for the chunk is cached.
    """

    id: str
    ordinal: int
    start: int
    end: int
    title: str
    text: str
    searched: str
    """The text as retrievers see it."""
    heading: str = ""
    """The title and the headings above the chunk, as a model is shown them."""

    @property
    def hash(self) -> str:
        return content_hash(self.searched)

    @property
    def key(self) -> str:
        return content_hash(self.heading or self.title, self.text)


@dataclass(frozen=True, slots=True)
class Source:
    """One document with its parts. `links` are start, end and target; `boxes` start, end, kind and fields."""

    number: int
    key: str
    title: str
    text: str
    passages: tuple[SourcePassage, ...]
    sentences: tuple[Span, ...]
    links: tuple[tuple[int, int, str], ...]
    boxes: tuple[tuple[int, int, str, tuple[tuple[str, str], ...]], ...]
    redirect: str = ""

    @classmethod
    def of(cls, structure: Structure, *, with_title: bool) -> Source:
        """Of a document that was just read. `with_title`: chunks are searched with their titles."""
        document = structure.document
        paths = heading_paths(document.title, [(one.title, one.level) for one in structure.sections])
        sections = {part.id: (part.title, path) for part, path in zip(structure.sections, paths, strict=True)}
        return cls(
            int(document.id.split(":", 2)[1]),
            document.key,
            document.title,
            document.text,
            tuple(_passages(structure, sections, with_title)),
            tuple((part.start, part.end) for part in structure.sentences),
            tuple((link.start, link.end, link.target) for link in document.links),
            tuple((box.start, box.end, box.kind, tuple(box.fields)) for box in document.infoboxes),
            document.redirect or "",
        )


def _passages(structure: Structure, sections: dict[str, tuple[str, str]], with_title: bool) -> Iterator[SourcePassage]:
    document = structure.document
    for ordinal, chunk in enumerate(structure.chunks):
        section, heading = sections[":".join(chunk.id.split(":")[:3])]
        text = document.text[chunk.start : chunk.end]
        searched = searched_text(document.title, section, text, with_title=with_title)
        yield SourcePassage(chunk.id, ordinal, chunk.start, chunk.end, document.title, text, searched, heading)


def heading_paths(title: str, sections: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Yield for each section, given by title and level, the headings above and its own, below the document's title."""
    above: list[tuple[str, int]] = []
    for number, (own, level) in enumerate(sections):
        while above and above[-1][1] >= level:
            above.pop()
        if number:  # the first is what stands before any heading
            above.append((own, level))
        yield " › ".join(filter(None, (title, *(each for each, _ in above))))


def searched_text(title: str, section: str, text: str, *, with_title: bool) -> str:
    """A chunk as retrievers see it. A section's title says what the chunk alone may not."""
    if not with_title:
        return text
    head = title if section in ("", title) else f"{title}: {section}"
    return f"{head}\n{text}"
