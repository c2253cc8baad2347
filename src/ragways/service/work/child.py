"""Child processes of a server: workers, which answer questions, and jobs.

A child (`worker.py`) and the server exchange messages over a socket pair: JSON, each with its length before it. The
first has the settings with their secrets: nothing of them stands in arguments or the environment, which others can
read. Then the server begins calls and may cancel them; the child sends events of a call and its end, with what it has
spent.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragways.core.errors import RagwaysError
from ragways.core.runtime import plain_environment
from ragways.service.errors import ServiceError, error_of
from ragways.settings import Settings, plain_settings

if TYPE_CHECKING:
    from ragways.service.ledger import Held

OnEvent = Callable[[str, Any], None]
Message = dict[str, Any]
WORKER, JOB = "worker", "job"
"""What a process is for, which is also how it is named to those who look at processes."""
LONGEST = 64 << 20
"""Bytes of a message. An answer with all its evidence has some hundred thousand."""
GRACE = 5.0
"""Seconds of silence after which a child is taken for stuck; otherwise it sends something every second."""
_LENGTH = struct.Struct("!I")
_NUMBERS = itertools.count(1)


def packed(message: Message) -> bytes:
    """A message as it goes over the socket."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(body) > LONGEST:
        raise RagwaysError("the result is too large to send", "ask for less of it")
    return _LENGTH.pack(len(body)) + body


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next message; None where the other side has gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        body = await reader.readexactly(length) if length <= LONGEST else b"null"
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    message: Message | None = json.loads(body.decode("utf-8", "surrogatepass"))
    return message


class ChildLost(Exception):
    """The process ended with this under way."""


@dataclass
class PendingCall:
    """A call that is under way: its result, what it has spent so far, and whether it has sent events. `held` is the
    money that was set aside for it; `cost` is what was spent, None where the price of a call is unknown.
    """

    done: asyncio.Future[Any]
    on_event: OnEvent | None
    held: Held | None
    number: int = field(default_factory=lambda: next(_NUMBERS))
    spent: float = 0.0
    cost: float | None = 0.0
    streamed: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class ChildProcess:
    """A process and the calls it has under way. It is `alive` from its first message to its last."""

    process: asyncio.subprocess.Process
    writer: asyncio.StreamWriter
    pending: dict[int, PendingCall] = field(default_factory=dict)
    alive: bool = False
    started: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with the first message, or when the process has ended."""
    last_message: float = 0.0
    ended: asyncio.Task[None] = field(init=False)

    @classmethod
    async def start(cls, settings: Settings, name: str) -> ChildProcess:
        """Start a process, with a name for those who look at processes. It ends when `writer` is closed, or when this
        process ends.
        """
        ours, theirs = socket.socketpair()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "ragways.service.work.worker", str(theirs.fileno()), name),
            pass_fds=[theirs.fileno()],
            stdin=asyncio.subprocess.DEVNULL,
            env=plain_environment(),
            start_new_session=True,  # Ctrl-C is for the server, which lets answers end first
        )
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(packed({"settings": plain_settings(settings)}))
        child = cls(process, writer)
        child.ended = asyncio.create_task(child._listen(reader))
        return child

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while (message := await receive(reader)) is not None:
            self.alive = True
            self.started.set()
            self.last_message = time.monotonic()
            if pending := self.pending.get(message["number"]):
                self._take(pending, message)
        self.alive = False
        self.started.set()
        for pending in self.pending.values():
            if pending.held is not None and pending.held.usd is None:
                pending.held.settle(pending.spent)
            self._end(pending, ChildLost())
        self.pending.clear()
        self.writer.close()
        self.kill()  # what it has started itself, and left behind
        await self.process.wait()

    @property
    def stuck(self) -> bool:
        """Whether it has sent nothing for long."""
        return time.monotonic() - self.last_message > GRACE

    def begin(self, message: Message, on_event: OnEvent | None = None, held: Held | None = None) -> PendingCall:
        """Begin a call; its result or error comes in `done`."""
        pending = PendingCall(asyncio.get_running_loop().create_future(), on_event, held)
        self.pending[pending.number] = pending
        self.writer.write(packed({"number": pending.number, **message}))
        return pending

    def _take(self, pending: PendingCall, message: Message) -> None:
        """An event of a call, or its end."""
        pending.spent, pending.cost = float(message.get("spent") or 0.0), message.get("cost", 0.0)
        if not message.get("end"):
            pending.streamed = True
            if pending.on_event is not None:
                pending.on_event(message["event"], message["data"])
            return
        del self.pending[pending.number]
        if pending.held is not None:
            pending.held.settle(pending.spent)
        if message.get("cancelled"):
            pending.done.cancel()
        self._end(pending, _error(message["error"]) if "error" in message else None, message.get("value"))

    def _end(self, pending: PendingCall, error: Exception | None, value: object = None) -> None:
        pending.ended.set()
        if not pending.done.done():
            pending.done.set_result(value) if error is None else pending.done.set_exception(error)

    def cancel(self, pending: PendingCall) -> None:
        """Ask for the end of a call, which sets `pending.ended`."""
        with suppress(ConnectionError):
            self.writer.write(packed({"number": pending.number, "cancel": True}))

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def _error(data: dict[str, Any]) -> Exception:
    if data["kind"] == "Unexpected":
        return ServiceError(500, "unexpected", data["message"], "tell the operator this id; the log says more")
    return error_of(data)
