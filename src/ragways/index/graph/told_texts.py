"""Texts that describe relations and entities, as they are kept: places of a document's text, where they stand in it.

Most are sentences of it. So they can be read only with the text that they were kept with.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from ragways.index.graph.document_statements import Told
from ragways.index.graph.stored_relations import DESCRIPTIONS
from ragways.index.packed_numbers import packed_counts, unpacked_counts

# ruff: noqa: S608 - queries are put together from our own words

TABLES = """
-- The texts of a document that describe relations: many come from one sentence, which describes them all.
CREATE TABLE IF NOT EXISTS graph_texts (document INTEGER PRIMARY KEY, texts BLOB NOT NULL);
-- Texts that describe an entity, by the document that has them: most entities have none.
CREATE TABLE IF NOT EXISTS graph_descriptions (
    entity INTEGER NOT NULL, document INTEGER NOT NULL, texts BLOB NOT NULL, PRIMARY KEY (entity, document)
) WITHOUT ROWID;
"""
_WINDOW = 1 << 14
"""Characters around the one before in which a text is looked for: in all of a long document, that would take long."""
_AT_ONCE = 500
"""Relations whose documents are held together."""
_LOOKED = 16
"""Documents, the first, that are asked what an entity is: tens of thousands may say the same of a hub."""
_AMONG = "IN (SELECT value FROM json_each(?))"
_FIRST = """
SELECT entity, document, texts FROM json_each(?1) AS asked CROSS JOIN graph_descriptions AS said ON entity = asked.value
WHERE document <= ifnull(
    (SELECT document FROM graph_descriptions WHERE entity = asked.value ORDER BY document LIMIT 1 OFFSET ?2 - 1),
    9223372036854775807
)
ORDER BY document
"""
"""So many documents, the first, that describe each of some entities, however many more there are."""


def packed_texts(texts: Iterable[str], text: str) -> bytes:
    """Texts in their order; `text` is the document's. First how many bytes a number has, then numbers: how many texts
    there are, and of each its place and twice its length. What is no part of the document follows: such a text has its
    place among these, and one more than twice its length in bytes.
    """
    numbers, own, near = [0], bytearray(), 0
    for each in texts:
        numbers[0] += 1
        place = text.find(each, max(0, near - _WINDOW), near + _WINDOW)
        if place < 0:
            more = each.encode()
            numbers += (len(own), len(more) << 1 | 1)
            own += more
        else:
            numbers += (place, len(each) << 1)
            near = place + len(each)
    packed = packed_counts(numbers)
    return bytes([len(packed) // len(numbers)]) + packed + bytes(own)


def unpacked_texts(packed: bytes, text: str, most: int | None = None) -> list[str]:
    """What was packed with the same text, or the first of it."""
    held = _DocumentTexts(packed, text)
    return [held[number] for number in range(len(held))[:most]]


class _DocumentTexts:
    """The texts of a document by number: a long one has thousands, of which a few are asked for."""

    def __init__(self, packed: bytes, text: str) -> None:
        self._packed, self._text = packed, text
        width = packed[0]
        count = int.from_bytes(packed[1 : 1 + width], sys.byteorder)
        self._own = 1 + width * (1 + 2 * count)
        self._numbers = unpacked_counts(packed[1 : self._own], 1 + 2 * count)

    def __len__(self) -> int:
        return self._numbers[0]

    def __getitem__(self, number: int) -> str:
        place, length = self._numbers[1 + 2 * number], self._numbers[2 + 2 * number]
        if not length & 1:
            return self._text[place : place + (length >> 1)]
        begin = self._own + place
        return self._packed[begin : begin + (length >> 1)].decode()


def descriptions(db: sqlite3.Connection, relations: Sequence[Told]) -> list[str]:
    """What describes each of these relations, whose texts are given; nothing where nothing does."""
    found = [""] * len(relations)
    order = sorted((n for n, told in enumerate(relations) if told), key=lambda n: relations[n][0])
    for at in range(0, len(order), _AT_ONCE):
        some = {n: relations[n] for n in order[at : at + _AT_ONCE]}
        texts = _read(db, {document for told in some.values() for document, _ in told})
        for n, told in some.items():
            found[n] = " ".join(texts[document][number] for document, number in told)
    return found


def entity_descriptions(db: sqlite3.Connection, entities: Iterable[int]) -> dict[int, str]:
    """What describes each of these entities, by their numbers: the first few different texts, as documents are in
    order. Those that nothing describes are left out.
    """
    found: dict[int, dict[str, None]] = {}
    asked = sorted(set(entities))
    # A document mostly says something of its own, so as many as there are texts do; more are read where they do not.
    for most in (DESCRIPTIONS, _LOOKED):
        rows = db.execute(_FIRST, (json.dumps(asked), most)).fetchall() if asked else []
        if not rows:
            break
        numbers = dict.fromkeys(document for _, document, _ in rows)
        for (_, told), text in zip(groupby(rows, itemgetter(1)), _texts(db, numbers), strict=True):
            for entity, _, packed in told:
                found.setdefault(entity, {}).update(dict.fromkeys(unpacked_texts(packed, text, DESCRIPTIONS)))
        counts = Counter(entity for entity, *_ in rows)
        asked = [entity for entity, count in counts.items() if count == most and len(found[entity]) < DESCRIPTIONS]
    return {entity: " ".join(list(texts)[:DESCRIPTIONS]) for entity, texts in found.items()}


class ToldTexts:
    """Looks up texts by document and number, and keeps those of a few documents. `text` gives the text of a document
    that they were kept with: while an index is changed, it may be the one before.
    """

    def __init__(self, db: sqlite3.Connection, text: Callable[[int], str]) -> None:
        self._db, self._text = db, text
        self._of_document = lru_cache(64)(self._read)

    def __call__(self, document: int, number: int) -> str:
        return self._of_document(document)[number]

    def _read(self, document: int) -> _DocumentTexts:
        (packed,) = self._db.execute("SELECT texts FROM graph_texts WHERE document = ?", (document,)).fetchone()
        return _DocumentTexts(packed, self._text(document))


def _read(db: sqlite3.Connection, documents: Iterable[int]) -> dict[int, _DocumentTexts]:
    query = f"SELECT document, texts, text FROM graph_texts JOIN documents ON number = document WHERE document {_AMONG}"
    rows = db.execute(query, (json.dumps(sorted(documents)),))
    return {document: _DocumentTexts(packed, text) for document, packed, text in rows}


def _texts(db: sqlite3.Connection, documents: Iterable[int]) -> Iterator[str]:
    """The texts of documents that are in order, one at a time: together they may be long."""
    query = f"SELECT text FROM documents WHERE number {_AMONG} ORDER BY number"
    return (text for (text,) in db.execute(query, (json.dumps(list(documents)),)))
