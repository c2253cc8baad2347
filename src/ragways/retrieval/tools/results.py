"""What tools return. Text of documents stands in `text`, `fields` and titles, and is data: material to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

from ragways.core.types import Piece

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class Listed:
    """An article. `distance` is in links, `score` tells how near it is, `way` by what: letters of its title or meaning;
    of a neighbour, how it is linked.
    """

    id: str
    title: str
    distance: int | None = None
    score: float | None = None
    way: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A paragraph, or a stretch of a long one (`part`, from 1), word for word."""

    id: str
    article: str
    title: str
    text: str
    part: int | None = None
    score: float | None = None
    start: int = 0
    end: int = 0
    tokens: int = 0
    date: str = ""

    @property
    def piece(self) -> Piece:
        return Piece(
            self.id, "paragraph", self.text, self.article, self.title, self.start, self.end, self.tokens, self.date
        )


@dataclass(frozen=True, slots=True)
class StubLink:
    """An article that links to one which is not in the corpus, and what it calls that."""

    id: str
    title: str
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Articles:
    articles: tuple[Listed, ...]
    next_offset: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """`linked_from` is what is known of a stub, an article that others link to and that is not in the corpus."""

    paragraphs: tuple[Excerpt, ...]
    next_offset: int | None = None
    note: str = ""
    linked_from: tuple[StubLink, ...] | None = None


@dataclass(frozen=True, slots=True)
class SectionTitle:
    id: str
    title: str
    level: int
    characters: int


@dataclass(frozen=True, slots=True)
class SectionPreview:
    """A section near another: `distance` is -1 for the one before it. `first` is its first paragraph of so many."""

    id: str
    title: str
    distance: int
    paragraphs: int
    first: Excerpt | None


@dataclass(frozen=True, slots=True)
class SectionWindow:
    sections: tuple[SectionPreview, ...]
    next_offset: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class InfoboxFacts:
    """An infobox; `source` is the paragraph that holds it."""

    kind: str
    fields: Mapping[str, str]
    source: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """`linked_from` is what is known of a stub, which has neither sections nor infoboxes."""

    article: Listed
    sections: tuple[SectionTitle, ...]
    infoboxes: tuple[InfoboxFacts, ...]
    next_offset: int | None = None
    note: str = ""
    linked_from: tuple[StubLink, ...] | None = None


@dataclass(frozen=True, slots=True)
class PathStep:
    """One article links to the next in this paragraph."""

    source: str
    target: str
    paragraph: Excerpt | None


@dataclass(frozen=True, slots=True)
class LinkPath:
    """`length` is in links; None where there is no chain that short."""

    length: int | None
    articles: tuple[Listed, ...]
    hops: tuple[PathStep, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Calculation:
    expression: str
    value: str


ToolResult = Articles | Paragraphs | SectionWindow | Outline | LinkPath | Calculation

_FOR_EVIDENCE = ("start", "end", "tokens", "date")


def data(value: object, shown: Callable[[Piece], str]) -> object:
    """A result as JSON data: without what is empty, and without what only evidence needs. `shown` gives the text of a
    passage as it was written.
    """
    if isinstance(value, Excerpt):
        found = {name: item for name, item in _items(value, shown) if name not in _FOR_EVIDENCE}
        return {**found, "text": shown(value.piece)}
    if isinstance(value, InfoboxFacts):
        return {"kind": value.kind, "fields": dict(value.fields)}
    if isinstance(value, tuple):
        return [data(item, shown) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return dict(_items(value, shown))
    return value


def _items(value: DataclassInstance, shown: Callable[[Piece], str]) -> Iterator[tuple[str, object]]:
    for field in fields(value):
        item = getattr(value, field.name)
        if item is not None and item != "":
            yield field.name, data(item, shown)


def quotes(result: ToolResult) -> tuple[Excerpt, ...]:
    """What a result quotes, in its order: this is what can be evidence."""
    if isinstance(result, Paragraphs):
        return result.paragraphs
    if isinstance(result, SectionWindow):
        return tuple(section.first for section in result.sections if section.first is not None)
    if isinstance(result, Outline):
        return tuple(box.source for box in result.infoboxes if box.source is not None)
    if isinstance(result, LinkPath):
        return tuple(hop.paragraph for hop in result.hops if hop.paragraph is not None)
    return ()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The text for the model, and the pieces of documents that it quotes. `failed`: the text is an error."""

    text: str
    pieces: tuple[Piece, ...] = ()
    failed: bool = False
