"""A worker: a process that has indexes open and does what reads them, or one job. The server starts it (`child.py`),
and it ends with it. It answers on the socket whose number is its argument.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.assemble import embedder_of
from ragways.asynchronous import AsyncCorpus
from ragways.core.errors import RagwaysError, StoreBusy
from ragways.core.runtime import no_telemetry
from ragways.core.trace import Budget, spending
from ragways.models.client import replies_of
from ragways.models.embed import Embedder
from ragways.service.errors import error_data
from ragways.service.keys import MAIN
from ragways.service.work.child import JOB, WORKER, Message, packed, receive
from ragways.settings import Settings

if TYPE_CHECKING:
    from ragways.service.work.operations import Operation

OPEN_AT_ONCE = 16
"""Indexes kept open; the one not used for longest is closed."""
BEAT = 1.0
_LOG = logging.getLogger("ragways.service.work.worker")


class SharedEmbedder:
    """One embedder for all indexes of a worker: it stays open when an index is closed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever an embedder has
        return getattr(self._embedder, name)

    async def aclose(self) -> None:
        """Stay open."""

    async def close(self) -> None:
        """At the end of the worker."""
        await self._embedder.aclose()


class OpenCorpora:
    """Indexes by folder, each opened once and shared by all questions to it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._embedder: SharedEmbedder | None = None
        self._open: OrderedDict[str, AsyncCorpus] = OrderedDict()
        self._users: dict[AsyncCorpus, int] = {}
        self._opening: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def corpus(self, folder: str) -> AsyncIterator[AsyncCorpus]:
        """The index of this folder, open; it stays so until the end of the block."""
        corpus = await self._find(folder)
        self._users[corpus] = self._users.get(corpus, 0) + 1
        try:
            yield corpus
        finally:
            self._users[corpus] -= 1
            if not self._users[corpus]:
                del self._users[corpus]
                if self._open.get(folder) is not corpus:
                    await corpus.aclose()

    async def _find(self, folder: str) -> AsyncCorpus:
        async with self._opening.setdefault(folder, asyncio.Lock()):
            if folder not in self._open:
                if self._embedder is None:
                    self._embedder = SharedEmbedder(await embedder_of(self.settings))
                chosen = self.settings.model_copy(update={"index": Path(folder)})
                corpus = AsyncCorpus(chosen, self._embedder, None)
                self._open[folder] = await corpus.open()
                while len(self._open) > OPEN_AT_ONCE:
                    await self.forget(next(iter(self._open)))
            self._open.move_to_end(folder)
            return self._open[folder]

    async def forget(self, folder: str) -> None:
        """Close an index, at once or when the last question to it has ended."""
        corpus = self._open.pop(folder, None)
        if corpus is not None and corpus not in self._users:
            await corpus.aclose()

    async def aclose(self) -> None:
        for folder in list(self._open):
            await self.forget(folder)
        if self._embedder is not None:
            await self._embedder.close()


@cache
def operations() -> dict[str, Operation]:
    """What workers do, by name. It is imported by them alone: a job starts sooner without it."""
    from ragways.service.work.mcp import answer_request
    from ragways.service.work.operations import OPERATIONS
    from ragways.service.work.operations_graph import GRAPH_OPERATIONS

    return {**OPERATIONS, **GRAPH_OPERATIONS, "mcp": answer_request}


class Worker:
    """Does the calls of one connection, side by side."""

    def __init__(self, settings: Settings, writer: asyncio.StreamWriter) -> None:
        self._corpora = OpenCorpora(settings)
        self._writer = writer
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def take(self, message: Message) -> None:
        """Begin a call, or cancel it."""
        number = int(message["number"])
        if message.get("cancel"):
            if (task := self._tasks.get(number)) is not None:
                task.cancel()
            return
        task = asyncio.create_task(self._do(number, message))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _do(self, number: int, message: Message) -> None:
        end: Message = {"number": number, "end": True}
        # The tenant of a server without keys shares its replies with the command line.
        tenant = "" if message["tenant"] == MAIN else message["tenant"]
        with spending(Budget(usd=message["budget"])) as meter, replies_of(tenant):

            def emit(event: str, data: Any) -> None:  # noqa: ANN401 - JSON
                money = {"spent": meter.spent.usd, "cost": meter.spent.cost}
                self._send({"number": number, "event": event, "data": data, **money})

            try:
                end["value"] = await self._result(message, emit)
            except RagwaysError as error:
                end["error"] = error_data(error)
            except asyncio.CancelledError:
                end["cancelled"] = True
            except Exception:
                _LOG.exception("%s failed", message["operation"])
                end["error"] = {"kind": "Unexpected", "message": "something went wrong inside", "cure": ""}
            end |= {"spent": meter.spent.usd, "cost": meter.spent.cost}
        self._send(end)

    async def _result(self, message: Message, emit: Any) -> Any:  # noqa: ANN401 - JSON
        operation, arguments = str(message["operation"]), dict(message["arguments"])
        if operation == "forget":
            return await self._corpora.forget(message["folder"])
        if operation == JOB:
            from ragways.service.work.job import run_job

            return await run_job(self._corpora.settings, arguments, emit)
        from ragways.service.work.operations import Work

        for last in (False, True):
            async with self._corpora.corpus(message["folder"]) as corpus:
                try:
                    return await operations()[operation](
                        Work(corpus, arguments, emit, message["tenant"], message["budget"])
                    )
                except StoreBusy:  # a removal took the snapshot away: once more, on the newest
                    if last:
                        raise
        raise AssertionError("unreachable")

    def _send(self, message: Message) -> None:
        try:
            self._writer.write(packed(message))
        except RagwaysError as error:
            self._writer.write(packed({"number": message["number"], "end": True, "error": error_data(error)}))

    async def aclose(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._corpora.aclose()


async def serve(connection: socket.socket) -> None:
    """Until the server hangs up."""
    reader, writer = await asyncio.open_connection(sock=connection)
    first = await receive(reader)
    if first is None:
        return
    worker = Worker(Settings.model_validate(first["settings"]), writer)
    beating = asyncio.create_task(_beat(writer))
    try:
        while (message := await receive(reader)) is not None:
            worker.take(message)
    finally:
        beating.cancel()
        await worker.aclose()
        writer.close()
        await writer.wait_closed()


async def _beat(writer: asyncio.StreamWriter) -> None:
    """Send a message every second that this loop goes round; the first time, that it has begun."""
    while True:
        writer.write(packed({"number": 0}))
        await asyncio.sleep(BEAT)


def _end_with_server(parent: int) -> None:
    """Wait until the server is gone: then end, with every process that was started from here."""
    while os.getppid() == parent:
        time.sleep(1.0)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Serve the connection that the server has given."""
    no_telemetry()
    if sys.argv[2] == WORKER:
        operations()
    threading.Thread(target=_end_with_server, args=(os.getppid(),), daemon=True).start()
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
