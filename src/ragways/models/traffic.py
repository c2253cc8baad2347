"""The inner layers of every call to an endpoint, chat and embeddings alike: retry → rate limit → send.

Retry stands outside the rate limit because a second try is a request too and must wait its turn like a first one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ragways.core.errors import ModelUnavailable
from ragways.models.rate import Brake, Bucket, Time

T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0
LONGEST_RETRY_AFTER = 60.0
"""Seconds. An endpoint may ask for hours; we come back sooner, and give up when patience ends."""


class TryAgain(Exception):
    """One try failed in a way that may pass. `after`: seconds the endpoint asked for; `limited`: it was too many."""

    def __init__(self, message: str, *, after: float | None = None, limited: bool = False) -> None:
        super().__init__(message)
        self.after = min(max(0.0, after or 0.0), LONGEST_RETRY_AFTER)  # in this order NaN becomes 0
        self.limited = limited
        self.seconds = 0.0


class Traffic:
    """How much may be under way at once, how fast, and how long to keep trying.

    `patience` counts seconds that a call spent failing and waiting to try again; its time in the queue is not held
    against it, so a long queue behind a slow endpoint does not fail. One event loop at a time may use it.
    """

    def __init__(
        self,
        *,
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        patience: float = 180.0,
        tries: int = 100,
        time: Time | None = None,
    ) -> None:
        self._time = time or Time()
        self._concurrency = concurrency
        self._patience = patience
        self._tries = tries
        self._requests = Bucket(requests_per_minute, self._time)
        self._tokens = Bucket(tokens_per_minute, self._time)
        self._brake = Brake(self._time, first=FIRST_PAUSE, longest=LONGEST_PAUSE)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(concurrency)

    async def send(
        self, name: str, work: Callable[[], Awaitable[T]], *, tokens: int, used: Callable[[T], int]
    ) -> tuple[T, int]:
        """The result of `work` and how many tries it took. `tokens` is the most it can use, `used` what it did."""
        waited = 0.0
        for tried in range(1, self._tries + 1):
            try:
                result = await self._once(work, tokens)
            except TryAgain as error:
                waited += error.seconds
                if waited >= self._patience or tried == self._tries:
                    raise _gave_up(name, tried, waited, error) from None
                waited += await self._pause(error, tried)
            else:
                self._tokens.give_back(tokens - used(result))
                return result, tried
        raise AssertionError("a model must be tried at least once")

    async def _once(self, work: Callable[[], Awaitable[T]], tokens: int) -> T:
        await self._requests.take(1)
        await self._tokens.take(tokens)
        slots = self._slots_here()
        while True:
            await self._brake.wait()
            async with slots:
                if self._brake.on:  # it came on while we waited for the slot, which others may need meanwhile
                    continue
                return await self._timed(work)

    async def _timed(self, work: Callable[[], Awaitable[T]]) -> T:
        sent = self._time.clock()
        try:
            result = await work()
        except TryAgain as error:
            error.seconds = self._time.clock() - sent
            if error.limited:
                self._brake.press(sent, error.after)
            raise
        self._brake.release(sent)
        return result

    async def _pause(self, error: TryAgain, tried: int) -> float:
        """Wait before the next try. Too many requests: wait with all the others.

        Else exponential with full jitter, but at least a tenth, so that bad luck with the dice cannot use up all
        tries before patience ends.
        """
        began = self._time.clock()
        if error.limited:
            await self._brake.wait()
        else:
            most = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(tried - 1, 10))
            await self._time.sleep(max(error.after, most * max(0.1, self._time.dice())))
        return self._time.clock() - began

    def _slots_here(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._slots = loop, asyncio.Semaphore(self._concurrency)
        return self._slots


def _gave_up(name: str, tried: int, waited: float, error: TryAgain) -> ModelUnavailable:
    return ModelUnavailable(
        f"{name} still fails after {tried} tries in {waited:.0f} s ({error})",
        "check that the endpoint is up and within its limits, then run again: what is done is kept",
    )
