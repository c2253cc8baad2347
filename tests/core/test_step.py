"""Steps run in order, in named spans; a wrong order does not pass the type checker; fusion keeps its promises."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.core.step import Step, fuse, rank_fusion
from ragways.core.trace import span
from ragways.core.types import Answer, Evidence, Found, Hit, Hits, Piece, Query, ranked


def piece(id: str) -> Piece:
    return Piece(id, "chunk", f"text of {id}", "article:1", "Title", 0, 4, 3)


def hits(*ids: str, by: str = "test") -> Hits:
    return Hits(Query("q"), tuple(Hit(piece(id), 1 / n, (Found(by, n, 1 / n),)) for n, id in enumerate(ids, start=1)))


def step(name: str, change):
    async def run(value):
        return change(value)

    return Step(name, run)


def test_a_failing_step_is_named_in_the_trace():
    def fail(_):
        raise UsageError("no")

    with span("root") as root, pytest.raises(UsageError):
        asyncio.run((step("fine", lambda x: x) >> step("broken", fail))(1))
    assert [child.error for child in root.children] == ["", "UsageError: no"]


def orders(retrieve: Step[Query, Hits], pack: Step[Hits, Evidence], answer: Step[Evidence, Answer]) -> None:
    """Read by the type checker alone: it fails where it would accept a wrong order, since an ignore is not needed."""
    right: Step[Query, Answer] = retrieve >> pack >> answer
    part: Step[Query, Evidence] = retrieve >> pack
    wrong = retrieve >> answer  # type: ignore[operator]
    wrong_too = pack >> retrieve >> answer  # type: ignore[operator]
    del right, part, wrong, wrong_too


ID_LISTS = st.lists(st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8), min_size=1, max_size=5)


@given(ID_LISTS, st.randoms())
def test_fusion_does_not_depend_on_the_order_of_its_lists(lists, random):
    given_lists = [hits(*ids, by=f"retriever {n}") for n, ids in enumerate(lists)]
    shuffled = given_lists.copy()
    random.shuffle(shuffled)
    assert rank_fusion(given_lists).items == rank_fusion(shuffled).items


@given(ID_LISTS)
def test_fusion_against_its_definition(lists):
    fused = rank_fusion([hits(*ids) for ids in lists], k=10)
    expected: dict[str, float] = {}
    for ids in lists:
        for rank, id in enumerate(ids, start=1):
            expected[id] = expected.get(id, 0) + 1 / (10 + rank)
    assert {hit.piece.id: pytest.approx(hit.score) for hit in fused.items} == expected
    order = [(-hit.score, hit.piece.id) for hit in fused.items]
    assert order == sorted(order)


def test_fuse_runs_side_by_side():
    arrived = []

    async def both(name: str, query: Query) -> Hits:
        arrived.append(name)
        for _ in range(100):  # each waits until the other has begun
            if len(arrived) == 2:
                return hits(name)
            await asyncio.sleep(0.001)
        raise AssertionError("the other retriever was not started")

    async def first(query: Query) -> Hits:
        return await both("a", query)

    async def second(query: Query) -> Hits:
        return await both("b", query)

    found = asyncio.run(fuse(Step("first", first), Step("second", second))(Query("q")))
    assert [hit.piece.id for hit in found.items] == ["a", "b"]


def test_equal_scores_are_ordered_by_id_and_a_piece_stands_once():
    found = ranked(Query("q"), [Hit(piece("b"), 1.0), Hit(piece("a"), 1.0), Hit(piece("b"), 2.0)])
    assert [(hit.piece.id, hit.score) for hit in found.items] == [("b", 2.0), ("a", 1.0)]
