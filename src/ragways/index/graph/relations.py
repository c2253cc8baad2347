"""Relations as arrays, and the words of what they say as numbers: for the many that a question touches."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
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
        cls,
        size: int,
        ids: NDArray[np.uint64],
        subjects: Small,
        objects: Small,
        weights: NDArray[np.float64],
        stated: tuple[Ints, Small],
    ) -> RelationArrays:
        """From relations by id, with their ends among `size` entities; `stated` are pairs of relation and chunk, in
        rising order of chunks.
        """
        relations, chunks = stated
        order = np.argsort(relations, kind="stable")
        return cls(
            ids,
            subjects,
            objects,
            weights,
            *_grouped(size, subjects),
            *_grouped(size, objects),
            np.searchsorted(relations[order], np.arange(len(ids) + 1)).astype(np.int64),
            chunks[order],
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
    def of(cls, texts: TextTerms, parts: Small) -> RelationTerms:
        """From the numbers of texts that each relation's text is made of, equally many of each; no word goes over the
        border of a part. Texts that are no part of any leave nothing.
        """
        used = _different(parts, len(texts))[0]
        hashes, first, which = np.unique(texts.hashes[used], return_index=True, return_inverse=True)
        where = np.zeros(int(used[-1]) + 1 if len(used) else 0, dtype=np.int32)
        where[used] = which
        begins, words, vocabulary = texts.terms_of(used[first].astype(np.int64))
        return cls(
            vocabulary, hashes, begins, words.astype(np.min_scalar_type(len(vocabulary))), where[parts]
        )  # fmt: skip

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


class TextTerms:
    """Words of texts, which come one after the other and need not stay. What `before` knows of a text is taken over: to
    find words is most of the work.
    """

    def __init__(self, before: RelationTerms | None = None, *, all: bool = False) -> None:
        """With `all`, the texts before are the first ones, by the numbers that they have there."""
        self._before = before if before is not None and len(before.hashes) else None
        first = self._before.hashes if self._before is not None and all else np.zeros(0, dtype=np.uint64)
        self._hashes = array("Q", first.tobytes())
        self._rows = array("q", (-1 - np.arange(len(first))).tobytes())
        """Of each text the row of its words: among the new ones, or, counted backwards from -1, among those before."""
        self._numbers: dict[bytes, int] = {}
        self._held, self._lengths = array("i"), array("i")

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        return np.frombuffer(self._hashes, dtype=np.uint64)

    def extend(self, texts: Sequence[str]) -> None:
        """Take up some texts; they are numbered as they come."""
        hashes = [_text_hash(text) for text in texts]
        known = self._known(np.array(hashes, dtype=np.uint64))
        self._hashes.extend(hashes)
        for text, row in zip(texts, known, strict=True):
            if row >= 0:
                self._rows.append(-1 - row)
                continue
            found = [self._numbers.setdefault(t, len(self._numbers)) for t in map(str.encode, terms(text))]
            self._rows.append(len(self._lengths))
            self._held.extend(found)
            self._lengths.append(len(found))

    def _known(self, hashes: NDArray[np.uint64]) -> list[int]:
        """For each text its row in those before, or -1."""
        if self._before is None:
            return [-1] * len(hashes)
        rows = np.minimum(np.searchsorted(self._before.hashes, hashes), len(self._before.hashes) - 1)
        found: list[int] = np.where(self._before.hashes[rows] == hashes, rows, -1).tolist()
        return found

    def terms_of(self, texts: Ints) -> tuple[Ints, Ints, NDArray[np.bytes_]]:
        """The words of these texts, one text after the other: where each begins, the places of its words in the
        vocabulary, in rising order, and the vocabulary, sorted.
        """
        words = np.array([*self._numbers, b""], dtype=np.bytes_)
        held, lengths = np.frombuffer(self._held, dtype=np.int32), np.frombuffer(self._lengths, dtype=np.int32)
        rows = np.frombuffer(self._rows, dtype=np.int64)[texts]
        if self._before is not None:
            rows = np.where(rows < 0, len(lengths) - 1 - rows, rows)
            lengths = np.concatenate([lengths, np.diff(self._before.begins)])
            held = np.concatenate([held, self._before.held.astype(np.int32) + len(words)])
            words = np.concatenate([words, self._before.vocabulary])
        places, counts = places_of(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), rows)
        used, which = _different(held[places], len(words))
        vocabulary, rank = np.unique(words[used], return_inverse=True)
        # One number for text and word: sorting numbers is much quicker than sorting by two of them.
        size = max(1, len(vocabulary))
        numbers = np.repeat(np.arange(len(texts), dtype=np.int64) * size, counts) + rank[which]
        numbers.sort()
        # No wider than its longest word, whatever else there was.
        narrow = np.array(vocabulary.tolist(), dtype=np.bytes_)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), numbers % size, narrow


def _different(numbers: NDArray[np.integer[Any]], size: int) -> tuple[Ints, Ints]:
    """The different ones of many numbers below a size, in rising order, and for each number which of them it is; as
    `np.unique`, without sorting.
    """
    there = np.zeros(size, dtype=np.bool_)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _text_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
