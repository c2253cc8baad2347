"""An OpenAI-compatible server on this machine that costs nothing and can fail on purpose.

    with Loopback(faults=[Fault("limited", share=0.2)]) as server:
        Endpoint(server.base_url, None, "loopback")

    python -m ragways.models.loopback --fault limited:share=0.2     # prints its address; Ctrl-C ends it

It serves chat completions, embeddings and the list of models under `/v1`. It understands nothing: use it to try a
set-up, its limits and its budget, not to read the answers.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from ragways.core.errors import UsageError
from ragways.models.faults import KINDS, Fault
from ragways.models.loopback_http import Answer, Request, serve
from ragways.models.loopback_reply import default_reply
from ragways.models.loopback_routes import Routes

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it came in; the key it brought is not kept."""

    path: str
    body: Mapping[str, object]
    authorized: bool


class Loopback:
    """The server in a thread of its own.

    `reply` makes the text of a message from the request's body, or a `message` object, or a whole response with
    `choices`. `forms` are the values of `response_format` it understands; to the fields in `refuses` it answers 400.
    """

    def __init__(
        self,
        reply: Callable[[Mapping[str, object]], object] = default_reply,
        *,
        faults: Sequence[Fault] = (),
        key: str | None = None,
        forms: Sequence[str] = ("json_schema", "json_object"),
        refuses: Sequence[str] = (),
        dimension: int = 8,
        port: int = 0,
        memory: int = 10_000,
    ) -> None:
        self.faults = list(faults)
        self.requests: list[Seen] = []
        self.count = 0
        self._memory = memory
        self._key = key
        self._routes = Routes(reply, frozenset(forms), frozenset(refuses), dimension)
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._began = 0.0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Loopback:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(self._loop, ready), name="loopback", daemon=True)
        self._thread.start()
        ready.wait()
        try:
            self.resume()
        except BaseException:
            self._end()
            raise
        self._began = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def pause(self) -> None:
        """Stop listening and hang up: connections are refused until `resume`."""
        self._do(self._hang_up())

    def resume(self) -> None:
        """Listen again, at the same address."""
        self._do(self._listen())

    def _run(self, loop: asyncio.AbstractEventLoop, ready: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        loop.call_soon(ready.set)
        try:
            loop.run_forever()
            loop.run_until_complete(self._hang_up())
        finally:
            loop.close()

    def _do(self, work: Coroutine[object, object, T]) -> T:
        if self._loop is None:
            work.close()
            raise UsageError("the loopback server is not running", "use it in a `with` block")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    def _end(self) -> None:
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=10)
            if thread.is_alive():
                raise TimeoutError("the loopback server is still busy with a reply")

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, limit=1 << 20)
            self._port = self._server.sockets[0].getsockname()[1]

    async def _hang_up(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        # asyncio loses the socket of a connection that it accepted in the turn in which its server closes (CPython
        # issue 109564). So: accept no more, let each connection already accepted get its own task, and then close.
        for listener in server.sockets:
            asyncio.get_running_loop().remove_reader(listener.fileno())
        await _turns()
        server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for writer in self._open:
            _cut_off(writer.transport)
        for task in rest:  # after the cutting off, so that a task ends with its socket closed
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with contextlib.suppress(asyncio.CancelledError):  # we hung up
                await serve(reader, writer, self._answer)
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()
            self._open.discard(writer)

    async def _answer(self, request: Request) -> Answer:
        self.count += 1
        number = self.count
        authorized = self._key is None or request.headers.get("authorization") == f"Bearer {self._key}"
        if len(self.requests) < self._memory:
            self.requests.append(Seen(request.path, request.body, authorized))
        if not authorized:
            return Answer.error(401, "this server wants a key")
        running = time.monotonic() - self._began
        struck = [fault for fault in self.faults if fault.strikes(number, running)]
        for fault in struck:
            if fault.kind == "slow":
                await asyncio.sleep(fault.seconds or 0.0)
        return self._routes.answer(request, next((fault for fault in struck if fault.kind != "slow"), None))


def _cut_off(transport: asyncio.WriteTransport) -> None:
    """Close without sending what is left. To abort what has just closed by itself is an error in asyncio."""
    if not transport.is_closing() or transport.get_write_buffer_size():
        transport.abort()


async def _turns(number: int = 20) -> None:
    """Let the loop go round: from accepting a connection to its own task takes it three turns."""
    for _ in range(number):
        await asyncio.sleep(0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m ragways.models.loopback", description=__doc__.split("\n\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0: the system chooses one")
    parser.add_argument("--key", help="demand this key")
    parser.add_argument("--size", type=int, default=0, help="fill the first text of a reply to so many characters")
    parser.add_argument("--dimension", type=int, default=8, help="of the embeddings")
    parser.add_argument(
        "--fault", type=Fault.parse, action="append", default=[], metavar="KIND[:requests=,until=,share=,seconds=]",
        help=f"fail on purpose: {', '.join(KINDS)}",
    )  # fmt: skip
    asked = parser.parse_args(arguments)
    server = Loopback(
        lambda body: default_reply(body, asked.size),
        faults=asked.fault, key=asked.key, dimension=asked.dimension, port=asked.port, memory=0,
    )  # fmt: skip
    with server, contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
