"""Lines of JSON that are appended as they come. A line that a kill cut short is passed over, never an error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


def append(file: Path, row: Mapping[str, Any]) -> None:
    """One more line, in one write. A line that was cut short is ended first, so that it takes no other with it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab+") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size and (stream.seek(size - 1), stream.read(1))[1] != b"\n":
            stream.write(b"\n")
        stream.write(_line(row))


def replace(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """These lines instead of those that are there: all of them, or, if killed, none."""
    draft = file.with_suffix(".draft")
    with draft.open("wb") as stream:
        stream.writelines(map(_line, rows))
    os.replace(draft, file)


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The lines that are whole; none where there is no file."""
    if not file.is_file():
        return
    with file.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def _line(row: Mapping[str, Any]) -> bytes:
    # Half a letter, which a model may send, has no bytes of its own.
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
