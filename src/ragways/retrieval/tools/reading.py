"""What each tool does in an index: find where to read, read, and follow links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import MissingLayer, ToolError
from ragways.core.step import fuse
from ragways.core.text import counted
from ragways.core.types import Hit, Piece, Query, title_name
from ragways.layers.protocols import PartRow
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, words
from ragways.retrieval.tools.catalogue import shown
from ragways.retrieval.tools.corpus_view import FIELD, TOKENS, CorpusView, page, stub_of
from ragways.retrieval.tools.links import LINKS, ArticleLinks, Place
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
)
from ragways.store.store import number_of, path_of


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
    stub = stub_of(view, title)
    note = stub.note if stub else "" if found else "no title is like that"
    return Articles(tuple(found[offset : offset + k]), offset + k if len(found) > offset + k else None, note)


DEPTH = 50
"""Passages by meaning, and by words, whose ranks are joined."""
QUOTES = '"“”„«»'
_PHRASE = re.compile(f"[{QUOTES}]([^{QUOTES}]{{2,200}})[{QUOTES}]")
_FAR = 0.25
"""How much less like the query than the most similar passage one may be that does not match its words."""


async def by_meaning_and_words(view: CorpusView, use: Resources, query: str, k: int, offset: int) -> Paragraphs:
    """In the order of `hybrid-words`, without passages that are far from the query or lack what it quotes."""
    if not query.strip():
        raise ToolError("the query is empty", cure="say what to look for")
    depth, layers = max(DEPTH, offset + k + 1), use.index.layers
    if not layers & {"vectors", "words"}:
        raise ToolError("this index has neither vectors nor words", cure="build with: ragways index PATH --with words")
    ways = [dense(use, k=depth, beside="words" in layers)] if "vectors" in layers else []
    ways += [words(use, k=depth)] if "words" in layers else []
    phrases = [_plain(phrase) for phrase in _PHRASE.findall(query)]
    try:
        asked = Query(re.sub(f"[{QUOTES}]", " ", query))
        hits = _near((await fuse(*ways)(asked)).items)
        if phrases and "words" in layers:
            more = await words(use, k=_MANY)(Query(" ".join(phrases)))
            known = {hit.piece.id for hit in hits}
            hits += [hit for hit in more.items if hit.piece.id not in known]
    except MissingLayer as error:
        raise ToolError(error.message, cure=error.cure) from None
    pieces = [hit.piece for hit in hits]
    holding = [piece for piece in pieces if _holds(view, piece, phrases)]
    note = "" if holding or not phrases else "no passage has the quoted words; these are the nearest"
    found, following = page(_passages(view, holding or pieces[:depth]), offset, k)
    return Paragraphs(found, following, note or (_past(found, offset) if offset else ""))


_WELL = 10
"""Ranks by words that count whatever the meaning."""
_MANY = 200
"""Passages with the words of a phrase that are looked through for it."""


def _near(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without those that are much less like the query than the best one and match none of its words well."""
    likeness = [next((found.score for found in hit.found if found.by == "dense"), -1.0) for hit in hits]
    least = max(likeness, default=0.0) - _FAR
    return [
        hit
        for hit, score in zip(hits, likeness, strict=True)
        if score >= least or any(found.by == "words" and found.rank <= _WELL for found in hit.found)
    ]


def _holds(view: CorpusView, piece: Piece, phrases: Sequence[str]) -> bool:
    """Whether all phrases stand in a passage or the headings above it."""
    if not phrases:
        return True
    [origin] = view.index.origins([(piece.document, piece.start, piece.end)])
    text = _plain(f"{origin.heading(piece.title)} {piece.text}")
    return all(phrase in text for phrase in phrases)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _passages(view: CorpusView, pieces: Iterable[Piece]) -> Iterator[Excerpt]:
    """The chunks themselves, whole: a chunk may have several paragraphs, and be a part of one. A chunk that is one
    paragraph has the id of that, so that it is the same evidence as where other tools read it.
    """
    for piece in pieces:
        paragraph = piece.id.rpartition(":")[0]
        row = view.articles.paragraph(number_of(piece.id), path_of(paragraph))
        alone = row is not None and (piece.start, piece.end) == row[2:]
        yield Excerpt(
            paragraph if alone else piece.id, piece.document, piece.title, piece.text, None, None,
            piece.start, piece.end, piece.tokens, piece.date,
        )  # fmt: skip


MOST = 50
"""Paragraphs, or section titles, in one result."""
_BOXES = 10
_FIELDS = 60
_SECTION = re.compile(r"(article:[0-9]{1,18}):(s[0-9]{1,9})(:.*)?", re.ASCII | re.DOTALL)
_PARAGRAPH = re.compile(r"(article:[0-9]{1,18}):(s[0-9]{1,9}:p[0-9]{1,9})(:[ct][0-9]{1,9})?", re.ASCII)


def whole(view: CorpusView, article: str, offset: int) -> Paragraphs:
    if stub := stub_of(view, article):
        return Paragraphs((), None, stub.note, stub.links(view))
    number = view.catalogue.find(article)
    quotes, following = page(view.quotes(number, view.articles.paragraphs(number)), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def outline(view: CorpusView, article: str, offset: int) -> Outline:
    if stub := stub_of(view, article):
        return Outline(Listed("", stub.title), (), (), None, stub.note, stub.links(view))
    number = view.catalogue.find(article)
    rows = view.articles.sections(number)
    titles = tuple(
        SectionTitle(f"article:{number}:{path}", title, level, end - start)
        for _, path, start, end, title, level in rows[offset : offset + MOST]
    )
    boxes = tuple(_boxes(view, number)) if offset == 0 else ()
    return Outline(view.listed(number), titles, boxes, offset + MOST if len(rows) > offset + MOST else None)


def _boxes(view: CorpusView, number: int) -> Iterator[InfoboxFacts]:
    for start, kind, fields in view.articles.infoboxes(number)[:_BOXES]:
        row = view.articles.paragraph_at(number, start)
        source = next(view.quotes(number, [row]), None) if row is not None else None
        yield InfoboxFacts(kind[:FIELD], {key[:FIELD]: value[:FIELD] for key, value in fields[:_FIELDS]}, source)


def sections(view: CorpusView, ids: Sequence[str], offset: int) -> Paragraphs:
    found = [_section(view, id) for id in dict.fromkeys(ids)]
    quotes, following = page(_in_sections(view, found), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def section_window(view: CorpusView, id: str, around: int, offset: int) -> SectionWindow:
    """What the sections around one begin with; to read them whole is another tool's work."""
    number, at = _section(view, id)
    rows = view.articles.sections(number)
    near = range(max(0, at - around), min(len(rows), at + around + 1))[offset:]
    shown: list[SectionPreview] = []
    room = TOKENS
    for place in near:
        _, path, start, end, title, _ = rows[place]
        inside = view.articles.paragraphs_in(number, start, end)
        first = next(iter(view.quotes(number, inside[:1])), None)
        room -= first.tokens if first else 0
        if shown and room < 0:
            break
        shown.append(SectionPreview(f"article:{number}:{path}", title, place - at, len(inside), first))
    following = offset + len(shown) if len(shown) < len(near) else None
    return SectionWindow(tuple(shown), following, "" if shown else "there is nothing from that offset on")


def paragraph_window(view: CorpusView, id: str, around: int, offset: int) -> Paragraphs:
    number, row = _paragraph(view, id)
    rows = view.articles.paragraphs_near(number, row[0] - around, row[0] + around)
    quotes, following = page(view.quotes(number, rows), offset, MOST)
    return Paragraphs(quotes, following, _past(quotes, offset))


def _section(view: CorpusView, id: str) -> tuple[int, int]:
    """The article and the place among its sections that an id means."""
    match = _SECTION.fullmatch(id.strip())
    number = view.catalogue.find(match[1] if match else id)
    rows = view.articles.sections(number)
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
    row = view.articles.paragraph(number, match[2]) if match else None
    if row is not None:
        return number, row
    section = _SECTION.fullmatch(id.strip())
    rows = view.articles.paragraphs(number)
    inside = [row for row in rows if section and row[1].startswith(f"{section[2]}:")] or rows
    wanted = int(match[2].rpartition("p")[2]) if match else 0
    near = sorted(inside, key=lambda row: abs(_place(row[1].rpartition(":")[2]) - wanted))[:5]
    raise ToolError(f"{shown(id)} is not the id of a paragraph", [f"article:{number}:{row[1]}" for row in sorted(near)])


def _place(part: str) -> int:
    return int(part[1:]) if part[1:].isdecimal() else 0


def _in_sections(view: CorpusView, places: Sequence[tuple[int, int]]) -> Iterator[Excerpt]:
    for number, at in places:
        _, _, start, end, _, _ = view.articles.sections(number)[at]
        yield from view.quotes(number, view.articles.paragraphs_in(number, start, end))


def _past(quotes: Sequence[Excerpt], offset: int) -> str:
    if quotes:
        return ""
    return "there is nothing from that offset on" if offset else "there is no text here"


LONGEST = 6
"""Links in a chain."""
_DIRECTIONS = {"out": "from", "in": "to", "both": "to or from"}


def neighbourhood(view: CorpusView, article: str, distance: int, direction: str, k: int, offset: int) -> Articles:
    if stub := stub_of(view, article):
        linking = [] if direction == "out" else list(dict.fromkeys(source for source, _, _ in stub.places))
        near = tuple(view.listed(source, distance=1, way="links here") for source in linking[offset : offset + k])
        return Articles(near, offset + k if len(linking) > offset + k else None, stub.note)
    number = view.catalogue.find(article)
    links = view.links()
    found = links.within(number, distance, direction)
    outward = links.targets(number).keys()
    inward = set(links.into(number)) if direction != "out" else set()
    titled = {each: view.catalogue.title(each) or "" for each in found}
    order = sorted(found, key=lambda n: (found[n], n not in outward, titled[n]))
    listed = tuple(
        Listed(f"article:{n}", titled[n], distance=found[n], way=_way(n in outward, n in inward))
        for n in order[offset : offset + k]
    )
    note = "" if found else _without_neighbours(view, number, direction)
    return Articles(listed, offset + k if len(order) > offset + k else None, _both(note, links.note))


def _without_neighbours(view: CorpusView, number: int, direction: str) -> str:
    """Say that an article has no neighbours, and how many titles it links to that have no article here."""
    titles = 0 if direction == "in" else len({name for _, name in view.articles.links_of(number, LINKS)})
    if not titles:
        return f"nothing links {_DIRECTIONS[direction]} article:{number}"
    inward = "" if direction == "out" else ", and nothing here links to it"
    return f"article:{number} links to {counted(titles, 'title')}, but to no article of this corpus{inward}"


def backlinks(view: CorpusView, article: str, k: int, offset: int) -> Paragraphs:
    if stub := stub_of(view, article):
        places = [(source, start) for source, start, _ in stub.places]
        quotes, following = page(_linking(view, places, offset + k + 1), offset, k)
        return Paragraphs(quotes, following, stub.note)
    number = view.catalogue.find(article)
    links = view.links()
    quotes, following = page(_linking(view, links.to(number), offset + k + 1), offset, k)
    note = "" if quotes else f"no other article links to article:{number}"
    return Paragraphs(quotes, following, _both(note, links.note))


def shortest_path(view: CorpusView, start: str, end: str, limit: int, direction: str) -> LinkPath:
    first, last = view.catalogue.find(start), view.catalogue.find(end)
    links = view.links()
    articles = links.path(first, last, limit, direction)
    if articles is None:
        ends = (view.listed(first), view.listed(last))
        way = "joins them" if direction == "both" else "leads from the first to the second; direction both may find one"
        return LinkPath(None, ends, (), _both(f"no chain of at most {limit} links {way}", links.note))
    hops = tuple(_hop(view, links, *pair) for pair in pairwise(articles))
    return LinkPath(len(articles) - 1, tuple(map(view.listed, articles)), hops, links.note)


def _linking(view: CorpusView, places: Iterable[Place], limit: int) -> Iterator[Excerpt]:
    """The paragraphs that these links stand in, each once."""
    seen = set()
    for source, place in places:
        row = view.articles.paragraph_at(source, place)
        if row is None or (source, row[1]) in seen:
            continue
        seen.add((source, row[1]))
        yield _around(view, source, place)
        if len(seen) == limit:
            return


def _hop(view: CorpusView, links: ArticleLinks, one: int, other: int) -> PathStep:
    """Chains are followed either way; a hop tells which of the two links to the other, in its shortest paragraph."""
    places = links.between(one, other)
    if not places:
        one, other, places = other, one, links.between(other, one)
    quotes = [_around(view, *place) for place in places]
    return PathStep(f"article:{one}", f"article:{other}", min(quotes, key=lambda each: each.tokens, default=None))


def _around(view: CorpusView, article: int, place: int) -> Excerpt:
    """The part of the paragraph in which a link stands."""
    row = view.articles.paragraph_at(article, place)
    parts = list(view.quotes(article, [row] if row is not None else []))
    return next((part for part in parts if part.end > place), parts[-1])


def _way(outward: bool, inward: bool) -> str:
    if outward:
        return "links both ways" if inward else "linked from here"
    return "links here" if inward else ""


def _both(note: str, left_out: str) -> str:
    """What is to be known of a result, and what was left out of it."""
    return "; ".join(filter(None, (note, left_out)))
