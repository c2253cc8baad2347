"""What one document adds to the tables of the graph, and what the row of an entity is made of."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ragways.index.graph.data import DocumentGraph, EntityShare, entity_id
from ragways.index.graph.document_statements import MILLION, ContentsRow, Said, packed_statements
from ragways.index.graph.kinds import decided, kind_of_name
from ragways.index.graph.names import fold, split_title
from ragways.index.graph.relation_ids import SHIFT, relation_number
from ragways.index.packed_numbers import packed_counts
from ragways.index.store import path_of

_ALIASES = 50

Shown = Callable[[str], str | None]
Common = Callable[[str], bool]
Row = tuple[object, ...]


def number_of_id(id: str) -> int:
    """The digits of an id of an entity or a relation as a number that SQLite can hold, in the same order."""
    return int(id[-16:], 16) - SHIFT


def digits(number: int) -> str:
    """The digits of the id that has this number."""
    return f"{number + SHIFT:016x}"


def found_by(way: str) -> str:
    """Who found an entity; `way` as the table has it."""
    return way or _RULES


def aliases(name: str, names: str | None) -> tuple[str, ...]:
    """An entity's other names, the most frequent first; `names` as the table has them."""
    if names is None:
        return ()
    counts = json.loads(names)
    return tuple(sorted((other for other in counts if other != name), key=lambda a: (-counts[a], a))[:_ALIASES])


@dataclass(frozen=True)
class Touched:
    """What a change touched: the numbers of entities and relations whose rows may have been written or removed."""

    entities: set[int] = field(default_factory=set)
    relations: set[int] = field(default_factory=set)
    alone: dict[int, int] = field(default_factory=dict)
    """Of these relations, those that one document states now, and the document."""
    links: Counter[tuple[int, int]] = field(default_factory=Counter)
    """By how many millionths the weight of all relations of two entities is more or less than before."""
    documents: set[int] = field(default_factory=set)
    """Those that say something else than before."""
    named: set[int] = field(default_factory=set)
    """Entities that these documents name, or named."""
    stated: set[int] = field(default_factory=set)
    """Relations that these documents state, or stated."""
    came: set[int] = field(default_factory=set)
    """Entities that were not there before."""
    renamed: set[int] = field(default_factory=set)
    """Entities that had another name before."""
    called: set[int] = field(default_factory=set)
    """Entities that are called otherwise than before, by their names as they are compared; also those that went."""
    times: Counter[int] = field(default_factory=Counter)
    """How many more chunks name an entity than before; one whose article is the entity's own counts twice."""


@dataclass
class GatheredEntity:
    """What all documents say of an entity."""

    names: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    guesses: dict[str, int] = field(default_factory=dict)
    ways: dict[str, int] = field(default_factory=dict)
    count: int = 0
    name: str = ""
    type: str = ""

    @classmethod
    def of_share(cls, share: EntityShare) -> GatheredEntity:
        """What one document says, which is made part of this."""
        return cls(share.names, share.types, share.guesses, share.ways, share.count)

    @classmethod
    def of_row(cls, row: tuple[str, int, str | None, str | None]) -> GatheredEntity:
        name, count, names, told = row
        ways, guesses, types = (*([count] if told is None else json.loads(told)), {}, {}, {})[:3]
        ways = {_RULES: ways} if isinstance(ways, int) else ways
        counts = {name: count} if names is None else json.loads(names)
        return cls(counts, types, guesses, ways, count, name)

    def add(self, share: EntityShare) -> None:
        for mine, theirs in self._parts(share):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count
        self.count += share.count

    def subtract(self, share: EntityShare) -> None:
        for mine, theirs in self._parts(share):
            for name, count in theirs.items():
                mine[name] -= count
                if not mine[name]:
                    del mine[name]
        self.count -= share.count

    def _parts(self, share: EntityShare) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
        yield self.names, share.names
        yield self.types, share.types
        yield self.guesses, share.guesses
        yield self.ways, share.ways

    def settle(self, folded: str, shown: Shown) -> None:
        """Find its name and type."""
        main = min(self.names.items(), key=_most)[0]
        self.name = (shown(folded) if "\x1f" not in folded else None) or main
        self.type = min(self.types.items(), key=_most)[0] if self.types else ""
        if not self.type and _RULES in self.ways:
            guesses = dict(self.guesses)
            for kind in filter(None, map(kind_of_name, self.names)):
                guesses[kind] = guesses.get(kind, 0) + 1
            self.type = decided(guesses)

    def row(self, id: int) -> Row:
        names = None if self.names == {self.name: self.count} else as_json(dict(sorted(self.names.items())))
        way = "+".join(sorted(self.ways))
        return id, self.name, self.type, self.count, way if way != _RULES else "", names, self._told(way)

    def _told(self, way: str) -> str | None:
        """Its ways, guesses and types, without what is empty at the end; for ways, a number where rules alone found
        it, and nothing at all where that is all, and as often as it is named.
        """
        told: list[object] = [self.ways[way] if way == _RULES else dict(sorted(self.ways.items()))]
        if self.guesses or self.types:
            told.append(dict(sorted(self.guesses.items())))
        if self.types:
            told.append(dict(sorted(self.types.items())))
        return None if told == [self.count] else as_json(told)

    def called(self, id: int, common: Common) -> set[tuple[str, int, int, int]]:
        """The rows of its names as they are compared."""
        own = fold(self.name)
        base = split_title(self.name)[0].partition(",")[0]
        others = (base,) if len(self.names) == 1 and self.name in self.names else (base, *self._aliases())
        rows = {(name, id, 0, is_everyday(name, common)) for name in {*map(fold, others)} - {own, ""}}
        return rows | {(own, id, 1, is_everyday(own, common))} if own else rows

    def _aliases(self) -> list[str]:
        return sorted((n for n in self.names if n != self.name), key=lambda n: (-self.names[n], n))[:_ALIASES]


class DocumentRows:
    """What one document adds to the tables, with the numbers of its entities and relations."""

    def __init__(self, document: DocumentGraph) -> None:
        self.document = document
        self.ids = {key: number_of_id(entity_id(key)) for key in document.entities}
        self.texts: dict[str, int] = {}
        self.said: dict[int, list[Said]] = {}
        self.ends: dict[int, tuple[int, str, int]] = {}
        self.stated: dict[str, dict[int, None]] = {}
        for subject, predicate, object, relation, chunk, way in document.statements:
            id = relation_number(self.ids[subject], predicate, self.ids[object])
            text = self.texts.setdefault(relation.description, len(self.texts)) if relation.description else None
            self.said.setdefault(id, []).append((text, round(relation.weight * MILLION), relation.date, way))
            self.ends[id] = self.ids[subject], predicate, self.ids[object]
            self.stated.setdefault(chunk, {})[id] = None

    def told(self, relation: int) -> list[str]:
        """The texts that describe a relation: the same numbers may be those of other texts."""
        return [self._texts[text] for text, *_ in self.said[relation] if text is not None]

    @cached_property
    def _texts(self) -> list[str]:
        return list(self.texts)

    def contents(self) -> ContentsRow:
        """The row of `graph_contents`."""
        named, stated, counts, again = list[int](), list[int](), list[int](), list[int]()
        entities, places = array("q"), dict[int, int]()
        relations: dict[int, int] = {}  # in the order in which they are stated, and their places in it
        for n, (chunk, mentions) in enumerate(self.document.chunks):
            named.append(len(mentions))
            for key, (count, about) in mentions.items():
                places.setdefault(self.ids[key], len(entities))
                entities.append(self.ids[key])
                counts.append(count << 1 | about)
            before = len(relations)
            for id in self.stated.get(chunk, ()):
                if id in relations:
                    again += (n, relations[id])
                else:
                    relations[id] = len(relations)
            stated.append(len(relations) - before)
        ends = [(places[self.ends[id][0]], places[self.ends[id][2]]) for id in relations]
        packed = packed_statements(ends, [self.said[id] for id in relations])
        dated, *of_statements = packed
        chunks = "\n".join(path_of(chunk) for chunk, _ in self.document.chunks)
        of_chunks = [packed_counts(named), packed_counts(counts), packed_counts(stated), array("I", again).tobytes()]
        blobs = [*of_chunks, entities.tobytes(), *of_statements]
        return ContentsRow(self.document.number, chunks, dated, *blobs)

    def predicates(self) -> list[tuple[str, str]]:
        """The predicate and way of each statement, in the order of the row."""
        order = dict.fromkeys(id for chunk, _ in self.document.chunks for id in self.stated.get(chunk, ()))
        return [(self.ends[id][1], way) for id in order for *_, way in self.said[id]]

    def named(self) -> Iterator[tuple[int, int]]:
        """Entities that chunks name: 1 for each chunk, or 2 for one of the entity's own article."""
        for _, mentions in self.document.chunks:
            for key, (_, about) in mentions.items():
                yield self.ids[key], 1 + about

    def described(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Entities with what the document says they are."""
        for key, share in self.document.entities.items():
            if share.descriptions:
                yield self.ids[key], share.descriptions

    def merges(self) -> Iterator[tuple[int, str, str, str, int]]:
        for (key, name, into, reason), count in self.document.merges.items():
            yield self.ids[key], name, reason, into, count


def _most(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def is_everyday(name: str, common: Common) -> int:
    return int(" " not in name and common(name))


def packed_share(share: EntityShare) -> tuple[int, int | None, str]:
    """Its count, how often rules found it, and its name, where that is all of it; as most are. Else all of it in JSON,
    and nothing for rules.
    """
    if len(share.names) == 1 and not (share.types or share.guesses or share.descriptions) and [*share.ways] == [_RULES]:
        return share.count, share.ways[_RULES], next(iter(share.names))
    told = [share.names, share.types, share.guesses, share.ways, share.count, share.descriptions]
    return share.count, None, as_json(told)


def unpacked_share(count: int, by_rules: int | None, told: str) -> EntityShare:
    """What was packed."""
    if by_rules is None:
        return EntityShare(*json.loads(told))
    return EntityShare({told: count}, {}, {}, {_RULES: by_rules}, count)


_RULES = "rules"
as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""JSON without spaces, by an encoder that is made once."""
