"""An index as tools read it, and what each tool does there: find where to read, read, and follow links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import MissingLayer, ToolError
from ragways.core.types import title_name
from ragways.index.reader import Index
from ragways.index.store import number_of, path_of
from ragways.index.vectors import Scored, best
from ragways.models.tokens import count_text
from ragways.retrieval.tools.links import ArticleLinks, Catalogue, Place, shown
from ragways.retrieval.tools.queries import PartRow, Queries
from ragways.retrieval.tools.results import (
    Articles,
    Excerpt,
    InfoboxFacts,
    LinkPath,
    Listed,
    Outline,
    Paragraphs,
    PathStep,
    SectionPreview,
    SectionTitle,
    SectionWindow,
    StubLink,
)

STRETCH = 2000
"""Characters of a paragraph that are shown at once. A longer one is shown in several parts."""
TOKENS = 2000
"""The most that the texts in one result may cost; the rest is asked for by its offset."""
LOOKED_AT = 4
"""Chunks looked at for each paragraph that is wanted, because several may lie in one paragraph."""


class CorpusView:
    """The queries, titles and links of one open index, each loaded when first used and kept. Reads only."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.queries = Queries(index)

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.queries.titles())

    @cached_property
    def links(self) -> ArticleLinks:
        return ArticleLinks(self.queries, self.catalogue)

    @cached_property
    def _openings(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Articles, and where among the vectors of chunks the first chunk of each stands."""
        return self.index.vectors.openings()

    def opening_like(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """The k articles whose first chunk is nearest a vector: it says what the article is about, and as chunks are
        usually made its title stands before it. So a search by meaning needs no vectors of its own.
        """
        numbers, rows = self._openings
        scores = self.index.vectors.matrix.take(rows) @ vector
        found = best([f"article:{number}" for number in numbers.tolist()], scores, k, 0.0)
        return [(number_of(id), round(score, 4)) for id, score in found]

    def listed(self, article: int, **more: object) -> Listed:
        return Listed(f"article:{article}", self.catalogue.titles[article], **more)  # type: ignore[arg-type]

    def quotes(self, article: int, rows: Iterable[PartRow], score: float | None = None) -> Iterator[Excerpt]:
        """Paragraphs as quotes, long ones in parts."""
        title, text, date = self.index._article(article)
        for _, path, start, end in rows:
            parts = list(_parts(text, start, end))
            for number, (first, last, tokens) in enumerate(parts, start=1):
                yield Excerpt(
                    f"article:{article}:{path}", f"article:{article}", title, text[first:last],
                    number if len(parts) > 1 else None, score, first, last, tokens, date,
                )  # fmt: skip


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Stretches that are short in characters and in tokens, whatever the script; cut at a space where there is one."""
    while start < end:
        last = min(end, start + STRETCH)
        if last < end and (space := text.rfind(" ", start + STRETCH // 2, last)) > 0:
            last = space + 1
        while (tokens := count_text(text[start:last])) > TOKENS:
            last = start + (last - start) // 2
        yield start, last, tokens
        start = last


def page(quotes: Iterable[Excerpt], offset: int, limit: int) -> tuple[tuple[Excerpt, ...], int | None]:
    """Quotes from an offset on, as many as fit, and the offset of the rest."""
    shown: list[Excerpt] = []
    used = 0
    for at, quote in enumerate(quotes):
        if at < offset:
            continue
        if shown and (len(shown) == limit or used + quote.tokens > TOKENS):
            return tuple(shown), at
        shown.append(quote)
        used += quote.tokens
    return tuple(shown), None


def view_of(index: Index) -> CorpusView:
    """One view for an open index, however many toolboxes are made on it."""
    return index.once(CorpusView)


class Embed(Protocol):
    async def __call__(self, text: str, /) -> NDArray[np.float32]: ...


async def by_title(view: CorpusView, embed: Embed, title: str, k: int, offset: int) -> Articles:
    """By letters and by meaning, in turn, the surer way first; where an article is called just so, by letters alone."""
    wanted = offset + k + 1
    lettered = view.catalogue.nearest(title, wanted)
    found = [view.listed(number, score=score) for number, score in lettered]
    exact = view.catalogue.by_name(title_name(title)) is not None
    if not exact and title.strip() and "vectors" in view.index.layers:
        meant, written = dict(view.opening_like(await embed(title), wanted)), dict(lettered)
        ways = sorted((meant, written), key=lambda way: -max(way.values(), default=0.0))
        in_turn = dict.fromkeys(number for both in zip_longest(*ways) for number in both if number is not None)
        found = [
            view.listed(number, score=written[number], way="by letters")
            if number in written
            else view.listed(number, score=meant[number], way="by meaning")
            for number in in_turn
        ]
    stub = _stub(view, title)
    note = stub.note if stub else "" if found else "no title is like that"
    return Articles(tuple(found[offset : offset + k]), offset + k if len(found) > offset + k else None, note)


async def by_meaning(view: CorpusView, embed: Embed, query: str, k: int, offset: int) -> Paragraphs:
    if not query.strip():
        raise ToolError("the query is empty", cure="say what to look for")
    looked_at = LOOKED_AT * (offset + k)
    try:
        if "vectors" in view.index.layers:
            chunks = view.index.vectors.search(await embed(query), looked_at)
        else:
            chunks = view.index.words.search(query, looked_at)
    except MissingLayer as error:
        raise ToolError(error.message, cure=error.cure) from None
    best: dict[str, float] = {}
    for id, score in chunks:
        best.setdefault(id.rsplit(":", 1)[0], round(score, 4))
    quotes, following = page(_first_parts(view, list(best.items())[: offset + k]), offset, k)
    more = following if following is not None else (offset + k if len(best) >= offset + k else None)
    return Paragraphs(quotes, more)


def _first_parts(view: CorpusView, scored: Scored) -> Iterable[Excerpt]:
    """One quote a paragraph, so that an offset counts paragraphs; the window of a paragraph shows its other parts."""
    for id, score in scored:
        row = view.queries.paragraph(number_of(id), path_of(id))
        if row is not None:
            yield from list(view.quotes(number_of(id), [row], score))[:1]


MOST = 50
"""Paragraphs, or section titles, in one result."""
_BOXES = 10
_FIELDS = 60
_FIELD = 300
_SECTION = re.compile(r"(article:[0-9]{1,18}):(s[0-9]{1,9})(:.*)?", re.ASCII | re.DOTALL)
_PARAGRAPH = re.compile(r"(article:[0-9]{1,18}):(s[0-9]{1,9}:p[0-9]{1,9})(:[ct][0-9]{1,9})?", re.ASCII)


def whole(view: CorpusView, article: str, offset: int) -> Paragraphs:
    if stub := _stub(view, article):
        return Paragraphs((), None, stub.note, stub.links(view))
    number = view.catalogue.find(article)
    quotes, following = page(view.quotes(number, view.queries.paragraphs(number)), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def outline(view: CorpusView, article: str, offset: int) -> Outline:
    if stub := _stub(view, article):
        return Outline(Listed("", stub.title), (), (), None, stub.note, stub.links(view))
    number = view.catalogue.find(article)
    rows = view.queries.sections(number)
    titles = tuple(
        SectionTitle(f"article:{number}:{path}", title, level, end - start)
        for _, path, start, end, title, level in rows[offset : offset + MOST]
    )
    boxes = tuple(_boxes(view, number)) if offset == 0 else ()
    return Outline(view.listed(number), titles, boxes, offset + MOST if len(rows) > offset + MOST else None)


def _boxes(view: CorpusView, number: int) -> Iterator[InfoboxFacts]:
    for start, kind, fields in view.queries.infoboxes(number)[:_BOXES]:
        row = view.queries.paragraph_at(number, start)
        source = next(view.quotes(number, [row]), None) if row is not None else None
        yield InfoboxFacts(kind[:_FIELD], {key[:_FIELD]: value[:_FIELD] for key, value in fields[:_FIELDS]}, source)


def sections(view: CorpusView, ids: Sequence[str], offset: int) -> Paragraphs:
    found = [_section(view, id) for id in dict.fromkeys(ids)]
    quotes, following = page(_in_sections(view, found), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def section_window(view: CorpusView, id: str, around: int, offset: int) -> SectionWindow:
    """What the sections around one begin with; to read them whole is another tool's work."""
    number, at = _section(view, id)
    rows = view.queries.sections(number)
    near = range(max(0, at - around), min(len(rows), at + around + 1))[offset:]
    shown: list[SectionPreview] = []
    room = TOKENS
    for place in near:
        _, path, start, end, title, _ = rows[place]
        inside = view.queries.paragraphs_in(number, start, end)
        first = next(iter(view.quotes(number, inside[:1])), None)
        room -= first.tokens if first else 0
        if shown and room < 0:
            break
        shown.append(SectionPreview(f"article:{number}:{path}", title, place - at, len(inside), first))
    following = offset + len(shown) if len(shown) < len(near) else None
    return SectionWindow(tuple(shown), following, "" if shown else "there is nothing from that offset on")


def paragraph_window(view: CorpusView, id: str, around: int, offset: int) -> Paragraphs:
    number, row = _paragraph(view, id)
    rows = view.queries.paragraphs_near(number, row[0] - around, row[0] + around)
    quotes, following = page(view.quotes(number, rows), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def _section(view: CorpusView, id: str) -> tuple[int, int]:
    """The article and the place among its sections that an id means."""
    match = _SECTION.fullmatch(id.strip())
    number = view.catalogue.find(match[1] if match else id)
    rows = view.queries.sections(number)
    wanted = match[2] if match else ""
    for at, row in enumerate(rows):
        if row[1] == wanted:
            return number, at
    near = sorted(rows, key=lambda row: abs(row[0] - _place(wanted)))[:5]
    labels = [f"article:{number}:{row[1]} ({row[4][:100]})" for row in sorted(near)]
    raise ToolError(f"{shown(id)} is not the id of a section", labels)


def _paragraph(view: CorpusView, id: str) -> tuple[int, PartRow]:
    match = _PARAGRAPH.fullmatch(id.strip())
    number = view.catalogue.find(match[1] if match else id)
    row = view.queries.paragraph(number, match[2]) if match else None
    if row is not None:
        return number, row
    section = _SECTION.fullmatch(id.strip())
    rows = view.queries.paragraphs(number)
    inside = [row for row in rows if section and row[1].startswith(f"{section[2]}:")] or rows
    wanted = int(match[2].rpartition("p")[2]) if match else 0
    near = sorted(inside, key=lambda row: abs(_place(row[1].rpartition(":")[2]) - wanted))[:5]
    raise ToolError(f"{shown(id)} is not the id of a paragraph", [f"article:{number}:{row[1]}" for row in sorted(near)])


def _place(part: str) -> int:
    return int(part[1:]) if part[1:].isdecimal() else 0


def _in_sections(view: CorpusView, places: Sequence[tuple[int, int]]) -> Iterator[Excerpt]:
    for number, at in places:
        _, _, start, end, _, _ = view.queries.sections(number)[at]
        yield from view.quotes(number, view.queries.paragraphs_in(number, start, end))


def _past(quotes: Sequence[Excerpt], offset: int) -> str:
    if quotes:
        return ""
    return "there is nothing from that offset on" if offset else "there is no text here"


LONGEST = 6
"""ArticleLinks in a chain."""
_LINKING = 20
"""Articles that are named as linking to a stub; all of them can be read by backlinks."""
_NAMES = 5
_PARTIAL = "the corpus has few links of its own and is large: titles were looked for in the first part of it only"


def neighbourhood(view: CorpusView, article: str, distance: int, direction: str, k: int, offset: int) -> Articles:
    if stub := _stub(view, article):
        linking = [] if direction == "out" else list(dict.fromkeys(source for source, _, _ in stub.places))
        near = tuple(view.listed(source, distance=1, way="links here") for source in linking[offset : offset + k])
        return Articles(near, offset + k if len(linking) > offset + k else None, stub.note)
    number = view.catalogue.find(article)
    links = view.links
    node = links.node(number)
    found = links.adjacency.within(node, distance, direction)
    outward = set(links.adjacency.out(node).tolist())
    inward = set(links.adjacency.into(node).tolist())
    order = sorted(found, key=lambda n: (found[n], n not in outward, _name(view, n)))
    listed = tuple(
        view.listed(links.articles([n])[0], distance=found[n], way=_way(n in outward, n in inward))
        for n in order[offset : offset + k]
    )
    note = f"nothing links to or from article:{number}" if not found else ""
    return Articles(listed, offset + k if len(order) > offset + k else None, note or _partial(view))


def backlinks(view: CorpusView, article: str, k: int, offset: int) -> Paragraphs:
    if stub := _stub(view, article):
        places = [(source, start) for source, start, _ in stub.places]
        quotes, following = page(_linking(view, places, offset + k + 1), offset, k)
        return Paragraphs(quotes, following, stub.note)
    number = view.catalogue.find(article)
    quotes, following = page(_linking(view, view.links.to(number), offset + k + 1), offset, k)
    note = "" if quotes else f"no other article links to article:{number}"
    return Paragraphs(quotes, following, note or _partial(view))


def shortest_path(view: CorpusView, start: str, end: str, limit: int) -> LinkPath:
    first, last = view.catalogue.find(start), view.catalogue.find(end)
    links = view.links
    chain = links.adjacency.path(links.node(first), links.node(last), limit)
    if chain is None:
        ends = (view.listed(first), view.listed(last))
        return LinkPath(None, ends, (), f"no chain of at most {limit} links joins them")
    articles = links.articles(chain)
    hops = tuple(_hop(view, *pair) for pair in pairwise(articles))
    return LinkPath(len(chain) - 1, tuple(map(view.listed, articles)), hops, _partial(view))


@dataclass(frozen=True)
class _Stub:
    """A title that has no article here though others link to it; `places` are document, start and end of the links."""

    title: str
    places: Sequence[tuple[int, int, int]]

    @property
    def note(self) -> str:
        count = len({source for source, _, _ in self.places})
        return (
            f"{shown(self.title)} is a stub: the corpus has no article of that title, and {count:,} that link to it; "
            "backlinks reads what they say of it"
        )

    def links(self, view: CorpusView) -> tuple[StubLink, ...]:
        """The first articles that link to it, and what each calls it."""
        names: dict[int, dict[str, None]] = {}
        for source, start, end in self.places:
            if source in names or len(names) < _LINKING:
                called = " ".join(view.index.text(f"article:{source}", start, end).split())
                names.setdefault(source, {})[called[:_FIELD]] = None
        return tuple(
            StubLink(f"article:{source}", view.catalogue.titles[source], tuple(called)[:_NAMES])
            for source, called in names.items()
        )


def _stub(view: CorpusView, text: str) -> _Stub | None:
    """What a title stands for that is linked to and has no article; None for any other text."""
    title = " ".join(text.split())
    name = title_name(title)
    if not name or view.catalogue.by_name(name) is not None:
        return None
    places = [place for place in view.queries.links_named(name) if place[0] in view.catalogue.titles]
    return _Stub(title, places) if places else None


def _linking(view: CorpusView, places: Iterable[Place], limit: int) -> Iterator[Excerpt]:
    """The paragraphs that these links stand in, each once."""
    seen = set()
    for source, place in places:
        row = view.queries.paragraph_at(source, place)
        if row is None or (source, row[1]) in seen:
            continue
        seen.add((source, row[1]))
        yield _around(view, source, place)
        if len(seen) == limit:
            return


def _hop(view: CorpusView, one: int, other: int) -> PathStep:
    """Chains are followed either way; a hop tells which of the two links to the other."""
    places = view.links.between(one, other)
    if not places:
        one, other, places = other, one, view.links.between(other, one)
    return PathStep(f"article:{one}", f"article:{other}", _around(view, *places[0]) if places else None)


def _around(view: CorpusView, article: int, place: int) -> Excerpt:
    """The part of the paragraph in which a link stands."""
    row = view.queries.paragraph_at(article, place)
    parts = list(view.quotes(article, [row] if row is not None else []))
    return next((part for part in parts if part.end > place), parts[-1])


def _name(view: CorpusView, node: int) -> str:
    return view.catalogue.titles[view.links.articles([node])[0]]


def _way(outward: bool, inward: bool) -> str:
    if outward:
        return "links both ways" if inward else "linked from here"
    return "links here" if inward else ""


def _partial(view: CorpusView) -> str:
    return _PARTIAL if view.links.partial else ""
