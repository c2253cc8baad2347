"""How entities, relations and chunks of the graph are written, read from the rows when somebody looks.

The arrays say which rows an entity has: those of its names in the chunks that name it. Of a hub some chunks are read,
those of its own article and the first ones; numbers of documents are hashes, so these are like any others.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.files import load_arrays, save_arrays
from ragways.layers.graph.csr import CODES, UNSIGNED, WIDE, GraphArrays, Ints
from ragways.layers.graph.kinds import decided, kind_of_name
from ragways.layers.graph.names import fold, hash_of
from ragways.store.database import store_errors
from ragways.store.store import Store, number_of, path_of

NAMELESS = "(another name)"
"""What an entity is called whose rows are gone: its documents were changed since the view was made."""
DESCRIPTIONS = 3
"""Texts that describe an entity or a relation, at most."""
_ALIASES = 50
_HUB = 256
"""Chunks of an entity beyond which some of them are read."""
_OWN, _SAMPLE = 8, 64
"""Of those, chunks of its own article, and others."""
_STATING = 16
"""Chunks that state a relation that are read."""
_KEPT = 20_000
"""Entities, and chunks, whose texts stay in memory."""
_RULES = "rules"

Row = tuple[Any, ...]


@dataclass(slots=True)
class EntityText:
    """How an entity is written: `spellings` with their counts, and what its rows say of its type."""

    name: str = ""
    type: str = ""
    spellings: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    guesses: Counter[str] = field(default_factory=Counter)
    ways: set[str] = field(default_factory=set)
    documents: dict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    """Those that write it so, by spelling and by the name that it has in the row."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Its other names, the most frequent first."""
        others = (other for other in self.spellings if other != self.name)
        return tuple(sorted(others, key=lambda other: (-self.spellings[other], other))[:_ALIASES])

    def add(self, document: int, name: str, meant: str, spelling: str, type: str, way: str, count: int) -> None:
        self.spellings[spelling] += count
        if type:
            self.types[type] += count
        elif meant:
            self.guesses[meant] += count
        self.ways.add(way)
        self.documents[spelling, name].add(document)

    def settle(self, folded: str, title: str) -> None:
        """Choose its name, that of its article or else the most frequent spelling, and its type."""
        alike = {name: n for name, n in self.spellings.items() if fold(name) == folded} or self.spellings
        self.name = title or min(alike, key=lambda name: (-alike[name], name), default=NAMELESS)
        self.type = min(self.types, key=lambda type: (-self.types[type], type), default="")
        if not self.type and _RULES in self.ways:
            guesses = dict(self.guesses)
            for kind in filter(None, map(kind_of_name, self.spellings)):
                guesses[kind] = guesses.get(kind, 0) + 1
            self.type = decided(guesses)


class Meanings:
    """Which names in rows mean an entity: its own, redirects and acronyms, and the beginning of its article's title."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def names(self, entity: int) -> list[int]:
        """The names, its own first."""
        own = int(self._arrays.codes[entity]) // WIDE
        targets, others = self._others
        begin, end = np.searchsorted(targets, [own, own + 1])
        return [own, *others[begin:end].tolist()]

    @cached_property
    def _others(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Names that are meant, in order, and other names that mean them."""
        arrays = self._arrays
        leading = np.flatnonzero(arrays.final != np.arange(len(arrays.final)))
        based = np.flatnonzero(arrays.articles >= 0)
        targets = np.concatenate([arrays.final[leading], arrays.final[arrays.titles[arrays.articles[based]]]])
        order = np.argsort(targets, kind="stable")
        return targets[order], np.concatenate([leading, based])[order].astype(np.int32)

    def is_of(self, entity: int, kind: str) -> bool:
        """Whether a row of its name that tells this kind is of the entity, and not of a namesake of that kind."""
        name, own = divmod(int(self._arrays.codes[entity]), WIDE)
        code = CODES.get(kind, 0)
        if own == code or not code:
            return own == code
        at = int(np.searchsorted(self._arrays.codes, name * WIDE + code))
        return not own and (at == len(self._arrays) or int(self._arrays.codes[at]) != name * WIDE + code)


class EntityTexts:
    """Reads entities, by number."""

    def __init__(self, arrays: GraphArrays, store: Store, meanings: Meanings) -> None:
        self._arrays, self._store, self._meanings = arrays, store, meanings
        self._read: dict[int, EntityText] = {}

    def of(self, entities: Collection[int]) -> dict[int, EntityText]:
        """Entities with their names, aliases and types."""
        if len(self._read) > _KEPT:
            self._read.clear()
        new = [entity for entity in dict.fromkeys(entities) if entity not in self._read]
        if new:
            found = {entity: EntityText() for entity in new}
            columns = "m.document, m.chunk, m.hash, m.kind, m.name, m.meant, m.spelling, m.type, m.way, m.count"
            for entity, row in self._rows("mentions", columns, new):
                if self._meanings.is_of(entity, row[3]):
                    found[entity].add(row[0], *row[4:])
            titles = self._titles(found)
            for entity, text in found.items():
                text.settle(self._arrays.text(int(self._arrays.codes[entity]) // WIDE), titles.get(entity, ""))
            self._read |= found
        return {entity: self._read[entity] for entity in entities}

    def descriptions(self, entities: Collection[int]) -> dict[int, str]:
        """What documents say that these entities are: the first different texts."""
        found: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        for entity, row in self._rows("descriptions", "m.document, m.chunk, m.hash, m.text", entities):
            found[entity].append((row[0], row[1], row[3]))
        return {entity: _first_texts(text for *_, text in sorted(rows)) for entity, rows in found.items()}

    def merges(self, entities: Collection[int]) -> dict[int, list[tuple[str, str, str, int]]]:
        """Of each entity the names that were taken for its own: name, its own, the reason, in how many documents."""
        texts = self.of(entities)
        documents = {number for text in texts.values() for some in text.documents.values() for number in some}
        within = self._other_names(documents)
        found: dict[int, list[tuple[str, str, str, int]]] = {}
        for entity, text in texts.items():
            own = self._arrays.text(int(self._arrays.codes[entity]) // WIDE)
            reasons: dict[tuple[str, str], set[int]] = defaultdict(set)
            for (spelling, name), some in text.documents.items():
                if spelling.casefold() != text.name.casefold():
                    for number in some:
                        reason = within.get((number, fold(spelling))) or self._reason(fold(spelling), name, own)
                        reasons[spelling, reason].add(number)
            found[entity] = [(name, text.name, why, len(some)) for (name, why), some in sorted(reasons.items())]
        return found

    def _other_names(self, documents: Collection[int]) -> dict[tuple[int, str], str]:
        """Why a document takes a name for another."""
        query = "SELECT document, other, reason FROM other_names WHERE document IN (SELECT value FROM json_each(?))"
        with store_errors(self._store.path):
            rows = self._store.db.execute(query, (json.dumps(list(documents)),))
            return {(number, other): reason for number, other, reason in rows}

    def _reason(self, spelling: str, name: str, own: str) -> str:
        """Why a name is taken for another in the whole corpus."""
        place = self._arrays.name(name)
        if own in (spelling, name) or place < 0:
            return "same name"
        if self._arrays.final[place] == place:
            return "the only article of this name"
        return "redirect" if place in self._titled else "acronym"

    @cached_property
    def _titled(self) -> frozenset[int]:
        return frozenset(self._arrays.titles.tolist())

    def _rows(self, table: str, columns: str, entities: Iterable[int]) -> Iterator[tuple[int, Row]]:
        """Rows of a table of names that mean these entities, in chunks that name them."""
        few: dict[int, set[int]] = {}
        many: dict[int, set[int]] = {}
        by_hash: dict[int, list[int]] = defaultdict(list)
        for entity in entities:
            names = self._meanings.names(entity)
            hub = max(self._times_named(name) for name in names) > _HUB
            (many if hub else few)[entity] = set(self._chunks(entity, hub))
            for hash in self._hashes(names):
                by_hash[hash].append(entity)
        with store_errors(self._store.path):
            if few:
                wanted = json.dumps([hash for hash, some in by_hash.items() if any(each in few for each in some)])
                query = f"SELECT {columns} FROM {table} m WHERE m.hash IN (SELECT value FROM json_each(?))"  # noqa: S608
                yield from self._matching(self._store.db.execute(query, (wanted,)), by_hash, few)
            if many:
                wanted = json.dumps([hash for hash, some in by_hash.items() if any(each in many for each in some)])
                chunks = self._pairs(sorted(set().union(*many.values())))
                query = (
                    f"SELECT {columns} FROM json_each(?) p CROSS JOIN {table} m INDEXED BY {table}_of_document "  # noqa: S608
                    "WHERE m.document = json_extract(p.value, '$[0]') AND m.chunk = json_extract(p.value, '$[1]') "
                    "AND +m.hash IN (SELECT value FROM json_each(?))"
                )
                rows = self._store.db.execute(query, (chunks, wanted))
                yield from self._matching(rows, by_hash, many)

    def _matching(
        self, rows: Iterable[Row], by_hash: dict[int, list[int]], chunks: dict[int, set[int]]
    ) -> Iterator[tuple[int, Row]]:
        first: dict[int, int | None] = {}
        for row in rows:
            document = row[0]
            if document not in first:
                at = self._arrays.document(document)
                first[document] = None if at < 0 else int(self._arrays.first_chunk[at])
            begin = first[document]
            if begin is None:
                continue
            for entity in by_hash[row[2]]:
                if entity in chunks and begin + row[1] in chunks[entity]:
                    yield entity, row

    def _times_named(self, name: int) -> int:
        """How many chunks name an entity of this name."""
        first, end = np.searchsorted(self._arrays.codes, [name * WIDE, (name + 1) * WIDE])
        return int(self._arrays.naming_begins[end] - self._arrays.naming_begins[first])

    def _chunks(self, entity: int, hub: bool) -> list[int]:
        """Chunks in which rows of the entity are read."""
        row = slice(int(self._arrays.naming_begins[entity]), int(self._arrays.naming_begins[entity + 1]))
        chunks = self._arrays.naming_chunks[row]
        if not hub:
            return list(chunks.tolist())
        own = chunks[self._arrays.naming_own[row]][:_OWN]
        return [*own.tolist(), *chunks[:_SAMPLE].tolist()]

    def _hashes(self, names: Sequence[int]) -> list[int]:
        """As the rows have them."""
        return list(self._arrays.names[np.array(names)].view(np.int64).tolist())

    def _pairs(self, chunks: Sequence[int]) -> str:
        return json.dumps(list(places_of(self._arrays, np.array(chunks, np.int64))))

    def _titles(self, texts: dict[int, EntityText]) -> dict[int, str]:
        """Titles of articles of entities."""
        arrays, own = self._arrays, dict[int, int]()
        for entity in texts:
            row = slice(int(arrays.naming_begins[entity]), int(arrays.naming_begins[entity + 1]))
            places = np.flatnonzero(arrays.naming_own[row])
            if len(places):
                chunk = arrays.naming_chunks[row][places[:1]]
                own[entity] = int(arrays.documents[arrays.document_of(chunk)[0]])
        titles = self._titles_of(set(own.values()))
        return {entity: titles[number] for entity, number in own.items() if number in titles}

    def _titles_of(self, documents: Collection[int]) -> dict[int, str]:
        query = "SELECT number, title FROM documents WHERE number IN (SELECT value FROM json_each(?))"
        with store_errors(self._store.path):
            return dict(self._store.db.execute(query, (json.dumps(list(documents)),)).fetchall())


@dataclass(frozen=True, slots=True)
class RelationText:
    """What is written of a relation."""

    predicate: str
    description: str
    date: str
    way: str


class RelationTexts:
    """Reads relations, by number."""

    def __init__(self, arrays: GraphArrays, store: Store, meanings: Meanings) -> None:
        self._arrays, self._store, self._meanings = arrays, store, meanings

    def of(self, relations: Sequence[int]) -> dict[int, RelationText]:
        """Those of these relations of which there are rows."""
        arrays = self._arrays
        numbers = np.array(relations, np.int64)
        first, ends = arrays.stating_begins[numbers], arrays.stating_begins[numbers + 1]
        stating = {
            number: arrays.stating_chunks[begin : min(end, begin + _STATING)].tolist()
            for number, begin, end in zip(numbers.tolist(), first.tolist(), ends.tolist(), strict=True)
        }
        rows = self._rows(sorted(set(chain.from_iterable(stating.values()))))
        stated = {
            number: [row for chunk in chunks for row in self._of(number, chunk, rows.get(chunk, ()))]
            for number, chunks in stating.items()
        }
        texts = self._texts({row[0] for some in stated.values() for row in some if row[7] >= 0})
        found = {}
        for number, some in stated.items():
            if some:
                said = (texts[row[0]][row[7] : row[7] + row[8]] if row[7] >= 0 else row[9] for row in some)
                date = next((row[6] for row in some if row[6]), "")
                ways = "+".join(sorted({row[10] for row in some}))
                found[number] = RelationText(some[0][3], _first_texts(said), date, ways)
        return found

    def _rows(self, chunks: Sequence[int]) -> dict[int, list[Row]]:
        """Rows of relations by chunk, in the order of their words."""
        pairs = list(places_of(self._arrays, np.array(chunks, np.int64)))
        query = (
            "SELECT r.document, r.chunk, r.subject, r.predicate, r.object, r.subject_kind, r.date, r.start, r.length, "
            "r.description, r.way, r.object_kind FROM json_each(?) p CROSS JOIN relations r "
            "WHERE r.document = json_extract(p.value, '$[0]') AND r.chunk = json_extract(p.value, '$[1]')"
        )
        known = dict(zip(pairs, chunks, strict=True))
        found: dict[int, list[Row]] = defaultdict(list)
        with store_errors(self._store.path):
            for row in self._store.db.execute(query, (json.dumps(pairs),)):
                found[known[row[0], row[1]]].append(row)
        for rows in found.values():
            rows.sort(key=lambda row: (row[7], row[8], row[9], row[6], row[10]))
        return found

    def _of(self, number: int, chunk: int, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows that state a relation."""
        arrays = self._arrays
        predicate = int(arrays.predicates[arrays.relation_predicates[number]])
        subject, object = int(arrays.subjects[number]), int(arrays.objects[number])
        for row in rows:
            if (
                self._hash(row[3]) == predicate
                and self._is(subject, chunk, row[2], row[5])
                and self._is(object, chunk, row[4], row[11])
            ):
                yield row

    def _is(self, entity: int, chunk: int, name: str, kind: str) -> bool:
        hash = self._hash(name)
        if hash not in self._names_of(entity):
            return False
        return self._is_alone(entity) or self._arrays.meant(chunk, name, kind) == entity

    def _names_of(self, entity: int) -> frozenset[int]:
        if entity not in self._known:
            if len(self._known) > _KEPT:
                self._known.clear()
            names = self._meanings.names(entity)
            self._known[entity] = frozenset(self._arrays.names[np.array(names)].tolist())
        return self._known[entity]

    def _is_alone(self, entity: int) -> bool:
        """Whether there is no other entity that its names may mean."""
        name = int(self._arrays.codes[entity]) // WIDE
        if len(self._names_of(entity)) > 1 or self._arrays.articles[name] >= 0:
            return False
        return np.ptp(np.searchsorted(self._arrays.codes, [name * WIDE, (name + 1) * WIDE])) == 1

    @cached_property
    def _known(self) -> dict[int, frozenset[int]]:
        return {}

    def _hash(self, text: str) -> int:
        if text not in self._hashes:
            if len(self._hashes) > _KEPT:
                self._hashes.clear()
            self._hashes[text] = hash_of(text) & UNSIGNED
        return self._hashes[text]

    @cached_property
    def _hashes(self) -> dict[str, int]:
        return {}

    def _texts(self, documents: Collection[int]) -> dict[int, str]:
        query = "SELECT number, text FROM documents WHERE number IN (SELECT value FROM json_each(?))"
        with store_errors(self._store.path):
            return dict(self._store.db.execute(query, (json.dumps(list(documents)),)).fetchall())


class ChunkIds:
    """Ids of chunks by number, and numbers by id."""

    def __init__(self, arrays: GraphArrays, store: Store) -> None:
        self._arrays, self._store = arrays, store
        self._ids: dict[int, str] = {}

    def of(self, chunks: NDArray[np.integer]) -> dict[int, str]:
        """Ids of those of these chunks that are still there."""
        if len(self._ids) > _KEPT:
            self._ids.clear()
        new = [chunk for chunk in dict.fromkeys(chunks.tolist()) if chunk not in self._ids]
        if new:
            places = dict(zip(places_of(self._arrays, np.array(new, np.int64)), new, strict=True))
            query = (
                "SELECT c.document, c.ordinal, c.path FROM json_each(?) p CROSS JOIN chunks c "
                "WHERE c.document = json_extract(p.value, '$[0]') AND c.ordinal = json_extract(p.value, '$[1]')"
            )
            with store_errors(self._store.path):
                for document, ordinal, path in self._store.db.execute(query, (json.dumps(list(places)),)):
                    self._ids[places[document, ordinal]] = f"article:{document}:{path}"
        return {chunk: self._ids[chunk] for chunk in chunks.tolist() if chunk in self._ids}

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """The number of each of these that the graph has."""
        found: dict[str, int] = {}
        with store_errors(self._store.path):
            for id in dict.fromkeys(ids):
                try:
                    document, path = number_of(id), path_of(id)
                except (ValueError, IndexError):
                    continue
                at = self._arrays.document(document) if -1 << 63 <= document < 1 << 63 else -1
                if at >= 0:
                    query = "SELECT ordinal FROM chunks WHERE document = ? AND path = ?"
                    row = self._store.db.execute(query, (document, path)).fetchone()
                    begin, end = self._arrays.first_chunk[at : at + 2].tolist()
                    if row is not None and begin + row[0] < end:
                        found[id] = begin + row[0]
        return found


def places_of(arrays: GraphArrays, chunks: Ints) -> Iterator[tuple[int, int]]:
    """Document and ordinal of each of these chunks."""
    at = arrays.document_of(chunks)
    return zip(arrays.documents[at].tolist(), (chunks - arrays.first_chunk[at]).tolist(), strict=True)


def _first_texts(texts: Iterable[str]) -> str:
    """The first different ones, one behind the other."""
    found: dict[str, None] = {}
    for text in texts:
        if text:
            found.setdefault(text)
            if len(found) == DESCRIPTIONS:
                break
    return " ".join(found)


# Words of names

_FILE = "words.arrays"
_BEGINNINGS = (1, 2, 4)
"""So many letters that a name begins with stand for themselves, so that `beginning` looks at few names."""
_NONE: NDArray[np.int32] = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class NameWords:
    """Which names hold a word, and how they begin: hashes of both, in order, each with its names."""

    hashes: NDArray[np.uint64]
    name_begins: Ints
    names: NDArray[np.int32]

    @classmethod
    def of(cls, arrays: GraphArrays, before: tuple[Self, GraphArrays] | None = None) -> Self:
        """Of all names of a graph. `before`: those of a graph before, so that only new names are looked at."""
        new = np.ones(len(arrays.names), np.bool_)
        words, names = np.zeros(0, np.uint64), _NONE
        if before is not None:
            held, known = before
            place = np.searchsorted(arrays.names, known.names).astype(np.int32)
            there = np.append(arrays.names, np.uint64(0)).take(place) == known.names
            new[place[there]] = False
            names = np.where(there, place, np.int32(-1))[held.names]
            words = np.repeat(held.hashes, np.diff(held.name_begins))[names >= 0]
            names = names[names >= 0]
        added, of = _words_of(arrays, np.flatnonzero(new))
        order = np.lexsort((of, added))
        if len(words):
            at = _places(words, names, added[order], of[order])
            words, names = np.insert(words, at, added[order]), np.insert(names, at, of[order])
        else:
            words, names = added[order], of[order]
        first = np.flatnonzero(np.append(words[:1] == words[:1], words[1:] != words[:-1]))
        return cls(words[first], np.append(first, len(words)).astype(np.int64), names)

    def save(self, view: Path) -> None:
        save_arrays(view / _FILE, vars(self))

    @classmethod
    def load(cls, view: Path) -> Self:
        return cls(**load_arrays(view / _FILE))

    def holding(self, words: Collection[str]) -> NDArray[np.int32]:
        """Names that hold all of these words, as names are compared."""
        found = sorted((self._names(_hash(word)) for word in set(words)), key=len)
        if not found:
            return _NONE
        names = found[0]
        for others in found[1:]:
            if not len(names) or not len(others):
                return _NONE
            names = names[others.take(np.searchsorted(others, names), mode="clip") == names]
        return names

    def beginning(self, text: str) -> NDArray[np.int32]:
        """Names that may begin so: all that do, and others that begin like it."""
        size = max((size for size in _BEGINNINGS if size <= len(text)), default=0)
        return self._names(_hash(f"^{text[:size]}")) if size else _NONE

    def _names(self, hash: int) -> NDArray[np.int32]:
        at = int(np.searchsorted(self.hashes, np.uint64(hash)))
        if at == len(self.hashes) or int(self.hashes[at]) != hash:
            return _NONE
        return self.names[self.name_begins[at] : self.name_begins[at + 1]]


def _words_of(arrays: GraphArrays, names: Ints) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Hashes of words of these names, each with its name."""
    known: dict[str, int] = {}
    hashes: list[int] = []
    counts: list[int] = []
    for name in names.tolist():
        text = arrays.text(name)
        words = {*text.split(" "), *(f"^{text[:size]}" for size in _BEGINNINGS if size <= len(text))}
        counts.append(len(words))
        for word in words:
            hash = known.get(word)
            if hash is None:
                hash = known[word] = _hash(word)
            hashes.append(hash)
    return np.array(hashes, np.uint64), np.repeat(names, counts).astype(np.int32)


def _places(
    words: NDArray[np.uint64], names: NDArray[np.int32], wanted: NDArray[np.uint64], of: NDArray[np.int32]
) -> Ints:
    """Where words of names belong among others that are in the order of words and names."""
    low, high = np.searchsorted(words, wanted), np.searchsorted(words, wanted, side="right")
    rows = zip(low.tolist(), high.tolist(), of.tolist(), strict=True)
    return np.array([begin + int(np.searchsorted(names[begin:end], name)) for begin, end, name in rows], np.int64)


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
