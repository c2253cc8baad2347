"""The words of what relations say, as numbers: stemming a hundred relations for each question is what costs time."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.bonds import Ints, Small, places_of
from ragways.index.words import terms

DESCRIPTION = 240
"""Characters of a description that are shown of a relation, and whose words count."""


@dataclass(frozen=True)
class RelationTerms:
    """The terms of relation i are `vocabulary[held[begins[i]:begins[i + 1]]]`; the vocabulary is sorted."""

    vocabulary: NDArray[np.bytes_]
    begins: Ints
    held: Small

    @classmethod
    def of(cls, relations: Iterable[Iterable[str]]) -> RelationTerms:
        """From the parts of each relation's text. No word goes over the border of a part."""
        numbers: dict[str, int] = {}
        known: dict[str, tuple[int, ...]] = {}
        held, ends = array("i"), array("q", [0])
        for parts in relations:
            here: set[int] = set()
            for part in parts:
                # Many relations come from one sentence, and many have an end in common.
                if part not in known:
                    known[part] = tuple(numbers.setdefault(term, len(numbers)) for term in terms(part))
                here.update(known[part])
            held.extend(here)
            ends.append(len(held))
        vocabulary = np.array([term.encode() for term in numbers], dtype=np.bytes_)
        order = np.argsort(vocabulary)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order))
        return cls(vocabulary[order], np.array(ends, dtype=np.int64), place[np.array(held, dtype=np.int32)])

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
        places, counts = places_of(self.begins, relations)
        which = np.repeat(np.arange(len(relations)), counts)
        return np.bincount(which[known[self.held[places]]], minlength=len(relations)).astype(np.int64)

    def _places(self, wanted: Collection[str]) -> Ints:
        # Of the vocabulary's own width: comparing with a wider one would copy all of it.
        width = self.vocabulary.dtype.itemsize
        words = np.array([w for w in (term.encode() for term in wanted) if len(w) <= width], dtype=f"S{width}")
        places = np.searchsorted(self.vocabulary, words).astype(np.int64)
        inside = places < len(self.vocabulary)
        places, words = places[inside], words[inside]
        found: Ints = places[self.vocabulary[places] == words]
        return found
