"""Tools that follow links: the neighbourhood of an article, who links to it, and how two articles hang together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ragways.tools.results import Articles, Hop, Paragraphs, Path, Quote
from ragways.tools.shelf import Shelf, page

LONGEST = 6
"""Links in a chain."""
_PARTIAL = "the corpus has few links of its own and is large: titles were looked for in the first part of it only"


def neighbourhood(shelf: Shelf, article: str, distance: int, direction: str, k: int, offset: int) -> Articles:
    number = shelf.catalogue.find(article)
    links = shelf.links
    node = links.node(number)
    found = links.adjacency.within(node, distance, direction)
    outward = set(links.adjacency.out(node).tolist())
    inward = set(links.adjacency.into(node).tolist())
    order = sorted(found, key=lambda n: (found[n], n not in outward, _name(shelf, n)))
    listed = tuple(
        shelf.listed(links.articles([n])[0], distance=found[n], way=_way(n in outward, n in inward))
        for n in order[offset : offset + k]
    )
    note = f"nothing links to or from article:{number}" if not found else ""
    return Articles(listed, offset + k if len(order) > offset + k else None, note or _partial(shelf))


def backlinks(shelf: Shelf, article: str, k: int, offset: int) -> Paragraphs:
    number = shelf.catalogue.find(article)
    quotes, following = page(_linking(shelf, number, offset + k + 1), offset, k)
    note = "" if quotes else f"no other article links to article:{number}"
    return Paragraphs(quotes, following, note or _partial(shelf))


def shortest_path(shelf: Shelf, start: str, end: str, most: int) -> Path:
    first, last = shelf.catalogue.find(start), shelf.catalogue.find(end)
    links = shelf.links
    chain = links.adjacency.path(links.node(first), links.node(last), most)
    if chain is None:
        ends = (shelf.listed(first), shelf.listed(last))
        return Path(None, ends, (), f"no chain of at most {most} links joins them")
    articles = links.articles(chain)
    hops = tuple(_hop(shelf, *pair) for pair in pairwise(articles))
    return Path(len(chain) - 1, tuple(map(shelf.listed, articles)), hops, _partial(shelf))


def _linking(shelf: Shelf, article: int, most: int) -> Iterator[Quote]:
    """The paragraphs that link to an article, each once."""
    seen = set()
    for source, place in shelf.links.to(article):
        row = shelf.queries.paragraph_at(source, place)
        if row is None or (source, row[1]) in seen:
            continue
        seen.add((source, row[1]))
        yield _around(shelf, source, place)
        if len(seen) == most:
            return


def _hop(shelf: Shelf, one: int, other: int) -> Hop:
    """Chains are followed either way; a hop tells which of the two links to the other."""
    places = shelf.links.between(one, other)
    if not places:
        one, other, places = other, one, shelf.links.between(other, one)
    return Hop(f"article:{one}", f"article:{other}", _around(shelf, *places[0]) if places else None)


def _around(shelf: Shelf, article: int, place: int) -> Quote:
    """The part of the paragraph in which a link stands."""
    row = shelf.queries.paragraph_at(article, place)
    parts = list(shelf.quotes(article, [row] if row is not None else []))
    return next((part for part in parts if part.end > place), parts[-1])


def _name(shelf: Shelf, node: int) -> str:
    return shelf.catalogue.titles[shelf.links.articles([node])[0]]


def _way(outward: bool, inward: bool) -> str:
    if outward:
        return "links both ways" if inward else "linked from here"
    return "links here" if inward else ""


def _partial(shelf: Shelf) -> str:
    return _PARTIAL if shelf.links.partial else ""
