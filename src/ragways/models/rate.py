"""Limits an endpoint sets, kept on our side: so many a minute, and one brake for all when it says "slow down"."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Time:
    """The clock, the sleep and the dice that waiting needs; a test brings its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep
    dice: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311 - spreads load


class Bucket:
    """At most `per_minute` units in any 60 seconds, in the order asked for.

    Up to 6 seconds' worth may go at once. So that this burst and what follows it stay within one minute's limit, the
    steady rate is lower by 60/66.
    """

    BURST = 6.0

    def __init__(self, per_minute: float | None, time: Time) -> None:
        self._rate = per_minute / (60 + self.BURST) if per_minute else None
        self._time = time
        self._free = float("-inf")  # when all that was taken so far is paid off at the steady rate

    async def take(self, units: float) -> None:
        if self._rate is None:
            return
        now = self._time.clock()
        self._free = max(now, self._free) + units / self._rate
        # More than a burst in one go waits for its own share too; it is let through rather than refused.
        wait = self._free - now - self.BURST
        if wait > 0:
            await self._time.sleep(wait)

    def give_back(self, units: float) -> None:
        """Units that were taken and not used."""
        if self._rate is not None:
            self._free -= units / self._rate


class Brake:
    """While the endpoint answers "too many requests", all calls wait together, longer each time."""

    def __init__(self, time: Time, *, first: float, longest: float) -> None:
        self._time = time
        self._first = first
        self._longest = longest
        self._level = 0
        self._pressed = float("-inf")
        self._until = float("-inf")

    @property
    def on(self) -> bool:
        return self._time.clock() < self._until

    def press(self, sent: float, at_least: float) -> None:
        """A call sent at `sent` was refused. Calls sent before the last press tell nothing new about the pace."""
        now = self._time.clock()
        pause = at_least
        if sent >= self._pressed:
            # Half of it is certain, so that a lucky throw does not keep up the pace that was just refused.
            most = min(self._longest, self._first * 2**self._level)
            pause = max(pause, most * (0.5 + 0.5 * self._time.dice()))
            self._level += 1
            self._pressed = now
        self._until = max(self._until, now + pause)

    def release(self, sent: float) -> None:
        """A call sent since the last press was answered: the pace is right."""
        if sent >= self._pressed:
            self._level = 0

    async def wait(self) -> None:
        while (left := self._until - self._time.clock()) > 0:
            # Spread a little, or all calls would come back in the same instant.
            await self._time.sleep(left + self._time.dice() * min(left, 1.0) * 0.5)
