"""The seal of a database that changes by commits alone: the checksums of its file, kept beside it (`index.sqlite.sum`).

A commit costs what it changed. SQLite's log tells which pages a commit has written, and only the blocks that hold them
are read again. So a seal knows all of the file, and `ragways check` compares all of it; whoever opens it compares the
whole file while it is small, and blocks drawn anew each time when it is large.
"""

from __future__ import annotations

import os
import secrets
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragways.index.checksums import Sum, crc_of, drawn, replace_file, sum_of, with_own_sum, without_own_sum
from ragways.index.database import descriptor_of
from ragways.index.page_gaps import clear_gaps, page_size

BLOCK = 1 << 16
"""Bytes of the database that have one checksum. Pages that a change writes lie far apart: a block for each is read."""
_LETTERS = 8  # of a checksum
_CLEAR = "clear"
"""The state of a file that is sealed, and has no byte of what was removed (`page_gaps.py`). One that an earlier version
has sealed may have some.
"""
_CHANGING = "changing-"
_LOG_HEAD = 32  # bytes before the first frame of SQLite's log
_FRAME_HEAD = 24  # bytes before the page of each
_MOST_FRAMES = 50_000  # of a log that is looked through; after a longer one, all of the file is read


@dataclass(frozen=True, slots=True)
class Known:
    """What a seal says: what the file was when it was last sealed, and, where it has been broken since, by whom."""

    was: Sum
    broken_by: str = ""
    is_clear: bool = False


class Seal:
    """Before a commit the seal is broken: it then tells what the file was before. When the commit has reached the file,
    it is sealed again. So a file that is neither sealed nor as it was before has been written to by a run that was
    killed.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = seal_of(database)
        self._log = database.with_name(f"{database.name}-wal")
        self._name = secrets.token_hex(8)
        self._pages: set[int] | None = None
        """Pages of the file that were written since the seal was whole, where all of them are known."""

    def read(self) -> Known | None:
        """What the seal says; None where there is none to read, or it is of a version that had other blocks."""
        text = without_own_sum(self._path)
        if text is None:
            return None
        state, size, crcs = [*text.split(), ""][:3]
        if len(crcs) != _LETTERS * -(-int(size) // BLOCK):
            return None
        return Known(Sum(int(size), _of_letters(crcs)), state.partition(_CHANGING)[2], state == _CLEAR)

    def is_whole(self, was: Sum, *, every: bool = False) -> bool:
        """Whether the file is what it was, as far as it is compared: all of it while it is small, or where `every`
        block is to be.
        """
        descriptor = descriptor_of(self._database)
        if os.fstat(descriptor).st_size != was.size:
            return False
        blocks = drawn([BLOCK] * len(was.crcs), every=every)
        return all(crc_of(descriptor, at * BLOCK, BLOCK) == was.crcs[at] for at in blocks)

    def is_whole_but_for_log(self, was: Sum) -> bool:
        """Whether all of the file is what it was but for what its log has written, or is about to."""
        pages = pages_of_log(self._log)
        if pages is None:
            return False
        descriptor = descriptor_of(self._database)
        written = _blocks_of(pages, descriptor)
        blocks = (at for at in range(len(was.crcs)) if at not in written)
        return all(crc_of(descriptor, at * BLOCK, BLOCK) == was.crcs[at] for at in blocks)

    def unseal(self) -> None:
        """Before a commit."""
        known = self.read()
        if known is not None and known.broken_by != self._name:
            # What somebody else has written since it was sealed is not known here.
            self._pages = set() if known.is_clear else None
            self._put(f"{_CHANGING}{self._name}", known.was)

    def note_commit(self) -> None:
        """After a commit, while its log is there: see which pages it has written."""
        if self._pages is not None:
            written = pages_of_log(self._log)
            self._pages = None if written is None else self._pages | written

    def forget_pages(self) -> None:
        """All of the file may be other than it was."""
        self._pages = None

    def write(self) -> None:
        """Seal the file, without any byte of what was removed from it. Its log must be empty, and the caller must hold
        the write lock.
        """
        known, descriptor = self.read(), descriptor_of(self._database, write=True)
        if known is not None and known.broken_by == self._name and self._pages is not None:
            clear_gaps(descriptor, self._pages)
            self._put(_CLEAR, self._renewed(known.was, self._pages))
        else:
            clear_gaps(descriptor)
            self._put(_CLEAR, sum_of(descriptor, BLOCK))
        self._pages = None

    def _renewed(self, was: Sum, pages: set[int]) -> Sum:
        """The checksums of the file now, where only these pages are other than they were."""
        descriptor = descriptor_of(self._database)
        size = os.fstat(descriptor).st_size
        blocks = -(-size // BLOCK)
        # What was the last block may be longer now; what is the last may have been longer.
        kept = max(0, min(len(was.crcs), blocks) - 1)
        crcs = array("I", was.crcs[:kept])
        crcs.extend(crc_of(descriptor, at * BLOCK, BLOCK) for at in range(kept, blocks))
        for at in _blocks_of(pages, descriptor):
            if at < kept:
                crcs[at] = crc_of(descriptor, at * BLOCK, BLOCK)
        return Sum(size, crcs)

    def _put(self, state: str, known: Sum) -> None:
        replace_file(self._path, with_own_sum(f"{state} {known.size} {_as_letters(known.crcs)}\n"))


def _as_letters(crcs: Sequence[int]) -> str:
    """Checksums of four bytes each, one after the other, as hexadecimal digits: there are tens of thousands of them."""
    return _in_order(array("I", crcs)).tobytes().hex()


def _of_letters(text: str) -> array[int]:
    return _in_order(array("I", bytes.fromhex(text)))


def _in_order(crcs: array[int]) -> array[int]:
    """The smallest byte first, on every machine."""
    if sys.byteorder == "big":
        crcs.byteswap()
    return crcs


def seal_of(database: Path) -> Path:
    """The file that holds the seal of a database."""
    return database.with_name(f"{database.name}.sum")


def _blocks_of(pages: set[int], descriptor: int) -> set[int]:
    """Which blocks of a database hold these pages."""
    size = page_size(descriptor)
    return {(number - 1) * size // BLOCK for number in pages}


def pages_of_log(log: Path) -> set[int] | None:
    """Numbers of the pages that a log has, or had before it was begun again; None where it is empty, so that somebody
    has cleared it already, or long.
    """
    # SQLite holds no lock on its log, so it can be opened and closed here.
    try:
        descriptor = os.open(log, os.O_RDONLY)
    except OSError:
        return None
    try:
        frame = _FRAME_HEAD + int.from_bytes(os.pread(descriptor, 4, 8), "big")
        frames = range(_LOG_HEAD, os.fstat(descriptor).st_size, frame)
        if not 0 < len(frames) <= _MOST_FRAMES:
            return None
        return {int.from_bytes(os.pread(descriptor, 4, at), "big") for at in frames} - {0}
    finally:
        os.close(descriptor)


def salt_of_log(log: Path) -> bytes:
    """What tells a log from one that was begun after it; nothing where there is none."""
    try:
        with log.open("rb") as file:
            return file.read(_LOG_HEAD)[16:24]
    except OSError:
        return b""
