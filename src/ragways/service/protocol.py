"""The connection itself, bounded: headers that come too slowly or never end, and more connections than can be held.

uvicorn bounds none of these. A route cannot: it is called when the header is complete.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEADER = 64 * 1024
MOST_CONNECTIONS = 1000


def bounded_protocol(
    header_seconds: float, *, largest_header: int = LARGEST_HEADER, most: int = MOST_CONNECTIONS
) -> type[HttpToolsProtocol]:
    """A protocol for uvicorn (`http=`) that allows so many seconds and bytes to a header, and so many connections."""
    return type(
        "BoundedConnection",
        (ClientConnection,),
        {"header_seconds": header_seconds, "largest_header": largest_header, "most": most},
    )


class ClientConnection(HttpToolsProtocol):
    """One connection of a client."""

    header_seconds = 10.0
    largest_header = LARGEST_HEADER
    most = MOST_CONNECTIONS

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn calls it
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._in_header = True
        self._header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(503, "Service Unavailable")
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        going_on = self._in_header
        super().data_received(data)
        if self._in_header:  # a first piece may begin with the body of the request before
            self._header_bytes += len(data) if going_on else min(len(data), self.largest_header)
            if self._header_bytes > self.largest_header and not self.transport.is_closing():
                self._refuse(431, "Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_header, self._header_bytes = True, 0
        if self._timer is None:
            self._wait()

    def on_headers_complete(self) -> None:
        self._in_header = False
        self._stop()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.header_seconds, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._wait()  # a reply is being sent; the header of the next request may come after it
        else:
            self._refuse(408, "Request Timeout")

    def _refuse(self, status: int, phrase: str) -> None:
        self._stop()
        reply = f"HTTP/1.1 {status} {phrase}\r\ncontent-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
        self.transport.write(reply.encode())
        self.transport.close()
