"""Checksums: what is read is what was written, or it is not used.

Derived files never change once they are made. Their folder lists them with size and CRC-32; what is opened is compared
with the list first. The store's file changes with each commit: after it, the CRC-32 of the whole file is written beside
it (`index.sqlite.sum`). CRC-32 finds every flipped bit and, but for one in four thousand million, any other damage. It
is no protection against somebody who writes files and checksums on purpose.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from ragways.core.errors import StoreBusy

_BLOCK = 1 << 20
_AT_ONCE = 4


class Sum(NamedTuple):
    """Size and CRC-32 of a file."""

    size: int
    crc: int


def sync(path: Path) -> None:
    """Have the disk hold a file's content, or a folder's names, before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, text: str) -> None:
    """Put a small file in the place of another at one stroke, so that no reader and no power cut finds half of it."""
    draft = path.with_name(f"{path.name}.draft")
    draft.write_text(text, encoding="utf-8")
    sync(draft)
    draft.replace(path)
    sync(path.parent)


def _sum_of(descriptor: int) -> Sum:
    size, crc = 0, 0
    # By `pread`, for the descriptor may be SQLite's, whose position is not ours to move.
    while block := os.pread(descriptor, _BLOCK, size):
        crc = zlib.crc32(block, crc)
        size += len(block)
    return Sum(size, crc)


def _with_own_sum(text: str) -> str:
    return f"{text}{zlib.crc32(text.encode()):08x}\n"


def _without_own_sum(path: Path) -> str | None:
    """The text that `_with_own_sum` ended, or None where it is missing or damaged."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return text[:-9] if len(text) >= 9 and _with_own_sum(text[:-9]) == text else None


# Files that never change


def seal_files(folder: Path, name: str) -> None:
    """Have the disk hold all files of a folder, and list them there, with their checksums, in a file of this name."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            sync(path)
        elif path.suffix != ".lock" and path.name != name:  # those of tantivy are empty, and come and go
            descriptor = os.open(path, os.O_RDONLY)
            try:
                size, crc = _sum_of(descriptor)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            lines.append(f"{crc:08x} {size} {path.relative_to(folder).as_posix()}\n")
    replace_file(folder / name, _with_own_sum("".join(lines)))


def listed_files(folder: Path, name: str) -> Mapping[str, Sum] | None:
    """The files of a folder by name, as they were listed; None where the list is missing or damaged."""
    text = _without_own_sum(folder / name)
    if text is None:
        return None
    rows = (line.split(" ", 2) for line in text.splitlines())
    return {file: Sum(int(size), int(crc, 16)) for crc, size, file in rows}


def damaged_files(folder: Path, listed: Mapping[str, Sum], patterns: Iterable[str] = ("*",)) -> list[str]:
    """Those of the listed files that are not as they were written; of all, or of those that fit a pattern."""
    wanted = list(patterns)
    names = [name for name in listed if any(fnmatch(name, p) or fnmatch(name, f"{p}/*") for p in wanted)]

    def whole(name: str) -> bool:
        try:
            descriptor = os.open(folder / name, os.O_RDONLY)
        except OSError:
            return False
        try:
            return os.fstat(descriptor).st_size == listed[name].size and _sum_of(descriptor) == listed[name]
        except OSError:
            return False
        finally:
            os.close(descriptor)

    if sum(listed[name].size for name in names) < _BLOCK:
        return [name for name in names if not whole(name)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:  # checksums and reading need no Python, so they run side by side
        return [name for name, good in zip(names, threads.map(whole, names), strict=True) if not good]


# A database that changes by commits alone


class Seal:
    """The checksum of a database file, kept beside it.

    Before a commit the seal is broken: it then tells what the file was before. When the commit has reached the file, it
    is sealed again. So a file that is neither sealed nor as it was before has been written to by a run that was killed.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = seal_of(database)

    def read(self) -> tuple[bool, Sum] | None:
        """Whether it is sealed, and the checksum of the file when it last was; None where there is no seal to read."""
        text = _without_own_sum(self._path)
        if text is None:
            return None
        state, size, crc = text.split()
        return state == "sealed", Sum(int(size), int(crc, 16))

    def write(self) -> None:
        """Seal the file as it is. Its log must be empty, and the caller must hold the write lock."""
        self._put("sealed", self.actual())

    def unseal(self) -> None:
        """Before a commit."""
        known = self.read()
        if known is not None and known[0]:
            self._put("changing", known[1])

    def _put(self, state: str, known: Sum) -> None:
        replace_file(self._path, _with_own_sum(f"{state} {known.size} {known.crc:08x}\n"))

    def actual(self) -> Sum:
        """The checksum of the file as it is now, read by SQLite's own descriptor: where a process closes any descriptor
        of a file, the system frees all locks that SQLite holds on that file.
        """
        wanted = os.stat(self._database)
        for number in sorted(int(name) for name in os.listdir("/dev/fd")):
            try:
                if os.path.samestat(os.fstat(number), wanted):
                    return _sum_of(number)
            except OSError:
                continue  # the descriptor that listed the folder
        raise StoreBusy(f"{self._database} was replaced while it was opened", "try again")


def seal_of(database: Path) -> Path:
    """The file that holds the seal of a database."""
    return database.with_name(f"{database.name}.sum")
