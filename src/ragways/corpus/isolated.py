"""Files whose parsers are large and not ours (PDF, Word, web pages …) are read in a child process with limits, so that
one bad file costs itself and not the run: what crashes its parser or takes too much memory or time is a LoadError.

One child reads all files of a run and is replaced when it dies. Requests and replies are lines of JSON. It has no key
in its environment, and imports nothing but loaders. Memory and CPU time are limited where the system can do it (Linux,
macOS), time by the clock everywhere. Plain formats are read in the process itself: their size bounds what they cost.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import IO, Any, NoReturn

from ragways.core.errors import LoadError, NoText
from ragways.core.plain import from_plain, to_plain
from ragways.core.types import Document
from ragways.corpus.load import load, loader_of
from ragways.corpus.source import MIB, Fields, LoadOptions, Skipped, SourceFile

_LONGEST_LINE = 1 << 30
_PDF_MEMORY = 480 * MIB
"""What reading a PDF may take, 512 MB with what is taken before it is noticed: its streams may unpack to gigabytes."""
_TOO_MUCH_MEMORY = 77
"""How a child ends that has taken more memory than it may."""


class IsolatedReader:
    """Reads files as `load` does, those of isolated loaders in a child process. Close it when all is read."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def load(self, file: SourceFile, options: LoadOptions) -> Iterator[Document]:
        """The documents of a file. Whatever is wrong with it becomes a LoadError that names its key."""
        loader = loader_of(file.path.name)
        if loader is None or not loader.isolated or not sys.executable:
            yield from load(file, options)
            return
        if loader.name == "pdf":
            options = replace(options, max_memory=min(options.max_memory, _PDF_MEMORY))
        child = self._start()
        timer = threading.Timer(options.max_wall, child.kill)
        began = time.monotonic()
        timer.start()
        try:
            # All of them before the first is passed on: what is done with it must not count as reading.
            yield from list(self._answers(child, file, options))
        except (OSError, ValueError) as error:
            code = self._stop()
            raise LoadError(f"{file.key} {_why(code, time.monotonic() - began, options)}") from error
        finally:
            timer.cancel()

    def _answers(self, child: subprocess.Popen[bytes], file: SourceFile, options: LoadOptions) -> Iterator[Document]:
        """The documents that the child reads from a file; ValueError or OSError where its reply cannot be read."""
        assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018 - both are pipes
        child.stdin.write(_line({"path": str(file.path), "key": file.key, "options": _plain_options(options)}))
        child.stdin.flush()
        while True:
            reply = json.loads(child.stdout.readline(_LONGEST_LINE))
            if "document" in reply:
                yield from_plain(Document, reply["document"])
            elif "skipped" in reply:
                options.notice(Skipped(*reply["skipped"]))
            elif "error" in reply:
                raise (NoText if reply["empty"] else LoadError)(*reply["error"])
            else:
                return

    def _start(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            from ragways.core.children import start_child  # asyncio, which the child has no use for

            self._stop()
            self._child = start_child("ragways.corpus.isolated")
        return self._child

    def _stop(self) -> int:
        """End the child and return its exit code."""
        from ragways.core.children import end_child

        return end_child(self._child, patience=1) if self._child is not None else 0

    def close(self) -> None:
        """Let the child go."""
        if self._child is not None:
            self._child.kill()
            self._stop()
            self._child = None


def _why(code: int, seconds: float, options: LoadOptions) -> str:
    """What ended the child, in words."""
    if code == -getattr(signal, "SIGXCPU", 0):
        return f"takes more than {options.max_cpu:,} s of CPU time to read (max_cpu)"
    if seconds >= options.max_wall:
        return f"takes more than {options.max_wall:,} s to read (max_wall)"
    if code == _TOO_MUCH_MEMORY:
        return f"takes more than {options.max_memory // MIB:,} MiB of memory to read (max_memory)"
    return f"breaks its parser, or takes more than {options.max_memory // MIB:,} MiB of memory to read (max_memory)"


def _line(value: object) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"


def _plain_options(options: LoadOptions) -> dict[str, Any]:
    local = ("notice", "records")
    plain = {each.name: getattr(options, each.name) for each in fields(options) if each.name not in local}
    return {**plain, "fields": asdict(options.fields)}


# The child


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Read one file after the other until the pipe is closed."""
    most = [0]
    while line := requests.readline(_LONGEST_LINE):
        wanted = json.loads(line)
        limits = wanted["options"]
        limits["fields"] = Fields(**{name: tuple(names) for name, names in limits["fields"].items()})
        watched, most[0] = bool(most[0]), limits["max_memory"]
        if _limit(limits["max_memory"], limits["max_cpu"]) and not watched:
            threading.Thread(target=_watch, args=(most,), daemon=True).start()

        def notice(left_out: Skipped) -> None:
            answers.write(_line({"skipped": [left_out.key, left_out.reason]}))

        try:
            for document in load(SourceFile(Path(wanted["path"]), wanted["key"]), LoadOptions(notice=notice, **limits)):
                answers.write(_line({"document": to_plain(document)}))
            answers.write(_line({}))
        except LoadError as error:
            answers.write(_line({"error": [error.message, error.cure], "empty": isinstance(error, NoText)}))
        except MemoryError:
            _too_much_memory()
        answers.flush()


def _limit(memory: int, cpu: int) -> bool:
    """So much memory in all, and so much CPU time from here on. False where the system knows no such limits."""
    try:
        import resource
    except ImportError:
        return False
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    # Addresses are not yet memory: some room, or the parser would crash where the watch can say what happened.
    for kind, soft in ((resource.RLIMIT_CPU, int(used + cpu) + 1), (resource.RLIMIT_AS, memory + 512 * MIB)):
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):  # macOS does not limit addresses; the watch is all there is
            resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
    return True


def _watch(most: Sequence[int]) -> None:
    """End the process when it has taken more than `most` holds: an allocator that is refused memory may crash without a
    word.
    """
    while _resident() < most[0]:
        time.sleep(0.01)
    _too_much_memory()


def _resident() -> int:
    """Bytes of memory that this process holds. On Linux its own peak is no help: a child begins with its parent's."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _too_much_memory() -> NoReturn:
    os._exit(_TOO_MUCH_MEMORY)


def main() -> None:
    """Serve. What libraries print must not get among the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
