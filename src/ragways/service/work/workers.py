"""The pool of workers: processes that have indexes open and answer for the server, bounded in number and time.

A call goes to the worker with the fewest under way. Where its caller goes away it is cancelled, and so are the calls of
a model inside it. A worker that does not come back in time is killed and replaced; what others had under way there is
done again elsewhere where that costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragways.service.config import ServiceConfig
from ragways.service.errors import Full, ServiceError
from ragways.service.work import child as children
from ragways.service.work.child import WORKER, ChildLost, ChildProcess, Message, OnEvent, PendingCall

if TYPE_CHECKING:
    from ragways.service.collections import Collection
    from ragways.service.ledger import Held

STARTING = 60
"""Seconds that workers get to start, before requests are turned away."""
_LOG = logging.getLogger("ragways.service")


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that has ended, for metrics and traces: when it began (seconds since 1970), how long it took, and its
    value, or what it raised.
    """

    operation: str
    arguments: dict[str, Any]
    began: float
    seconds: float
    value: Any = None
    error: BaseException | None = None


class WorkerPool:
    """Workers, started with `start` and ended with `close`."""

    def __init__(self, config: ServiceConfig) -> None:
        self._config = config
        self._workers: list[ChildProcess] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(config.limits.at_once)
        self._closing = False
        self.waiting = 0
        self.on_end: list[Callable[[FinishedCall], None]] = []
        """Called with every call that has ended."""

    @property
    def under_way(self) -> int:
        return sum(len(worker.pending) for worker in self._workers)

    @property
    def alive(self) -> int:
        return sum(worker.alive for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes."""
        return [worker.process.pid for worker in self._workers if worker.alive]

    @property
    def answers(self) -> bool:
        """Whether there is a worker that is not stuck."""
        return any(worker.alive and not worker.stuck for worker in self._workers)

    async def start(self) -> None:
        for _ in range(self._config.workers):
            await self._start_worker()

    async def _start_worker(self) -> None:
        settings = self._config.settings
        if settings.embedder.threads is None:  # several workers share the cores
            settings = settings.model_copy(update={"embedder": settings.embedder.model_copy(update={"threads": 1})})
        worker = await ChildProcess.start(settings, WORKER)
        self._workers.append(worker)
        self._go_on(self._replace(worker))

    async def _replace(self, worker: ChildProcess) -> None:
        """Wait for the end of a worker, and start another."""
        await worker.ended
        self._workers.remove(worker)
        if not self._closing:
            _LOG.warning("a worker ended and is replaced", extra={"fields": {"pid": worker.process.pid}})
            await asyncio.sleep(0.05)  # one that cannot start must not be started in a tight loop
            await self._start_worker()

    def _go_on(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work that comes to its end, also where its caller is cancelled."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def call(
        self,
        operation: str,
        collection: Collection,
        arguments: dict[str, Any],
        *,
        tenant: str,
        on_event: OnEvent | None = None,
        held: Held | None = None,
    ) -> Any:  # noqa: ANN401 - JSON
        """The result of an operation on a collection; what it raised is raised here.

        `held` is the money that was set aside for it (`Ledger.hold`); it is settled with what was spent, also where the
        caller does not wait for the end.
        """
        message = _message(operation, collection, arguments, tenant, None if held is None else held.usd)
        message["growing"] = held is not None
        with self._queued():
            await self._slots.acquire()
        began, started = time.time(), time.perf_counter()
        value: Any = None
        raised: BaseException | None = None
        try:
            async with asyncio.timeout(self._config.limits.seconds):
                value = await self._done(message, on_event, held)
            return value
        except TimeoutError as error:
            raised = error
            raise ServiceError(
                504, "too_slow", "this took too long and was stopped", "ask for less, or a quicker paradigm"
            ) from None
        except BaseException as error:
            raised = error
            raise
        finally:
            self._slots.release()
            call = FinishedCall(operation, arguments, began, time.perf_counter() - started, value, raised)
            for report in self.on_end:
                report(call)

    @contextmanager
    def _queued(self) -> Iterator[None]:
        if self.waiting >= self._config.limits.waiting:
            raise Full()
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    async def _done(self, message: Message, on_event: OnEvent | None, held: Held | None) -> Any:  # noqa: ANN401
        left = len(self._workers) + 1  # they may all have died together
        while True:
            worker = await self._least_busy()
            pending = worker.begin(message, on_event, held)
            try:
                return await pending.done
            except ChildLost:
                left -= 1
                if not left or pending.streamed or self._config.settings.model.name:
                    raise ServiceError(
                        503, "interrupted", "the process that worked on this ended", "ask again", {"Retry-After": "1"}
                    ) from None
            except asyncio.CancelledError:
                if not pending.ended.is_set():
                    if held is not None:  # until the worker has reported what it spent, or is gone
                        held.kept_open = True
                    # The caller may be cancelled again meanwhile: a stream is, until it ends.
                    await asyncio.shield(self._go_on(self._cancel(worker, pending)))
                raise

    async def _least_busy(self) -> ChildProcess:
        for _ in range(STARTING * 20):
            if ready := [worker for worker in self._workers if worker.alive]:
                return min(ready, key=lambda worker: (worker.stuck, len(worker.pending)))
            await asyncio.sleep(0.05)
        raise Full()

    async def _cancel(self, worker: ChildProcess, pending: PendingCall) -> None:
        """Stop a call, and wait until the worker has reported what it spent; a worker that does not is killed."""
        worker.cancel(pending)
        while not pending.ended.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(children.GRACE):
                    await pending.ended.wait()
            if not pending.ended.is_set() and worker.stuck:
                _LOG.warning("a worker is stuck and is killed", extra={"fields": {"pid": worker.process.pid}})
                worker.kill()
                await pending.ended.wait()
        if pending.held is not None and pending.held.close is not None:
            pending.held.close()

    async def forget(self, collection: Collection) -> None:
        """Have every worker close a collection's files."""
        await self._call_all("forget", collection, children.GRACE)

    async def warm(self, collections: Sequence[Collection]) -> None:
        """Have every worker open these before the first question comes."""
        for worker in list(self._workers):
            await worker.started.wait()
        for collection in collections:
            await self._call_all("warm", collection, STARTING)

    async def _call_all(self, operation: str, collection: Collection, seconds: float) -> None:
        """Every worker does it; one that cannot is left as it is."""
        message = _message(operation, collection, {}, "", None)
        if waiting := [worker.begin(message).done for worker in self._workers if worker.alive]:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await asyncio.gather(*waiting, return_exceptions=True)

    async def close(self) -> None:
        """End every worker; what is under way is cancelled."""
        self._closing = True
        for worker in self._workers:
            with suppress(OSError, RuntimeError):  # it has ended already
                worker.writer.write_eof()  # it reports what was spent, and ends
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=children.GRACE)
        for worker in self._workers:
            worker.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _message(
    operation: str, collection: Collection, arguments: dict[str, Any], tenant: str, budget: float | None
) -> Message:
    folder = str(collection.index)
    return {"operation": operation, "folder": folder, "arguments": arguments, "tenant": tenant, "budget": budget}
