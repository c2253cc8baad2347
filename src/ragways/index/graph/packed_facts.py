"""Facts of a document as they are kept: numbers, and what its text does not have.

Names and descriptions mostly stand in the text, and are kept as places of it. So facts can be read only with the text
that they were found in.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat

import numpy as np

from ragways.index.graph.facts import LONGEST_TEXT, Entity, PassageFacts, Relation, SourcePassage

_DICTIONARY = (
    b'["","1.0","0.5","rules","date","quantity","person","place","organization","work","event","located_in",'
    b'"born_in","born","directed_by","written_by","founded_in","founded_by","married","worked_with","is_a","infobox",'
    b'"row","link","links_to","name","title","sentence","named_with"],["s0:p0:c0","s0:p1:c0"]]'
)
"""What facts say most, to compress them by. With another one, none that are kept can be read."""

Chunk = tuple[str, Sequence[PassageFacts]]
Named = tuple[Sequence[Entity], Sequence[str]]
"""Entities without what is said of them, and the names that relations have at their ends."""


def packed_facts(title: str, text: str, chunks: Iterable[tuple[SourcePassage, Sequence[PassageFacts]]]) -> bytes:
    """`chunks`: with each the facts that were found in it, in several ways."""
    texts = _Texts(text)
    n, column = texts.__getitem__, list[int]()
    texts.near(0, LONGEST_TEXT)
    column.append(n(title))
    paths = []
    for passage, said in chunks:
        paths.append(passage.id.split(":", 2)[2])
        texts.near(passage.start, passage.end + LONGEST_TEXT)
        column.append(len(said))
        for facts in said:
            # Field by field: what is the same in many of them stands together.
            entities, relations = facts.entities, facts.relations
            column += (len(entities), len(relations))
            column += [n(entity.name) for entity in entities]
            column += [n(entity.type) for entity in entities]
            column += [n(entity.description) for entity in entities]
            column += [n(entity.guess) for entity in entities]
            column += [entity.count for entity in entities]
            column += [len(entity.aliases) for entity in entities]
            column += [n(alias) for entity in entities for alias in entity.aliases]
            if relations:
                subjects, predicates, objects, described, weights, dates, by = zip(*relations, strict=True)
                for values in (subjects, predicates, objects, described, dates, by):
                    column += map(n, values)
                column += [n(str(float(weight))) for weight in weights]
    # JSON has its line breaks escaped, so that one ends it.
    rest = json.dumps([texts.others, paths], ensure_ascii=False, separators=(",", ":")).encode()
    press = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_DICTIONARY)
    numbers = _packed_numbers([len(texts.places), *texts.places, *column])
    return press.compress(rest + b"\n" + numbers) + press.flush()


def unpacked_facts(packed: bytes, number: int, text: str) -> tuple[str, list[Chunk]]:
    """The title of a document, and its chunks; `text` must be the one that it was packed with."""
    read, paths = _Reader.of(packed, text)
    title = read.text()
    return title, [(f"article:{number}:{path}", [_facts(read) for _ in range(read.number())]) for path in paths]


def unpacked_names(packed: bytes, text: str) -> tuple[str, list[Named]]:
    """The title of a document, and what is named in its chunks: a third of the work of reading all of its facts."""
    read, paths = _Reader.of(packed, text)
    title = read.text()
    return title, [_named(read) for _ in paths for _ in range(read.number())]


def _facts(read: _Reader) -> PassageFacts:
    entities, relations = read.number(), read.number()
    names, types, descriptions, guesses = (read.texts(entities) for _ in range(4))
    counts, aliases = read.numbers(entities), read.groups(entities)
    subjects, predicates, objects, said, dates, by = (read.texts(relations) for _ in range(6))
    weights = map(float, read.texts(relations))
    return PassageFacts(
        tuple(map(Entity, names, types, descriptions, aliases, counts, guesses)),
        tuple(map(Relation, subjects, predicates, objects, said, weights, dates, by)),
    )


def _named(read: _Reader) -> Named:
    entities, relations = read.number(), read.number()
    names, types = read.texts(entities), read.texts(entities)
    read.skip(entities)
    guesses, counts, aliases = read.texts(entities), read.numbers(entities), read.groups(entities)
    subjects = read.texts(relations)
    read.skip(relations)
    objects = read.texts(relations)
    read.skip(4 * relations)
    ends = dict.fromkeys(chain.from_iterable(zip(subjects, objects, strict=True)))
    return list(map(Entity, names, types, repeat(""), aliases, counts, guesses)), list(ends)


class _Reader:
    """Numbers one after the other, and the texts that they mean."""

    def __init__(self, numbers: Sequence[int], texts: Sequence[str]) -> None:
        self._numbers, self._texts, self._at = numbers, texts, 0

    @classmethod
    def of(cls, packed: bytes, text: str) -> tuple[_Reader, list[str]]:
        """What was packed with a text, and the paths of its chunks."""
        data = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_DICTIONARY).decompress(packed)
        rest, _, packed_numbers = data.partition(b"\n")
        others, paths = json.loads(rest)
        count, *numbers = _numbers(packed_numbers)
        return cls(numbers[count:], _texts_of(iter(numbers[:count]), text, iter(others))), paths

    def number(self) -> int:
        self._at += 1
        return self._numbers[self._at - 1]

    def numbers(self, count: int) -> Sequence[int]:
        self._at += count
        return self._numbers[self._at - count : self._at]

    def text(self) -> str:
        return self._texts[self.number()]

    def texts(self, count: int) -> list[str]:
        return list(map(self._texts.__getitem__, self.numbers(count)))

    def groups(self, count: int) -> list[tuple[str, ...]]:
        """So many groups of texts: how many are in each, and then all of them."""
        return [tuple(self.texts(size)) if size else () for size in self.numbers(count)]

    def skip(self, count: int) -> None:
        self._at += count


class _Texts(dict[str, int]):
    """Different texts with their numbers, in the order in which they are asked for. `places` has for each its length
    and its place in the text; 0 for one of the `others`, that do not stand there.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.places: list[int] = []
        self.others: list[str] = []

    def near(self, start: int, end: int) -> None:
        """Where new ones are looked for: in all of a long text, that would take long."""
        self._start, self._end = start, end

    def __missing__(self, text: str) -> int:
        found = self[text] = len(self)
        place = self._text.find(text, self._start, self._end) if len(text) > 1 else -1
        if place < 0:
            self.places.append(0)
            self.others.append(text)
        else:
            self.places += (len(text), place)
        return found


def _texts_of(places: Iterator[int], text: str, others: Iterator[str]) -> list[str]:
    found = []
    for length in places:
        if length:
            place = next(places)
            found.append(text[place : place + length])
        else:
            found.append(next(others))
    return found


def _packed_numbers(numbers: Sequence[int]) -> bytes:
    """How many bytes each has, then the lowest byte of all, then the next: the high ones are nearly all 0, and take no
    room when they are compressed.
    """
    width = (max(numbers).bit_length() + 7) // 8 or 1
    parts = np.array(numbers, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, :width]
    return bytes([width]) + parts.T.tobytes()


def _numbers(packed: bytes) -> list[int]:
    """What `_packed_numbers` wrote."""
    parts = np.frombuffer(packed, dtype=np.uint8, offset=1).reshape(packed[0], -1)
    whole = np.zeros((parts.shape[1], 8), dtype=np.uint8)
    whole[:, : packed[0]] = parts.T
    found: list[int] = whole.view("<u8").ravel().tolist()
    return found
