"""Units of paid work side by side, each stored when it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic, TypeVar

from ragways.core.errors import BudgetExceeded, ModelRefused

UNITS_AT_ONCE = 64
"""Units under way: more than the concurrency of any endpoint, so that the client is never idle."""
T = TypeVar("T")


async def work_through(units: Sequence[T], do: Callable[[T], Awaitable[Iterable[T]]]) -> None:
    """Do every unit, and those that `do` returns in the place of one. What stops the work is raised when what is under
    way has ended: it has been paid for, and is stored.

    A call sets aside the most it can cost, so many at once meet the budget long before it is spent. Then fewer go on;
    the budget is reached when there is no room for one alone.
    """
    workers = _Workers(list(units)[::-1], do)
    await asyncio.gather(*(workers.work() for _ in range(min(UNITS_AT_ONCE, len(units)))))
    if workers.stop is not None:
        raise workers.stop


class _Workers(Generic[T]):
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
