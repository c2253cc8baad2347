"""Open files so that nothing is read without a bound, and turn bytes into text."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ragways.core.errors import LoadError
from ragways.corpus.source import SourceFile

_BLOCK = 1 << 20
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@contextmanager
def opened(file: SourceFile) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked where its name ends in .gz or .bz2. Never waits on a pipe or a device."""
    descriptor = os.open(file.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(descriptor, "rb") as raw:
        if not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
            raise LoadError("is not a regular file")
        name = file.path.name.lower()
        if name.endswith(".gz"):
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked  # type: ignore[misc]
        elif name.endswith(".bz2"):
            with bz2.BZ2File(raw) as unpacked_bz2:
                yield unpacked_bz2
        else:
            yield raw


class Bounded(io.RawIOBase):
    """A stream that refuses to go on past a limit. `reset` starts the counting of one record anew."""

    def __init__(self, stream: IO[bytes], total: int, record: int) -> None:
        self._stream = stream
        self._total = total
        self._record = record
        self._all = self._one = 0

    def reset(self) -> None:
        self._one = 0

    def read(self, size: int | None = -1) -> bytes:
        block = self._stream.read(_BLOCK if size is None or size < 0 else min(size, _BLOCK))
        self._all += len(block)
        self._one += len(block)
        if self._one > self._record:
            raise LoadError(f"holds one record of more than {self._record:,} bytes", "raise max_record if it is meant")
        if self._all > self._total:
            raise LoadError(f"unpacks to more than {self._total:,} bytes", "raise max_stream if it is meant")
        return block


def read_all(file: SourceFile, limit: int) -> bytes:
    """All bytes, read in blocks, and an error as soon as there are more than the limit."""
    blocks: list[bytes] = []
    size = 0
    with opened(file) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise LoadError(f"is larger than {limit:,} bytes", "raise max_bytes if it is meant")
            blocks.append(block)
    return b"".join(blocks)


def read_text(file: SourceFile, limit: int) -> tuple[str, dict[str, str]]:
    """The text of a file, and in the metadata the encoding where it was a guess."""
    return decode(read_all(file, limit))


def decode(data: bytes) -> tuple[str, dict[str, str]]:
    """By byte order mark, else strict UTF-8, else Windows-1252, which the metadata then says."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _checked(_strictly(data, name)), {}
    if b"\0" in data:
        raise _binary()
    try:
        return _checked(data.decode("utf-8")), {}
    except UnicodeDecodeError:
        pass
    damaged = data.decode("utf-8", "replace")
    wrong = damaged.count("\ufffd")
    # A few bad bytes among many good sequences: damaged UTF-8 rather than another encoding.
    if sum(character > "\x7f" for character in damaged[:200_000]) > 11 * wrong:
        return _checked(damaged), {"encoding": "utf-8, damaged"}
    return _checked(_strictly(data, "cp1252")), {"encoding": "cp1252"}


def _strictly(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise LoadError("is not text in an encoding that is known here", "save it as UTF-8") from error


def _checked(text: str) -> str:
    sample = text[:_BLOCK]
    if "\0" in text or len(_CONTROL.findall(sample)) * 10 > len(sample):
        raise _binary()
    return text


def _binary() -> LoadError:
    return LoadError("holds binary data, not text", "give it the suffix of its real format")
