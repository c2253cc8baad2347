"""What an opened index offers to paradigms, tools, pictures and evaluations, whatever engine stands behind it.

Things are named by ids, windows and sentences by numbers that mean something to the engine alone. Lists are bounded and
best first; equal ones stand in an order of the engine that is the same each time. `Scored` are ids with scores. The
folder's engine is `StoredGraph` and so on; tests/layers/test_protocols.py is the contract.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.core.types import Document, Markup, Origin, Piece
    from ragways.layers.communities.read import Community
    from ragways.layers.communities.report import CommunityReport
    from ragways.layers.graph.names import NameMatch
    from ragways.layers.layer import Scored
    from ragways.layers.windows.themes import DocumentThemes

    Vector = NDArray[np.float32]
    Points = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

LIMIT = 500
"""Rows of one answer of a graph, unless more or fewer are asked for."""


class Documents(Protocol):
    """Documents and their parts; whole documents by an id, a key or a title."""

    def documents(self) -> list[tuple[str, str, str]]:
        """Id, key and title of every document, by key."""
        ...

    def document(self, id: str) -> Document | None: ...

    def place(self, id: str) -> tuple[Document, int, int] | None:
        """The document that an id belongs to, and where in its text the part lies."""
        ...

    def pieces(self, ids: Iterable[str]) -> dict[str, Piece]:
        """Chunks by id; one that is gone, or may mean another text by now, is left out."""
        ...

    def text(self, document: str, start: int, end: int) -> str: ...

    def markup(self, piece: Piece) -> tuple[Markup, ...]:
        """Return what of a piece was code, a list, a table or a link before its text was made plain."""
        ...

    def shown(self, piece: Piece, *, escape: bool = False) -> str:
        """Render a piece as Markdown, as it stood in its document: code, lists, tables and links. A text that stands in
        no document stays as it is. `escape`: signs of its plain text that Markdown would take for its own are escaped.
        """
        ...

    def sentences(self, piece: Piece) -> list[tuple[int, int]]:
        """Offsets of the sentences that lie in a piece, cut at its borders; none where it stands in no document."""
        ...

    def keys(self, documents: Iterable[str]) -> dict[str, str]:
        """Keys of these documents, by id; one that is gone is left out."""
        ...

    def origins(self, spans: Sequence[tuple[str, int, int]]) -> list[Origin]:
        """Where stretches of documents (id, start, end) are from; an empty one for what stands in no document."""
        ...

    def named(self, column: Literal["key", "source", "name"], value: str) -> dict[str, str]:
        """Keys of the documents of this key, source file or title (as `title_name` makes it), by id."""
        ...

    def titled(self, names: Iterable[str]) -> set[str]:
        """Which of these names (as `title_name` makes them) are titles of documents."""
        ...

    def metadata_values(self, field: str, limit: int) -> list[str]:
        """What documents have in a field of their metadata, each value once; not more than `limit` of them."""
        ...

    def article(self, number: int) -> tuple[str, str, str]:
        """Title, text and date of a document by its number."""
        ...

    def paragraph_tokens(self, number: int) -> dict[str, int]:
        """How many tokens the chunks of each paragraph of a document have, by its path."""
        ...

    @property
    def articles(self) -> ArticleLookup: ...


PartRow = tuple[int, str, int, int]
"""Ordinal, path, start and end of a part of a document."""


class ArticleLookup(Protocol):
    """Articles by title, their parts and their links. Articles go by number; names are titles as `title_name` makes
    them. A redirect is a name without an article.
    """

    def title(self, number: int) -> str | None: ...

    def any_links(self) -> bool:
        """Whether any document has links."""
        ...

    def articles_named(self, names: Iterable[str]) -> dict[str, int]:
        """The first article of each of these names that has one."""
        ...

    def redirects_named(self, names: Iterable[str]) -> dict[str, str]:
        """The name that the last redirect of each of these names leads to."""
        ...

    def beginning(self, name: str, limit: int) -> list[str]:
        """Names that begin so, in order; one that several documents have may stand several times."""
        ...

    def leading(self, name: str, limit: int) -> list[tuple[str, str]]:
        """Names and titles of redirects to a name."""
        ...

    def like(self, text: str, limit: int) -> list[tuple[str, str]]:
        """Names that share letters with a text, and their letters: those that share the most first."""
        ...

    def around(self, number: int) -> list[tuple[int, str]]:
        """Number and title of the two articles before a number, and of the two from it on."""
        ...

    def listing(self, limit: int, offset: int) -> list[tuple[int, str, str, str]]:
        """Number, key, title and format of articles."""
        ...

    def found(
        self, words: str, limit: int, offset: int
    ) -> tuple[list[tuple[int, str, str, str, int, dict[str, str]]], int]:
        """Number, key, title, format, length and metadata of articles, by key, and how many there are in all. With
        words, only of those whose title or key has them.
        """
        ...

    def paragraphs(self, document: int) -> list[PartRow]: ...

    def paragraphs_in(self, document: int, start: int, end: int) -> list[PartRow]: ...

    def paragraphs_near(self, document: int, first: int, last: int) -> list[PartRow]:
        """Those from one ordinal to another."""
        ...

    def paragraph(self, document: int, path: str) -> PartRow | None: ...

    def paragraph_at(self, document: int, place: int) -> PartRow | None:
        """The paragraph that a place of the text lies in, or the next one."""
        ...

    def sections(self, document: int) -> list[tuple[int, str, int, int, str, int]]:
        """Ordinal, path, start, end, title and level."""
        ...

    def infoboxes(self, document: int) -> list[tuple[int, str, list[tuple[str, str]]]]:
        """Start, kind and fields."""
        ...

    def text_without_links(self, number: int) -> str | None:
        """The text of an article that has no links."""
        ...

    def links_of(self, document: int, limit: int) -> list[tuple[int, str]]:
        """Place and name of the first links of a document."""
        ...

    def links_to(self, name: str) -> Iterator[tuple[int, int]]:
        """Document and place of the links to a name, by document; read as far as they are needed."""
        ...

    def linking(self, name: str) -> Iterator[int]:
        """Documents that link to a name, read as far as they are needed."""
        ...

    def links_named(self, name: str) -> list[tuple[int, int, int]]:
        """Document, start and end of the links to a name, whether it has an article or not."""
        ...


class Words(Protocol):
    """BM25 over chunks with their titles."""

    def __len__(self) -> int: ...

    def search(self, question: str, k: int) -> Scored:
        """The k best chunks that hold any word of the question."""
        ...

    def holding(self, words: Sequence[str]) -> Ints:
        """Numbers of the documents in whose chunks all of these words stand, as `terms` gives them."""
        ...


class Vectors(Protocol):
    """Vectors of chunks."""

    def __len__(self) -> int: ...

    def search(self, vector: Vector, k: int, *, minimum: float = -1.0) -> Scored:
        """The k nearest by cosine that are at least `minimum` similar."""
        ...

    def cosines(self, vector: Vector, ids: Collection[str]) -> dict[str, float]:
        """How near each of these is to a vector; one that has none itself is left out."""
        ...

    def sizes(self, documents: Iterable[str]) -> dict[str, int]:
        """How many chunks each of these documents has; one that has none is left out."""
        ...

    def nearest_to(self, id: str, k: int) -> Scored:
        """The k chunks nearest a chunk, itself the first; none where it has no vector."""
        ...

    def openings(self, vector: Vector, k: int) -> Scored:
        """The k documents whose first chunks are nearest a vector; none below 0."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """All chunks."""
        ...


# The graph


@dataclass(frozen=True, slots=True)
class GraphEntity:
    """An entity; `count` is how often it is named, `chunks` in how many chunks."""

    id: str
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    chunks: int
    way: str


@dataclass(frozen=True, slots=True)
class Triplet:
    """A relation with the names of its ends."""

    id: str
    subject: str
    subject_name: str
    predicate: str
    object: str
    object_name: str
    description: str
    weight: float
    date: str
    way: str

    @property
    def text(self) -> str:
        dated = f" ({self.date})" if self.date else ""
        return f"{self.subject_name} {self.predicate.replace('_', ' ')} {self.object_name}{dated}"


UNSTATED = frozenset({"named_with", "links_to", "has_row", "related_to"})
"""Predicates of things that only stand together. `related_to` is what a model or a file writes for it."""


class Edge(NamedTuple):
    """A relation without its texts: ids, and its weight."""

    id: str
    subject: str
    object: str
    weight: float


class RankedEdge(NamedTuple):
    """A relation by the likeness and the share of its ends: the larger likeness, and both shares."""

    id: str
    likeness: float
    share: float


class SourceChunk(NamedTuple):
    """A chunk, the sum of the scores of what it states and names, and the place of the first relation it states."""

    chunk: str
    score: float
    relation: int


class Leading(NamedTuple):
    """A chunk that an entity leads to from another chunk, and whether it is of the entity's own article."""

    chunk: str
    own: bool


class Around(NamedTuple):
    """How an entity is near another: so many hops away, joined so heavily, by way of this one."""

    hop: int
    weight: float
    through: str


def sureness(seeds: Mapping[str, float]) -> float:
    """How much a walk from these entities tells: 1 where a single passage names one of them, little from hubs alone."""
    return math.sqrt(min(1.0, max(seeds.values(), default=0.0)))


class Graph(Protocol):
    """Entities, the relations between them, and the chunks that name and state them."""

    def __contains__(self, id: object) -> bool:
        """Whether there is such an entity."""
        ...

    def entities(self, ids: Collection[str], *, described: bool = True) -> dict[str, GraphEntity]:
        """Entities by id; an id that is not there is left out. Who shows no descriptions may have them without."""
        ...

    def entity_at(self, number: int) -> str:
        """The id of an entity by its number, from 0 on; `counts` says how many there are."""
        ...

    def named(self, text: str, limit: int = 20) -> list[str]:
        """Entities called so, by name or alias after normalising: own names first, then the most often named."""
        ...

    def beginning(self, text: str, limit: int = 20) -> list[str]:
        """Entities with a name or alias that begins so, as names are compared: the most often named first."""
        ...

    def matching(self, words: Collection[str], limit: int = 5) -> Scored:
        """Entities with a name or alias that holds all of these words; the score is the share of it that they are."""
        ...

    def in_question(self, question: str, limit: int = 50) -> list[NameMatch]:
        """Names of entities in a text: the longest from the left, none inside another."""
        ...

    @property
    def has_vectors(self) -> bool:
        """Whether entities have vectors."""
        ...

    def nearest(self, vector: Vector, k: int = 20, minimum: float = 0.4) -> Scored:
        """The entities nearest a vector by cosine; none where the index has no vectors of them."""
        ...

    def cosines(self, vector: Vector, ids: Collection[str]) -> dict[str, float]:
        """How near each of these entities is to a vector; one that has no vector is left out."""
        ...

    @property
    def has_relation_vectors(self) -> bool:
        """Whether relations have vectors."""
        ...

    def nearest_relations(self, vector: Vector, k: int = 20, minimum: float = 0.4) -> Scored:
        """The relations nearest a vector by cosine; none where the index has no vectors of them."""
        ...

    def question_seeds(self, question: str) -> dict[str, float]:
        """Entities that the question names. One that few passages name says more about where to look than one of
        many.
        """
        ...

    def question_names(self, question: str) -> tuple[NameMatch, ...]:
        """Where the question names entities, and which may be meant."""
        ...

    def triplets(self, ids: Collection[str], limit: int = LIMIT, *, induced: bool = False) -> list[Triplet]:
        """Relations that touch any of these entities, or, `induced`, that have both ends among them: heaviest first."""
        ...

    def count_induced(self, ids: Collection[str]) -> int:
        """How many relations have both ends among these entities."""
        ...

    def edges(self, ids: Collection[str], limit: int = LIMIT, *, induced: bool = False) -> list[Edge]:
        """As `triplets`, without texts."""
        ...

    def relations(self, ids: Collection[str], *, described: bool = True) -> dict[str, Triplet]:
        """Relations by id. Who shows no descriptions may have them without."""
        ...

    def relations_at(self, numbers: Collection[int], *, described: bool = True) -> dict[int, Triplet]:
        """Relations by number, from 0 on; `counts` says how many there are."""
        ...

    def neighbours(self, id: str, limit: int = LIMIT) -> list[tuple[str, float]]:
        """Entities joined to this one by any relation, with the weight of all that join them: heaviest first."""
        ...

    def degrees(self, ids: Collection[str]) -> dict[str, int]:
        """How many others each of these entities is joined to."""
        ...

    def hops(self, groups: Sequence[Collection[str]]) -> list[int]:
        """Of each pair of groups of entities, in order, the least number of relations from one to the other, 3 at
        most.
        """
        ...

    def paths(self, start: str, end: str, limit: int = 5) -> list[list[str]] | None:
        """The shortest ways from one entity to another, the heaviest first; None where one of them is not there."""
        ...

    def around(self, id: str, hops: int, limit: int) -> tuple[dict[str, Around], int]:
        """Entities within so many hops, nearest and heaviest first, up to a limit, this one first; and how many there
        are in all.
        """
        ...

    def most_connected(self, count: int) -> list[tuple[str, int]]:
        """The entities that are joined to the most others, and to how many. An entity has no more neighbours than
        edges, so those with the most edges are counted until no other can have more.
        """
        ...

    def heaviest_links(self, ids: Sequence[str], limit: int) -> tuple[Ints, Ints, Floats]:
        """What joins these entities, by their places in the list: the heaviest, each with the weight of all relations
        between the two.
        """
        ...

    @property
    def walks_exactly(self) -> bool:
        """Whether `walk` finds all shares exactly: in a small graph."""
        ...

    def walk(
        self,
        seeds: Mapping[str, float],
        *,
        damping: float = 0.85,
        rounds: int = 100,
        minimum: float = 1e-5,
        keep: int = 100,
        weighted: bool = True,
    ) -> dict[str, float]:
        """Personalised PageRank from these entities: the `keep` best that have at least a share of `minimum`, and the
        seeds; best first. `weighted`: mass goes along edges in proportion to their weights.
        """
        ...

    def rank_edges(self, shares: Mapping[str, float], likeness: Mapping[str, float], limit: int) -> list[RankedEdge]:
        """Relations between the entities of a walk: most similar ends first, then the largest shares of both, then the
        heaviest.
        """
        ...

    def sources(
        self,
        relations: Sequence[tuple[str, float]],
        k: int,
        *,
        entities: Sequence[tuple[str, float]] = (),
        mentions: int = 50,
        likeness: Sequence[float] = (),
    ) -> list[SourceChunk]:
        """The k chunks that state these relations, or name these entities, with the largest scores in sum. Of an entity
        `mentions` chunks count: those of its own article, and those that name it most. `likeness`: of each relation;
        then chunks go first by that of the first relation that each states.
        """
        ...

    def passages(
        self,
        seeds: Mapping[str, float],
        *,
        k: int = 50,
        prior: Mapping[str, float] | None = None,
        damping: float = 0.7,
        epsilon: float = 1e-5,
    ) -> Scored:
        """The k chunks that a walk from these entities visits most, over chunks and the entities that they name.

        `prior`: chunks with weights to start from as well (another retriever's scores, scaled to the share they should
        have beside the seeds' 1). Nothing to start from gives nothing.
        """
        ...

    def walked_entities(self, seeds: Mapping[str, float], k: int) -> Scored:
        """The k entities where that walk leaves the largest shares."""
        ...

    def leading(self, chunks: Collection[str], shared: int, articles: int) -> dict[str, dict[str, list[Leading]]]:
        """Of each chunk the entities that it names, but its own article's, and the other chunks that these lead to.
        An entity that more than `shared` chunks name leads to its own article alone, to so many chunks of it.
        """
        ...

    def mentions(self, ids: Collection[str], limit: int = LIMIT) -> Scored:
        """Chunks that name any of these entities, each with how often, in all."""
        ...

    def mentioned(self, chunks: Collection[str], limit: int = LIMIT) -> Scored:
        """Entities that these chunks name, each with how often, in all."""
        ...

    def naming(self, id: str, limit: int) -> list[str]:
        """Chunks that name an entity: its own article's and those that name it most first."""
        ...

    def relation_chunks(self, relations: Collection[str], limit: int | None = None) -> dict[str, list[str]]:
        """The chunks that state each of these relations, by document and place: all, or so many first ones of each."""
        ...

    def counts(self) -> dict[str, int]:
        """How many entities, relations and mentions there are."""
        ...

    def ranks(self) -> Floats:
        """The PageRank of each entity, by number, over what joins them: to draw some by how central they are."""
        ...

    def chunk_ids(self) -> list[str]:
        """All chunks of the documents that the graph was made of."""
        ...

    def names(self) -> Iterator[str]:
        """Own names of entities as names are compared, each once."""
        ...

    def merges(self) -> Iterator[tuple[str, str, str, str, int]]:
        """Entity, name, name it was taken for, reason, documents: what was merged."""
        ...


# Communities and windows


class Communities(Protocol):
    """Communities of entities, and their reports."""

    left_out: int
    """Communities that a filter keeps out, because they rest on other documents too."""

    def levels(self) -> list[int]:
        """From the coarse to the fine."""
        ...

    def of_level(self, level: int) -> list[Community]:
        """The communities of a level and those above it that are not split: together they hold every entity once."""
        ...

    def tokens_of_level(self, level: int) -> int:
        """What reading all reports of a level takes."""
        ...

    def of_entity(self, id: str) -> list[Community]:
        """The communities of one entity, from the coarse to the fine."""
        ...

    def at_level(self, ids: Collection[str], level: int) -> dict[str, str]:
        """The community of each of these entities at a level, or above it where that one is not split."""
        ...

    def communities(self, ids: Collection[str]) -> dict[str, Community]:
        """By id; an id that is not there is left out."""
        ...

    def children(self, id: str) -> list[Community]: ...

    def members(self, id: str) -> list[str]: ...

    def report(self, id: str) -> CommunityReport | None: ...

    def reports(self, ids: Collection[str]) -> dict[str, CommunityReport]: ...

    def nearest(self, vector: Vector, k: int | None = 20, minimum: float = -1.0) -> Scored:
        """The k communities whose reports are nearest a vector by cosine, of all levels; without a number all."""
        ...

    def counts(self) -> dict[str, int]:
        """Communities by who wrote their report; those without one under an empty name."""
        ...


class Similarities(Protocol):
    """How near windows and sentences are to one question."""

    @property
    def question(self) -> Vector: ...

    def window(self, window: int) -> float: ...

    def sentence(self, sentence: int) -> float: ...

    def falling(self) -> Iterator[int]:
        """Windows, nearest first."""
        ...


class Windows(Protocol):
    """Overlapping windows of sentences, joined by how similar they are. Windows and sentences go by numbers."""

    def __len__(self) -> int: ...

    def nearness(self, question: Vector) -> Similarities: ...

    def neighbours(self, window: int) -> list[tuple[int, float]]:
        """Windows joined to this one, each with its similarity to it."""
        ...

    def near_within(self, window: int) -> list[tuple[int, float]]:
        """Those of them that are of its own document, nearest first."""
        ...

    def near_across(self, window: int) -> list[tuple[int, float]]:
        """Those of them that are of other documents, nearest first."""
        ...

    def likeness(self, window: int, sentences: Sequence[int]) -> list[float]:
        """How similar sentences are to a window."""
        ...

    def points(self, windows: Sequence[int]) -> Points:
        """The vectors of windows, as rows."""
        ...

    def projected(self, points: NDArray[np.floating]) -> Points:
        """Points in the three dimensions in which windows differ most."""
        ...

    def same_window(self, window: int) -> int:
        """A mark of its text: windows of one text have the same."""
        ...

    def same_sentence(self, sentence: int) -> int:
        """A mark of its text: sentences of one text have the same."""
        ...

    def window_id(self, window: int) -> str: ...

    def sentence_id(self, sentence: int) -> str: ...

    def row_of(self, window: str) -> int | None:
        """The number of the window of this id."""
        ...

    def sentences_of(self, window: int) -> range: ...

    def span_of(self, sentence: int) -> tuple[int, int]:
        """Where a sentence begins and ends in its document's text."""
        ...

    def document_of(self, window: int) -> str: ...

    def windows_of(self, document: str) -> range:
        """A document's windows, in reading order; none of one that is not there."""
        ...

    def themes(self, document: str) -> DocumentThemes: ...

    def neighbours_by_theme(self, document: str) -> Scored: ...
