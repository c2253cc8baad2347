"""Texts that describe relations come back as they were, whether or not they stand in the document's text."""

from __future__ import annotations

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from ragways.index.graph.told_texts import descriptions, packed_texts, unpacked_texts

WORDS = st.lists(st.sampled_from(["tide", "öl", "的", "𝔸", " ", "\n", "rises."]), max_size=12).map("".join)


@given(WORDS, st.lists(WORDS.filter(bool), unique=True, max_size=6))
def test_what_is_packed_comes_back(text: str, texts: list[str]) -> None:
    packed = packed_texts(texts, text)
    assert unpacked_texts(packed, text) == texts
    own = "".join(each for each in texts if each not in text).encode()
    assert packed[1 + packed[0] * (1 + 2 * len(texts)) :] == own, "what stands in the document is kept once"


def test_a_text_far_from_the_one_before_is_kept_itself() -> None:
    text = f"The tide rises.{' ' * 40_000}The Pier fell."
    texts = ["The tide rises.", "The Pier fell."]
    packed = packed_texts(texts, text)
    assert packed.endswith(b"The Pier fell.")
    assert b"tide" not in packed
    assert unpacked_texts(packed, text) == texts


def test_descriptions_of_many_relations() -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE documents (number INTEGER PRIMARY KEY, text TEXT)")
    db.execute("CREATE TABLE graph_texts (document INTEGER PRIMARY KEY, texts BLOB)")
    for number in range(2000):
        text = f"It rose {number} times. It sank."
        db.execute("INSERT INTO documents VALUES (?, ?)", (number, text))
        texts = ["It sank.", f"It rose {number} times.", "Nobody saw it."]
        db.execute("INSERT INTO graph_texts VALUES (?, ?)", (number, packed_texts(texts, text)))
    asked = [[(number, 1)] for number in reversed(range(2000))]
    assert descriptions(db, asked) == [f"It rose {number} times." for number in reversed(range(2000))]
    assert descriptions(db, [[], [(7, 2), (3, 1)], [(9, 0)]]) == [
        "", "Nobody saw it. It rose 3 times.", "It sank.",
    ]  # fmt: skip
