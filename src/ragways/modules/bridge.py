"""From passage to passage, through an entity that the first one names beside words of the question.

A question of two steps ("where was the director of … born?") names the film; the film's passage says `directed by` and
then the name that the question does not know. Links of a passage are taken in that order: first those whose
surroundings hold most of what the question asks, then those that come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragways.core.types import Piece
from ragways.index.graph.names import split_title
from ragways.modules.fusion_cover import Cover

if TYPE_CHECKING:
    from ragways.index.graph.reader import Graph, GraphEntity

BEFORE, AFTER = 120, 40
"""Characters around a name in which words of the question are looked for. What it is usually stands before it."""
SHARED = 12
"""An entity without an article of its own that more passages name than this joins none of them."""
LONG = 24
"""Passages of one entity's own article that a bridge leads to, the first ones: a book is no bridge."""
_ALIASES = 8


@dataclass(frozen=True, slots=True)
class Bridge:
    """`source` names `entity`, and `target` is about it (`own`) or names it too. `place`: among the source's links to
    articles, from 0.
    """

    source: str
    target: str
    entity: str
    place: int
    own: bool


def bridges(graph: Graph, cover: Cover, sources: Sequence[Piece]) -> list[Bridge]:
    """All bridges from these passages to others."""
    near = {piece.id: _neighbours(graph, piece.id) for piece in sources}
    known = graph.entities({graph.ids[node] for found in near.values() for node in found})
    return [bridge for piece in sources for bridge in _from(graph, cover, piece, near[piece.id], known)]


def _neighbours(graph: Graph, chunk: str) -> dict[int, list[tuple[str, bool]]]:
    """The entities that a passage names, its own aside, each with the other passages it leads to."""
    from ragways.index.graph.tables import ABOUT

    least = ABOUT + 1  # what the first mention in an entity's own article weighs
    place = graph.places.get(chunk)
    if place is None:
        return {}
    found = {}
    for node, weight in zip(*(part.tolist() for part in graph.passages.neighbours(place)), strict=True):
        if weight >= least:
            continue
        chunks, weights = graph.passages.neighbours(node)
        if len(chunks) > SHARED:
            own = weights >= least
            chunks, weights = chunks[own][:LONG], weights[own][:LONG]
        others = [
            (graph.chunks[other - len(graph.ids)], about >= least)
            for other, about in zip(chunks.tolist(), weights.tolist(), strict=True)
            if other != place
        ]
        if others:
            found[node] = others
    return found


def _from(
    graph: Graph, cover: Cover, piece: Piece, near: dict[int, list[tuple[str, bool]]], known: dict[str, GraphEntity]
) -> Iterator[Bridge]:
    # The passage's own name stands everywhere in it and tells nothing.
    titled, weights = cover.of(piece.title), cover.weights.tolist()
    wanted = [0.0 if held else weight for held, weight in zip(titled, weights, strict=True)]
    links = []
    for node in near:
        entity = known[graph.ids[node]]
        span = _span(piece.text, entity)
        if span is not None:
            start, end = span
            around = f"{piece.text[max(0, start - BEFORE) : start]} {piece.text[end : end + AFTER]}"
            held = zip(wanted, cover.of(around), cover.of(entity.name), strict=True)
            share = sum(weight for weight, here, named in held if here and not named)
            links.append((-share, start, entity.id, node, entity.name))
    place = 0
    for _, _, _, node, name in sorted(links):
        for target, own in near[node]:
            yield Bridge(piece.id, target, name, place, own)
        place += any(own for _, own in near[node])


def _span(text: str, entity: GraphEntity) -> tuple[int, int] | None:
    """Where a text first names an entity."""
    found = [
        (start, start + len(name))
        for name in (entity.name, split_title(entity.name)[0], *entity.aliases[:_ALIASES])
        if name and (start := text.find(name)) >= 0
    ]
    return min(found, default=None)
