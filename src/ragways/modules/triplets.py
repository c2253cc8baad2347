"""Rows of the graph as evidence: triplets and entities, each with its place in a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

from ragways.core.brief import traced
from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, Query
from ragways.index.graph.reader import GraphEntity, Triplet
from ragways.index.graph.relations import DESCRIPTION
from ragways.index.words import terms
from ragways.models.tokens import count_each
from ragways.modules.bonds import naming
from ragways.modules.link import look_up, question_names
from ragways.modules.resources import Resources

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
    graph = use.index.graph
    numbers = graph.relation_arrays.numbers(list(rows))
    begin, end = graph.relation_arrays.stated[numbers].tolist(), graph.relation_arrays.stated[numbers + 1].tolist()
    places = {
        id: graph.chunks[graph.relation_arrays.stating[low]]
        for id, low, high in zip(rows, begin, end, strict=True)
        if low < high
    }
    texts = {id: _with(said(rows[id]), rows[id].description, described) for id in rows}
    return _pieces(use, texts, places, {id: triplet.date for id, triplet in rows.items()})


def entity_pieces(use: Resources, entities: Iterable[GraphEntity], *, described: int = DESCRIPTION) -> dict[str, Piece]:
    """Entities as pieces, by id: `name — is — type: description`. Left out are those of which nothing
    is known, and dates and quantities, which no chunk is about.

    Their place is the chunk that says most of them: of their own article, if there is one.
    """
    rows = {entity.id: entity for entity in entities if entity.type or entity.description}
    graph = use.index.graph
    places = {id: graph.chunks[chunks[0]] for id in rows if (chunks := naming(graph, id, 1))}
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


def edges(use: Resources, *, k: int = 50, entities: int = 5, limit: int = 500) -> Step[Query, Hits]:
    """The triplets of the entities that the question names, looked up by name, alias or full text.

    An entity may have thousands: of the `limit` heaviest, those come first that join two named entities, then those
    that share most words with the question besides the names, then the heaviest.
    """

    @traced
    async def run(query: Query) -> Hits:
        graph = use.index.graph
        names = await question_names(use, query.text)
        how = {id: f"{name} by {way}" for name in reversed(names) for id, way in look_up(graph, name, entities)}
        known = graph.entities(how)
        asked = set(terms(query.text)) - {term for row in known.values() for term in terms(row.name)}
        found = graph.triplets(known, limit) if known else []
        shared = {t.id: len(asked & set(terms(f"{said(t)} {t.description}"))) for t in found}
        joined = {t.id: (t.subject in known) + (t.object in known) for t in found}
        found.sort(key=lambda t: (-joined[t.id], -shared[t.id], -t.weight, t.id))
        best = {t.id: t for t in by_date(query.text, found[:k], lambda t: t)}
        current_span().details.update(names=names, entities=sorted(how), found=len(best))

        def why(id: str) -> tuple[float, str]:
            ends = [how[end] for end in dict.fromkeys((best[id].subject, best[id].object)) if end in how]
            return float(joined[id] + shared[id]), " and ".join(ends)

        return hits_of(query, "kg", triplet_pieces(use, best.values()), best, why)

    return Step("edges", run, k=k, entities=entities, limit=limit)


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


def _with(text: str, description: str, most: int) -> str:
    """The text and the beginning of a description, cut at a word."""
    if not description or not most:
        return text
    short = description if len(description) <= most else f"{description[:most].rsplit(' ', 1)[0]} …"
    return f"{text}: {short}"
