"""Who did what, and when: one line of JSON each, in `audit.jsonl`, to which lines are only added.

Each line carries the hash of itself and of the line before it, so a line that was changed, added or taken away later
shows (`Audit.problems`). Names that clients choose are values of JSON in ASCII, cut to a length: no sign in them can
end a line or begin another. Text of documents, questions and secrets of keys are never noted.

The database has the last line and its place, and is written first. What a kill took from the file is written again
with the next line, and processes that note at once write the same bytes to the same place.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

from ragways.service.keys import Caller, redacted
from ragways.service.state import State

FILE = "audit.jsonl"
LARGEST = 16 * 1024**2
"""Bytes of a file of lines; then it is put aside as `audit.1.jsonl`, and so on."""
FILES = 8
"""So many that were put aside are kept."""
_LONGEST_VALUE = 200
_MOST_FIELDS = 20


class Audit:
    """The lines of one server, with the commands that work on its state."""

    def __init__(
        self, state: State, path: Path, *, now: Callable[[], float] = time.time, largest: int = LARGEST
    ) -> None:
        self.path = path
        self._state = state
        self._now = now
        self._largest = largest
        state.tables(
            "CREATE TABLE IF NOT EXISTS audit(one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL,"
            " hash TEXT NOT NULL, place INTEGER NOT NULL, line BLOB NOT NULL)"
        )

    def note(self, caller: Caller | None, action: str, *, collection: str | None = None, **fields: object) -> None:
        """One more line. `caller` is None for what is done by a command on the server's own machine."""
        row: dict[str, Any] = {
            "key": None if caller is None else caller.key,
            "tenant": None if caller is None else caller.tenant,
            "action": _safe(action),
            "collection": _safe(collection),
        }
        row["fields"] = {str(_safe(name)): _safe(value) for name, value in list(fields.items())[:_MOST_FIELDS]}
        with ExitStack() as files, self._state.transaction() as db:
            number, hash, place, line = self._last()
            file = files.enter_context(self._open())
            size = os.fstat(file.fileno()).st_size
            if size < place + len(line):
                place = min(place, size)
                os.pwrite(file.fileno(), line, place)
            place += len(line)
            if place > self._largest:
                self._put_aside()
                file, place = files.enter_context(self._open()), 0
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now()))
            text, hash = chained_line({"number": number + 1, "at": at, **row}, hash)
            db.execute("REPLACE INTO audit VALUES (1, ?, ?, ?, ?)", (number + 1, hash, place, text))
            files.callback(os.pwrite, file.fileno(), text, place)  # after the commit

    def lines(self) -> Iterator[dict[str, Any] | None]:
        """Every stored line, oldest first; None for one that cannot be read."""
        for path in self._files():
            with path.open("rb") as stream:
                for text in stream:
                    yield _read(text)

    def problems(self) -> list[str]:
        """What shows that lines were changed, added or taken away; empty when all is as it was written."""
        found: list[str] = []
        number, hash = 0, ""
        dropped = self._aside(FILES).exists()  # so the oldest lines may be gone; else they begin with the first
        for at, line in enumerate(self.lines(), 1):
            if line is None:
                found.append(f"line {at} cannot be read")
                continue
            sealed = line.pop("hash", "")
            if hash or not dropped:
                if line.get("number") != number + 1:
                    found.append(f"line {at}: {line.get('number')} follows {number}")
                elif chained_line(line, hash)[1] != sealed:
                    found.append(f"line {at} was changed, or the one before it")
            number, hash = line.get("number", 0), sealed
        last, newest, _, _ = self._last()
        if (number, hash) != (last, newest):
            found.append(f"the last line should be number {last}, and it is {number}")
        return found

    def _last(self) -> tuple[int, str, int, bytes]:
        row = self._state.db.execute("SELECT number, hash, place, line FROM audit").fetchone()
        return row or (0, "", 0, b"")

    def _open(self) -> BinaryIO:
        return cast(BinaryIO, os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0))

    def _put_aside(self) -> None:
        for number in range(FILES, 0, -1):
            older = self._aside(number - 1) if number > 1 else self.path
            if older.exists():
                os.replace(older, self._aside(number))

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")

    def _files(self) -> list[Path]:
        paths = [*(self._aside(number) for number in range(FILES, 0, -1)), self.path]
        return [path for path in paths if path.exists()]


def chained_line(row: dict[str, Any], before: str) -> tuple[bytes, str]:
    """The line with its hash at the end, and the hash."""
    text = json.dumps(row, separators=(",", ":"))
    hash = hashlib.sha256(f"{before}{text}".encode()).hexdigest()
    return f'{text[:-1]},"hash":"{hash}"}}\n'.encode(), hash


def _safe(value: object) -> str | float | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = redacted(str(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _read(text: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
