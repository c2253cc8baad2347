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

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.files import load_arrays, save_arrays
from ragways.layers.graph.names import hash_of

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Hashes = NDArray[np.uint64]
Mask = NDArray[np.bool_]

FILE = "graph.arrays"
KINDS = ("", "person", "place", "organization", "work", "vehicle", "event", "species", "term", "date", "quantity")
"""Kinds of entities by their code."""
CODES = {kind: code for code, kind in enumerate(KINDS)}
WIDE = 16
"""Codes of entities are `place of the name * WIDE + kind`."""
_PREFIX = "entity:"
_DIGITS = frozenset("0123456789abcdef")
UNSIGNED = (1 << 64) - 1


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
    mean it are told by the mention (`meant`)."""

    codes: Ints
    """Of each entity, its name, and its kind where things of several kinds have that name (else 0): `name * WIDE +
    kind`. Sorted."""
    kinds: NDArray[np.int8]
    """Of each entity, its kind as far as it is known (`KINDS`); organizations are places here, and terms nothing."""
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
        codes = self.codes[np.asarray(entities, np.int64)]
        hashes = self.names[codes // WIDE] & np.uint64(UNSIGNED - WIDE + 1) | (codes % WIDE).astype(np.uint64)
        return [f"{_PREFIX}{hash:016x}" for hash in hashes.tolist()]

    def place(self, id: str) -> int:
        """The number of an entity by its id; -1 where it is not there."""
        digits = id.removeprefix(_PREFIX)
        if len(digits) != 16 or digits == id or not _DIGITS.issuperset(digits):
            return -1
        kind = int(digits[-1], 16)
        hash = int(digits, 16) - kind
        name = int(np.searchsorted(self.names, np.uint64(hash)))
        if name == len(self.names) or int(self.names[name]) - hash >= WIDE:
            return -1
        return place_in(self.codes, name * WIDE + kind)

    def places(self, ids: Iterable[str]) -> Ints:
        """Numbers of those of these entities that are there, in order."""
        return np.array(sorted({place for id in ids if (place := self.place(id)) >= 0}), np.int64)

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

    def predicate(self, text: str) -> int:
        """The number of a predicate, or -1."""
        return place_in(self.predicates, hash_of(text) & UNSIGNED)

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

    # A part

    def only(self, documents: frozenset[int]) -> Self:
        """The graph of what these documents say: entities that they name, relations that they state, and names that
        they call them by. Chunks, documents and names have the same numbers as in the whole, entities and relations
        others.
        """
        able = np.fromiter((number in documents for number in self.documents.tolist()), np.bool_, len(self.documents))
        seen = np.repeat(able, np.diff(self.first_chunk))
        naming = seen[self.naming_chunks]
        owner = owners(self.naming_begins)[naming]
        left = np.bincount(owner, minlength=len(self)) > 0
        to = (np.cumsum(left) - 1).astype(np.int32)
        times = self.naming_times[naming]
        by_chunk = left[self.named_entities] & np.repeat(seen, np.diff(self.named_begins))
        stating = seen[self.stating_chunks]
        relation = owners(self.stating_begins)[stating]
        size = len(self.weights)
        stated = np.bincount(relation, minlength=size) > 0
        weights = self.stating_weights[stating]
        subjects, objects = to[self.subjects[stated]], to[self.objects[stated]]
        object_order = np.argsort(objects, kind="stable")
        calling = seen[self.alias_chunks]
        alias = owners(self.alias_begins)[calling]
        called = np.bincount(alias, minlength=len(self.alias_names)) > 0
        counts = self.alias_counts[calling]
        entities = int(left.sum())
        return type(self)(
            documents=self.documents, first_chunk=self.first_chunk, titles=self.titles, names=self.names,
            letters=self.letters, letter_begins=self.letter_begins, everyday=self.everyday, final=self.final,
            articles=self.articles,
            codes=self.codes[left], kinds=self.kinds[left], counts=whole_sums(owner, times, len(self))[left],
            naming_begins=begins(to[owner], entities), naming_chunks=self.naming_chunks[naming], naming_times=times,
            naming_own=self.naming_own[naming], named_begins=begins(owners(self.named_begins)[by_chunk], self.chunks),
            named_entities=to[self.named_entities[by_chunk]], named_times=self.named_times[by_chunk],
            named_own=self.named_own[by_chunk], predicates=self.predicates, subjects=subjects, objects=objects,
            relation_predicates=self.relation_predicates[stated], weights=whole_sums(relation, weights, size)[stated],
            subject_begins=begins(subjects, entities), object_begins=begins(objects, entities),
            object_relations=object_order.astype(np.int32),
            stating_begins=begins((np.cumsum(stated) - 1)[relation], int(stated.sum())),
            stating_chunks=self.stating_chunks[stating], stating_weights=weights,
            alias_names=self.alias_names[called], alias_entities=to[self.alias_entities[called]],
            alias_times=whole_sums(alias, counts, len(called))[called],
            alias_begins=begins((np.cumsum(called) - 1)[alias], int(called.sum())),
            alias_chunks=self.alias_chunks[calling], alias_counts=counts,
        )  # fmt: skip


def begins(owners: NDArray[np.integer], size: int) -> Ints:
    """Where the rows of each owner begin, and the end; the rows are in the order of their owners."""
    return np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=size))]).astype(np.int64)


def owners(begins: Ints) -> Ints:
    """The owner of each row."""
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins))


def whole_sums(owners: NDArray[np.integer], values: NDArray[np.integer], size: int) -> Ints:
    """The sum of values of each owner; whole numbers, so that their order does not matter."""
    found = np.zeros(size, np.int64)
    np.add.at(found, owners, values)
    return found


def place_in(values: NDArray[Any], value: int) -> int:
    """The place of a value among sorted ones, or -1."""
    at = int(np.searchsorted(values, values.dtype.type(value)))
    return at if at < len(values) and int(values[at]) == value else -1
