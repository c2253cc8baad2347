"""Facts of a document as they are kept: numbers, and what its text does not have.

Names and descriptions mostly stand in the text, and are kept as places of it. So facts can be read only with the text
that they were found in.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ragways.index.graph.facts import LONGEST_TEXT, Entity, PassageFacts, Relation, SourcePassage

_DICTIONARY = (
    b'["","1.0","0.5","rules","date","quantity","person","place","organization","work","event","located_in",'
    b'"born_in","born","directed_by","written_by","founded_in","founded_by","married","worked_with","is_a","infobox",'
    b'"row","link","links_to","name","title","sentence","named_with"],["s0:p0:c0","s0:p1:c0"]]'
)
"""What facts say most, to compress them by. With another one, none that are kept can be read."""

Chunk = tuple[str, Sequence[PassageFacts]]


def packed_facts(title: str, text: str, chunks: Iterable[tuple[SourcePassage, Sequence[PassageFacts]]]) -> bytes:
    """`chunks`: with each the facts that were found in it, in several ways."""
    texts = _Texts(text)
    n, column = texts.number, list[int]()
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
            for field in ("name", "type", "description", "guess"):
                column += [n(getattr(entity, field)) for entity in entities]
            column += [entity.count for entity in entities]
            column += [len(entity.aliases) for entity in entities]
            column += [n(alias) for entity in entities for alias in entity.aliases]
            for field in _RELATION:
                column += [n(getattr(relation, field)) for relation in relations]
            column += [n(str(float(relation.weight))) for relation in relations]
    # JSON has its line breaks escaped, so that one ends it.
    rest = json.dumps([texts.others, paths], ensure_ascii=False, separators=(",", ":")).encode()
    press = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_DICTIONARY)
    numbers = _varints([len(texts.places), *texts.places, *column])
    return press.compress(rest + b"\n" + numbers) + press.flush()


def unpacked_facts(packed: bytes, number: int, text: str) -> tuple[str, list[Chunk]]:
    """The title of a document, and its chunks; `text` must be the one that it was packed with."""
    data = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_DICTIONARY).decompress(packed)
    rest, _, packed_numbers = data.partition(b"\n")
    others, paths = json.loads(rest)
    numbers = _numbers(packed_numbers)
    texts = _texts_of(islice(numbers, next(numbers)), text, iter(others))
    title = texts[next(numbers)]
    return title, [
        (f"article:{number}:{path}", [_facts(numbers, texts) for _ in range(next(numbers))]) for path in paths
    ]


_RELATION = ("subject", "predicate", "object", "description", "date", "by")


def _facts(numbers: Iterator[int], t: Sequence[str]) -> PassageFacts:
    entities, relations = next(numbers), next(numbers)

    def texts(count: int) -> list[str]:
        return [t[n] for n in islice(numbers, count)]

    names, types, descriptions, guesses = (texts(entities) for _ in range(4))
    counts, aliases = list(islice(numbers, entities)), [tuple(texts(n)) for n in list(islice(numbers, entities))]
    columns = [texts(relations) for _ in _RELATION]
    subjects, predicates, objects, said, dates, by = columns
    weights = map(float, texts(relations))
    return PassageFacts(
        tuple(map(Entity, names, types, descriptions, aliases, counts, guesses)),
        tuple(map(Relation, subjects, predicates, objects, said, weights, dates, by)),
    )


class _Texts:
    """Different texts in the order in which they come. `places` has for each its length and its place in the text; 0
    for one of the `others`, that do not stand there.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._numbers: dict[str, int] = {}
        self.places: list[int] = []
        self.others: list[str] = []

    def near(self, start: int, end: int) -> None:
        """Where new ones are looked for: in all of a long text, that would take long."""
        self._start, self._end = start, end

    def number(self, text: str) -> int:
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._numbers)
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


def _varints(numbers: Iterable[int]) -> bytes:
    """Seven bits a byte, the lowest first; another byte follows where the highest is set."""
    made = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            made.append(rest & 127 | 128)
            rest >>= 7
        made.append(rest)
    return bytes(made)


def _numbers(data: bytes) -> Iterator[int]:
    found = shift = 0
    for byte in data:
        if byte > 127:
            found |= (byte & 127) << shift
            shift += 7
        else:
            yield found | byte << shift
            found = shift = 0
