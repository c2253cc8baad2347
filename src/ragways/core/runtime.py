"""How work runs in this process: how many threads, what no library may send, work side by side, and how far it is.

Nothing heavy is imported here: the first two functions are called before numeric libraries are loaded.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def limit_threads() -> None:
    """One BLAS thread: for products this small, waking more costs more than it saves."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")


@cache
def warn_once(text: str) -> None:
    """Log a warning, once in a process: what is wrong with an installation is wrong for every question."""
    logging.getLogger("ragways").warning("ragways: %s", text)


def default_threads() -> int:
    """One for each processor this process may use, at most 4."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, 4)


def no_telemetry() -> None:
    """Tell libraries to report nothing: from 1.31 on, onnxruntime would leave a device id and send events to its
    vendor, and Ray would tell its own what it is used for.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


_PLAIN = ("PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")


def plain_environment() -> dict[str, str]:
    """What a child process needs of the environment to start, and no more: no key, no token."""
    return {name: os.environ[name] for name in (*_PLAIN, *_THREADS) if name in os.environ}


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


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units of `stage`; total 0 is unknown."""

    stage: str
    done: int
    total: int = 0
    note: str = ""


ProgressCallback = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Show nothing."""


_OFTEN = 200


def reported(progress: ProgressCallback, stage: str, items: Iterable[T], total: int = 0) -> Iterator[T]:
    """Yield the same items, and report progress after every 200 of them and at the end."""
    done = 0
    for done, item in enumerate(items, start=1):
        if done % _OFTEN == 1:
            progress(Progress(stage, done - 1, total))
        yield item
    if done:
        progress(Progress(stage, done, total))
