"""What a job is, and the table that the jobs of a server are kept in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ragways.service.keys import Caller
from ragways.service.state import State

JobKind = Literal["index", "plan", "questions", "evaluate"]
JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
ENDED: frozenset[JobState] = frozenset({"done", "failed", "cancelled"})
TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, collection TEXT NOT NULL,
    kind TEXT NOT NULL, arguments TEXT NOT NULL, budget REAL, state TEXT NOT NULL, progress TEXT, result TEXT,
    error TEXT, created TEXT NOT NULL, started TEXT, ended TEXT, caller TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_of_collection ON jobs (tenant, collection);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state)
"""
COLUMNS = (
    "id, tenant, collection, kind, arguments, budget, state, progress, result, error, created, started, ended, caller"
)


@dataclass(frozen=True, slots=True)
class Job:
    """`progress` is the last that was told, `result` what came out, `error` why it failed, with a cure. `by` is the key
    it was started with, or last had to go on. Times are UTC.
    """

    id: str
    tenant: str
    collection: str
    kind: JobKind
    arguments: dict[str, Any]
    budget: float | None
    state: JobState
    progress: dict[str, Any] | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created: str
    started: str | None
    ended: str | None
    caller: Caller

    @property
    def by(self) -> str:
        return self.caller.key


def forget_jobs(state: State, collection: str, quoted: Callable[[str], bool]) -> None:
    """Forget the jobs of a collection that have ended and whose row quotes a text."""
    with state.transaction() as db:
        rows = db.execute(
            "SELECT number, arguments, progress, result, error FROM jobs"
            " WHERE collection = ? AND state IN ('done', 'failed', 'cancelled')",
            (collection,),
        ).fetchall()
        gone = [(number,) for number, *texts in rows if any(quoted(text) for text in texts if text)]
        db.executemany("DELETE FROM jobs WHERE number = ?", gone)


def now() -> str:
    """In UTC, as jobs have their times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def caller_data(caller: Caller) -> str:
    """Who has a job run, as a row keeps it."""
    return json.dumps({"key": caller.key, "scopes": sorted(caller.scopes), "collections": list(caller.collections)})


def job_of(row: Sequence[Any]) -> Job:
    """A row of these columns."""
    (id, tenant, collection, kind, arguments, budget, state, *values, created, started, ended, who) = row
    progress, result, error = (None if value is None else json.loads(value) for value in values)
    known = json.loads(who)
    caller = Caller(known["key"], tenant, frozenset(known["scopes"]), tuple(known["collections"]))
    return Job(
        id, tenant, collection, kind, json.loads(arguments), budget, state, progress, result, error, created, started,
        ended, caller,
    )  # fmt: skip
