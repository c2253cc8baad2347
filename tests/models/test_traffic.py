import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import ModelUnavailable
from ragways.models.limits import Bucket, Traffic, TryAgain, Wait, reporting_waits
from tests.models.model_fakes import FakeTime


class Server:
    """Fails until `until`, then answers. `sent` are the times of its requests."""

    def __init__(self, fake, until, **error):
        self.fake, self.until, self.error = fake, fake.now + until, error
        self.sent = []
        self.inside = self.most_inside = 0

    async def __call__(self):
        self.sent.append(self.fake.now)
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        await asyncio.sleep(0)
        self.inside -= 1
        if self.fake.now < self.until:
            raise TryAgain("503: down", **self.error)
        return "yes"


async def send(traffic, work):
    return await traffic.send("model m", work, tokens=100, used=lambda _: 40)


@pytest.mark.parametrize("dice", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("error", [{}, {"limited": True}, {"limited": True, "after": 5}, {"after": 7}])
def test_an_outage_of_a_minute_is_survived(error, dice):
    fake = FakeTime(dice or 0.01)
    server = Server(fake, 60, **error)
    result, tries = asyncio.run(send(Traffic(time=fake.time), server))
    assert result == "yes"
    assert tries == len(server.sent) > 2
    assert 60 <= fake.now - 1000 < 120


@pytest.mark.parametrize("limited", [True, False])
def test_patience_ends(limited):
    fake = FakeTime()
    server = Server(fake, 10_000, limited=limited)
    with pytest.raises(
        ModelUnavailable, match=r"model m still fails after \d+ tries in 1\d\d s \(503: down\)"
    ) as caught:
        asyncio.run(send(Traffic(time=fake.time), server))
    assert caught.value.cure
    assert 180 <= fake.now - 1000 < 230


@pytest.mark.parametrize("limited", [True, False])
def test_retry_after_is_honoured(limited):
    fake = FakeTime()
    server = Server(fake, 30, after=30, limited=limited)
    asyncio.run(send(Traffic(time=fake.time), server))
    assert len(server.sent) == 2
    assert server.sent[1] - server.sent[0] >= 30


def test_too_many_requests_slow_all_calls_down_together():
    fake = FakeTime()
    server = Server(fake, 20, limited=True, after=10)
    traffic = Traffic(time=fake.time, concurrency=4)

    async def main():
        await asyncio.gather(*(send(traffic, server) for _ in range(40)))

    asyncio.run(main())
    early = [at for at in server.sent if at < 1020]
    assert len(early) <= 3 * 4  # not 40 calls, each learning it for itself


def test_a_slot_is_taken_only_while_sending():
    fake = FakeTime()
    traffic = Traffic(time=fake.time, concurrency=1)
    broken, fine = Server(fake, 30), Server(fake, 0)

    async def main():
        await asyncio.gather(send(traffic, broken), *(send(traffic, fine) for _ in range(5)))

    asyncio.run(main())
    assert max(fine.sent) < 1030 <= max(broken.sent)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 120), st.lists(st.integers(0, 20), min_size=1, max_size=60))
def test_no_minute_passes_the_limit(limit, gaps):
    fake = FakeTime()
    bucket = Bucket(limit, fake.time)
    went = []

    async def take():
        await bucket.take(1)
        went.append(fake.now)

    async def main():
        for gap in gaps:
            fake.now += gap / 10
            await take()

    asyncio.run(main())
    for at, start in enumerate(went):
        assert sum(start <= one < start + 60 for one in went[at:]) <= limit + 1


def test_tokens_a_minute_count_what_was_used():
    fake = FakeTime()
    traffic = Traffic(time=fake.time, tokens_per_minute=660)  # 10 a second, and 60 at once
    server = Server(fake, 0)

    async def main():
        for _ in range(10):
            await send(traffic, server)  # 100 asked for, 40 used

    asyncio.run(main())
    assert 35 <= fake.now - 1000 <= 45


def waits_of(calls, **error):
    """What is reported of an outage of 30 s that so many calls meet at once."""
    fake, reported = FakeTime(), list[Wait]()
    server = Server(fake, 30, **error)

    async def main():
        traffic = Traffic(time=fake.time)
        await asyncio.gather(*(send(traffic, server) for _ in range(calls)))

    with reporting_waits(reported.append):
        asyncio.run(main())
    return reported, fake


def test_a_wait_is_reported_with_its_reason_and_length():
    reported, fake = waits_of(1, after=30)
    assert reported == [Wait("model m", "503: down", 30.0)]
    assert fake.slept == [30.0]


def test_calls_that_wait_together_are_reported_once():
    reported, _ = waits_of(20, after=30, limited=True)
    assert len(reported) == 1
