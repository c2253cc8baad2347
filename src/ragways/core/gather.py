"""Work side by side, with nothing left running behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results in the order given. A failure cancels what is still under way, and waits until it has ended."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_turn(work: Iterable[Coroutine[Any, Any, None]], at_once: int) -> None:
    """So many at once. After a failure nothing new is begun; what is under way is finished, for it has been paid."""
    turns = asyncio.Semaphore(at_once)
    failed = False

    async def one(each: Coroutine[Any, Any, None]) -> None:
        nonlocal failed
        async with turns:
            if failed:
                each.close()
                return
            try:
                await each
            except BaseException:
                failed = True
                raise

    waiting = list(work)
    try:
        done = await asyncio.gather(*map(one, waiting), return_exceptions=True)
    finally:
        for each in waiting:
            each.close()  # what was never begun, when the whole was cancelled
    for result in done:
        if isinstance(result, BaseException):
            raise result
