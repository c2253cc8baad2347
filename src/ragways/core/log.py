"""Lines of JSON that are appended as they come. A line that a kill cut short is passed over, never an error.

`Log[T]` is the typed store on top: records, judgements, replies of duels and samples of resources are each one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from ragways.core.errors import UsageError
from ragways.core.plain import from_json, to_plain

T = TypeVar("T")

_BLOCK = 64 * 1024
LONGEST = 64 * 1024**2
"""Characters of a line; what is longer is none of ours."""


class Log(Generic[T]):
    """Values of one dataclass in a file, a line of JSON each, in the order they came.

    Appending is one write and survives a kill. Reading passes over lines that are not of this type (another version
    wrote them) and counts them in `unreadable`; they stay in the file.
    """

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self.unreadable = 0
        self._kind = kind

    def __iter__(self) -> Iterator[T]:
        """What can be read; nothing where there is no file."""
        self.unreadable = 0
        for line in _texts(self.path):
            try:
                value = from_json(self._kind, line)
            except ValueError:
                self.unreadable += _whole(line)
            else:
                yield value

    def append(self, value: T) -> None:
        """One more line at the end."""
        append(self.path, to_plain(value))

    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self.path.is_file()


def append(file: Path, row: Mapping[str, Any]) -> None:
    """One more line, in one write. A last line that was cut short is taken away first, so that it spoils no other."""
    with _writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+") as stream:
            _mend(stream)
            stream.write(_line(row))


def _mend(stream: BinaryIO) -> None:
    size = stream.seek(0, os.SEEK_END)
    begin, tail = size, b""
    while begin and b"\n" not in tail:
        step = min(begin, _BLOCK)
        begin -= step
        stream.seek(begin)
        tail = stream.read(step) + tail
    last = tail.rpartition(b"\n")[2]
    if last and _row(last.decode("utf-8", "replace")) is None:
        stream.truncate(size - len(last))
    elif last:
        stream.write(b"\n")


def replace(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """These lines instead of those that are there: all of them, or, if killed, none."""
    draft = file.with_suffix(".draft")
    with _writing(file):
        with draft.open("wb") as stream:
            stream.writelines(map(_line, rows))
        os.replace(draft, file)


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write {file}: {error.strerror or error}", "name another folder, or make room"
        ) from error


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The lines that can be read; none where there is no file."""
    return (row for row in lines(file) if row is not None)


def lines(file: Path) -> Iterator[dict[str, Any] | None]:
    """Every line, None for one that cannot be read; a last one that was cut short is left out."""
    for line in _texts(file):
        row = _row(line)
        if row is not None or _whole(line):
            yield row


def _texts(file: Path) -> Iterator[str]:
    if not file.is_file():
        return
    with file.open(encoding="utf-8", errors="replace") as stream:
        while line := stream.readline(LONGEST):
            yield line


def _whole(line: str) -> bool:
    """Whether it was written to its end: a last line that was cut short has none."""
    return line.endswith("\n") and bool(line.strip())


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _line(row: Mapping[str, Any]) -> bytes:
    # Half a letter, which a model may send, has no bytes of its own.
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
