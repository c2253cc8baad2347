import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import BudgetExceeded, SettingsError
from ragways.core.trace import Budget, Usage, span, spending
from ragways.models.call import Call, Message, Reply
from ragways.models.client import ModelClient, replies_of
from ragways.models.limits import Traffic, TryAgain
from ragways.models.tokens import Price, Prices
from ragways.testing.scripted import ScriptedModel
from tests.models.model_fakes import ABOUT, GOOD, NOTE, WORD, FakeTime, MemoryCache, Word

CALL = Call((Message("user", "hello"),), max_output=100)
PRICES = Prices({"scripted": Price(input=1.0, output=10.0)})


def calls(count):
    return [replace(CALL, sample=at) for at in range(count)]


def test_a_call_is_counted_priced_and_traced():
    async def main():
        with ScriptedModel(["hi"]) as model, spending() as meter, span("root") as root:
            reply = await ModelClient(model, prices=PRICES).complete(CALL)
        (call,) = root.children
        assert reply.text == "hi"
        assert reply.usage == call.usage == meter.spent == root.total
        assert reply.usage.calls == 1
        assert reply.usage.usd == pytest.approx((reply.usage.input + 10 * reply.usage.output) / 1e6)
        assert meter.reserved == Usage()
        assert call.way == "model scripted"
        assert call.details["tries"] == 1
        assert "hello" not in repr(root)

    asyncio.run(main())


def test_the_order_of_the_layers():
    """count → cache → retry → rate limit → send, seen from what each of them does to the others."""
    fake = FakeTime()
    events: list[Any] = []

    class Cache(MemoryCache):
        def get(self, key):
            events.append("cache")
            return super().get(key)

    def line(call):
        events.append(("send", meter.reserved.calls, round(fake.now - 1000)))
        return TryAgain("503") if len(events) < 4 else "yes"

    with spending() as meter:
        slow = Traffic(requests_per_minute=1.1, time=fake.time)
        client = ModelClient(ScriptedModel([line] * 5), cache=Cache(), traffic=slow)

        async def main():
            await client.complete(CALL)
            assert events[0] == "cache"  # before anything is sent
            sent = events[1:]
            assert [reserved for _, reserved, _ in sent] == [1] * len(sent)  # one reservation holds over all tries
            assert len(sent) == 3
            assert sent[1][2] - sent[0][2] >= 50  # a second try waits for the rate limit like a first one
            before = fake.now
            assert (await client.complete(CALL)).cached
            assert fake.now == before  # a known reply waits for nobody
            assert events[-1] == "cache"

        asyncio.run(main())


def test_a_cached_reply_costs_nothing_and_needs_no_budget():
    cache = MemoryCache()

    async def main():
        with ScriptedModel(["hi"]) as model:
            await ModelClient(model, cache=cache, prices=PRICES).complete(CALL)
        with ScriptedModel([]) as model, spending(Budget(usd=0, calls=0, tokens=0)) as meter, span("root") as root:
            reply = await ModelClient(model, cache=cache, prices=PRICES).complete(CALL)
        assert (reply.text, reply.cached, reply.usage) == ("hi", True, Usage())
        assert meter.spent == Usage()
        assert root.children[0].way == "model scripted (cached)"

    asyncio.run(main())


class Slow(ScriptedModel):
    async def send(self, call):
        await asyncio.sleep(0.01)
        return await super().send(call)


def test_the_same_call_in_flight_is_sent_once():
    async def main():
        with Slow(["hi", "other"]) as model, spending() as meter:
            client = ModelClient(model)
            replies = await asyncio.gather(*(client.complete(CALL) for _ in range(10)), client.complete(calls(2)[1]))
        assert [reply.text for reply in replies] == ["hi"] * 10 + ["other"]
        assert [reply.cached for reply in replies].count(False) == 2
        assert meter.spent.calls == 2

    asyncio.run(main())


def test_anothers_budget_or_cancellation_is_not_ours():
    async def main():
        with Slow(["hi", "hi"]) as model:
            client = ModelClient(model)

            async def poor():
                with spending(Budget(calls=0)):
                    await client.complete(CALL)

            found = await asyncio.gather(poor(), client.complete(CALL), return_exceptions=True)
            assert isinstance(found[0], BudgetExceeded)
            assert isinstance(found[1], Reply)

            leader = asyncio.create_task(client.complete(calls(2)[1]))
            await asyncio.sleep(0)
            follower = asyncio.create_task(client.complete(calls(2)[1]))
            await asyncio.sleep(0)
            leader.cancel()
            assert (await follower).text == "hi"
            assert leader.cancelled()

    asyncio.run(main())


@settings(max_examples=30, deadline=None)
@given(
    # Never more than is set aside for a call: 73 tokens by our own count and a tenth of that, and 100 of the reply.
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 100)), min_size=50, max_size=50),
    st.sampled_from(["usd", "tokens", "calls"]),
    st.integers(1, 40),
)
def test_a_budget_is_never_passed_by_50_calls_side_by_side(uses, kind, share):
    limit = {"usd": Budget(usd=share * 2e-4), "tokens": Budget(tokens=share * 150), "calls": Budget(calls=share)}[kind]

    class Uses(ScriptedModel):
        async def send(self, call):
            read, written = uses[call.sample]
            await asyncio.sleep(0.0001 * (call.sample % 3))
            return Reply("x", Usage(calls=1, input=read, output=written))

    async def main():
        with spending(limit) as outer, spending(Budget(calls=45)) as inner:
            client = ModelClient(Uses([]), prices=PRICES)
            found = await asyncio.gather(*(client.complete(call) for call in calls(50)), return_exceptions=True)
            assert all(isinstance(one, Reply | BudgetExceeded) for one in found)
            assert any(isinstance(one, BudgetExceeded) for one in found)
            done = [one.usage for one in found if isinstance(one, Reply)]
            assert outer.spent.calls == inner.spent.calls == len(done) <= 45
            assert outer.spent.tokens == sum(usage.tokens for usage in done)
            assert limit.passed_by(outer.spent) is None
            assert outer.reserved.calls == outer.reserved.tokens == 0
            assert outer.reserved.usd == pytest.approx(0, abs=1e-12)

    asyncio.run(main())


def test_a_lost_reply_is_charged_in_full_and_the_next_try_reserved_anew():
    async def main():
        with ScriptedModel([TryAgain("timeout", lost=True), "hi"]) as model, spending() as meter, span("root") as root:
            reply = await ModelClient(model, prices=PRICES, traffic=Traffic(time=FakeTime().time)).complete(CALL)
        assert meter.spent.calls == root.total.calls == 2
        assert meter.spent.usd == pytest.approx(root.total.usd)
        assert meter.spent.usd > 2 * reply.usage.usd, "at the price that was set aside"
        assert meter.reserved.calls == 0
        assert root.children[0].details["lost"] == 1
        with ScriptedModel([TryAgain("timeout", lost=True)]) as model, spending(Budget(calls=1)) as meter:
            with pytest.raises(BudgetExceeded):
                await ModelClient(model, prices=PRICES, traffic=Traffic(time=FakeTime().time)).complete(CALL)
            assert meter.spent.calls == 1

    asyncio.run(main())


def test_a_call_that_was_cancelled_on_its_way_is_charged():
    async def main():
        with Slow(["hi"]) as model, spending() as meter:
            asked = asyncio.create_task(ModelClient(model).complete(CALL))
            await asyncio.sleep(0.002)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert (meter.spent.calls, meter.reserved) == (1, Usage())
            await model.send(CALL)

    asyncio.run(main())


def test_an_unknown_price_is_reported_and_never_free():
    async def main():
        with ScriptedModel(["hi"]) as model, span("root") as root:
            client = ModelClient(model)
            await client.complete(CALL)
            assert root.children[0].details["price"] == "unknown"
            assert root.total.usd == 0
            with spending(Budget(usd=5)), spending(), pytest.raises(SettingsError, match="price") as caught:
                await client.complete(calls(2)[1])
            assert "scripted" in caught.value.cure

    asyncio.run(main())


def test_a_reply_of_one_tenant_is_not_anothers_and_those_without_stay():
    async def main():
        cache = MemoryCache()
        with ScriptedModel(["to all", "to a", "to b"]) as model:
            client = ModelClient(model, cache=cache)

            async def asked(tenant: str) -> tuple[str, bool]:
                with replies_of(tenant):
                    reply = await client.complete(CALL)
                return reply.text, reply.cached

            assert [await asked(name) for name in ("", "a", "b")] == [
                ("to all", False),
                ("to a", False),
                ("to b", False),
            ]
            assert [await asked(name) for name in ("", "a", "b")] == [("to all", True), ("to a", True), ("to b", True)]
        assert CALL.key("scripted", model.base_url) in cache.replies  # as before there were tenants

    asyncio.run(main())


def test_a_role_has_its_own_model_with_its_own_price_and_what_is_not_set_is_the_models():
    prices = Prices({"large": Price(10.0, 10.0), "small": Price(1.0, 1.0)})
    with (
        ScriptedModel([GOOD, "yes"], name="large") as large,
        ScriptedModel([GOOD], name="small") as small,
        span("root") as root,
    ):
        client = ModelClient(large, prices=prices)
        client.roles["small"] = ModelClient(small, prices=prices)

        async def main():
            by_small = await client.do(replace(NOTE, role="small"), ABOUT)
            by_large = await client.do(replace(NOTE, role="report"), ABOUT)
            await client.do(WORD, Word("yes"))
            return by_small.way, by_large.way

        assert asyncio.run(main()) == ("model small", "model large")
    small_cost, large_cost = (root.children[n].total for n in (0, 1))
    assert small_cost.tokens == large_cost.tokens
    assert large_cost.usd == pytest.approx(10 * small_cost.usd)
