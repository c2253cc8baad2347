"""Whoever looks for the document that states a relation finds it, whatever came and went before."""

from __future__ import annotations

import sqlite3
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.index.graph import relation_places
from ragways.index.graph.relation_ids import SHIFT, relation_number, relation_numbers
from ragways.index.graph.relation_places import RelationPlaces
from tests.index.graph.reference_graph import relation_id

RELATIONS = st.one_of(
    st.integers(-SHIFT, SHIFT - 1),
    st.sampled_from([-SHIFT, SHIFT - 1, 0, -1, 1]),
    st.integers(0, 40).map(lambda n: n << 44),  # the same bucket, and others than the first bits
    st.integers(0, 3),  # nothing of them is kept but the document
)
DOCUMENTS = st.integers(0, (1 << 48) - 1)


def places() -> RelationPlaces:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute(relation_places.TABLE.replace("--", "/*").replace("are.\n", "are. */"))
    return RelationPlaces(db)


def filled(held: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    ids = sorted(held)
    return np.array(ids, np.int64), np.array([held[id] for id in ids], np.int64)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(RELATIONS, DOCUMENTS, max_size=80),
    st.lists(st.dictionaries(RELATIONS, DOCUMENTS | st.none(), max_size=8), max_size=5),
    st.sampled_from([2, 8, 512]),
)
def test_any_history_of_places(held: dict[int, int], steps: list[dict[int, int | None]], largest: int) -> None:
    made = places()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relation_places, "_LARGEST", largest)
        patch.setattr(relation_places, "_FILLED", max(1, largest // 4))
        made.fill(*filled(held))
        for step in steps:
            gone = {id: held[id] for id in step if id in held}
            come = {id: document for id, document in step.items() if document is not None}
            held = {id: document for id, document in held.items() if id not in step} | come
            if not made.change(gone, come):
                made.fill(*filled(held))
            assert made.is_of(*filled(held))
        asked = {*held, *(id for step in steps for id in step), 12345}
        found = made.documents(asked)
        assert found.keys() == asked
        for id, document in held.items():
            assert document in found[id]
        if not held:
            assert not any(found.values())


def test_few_others_are_found_for_a_relation() -> None:
    dice, made = Random(5), places()
    held = {dice.randrange(-SHIFT, SHIFT): dice.randrange(1 << 48) for _ in range(20_000)}
    made.fill(*filled(held))
    found = made.documents(held)
    assert all(held[id] in some for id, some in found.items())
    assert sum(map(len, found.values())) < len(held) * 1.01
    strangers = [dice.randrange(-SHIFT, SHIFT) for _ in range(20_000)]
    assert sum(map(len, made.documents(strangers).values())) < 100
    sizes = [len(row[0]) // 8 for row in made._db.execute("SELECT held FROM graph_relation_places")]
    assert max(sizes) < relation_places._LARGEST // 4
    assert sum(sizes) == len(held)


def test_buckets_grow_no_larger_than_they_may() -> None:
    dice, made, held = Random(6), places(), dict[int, int]()
    again = 0
    for _ in range(60):
        come = {dice.randrange(-SHIFT, SHIFT): dice.randrange(1 << 48) for _ in range(200)}
        held |= come
        if not made.change({}, come):
            made.fill(*filled(held))
            again += 1
    assert made.is_of(*filled(held))
    assert again <= 3, "all are shared out anew now and then, not at each change"
    assert max(len(row[0]) for row in made._db.execute("SELECT held FROM graph_relation_places")) <= 512 * 8


NUMBERS = st.integers(-SHIFT, SHIFT - 1)


@given(st.lists(st.tuples(NUMBERS, st.sampled_from(["directed_by", "named_with", "", "日本"]), NUMBERS), max_size=20))
def test_ids_of_many_relations_are_those_of_each(relations: list[tuple[int, str, int]]) -> None:
    from ragways.index.graph.relation_ids import predicate_hash

    subjects, objects = (np.array([row[n] for row in relations], np.int64) for n in (0, 2))
    hashes = np.array([predicate_hash(predicate) for _, predicate, _ in relations], np.uint64)
    numbers = [relation_number(*row) for row in relations]
    assert relation_numbers(subjects, hashes, objects).tolist() == numbers
    assert [f"relation:{number + SHIFT:016x}" for number in numbers] == [
        relation_id(f"entity:{subject + SHIFT:016x}", predicate, f"entity:{object + SHIFT:016x}")
        for subject, predicate, object in relations
    ]


def test_ids_of_relations_that_are_alike_differ() -> None:
    dice = Random(7)
    entities = [dice.randrange(-SHIFT, SHIFT) for _ in range(60)]
    found = {
        relation_number(subject, predicate, object)
        for subject in entities
        for object in entities
        for predicate in ("knows", "is_in", "known_by")
    }
    assert len(found) == 60 * 60 * 3
