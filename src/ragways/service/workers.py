"""The pool of workers: what the server has done by other processes, bounded in number and time.

A call goes to the worker with the least under way. Where its caller goes away it is cancelled, and so are the calls of
a model inside it. A worker that does not come back in time is killed and replaced; what others had under way there is
done again elsewhere where that costs nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragways.core.runtime import plain_environment
from ragways.service.config import ServiceConfig
from ragways.service.errors import Full, ServiceError
from ragways.service.wire import Message, error_of, packed, receive
from ragways.settings import plain_settings

if TYPE_CHECKING:
    from ragways.service.collections import Collection
    from ragways.service.ledger import Held

OnEvent = Callable[[str, Any], None]
GRACE = 5.0
"""Seconds of silence after which a worker that was told to cancel something is taken for stuck."""
STARTING = 60
"""Seconds that workers get to start, before requests are turned away."""
PAYING = frozenset({"ask", "compare", "retrieve", "rewrite", "mcp", "embed"})
_LOG = logging.getLogger("ragways.service")


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that has ended, for those who count and trace: when it began (seconds since 1970), how long it took, and
    its value, or what it raised.
    """

    operation: str
    arguments: dict[str, Any]
    began: float
    seconds: float
    value: Any = None
    error: BaseException | None = None


class WorkerLost(Exception):
    """The process went away with this under way."""


@dataclass
class PendingCall:
    """A call that is under way."""

    done: asyncio.Future[Any]
    on_event: OnEvent | None
    held: Held | None
    told: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class WorkerProcess:
    """One worker and what it has under way."""

    process: asyncio.subprocess.Process
    writer: asyncio.StreamWriter
    pending: dict[int, PendingCall] = field(default_factory=dict)
    alive: bool = False
    """From its first word to its last."""
    heard: float = 0.0
    """When it last said something; it does so every second, unless it is stuck."""

    def send(self, message: Message) -> None:
        self.writer.write(packed(message))

    def take(self, message: Message) -> None:
        """What the worker said: an event, or the end of a call."""
        self.heard = time.monotonic()
        number = int(message["number"])
        pending = self.pending.get(number)
        if pending is None:
            return
        if not message.get("end"):
            pending.told = True
            if pending.on_event is not None:
                pending.on_event(message["event"], message["data"])
            return
        del self.pending[number]
        pending.ended.set()
        if pending.held is not None:
            pending.held.settle(float(message.get("spent") or 0.0))
        if pending.done.done():
            return
        if "error" in message:
            pending.done.set_exception(_error(message["error"]))
        elif message.get("cancelled"):
            pending.done.cancel()
        else:
            pending.done.set_result(message.get("value"))


class WorkerPool:
    """Workers, started with `start` and ended with `close`."""

    def __init__(self, config: ServiceConfig) -> None:
        self._config = config
        self._workers: list[WorkerProcess] = []
        self._readers: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self._slots = asyncio.Semaphore(config.limits.at_once)
        self.waiting = 0
        self.on_end: list[Callable[[FinishedCall], None]] = []
        """Told of every call that has ended."""
        self._closing = False
        self._cancelling: set[asyncio.Task[None]] = set()
        self._started = asyncio.Event()

    @property
    def under_way(self) -> int:
        return sum(len(worker.pending) for worker in self._workers)

    @property
    def alive(self) -> int:
        return sum(worker.alive for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes, for those who watch them."""
        return [worker.process.pid for worker in self._workers if worker.alive]

    async def start(self) -> None:
        for _ in range(self._config.workers):
            await self._spawn()

    async def ready(self) -> None:
        """Until all workers have started."""
        await self._started.wait()

    async def _spawn(self) -> None:
        ours, theirs = socket.socketpair()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ragways.service.worker",
            str(theirs.fileno()),
            pass_fds=[theirs.fileno()],
            stdin=asyncio.subprocess.DEVNULL,
            env=plain_environment(),
            start_new_session=True,  # Ctrl-C is for the server, which lets answers end first
        )
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        worker = WorkerProcess(process, writer)
        settings = self._config.settings
        if settings.embedder.threads is None:  # several workers share the cores
            settings = settings.model_copy(update={"embedder": settings.embedder.model_copy(update={"threads": 1})})
        worker.send({"settings": plain_settings(settings)})
        self._workers.append(worker)
        task = asyncio.create_task(self._listen(worker, reader))
        self._readers.add(task)
        task.add_done_callback(self._readers.discard)

    async def _listen(self, worker: WorkerProcess, reader: asyncio.StreamReader) -> None:
        worker.alive = await receive(reader) is not None
        if self.alive == self._config.workers:
            self._started.set()
        while worker.alive and (message := await receive(reader)) is not None:
            worker.take(message)
        worker.alive = False
        self._workers.remove(worker)
        for pending in worker.pending.values():
            pending.ended.set()
            if not pending.done.done():
                pending.done.set_exception(WorkerLost())
        worker.pending.clear()
        worker.writer.close()
        with suppress(OSError):
            await worker.writer.wait_closed()
        if not self._closing:
            _LOG.warning("a worker ended and is replaced", extra={"fields": {"pid": worker.process.pid}})
            await asyncio.sleep(0.05)  # one that cannot start must not be started in a tight loop
            await self._spawn()
        await worker.process.wait()

    async def call(
        self,
        operation: str,
        collection: Collection,
        arguments: dict[str, Any],
        *,
        tenant: str,
        on_event: OnEvent | None = None,
        seconds: float | None = None,
        held: Held | None = None,
    ) -> Any:  # noqa: ANN401 - JSON
        """The result of an operation on a collection; what it raised is raised here.

        `held` is the money that was set aside for it (`Ledger.hold`); it is settled with what was spent, also where the
        caller does not wait for the end.
        """
        if self.waiting >= self._config.limits.waiting:
            raise Full()
        message = {
            "operation": operation,
            "folder": str(collection.index),
            "arguments": arguments,
            "tenant": tenant,
            "budget": None if held is None else held.usd,
        }
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        began, started = time.time(), time.perf_counter()
        try:
            async with asyncio.timeout(seconds or self._config.limits.seconds):
                value = await self._done(message, on_event, held)
            self._tell_end(FinishedCall(operation, arguments, began, time.perf_counter() - started, value))
            return value
        except BaseException as error:
            self._tell_end(FinishedCall(operation, arguments, began, time.perf_counter() - started, error=error))
            if not isinstance(error, TimeoutError):
                raise
            raise ServiceError(
                504, "too_slow", "this took too long and was stopped", "ask for less, or a quicker paradigm"
            ) from None
        finally:
            self._slots.release()

    def _tell_end(self, call: FinishedCall) -> None:
        for tell in self.on_end:
            tell(call)

    async def _done(self, message: Message, on_event: OnEvent | None, held: Held | None) -> Any:  # noqa: ANN401
        free = not (self._config.settings.model.name and message["operation"] in PAYING)
        left = len(self._workers) + 1  # they may all have died together
        while True:
            worker = await self._least_busy()
            number = next(self._numbers)
            pending = PendingCall(asyncio.get_running_loop().create_future(), on_event, held)
            worker.pending[number] = pending
            worker.send({"number": number, **message})
            try:
                return await pending.done
            except WorkerLost:
                left -= 1
                if not left or pending.told or not free:
                    raise ServiceError(
                        503, "interrupted", "the process that worked on this ended", "ask again", {"Retry-After": "1"}
                    ) from None
            except asyncio.CancelledError:
                if number in worker.pending:
                    await asyncio.shield(self._cancelled(worker, number, pending))
                raise

    async def _least_busy(self) -> WorkerProcess:
        for _ in range(STARTING * 20):
            if ready := [worker for worker in self._workers if worker.alive]:
                return min(ready, key=lambda worker: len(worker.pending))
            await asyncio.sleep(0.05)
        raise Full()

    def _cancelled(self, worker: WorkerProcess, number: int, pending: PendingCall) -> asyncio.Task[None]:
        """The stopping of a call, as a task of ours: whoever waited for the call may be cancelled again meanwhile (a
        stream is, until it ends). The money stays held until the worker has said what it spent, or is gone.
        """
        if pending.held is not None:
            pending.held.kept_open = True
        task = asyncio.create_task(self._cancel(worker, number, pending))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)
        return task

    async def _cancel(self, worker: WorkerProcess, number: int, pending: PendingCall) -> None:
        """Stop it, and wait until it has said what it spent; a worker that does not is killed."""
        worker.send({"number": number, "cancel": True})
        while not pending.ended.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await pending.ended.wait()
            if not pending.ended.is_set() and time.monotonic() - worker.heard > GRACE:
                _LOG.warning("a worker is stuck and is killed", extra={"fields": {"pid": worker.process.pid}})
                worker.process.kill()
                await pending.ended.wait()
        if pending.held is not None and pending.held.close is not None:
            pending.held.close()

    async def forget(self, collection: Collection) -> None:
        """Have every worker let go of a collection's files."""
        await self._tell_all("forget", collection, GRACE)

    async def answer(self) -> bool:
        """Whether any worker answers within a moment."""
        return await self._tell_all("ping", None, GRACE) > 0

    async def warm(self, collections: Sequence[Collection]) -> None:
        """Have every worker open these before the first question comes."""
        for collection in collections:
            await self._tell_all("warm", collection, STARTING)

    async def _tell_all(self, operation: str, collection: Collection | None, seconds: float) -> int:
        """Every worker does it; who cannot is left as it is. How many did."""
        message: Message = {
            "operation": operation,
            "folder": str(collection.index) if collection else "",
            "arguments": {},
            "tenant": "",
            "budget": None,
        }
        waiting = []
        for worker in [worker for worker in self._workers if worker.alive]:
            number = next(self._numbers)
            pending = PendingCall(asyncio.get_running_loop().create_future(), None, None)
            worker.pending[number] = pending
            worker.send({"number": number, **message})
            waiting.append(pending.done)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.wait(waiting) if waiting else None
        return sum(done.done() and not done.cancelled() and done.exception() is None for done in waiting)

    async def close(self) -> None:
        """End every worker; what is under way is cancelled."""
        self._closing = True
        if self._cancelling:  # they may still say what they spent
            await asyncio.wait(self._cancelling, timeout=GRACE)
        for worker in list(self._workers):
            worker.writer.close()
        for worker in list(self._workers):
            try:
                async with asyncio.timeout(GRACE):
                    await worker.process.wait()
            except TimeoutError:
                worker.process.kill()
        await asyncio.gather(*self._readers, *self._cancelling, return_exceptions=True)


def _error(data: dict[str, Any]) -> Exception:
    if data["kind"] == "Unexpected":
        return ServiceError(500, "unexpected", data["message"], "tell the operator this id; the log says more")
    return error_of(data)
