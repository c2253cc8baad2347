"""Texts that describe relations and entities come back as they were, whether or not they stand in the document."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from ragways.index.database import create_tables
from ragways.index.graph.told_texts import TABLES, descriptions, entity_descriptions, packed_texts, unpacked_texts

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


# What describes an entity


def described(said: Mapping[tuple[int, int], Sequence[str]]) -> sqlite3.Connection:
    """A store of documents that have these texts; `said` tells what each has of an entity, by both."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE documents (number INTEGER PRIMARY KEY, text TEXT)")
    create_tables(db, TABLES)
    for (entity, document), texts in said.items():
        text = f"First comes this. {' '.join(texts)}"
        db.execute("INSERT OR IGNORE INTO documents VALUES (?, ?)", (document, text))
        (text,) = db.execute("SELECT text FROM documents WHERE number = ?", (document,)).fetchone()
        db.execute("INSERT INTO graph_descriptions VALUES (?, ?, ?)", (entity, document, packed_texts(texts, text)))
    return db


SAID = st.dictionaries(
    st.tuples(st.integers(-3, 3), st.integers(1, 8)),
    st.lists(st.sampled_from(["A town.", "An island.", "A port.", "Öl.", "A see."]), unique=True, min_size=1),
)


@given(SAID, st.lists(st.integers(-3, 4)))
def test_an_entity_is_described_by_the_first_three_different_texts(
    said: dict[tuple[int, int], list[str]], asked: list[int]
) -> None:
    expected: dict[int, dict[str, None]] = {}
    for entity, document in sorted(said):
        if entity in asked:
            expected.setdefault(entity, {}).update(dict.fromkeys(said[entity, document]))
    with closing(described(said)) as db:
        assert entity_descriptions(db, asked) == {id: " ".join(list(texts)[:3]) for id, texts in expected.items()}


def _steps(db: sqlite3.Connection, entities: Sequence[int]) -> int:
    """Thousands of steps that SQLite takes to find what describes entities."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    db.set_progress_handler(count, 1000)
    entity_descriptions(db, entities)
    db.set_progress_handler(None, 0)
    return steps


def test_a_hub_that_many_documents_describe_alike_is_read_in_few() -> None:
    """Both where each says something of its own, and where all say the same."""
    own = {(1, number): [f"It rose {number} times."] for number in range(20_000)}
    same = {(2, number): ["It is a town."] for number in range(20_000)}
    with closing(described(own | same)) as db:
        assert entity_descriptions(db, [1, 2]) == {
            1: "It rose 0 times. It rose 1 times. It rose 2 times.", 2: "It is a town.",
        }  # fmt: skip
        assert _steps(db, [1, 2]) < 5
        db.execute("UPDATE documents SET text = NULL WHERE number >= 3")  # whoever reads one fails
        assert entity_descriptions(db, [1])[1].endswith("It rose 2 times.")


def test_documents_that_repeat_the_first_are_looked_past() -> None:
    said = {(1, number): ["It is a town."] for number in range(9)} | {(1, 9): ["It is a port."], (1, 12): ["A ruin."]}
    with closing(described(said)) as db:
        assert entity_descriptions(db, [1]) == {1: "It is a town. It is a port. A ruin."}
