"""Tools that find where to read: by title, and by meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import MissingLayer
from ragways.index.store import number_of, path_of
from ragways.index.vectors import Scored
from ragways.tools.error import ToolError
from ragways.tools.results import Articles, Paragraphs, Quote
from ragways.tools.shelf import Shelf, page

LOOKED_AT = 4
"""Chunks looked at for each paragraph that is wanted, because several may lie in one paragraph."""


class Embed(Protocol):
    async def __call__(self, text: str, /) -> NDArray[np.float32]: ...


def by_title(shelf: Shelf, title: str, k: int, offset: int) -> Articles:
    found = shelf.catalogue.nearest(title, offset + k + 1)
    listed = tuple(shelf.listed(number, score=score) for number, score in found[offset : offset + k])
    return Articles(listed, offset + k if len(found) > offset + k else None, "" if found else "no title is like that")


async def by_meaning(shelf: Shelf, embed: Embed, query: str, k: int, offset: int) -> Paragraphs:
    if not query.strip():
        raise ToolError("the query is empty", cure="say what to look for")
    looked_at = LOOKED_AT * (offset + k)
    try:
        if "vectors" in shelf.index.layers:
            chunks = shelf.index.vectors.search(await embed(query), looked_at)
        else:
            chunks = shelf.index.words.search(query, looked_at)
    except MissingLayer as error:
        raise ToolError(error.message, cure=error.cure) from None
    best: dict[str, float] = {}
    for id, score in chunks:
        best.setdefault(id.rsplit(":", 1)[0], round(score, 4))
    quotes, following = page(_first_parts(shelf, list(best.items())[: offset + k]), offset, k)
    more = following if following is not None else (offset + k if len(best) >= offset + k else None)
    return Paragraphs(quotes, more)


def _first_parts(shelf: Shelf, scored: Scored) -> Iterable[Quote]:
    """One quote a paragraph, so that an offset counts paragraphs; the window of a paragraph shows its other parts."""
    for id, score in scored:
        row = shelf.queries.paragraph(number_of(id), path_of(id))
        if row is not None:
            yield from list(shelf.quotes(number_of(id), [row], score))[:1]
