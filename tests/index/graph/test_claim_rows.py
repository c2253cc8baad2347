"""Claims of a name are packed in its row: nothing is lost, and the same claims are always the same bytes."""

from __future__ import annotations

import sqlite3
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragways.index.graph import claim_rows
from ragways.index.graph.claim_rows import (
    TABLE,
    Claim,
    Said,
    add_claims,
    all_claims,
    claims_of_name,
    packed_claims,
    unpacked_claims,
)

NAMES = ["oriel tamsett", "oriel", "1898 05 04", "", "hb", "東京", "o\x1fO"]
VALUES = [
    "",
    "Oriel Tamsett",
    "Oriel",
    "oriel",
    "1898-05-04",
    "HB",
    "-",
    "person",
    "date",
    "species",
    "x" * 300,
    "東京",
]
COUNT = st.integers(1, 40) | st.sampled_from([15, 16, 17, 143, 144, 2**40])
VALUE = st.sampled_from(VALUES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
SAID = st.dictionaries(st.sampled_from("suaiyk"), st.dictionaries(VALUE, COUNT, min_size=1, max_size=3), min_size=1)
CLAIM = st.tuples(st.sampled_from("suaiyk"), st.sampled_from(NAMES), st.sampled_from(VALUES))
STEPS = st.lists(st.dictionaries(CLAIM, st.integers(-2, 20), max_size=8), max_size=5)


@given(st.sampled_from(NAMES), SAID)
@example("oriel tamsett", {"s": {"Oriel Tamsett": 1}})
@example("1898", {"s": {"1898": 1}, "k": {"date": 1}})
def test_what_is_packed_is_unpacked_whatever_the_order(name: str, said: Said) -> None:
    packed = packed_claims(name, said)
    assert packed is not None
    assert unpacked_claims(name, packed) == said
    turned = {claim: dict(reversed(counts.items())) for claim, counts in reversed(said.items())}
    assert packed_claims(name, turned) == packed


def test_what_is_common_takes_a_byte_or_none() -> None:
    """These are the bytes that are kept: others need a new format, and have to be taken over."""
    assert packed_claims("oriel tamsett", {"s": {"Oriel Tamsett": 1}}) == b""
    assert packed_claims("oriel tamsett", {"s": {"Oriel Tamsett": 16}}) == b"\x0f\x00"
    assert packed_claims("oriel", {"a": {"": 1}, "s": {"Oriel": 2}, "u": {"": 1}}) == b"\x01\x20\x30"
    assert packed_claims("1898 05 04", {"s": {"1898-05-04": 1}, "k": {"date": 1}}) == b"\x10\x80"
    assert packed_claims("hb", {"s": {"HB": 3}, "i": {"": 1}, "y": {"harbour board": 1}}) == (
        b"\x40" + b"\xf0\x0eyharbour board" + b"\xf2\x03sHB"
    )
    kinds = ("person", "place", "work", "date", "event", "vehicle", "species", "quantity")
    assert packed_claims("x", {"k": dict.fromkeys(kinds, 1)}) == bytes(range(0x50, 0xD0, 16))


@given(STEPS)
def test_adding_and_taking_away_leaves_what_counting_would(steps: list[dict[Claim, int]]) -> None:
    db, fresh = (sqlite3.connect(":memory:", isolation_level=None) for _ in range(2))
    counts: Counter[Claim] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claim_rows, "_AT_ONCE", 3)
        for each in (db, fresh):
            each.execute(TABLE)
        for step in steps:
            more = {claim: max(count, -counts[claim]) for claim, count in step.items()}
            counts.update(more)
            add_claims(db, more)
            left = {(c, name, v): n for name, said in all_claims(db) for c, of in said.items() for v, n in of.items()}
            assert left == +counts
            assert all(claims_of_name(db, name) == said for name, said in all_claims(db))
        add_claims(fresh, dict(reversed((+counts).items())))
    assert list(db.iterdump()) == list(fresh.iterdump())
    add_claims(db, {claim: -count for claim, count in counts.items()})
    assert not db.execute("SELECT * FROM graph_claims").fetchall()
