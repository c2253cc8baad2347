"""Units of paid work side by side, each stored when it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TypeVar

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
    waiting, busy = list(units)[::-1], 0
    stopped: BaseException | None = None

    async def work() -> None:
        nonlocal busy, stopped
        while waiting and stopped is None:
            unit = waiting.pop()
            busy += 1
            try:
                waiting.extend(reversed(list(await do(unit))))
            except BudgetExceeded as stop:
                waiting.append(unit)
                if busy > 1:
                    return
                stopped = stop
            except BaseException as error:
                stopped = error
                if not isinstance(error, ModelRefused):
                    raise
            finally:
                busy -= 1

    await asyncio.gather(*(work() for _ in range(min(UNITS_AT_ONCE, len(units)))))
    if stopped is not None:
        raise stopped


def packs(units: Iterable[T], costs: Iterable[int], *, tokens: int, most: int) -> Iterator[tuple[T, ...]]:
    """Neighbours together, as many as fit, one at least: the prompt around them is paid once a pack."""
    here: list[T] = []
    room = tokens
    for unit, cost in zip(units, costs, strict=True):
        if here and (cost > room or len(here) == most):
            yield tuple(here)
            here, room = [], tokens
        here.append(unit)
        room -= cost
    if here:
        yield tuple(here)
