"""The graph as arrays: entities, the chunks that name them, and the relations between them, mapped from one file.

Everything has a number, which is its place in an array. Documents are numbered by their stable numbers, chunks by
document and place, names and predicates by hash, entities by name and kind, relations by subject, object and predicate.
So numbers are the same in every history of the same documents, and a tie is decided by the smaller number.
Names are here as they are compared; how they are written, types, descriptions and dates are read from rows when
somebody looks.

A part `x_begins` has one number more than there are owners: what owner i has is `[x_begins[i]:x_begins[i + 1]]`.
No links for PageRank are stored: the rows of an entity in `naming_…`, `subject_…` and `object_…`, and those of a chunk
in `named_…`, are all of its links, and a walk looks at few of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.files import load_arrays, save_arrays
from ragways.layers.graph.names import SPARE, hash_of

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Hashes = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

FILE = "graph.arrays"
KINDS = ("", "person", "place", "organization", "work", "vehicle", "event", "species", "term", "date", "quantity",
         *SPARE)  # fmt: skip
"""Kinds of entities by their code."""
CODES = {kind: code for code, kind in enumerate(KINDS)}
WIDE = 16
"""Codes of entities are `place of the name * WIDE + kind`."""
UNSIGNED = (1 << 64) - 1
_ID = re.compile("entity:([0-9a-f]{16})")


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """All arrays of a graph, or of the part of it that some documents are about (`only`)."""

    documents: Ints
    """Numbers of all documents, sorted; also of redirects and of others that name nothing."""
    first_chunk: Ints
    """Begins: the chunks of each document, by ordinal."""
    titles: Small
    """The name that each document's title is, as titles are compared; -1 where nothing is left of it."""

    names: Hashes
    """Hashes of folded names (`names.hash_of`, unsigned), sorted: own names of entities, aliases, titles."""
    letters: NDArray[np.uint8]
    """The folded names themselves, in that order, each with a line break behind it (`text`): to look for words in."""
    letter_begins: Ints
    """Begins: the letters of each name."""
    everyday: Mask
    """Of each name, whether it is a single word that the corpus writes small as often as large."""
    final: Small
    """Of each name, the name that it means in the whole corpus: itself, or where a redirect or an acronym leads."""
    articles: Small
    """Of each name, the document whose title is the only one with this base (`Grey Petrel (ship)`), or -1: those who
    mean it are decided by the mention (`meant`)."""

    codes: Ints
    """Of each entity, its name, and its kind where things of several kinds have that name (else 0): `name * WIDE +
    kind`. Sorted."""
    kinds: NDArray[np.int8]
    """Of each entity, its kind as far as it is known (`KINDS`); of what rules find,
    organizations are places here, and terms nothing."""
    counts: Ints
    """How often each entity is named."""

    naming_begins: Ints
    """Begins: the chunks that name each entity, in order."""
    naming_chunks: Small
    naming_times: Small
    naming_own: Mask
    """Whether the chunk is of the entity's own article."""
    named_begins: Ints
    """Begins: the same by chunk; the entities that each names, in order."""
    named_entities: Small
    named_times: Small
    named_own: Mask

    predicates: Hashes
    """Hashes of predicates (`names.hash_of`, unsigned), sorted."""
    subjects: Small
    """Of each relation; relations are sorted by subject, object, predicate."""
    objects: Small
    relation_predicates: Small
    """Places in `predicates`."""
    weights: Ints
    """In millionths, of all statements."""
    subject_begins: Ints
    """Begins: the relations with each entity as their subject: their numbers follow one another."""
    object_begins: Ints
    """Begins, in `object_relations`: the relations with each entity as their object, in order."""
    object_relations: Small
    stating_begins: Ints
    """Begins: the chunks that state each relation, in order."""
    stating_chunks: Small
    stating_weights: Ints
    """In millionths: what each chunk adds."""

    alias_names: Small
    """Names that entities have besides their own, and the beginning of titles (`Midway` of `Midway, Iowa`). Sorted by
    name, entity."""
    alias_entities: Small
    alias_times: Ints
    """How often the entity is called so."""
    alias_begins: Ints
    """Begins: the chunks that call the entity so, in order."""
    alias_chunks: Small
    alias_counts: Small

    # Files

    @classmethod
    def load(cls, view: Path) -> Self:
        return cls(**load_arrays(view / FILE))

    def save(self, view: Path) -> None:
        save_arrays(view / FILE, self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # Numbers and ids

    def __len__(self) -> int:
        """How many entities there are."""
        return len(self.codes)

    @property
    def chunks(self) -> int:
        """How many chunks the documents have."""
        return int(self.first_chunk[-1])

    def ids(self, entities: Collection[int] | NDArray[np.integer]) -> list[str]:
        """Ids of entities. They are in the order of numbers: the name's hash, the last digit of it being the kind."""
        return [f"entity:{hash:016x}" for hash in self.hashes(np.asarray(entities, np.int64)).tolist()]

    def hashes(self, entities: NDArray[np.integer]) -> Hashes:
        """Ids of entities as numbers."""
        names, kinds = np.divmod(self.codes[entities], WIDE)
        hashes: Hashes = self.names[names] & ~np.uint64(WIDE - 1) | kinds.astype(np.uint64)
        return hashes

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of those of these entities that are there, in their order."""
        wanted = {id: int(digits[1], 16) for id in ids if (digits := _ID.fullmatch(id)) is not None}
        hashes = np.array(list(wanted.values()), np.uint64)
        kinds = hashes % np.uint64(WIDE)
        names = np.searchsorted(self.names, hashes - kinds)
        known = np.append(self.names, np.uint64(0)).take(names) - (hashes - kinds) < WIDE
        places = places_in(self.codes, names * WIDE + kinds.astype(np.int64))
        found = zip(wanted, places.tolist(), known.tolist(), strict=True)
        return {id: place for id, place, there in found if there and place >= 0}

    def number(self, id: str) -> int:
        """The number of an entity; -1 where it is not there."""
        return self.numbers([id]).get(id, -1)

    def name(self, folded: str) -> int:
        """The number of a folded name, or -1."""
        return place_in(self.names, hash_of(folded) & UNSIGNED)

    def text(self, name: int) -> str:
        """A name, folded."""
        return (
            self.letters[self.letter_begins[name] : self.letter_begins[name + 1] - 1]
            .tobytes()
            .decode("utf-8", "surrogatepass")
        )

    def called(self, name: int) -> tuple[Ints, Ints]:
        """Entities with this own name, and others that have it as an alias or mean it: each most often named first."""
        if name < 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        own = np.arange(*np.searchsorted(self.codes, [name * WIDE, (name + 1) * WIDE]))
        begin, end = np.searchsorted(self.alias_names, [name, name + 1])
        others = np.asarray(self.alias_entities[begin:end], np.int64)
        others = others[(others < own[0]) | (others > own[-1])] if len(own) else others
        return self._most_named(own), self._most_named(others)

    def _most_named(self, entities: Ints) -> Ints:
        return entities[np.lexsort((entities, -self.counts[entities]))]

    def meant(self, chunk: int, folded: str, kind: str) -> int:
        """The entity that a row of `mentions`, or the end of one of `relations`, means: by its chunk, the name resolved
        in the document, and the kind; -1 where the chunk names none such.
        """
        name = self.name(folded)
        if name < 0:
            return -1
        article = int(self.articles[name])
        candidates = [int(self.titles[article])] if article >= 0 else []
        here = self.named_entities[self.named_begins[chunk] : self.named_begins[chunk + 1]]
        for candidate in (*candidates, name):
            final = int(self.final[candidate])
            for code in (final * WIDE + CODES[kind], final * WIDE):
                entity = place_in(self.codes, code)
                if entity >= 0 and place_in(here, entity) >= 0:
                    return entity
        return -1

    # Documents and chunks

    def document_of(self, chunks: NDArray[np.integer]) -> Ints:
        """The place in `documents` of the document that each chunk is of."""
        return np.searchsorted(self.first_chunk, chunks, side="right") - 1

    def document(self, number: int) -> int:
        """The place of a document by its number, or -1."""
        return place_in(self.documents, number)

    def chunks_of(self, documents: Collection[int]) -> Mask:
        """Which chunks are of these documents."""
        able = np.fromiter((number in documents for number in self.documents.tolist()), np.bool_, len(self.documents))
        found: Mask = np.repeat(able, np.diff(self.first_chunk))
        return found

    def only(self, documents: frozenset[int]) -> Self:
        """The graph of what these documents say: entities that they name, relations that they state, and names that
        they call them by. Chunks, documents and names have the same numbers as in the whole, entities and relations
        others.
        """
        seen = self.chunks_of(documents)
        naming, stating, calling = seen[self.naming_chunks], seen[self.stating_chunks], seen[self.alias_chunks]
        left, naming_begins = _owners_left(self.naming_begins, naming)
        stated, stating_begins = _owners_left(self.stating_begins, stating)
        called, alias_begins = _owners_left(self.alias_begins, calling)
        to, entities = (np.cumsum(left) - 1).astype(np.int32), int(left.sum())
        named = np.repeat(seen, np.diff(self.named_begins))
        subjects, objects = to[self.subjects[stated]], to[self.objects[stated]]
        times, weights, counts = self.naming_times[naming], self.stating_weights[stating], self.alias_counts[calling]
        return replace(
            self, codes=self.codes[left], kinds=self.kinds[left], counts=sums(times, naming_begins[:-1]),
            naming_begins=naming_begins, naming_chunks=self.naming_chunks[naming], naming_times=times,
            naming_own=self.naming_own[naming], named_begins=begins(owners(self.named_begins)[named], self.chunks),
            named_entities=to[self.named_entities[named]], named_times=self.named_times[named],
            named_own=self.named_own[named], subjects=subjects, objects=objects,
            relation_predicates=self.relation_predicates[stated], weights=sums(weights, stating_begins[:-1]),
            subject_begins=begins(subjects, entities), object_begins=begins(objects, entities),
            object_relations=np.argsort(objects, kind="stable").astype(np.int32),
            stating_begins=stating_begins, stating_chunks=self.stating_chunks[stating], stating_weights=weights,
            alias_names=self.alias_names[called], alias_entities=to[self.alias_entities[called]],
            alias_times=sums(counts, alias_begins[:-1]), alias_begins=alias_begins,
            alias_chunks=self.alias_chunks[calling], alias_counts=counts,
        )  # fmt: skip


def _owners_left(begins: Ints, rows: Mask) -> tuple[Mask, Ints]:
    """Which owners have any of these rows, and where the rows of each of them begin."""
    counts = np.bincount(owners(begins)[rows], minlength=len(begins) - 1)
    left = counts > 0
    return left, np.concatenate([[0], np.cumsum(counts[left])]).astype(np.int64)


# Relations

MANY = 256
"""Relations of an entity beyond which those to another one are looked up, not gone through."""
_RELATION_ID = re.compile("relation:([0-9a-f]{16})")
_OF_SUBJECT = 20
"""First bits of an id: those of the subject's, so that a relation is found among those of a few subjects."""
_REST = np.uint64(64 - _OF_SUBJECT)
_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST = np.uint64(31)
"""Of the finalizer of SplitMix64: each bit of what it is given changes half of the bits of what it gives."""
_CACHED_IDS = 50_000


class Relations:
    """The relations of a graph's arrays by number: their ids, and which touch or join some entities."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays
        self._known: dict[str, int] = {}
        """Numbers of ids that were given out: a question asks for these next."""

    # Ids

    def ids(self, numbers: Ints) -> list[str]:
        """The ids of these relations."""
        ids = [f"relation:{id:016x}" for id in self._keys(numbers).tolist()]
        if len(self._known) > _CACHED_IDS:
            self._known.clear()
        self._known.update(zip(ids, numbers.tolist(), strict=True))
        return ids

    def numbers(self, ids: Sequence[str]) -> Ints:
        """The numbers of relations by id; -1 of one that is not there."""
        known = self._known
        return np.array([known[id] if id in known else self._number(id) for id in ids], np.int64)

    def _number(self, id: str) -> int:
        digits = _RELATION_ID.fullmatch(id)
        if digits is None:
            return -1
        arrays, key = self._arrays, int(digits[1], 16)
        prefix = key >> int(_REST)
        names = [int(np.searchsorted(arrays.names, np.uint64(prefix << int(_REST)))), len(arrays.names)]
        if (after := (prefix + 1) << int(_REST)) <= UNSIGNED:
            names[1] = int(np.searchsorted(arrays.names, np.uint64(after)))
        numbers = np.arange(*arrays.subject_begins[np.searchsorted(arrays.codes, np.array(names) * WIDE)])
        found = numbers[self._keys(numbers) == np.uint64(key)]
        return int(found[0]) if len(found) else -1

    def _keys(self, numbers: Ints) -> Hashes:
        arrays = self._arrays
        subjects, objects = arrays.hashes(arrays.subjects[numbers]), arrays.hashes(arrays.objects[numbers])
        predicates = arrays.predicates[arrays.relation_predicates[numbers]]
        mixed = _mixed(_mixed(_mixed(subjects) + predicates) + objects)
        keys: Hashes = subjects >> _REST << _REST | mixed >> np.uint64(_OF_SUBJECT)
        return keys

    # Of entities

    def touching(self, entities: Ints) -> Ints:
        """Relations with an end among these entities, which are in order."""
        begun, ended = self._begun(entities), self._ended(entities)
        return np.concatenate([begun, ended[~among(self._arrays.subjects[ended], entities)]])

    def joining(self, entities: Ints) -> Ints:
        """Relations with both ends among these entities, in order."""
        arrays, nodes = self._arrays, distinct(entities)
        few_to, few_from = (
            begins[nodes + 1] - begins[nodes] <= MANY for begins in (arrays.subject_begins, arrays.object_begins)
        )
        hubs = nodes[~few_to]
        begun, ended = self._begun(nodes[few_to]), self._ended(nodes[few_from] if len(hubs) else hubs)
        begun, ended = begun[among(arrays.objects[begun], nodes)], ended[among(arrays.subjects[ended], hubs)]
        return np.sort(np.concatenate([begun, ended, self._looked_up(hubs, nodes[~few_from])]))

    def heaviest(self, numbers: Ints, limit: int) -> Ints:
        """The `limit` heaviest of these, heaviest first, equals by number."""
        return numbers[largest(self._arrays.weights[numbers], limit, numbers)]

    def _begun(self, entities: Ints) -> Ints:
        return rows_of(self._arrays.subject_begins, entities)[0]

    def _ended(self, entities: Ints) -> Ints:
        return self._arrays.object_relations[rows_of(self._arrays.object_begins, entities)[0]].astype(np.int64)

    def _looked_up(self, subjects: Ints, objects: Ints) -> Ints:
        """Relations from one of these entities to one of those, which have many: by objects, which are in order."""
        found = [np.zeros(0, np.int64)]
        for subject in subjects.tolist():
            first, end = self._arrays.subject_begins[subject : subject + 2].tolist()
            row = self._arrays.objects[first:end]
            begins, ends = np.searchsorted(row, objects), np.searchsorted(row, objects, side="right")
            found.append(first + places_between(begins, ends)[0])
        return np.concatenate(found)

    def of_ends(self, numbers: Ints, nodes: Ints, *scores: Iterable[float]) -> list[tuple[Floats, Floats]]:
        """Of each of several scores of these entities, that of the subject and of the object of each of these
        relations, whose ends are among them.
        """
        order = np.argsort(nodes)
        ends = [
            order[np.searchsorted(nodes, ends[numbers], sorter=order)]
            for ends in (self._arrays.subjects, self._arrays.objects)
        ]
        given = [np.array([*each], np.float64) for each in scores]
        return [(each.take(ends[0]), each.take(ends[1])) for each in given]

    # Chunks

    def sources(self, numbers: Ints, most: int | None = None, each: int | None = None) -> tuple[Ints, Ints]:
        """The chunks that state these relations, one after the other, and for each, which of `numbers` it states: all
        of them, the `most` first in all, or so many of `each`. A number below 0 is of no relation.
        """
        there = np.flatnonzero(numbers >= 0)
        places, counts = rows_of(self._arrays.stating_begins, numbers[there], each)
        which = np.repeat(there, counts)
        return self._arrays.stating_chunks[places[:most]].astype(np.int64), which[:most]


def _mixed(numbers: Hashes) -> Hashes:
    for shift, factor in _STEPS:
        numbers = (numbers ^ numbers >> shift) * factor
    mixed: Hashes = numbers ^ numbers >> _LAST
    return mixed


# Rows of owners, and sorted values


def begins(owners: NDArray[np.integer], size: int) -> Ints:
    """Where the rows of each owner begin, and the end; the rows are in the order of their owners."""
    return np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=size))]).astype(np.int64)


def owners(begins: Ints) -> Ints:
    """The owner of each row."""
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins))


def row_counts(begins: NDArray[np.integer], owners: NDArray[np.integer]) -> Ints:
    """How many rows each of these owners has."""
    return (begins.take(owners + 1) - begins.take(owners)).astype(np.int64)


def rows_of(begins: NDArray[np.integer], owners: NDArray[np.integer], most: int | None = None) -> tuple[Ints, Ints]:
    """The places of all that these owners have, or of the `most` first of each, one owner after the other, and how
    many there are of each.
    """
    first = begins.take(owners).astype(np.int64)
    ends = begins.take(owners + 1).astype(np.int64)
    return places_between(first, ends if most is None else np.minimum(ends, first + most))


def places_between(begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The places of several stretches, one after the other, and how long each is."""
    counts = ends - begins
    places = np.repeat(begins - np.cumsum(counts) + counts, counts)
    places += np.arange(len(places))
    return places, counts


def whole_sums(owners: NDArray[np.integer], values: NDArray[np.integer], size: int) -> Ints:
    """The sum of values of each owner; whole numbers, so that their order does not matter."""
    found = np.zeros(size, np.int64)
    np.add.at(found, owners, values)
    return found


def sums(values: NDArray[Any], begins: Ints) -> Ints:
    """Sums of the stretches of values that begin here, none of them empty; whole numbers likewise."""
    found: Ints = np.add.reduceat(values.astype(np.int64), begins) if len(begins) else np.zeros(0, np.int64)
    return found


def firsts(*columns: NDArray[Any]) -> Ints:
    """Where in sorted rows others begin."""
    other = np.ones(len(columns[0]), np.bool_)
    if len(other):
        other[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    found: Ints = np.flatnonzero(other)
    return found


def distinct(values: Ints) -> Ints:
    """The different values, in order. By sorting: `np.unique` takes ten times as long for many."""
    ordered = np.sort(values)
    found: Ints = ordered[firsts(ordered)]
    return found


def place_in(values: NDArray[Any], value: int) -> int:
    """The place of a value among sorted ones, or -1."""
    at = int(np.searchsorted(values, values.dtype.type(value)))
    return at if at < len(values) and int(values[at]) == value else -1


def places_in(sorted: NDArray[Any], values: NDArray[Any]) -> Small:
    """The places of values among sorted ones, -1 of those that are not there."""
    if not len(sorted):
        return np.full(len(values), -1, np.int32)
    found = np.searchsorted(sorted, values)
    return np.where(sorted.take(found, mode="clip") == values, found, -1).astype(np.int32)


def among(values: NDArray[Any], sorted: NDArray[Any]) -> Mask:
    """Which of the values are among the sorted ones."""
    if not len(sorted):
        return np.zeros(len(values), np.bool_)
    found: Mask = sorted.take(np.searchsorted(sorted, values), mode="clip") == values
    return found


def largest(values: NDArray[Any], count: int, ties: Ints | None = None) -> Ints:
    """The places of the `count` largest values, largest first; equals by `ties`, or by place. Only those are sorted
    that may be among them: a hub has relations and mentions by the ten thousand.
    """
    able = np.arange(len(values))
    if count < len(values):
        able = np.flatnonzero(values >= np.partition(values, -count)[-count]) if count > 0 else able[:0]
    return able[np.lexsort((able if ties is None else ties[able], -values[able]))][:count]
