"""Messages between the server and its workers: JSON, each with its length before it, over a socket pair.

Errors cross as their name, message and cure, and are the same error on the other side.
"""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any

from ragways.core import errors
from ragways.core.errors import RagwaysError, ToolError

LONGEST = 64 << 20
"""Bytes of a message. An answer with all its evidence has some hundred thousand."""
_LENGTH = struct.Struct("!I")
Message = dict[str, Any]


def packed(message: Message) -> bytes:
    """A message as it goes over the wire."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(body) > LONGEST:
        raise RagwaysError("the result is too large to send", "ask for less of it")
    return _LENGTH.pack(len(body)) + body


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next message; None where the other side has gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > LONGEST:
            return None
        body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    message: Message = json.loads(body.decode("utf-8", "surrogatepass"))
    return message


def error_data(error: RagwaysError) -> dict[str, Any]:
    """An error as data."""
    return {"kind": type(error).__name__, "message": error.message, "cure": error.cure}


def error_of(data: dict[str, Any]) -> RagwaysError:
    """The error that was sent; of a kind that this side does not know, its nearest ancestor is not told apart."""
    kind = getattr(errors, data["kind"], RagwaysError)
    if not (isinstance(kind, type) and issubclass(kind, RagwaysError)):
        kind = RagwaysError
    if issubclass(kind, ToolError):
        return kind(data["message"], cure=data["cure"])
    return kind(data["message"], data["cure"])
