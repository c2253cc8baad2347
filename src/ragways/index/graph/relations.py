"""Relations as arrays, and the words of what they say as numbers: for the many that a question touches."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.index.words import terms

Ints = NDArray[np.int64]
Small = NDArray[np.int32]


@dataclass(frozen=True)
class RelationArrays:
    """Relations by number, in the order of their ids: equal weights go by number.

    Those with entity i as subject are `from_subject[by_subject[i]:by_subject[i + 1]]`, likewise for objects; the chunks
    that state relation j, in the corpus's order, are `stating[stated[j]:stated[j + 1]]`.
    """

    ids: NDArray[np.uint64]
    subjects: Small
    objects: Small
    weights: NDArray[np.float64]
    by_subject: Ints
    from_subject: Small
    by_object: Ints
    from_object: Small
    stated: Ints
    stating: Small

    def __len__(self) -> int:
        return len(self.subjects)

    @classmethod
    def of(
        cls, size: int, rows: Sequence[tuple[str, int, int, float]], statements: Sequence[tuple[int, int]]
    ) -> RelationArrays:
        """From the id, the ends among `size` entities and the weight of every relation, by id; and pairs of relation
        and chunk, sorted.
        """
        ids, subjects, objects, weights = zip(*rows, strict=True) if rows else ((), (), (), ())
        left, right = np.array(subjects, dtype=np.int32), np.array(objects, dtype=np.int32)
        pairs = np.fromiter(chain.from_iterable(statements), np.int64, 2 * len(statements)).reshape(-1, 2)
        return cls(
            _as_numbers(ids),
            left,
            right,
            np.array(weights, dtype=np.float64),
            *_grouped(size, left),
            *_grouped(size, right),
            np.searchsorted(pairs[:, 0], np.arange(len(rows) + 1)).astype(np.int64),
            pairs[:, 1].astype(np.int32),
        )

    def save(self, folder: Path) -> None:
        for part in fields(self):
            np.save(_file(folder, part.name), getattr(self, part.name))

    @classmethod
    def load(cls, folder: Path) -> RelationArrays:
        # Plain views of the mapped files: indexing a memmap costs as much again in bookkeeping.
        return cls(*(np.asarray(np.load(_file(folder, part.name), mmap_mode="r")) for part in fields(cls)))

    def touching(self, entities: Iterable[int], limit: int) -> Ints:
        """Relations with an end among these entities: the `limit` heaviest, heaviest first."""
        nodes, inside = self._chosen(entities)
        left = self.from_subject[places_of(self.by_subject, nodes)[0]]
        right = self.from_object[places_of(self.by_object, nodes)[0]]
        return self._heaviest(np.concatenate([left, right[~inside[self.subjects[right]]]]), limit)

    def between(self, entities: Iterable[int], limit: int | None = None) -> Ints:
        """Relations with both ends among these entities: all of them, or the `limit` heaviest; heaviest first."""
        nodes, inside = self._chosen(entities)
        found = self.from_subject[places_of(self.by_subject, nodes)[0]]
        found = found[inside[self.objects[found]]]
        return self._heaviest(found, len(found) if limit is None else limit)

    def sources(self, numbers: Ints) -> tuple[Ints, Ints]:
        """The chunks that state these relations, one after the other; and for each, which of `numbers` it states."""
        places, counts = places_of(self.stated, numbers)
        return self.stating[places].astype(np.int64), np.repeat(np.arange(len(numbers)), counts)

    def names(self, numbers: Ints) -> list[str]:
        """The ids of these relations."""
        return [f"{_PREFIX}{id:016x}" for id in self.ids[numbers].tolist()]

    def numbers(self, ids: Sequence[str]) -> Ints:
        """The numbers of relations by id; of one that is not there, that which it would have."""
        return np.searchsorted(self.ids, _as_numbers(ids)).astype(np.int64)

    def _chosen(self, entities: Iterable[int]) -> tuple[Ints, NDArray[np.bool_]]:
        nodes = np.unique(np.fromiter(entities, dtype=np.int64))
        inside = np.zeros(len(self.by_subject) - 1, dtype=np.bool_)
        inside[nodes] = True
        return nodes, inside

    def _heaviest(self, found: Small, limit: int) -> Ints:
        """A hub has relations by the ten thousand, many of the same weight, so only what is kept is sorted."""
        numbers, weights = found.astype(np.int64), self.weights[found]
        if limit < len(numbers):
            border = np.partition(weights, -limit)[-limit] if limit > 0 else np.inf
            above, equal = numbers[weights > border], numbers[weights == border]
            wanted = max(0, limit - len(above))
            equal = np.partition(equal, wanted)[:wanted] if wanted < len(equal) else equal
            numbers = np.concatenate([above, equal])
            weights = self.weights[numbers]
        return numbers[np.lexsort((numbers, -weights))]


_PREFIX = "relation:"


def _as_numbers(ids: Sequence[str]) -> NDArray[np.uint64]:
    """Ids are sixteen hexadecimal digits: as numbers they have the same order in a third of the room. What is no id is
    the number of none, or of one with another name.
    """
    digits = (id.removeprefix(_PREFIX) for id in ids)
    return np.array([int(each, 16) if _DIGITS.fullmatch(each) else 0 for each in digits], dtype=np.uint64)


_DIGITS = re.compile("[0-9a-f]{16}")


def _grouped(size: int, ends: Small) -> tuple[Ints, Small]:
    """The places of each number in a list: where the places of each begin, and the places."""
    order = np.argsort(ends, kind="stable")
    return np.searchsorted(ends[order], np.arange(size + 1)).astype(np.int64), order.astype(np.int32)


def places_of(begins: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The places of all that these rows hold, and how much each does."""
    first = begins[rows]
    counts = begins[rows + 1] - first
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(first - before, counts), counts


def _file(folder: Path, part: str) -> Path:
    return folder / f"graph-relations-{part.replace('_', '-')}.npy"


DESCRIPTION = 240
"""Characters of a description that are shown of a relation, and whose words count."""


@dataclass(frozen=True)
class RelationTerms:
    """Words of relations by the parts of their texts, many of which are shared: one sentence describes many relations.

    The parts of relation i are `parts[i]`. The terms of part j, whose text has the hash `hashes[j]`, are
    `vocabulary[held[begins[j]:begins[j + 1]]]`. Hashes and vocabulary are sorted.
    """

    vocabulary: NDArray[np.bytes_]
    hashes: NDArray[np.uint64]
    begins: Ints
    held: NDArray[np.integer[Any]]
    """As wide as the vocabulary needs."""
    parts: Small

    @classmethod
    def of(cls, relations: Iterable[Sequence[str]], before: RelationTerms | None = None) -> RelationTerms:
        """From the parts of each relation's text, equally many of each; no word goes over the border of a part. What
        `before` knows of a part is taken over: to find words is most of the work.
        """
        numbers: dict[str, int] = {}
        rows, count = array("i"), 0
        for parts in relations:
            rows.extend([numbers.setdefault(part, len(numbers)) for part in parts])
            count += 1
        texts, hashes = list(numbers), np.array([_text_hash(text) for text in numbers], dtype=np.uint64)
        order = np.argsort(hashes)
        known = before._terms_of(hashes) if before is not None else {}
        said = [known[i] if i in known else [term.encode() for term in terms(texts[i])] for i in order.tolist()]
        vocabulary = np.array(sorted({term for each in said for term in each}), dtype=np.bytes_)
        place = {term: n for n, term in enumerate(vocabulary.tolist())}
        held = [n for each in said for n in sorted(place[term] for term in each)]
        where = np.empty(len(order), dtype=np.int32)
        where[order] = np.arange(len(order))
        return cls(
            vocabulary,
            hashes[order],
            np.cumsum([0, *map(len, said)], dtype=np.int64),
            np.array(held, dtype=np.min_scalar_type(len(vocabulary))),
            where[np.array(rows, dtype=np.int32)].reshape(count, len(rows) // count if count else 0),
        )

    def _terms_of(self, hashes: NDArray[np.uint64]) -> dict[int, list[bytes]]:
        """The terms of those texts that have a part here, by their place in the list of hashes."""
        if not len(self.hashes):
            return {}
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        there = np.flatnonzero(self.hashes[places] == hashes)
        words, held = self.vocabulary.tolist(), self.held.tolist()
        begins = self.begins[places[there]].tolist()
        ends = self.begins[places[there] + 1].tolist()
        return {
            i: [words[n] for n in held[begin:end]] for i, begin, end in zip(there.tolist(), begins, ends, strict=True)
        }

    def save(self, folder: Path) -> None:
        for part in fields(self):
            np.save(folder / f"graph-terms-{part.name}.npy", getattr(self, part.name))

    @classmethod
    def load(cls, folder: Path) -> RelationTerms:
        parts = (np.load(folder / f"graph-terms-{part.name}.npy", mmap_mode="r") for part in fields(cls))
        return cls(*map(np.asarray, parts))

    def shared(self, relations: Ints, wanted: Collection[str]) -> Ints:
        """How many of the wanted terms each of these relations holds."""
        known = np.zeros(len(self.vocabulary), dtype=np.bool_)
        known[self._places(wanted)] = True
        parts = self.parts[relations]
        places, counts = places_of(self.begins, parts.ravel().astype(np.int64))
        which = np.repeat(np.repeat(np.arange(len(relations)), parts.shape[1]), counts)
        here = self.held[places]
        found = known[here]
        # A term may stand in several parts, and counts once.
        pairs = np.unique(which[found] * len(known) + here[found])
        return np.bincount(pairs // max(1, len(known)), minlength=len(relations)).astype(np.int64)

    def _places(self, wanted: Collection[str]) -> Ints:
        # Of the vocabulary's own width: comparing with a wider one would copy all of it.
        width = self.vocabulary.dtype.itemsize
        words = np.array([w for w in (term.encode() for term in wanted) if len(w) <= width], dtype=f"S{width}")
        places = np.searchsorted(self.vocabulary, words).astype(np.int64)
        inside = places < len(self.vocabulary)
        places, words = places[inside], words[inside]
        found: Ints = places[self.vocabulary[places] == words]
        return found


def _text_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
