"""A job under way: the process that does it, what the process tells, and how it is ended.

The process is told what to do in one line of JSON. It tells in lines of JSON that its work begins, how far it is, what
it has spent, and what came out or went wrong.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from ragways.core.runtime import plain_environment
from ragways.service.job_table import Job, JobState

_LONGEST_LINE = 32 << 20


@dataclass
class RunningJob:
    """`wanted` is how it is to end where somebody wants it to end early; `begun` says that its process has told that
    the work begins; `last` is the last that was told but for progress.
    """

    job: Job
    process: asyncio.subprocess.Process | None = None
    wanted: JobState | None = None
    begun: bool = False
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    spent: float = 0.0
    last: dict[str, Any] = field(default_factory=dict)
    written: float = 0.0
    task: asyncio.Task[None] | None = None

    # The process

    async def start(self, spec: dict[str, Any]) -> AsyncIterable[bytes]:
        """Start the process, say what it is to do, and give the lines that it tells."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "ragways.service.job"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=plain_environment(),
            start_new_session=True,
            limit=_LONGEST_LINE,
        )
        self.process = process
        stdin = cast(asyncio.StreamWriter, process.stdin)
        with suppress(ConnectionError):
            stdin.write(json.dumps(spec).encode() + b"\n")
            await stdin.drain()
        if self.wanted is not None:
            self.send_signal(signal.SIGTERM)
        return cast(asyncio.StreamReader, process.stdout)

    async def end(self) -> None:
        """End the process, with what it started itself and left behind."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
            self.send_signal(signal.SIGKILL)
            await self.process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """To the process and all that it started."""
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    # What it tells

    def hear(self, message: dict[str, Any]) -> bool:
        """Take down what was told: whether it is progress."""
        self.begun = True
        self.spent = float(message.get("spent", self.spent))
        if "begun" in message:
            return False
        if "progress" not in message:
            self.last = message
            return False
        told = message["progress"]
        self.stages[told["stage"]] = told
        return True

    @property
    def progress(self) -> dict[str, Any]:
        """The newest stage, and how far each of them came."""
        stages = list(self.stages.values())
        return {**stages[-1], "stages": stages, "usd": self.spent}

    @property
    def unread(self) -> dict[str, str]:
        """Why files could not be read, by name."""
        result = self.last.get("result") or {}
        return {entry["path"]: entry["reason"] for name in ("skipped", "failed") for entry in result.get(name, ())}
