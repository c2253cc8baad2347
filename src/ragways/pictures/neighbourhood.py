"""An entity of the knowledge graph and what is around it, with the sentences that say so: as a value and as a page."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.core.text import counted, printable, shortened
from ragways.core.types import Piece
from ragways.index.open import Index
from ragways.layers.graph.names import coarse, fold
from ragways.layers.protocols import UNSTATED, Around, Graph, GraphEntity, Triplet
from ragways.pictures.shell import framed, page_file, shell

LIMIT = 300
"""Entities that a picture can hold and still be looked at."""
MAX_RELATIONS = 2000
LISTED = 60
"""Neighbours that are listed as text; a picture or plain data has all."""
_LONGEST_NAME = 200
_NEAREST = 5
_COMPARED = 200
_QUOTES = 3
_ALIASES = 8
_CHUNKS = 5
_CHARACTERS = 400
_ENDS = (".", "!", "?", "。", "！", "？", "।", "؟", "۔")
_CLOSING = " \n\"'”’)]»」』"
_VAGUE = frozenset(predicate.replace("_", " ") for predicate in UNSTATED)
"""Predicates that say little, named after those that say more."""


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence of a document, and the chunk it stands in."""

    text: str
    title: str
    chunk: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity `hop` steps from the centre, joined with this weight to those one step nearer, most to `through`.

    `count` is how often it is named, `chunks` in how many chunks; `kind` is a coarse form of its type.
    """

    id: str
    name: str
    type: str
    kind: str
    description: str
    aliases: tuple[str, ...]
    count: int
    chunks: int
    hop: int
    weight: float
    through: str
    quotes: tuple[QuotedSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """A relation between two of the entities, by their ids, and its source: its own description where that stands
    in the chunk, or else a sentence of it.
    """

    id: str
    source: str
    target: str
    predicate: str
    description: str
    weight: float
    date: str
    quote: QuotedSentence | None


@dataclass(frozen=True, slots=True)
class Namesake:
    """Another entity of the same name."""

    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True, repr=False)
class Neighbourhood:
    """An entity, those around it from the centre outwards and heaviest first, and the relations between them.

    `centre` is the id of the entity, which is the first of `nodes`. `reached` counts all entities within so many hops;
    where not all of them are here, `cut` says so. In a notebook it shows as a picture that can be moved and searched.
    """

    centre: str
    hops: int
    reached: int
    cut: str
    nodes: tuple[Neighbour, ...]
    edges: tuple[Connection, ...]
    namesakes: tuple[Namesake, ...] = ()

    def predicates(self) -> dict[frozenset[str], list[str]]:
        """The predicates of each joined pair, by its two ids: `built →` is read outwards, `← built` towards it."""
        lines: dict[frozenset[str], list[str]] = {}
        place = {node.id: number for number, node in enumerate(self.nodes)}
        named = [(edge, edge.predicate.replace("_", " ")) for edge in self.edges]
        for edge, predicate in sorted(named, key=lambda pair: pair[1] in _VAGUE):
            outwards = place[edge.source] < place[edge.target]
            text = f"{predicate} →" if outwards else f"← {predicate}"
            lines.setdefault(frozenset((edge.source, edge.target)), []).append(text)
        return lines

    def page(self) -> str:
        """One HTML file that needs nothing else; what is looked at can be moved, zoomed, searched and clicked."""
        return shell(
            f"{self.nodes[0].name}: neighbourhood",
            page_file("neighbourhood.html"),
            style=page_file("neighbourhood.css"),
            script=page_file("neighbourhood.js"),
            data={"data": to_plain(self)},
        )

    def _repr_html_(self) -> str:
        return framed(self.page(), title=f"{self.nodes[0].name}: neighbourhood")

    def __repr__(self) -> str:
        """The entity with sentences that name it, and its neighbours, a line each, indented by their distance."""
        first, *others = self.nodes
        joined = self.predicates()
        found = f"{counted(len(others), 'neighbour')}, {counted(len(self.edges), 'relation')}"
        lines = [f"{_named(first)}: {found} within {counted(self.hops, 'hop')}"]
        also = f"; also {', '.join(first.aliases[:_ALIASES])}" if first.aliases else ""
        lines.append(f"  {first.id}, named {counted(first.count, 'time')} in {counted(first.chunks, 'chunk')}{also}")
        lines += [f"  {first.description}"] if first.description else []
        lines += [f"  “{quote.text}”  {quote.title}, {quote.chunk}" for quote in first.quotes]
        for node in _as_tree(others[:LISTED], first.id):
            predicates = ", ".join(dict.fromkeys(joined.get(frozenset((node.through, node.id)), [])[:3]))
            lines.append("  " * node.hop + f"{predicates} {_named(node)}".strip())
        if len(others) > LISTED:
            lines.append(f"and {len(others) - LISTED:,} more: the picture has all (--html)")
        lines += [self.cut] if self.cut else []
        lines += [f"of the same name: {other.name} ({other.type or 'no type'}) {other.id}" for other in self.namesakes]
        return printable("\n".join(" ".join(line.rstrip().splitlines()) for line in lines))


def _named(node: Neighbour) -> str:
    name = " ".join(node.name.split())
    return f"{name} ({node.type})" if node.type else name


def _as_tree(nodes: Iterable[Neighbour], root: str) -> list[Neighbour]:
    """The nodes with each one's own neighbours right after it."""
    below: dict[str, list[Neighbour]] = {}
    for node in nodes:
        below.setdefault(node.through, []).append(node)
    order: list[Neighbour] = []
    pending = below.get(root, [])[::-1]
    while pending:
        order.append(pending.pop())
        pending += below.get(order[-1].id, [])[::-1]
    return order


def neighbourhood(index: Index, name: str, *, hops: int = 1, limit: int = LIMIT) -> Neighbourhood:
    """What is around the entity of this name or id, up to so many hops and entities.

    The nearest and heaviest stay, so that it is in one piece. Raises UsageError with the nearest names where no
    entity is called so, and MissingLayer where the index has no graph.
    """
    graph = index.graph
    entity, *others = find_entity(graph, name)
    found, reached = graph.around(entity, hops, limit)
    order = list(found)
    entities = graph.entities(order)
    stated = graph.triplets(order, MAX_RELATIONS, induced=True)
    quoting = _Quoting(index)
    nodes = tuple(_neighbour(entities[id], found[id], quoting.of_entity(graph, entities[id])) for id in order)
    edges = tuple(quoting.of_relations(graph, stated, entities))
    cut = _cut(len(nodes), reached, len(edges), graph.count_induced(order))
    namesakes = tuple(
        Namesake(each.id, each.name, each.type) for each in graph.entities(others, described=False).values()
    )
    return Neighbourhood(entity, hops, reached, cut, nodes, edges, namesakes)


def _cut(nodes: int, reached: int, edges: int, stated: int) -> str:
    """What is not shown, where something is not."""
    parts = []
    if reached > nodes:
        parts.append(f"the {nodes:,} nearest and heaviest of {reached:,} entities")
    if stated > edges:
        parts.append(f"the {edges:,} heaviest of {stated:,} relations")
    return f"Shown are {' and '.join(parts)}." if parts else ""


def _neighbour(entity: GraphEntity, around: Around, quotes: tuple[QuotedSentence, ...]) -> Neighbour:
    return Neighbour(
        entity.id,
        entity.name,
        entity.type,
        coarse(entity.type),
        entity.description,
        entity.aliases,
        entity.count,
        entity.chunks,
        *around,
        quotes,
    )


def connections(index: Index, triplets: Collection[Triplet]) -> tuple[Connection, ...]:
    """Relations, each with a sentence that states it."""
    ends = {end for triplet in triplets for end in (triplet.subject, triplet.object)}
    entities = index.graph.entities(ends, described=False)
    return tuple(_Quoting(index).of_relations(index.graph, triplets, entities))


def entity_quotes(index: Index, entity: GraphEntity) -> tuple[QuotedSentence, ...]:
    """Sentences that name an entity."""
    return _Quoting(index).of_entity(index.graph, entity)


class _Quoting:
    """Sentences of chunks; each chunk is read once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._read: dict[str, tuple[Piece, list[str]] | None] = {}

    def of_entity(self, graph: Graph, entity: GraphEntity) -> tuple[QuotedSentence, ...]:
        chunks = [chunk for chunk, _ in graph.mentions([entity.id], limit=_CHUNKS)]
        names = [[name.casefold()] for name in (entity.name, *entity.aliases)]
        return tuple(self._sentences(chunks, names)[:_QUOTES])

    def of_relations(
        self, graph: Graph, triplets: Collection[Triplet], entities: dict[str, GraphEntity]
    ) -> Iterable[Connection]:
        chunks = graph.relation_chunks([triplet.id for triplet in triplets])
        for triplet in triplets:
            ends = [entities[id].name.casefold() for id in (triplet.subject, triplet.object)]
            found = self._sentences(chunks.get(triplet.id, [])[:1], [ends, ends[:1], ends[1:]])
            quote = found[0] if found else None
            # A description can be put together from several chunks: then it is in none of them.
            if quote is not None and self._holds(quote.chunk, triplet.description):
                quote = QuotedSentence(triplet.description, quote.title, quote.chunk)
            yield Connection(
                triplet.id,
                triplet.subject,
                triplet.object,
                triplet.predicate,
                triplet.description,
                triplet.weight,
                triplet.date,
                quote,
            )

    def _sentences(self, chunks: Iterable[str], wanted: Iterable[Collection[str]]) -> list[QuotedSentence]:
        """Sentences that hold all of one set of names, those with earlier sets first; else the chunk's opening.

        Lines that are no sentences (of a table, of a box of facts) come last.
        """
        sets = list(wanted)
        found: list[tuple[int, QuotedSentence]] = []
        opening: list[QuotedSentence] = []
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

    def _holds(self, chunk: str, text: str) -> bool:
        read = self._chunk(chunk)
        return bool(text) and read is not None and text in " ".join(read[0].text.split())

    def _chunk(self, id: str) -> tuple[Piece, list[str]] | None:
        if id not in self._read:
            piece = self._index.pieces([id]).get(id)
            self._read[id] = None
            if piece is not None:
                spans = self._index.sentences(piece)
                texts = [piece.text[start - piece.start : end - piece.start] for start, end in spans]
                self._read[id] = piece, texts
        return self._read[id]


def _quote(text: str, piece: Piece) -> QuotedSentence:
    return QuotedSentence(shortened(text, _CHARACTERS), piece.title, piece.id)


# Which entity is meant


def find_entity(graph: Graph, text: str) -> list[str]:
    """Ids of the entities that are called so or have this id, the most probable first; at least one, or UsageError."""
    wanted = text.strip()[:_LONGEST_NAME]
    found = [wanted] if wanted in graph else graph.named(wanted)
    if not found:
        ids = [id for name in nearest_names(wanted, graph.names()) for id in graph.named(name, 1)]
        near = [entity.name for entity in graph.entities(ids, described=False).values()]
        cure = f"the nearest names are {printable(', '.join(near))}" if near else "the graph of this index is empty"
        raise UsageError(f"no entity is called {wanted!r}", cure)
    return found


def nearest_names(text: str, names: Iterable[str], limit: int = _NEAREST) -> list[str]:
    """Names most like a text, best first: by the pairs of letters they share, and the best of those by their order."""
    wanted = fold(text) or text.casefold()
    pairs = _pairs(wanted)

    def shared(name: str) -> float:
        own = _pairs(name.casefold())
        return 2 * len(pairs & own) / (len(pairs) + len(own) or 1)

    rough = heapq.nlargest(_COMPARED, ((shared(name), name) for name in names))
    alike = [(SequenceMatcher(None, wanted, fold(name)).ratio() + score, name) for score, name in rough]
    return [name for _, name in sorted(alike, key=lambda pair: (-pair[0], pair[1]))[:limit]]


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(max(1, len(text) - 1))}
