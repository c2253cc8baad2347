"""Rows of the graph, and what one document adds to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ragways.core.types import content_hash
from ragways.index.graph.facts import PassageFacts, Relation
from ragways.index.graph.names import fold
from ragways.index.graph.resolve import DocumentNames, Key


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
class DocumentFacts:
    """A document's facts, chunk by chunk: (chunk id, [(way, facts)])."""

    number: int
    title: str
    chunks: Sequence[tuple[str, Sequence[tuple[str, PassageFacts]]]]

    def names(self) -> DocumentNames:
        """The names in it, as they are compared."""
        found = DocumentNames(self.title)
        for _, said in self.chunks:
            for _, facts in said:
                found.hear(facts.entities, facts.ends)
        return found


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
        share = self.entities.get(key)
        if share is None:
            share = self.entities[key] = EntityShare()
        share.names[name] = share.names.get(name, 0) + count
        share.count += count
        share.ways[way] = share.ways.get(way, 0) + 1
        if (into := self._merged(name, key)) is not None:
            record = (key, name, *into)
            self.merges[record] = self.merges.get(record, 0) + 1
        return share


@lru_cache(maxsize=50_000)  # many documents name the same
def entity_id(key: Key) -> str:
    return f"entity:{content_hash(*key)[:16]}"
