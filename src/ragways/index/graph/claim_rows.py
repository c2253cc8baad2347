"""What documents claim of names, as it is kept: one row a name, with all that is claimed of it packed together.

A common claim takes one byte, which has its count too, unless that is high. Others have their value as a text behind.
They are sorted as they are packed, so the same claims are always the same bytes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter

from ragways.index.packed_numbers import packed_number, unpacked_number

TABLE = """
-- What is claimed of a name: written and read by `claim_rows.py`.
CREATE TABLE IF NOT EXISTS graph_claims (name TEXT PRIMARY KEY, said BLOB NOT NULL) WITHOUT ROWID;
"""
SPELLING, USED, ALONE, SHORT, ACRONYM, KIND = "suaiyk"
"""A spelling of a name; a name of one word is used; it stands alone; it is short for another name; it is an acronym of
one; a kind of thing that has the name.
"""
Claim = tuple[str, str, str]
"""Which of these, the name, and the value."""
Said = dict[str, dict[str, int]]
"""What is claimed of a name: how often each value, by the kind of claim."""

_KINDS = ("person", "place", "work", "date", "event", "vehicle", "species", "quantity")
_COMMON = ((USED, ""), (ALONE, ""), (SHORT, ""), *((KIND, kind) for kind in _KINDS))
"""Claims that need no text. What is kept goes by their places here."""
_TITLE, _DASHED, _FIRST, _OTHER = 0, 1, 2, 15
"""A name spelled with a capital at each word, and with dashes between them (a date); the first of the common claims;
all others.
"""
_PLACES = {claim: place for place, claim in enumerate(_COMMON, _FIRST)}
_MANY = 16
"""The count from which on it stands behind."""
_BYTES = [bytes([each]) for each in range(256)]
_USUAL = _BYTES[_TITLE]
_AT_ONCE = 10_000
"""Names whose rows are read together."""


def packed_claims(name: str, said: Said) -> bytes | None:
    """What is claimed of a name; None where that is nothing. No byte stands for what most have: one spelling, once,
    with a capital at each word.
    """
    return _packed({_key(name, claim, value): n for claim, counts in said.items() for value, n in counts.items()})


def unpacked_claims(name: str, packed: bytes) -> Said:
    """What was packed."""
    if not packed:
        return {SPELLING: {name.title(): 1}}
    said: Said = {}
    for key, count in _unpacked(packed).items():
        if isinstance(key, bytes):
            _, at = unpacked_number(key, 0)
            text = key[at:].decode()
            claim, value = text[0], text[1:]
        elif key == _TITLE:
            claim, value = SPELLING, name.title()
        elif key == _DASHED:
            claim, value = SPELLING, name.replace(" ", "-")
        else:
            claim, value = _COMMON[key - _FIRST]
        said.setdefault(claim, {})[value] = count
    return said


_Key = int | bytes
"""A claim of a name as it is packed, but for its count: its place, or of others the text with its length before it."""


def _key(name: str, claim: str, value: str) -> _Key:
    if claim == SPELLING:
        if value == name.title():
            return _TITLE
        if value == name.replace(" ", "-"):
            return _DASHED
    elif (place := _PLACES.get((claim, value))) is not None:
        return place
    text = f"{claim}{value}".encode()
    return packed_number(len(text)) + text


def _packed(counts: Mapping[_Key, int]) -> bytes | None:
    pieces = []
    for key, count in counts.items():
        if count <= 0:
            continue
        place = _OTHER if isinstance(key, bytes) else key
        if count < _MANY:
            piece = _BYTES[place << 4 | count - 1]
        else:
            piece = _BYTES[place << 4 | _MANY - 1] + packed_number(count - _MANY)
        pieces.append(piece + key if isinstance(key, bytes) else piece)
    if len(pieces) > 1:
        return b"".join(sorted(pieces))
    return (b"" if pieces[0] == _USUAL else pieces[0]) if pieces else None


def _unpacked(packed: bytes) -> dict[_Key, int]:
    if len(packed) < 2:
        byte = packed[0] if packed else _TITLE
        return {byte >> 4: (byte & _MANY - 1) + 1}
    counts: dict[_Key, int] = {}
    at, end = 0, len(packed)
    while at < end:
        place, count = packed[at] >> 4, (packed[at] & _MANY - 1) + 1
        at += 1
        if count == _MANY:
            more, at = unpacked_number(packed, at)
            count += more
        if place != _OTHER:
            counts[place] = count
        else:
            size, text = unpacked_number(packed, at)
            counts[packed[at : text + size]] = count
            at = text + size
    return counts


# The table


def claims_of_name(db: sqlite3.Connection, name: str) -> Said:
    """What is claimed of a name."""
    row = db.execute("SELECT said FROM graph_claims WHERE name = ?", (name,)).fetchone()
    return unpacked_claims(name, row[0]) if row else {}


def claims_of_names(db: sqlite3.Connection, names: Collection[str]) -> dict[str, Said]:
    """The same of many names, without those of which nothing is claimed."""
    return {name: unpacked_claims(name, said) for name, said in _rows(db, sorted(names))}


def _rows(db: sqlite3.Connection, names: Sequence[str]) -> sqlite3.Cursor:
    query = "SELECT name, said FROM graph_claims WHERE name IN (SELECT value FROM json_each(?))"
    return db.execute(query, (json.dumps(names),))


def all_claims(db: sqlite3.Connection) -> Iterator[tuple[str, Said]]:
    """All names, with what is claimed of them."""
    for name, said in db.execute("SELECT name, said FROM graph_claims ORDER BY name"):
        yield name, unpacked_claims(name, said)


def add_claims(db: sqlite3.Connection, claims: Mapping[Claim, int]) -> None:
    """Add so many of each claim, or take them away; a name of which nothing is claimed any more has no row."""
    by_name: dict[str, dict[_Key, int]] = {}
    for (claim, name, value), count in claims.items():
        key = _key(name, claim, value)
        if name in by_name:
            by_name[name][key] = count
        else:
            by_name[name] = {key: count}
    names = iter(sorted(by_name))
    while some := list(islice(names, _AT_ONCE)):
        for name, said in _rows(db, some):
            counts = by_name[name]
            for key, count in _unpacked(said).items():
                counts[key] = counts.get(key, 0) + count
        rows = [(name, _packed(by_name[name])) for name in some]
        db.executemany(_PUT, (row for row in rows if row[1] is not None))
        db.executemany("DELETE FROM graph_claims WHERE name = ?", ((name,) for name, said in rows if said is None))


_PUT = "INSERT INTO graph_claims VALUES (?, ?) ON CONFLICT DO UPDATE SET said = excluded.said"


def take_over_claims(db: sqlite3.Connection) -> None:
    """Have the claims of an earlier version in the table: it had a row for each, and nothing for the spelling with a
    capital at each word.
    """
    db.execute("ALTER TABLE graph_claims RENAME TO graph_claims_before")
    db.execute(TABLE)
    rows = db.execute("SELECT name, claim, value, count FROM graph_claims_before ORDER BY name, claim, value")

    def packed() -> Iterator[tuple[str, bytes | None]]:
        for name, each in groupby(rows, itemgetter(0)):
            said: Said = {}
            for _, claim, value, count in each:
                meant = value or name.title() if claim == SPELLING else value
                said.setdefault(claim, {})[meant] = count
            yield name, packed_claims(name, said)

    db.executemany(_PUT, (row for row in packed() if row[1] is not None))
    db.execute("DROP TABLE graph_claims_before")
