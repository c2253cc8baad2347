"""Verdicts on answers, stored for each collection as questions that evaluations read: a line of JSON each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragways.service.errors import Conflict
from ragways.service.state import State

FEEDBACK = "feedback"
"""The name of this set of questions; no other set has it."""
LARGEST = 64 << 20
"""Characters of the feedback on a collection."""
_AT_ONCE = 100
_TABLE = """
CREATE TABLE IF NOT EXISTS feedback (
    number INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, at TEXT NOT NULL, line TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS feedback_of_collection ON feedback (collection, number)
"""


class Feedback:
    """The feedback on all collections of a server; `collection` is the id of one."""

    def __init__(self, state: State) -> None:
        self._state = state
        state.tables(_TABLE)

    def add(self, collection: str, at: str, line: str) -> None:
        """Store a line; `at` is the time."""
        with self._state.transaction() as db:
            query = "SELECT coalesce(sum(length(line)), 0) FROM feedback WHERE collection = ?"
            if db.execute(query, (collection,)).fetchone()[0] + len(line) > LARGEST:
                raise Conflict("there is no room for more feedback", "fetch it, then delete the set feedback")
            db.execute("INSERT INTO feedback (collection, at, line) VALUES (?, ?, ?)", (collection, at, line))

    def summary(self, collection: str) -> tuple[int, str]:
        """How many lines there are, and the time of the last."""
        query = "SELECT count(*), coalesce(max(at), '') FROM feedback WHERE collection = ?"
        count, at = self._state.db.execute(query, (collection,)).fetchone()
        return count, at

    def lines(self, collection: str) -> Iterator[str]:
        """The lines there are now, oldest first, read a few at a time; what is added meanwhile is left out."""
        query = "SELECT number, line FROM feedback WHERE collection = ? AND number BETWEEN ? AND ? ORDER BY number"
        (last,) = self._state.db.execute("SELECT coalesce(max(number), 0) FROM feedback").fetchone()
        at = 1
        while rows := self._state.db.execute(f"{query} LIMIT {_AT_ONCE}", (collection, at, last)).fetchall():
            for number, line in rows:
                yield f"{line}\n"
                at = number + 1

    def remove(self, collection: str, unwanted: Callable[[str], bool] = lambda _: True) -> int:
        """Delete the lines that are unwanted, all unless it is given; returns how many there were."""
        with self._state.transaction() as db:
            rows = db.execute("SELECT number, line FROM feedback WHERE collection = ?", (collection,)).fetchall()
            gone = [(number,) for number, line in rows if unwanted(line)]
            db.executemany("DELETE FROM feedback WHERE number = ?", gone)
        return len(gone)
