"""Who did what, and when: one line of JSON each, in the server's database, to which lines are only added.

Each line is stored with a hash of itself and of the hash before it, so a line that was changed, added or removed later
is reported by `Audit.problems`. Names that clients choose are values of JSON in ASCII, cut to a length. Text of
documents, questions and secrets of keys are never noted.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from ragways.service.errors import redacted
from ragways.service.keys import Caller
from ragways.service.state import State

MOST = 1_000_000
"""Lines that are stored; of more, the oldest are removed."""
_LONGEST_VALUE = 200
_MOST_FIELDS = 20
# SQLite remembers the last number of such a table, so missing lines at the end are noticed.
_TABLE = """
CREATE TABLE IF NOT EXISTS audit_lines (
    number INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, hash TEXT NOT NULL
)
"""


class Audit:
    """The log of one server and of the commands that work on its state. `most` is how many lines it stores."""

    def __init__(self, state: State, *, now: Callable[[], float] = time.time, most: int = MOST) -> None:
        self._state = state
        self._now = now
        self._most = most
        state.tables(_TABLE)

    def note(self, caller: Caller | None, action: str, *, collection: str | None = None, **fields: object) -> None:
        """Add a line. `caller` is None for what is done by a command on the server's own machine."""
        row = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now())),
            "key": None if caller is None else caller.key,
            "tenant": None if caller is None else caller.tenant,
            "action": _safe(action),
            "collection": _safe(collection),
            "fields": {str(_safe(name)): _safe(value) for name, value in list(fields.items())[:_MOST_FIELDS]},
        }
        line = json.dumps(row, separators=(",", ":"))
        with self._state.transaction() as db:
            last = db.execute("SELECT hash FROM audit_lines ORDER BY number DESC LIMIT 1").fetchone()
            hash = chained(line, last[0] if last else "")
            number = db.execute("INSERT INTO audit_lines (line, hash) VALUES (?, ?)", (line, hash)).lastrowid or 0
            db.execute("DELETE FROM audit_lines WHERE number <= ?", (number - self._most,))

    def lines(self, last: int = MOST) -> list[dict[str, Any]]:
        """The last so many lines with their numbers, oldest first."""
        query = "SELECT number, line, hash FROM audit_lines ORDER BY number DESC LIMIT ?"
        rows = self._state.db.execute(query, (last,)).fetchall()
        return [{"number": number, **json.loads(line), "hash": hash} for number, line, hash in reversed(rows)]

    def problems(self) -> list[str]:
        """What shows that lines were changed, added or removed; empty where the log is as it was written."""
        problems: list[str] = []
        db = self._state.db
        (end,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit_lines'").fetchone() or (0,)
        expected = max(1, end - self._most + 1)
        before = "" if expected == 1 else None
        for number, line, hash in db.execute("SELECT number, line, hash FROM audit_lines ORDER BY number"):
            if number != expected:
                problems.append(f"line {expected} is missing: {number} comes in its place")
            elif before is not None and hash != chained(line, before):
                problems.append(f"line {number} was changed, or the one before it")
            expected, before = number + 1, hash
        if expected != end + 1:
            problems.append(f"the last line should be number {end}, and it is {expected - 1}")
        return problems


def chained(line: str, before: str) -> str:
    """The hash of a line that follows a line with the hash `before`."""
    return hashlib.sha256(f"{before}{line}".encode()).hexdigest()


def _safe(value: object) -> str | float | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = redacted(str(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
