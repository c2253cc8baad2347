"""Spans nest, meters add up, and no way of running calls side by side can pass a budget."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import BudgetExceeded
from ragways.core.trace import Budget, Meter, Usage, current_meter, span, spending


def test_spans_of_tasks_started_inside_hang_under_the_span():
    async def work(name: str) -> None:
        with span(name) as here:
            here.usage = Usage(calls=1, input=10)
            await asyncio.sleep(0)

    async def run():
        with span("root") as root:
            await asyncio.gather(work("a"), work("b"))
        return root

    root = asyncio.run(run())
    assert [child.name for child in root.children] == ["a", "b"]
    assert root.total == Usage(calls=2, input=20)
    assert root.usage == Usage()


def test_a_reservation_counts_before_the_call_and_not_twice_after():
    meter = Meter(Budget(calls=2))
    first = meter.reserve(Usage(calls=1))
    second = meter.reserve(Usage(calls=1))
    with pytest.raises(BudgetExceeded) as refused:
        meter.reserve(Usage(calls=1))
    assert "2 calls" in refused.value.message
    first.settle(Usage())  # it failed and cost nothing
    second.settle(Usage(calls=1))
    second.settle(Usage(calls=1))  # settling again changes nothing
    assert meter.spent == Usage(calls=1)
    assert meter.reserved == Usage()
    meter.reserve(Usage(calls=1))


def test_a_limit_in_dollars_is_written_out():
    passed = [Budget(usd=usd).passed_by(Usage(usd=20.0)) for usd in (0.00001, 0.5, 10.0)]
    assert passed == ["$0.00001", "$0.5", "$10"]


def test_the_outer_budget_holds_inside_an_inner_one():
    with spending(Budget(tokens=100)) as outer, spending(Budget(tokens=1000)) as inner:
        assert current_meter() is inner
        with pytest.raises(BudgetExceeded):
            current_meter().reserve(Usage(input=101))
        assert inner.reserved == outer.reserved == Usage()
        current_meter().reserve(Usage(input=60)).settle(Usage(input=50))
        assert inner.spent == outer.spent == Usage(input=50)
    assert current_meter() is not outer


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 200), st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(0, 10**6))
def test_calls_side_by_side_never_pass_the_budget(limit, sizes, seed):
    chance = random.Random(seed)

    async def call(most: int) -> None:
        try:
            reservation = current_meter().reserve(Usage(calls=1, input=most))
        except BudgetExceeded:
            return
        await asyncio.sleep(0)
        reservation.settle(Usage(calls=1, input=chance.randint(0, most)))

    async def run() -> Meter:
        with spending(Budget(tokens=limit)) as meter:
            await asyncio.gather(*map(call, sizes))
        return meter

    meter = asyncio.run(run())
    assert meter.spent.tokens <= limit
    assert meter.reserved == Usage()
