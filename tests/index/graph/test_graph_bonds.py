"""Relations as arrays against brute force over the same rows, and words of names against `fold`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import StoreDamaged
from ragways.index.graph import relations
from ragways.index.graph.names import STOP, TOKEN, fold, name_spans
from ragways.index.graph.reader import Graph
from ragways.index.graph.relations import RelationArrays
from ragways.index.ragged import ragged
from ragways.index.row_keys import RowKeys

SIZE = 7
ROWS = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.sampled_from([0.5, 1.0, 2.0])), max_size=40
)


def made(
    rows: list[tuple[int, int, float]], size: int = SIZE, ranks: Callable[[np.ndarray], np.ndarray] | None = None
) -> RelationArrays:
    """`ranks`: the order of entities, if it is not that of their numbers."""
    numbers, count = np.arange(len(rows)), len(rows)
    order = ranks or np.asarray
    subjects, objects = (np.array([row[n] for row in rows], dtype=np.int32) for n in (0, 1))
    of_ends = [
        ragged(np.bincount(ends, minlength=size), relations=np.lexsort((order(others), ends)).astype(np.int32))
        for ends, others in ((subjects, objects), (objects, subjects))
    ]
    return RelationArrays(
        RowKeys(numbers.astype(np.uint64), np.ones(count, np.bool_), count, count),
        subjects,
        objects,
        np.array([row[2] for row in rows], dtype=np.float64),
        of_ends[0],
        of_ends[1],
        ragged((numbers % 3 > 0).astype(np.int32), chunks=(numbers[numbers % 3 > 0] % 5).astype(np.int32)),
        None,
        ranks,
    )


@given(
    ROWS,
    st.lists(st.integers(0, SIZE - 1), max_size=9),
    st.integers(0, 45),
    st.sampled_from([(0, 1), (0, 4), (3, 1), (256, 4)]),
    st.none() | st.permutations(range(SIZE)),
)
def test_relations_of_entities_are_those_of_a_plain_search(rows, entities, limit, sizes, order) -> None:
    """However many relations make a hub, and are few, and whatever order entities have."""
    bonds = made(rows, ranks=None if order is None else np.array(order, dtype=np.int64).__getitem__)

    def heaviest(found: list[int]) -> list[int]:
        return sorted(found, key=lambda n: (-rows[n][2], n))[:limit]

    ends = [{s, o} for s, o, _ in rows]
    touching = [n for n, both in enumerate(ends) if both & set(entities)]
    between = [n for n, both in enumerate(ends) if both <= set(entities)]
    assert bonds.touching(entities, limit).tolist() == heaviest(touching)
    with pytest.MonkeyPatch.context() as patched:
        for name, size in zip(("MANY", "_FEW"), sizes, strict=True):
            patched.setattr(relations, name, size)
        assert bonds.between(entities, limit).tolist() == heaviest(between)


@given(ROWS)
def test_relations_by_id_and_what_states_them(rows) -> None:
    read = made(rows)
    assert len(read) == len(rows)
    every = np.arange(len(rows))
    assert read.names(every) == [f"relation:{i:016x}" for i in every]
    assert read.numbers(read.names(every)).tolist() == every.tolist()
    assert read.numbers(["relation:00000000000000ff", "relation:ff", "entity:0"]).tolist() == [-1, -1, -1]
    stating, which = read.sources(every)
    assert list(zip(which.tolist(), stating.tolist(), strict=True)) == [(i, i % 5) for i in every if i % 3]


def test_a_hub_of_a_hundred_thousand_relations_does_not_stall() -> None:
    size = 100_001
    bonds = made([(0, n, 1.0) for n in range(1, size)], size)
    started = time.process_time()
    for _ in range(5):
        assert bonds.touching([0, 7], 200).tolist() == list(range(200))
        assert bonds.between([0, 7, 50_000], 200).tolist() == [6, 49_999]
    assert (time.process_time() - started) / 10 < 0.3


@given(st.text("aAtThe sS.'’_-é日 of", max_size=40))
def test_what_may_be_a_name_has_the_forms_of_its_text(question: str) -> None:
    """Words that are folded one by one make the same forms as the text between them does."""
    matches = list(TOKEN.finditer(question))
    found = {(i, j): forms for i, j, forms in name_spans([match.group() for match in matches])}
    for i in range(len(matches)):
        for j in range(i + 1, min(len(matches), i + 12) + 1):
            text = question[matches[i].start() : matches[j - 1].end()]
            words = TOKEN.findall(text)
            if words[0] in STOP or words[-1] in STOP:
                assert (i, j) not in found
            else:
                form = fold(text)
                assert found[i, j] == [form, *([form[:-1]] if len(form) > 4 and form.endswith("s") else [])]
    assert list(found) == sorted(found, key=lambda span: (span[0], -span[1]))


def test_arrays_that_are_missing_are_named_with_their_cure(tmp_path: Path) -> None:
    import sqlite3

    graph = Graph.open(tmp_path, sqlite3.connect(":memory:"))
    with pytest.raises(StoreDamaged, match="remove the folder"):
        graph.relation_arrays  # noqa: B018
    graph.close()
