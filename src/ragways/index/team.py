"""Many units of paid work side by side, each kept as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic, TypeVar

from ragways.core.errors import BudgetExceeded, ModelRefused

T = TypeVar("T")
AT_ONCE = 64
"""Units under way: more than any endpoint's concurrency, which the client holds, so that it is never idle."""


async def work_through(units: Sequence[T], do: Callable[[T], Awaitable[Iterable[T]]]) -> None:
    """Do every unit, and those that `do` returns in the place of one. What stops the work is raised when what is under
    way has ended: it has been paid for, and is kept.

    A call sets aside the most it can cost, so many at once meet the budget long before it is spent. Then fewer go on;
    the budget is reached when there is no room for one alone.
    """
    team = _Team(list(units)[::-1], do)
    await asyncio.gather(*(team.work() for _ in range(min(AT_ONCE, len(units)))))
    if team.stop is not None:
        raise team.stop


class _Team(Generic[T]):
    def __init__(self, waiting: list[T], do: Callable[[T], Awaitable[Iterable[T]]]) -> None:
        self.waiting = waiting
        self.do = do
        self.busy = 0
        self.stop: BaseException | None = None

    async def work(self) -> None:
        while self.waiting and self.stop is None:
            unit = self.waiting.pop()
            self.busy += 1
            try:
                self.waiting += reversed(list(await self.do(unit)))
            except BudgetExceeded as stop:
                self.waiting.append(unit)
                if self.busy > 1:
                    return
                self.stop = stop
            except ModelRefused as stop:
                self.stop = stop
            except BaseException as error:
                self.stop = error
                raise
            finally:
                self.busy -= 1
