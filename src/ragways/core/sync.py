"""Async work from code that is not async: from a script, from threads, and from a notebook whose loop is running."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread of its own. Any number of threads may run coroutines on it; each waits for its own.

    The thread ends with `close`, or when nobody holds this object any more.
    """

    def __init__(self, name: str = "ragways") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name=name, daemon=True)
        self._thread.start()
        self._end = weakref.finalize(self, _stop, self._loop, self._thread)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. It sees the context variables of the caller; Ctrl-C cancels it."""
        future = self.start(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine without waiting for it."""
        if not self._end.alive:
            work.close()
            raise RuntimeError("this loop is closed")
        if self.is_current:
            work.close()
            raise RuntimeError("called from its own loop, which would wait for itself: use the async twin there")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    @property
    def is_current(self) -> bool:
        """Whether the caller is running on this very thread."""
        return threading.current_thread() is self._thread

    @property
    def closed(self) -> bool:
        return not self._end.alive

    def close(self) -> None:
        """End the loop and its thread; what is still under way is cancelled. A second call does nothing."""
        self._end()


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """The result of one coroutine, whether or not a loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    thread = LoopThread()
    try:
        return thread.run(work)
    finally:
        thread.close()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    if loop.is_closed():
        return
    loop.call_soon_threadsafe(loop.stop)
    if threading.current_thread() is not thread:
        thread.join(timeout=10)
