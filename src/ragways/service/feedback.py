"""The file of feedback on a collection: a line of JSON for each verdict. Lines are added and taken out by several
processes, one at a time; a reader gets the file as it was when it was opened.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from ragways.service.errors import Conflict, Full

LARGEST = 64 << 20
"""Bytes of the feedback on a collection."""
BLOCK = 1 << 16
"""Bytes that are read at once."""
LONGEST_LINE = 1 << 20
"""Bytes; a letter of a text takes at most six of them."""


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Keep all others from changing the file, in this process or another: its folder is locked, since it may be
    replaced itself.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def blocks(path: Path) -> Iterator[bytes]:
    """The file piece by piece, as it was at the beginning: what is added meanwhile is left out, so lines are whole."""
    try:
        with changing(path):
            file = path.open("rb")
            left = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return
    with file:
        while left and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block


def append(path: Path, line: bytes) -> None:
    """Add a whole line, or nothing; it is on the disk when this returns."""
    with changing(path), path.open("a+b", buffering=0) as file:
        size = _whole_lines(file)
        if size + len(line) > LARGEST:
            raise Conflict("there is no room for more feedback", "fetch it, then delete the set feedback")
        if file.write(line) < len(line):
            file.truncate(size)
            raise Full("there is no room on the disk", "tell whoever runs the server")
        os.fsync(file.fileno())


def take_out(path: Path, unwanted: Callable[[bytes], bool]) -> int:
    """Write the file anew without these lines, where there are any; how many there were."""
    with changing(path):
        lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
        left = [line for line in lines if not unwanted(line)]
        if len(left) < len(lines):
            draft = path.with_name(f"{path.name}.draft")
            with draft.open("wb") as file:
                file.writelines(left)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
    return len(lines) - len(left)


def _whole_lines(file: FileIO) -> int:
    """The size of a file without half a line at its end, which a power cut may have left: that is taken off."""
    size = os.fstat(file.fileno()).st_size
    tail = os.pread(file.fileno(), LONGEST_LINE, max(0, size - LONGEST_LINE))
    if tail and not tail.endswith(b"\n"):
        size -= len(tail) - (tail.rfind(b"\n") + 1)
        file.truncate(size)
    return size
