"""What keeps calls to an endpoint within limits, chat and embeddings alike: a bound on cost, a rate, and retries.

`Traffic` is the inner layers of every call: retry → rate limit → send. Retry stands outside the rate limit because a
second try is a request too and must wait its turn like a first one.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ragways.core.errors import ModelUnavailable
from ragways.core.trace import Reservation, Usage, current_meter
from ragways.models.tokens import count_text

if TYPE_CHECKING:
    from ragways.models.call import Call

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0
LONGEST_RETRY_AFTER = 60.0
"""Seconds. An endpoint may ask for hours; we come back sooner, and give up when patience ends."""
_A_MESSAGE = 8  # role and separators; endpoints take 3 or 4 tokens
_A_CALL = 64  # what the endpoint wraps around messages, and our own words about the form of a reply


def count_call(call: Call) -> int:
    """Tokens of everything that is sent, by our own count."""
    texts = [message.content for message in call.messages]
    texts += [tool_call.arguments + tool_call.name for m in call.messages for tool_call in m.tool_calls]
    texts += [json.dumps(call.schema)] if call.schema is not None else []
    texts += [json.dumps([tool.name, tool.description, tool.parameters]) for tool in call.tools]
    return sum(map(count_text, texts)) + _A_MESSAGE * len(texts) + _A_CALL


MOST_TOKENS = 100_000_000
"""Of one call. An endpoint that counts more, or fewer than none, is not believed."""


def token_count(usage: object, name: str) -> int | None:
    """A number of tokens in what an endpoint says of its usage; None where there is none that can be believed."""
    value = usage.get(name) if isinstance(usage, dict) else None
    believable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return int(value) if believable else None  # type: ignore[arg-type]


class Bound:
    """The most input a call can be billed for.

    Another model's tokens are not ours: we add a tenth, and more as soon as an endpoint was seen to count more.
    """

    def __init__(self) -> None:
        self._margin = 1.1

    def of_call(self, call: Call) -> Usage:
        return Usage(calls=1, input=math.ceil(count_call(call) * self._margin), output=call.max_output)

    def of_texts(self, texts: Sequence[str]) -> Usage:
        """For texts to embed, which have no output."""
        counted = sum(map(count_text, texts)) + 4 * len(texts)
        return Usage(calls=1, input=math.ceil(counted * self._margin))

    def learn(self, bound: Usage, billed: Usage) -> None:
        if billed.input > bound.input:
            self._margin *= 1.05 * billed.input / bound.input


@dataclass(frozen=True)
class Time:
    """The clock, the sleep and the dice that waiting needs; a test brings its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep
    dice: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311 - spreads load


class Bucket:
    """At most `per_minute` units in any 60 seconds, in the order of requests.

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
        return self.left > 0

    @property
    def left(self) -> float:
        """Seconds until it is off."""
        return max(0.0, self._until - self._time.clock())

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
        while (left := self.left) > 0:
            # Spread a little, or all calls would come back in the same instant.
            await self._time.sleep(left + self._time.dice() * min(left, 1.0) * 0.5)


class TryAgain(Exception):
    """One try failed in a way that may pass. `after`: seconds that the endpoint wants us to wait.

    `limited`: there were too many requests. `lost`: the endpoint had taken the request, so that it may bill for a reply
    that never came whole.
    """

    def __init__(self, message: str, *, after: float | None = None, limited: bool = False, lost: bool = False) -> None:
        super().__init__(message)
        self.after = min(max(0.0, after or 0.0), LONGEST_RETRY_AFTER)  # in this order NaN becomes 0
        self.limited = limited
        self.lost = lost
        self.seconds = 0.0


@dataclass(frozen=True, slots=True)
class Wait:
    """A call waits before it is tried again: whose call, why, and for how many seconds."""

    name: str
    why: str
    seconds: float


OnWait = Callable[[Wait], None]
_on_wait: ContextVar[OnWait | None] = ContextVar("ragways_on_wait", default=None)


@contextmanager
def reporting_waits(on_wait: OnWait) -> Iterator[None]:
    """Inside, `on_wait` is called for every pause of a second or more, once for calls that wait together."""
    token = _on_wait.set(on_wait)
    try:
        yield
    finally:
        _on_wait.reset(token)


class MeteredTries:
    """The tries of one call: each is reserved before it is sent, and one whose reply was lost is paid for.

    `lost` is what the lost ones cost at most, which is what they are charged at.
    """

    def __init__(self, most: Usage) -> None:
        self.lost = Usage()
        self._most = most
        self._meter = current_meter()
        self._reservation: Reservation | None = None

    async def reserve(self) -> None:
        """Set the money aside; BudgetExceeded where there is too little left."""
        if self._reservation is None:
            self._reservation = await self._meter.reserve_in_turn(self._most)

    async def send(self, work: Callable[[], Awaitable[T]]) -> T:
        """One try."""
        await self.reserve()
        try:
            return await work()
        except TryAgain as error:
            if error.lost:
                self._charge()
            raise
        except asyncio.CancelledError:
            self._charge()
            raise

    def settle(self, usage: Usage) -> None:
        """What the last try did cost; nothing where it was charged already."""
        if self._reservation is not None:
            self._reservation.settle(usage)

    def _charge(self) -> None:
        self.lost += self._most
        self.settle(self._most)
        self._reservation = None


class Traffic:
    """How much may be under way at once, how fast, and how long to keep trying.

    `patience` counts seconds that a call spent failing and waiting to try again; its time in the queue does not
    count, so a long queue behind a slow endpoint does not fail. One event loop at a time may use it.
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
        self.concurrency = concurrency
        self._patience = patience
        self._tries = tries
        self._requests = Bucket(requests_per_minute, self._time)
        self._tokens = Bucket(tokens_per_minute, self._time)
        self._brake = Brake(self._time, first=FIRST_PAUSE, longest=LONGEST_PAUSE)
        self._reported_until = float("-inf")
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
                waited += await self._pause(name, error, tried)
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

    async def _pause(self, name: str, error: TryAgain, tried: int) -> float:
        """Wait before the next try. Too many requests: wait with all the others.

        Else exponential with full jitter, but at least a tenth, so that bad luck with the dice cannot use up all
        tries before patience ends.
        """
        began = self._time.clock()
        if error.limited:
            self._report(Wait(name, str(error), self._brake.left))
            await self._brake.wait()
        else:
            most = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(tried - 1, 10))
            pause = max(error.after, most * max(0.1, self._time.dice()))
            self._report(Wait(name, str(error), pause))
            await self._time.sleep(pause)
        return self._time.clock() - began

    def _report(self, wait: Wait) -> None:
        until, on_wait = self._time.clock() + wait.seconds, _on_wait.get()
        if on_wait is not None and wait.seconds >= 1 and until >= self._reported_until + 1:
            self._reported_until = until
            on_wait(wait)

    def _slots_here(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._slots = loop, asyncio.Semaphore(self.concurrency)
        return self._slots


def _gave_up(name: str, tried: int, waited: float, error: TryAgain) -> ModelUnavailable:
    return ModelUnavailable(
        f"{name} still fails after {tried} tries in {waited:.0f} s ({error})",
        "check that the endpoint is up and within its limits, then run again: finished work is stored",
    )
