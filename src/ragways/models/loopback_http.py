"""Just enough HTTP/1.1 for the loopback server: requests with a length, keep-alive, JSON both ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """`cut`: send only so many bytes of the body, then hang up; 0 sends nothing at all."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None

    @classmethod
    def json(cls, data: object, status: int = 200, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(data).encode(), named)

    @classmethod
    def error(cls, status: int, message: str, **headers: str) -> Answer:
        return cls.json({"error": {"message": message, "type": "loopback"}}, status, **headers)

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", "content-type: application/json"]
        lines += [f"content-length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Callable[[Request], Awaitable[Answer]]
) -> None:
    """Answer the requests of one connection, one after the other, until it closes."""
    try:
        while (request := await _request(reader)) is not None:
            said = await answer(request)
            if said.cut == 0:
                return
            writer.write(said.head() + (said.body if said.cut is None else said.body[: said.cut]))
            await writer.drain()
            if said.cut is not None:
                return
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return  # the other side hung up or does not speak HTTP


async def _request(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", 0))
    if not 0 <= length <= MOST_BYTES:
        return None
    data = await reader.readexactly(length)
    body = json.loads(data) if data else {}
    return Request(method, path, headers, body if isinstance(body, dict) else {})
