"""How entities, relations and chunks of the graph are written, read from the rows when somebody looks.

The arrays say which rows an entity has: those of its names in the chunks that name it. Of a hub some chunks are read,
those of its own article and the first ones; numbers of documents are hashes, so these are like any others.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.files import load_arrays, save_arrays
from ragways.layers.graph.csr import (
    CODES,
    UNSIGNED,
    WIDE,
    GraphArrays,
    Hashes,
    Ints,
    Small,
    among,
    firsts,
    places_between,
    places_in,
    rows_of,
)
from ragways.layers.graph.names import decided, fold, hash_of, kind_of_name
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
_AT_ONCE = 500  # values that are given to SQLite together
_RULES = "rules"

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class EntityText:
    """How an entity is written; other names the most frequent first."""

    name: str
    type: str
    aliases: tuple[str, ...]
    way: str

    @classmethod
    def of(cls, rows: Sequence[Row], folded: str, title: str) -> Self:
        """From rows of mentions. Its name is that of its article, or else the most frequent spelling of the name."""
        if len(rows) == 1 and not title:
            _, _, _, meant, spelling, type, way, _ = rows[0]
            return cls(spelling, type or (_decided({meant: 1}, [spelling]) if way == _RULES else ""), (), way)
        spellings, types, guesses = (dict[str, int]() for _ in range(3))
        for _, _, _, meant, spelling, type, _, count in rows:
            spellings[spelling] = spellings.get(spelling, 0) + count
            known = types if type else guesses
            known[type or meant] = known.get(type or meant, 0) + count
        ways = sorted({row[6] for row in rows})
        alike = [name for name in spellings if fold(name) == folded] if len(spellings) > 1 else []
        name = title or min(alike or spellings, key=lambda name: (-spellings[name], name), default=NAMELESS)
        others = sorted((other for other in spellings if other != name), key=lambda a: (-spellings[a], a))
        type = min(types, key=lambda type: (-types[type], type), default="")
        if not type and _RULES in ways:
            type = _decided(guesses, spellings)
        return cls(name, type, tuple(others[:_ALIASES]), "+".join(ways))


def _decided(guesses: dict[str, int], spellings: Iterable[str]) -> str:
    found = {kind: count for kind, count in guesses.items() if kind}
    for kind in filter(None, map(kind_of_name, spellings)):
        found[kind] = found.get(kind, 0) + 1
    return decided(found)


class Meanings:
    """Which names in rows mean an entity: its own, redirects and acronyms, and the beginning of its article's title."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def names(self, entities: Ints) -> list[list[int]]:
        """Of each of these entities the names, its own first."""
        own = self._arrays.codes[entities] // WIDE
        targets, others = self._others
        begins, ends = np.searchsorted(targets, own), np.searchsorted(targets, own, side="right")
        found = [[name] for name in own.tolist()]
        for at in np.flatnonzero(begins < ends).tolist():
            found[at] += others[begins[at] : ends[at]].tolist()
        return found

    @cached_property
    def _others(self) -> tuple[Small, Small]:
        """Names that are meant, in order, and other names that mean them."""
        arrays = self._arrays
        leading = np.flatnonzero(arrays.final != np.arange(len(arrays.final)))
        based = np.flatnonzero(arrays.articles >= 0)
        targets = np.concatenate([arrays.final[leading], arrays.final[arrays.titles[arrays.articles[based]]]])
        order = np.argsort(targets, kind="stable")
        return targets[order], np.concatenate([leading, based])[order].astype(np.int32)

    def namesakes(self, names: Ints) -> tuple[Ints, Ints]:
        """Where the entities begin and end that have each of these names as their own."""
        codes = self._arrays.codes
        return np.searchsorted(codes, names * WIDE), np.searchsorted(codes, (names + 1) * WIDE)

    def is_of(self, entity: int, kind: str) -> bool:
        """Whether a row of its name that tells this kind is of the entity, and not of a namesake of that kind."""
        codes, code = self._arrays.codes, CODES.get(kind, 0)
        name, own = divmod(int(codes[entity]), WIDE)
        if own == code or own:
            return own == code
        after = codes[entity + 1 : entity + WIDE].tolist()  # one of no kind stands first
        return name * WIDE + code not in after


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
            rows, titles = self._mentions(new), self._titles(new)
            names = (self._arrays.codes[np.array(new)] // WIDE).tolist()
            for entity, name in zip(new, names, strict=True):
                text = EntityText.of(rows[entity], self._arrays.text(name), titles.get(entity, ""))
                self._read[entity] = text
        return {entity: self._read[entity] for entity in entities}

    def _mentions(self, entities: Sequence[int]) -> dict[int, list[Row]]:
        """Of each entity its rows: document, name, kind, meant, spelling, type, way, count."""
        columns = "m.document, m.chunk, m.hash, m.name, m.kind, m.meant, m.spelling, m.type, m.way, m.count"
        found: dict[int, list[Row]] = {entity: [] for entity in entities}
        for entity, row in self._rows("mentions", columns, entities):
            if self._meanings.is_of(entity, row[4]):
                found[entity].append((row[0], *row[3:]))
        return found

    def descriptions(self, entities: Sequence[int]) -> dict[int, str]:
        """What documents say that these entities are: the first different texts."""
        found: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        for entity, row in self._rows("descriptions", "m.document, m.chunk, m.hash, m.text", entities):
            found[entity].append((row[0], row[1], row[3]))
        return {entity: _first_texts(text for *_, text in sorted(rows)) for entity, rows in found.items()}

    def merges(self, entities: Sequence[int]) -> dict[int, list[tuple[str, str, str, int]]]:
        """Of each entity the names that were taken for its own: name, its own, the reason, in how many documents."""
        texts, rows = self.of(entities), self._mentions(entities)
        within = self._other_names({row[0] for some in rows.values() for row in some})
        found: dict[int, list[tuple[str, str, str, int]]] = {}
        for entity, text in texts.items():
            own = self._arrays.text(int(self._arrays.codes[entity]) // WIDE)
            reasons: dict[tuple[str, str], set[int]] = defaultdict(set)
            for document, name, _, _, spelling, *_ in rows[entity]:
                if spelling.casefold() != text.name.casefold():
                    reason = within.get((document, fold(spelling))) or self._reason(fold(spelling), name, own)
                    reasons[spelling, reason].add(document)
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

    def _rows(self, table: str, columns: str, entities: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Rows of a table of names that mean these entities, in chunks that name them; of hubs, in some of these."""
        numbers = np.array(entities, np.int64)
        names = self._meanings.names(numbers)
        of = np.repeat(numbers, [len(some) for some in names])
        named = np.array([name for some in names for name in some], np.int64)
        hashes = self._arrays.names[named].view(np.int64)
        begins = self._arrays.naming_begins
        first, end = self._meanings.namesakes(named)
        many = np.isin(of, of[begins[end] - begins[first] > _HUB])
        few = np.unique(of[~many])
        with store_errors(self._store.path):
            if len(few):
                query = f"SELECT {columns} FROM {table} m WHERE m.hash IN (SELECT value FROM json_each(?))"  # noqa: S608
                rows = self._store.db.execute(query, (json.dumps(hashes[~many].tolist()),)).fetchall()
                places, counts = rows_of(begins, few)
                keys = np.repeat(few, counts) << 32 | self._arrays.naming_chunks[places]
                yield from self._matching(rows, hashes[~many], of[~many], keys)
            if many.any():
                keys = np.concatenate([self._sample(hub) for hub in np.unique(of[many]).tolist()])
                # The plus keeps SQLite from going by the hash, which is that of many rows.
                query = (
                    f"SELECT {columns} FROM wanted CROSS JOIN {table} m "  # noqa: S608
                    "WHERE m.document = a AND m.chunk = b AND +m.hash IN (SELECT value FROM json_each(?))"
                )
                chunks = list(places_of(self._arrays, np.unique(keys & _LOW)))
                rows = rows_with(self._store, query, chunks, json.dumps(hashes[many].tolist()))
                yield from self._matching(rows, hashes[many], of[many], keys)

    def _matching(self, rows: Sequence[Row], hashes: Ints, of: Ints, keys: Ints) -> Iterator[tuple[int, Row]]:
        """Each row with the entities that it means: `hashes` are those of names, `of` the entity of each, and `keys`
        the chunks of entities, in order.
        """
        if not rows:
            return
        chunks = self._chunks_of(rows)
        order = np.argsort(hashes, kind="stable")
        hashes, of = hashes[order], of[order]
        wanted = np.fromiter((row[2] for row in rows), np.int64, len(rows))
        begins, ends = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, side="right")
        places, counts = places_between(begins, ends)
        which, entities = np.repeat(np.arange(len(rows)), counts), of[places]
        there = among(entities << 32 | chunks[which], keys)
        for at, entity in zip(which[there].tolist(), entities[there].tolist(), strict=True):
            yield entity, rows[at]

    def _chunks_of(self, rows: Sequence[Row]) -> Ints:
        """The numbers of the chunks of rows, of which the first values are document and ordinal; -1 of unknown ones."""
        arrays = self._arrays
        documents = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        ordinals = np.fromiter((row[1] for row in rows), np.int64, len(rows))
        at = places_in(arrays.documents, documents)
        return np.where(at >= 0, arrays.first_chunk[at] + ordinals, _LOW)

    def _sample(self, hub: int) -> Ints:
        """Some chunks of an entity, with its number."""
        row = slice(*self._arrays.naming_begins[hub : hub + 2].tolist())
        chunks = self._arrays.naming_chunks[row]
        own = chunks[self._arrays.naming_own[row]][:_OWN]
        return hub << 32 | np.union1d(own, chunks[:_SAMPLE]).astype(np.int64)

    def _titles(self, entities: Sequence[int]) -> dict[int, str]:
        """Titles of articles of entities, as far as these name them."""
        arrays, numbers = self._arrays, np.array(entities, np.int64)
        places, counts = rows_of(arrays.naming_begins, numbers)
        own = np.flatnonzero(arrays.naming_own[places])
        documents = arrays.documents[arrays.document_of(arrays.naming_chunks[places[own]])].tolist()
        of = dict(zip(np.repeat(numbers, counts)[own].tolist()[::-1], documents[::-1], strict=True))
        titles = _of_documents(self._store, "title", set(of.values()))
        return {entity: titles[number] for entity, number in of.items() if number in titles}


_LOW = (1 << 32) - 1


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

    def of(self, relations: Ints, *, described: bool = True) -> dict[int, RelationText]:
        """Those of these relations of which there are rows."""
        arrays = self._arrays
        places, counts = rows_of(arrays.stating_begins, relations, _STATING)
        chunks = arrays.stating_chunks[places].astype(np.int64)
        ends = self._ends(np.unique(np.concatenate([arrays.subjects[relations], arrays.objects[relations]])))
        parts = (
            relations, arrays.subjects[relations], arrays.objects[relations],
            arrays.predicates[arrays.relation_predicates[relations]],
        )  # fmt: skip
        columns = (np.repeat(part, counts).tolist() for part in parts)
        wanted = [
            ((number, chunk, subject, object, predicate), (document, ordinal, one, other))
            for number, subject, object, predicate, chunk, (document, ordinal) in zip(
                *columns, chunks.tolist(), places_of(arrays, chunks), strict=True
            )
            for one in ends[subject]
            for other in ends[object]
        ]
        rows = self._rows({key for _, key in wanted})
        stated: dict[int, list[Row]] = {number: [] for number in relations.tolist()}
        for (number, chunk, subject, object, predicate), key in wanted:
            for row in rows.get(key, ()):
                if hash_of(row[3]) & UNSIGNED == predicate and (
                    (not ends[subject][row[2]] or arrays.meant(chunk, row[2], row[5]) == subject)
                    and (not ends[object][row[4]] or arrays.meant(chunk, row[4], row[11]) == object)
                ):
                    stated[number].append(row)
        quoted = {row[0] for some in stated.values() for row in some if row[7] >= 0}
        texts = _of_documents(self._store, "text", quoted) if described else {}
        found = {}
        for number, some in stated.items():
            if some:
                telling = some if described else ()
                written = (texts[row[0]][row[7] : row[7] + row[8]] if row[7] >= 0 else row[9] for row in telling)
                date = next((row[6] for row in some if row[6]), "")
                ways = "+".join(sorted({row[10] for row in some}))
                found[number] = RelationText(some[0][3], _first_texts(written), date, ways)
        return found

    def _rows(self, wanted: Collection[tuple[int, int, str, str]]) -> dict[tuple[int, int, str, str], list[Row]]:
        """Rows of relations by document, chunk, subject and object, in the order of their words."""
        query = (
            "SELECT r.document, r.chunk, r.subject, r.predicate, r.object, r.subject_kind, r.date, r.start, r.length, "
            "r.description, r.way, r.object_kind FROM wanted CROSS JOIN relations r "
            "WHERE r.document = a AND r.chunk = b AND r.subject = c AND r.object = d"
        )
        found: dict[tuple[int, int, str, str], list[Row]] = defaultdict(list)
        with store_errors(self._store.path):
            for row in rows_with(self._store, query, list(wanted)):
                found[row[0], row[1], row[2], row[4]].append(row)
        for rows in found.values():
            rows.sort(key=itemgetter(7, 8, 9, 6, 10))
        return found

    def _ends(self, entities: Ints) -> dict[int, dict[str, bool]]:
        """Of each entity its names, and whether each may mean another one."""
        names = self._meanings.names(entities)
        named = np.array([name for some in names for name in some], np.int64)
        first, end = self._meanings.namesakes(named)
        shared = iter((((end - first) > 1) | (self._arrays.articles[named] >= 0)).tolist())
        return {
            entity: {self._arrays.text(name): next(shared) or len(some) > 1 for name in some}
            for entity, some in zip(entities.tolist(), names, strict=True)
        }


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
            query = "SELECT document, ordinal, path FROM wanted CROSS JOIN chunks WHERE document = a AND ordinal = b"
            with store_errors(self._store.path):
                for document, ordinal, path in rows_with(self._store, query, list(places)):
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


def _of_documents(store: Store, column: str, numbers: Collection[int]) -> dict[int, str]:
    """A column of these documents, by number."""
    query = f"SELECT number, {column} FROM documents WHERE number IN (SELECT value FROM json_each(?))"  # noqa: S608
    with store_errors(store.path):
        return dict(store.db.execute(query, (json.dumps(list(numbers)),)).fetchall())


def rows_with(store: Store, query: str, wanted: Sequence[Row], *more: object) -> list[Row]:
    """Rows of a query that joins a table `wanted` of these values, in columns `a`, `b`, and so on."""
    found: list[Row] = []
    for begin in range(0, len(wanted), _AT_ONCE):
        some = wanted[begin : begin + _AT_ONCE]
        columns = ", ".join("abcd"[: len(some[0])])
        marks = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        values = [value for row in some for value in row]
        found += store.db.execute(f"WITH wanted ({columns}) AS (VALUES {marks}) {query}", (*values, *more)).fetchall()
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
_NONE: Small = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class NameWords:
    """Which names hold a word, and how they begin: hashes of both, in order, each with its names."""

    hashes: Hashes
    name_begins: Ints
    names: Small

    @classmethod
    def of(cls, arrays: GraphArrays, before: tuple[Self, GraphArrays] | None = None) -> Self:
        """Of all names of a graph. `before`: those of a graph before, so that only new names are looked at."""
        new = np.ones(len(arrays.names), np.bool_)
        words, names = np.zeros(0, np.uint64), _NONE
        if before is not None:
            earlier, known = before
            place = places_in(arrays.names, known.names)
            new[place[place >= 0]] = False
            names = place[earlier.names]
            words = np.repeat(earlier.hashes, np.diff(earlier.name_begins))[names >= 0]
            names = names[names >= 0]
        added, of = _words_of(arrays, np.flatnonzero(new))
        order = np.lexsort((of, added))
        if len(words):
            at = _places(words, names, added[order], of[order])
            words, names = np.insert(words, at, added[order]), np.insert(names, at, of[order])
        else:
            words, names = added[order], of[order]
        first = firsts(words)
        return cls(words[first], np.append(first, len(words)).astype(np.int64), names)

    def save(self, view: Path) -> None:
        save_arrays(view / _FILE, vars(self))

    @classmethod
    def load(cls, view: Path) -> Self:
        return cls(**load_arrays(view / _FILE))

    def holding(self, words: Collection[str]) -> Small:
        """Names that hold all of these words, as names are compared."""
        found = sorted((self._names(_hash(word)) for word in set(words)), key=len)
        if not found:
            return _NONE
        names = found[0]
        for others in found[1:]:
            names = names[among(names, others)]
        return names

    def beginning(self, text: str) -> Small:
        """Names that may begin so: all that do, and others that begin like it."""
        size = max((size for size in _BEGINNINGS if size <= len(text)), default=0)
        return self._names(_hash(f"^{text[:size]}")) if size else _NONE

    def _names(self, hash: int) -> Small:
        at = int(np.searchsorted(self.hashes, np.uint64(hash)))
        if at == len(self.hashes) or int(self.hashes[at]) != hash:
            return _NONE
        return self.names[self.name_begins[at] : self.name_begins[at + 1]]


def _words_of(arrays: GraphArrays, names: Ints) -> tuple[Hashes, Small]:
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


def _places(words: Hashes, names: Small, wanted: Hashes, of: Small) -> Ints:
    """Where words of names belong among others that are in the order of words and names."""
    low, high = np.searchsorted(words, wanted), np.searchsorted(words, wanted, side="right")
    rows = zip(low.tolist(), high.tolist(), of.tolist(), strict=True)
    return np.array([begin + int(np.searchsorted(names[begin:end], name)) for begin, end, name in rows], np.int64)


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
