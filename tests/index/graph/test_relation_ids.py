"""Ids of relations, made one by one or many at once, are the same, and differ."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragways.index.graph.relation_ids import SHIFT, predicate_hash, relation_number, relation_numbers
from tests.index.graph.reference_graph import relation_id

NUMBERS = st.integers(-SHIFT, SHIFT - 1)


@given(st.lists(st.tuples(NUMBERS, st.sampled_from(["directed_by", "named_with", "", "日本"]), NUMBERS), max_size=20))
def test_ids_of_many_relations_are_those_of_each(relations: list[tuple[int, str, int]]) -> None:
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
