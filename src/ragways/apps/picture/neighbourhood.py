"""An entity and what is around it, with the sentences that say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ragways.core.types import Piece
from ragways.index.graph.names import coarse
from ragways.index.graph.reader import Graph, GraphEntity, Triplet
from ragways.index.reader import Index

MOST = 300
"""Entities that a picture can hold and still be looked at."""
MOST_RELATIONS = 2000
_QUOTES = 3
_CHUNKS = 5
_CHARACTERS = 400
_ENDS = (".", "!", "?", "。", "！", "？", "।", "؟", "۔")
_CLOSING = " \n\"'”’)]»」』"


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a document, and the chunk it stands in."""

    text: str
    title: str
    chunk: str


@dataclass(frozen=True, slots=True)
class Member:
    """An entity `hop` steps from the centre, joined with this weight to those one step nearer, most to `through`."""

    entity: GraphEntity
    hop: int
    weight: float
    through: str
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """A relation and where it is said: its own description, or a sentence of the chunk where it has none."""

    triplet: Triplet
    quote: Quote | None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Members from the centre outwards, heaviest first; `reached` entities in all, of which these are shown."""

    members: tuple[Member, ...]
    relations: tuple[Said, ...]
    hops: int
    reached: int
    stated: int

    @property
    def centre(self) -> GraphEntity:
        return self.members[0].entity

    @property
    def cut(self) -> str:
        """What is not shown, where something is not."""
        said = []
        if self.reached > len(self.members):
            said.append(f"the {len(self.members):,} nearest and heaviest of {self.reached:,} entities")
        if self.stated > len(self.relations):
            said.append(f"the {len(self.relations):,} heaviest of {self.stated:,} relations")
        return f"Shown are {' and '.join(said)}." if said else ""

    def data(self) -> dict[str, Any]:
        """Plain data; relations name entities by id."""
        return {
            "centre": self.centre.id,
            "hops": self.hops,
            "reached": self.reached,
            "cut": self.cut,
            "nodes": [_node(member) for member in self.members],
            "edges": [_edge(said) for said in self.relations],
        }


def gather(index: Index, graph: Graph, entity: str, *, hops: int = 1, most: int = MOST) -> Neighbourhood:
    """The neighbourhood of the entity of this id. The nearest and heaviest are kept, so it stays in one piece."""
    around = _around(graph, entity, hops)
    order = sorted(around, key=lambda id: (around[id][0], -around[id][1], id))[:most]
    entities = graph.entities(order)
    # An induced graph of so few nodes fits in memory, and its size is worth saying.
    stated = graph.induced(order, limit=10**9)
    quoting = _Quoting(index)
    members = tuple(Member(entities[id], *around[id], quoting.of_entity(graph, entities[id])) for id in order)
    relations = tuple(quoting.of_relations(graph, stated[:MOST_RELATIONS], entities))
    return Neighbourhood(members, relations, hops, len(around), len(stated))


def _around(graph: Graph, entity: str, hops: int) -> dict[str, tuple[int, float, str]]:
    """Hop, weight and nearest neighbour inwards of every entity within so many hops."""
    found: dict[int, tuple[int, float, int]] = {graph.ordinals[entity]: (0, 0.0, -1)}
    border: Collection[int] = list(found)
    for hop in range(1, hops + 1):
        weights: dict[int, float] = {}
        best: dict[int, tuple[float, int]] = {}
        for here in border:
            nodes, values = graph.adjacency.neighbours(here)
            for node, weight in zip(nodes.tolist(), values.tolist(), strict=True):
                if node not in found:
                    weights[node] = weights.get(node, 0.0) + weight
                    best[node] = max(best.get(node, (0.0, here)), (weight, here))
        found |= {node: (hop, weight, best[node][1]) for node, weight in weights.items()}
        border = weights
    ids = graph.ids
    return {ids[n]: (hop, weight, ids[by] if by >= 0 else "") for n, (hop, weight, by) in found.items()}


class _Quoting:
    """Sentences of chunks; each chunk is read once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._read: dict[str, tuple[Piece, list[str]] | None] = {}

    def of_entity(self, graph: Graph, entity: GraphEntity) -> tuple[Quote, ...]:
        chunks = [chunk for chunk, _ in graph.mentions([entity.id], limit=_CHUNKS)]
        names = [[name.casefold()] for name in (entity.name, *entity.aliases)]
        return tuple(self._sentences(chunks, names)[:_QUOTES])

    def of_relations(
        self, graph: Graph, triplets: Collection[Triplet], entities: dict[str, GraphEntity]
    ) -> Iterable[Said]:
        chunks = graph.relation_chunks([triplet.id for triplet in triplets])
        for triplet in triplets:
            ends = [entities[id].name.casefold() for id in (triplet.subject, triplet.object)]
            found = self._sentences(chunks.get(triplet.id, [])[:1], [ends, ends[:1], ends[1:]])
            quote = found[0] if found else None
            if quote is not None and triplet.description:
                quote = Quote(triplet.description, quote.title, quote.chunk)
            yield Said(triplet, quote)

    def _sentences(self, chunks: Iterable[str], wanted: Iterable[Collection[str]]) -> list[Quote]:
        """Sentences that hold all of one set of names, those with earlier sets first; else the chunk's opening.

        Lines that are no sentences (of a table, of a box of facts) come last.
        """
        sets = list(wanted)
        found: list[tuple[int, Quote]] = []
        opening: list[Quote] = []
        for chunk in chunks:
            read = self._chunk(chunk)
            if read is None:
                continue
            piece, sentences = read
            for sentence in sentences:
                folded = sentence.casefold()
                rank = next((n for n, names in enumerate(sets) if all(name in folded for name in names)), None)
                if rank is not None:
                    plain = sentence.rstrip(_CLOSING).endswith(_ENDS)
                    found.append((rank + (0 if plain else len(sets)), _quote(sentence, piece)))
            opening.append(_quote(piece.text, piece))
        found.sort(key=lambda pair: pair[0])
        return [quote for _, quote in found] or opening[:1]

    def _chunk(self, id: str) -> tuple[Piece, list[str]] | None:
        if id not in self._read:
            piece = self._index.pieces([id]).get(id)
            self._read[id] = None
            if piece is not None:
                spans = self._index.sentences(piece)
                texts = [piece.text[start - piece.start : end - piece.start] for start, end in spans]
                self._read[id] = piece, texts
        return self._read[id]


def _quote(text: str, piece: Piece) -> Quote:
    flat = " ".join(text.split())
    return Quote(flat if len(flat) <= _CHARACTERS else flat[: _CHARACTERS - 1] + "…", piece.title, piece.id)


def _node(member: Member) -> dict[str, Any]:
    entity = member.entity
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "kind": coarse(entity.type),
        "description": entity.description,
        "aliases": list(entity.aliases),
        "count": entity.count,
        "chunks": entity.chunks,
        "hop": member.hop,
        "weight": member.weight,
        "through": member.through,
        "quotes": [_quoted(quote) for quote in member.quotes],
    }


def _edge(said: Said) -> dict[str, Any]:
    triplet = said.triplet
    return {
        "id": triplet.id,
        "source": triplet.subject,
        "target": triplet.object,
        "predicate": triplet.predicate,
        "description": triplet.description,
        "weight": triplet.weight,
        "date": triplet.date,
        "quote": _quoted(said.quote) if said.quote is not None else None,
    }


def _quoted(quote: Quote) -> dict[str, str]:
    return {"text": quote.text, "title": quote.title, "chunk": quote.chunk}
