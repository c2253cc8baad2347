"""Entities and relations of the graph as evidence, the entities that a question is about, and the paradigm kg."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, TypeVar

from ragways.core.step import Step, fuse
from ragways.core.text import counted
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, Query
from ragways.layers.graph.names import fold
from ragways.layers.layer import Scored
from ragways.layers.protocols import Graph, GraphEntity, Triplet
from ragways.layers.words import terms
from ragways.models.tokens import count_each
from ragways.retrieval.answer import answer
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import dense, pack
from ragways.tasks.search import QUESTION_ENTITIES, QuestionEntitiesInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


def triplet_pieces(use: Resources, triplets: Iterable[Triplet], *, described: int = DESCRIPTION) -> dict[str, Piece]:
    """Triplets as pieces, by id: `A died in B (2005): sentence`. Their place is the first chunk that states them."""
    rows = {triplet.id: triplet for triplet in triplets}
    places = {id: chunks[0] for id, chunks in use.index.graph.relation_chunks(rows, 1).items()}
    texts = {id: _with(rows[id].text, rows[id].description, described) for id in rows}
    return _pieces(use, texts, places, {id: triplet.date for id, triplet in rows.items()})


def entity_pieces(use: Resources, entities: Iterable[GraphEntity], *, described: int = DESCRIPTION) -> dict[str, Piece]:
    """Entities as pieces, by id: `name — is — type: description`. Dates, quantities and entities without type and
    description are left out.

    Their place is the chunk that names them most, of their own article if there is one.
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
    """Pieces in a given order: the score is 1 / place; `why` gives the score and note of each retriever."""
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
    fitting, used = [], 0
    for hit in hits:
        used += hit.piece.tokens
        if used > tokens:
            break
        fitting.append(hit)
    return fitting


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


_NEARBY = 5
"""Passages whose entities a walk starts from where the question names none."""


@dataclass(frozen=True)
class Likeness:
    """How alike entities of the graph are to some names: the best cosine of any; 1 for an entity of that very name.
    `vectors` are those of the names, None where entities have none.
    """

    graph: Graph
    names: tuple[str, ...]
    vectors: NDArray[np.float32] | None

    @cached_property
    def exact(self) -> dict[str, float]:
        """Entities called so, each 1; where they have no vectors, those whose names hold its words as well."""
        found: dict[str, float] = {}
        for name in self.names:
            found |= dict.fromkeys(self.graph.named(name), 1.0)
            if self.vectors is None:
                found |= {id: max(score, found.get(id, 0.0)) for id, score in matching(self.graph, name)}
        return found

    def nearest(self, k: int, minimum: float) -> Scored:
        """The k nearest entities of each name that are more than `minimum` alike. Seen twice, the best score counts."""
        found = dict(self.exact)
        for vector in self.vectors if self.vectors is not None else ():
            for id, score in self.graph.nearest(vector, k, minimum):
                if score > minimum:
                    found[id] = max(score, found.get(id, score))
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def of(self, ids: Collection[str]) -> dict[str, float]:
        """The likeness of these entities; 0 for one that has no vector and another name."""
        known = {id: self.exact.get(id, 0.0) for id in ids}
        for vector in self.vectors if self.vectors is not None else ():
            for id, score in self.graph.cosines(vector, ids).items():
                known[id] = max(known[id], score)
        return known


@dataclass(frozen=True)
class Seeds:
    """The entities to start from, best first, and the names that led to them."""

    query: Query
    likeness: Likeness
    nodes: Scored

    @property
    def brief(self) -> str:
        return f"{counted(len(self.nodes), 'seed')} from {', '.join(self.likeness.names)}"


async def likeness(use: Resources, names: Sequence[str]) -> Likeness:
    """How alike entities are to these names: by name, and by meaning where the graph has vectors of entities."""
    graph = use.index.graph
    return Likeness(graph, tuple(names), await use.embed(names) if graph.has_vectors else None)


async def entities_nearby(use: Resources, question: str, limit: int, minimum: float) -> Scored:
    """Where a question names nothing that the graph knows: entities of the passages nearest it, by their cosines."""
    if "vectors" not in use.index.layers:
        return []
    scores: dict[str, float] = {}
    for chunk, cosine in use.index.vectors.search(await use.embed_question(question), _NEARBY, minimum=minimum):
        for id, _ in use.index.graph.mentioned([chunk], limit):
            scores[id] = max(scores.get(id, 0.0), cosine)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def known_names(graph: Graph, text: str) -> list[str]:
    """The names in a text that the graph knows, each once, in order."""
    return list(dict.fromkeys(text[named.start : named.end] for named in graph.in_question(text)))


async def question_names(use: Resources, question: str) -> list[str]:
    """The entities that a question names."""
    graph = use.index.graph
    given = QuestionEntitiesInput(question, names=lambda text: known_names(graph, text))
    outcome = await use.model.do(QUESTION_ENTITIES, given, rule_if_unusable=True)
    return list(dict.fromkeys(name.strip() for name in outcome.value.entities if name.strip()))


def link_entities(use: Resources, *, near: int = 20, minimum: float = 0.4, limit: int = 20) -> Step[Query, Seeds]:
    """The graph's entities nearest those of the question: `near` of each, `limit` in all, the best. A question that
    names none stands for itself.
    """

    async def run(query: Query) -> Seeds:
        alike = await likeness(use, await question_names(use, query.text) or [query.text])
        seeds = alike.nearest(near, minimum)[:limit] or await entities_nearby(use, query.text, limit, minimum)
        here = current_span()
        here.details["names"] = alike.names
        here.attachments.append(EntityScores("seeds", rounded(seeds)))
        return Seeds(query, alike, seeds)

    return Step("link entities", run, near=near, minimum=minimum, limit=limit)


def look_up(graph: Graph, name: str, limit: int = 5) -> list[tuple[str, str]]:
    """Entities by name, and how each was found: called so (by name or alias), else by words of its names."""
    exact = [(id, "name") for id in graph.named(name, limit)]
    return exact or [(id, "full text") for id, _ in matching(graph, name, limit)]


def matching(graph: Graph, name: str, limit: int = 5) -> Scored:
    """Entities with a name or alias that holds all words of this one; the score is the share of it that they are."""
    return graph.matching(fold(name).split(), limit)


def edges(
    use: Resources, *, k: int = 50, entities: int = 5, limit: int = 500, described: int = DESCRIPTION
) -> Step[Query, Hits]:
    """The triplets of the entities that the question names, looked up by name, alias or full text.

    An entity may have thousands: of the `limit` heaviest, those come first that join two named entities, then those
    that share most words with the question besides the names, then the heaviest. `described`: characters of a
    relation's description that are shown.
    """

    async def run(query: Query) -> Hits:
        graph = use.index.graph
        names = await question_names(use, query.text)
        how = {id: f"{name} by {way}" for name in reversed(names) for id, way in look_up(graph, name, entities)}
        known = graph.entities(how, described=False)
        wanted = set(terms(query.text)) - {term for row in known.values() for term in terms(row.name)}
        found = graph.triplets(known, limit) if known else []
        shared = {t.id: len(wanted & set(terms(f"{t.text} {t.description}"))) for t in found}
        joined = {t.id: (t.subject in known) + (t.object in known) for t in found}
        found.sort(key=lambda t: (-joined[t.id], -shared[t.id], -t.weight, t.id))
        best = {t.id: t for t in by_date(query.text, found[:k], lambda t: t)}
        current_span().details.update(names=names, entities=sorted(how), found=len(best))

        def why(id: str) -> tuple[float, str]:
            ends = [how[end] for end in dict.fromkeys((best[id].subject, best[id].object)) if end in how]
            return float(joined[id] + shared[id]), " and ".join(ends)

        return hits_of(query, "kg", triplet_pieces(use, best.values(), described=described), best, why)

    return Step("edges", run, k=k, entities=entities, limit=limit)


def build_kg(
    use: Resources,
    *,
    k: Count = 10,
    triplets: Count = 50,
    entities: Count = 5,
    described: Tokens = DESCRIPTION,
    tokens: Tokens = 8000,
) -> Strategy:
    # Triplets and chunks have no id in common, so joining them by rank lets them alternate.
    both = fuse(edges(use, k=triplets, entities=entities, described=described), dense(use, k=k))
    return both >> pack(use, tokens) >> answer(use, "facts")


KG = Paradigm(
    name="kg",
    summary="The triplets of the entities that the question names, beside the chunks nearest by meaning.",
    source="T",
    needs=frozenset({"vectors", "graph"}),
    build=build_kg,
)
