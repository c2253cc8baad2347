"""Rows of the graph as evidence: what entities lead to, and triplets and entities with their place in a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TypeVar

from ragways.core.types import Found, Hit, Hits, Piece, Query
from ragways.layers.protocols import GraphEntity, Triplet
from ragways.models.tokens import count_each
from ragways.retrieval.resources import Resources

Scores = tuple[tuple[str, float], ...]
"""Ids with scores, best first."""


@dataclass(frozen=True, slots=True)
class EntityScores:
    """For the trace: entities by id with their scores, best first, and what they are (`seeds`, `strongest`)."""

    label: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class GraphWalk:
    """For the trace: where a walk over the graph began, where it went, and the chunks it led to, by id with scores.

    `entities` are those that got the largest shares; None where the walk did not note them.
    """

    seeds: Scores
    entities: Scores | None
    passages: Scores


DESCRIPTION = 240
"""Characters of a description that are shown of a relation, and whose words count."""
SHOWN = 20
"""Entities and passages of a walk that the trace keeps."""


def rounded(scored: Iterable[tuple[str, float]]) -> Scores:
    """The first of a list of ids with scores, as the trace keeps them."""
    return tuple((id, round(score, 6)) for id, score in islice(scored, SHOWN))


T = TypeVar("T")

_TEMPORAL = re.compile(
    r"\b(when|year|date|month|century|decade|before|after|since|until|during|first|last|earlier|earliest|later|"
    r"latest|timeline|chronolog\w*|how long|1\d{3}|20\d{2})\b",
    re.IGNORECASE,
)


def temporal(question: str) -> bool:
    """Whether a question is about time, so that the order of events matters."""
    return bool(_TEMPORAL.search(question))


def by_date(question: str, items: Sequence[T], triplet: Callable[[T], Triplet]) -> list[T]:
    """For a question about time, what has a date first and in its order; else all as it is."""
    if not temporal(question):
        return list(items)
    return sorted(items, key=lambda item: (not triplet(item).date, triplet(item).date))


def said(triplet: Triplet) -> str:
    """`subject — predicate — object (date)`."""
    date = f" ({triplet.date})" if triplet.date else ""
    return f"{triplet.subject_name} — {triplet.predicate.replace('_', ' ')} — {triplet.object_name}{date}"


def triplet_pieces(use: Resources, triplets: Iterable[Triplet], *, described: int = DESCRIPTION) -> dict[str, Piece]:
    """Triplets as pieces, by id. Their place is the first chunk that states them."""
    rows = {triplet.id: triplet for triplet in triplets}
    places = {id: chunks[0] for id, chunks in use.index.graph.relation_chunks(rows, 1).items()}
    texts = {id: _with(said(rows[id]), rows[id].description, described) for id in rows}
    return _pieces(use, texts, places, {id: triplet.date for id, triplet in rows.items()})


def entity_pieces(use: Resources, entities: Iterable[GraphEntity], *, described: int = DESCRIPTION) -> dict[str, Piece]:
    """Entities as pieces, by id: `name — is — type: description`. Left out are those of which nothing
    is known, and dates and quantities, which no chunk is about.

    Their place is the chunk that says most of them: of their own article, if there is one.
    """
    rows = {entity.id: entity for entity in entities if entity.type or entity.description}
    graph = use.index.graph
    places = {id: chunks[0] for id in rows if (chunks := graph.naming(id, 1))}
    texts = {
        id: _with(f"{row.name} — is — {row.type}" if row.type else row.name, row.description, described)
        for id, row in rows.items()
    }
    return _pieces(use, texts, places, {})


def hits_of(
    query: Query, by: str, pieces: Mapping[str, Piece], order: Iterable[str], why: Callable[[str], tuple[float, str]]
) -> Hits:
    """Pieces in a given order: the score is 1 / place; score and note of their own are what `why` says."""
    known = dict.fromkeys(id for id in order if id in pieces)
    hits = (Hit(pieces[id], 1 / rank, (Found(by, rank, *why(id)),)) for rank, id in enumerate(known, start=1))
    return Hits(query, tuple(hits))


def in_turn(lists: Iterable[Sequence[T]]) -> list[T]:
    """The first of each list, then the second of each, and so on."""
    missing = object()
    rounds = zip_longest(*lists, fillvalue=missing)
    return [item for items in rounds for item in items if item is not missing]  # type: ignore[misc]


def cut(hits: Sequence[Hit], tokens: int) -> list[Hit]:
    """As many of the first as fit; ends at the first that does not, as `pack` does."""
    kept, used = [], 0
    for hit in hits:
        used += hit.piece.tokens
        if used > tokens:
            break
        kept.append(hit)
    return kept


def interleaved(query: Query, kinds: Iterable[Sequence[Hit]]) -> Hits:
    """Lists of different kinds as one, in turn; the score is 1 / place."""
    turns = enumerate(in_turn(kinds), start=1)
    return Hits(query, tuple(Hit(hit.piece, 1 / place, hit.found) for place, hit in turns))


def _pieces(
    use: Resources, texts: Mapping[str, str], places: Mapping[str, str], dates: Mapping[str, str]
) -> dict[str, Piece]:
    chunks = use.index.pieces(dict.fromkeys(places.values()))
    shown = [id for id in texts if places.get(id) in chunks]
    tokens = count_each([texts[id] for id in shown])
    pieces = {}
    for id, count in zip(shown, tokens, strict=True):
        at = chunks[places[id]]
        pieces[id] = Piece(
            id, "triplet", texts[id], at.document, at.title, at.start, at.end, count, dates.get(id) or at.date
        )
    return pieces


def _with(text: str, description: str, limit: int) -> str:
    """The text and the beginning of a description, cut at a word."""
    if not description or not limit:
        return text
    short = description if len(description) <= limit else f"{description[:limit].rsplit(' ', 1)[0]} …"
    return f"{text}: {short}"
