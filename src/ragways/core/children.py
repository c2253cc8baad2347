"""Work in child processes side by side: a piece each at a time, and what comes of the pieces in their order.

A child runs a module of ours that calls `serve`. Requests and replies are lines of JSON. It has no key in
its environment and ends with its pipe, so that none outlives its parent. The parent does what a child cannot do.
"""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from ragways.core.runtime import plain_environment

_LOG = logging.getLogger("ragways.children")
_AHEAD = 2
"""Pieces that are given out for each child: so none waits while what came of another piece is put away."""

Work = Callable[[Any], Any]
"""What is done with a piece; both it and what comes of it are as JSON has them."""


class Children:
    """So many processes that run a module. `here` does the same as they do, in this process. Close it in the end."""

    def __init__(self, module: str, count: int, here: Work) -> None:
        self._here = here
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="children")
        self._children: list[subprocess.Popen[bytes]] = []
        self._idle: SimpleQueue[subprocess.Popen[bytes] | None] = SimpleQueue()
        try:
            for _ in range(count):
                self._children.append(start_child(module))
                self._idle.put(self._children[-1])
        except OSError as error:
            _LOG.warning("no further process could be started beside this one (%s)", error.strerror)
            self._idle.put(None)

    def map(self, pieces: Iterable[object]) -> Iterator[Any]:
        """What comes of each piece, in their order. They are taken a few ahead, in the thread that asks."""
        waiting: deque[tuple[object, Future[Any]]] = deque()
        for piece in pieces:
            waiting.append((piece, self._threads.submit(self._ask, piece)))
            if len(waiting) > _AHEAD * max(1, len(self._children)):
                yield self._done(*waiting.popleft())
        while waiting:
            yield self._done(*waiting.popleft())

    def _done(self, piece: object, result: Future[Any]) -> object:
        try:
            return result.result()
        except _NoAnswer:
            return self._here(piece)

    def _ask(self, piece: object) -> object:
        child = self._idle.get()
        try:
            if child is None:
                raise _NoAnswer
            return request(child, piece)
        except (OSError, ValueError) as error:
            child = None
            _LOG.warning("a process that worked beside this one has ended; this one does its work")
            raise _NoAnswer from error
        finally:
            self._idle.put(child)

    def close(self) -> None:
        """End them, whatever they are at."""
        for child in self._children:
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._children:
            end_child(child)


class _NoAnswer(Exception):
    """The child has ended."""


def end_child(child: subprocess.Popen[bytes], patience: float | None = None) -> int:
    """Wait for a child, kill it when `patience` (seconds) ends, and return its exit code."""
    try:
        code = child.wait(patience)
    except subprocess.TimeoutExpired:
        child.kill()
        code = child.wait()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):  # what could not be sent any more
            if pipe is not None:
                pipe.close()
    return code


def start_child(module: str) -> subprocess.Popen[bytes]:
    """A Python process that runs a module of ours, with pipes to it."""
    # -P: the folder that the command runs in is no place to import from.
    return subprocess.Popen(  # noqa: S603 - a module of ours
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=plain_environment(),
    )


def request(child: subprocess.Popen[bytes], piece: object) -> object:
    """The result of a piece in a child; OSError or ValueError where its reply cannot be read."""
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018 - both are pipes
    child.stdin.write(_line(piece))
    child.stdin.flush()
    return json.loads(child.stdout.readline())


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def serve(work: Work) -> None:
    """In a child: do the work on each piece that is requested, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent receives it as well, and ends the child
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(_line(work(json.loads(line))))
        sys.stdout.buffer.flush()
