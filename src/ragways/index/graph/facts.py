"""Documents as extraction reads them, and what a passage of them says: entities and relations between them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ragways.core.types import content_hash
from ragways.index.sentences import sentences_of
from ragways.index.store import Store

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A chunk, its place in the document, and the name under which what was paid for it is kept.

    The chunk's own hash is that of the text that is searched, which holds the title in some settings only; what a
    chunk says depends on its title always.
    """

    id: str
    start: int
    end: int
    title: str
    text: str

    @property
    def key(self) -> str:
        return content_hash(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Source:
    """One document with its parts."""

    number: int
    title: str
    text: str
    passages: tuple[SourcePassage, ...]
    sentences: tuple[Span, ...]
    links: tuple[tuple[int, int, str], ...]
    boxes: tuple[tuple[int, int, str, tuple[tuple[str, str], ...]], ...]
    redirect: str = ""


def sources(store: Store, numbers: Iterable[int] | None = None, *, in_parts: bool = True) -> Iterator[Source]:
    """Documents by number, all of them or those that are asked for, one at a time; with passages and boxes `in_parts`
    alone.
    """
    db = store.db
    if numbers is None:
        # By number: the one order that does not tell in which order they came.
        numbers = [row[0] for row in db.execute("SELECT number FROM documents ORDER BY number")]
    for number in numbers:
        title, text, redirect = db.execute(
            "SELECT title, text, redirect FROM documents WHERE number = ?", (number,)
        ).fetchone()
        yield Source(
            number,
            title,
            text,
            tuple(
                SourcePassage(f"article:{number}:{path}", start, end, title, text[start:end])
                for path, start, end in db.execute(
                    "SELECT path, start, end FROM chunks WHERE document = ? ORDER BY ordinal", (number,)
                )
            )
            if in_parts
            else (),
            tuple(sentences_of(db, number)),
            tuple(db.execute("SELECT start, end, target FROM links WHERE document = ? ORDER BY ordinal", (number,))),
            tuple(
                (start, end, kind, tuple((str(key), str(value)) for key, value in json.loads(fields)))
                for start, end, kind, fields in db.execute(
                    "SELECT start, end, kind, fields FROM infoboxes WHERE document = ? ORDER BY ordinal", (number,)
                )
            )
            if in_parts
            else (),
            redirect or "",
        )


NAMED_WITH = "named_with"
"""The predicate of two names of which a text says no more than that they stand together."""
UNSTATED = frozenset({NAMED_WITH, "links_to", "has_row", "related_to"})
"""Predicates that say no more than that two things stand together. `related_to` is what a model or a file says so."""
FACT_LIMIT = 400
"""Entities, and relations, that are read of one chunk: a reply that runs wild must not swamp the graph."""
LONGEST_NAME = 200
LONGEST_TEXT = 1000
ALIAS_LIMIT = 20


@dataclass(slots=True)
class Entity:
    """Something that has a name. `aliases` are other names the chunk has for it, `count` how often it is named.

    `guess` is what kind of thing the words around it suggest, where its type is not known.
    """

    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    count: int = 1
    guess: str = ""


class Relation(NamedTuple):
    """`subject predicate object`, both named as entities are. `by` says which rule made it, where a rule did."""

    subject: str
    predicate: str
    object: str
    description: str = ""
    weight: float = 1.0
    date: str = ""
    by: str = ""


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
        """Lists rather than objects: the field names would be most of the text."""
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
                Entity(str(name), str(type), str(said), tuple(map(str, aliases)), int(count))
                for name, type, said, aliases, count in data["entities"]
            ]
            relations = [
                Relation(str(s), str(p), str(o), str(said), float(weight), str(date), str(by))
                for s, p, o, said, weight, date, by in data["relations"]
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
