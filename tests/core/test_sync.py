"""Async work from where there is no loop, from where one is running, and from many threads."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from ragways.core.sync import LoopThread, run_sync

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


async def who() -> str:
    await asyncio.sleep(0)
    return WHO.get()


def test_from_a_script_and_from_a_running_loop():
    assert run_sync(who()) == "nobody"

    async def cell_of_a_notebook() -> str:
        WHO.set("me")
        return run_sync(who())

    assert asyncio.run(cell_of_a_notebook()) == "me"


def test_many_threads_share_one_loop_and_each_keeps_its_context():
    thread = LoopThread()

    def ask(number: int) -> str:
        WHO.set(str(number))
        return thread.run(who())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(50))) == [str(number) for number in range(50)]
    thread.close()
    assert thread.closed
    with pytest.raises(RuntimeError, match="closed"):
        thread.run(who())


def test_an_error_comes_out_and_the_loop_goes_on():
    thread = LoopThread()

    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        thread.run(fail())
    assert thread.run(who()) == "nobody"
    thread.close()


def test_a_loop_that_nobody_holds_ends():
    before = threading.active_count()
    thread = LoopThread()
    thread.run(who())
    assert threading.active_count() == before + 1
    del thread
    gc.collect()
    assert threading.active_count() == before
