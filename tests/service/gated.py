"""A small app under the real gate, for what must hold whatever the routes are; and raw requests to a real server."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

from ragways.service.api.gate import Gate
from ragways.service.app import open_service
from ragways.service.auth import Service
from ragways.service.config import Limits, ServiceConfig
from ragways.service.errors import handle_errors
from ragways.service.protocol import bounded_protocol
from ragways.service.state import State
from ragways.settings import Settings

LIMITS = {
    "body": 1000, "upload": 100_000, "seconds": 30.0, "body_seconds": 5.0, "header_seconds": 5.0, "at_once": 4,
    "waiting": 2, "per_key": 2,
}  # fmt: skip


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json()["error"]["code"])


@dataclass
class Small:
    """The app, with events that hold its routes back and tell what became of them."""

    app: FastAPI
    service: Service
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: list[str] = field(default_factory=list)
    entered: int = 0

    async def until(self, entered: int) -> None:
        """Wait until so many requests are held back."""
        while self.entered < entered:  # noqa: ASYNC110
            await asyncio.sleep(0)

    async def ask(self, method: str, path: str, *given: Any, **named: Any) -> Reply:
        return await ask(self.app, method, path, *given, **named)


async def ask(
    app: Any,
    method: str,
    path: str,
    headers: dict[str, str] | list[tuple[str, str]] = {},  # noqa: B006
    body: list[bytes] | bytes = b"",
    *,
    then: str = "wait",
    client: str = "10.0.0.9",
) -> Reply:
    """One request by plain ASGI. After its body the client waits, is silent ("stall": the body never ends) or goes
    away ("leave"). The path is as it goes over the wire, with a query or without.
    """
    given = list(headers.items()) if isinstance(headers, dict) else headers
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in given]
    if not any(name == b"host" for name, _ in raw):
        raw.append((b"host", b"127.0.0.1:8080"))
    if body and not any(name in (b"content-length", b"transfer-encoding") for name, _ in raw):
        raw.append((b"content-length", str(len(body)).encode()))
    pieces = [body] if isinstance(body, bytes) else list(body)
    path, _, query = path.partition("?")
    scope = {
        "type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(),
        "query_string": query.encode(), "headers": [pair for pair in raw if pair[1] != b"none at all"],
        "client": (client, 1), "scheme": "http", "server": ("127.0.0.1", 8080), "http_version": "1.1",
        "root_path": "", "asgi": {"spec_version": "2.3"},
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    done = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if pieces:
            more = len(pieces) > 1 or then == "stall"
            return {"type": "http.request", "body": pieces.pop(0), "more_body": more}
        if then == "stall":
            await asyncio.Event().wait()
        if then == "wait":
            await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            done.set()

    await app(scope, receive, send)
    if not sent:
        return Reply(0, {}, b"")
    names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], names, b"".join(message.get("body", b"") for message in sent[1:]))


def small(folder: Path, *, host: str = "127.0.0.1", **given: Any) -> Small:
    limits = Limits(**{name: given.pop(name, value) for name, value in LIMITS.items()})
    config = ServiceConfig(folder, Settings(), host=host, limits=limits, **given)
    service = open_service(config, State(folder / "service.sqlite"))
    app = FastAPI()
    made = Small(app, service)
    app.state.service = service

    async def wait(name: str) -> None:
        made.entered += 1
        try:
            await made.go_on.wait()
        except asyncio.CancelledError:
            made.cancelled.append(name)
            raise

    @app.get("/api/v1/quick")
    async def quick() -> dict[str, str]:
        return {"ok": "yes"}

    @app.get("/")
    async def page() -> JSONResponse:
        return JSONResponse("page", headers={"Content-Security-Policy": "default-src 'self'"})

    @app.get("/api/v1/slow")
    @app.post("/api/v1/slow")
    async def slow() -> dict[str, str]:
        await wait("slow")
        return {"ok": "slow"}

    @app.post("/api/v1/read")
    @app.put("/api/v1/collections/{name}/files/{path:path}")
    async def read(request: Request) -> dict[str, int]:
        return {"bytes": len(await request.body())}

    @app.post("/api/v1/json")
    async def takes_json(body: dict[str, Any]) -> dict[str, int]:
        return {"names": len(body)}

    @app.post("/api/v1/slow_json")
    async def slow_json(body: dict[str, Any]) -> None:
        await wait("slow json")

    @app.get("/api/v1/broken")
    @app.get("/v1/broken")
    async def broken() -> None:
        raise RuntimeError("SECRET in /srv/data rgw_00_abcdef")

    @app.post("/api/v1/stream")
    async def stream() -> StreamingResponse:
        async def events():
            yield b"event: a\ndata: 1\n\n"
            await wait("stream")
            yield b"event: b\ndata: 2\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    handle_errors(app)
    app.add_middleware(Gate, service=service)
    return made


@contextmanager
def served(app: Any, limits: Any, *, most: int = 50) -> Iterator[int]:
    """A real server on loopback; its port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        protocol = bounded_protocol(limits.header_seconds, most=most)
        config = uvicorn.Config(
            app, http=protocol, log_config=None, lifespan="on", server_header=False, access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            while not server.started:
                threading.Event().wait(0.01)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def raw(port: int, *pieces: bytes, end: bool = False) -> bytes:
    """What a server answers to these bytes until it closes the connection (or says nothing for long)."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        found = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            if end:
                connection.shutdown(socket.SHUT_WR)
            while data := connection.recv(65536):
                found += data
        except (TimeoutError, ConnectionResetError, BrokenPipeError):
            pass  # a server may close while we are still sending
        return found
