"""The whole graph in memory, before it is written: what the layer's files and other layers are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from ragways.core.types import content_hash
from ragways.index.graph.facts import PassageFacts, Relation
from ragways.index.graph.kinds import decided, kind_of_name
from ragways.index.graph.names import fold
from ragways.index.graph.resolve import DocumentNames, Key, Merge, Resolver, proposals, spellings, veto_hash

_DESCRIPTIONS = 3
_ALIASES = 50


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity of the corpus."""

    id: str
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    way: str

    @property
    def text(self) -> str:
        """What is embedded of it."""
        return f"{self.name}: {self.description}" if self.description else self.name


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation of the corpus, with the chunks that state it."""

    id: str
    subject: str
    predicate: str
    object: str
    description: str
    weight: float
    date: str
    way: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MentionRow:
    """An entity is named `count` times in a chunk; `about` says that the chunk's article is its own."""

    entity: str
    chunk: str
    count: int
    about: bool


@dataclass(frozen=True, slots=True)
class MergeRow:
    """A merge that was made: `name` counts as `into`, which is the entity."""

    entity: str
    name: str
    into: str
    reason: str
    documents: int


@dataclass(frozen=True, slots=True)
class GraphData:
    """Rows in their one order: entities, relations and mentions by id, chunks as the store has them."""

    entities: tuple[EntityRow, ...]
    relations: tuple[RelationRow, ...]
    mentions: tuple[MentionRow, ...]
    merges: tuple[MergeRow, ...]
    chunks: tuple[str, ...]
    proposed: frozenset[str]
    """Hashes of all merges that were proposed: vetoes of others need not be kept."""
    everyday: frozenset[str]
    """Names of one word that the corpus writes small: a question that does so need not mean the entity."""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A document's facts, chunk by chunk: (chunk id, [(way, facts)])."""

    number: int
    title: str
    chunks: Sequence[tuple[str, Sequence[tuple[str, PassageFacts]]]]


@dataclass(slots=True)
class EntityShare:
    """What one document says of an entity. Descriptions in their order, each once."""

    names: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    guesses: dict[str, int] = field(default_factory=dict)
    ways: dict[str, int] = field(default_factory=dict)
    count: int = 0
    descriptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentGraph:
    """What one document adds to the graph, when it is known which entities its names mean."""

    number: int
    entities: dict[Key, EntityShare]
    chunks: tuple[tuple[str, dict[Key, tuple[int, bool]]], ...]
    """Of each chunk, in order, how often it names which entities, and whether its article is theirs."""
    statements: tuple[tuple[Key, str, Key, Relation, str, str], ...]
    """Subject, predicate, object, the relation as it is told, its chunk, and who found it; in order."""
    merges: dict[tuple[Key, str, str, str], int]
    """Entity, name, name that it was taken for, reason: how often."""


def document_graph(
    facts: DocumentFacts, key: Callable[[str, str], Key], merged: Callable[[str, Key], tuple[str, str] | None]
) -> DocumentGraph:
    """Gather what a document says of each entity. `key` tells which one it means by a name and type, `merged` what a
    name was taken for, and why, where a person should see that.
    """
    found = _Share(key, merged)
    own = key(facts.title, "") if fold(facts.title) else None
    chunks = []
    for chunk, said in facts.chunks:
        counted: dict[Key, int] = {}
        for way, each in said:
            found.add(chunk, way, each, counted)
        chunks.append((chunk, {name: (count, name == own) for name, count in counted.items()}))
    return DocumentGraph(facts.number, found.entities, tuple(chunks), tuple(found.statements), found.merges)


class _Share:
    """A document's part of the graph while it is gathered."""

    def __init__(self, key: Callable[[str, str], Key], merged: Callable[[str, Key], tuple[str, str] | None]) -> None:
        self._key, self._merged = key, merged
        self.entities: dict[Key, EntityShare] = {}
        self.statements: list[tuple[Key, str, Key, Relation, str, str]] = []
        self.merges: dict[tuple[Key, str, str, str], int] = {}

    def add(self, chunk: str, way: str, facts: PassageFacts, counted: dict[Key, int]) -> None:
        keys: dict[str, Key] = {}
        for entity in facts.entities:
            key = self._key(entity.name, entity.type)
            keys.setdefault(entity.name, key)
            counted[key] = counted.get(key, 0) + entity.count
            share = self._name(key, entity.name, way, entity.count)
            if entity.type:
                share.types[entity.type] = share.types.get(entity.type, 0) + entity.count
            if entity.guess:
                share.guesses[entity.guess] = share.guesses.get(entity.guess, 0) + entity.count
            if entity.description and entity.description not in share.descriptions:
                share.descriptions = (*share.descriptions, entity.description)
        for relation in facts.relations:
            for name in (relation.subject, relation.object):
                if name not in keys:
                    keys[name] = key = self._key(name, "")
                    counted[key] = counted.get(key, 0) + 1
                    self._name(key, name, way, 1)
            subject, object = keys[relation.subject], keys[relation.object]
            if subject != object:
                made = f"{way}:{relation.by}" if relation.by else way
                self.statements.append((subject, relation.predicate, object, relation, chunk, made))

    def _name(self, key: Key, name: str, way: str, count: int) -> EntityShare:
        share = self.entities.setdefault(key, EntityShare())
        share.names[name] = share.names.get(name, 0) + count
        share.count += count
        share.ways[way] = share.ways.get(way, 0) + 1
        if (into := self._merged(name, key)) is not None:
            record = (key, name, *into)
            self.merges[record] = self.merges.get(record, 0) + 1
        return share


@dataclass
class _Gathered:
    names: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    guesses: dict[str, int] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    ways: set[str] = field(default_factory=set)
    count: int = 0


def entity_id(key: Key) -> str:
    return f"entity:{content_hash(*key)[:16]}"


def make_graph(
    chapters: Iterable[DocumentFacts],
    titles: dict[str, str],
    common: Callable[[str], bool],
    vetoes: Callable[[Iterable[str]], set[str]],
    more: Callable[[Mapping[int, DocumentNames]], Iterable[Merge]] = lambda _: (),
) -> GraphData:
    """Resolve the names of all chapters and gather what is said of each entity.

    `titles`: folded titles, redirects too, with the title of the article they lead to. `common`: everyday words.
    `vetoes`: those of the given hashes of merges that are forbidden. `more`: further merges, which give way to the
    usual ones.
    """
    chapters = sorted(chapters, key=lambda chapter: chapter.number)
    documents = {chapter.number: _heard(chapter) for chapter in chapters}
    merges = [*proposals(documents, titles, common), *more(documents)]
    shown = spellings(documents, titles)
    hashes = {veto_hash(merge.name, merge.into) for merge in merges} | _spelling_hashes(documents, shown)
    resolver = Resolver(documents, shown, merges, vetoes(hashes))
    return _Builder(resolver, common).build(chapters, frozenset(hashes))


def _heard(chapter: DocumentFacts) -> DocumentNames:
    document = DocumentNames(chapter.title)
    for _, said in chapter.chunks:
        for _, facts in said:
            document.hear(facts)
    return document


def _spelling_hashes(documents: Mapping[int, DocumentNames], shown: Mapping[str, str]) -> set[str]:
    return {
        veto_hash(spelling, shown[name])
        for document in documents.values()
        for name, use in document.names.items()
        for spelling in use.spellings
        if spelling.casefold() != shown[name].casefold()
    }


class _Builder:
    def __init__(self, resolver: Resolver, common: Callable[[str], bool]) -> None:
        self.resolver = resolver
        self.common = common
        self.nodes: dict[Key, _Gathered] = defaultdict(_Gathered)
        self.mentions: dict[tuple[Key, str], int] = {}
        self.about: set[tuple[Key, str]] = set()
        self.edges: dict[tuple[Key, str, Key], list[tuple[Relation, str, str]]] = defaultdict(list)

    def build(self, chapters: Sequence[DocumentFacts], proposed: frozenset[str]) -> GraphData:
        for chapter in chapters:
            own = self.resolver.key(chapter.number, chapter.title) if fold(chapter.title) else None
            for chunk, said in chapter.chunks:
                for way, facts in said:
                    self.add(chapter.number, chunk, way, facts)
                if own is not None and (own, chunk) in self.mentions:
                    self.about.add((own, chunk))
        ids = {key: entity_id(key) for key in self.nodes}
        return GraphData(
            tuple(self.node(key, ids[key]) for key in sorted(self.nodes, key=ids.__getitem__)),
            tuple(sorted((self.edge(key, said, ids) for key, said in self.edges.items()), key=attrgetter("id"))),
            tuple(
                MentionRow(*row)
                for row in sorted(
                    (ids[key], chunk, count, (key, chunk) in self.about)
                    for (key, chunk), count in self.mentions.items()
                )
            ),
            tuple(
                MergeRow(ids[r.key], r.name, r.into, r.reason, r.documents)
                for r in self.resolver.records()
                if r.key in ids
            ),
            tuple(chunk for chapter in chapters for chunk, _ in chapter.chunks),
            proposed,
            frozenset(
                word
                for node in self.nodes.values()
                for name in node.names
                if " " not in (word := fold(name)) and self.common(word)
            ),
        )

    def add(self, document: int, chunk: str, way: str, facts: PassageFacts) -> None:
        keys: dict[str, Key] = {}
        counted: dict[Key, int] = {}
        for entity in facts.entities:
            key = self.resolver.key(document, entity.name, entity.type)
            keys.setdefault(entity.name, key)
            counted[key] = counted.get(key, 0) + entity.count
            node = self.nodes[key]
            if entity.type:
                node.types[entity.type] = node.types.get(entity.type, 0) + entity.count
            if entity.guess:
                node.guesses[entity.guess] = node.guesses.get(entity.guess, 0) + entity.count
            if entity.description:
                node.descriptions.setdefault(entity.description)
            self.name(document, key, entity.name, way, entity.count)
        for relation in facts.relations:
            ends = []
            for name in (relation.subject, relation.object):
                if name not in keys:
                    keys[name] = key = self.resolver.key(document, name)
                    counted[key] = counted.get(key, 0) + 1
                    self.name(document, key, name, way, 1)
                ends.append(keys[name])
            if ends[0] != ends[1]:
                made = f"{way}:{relation.by}" if relation.by else way
                self.edges[ends[0], relation.predicate, ends[1]].append((relation, chunk, made))
        for key, count in counted.items():
            self.mentions[key, chunk] = self.mentions.get((key, chunk), 0) + count

    def name(self, document: int, key: Key, name: str, way: str, count: int) -> None:
        node = self.nodes[key]
        node.names[name] = node.names.get(name, 0) + count
        node.count += count
        node.ways.add(way)
        self.resolver.record(document, name, key)

    def node(self, key: Key, id: str) -> EntityRow:
        found = self.nodes[key]
        main = min(found.names.items(), key=lambda item: (-item[1], item[0]))[0]
        name = self.resolver.spelling.get(key[0], main) if "\x1f" not in key[0] else main
        aliases = sorted((other for other in found.names if other != name), key=lambda a: (-found.names[a], a))
        type = min(found.types.items(), key=lambda item: (-item[1], item[0]))[0] if found.types else ""
        if not type and "rules" in found.ways:
            guesses = dict(found.guesses)
            for kind in filter(None, map(kind_of_name, found.names)):
                guesses[kind] = guesses.get(kind, 0) + 1
            type = decided(guesses)
        said = " ".join(list(found.descriptions)[:_DESCRIPTIONS])
        return EntityRow(id, name, type, said, tuple(aliases[:_ALIASES]), found.count, "+".join(sorted(found.ways)))

    def edge(
        self, key: tuple[Key, str, Key], said: list[tuple[Relation, str, str]], ids: dict[Key, str]
    ) -> RelationRow:
        subject, predicate, object = ids[key[0]], key[1], ids[key[2]]
        id = f"relation:{content_hash(subject, predicate, object)[:16]}"
        if len(said) == 1:  # as most are
            ((only, chunk, way),) = said
            weight = round(only.weight, 6)
            return RelationRow(id, subject, predicate, object, only.description, weight, only.date, way, (chunk,))
        descriptions = dict.fromkeys(relation.description for relation, _, _ in said if relation.description)
        return RelationRow(
            id,
            subject,
            predicate,
            object,
            " ".join(list(descriptions)[:_DESCRIPTIONS]),
            round(sum(relation.weight for relation, _, _ in said), 6),
            next((relation.date for relation, _, _ in said if relation.date), ""),
            "+".join(sorted({way for _, _, way in said})),
            tuple(dict.fromkeys(chunk for _, chunk, _ in said)),
        )
