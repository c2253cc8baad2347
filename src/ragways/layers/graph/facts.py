"""What a passage states: entities, and relations between them; by rules, a model or a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

NAMED_WITH = "named_with"
"""The predicate of two names that stand together, where the text states no more of them."""
UNSTATED = frozenset({NAMED_WITH, "links_to", "has_row", "related_to"})
"""Predicates of things that only stand together. `related_to` is what a model or a file writes for it."""
FACT_LIMIT = 400
"""Entities, and relations, that are read of one chunk: a reply that runs wild must not swamp the graph."""
LONGEST_NAME = 200
LONGEST_TEXT = 1000
ALIAS_LIMIT = 20


@dataclass(slots=True)
class Entity:
    """Something that has a name. `aliases` are other names the chunk has for it, `count` how often it is named, `guess`
    what kind of thing the words around it suggest, where its type is not known.
    """

    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    count: int = 1
    guess: str = ""


class Relation(NamedTuple):
    """`subject predicate object`, both named as entities are. `by` is the rule that made it, where a rule did; `start`
    is where its description begins in the document's text, where that is known.
    """

    subject: str
    predicate: str
    object: str
    description: str = ""
    weight: float = 1.0
    date: str = ""
    by: str = ""
    start: int = -1


@dataclass(frozen=True, slots=True)
class PassageFacts:
    """Entities and relations of one chunk. A relation may name an entity that is not listed."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    @property
    def ends(self) -> Iterator[str]:
        """The names at the ends of its relations."""
        return (end for relation in self.relations for end in (relation.subject, relation.object))

    def __add__(self, other: PassageFacts) -> PassageFacts:
        return PassageFacts(self.entities + other.entities, self.relations + other.relations)

    def to_json(self) -> str:
        """Text for the cache: lists rather than objects, whose field names would be most of it."""
        entities = [[e.name, e.type, e.description, list(e.aliases), e.count] for e in self.entities]
        relations = [[r.subject, r.predicate, r.object, r.description, r.weight, r.date, r.by] for r in self.relations]
        return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> PassageFacts:
        """Read what `to_json` wrote, cut to bounds; ValueError when it is something else."""
        data = json.loads(text)
        if not isinstance(data, Mapping):
            raise ValueError("not stored facts: no object")
        try:
            entities = [
                Entity(str(name), str(type), str(text), tuple(map(str, aliases)), int(count))
                for name, type, text, aliases, count in data["entities"]
            ]
            relations = [
                Relation(str(s), str(p), str(o), str(text), float(weight), str(date), str(by))
                for s, p, o, text, weight, date, by in data["relations"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not stored facts: {error}") from None
        return bounded(PassageFacts(tuple(entities), tuple(relations)))


def bounded(facts: PassageFacts) -> PassageFacts:
    """The same facts without empty names, and none longer or more than anybody needs."""
    entities = (_entity(entity) for entity in facts.entities[:FACT_LIMIT])
    relations = (_relation(relation) for relation in facts.relations[:FACT_LIMIT])
    return PassageFacts(
        tuple(entity for entity in entities if entity.name),
        tuple(relation for relation in relations if relation.subject and relation.object),
    )


def _entity(entity: Entity) -> Entity:
    aliases = (_line(alias, LONGEST_NAME) for alias in entity.aliases[:ALIAS_LIMIT])
    return Entity(
        _line(entity.name, LONGEST_NAME),
        _line(entity.type, 60).casefold(),
        _line(entity.description, LONGEST_TEXT),
        tuple(alias for alias in aliases if alias),
        max(1, entity.count),
    )


def _relation(relation: Relation) -> Relation:
    weight = relation.weight if math.isfinite(relation.weight) else 1.0
    return Relation(
        _line(relation.subject, LONGEST_NAME),
        predicate_of(relation.predicate),
        _line(relation.object, LONGEST_NAME),
        _line(relation.description, LONGEST_TEXT),
        min(max(weight, 0.0), 100.0),
        _line(relation.date, 40),
        _line(relation.by, 40),
    )


def predicate_of(text: str) -> str:
    """`Was born in` → `was_born_in`; nothing → `related_to`."""
    words = "".join(c if c.isalnum() else " " for c in text[:200].casefold()).split()
    return "_".join(words[:8]) or "related_to"


def _line(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit].strip()
