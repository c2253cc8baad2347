"""Server-sent events: what happens while a request is worked on, sent as it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi.responses import StreamingResponse

from ragways.core.errors import RagwaysError
from ragways.service.errors import ServiceError, as_service
from ragways.service.work.child import OnEvent

QUIET = 15.0
"""Seconds of silence after which a comment is sent, so that no proxy takes the connection for dead."""
COMMENT = b": \n\n"


def sse(event: str, data: Any) -> bytes:  # noqa: ANN401 - JSON
    """One event as it goes over the wire. JSON has no line breaks of its own, so no text can end it early."""
    return f"event: {event}\ndata: {json.dumps(data, ensure_ascii=True, separators=(',', ':'))}\n\n".encode()


def event_response(events: AsyncIterator[bytes]) -> StreamingResponse:
    """A reply that stays open until the events end."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def streamed(work: Callable[[OnEvent], Awaitable[Any]], request: str) -> AsyncIterator[bytes]:
    """Events of some work, then `result`, or `error` as a request's would be."""
    events = happening(work)
    try:
        async for name, data in events:
            yield sse(name, data) if name else COMMENT
    except (ServiceError, RagwaysError) as error:
        yield sse("error", as_service(error).body(request)["error"])
    finally:
        await events.aclose()


async def happening(work: Callable[[OnEvent], Awaitable[Any]]) -> AsyncGenerator[tuple[str, Any], None]:
    """The events that some work emits, then `result` with its value; what it raises is raised. An event without a name
    is sent where nothing has happened for a while.

    When the client goes away the iterator is closed, and the work is cancelled.
    """
    queue: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    async def run() -> None:
        try:
            queue.put_nowait(("result", await work(lambda name, data: queue.put_nowait((name, data)))))
        finally:
            queue.put_nowait(None)

    task = asyncio.create_task(run())
    try:
        while True:
            try:
                async with asyncio.timeout(QUIET):
                    event = await queue.get()
            except TimeoutError:
                yield "", None
                continue
            if event is None:
                break
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
