"""An OpenAI-compatible server on this machine that costs nothing and can fail on purpose.

    with LoopbackServer(faults=[Fault("limited", share=0.2)]) as server:
        Endpoint(server.base_url, None, "loopback")

It serves chat completions (streamed too), embeddings and the list of models under `/v1`. It understands nothing: use it
to try a set-up, its limits and its budget, not to read the answers. It speaks just enough HTTP/1.1: requests with a
length, keep-alive, JSON both ways.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TypeVar
from urllib.parse import parse_qsl, urlsplit

from ragways.core.errors import UsageError
from ragways.testing.replies import PART, Fault, HttpRequest, HttpResponse, Routes, default_reply

T = TypeVar("T")
LONGEST_REQUEST = 64 << 20
MOST_STORED = 10_000


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request as it came in; the key that it brought is not stored."""

    path: str
    body: Mapping[str, object]
    authorized: bool


@dataclass(frozen=True, slots=True)
class Demands:
    """What every request must bring, or it is answered 401: a key in the header `auth` (as a bearer token in the header
    `authorization`), other headers, and parameters of the query.
    """

    key: str | None = None
    auth: str = "authorization"
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def are_met(self, request: HttpRequest) -> bool:
        """Whether a request brings all of it."""
        key = f"Bearer {self.key}" if self.auth == "authorization" else self.key
        wanted = {**({self.auth: key} if self.key is not None else {}), **self.headers}
        given = dict(parse_qsl(urlsplit(request.path).query))
        return wanted.items() <= dict(request.headers).items() and self.query.items() <= given.items()


class LoopbackServer:
    """The server in a thread of its own.

    `reply` makes the text of a message from the request's body, or a `message` object, or a whole response with
    `choices`, or an `HttpResponse` such as an error. `forms` are the values of `response_format` it understands; to the
    fields in `refuses` it answers 400. A tool that must be called is called with the reply's text, if that is JSON.
    `key` is a key, or more that requests must bring (`Demands`). Without `streams` it ignores that a stream is wanted,
    as some endpoints do. `before_event` is awaited with each event of a stream before that is sent: it can hold a reply
    back. With a `context` it reports no more tokens than that as read, and lists it with its model. `requests` are the
    first 10,000. Ollama's own API is served under `/api`.
    """

    def __init__(
        self,
        reply: Callable[[Mapping[str, object]], object] = default_reply,
        *,
        faults: Sequence[Fault] = (),
        key: str | Demands | None = None,
        forms: Sequence[str] = ("json_schema", "json_object"),
        refuses: Sequence[str] = (),
        streams: bool = True,
        dimension: int = 8,
        port: int = 0,
        context: int | None = None,
        before_event: Callable[[bytes], Awaitable[None]] | None = None,
    ) -> None:
        self.faults = list(faults)
        self.requests: list[SeenRequest] = []
        self.count = 0
        self._before_event = before_event
        self._demands = key if isinstance(key, Demands) else Demands(key)
        self._routes = Routes(reply, frozenset(forms), frozenset(refuses), dimension, streams, context)
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._began = 0.0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def __enter__(self) -> LoopbackServer:
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
                await serve(reader, writer, self._answer, self._before_event)
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()
            self._open.discard(writer)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        self.count += 1
        number = self.count
        authorized = self._demands.are_met(request)
        if len(self.requests) < MOST_STORED:
            self.requests.append(SeenRequest(request.path, request.body, authorized))
        if not authorized:
            return HttpResponse.error(401, "this server wants a key")
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


async def serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Callable[[HttpRequest], Awaitable[HttpResponse]],
    before_event: Callable[[bytes], Awaitable[None]] | None = None,
) -> None:
    """Answer the requests of one connection, one after the other, until it closes."""
    try:
        while (request := await _request(reader)) is not None:
            response = await answer(request)
            if response.cut == 0:
                return
            body = response.body[: response.cut]
            part = PART if response.pause else len(body)
            writer.write(response.head() + body[:part])
            for at in range(part, len(body), part or 1):
                await writer.drain()
                await asyncio.sleep(response.pause)
                writer.write(body[at : at + part])
            for event in response.events[: response.cut]:
                if before_event is not None:
                    await before_event(event)
                writer.write(b"%x\r\n%b\r\n" % (len(event), event))
                await writer.drain()
                await asyncio.sleep(response.pause)  # each event is to arrive by itself
            if response.events and response.cut is None:
                writer.write(b"0\r\n\r\n")
            await writer.drain()
            if response.cut is not None:
                return
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return  # the other side hung up or does not speak HTTP


async def _request(reader: asyncio.StreamReader) -> HttpRequest | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", 0))
    if not 0 <= length <= LONGEST_REQUEST:
        return None
    data = await reader.readexactly(length)
    body = json.loads(data) if data else {}
    return HttpRequest(method, path, headers, body if isinstance(body, dict) else {})
