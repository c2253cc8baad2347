"""What every request passes before a route gets it, and every reply before a client does.

In this order: an id; the host it is addressed to; headers that two servers could read differently; where it comes from;
room in the server; the key; room for that key; its body, which must be small enough and come fast enough; its time.
Replies get headers that make a browser careful. An unexpected error becomes a sentence with the id.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from ragways.service.api.events import sse
from ragways.service.auth import Service, authenticated
from ragways.service.config import KnownHosts
from ragways.service.errors import (
    UNKNOWN,
    UNKNOWN_CURE,
    BadRequest,
    Forbidden,
    Full,
    ServiceError,
    TooLarge,
    TooMany,
    TooSlow,
    Unauthorized,
    redacted,
)
from ragways.service.keys import MAIN, Caller
from ragways.service.work.child import GRACE

Headers = list[tuple[bytes, bytes]]
Head = dict[bytes, bytes]
"""The headers of a request that the gate reads; each may come once."""

_ONCE = frozenset({b"host", b"content-length", b"transfer-encoding", b"content-encoding", b"authorization", b"origin",
                   b"sec-fetch-site", b"expect", b"access-control-request-method"})  # fmt: skip
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API = ("/api/", "/v1/", "/mcp")
"""Beginnings of paths whose replies are not cached, and that need a key where there are keys."""
CSP = "default-src 'none'; frame-ancestors 'none'"
"""Of replies that set no policy of their own: a browser loads nothing for them, and no page shows them in a frame."""
_SECURE: Headers = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]
_NO_STORE = (b"cache-control", b"no-store")
_PREFLIGHT: Headers = [
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE"),
    (b"access-control-allow-headers", b"authorization, content-type"),
    (b"access-control-max-age", b"600"),
]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGI = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_log = logging.getLogger("ragways.service")
_UPLOAD = re.compile(r"/api/v1/collections/[^/]+/files/")
_WATCHING = re.compile(r"/api/v1/jobs/[^/]+/events")
_SLOWEST = 32 * 1024
"""Bytes a second that a long body must come with, after the first seconds that any may take."""
_DRAINED = 4 * 1024**2
_DRAIN_SECONDS = 2.0
_DESCRIPTION = "/api/v1/openapi.json"


class Gate:
    """The ASGI middleware around all routes of a service."""

    def __init__(self, app: ASGI, service: Service) -> None:
        self.app = app
        self.service = service
        self.limits = service.config.limits
        self.origins = frozenset(origin.lower().rstrip("/") for origin in service.config.origins)
        self.under_way: Counter[str] = Counter()
        self.total = 0
        self.watching: Counter[str] = Counter()
        """Streams of jobs' events by tenant: they do no work and last long, so they take no place of a request."""
        self.most = self.limits.at_once + self.limits.waiting
        self.hosts = KnownHosts(service.config)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _Exchange(self, scope, receive, send).run()
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


class _Exchange:
    """One request and its reply."""

    def __init__(self, gate: Gate, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        self.gate, self.scope = gate, scope
        self._receive, self._send = receive, send
        self.id = secrets.token_hex(8)
        scope["ragways.request"] = self.id
        self.path: str = scope["path"]
        self.head: Head = {}
        self.caller: Caller | None = None
        self.status = 0
        self.body_left = False  # whether some of the body has not come yet
        self._upload = scope["method"] == "PUT" and _UPLOAD.match(self.path) is not None
        self._limit = gate.limits.upload if self._upload else gate.limits.body
        self._body: bytes | None = None  # where it was read before the route
        self._bytes = 0
        self._body_since = 0.0
        self._gone = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._clock: asyncio.Timeout | None = None
        self._events = False

    async def run(self) -> None:
        began = perf_counter()
        try:
            read_head(self.scope["headers"], self.head)
            self.body_left = check_head(self.head, self.gate.hosts)
            check_origin(self.scope["method"], self.head, self.gate.origins)
            if int(self.head.get(b"content-length", b"0")) > self._limit:
                raise self._too_large()
            headers = preflight(self.scope["method"], self.head, self.gate.origins)
            if headers is not None:
                await self._reply(204, headers, b"")
                return
            with self._room():
                await self._route()
        except ServiceError as error:
            await self._fail(error)
        except Exception as error:
            if not self._gone.is_set():
                fields = {"request": self.id, "at": _frames(error)}
                _log.error("unforeseen %s", type(error).__name__, extra={"fields": fields})
                await self._fail(ServiceError(500, "internal", UNKNOWN, UNKNOWN_CURE))
        finally:
            if self._watcher is not None:
                self._watcher.cancel()
            self._log_request(perf_counter() - began)

    # Before the route

    @contextmanager
    def _room(self) -> Iterator[None]:
        """A place in the server, and of the caller's key. Who watches a job takes none of the server's."""
        gate = self.gate
        watches = self.scope["method"] == "GET" and _WATCHING.fullmatch(self.path) is not None
        if gate.total >= gate.most and not watches:
            raise Full("the server has more requests than it can take")
        key = self._authenticate()
        if key and gate.under_way[key] >= gate.limits.per_key:
            raise TooMany("this key has too many requests under way", "wait until some have ended")
        tenant = self.caller.tenant if self.caller is not None else MAIN
        if watches and gate.watching[tenant] >= gate.limits.at_once:
            raise TooMany("too many watch jobs here", "look at the jobs now and then instead")
        gate.under_way[key] += 1
        gate.watching[tenant] += watches
        gate.total += not watches
        try:
            yield
        finally:
            gate.total -= not watches
            gate.watching[tenant] -= watches
            gate.under_way[key] -= 1
            if not gate.under_way[key]:
                del gate.under_way[key]

    def _authenticate(self) -> str:
        """Who sends this, before anything of a body is read; returns the id of the key."""
        service, authorization = self.gate.service, self.head.get(b"authorization")
        if authorization is not None:
            client = self.scope.get("client")
            self.caller = authenticated(service, authorization.decode("latin-1"), client[0] if client else "")
            self.scope["ragways.caller"] = self.caller
            return self.caller.key
        if self.path.startswith(API) and self.path != _DESCRIPTION and service.keys.some():
            raise Unauthorized
        return ""

    # The route, and what it receives

    async def _route(self) -> None:
        self._body_since = asyncio.get_running_loop().time()
        task = asyncio.current_task()
        if not (self._upload and self.body_left):
            pieces = []
            while self.body_left:
                pieces.append((await self._piece()).get("body", b""))
            self._body = b"".join(pieces)
        try:
            async with asyncio.timeout(self._seconds) as self._clock:
                if not self.body_left:
                    self._watch()
                await self._traced()
        except TimeoutError:
            if not self._clock or not self._clock.expired():
                raise
            raise ServiceError(504, "too_long", "the answer took too long", "ask for less, or try again") from None
        except asyncio.CancelledError:
            if not self._gone.is_set() or task is None:
                raise
            task.uncancel()  # it was us: nobody is there to read the answer

    @property
    def _seconds(self) -> float:
        """Later than the clock of a worker's call, which stops it and learns what it spent."""
        return self.gate.limits.seconds + 2 * GRACE

    async def _traced(self) -> None:
        """The route, inside a span where the service is traced."""
        telemetry, method = self.gate.service.telemetry, self.scope["method"]
        if telemetry is None:
            await self.gate.app(self.scope, self.receive, self.send)
            return
        with telemetry.request(method, self.scope["headers"]) as span:
            try:
                await self.gate.app(self.scope, self.receive, self.send)
            finally:
                telemetry.answered(span, method, route_of(self.scope), self.status, self.id)

    def _watch(self) -> None:
        """Once the body is here: when the client goes away before the reply begins, cancel the work for it."""
        task = asyncio.current_task()

        async def watch() -> None:
            while (await self._receive())["type"] != "http.disconnect":
                pass
            self._gone.set()
            if self.status == 0 and task is not None:
                task.cancel()

        self._watcher = asyncio.create_task(watch())

    async def receive(self) -> Message:
        """What the route receives: the whole body, or an upload piece by piece; then that the client has gone."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        if self.body_left:
            message = await self._piece()
            self._more_time()
            if message["type"] == "http.request" and not message.get("more_body", False):
                self._watch()
            return message
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _piece(self) -> Message:
        """The next piece of the body, which must be small enough and come fast enough."""
        limits = self.gate.limits
        try:
            async with asyncio.timeout_at(self._body_since + limits.body_seconds + self._bytes / _SLOWEST):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow("the body came too slowly", "send it again") from None
        if message["type"] == "http.disconnect":
            self.body_left = False
            self._gone.set()
            if not self._upload:
                raise ConnectionError("the client has gone")
        else:
            self._bytes += len(message.get("body", b""))
            self.body_left = message.get("more_body", False)
            if self._bytes > self._limit:
                raise self._too_large()
        return message

    def _too_large(self) -> ServiceError:
        return TooLarge(f"the body has more than {self._limit:,} bytes", "send less at once")

    def _more_time(self) -> None:
        if self._clock is not None and not self._clock.expired() and not self._events:
            self._clock.reschedule(asyncio.get_running_loop().time() + self._seconds)

    # The reply

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._headers(list(message.get("headers", ())))}
        elif message.get("more_body", False):
            self._more_time()
            if self._events:
                try:
                    self._authenticate()  # the key may have been revoked meanwhile
                except ServiceError as error:
                    message = {**message, "body": self._last_event(error), "more_body": False}
                    self._gone.set()  # the work for it ends as for a client that went away
        await self._send(message)

    def _last_event(self, error: ServiceError) -> bytes:
        """An error in a stream, in the shape that the clients of its path read."""
        if self.path.startswith("/v1/"):
            return f"data: {json.dumps(error.openai_body(self.id))}\n\n".encode()
        return sse("error", error.body(self.id)["error"])

    def _headers(self, headers: Headers) -> Headers:
        headers = reply_headers(headers, self.head, self.path, self.id, self.gate.origins)
        if self.body_left:  # what is left of the body must not be read as the next request
            headers.append((b"connection", b"close"))
        if (b"content-type", b"text/event-stream; charset=utf-8") in headers and self._clock is not None:
            self._events = True  # it lasts as long as what it reports
            self._clock.reschedule(None)
        return headers

    async def _reply(self, status: int, headers: Headers, body: bytes) -> None:
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    async def _fail(self, error: ServiceError) -> None:
        if self.status:  # too late for a status: the server cuts the reply off
            if error.status >= 500:
                raise ConnectionError("the reply could not be finished")
            return
        if self.body_left and error.status != TooSlow.status:
            await self._drain()
        openai = self.path.startswith("/v1/")
        text = json.dumps(error.openai_body(self.id) if openai else error.body(self.id)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        headers += [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
        await self._reply(error.status, headers, text)

    async def _drain(self) -> None:
        """Read some of a body that is refused: a client that is still sending would not see the reply."""
        if b"expect" in self.head:  # it waits for a word before it sends
            return
        left = _DRAINED
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while self.body_left and left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    self.body_left = message.get("more_body", False)

    def _log_request(self, seconds: float) -> None:
        route = route_of(self.scope)
        self.gate.service.metrics.request(route, self.scope["method"], self.status, seconds)
        if not _log.isEnabledFor(logging.INFO):
            return
        fields = {
            "request": self.id,
            "method": self.scope["method"],
            "route": route,
            "path": redacted(self.path[:200]),
            "status": self.status,
            "seconds": round(seconds, 4),
            "key": self.caller.key if self.caller else "",
        }
        _log.info("request", extra={"fields": fields})


def route_of(scope: MutableMapping[str, Any]) -> str:
    """The template of the route that a request was for; empty where there is none."""
    path = str(getattr(scope.get("route"), "path", ""))
    # FastAPI has the path of a route within its router.
    return f"/api/v1{path}" if path and scope["path"].startswith("/api/v1/") and not path.startswith("/api/") else path


def _frames(error: Exception) -> str:
    """Where it came from, innermost first. Not what it says: that may quote a document, a question or a key."""
    frames = traceback.extract_tb(error.__traceback__)[-1:-9:-1]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)


# Headers of a request


def read_head(given: Iterable[tuple[bytes, bytes]], head: Head) -> None:
    """Put those that the gate reads into `head`, one after the other: what came before a fault is there."""
    for name, value in given:
        if name in _ONCE:
            if name in head:
                raise BadRequest(f"the header {name.decode()} came twice", "send it once")
            head[name] = value


def check_head(head: Head, hosts: KnownHosts) -> bool:
    """Whether a body follows. Raises where the request is for another host, or how long its body is not clear."""
    if b"host" not in head:
        raise BadRequest("the header Host is missing", "send it")
    if not hosts.knows(head[b"host"].decode("latin-1")):
        raise ServiceError(421, "host", "this server does not go by that name", "add it to the setting serve.hosts")
    chunked, length = head.get(b"transfer-encoding"), head.get(b"content-length")
    if chunked is not None and (length is not None or chunked.strip(b" \t").lower() != b"chunked"):
        raise BadRequest("the length of the body is not clear", "send Content-Length, or Transfer-Encoding: chunked")
    if length is not None and not (length.isdigit() and len(length) < 16):
        raise BadRequest("Content-Length is no number", "send the number of bytes")
    if head.get(b"content-encoding", b"identity").strip(b" \t").lower() not in (b"identity", b""):
        raise ServiceError(415, "encoding", "bodies cannot be compressed", "send it as it is")
    return chunked is not None or int(length or 0) > 0


def check_origin(method: str, head: Head, origins: frozenset[str]) -> None:
    """What changes something must come from our own page, from one that may, or from no page at all."""
    if method in _SAFE_METHODS:
        return
    origin = head.get(b"origin")
    if origin is None:
        site = head.get(b"sec-fetch-site", b"none")
        allowed = site in (b"same-origin", b"none")
    else:
        text = origin.decode("latin-1").lower()
        scheme, _, host = text.partition("://")
        own = scheme in ("http", "https") and host == head[b"host"].decode("latin-1").lower()
        allowed = own or text in origins
    if not allowed:
        raise _from_elsewhere()


def preflight(method: str, head: Head, origins: frozenset[str]) -> Headers | None:
    """The reply to a browser that asks whether a page of another site may send a request; None for other requests."""
    if method != "OPTIONS" or b"access-control-request-method" not in head:
        return None
    if not _may_send(head, origins):
        raise _from_elsewhere()
    return _PREFLIGHT


def _may_send(head: Head, origins: frozenset[str]) -> bool:
    return head.get(b"origin", b"").decode("latin-1").lower() in origins


def _from_elsewhere() -> ServiceError:
    return Forbidden("requests from pages of other sites are refused", "add it to the setting serve.origins")


# Headers of a reply


def reply_headers(headers: Headers, head: Head, path: str, id: str, origins: frozenset[str]) -> Headers:
    """Those of a route, with all that it did not set itself; `head` is the request's, `id` that of the request."""
    there = {name.lower() for name, _ in headers}
    for pair in _SECURE:
        if pair[0] not in there:
            headers.append(pair)
    if b"cache-control" not in there and path.startswith(API):
        headers.append(_NO_STORE)
    headers.append((b"x-request-id", id.encode()))
    if origins:
        headers.append((b"vary", b"Origin"))
        if _may_send(head, origins):
            headers.append((b"access-control-allow-origin", head[b"origin"]))
            headers.append((b"access-control-expose-headers", b"x-request-id, retry-after"))
    return headers
