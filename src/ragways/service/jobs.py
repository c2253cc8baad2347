"""Jobs of a server: a row in its database each, and one child process while it runs.

The queue outlives the server: a job that was running when the server ended waits again at the next start, and goes on
where it was. A collection has one job at a time. Of those that wait, the next belongs to the tenant with the fewest
running, and of those to the one whose last turn was longest ago.

Money is held before a job starts, on the key that started or resumed it, and settled with what the process reports. A
job that began its work and ended without a report has spent all that was held.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from ragways.core.errors import RagwaysError, StoreBusy
from ragways.service.collections import Collection, Collections
from ragways.service.config import ServiceConfig
from ragways.service.errors import Conflict, Forbidden, NotFound, ServiceError, TooMany, as_service
from ragways.service.keys import Caller, Keys
from ragways.service.ledger import Held, Ledger
from ragways.service.state import State
from ragways.service.uploads import Uploads
from ragways.service.work.child import JOB, ChildLost, ChildProcess, PendingCall

JobKind = Literal["index", "plan", "questions", "evaluate"]
JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
JOB_STATES: tuple[JobState, ...] = get_args(JobState)
ENDED: frozenset[JobState] = frozenset({"done", "failed", "cancelled"})
MOST_WAITING = 32
"""Jobs of a tenant that wait or run."""
STORED = 200
"""Jobs of a collection that have ended and are still listed."""
TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, collection TEXT NOT NULL,
    kind TEXT NOT NULL, arguments TEXT NOT NULL, budget REAL, state TEXT NOT NULL, progress TEXT, result TEXT,
    error TEXT, created TEXT NOT NULL, started TEXT, ended TEXT, caller TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_of_collection ON jobs (tenant, collection);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state)
"""
_COLUMNS = (
    "id, tenant, collection, kind, arguments, budget, state, progress, result, error, created, started, ended, caller"
)
_LOG = logging.getLogger("ragways.service")
_GRACE = 10.0  # seconds between asking a process to end and killing it
_TRIES = 20  # of a write that must not be lost, while another process holds the database
_PAUSE = 1.0  # seconds between two of them


@dataclass(frozen=True, slots=True)
class Job:
    """A row. `progress` is the last that was reported, `result` what came out, `error` why it failed, with a cure. `by`
    is the key that started it, or last resumed it. Times are UTC.
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
    by: str


@dataclass
class RunningJob:
    """A job and its process. `wanted` is the state to end in, where it is to end early."""

    job: Job
    child: ChildProcess | None = None
    call: PendingCall | None = None
    wanted: JobState | None = None
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Ask for its end. Its process is killed where it has not begun to work."""
        if self.child is not None and self.call is not None:
            self.child.cancel(self.call)
        else:
            self.kill()

    def kill(self) -> None:
        if self.child is not None:
            self.child.kill()

    @property
    def spent(self) -> float | None:
        return 0.0 if self.call is None else self.call.cost

    @property
    def progress(self) -> dict[str, Any] | None:
        """The newest stage, and how far each of them came."""
        stages = list(self.stages.values())
        return {**stages[-1], "stages": stages, "usd": self.spent} if stages else None

    @property
    def unread(self) -> dict[str, str]:
        """Why files could not be read, by name."""
        result = self.result or {}
        return {entry["path"]: entry["reason"] for name in ("skipped", "failed") for entry in result.get(name, ())}


@dataclass
class Jobs:
    """The queue and what runs. `start` and `stop` are called by the server."""

    config: ServiceConfig
    state: State
    collections: Collections
    uploads: Uploads
    ledger: Ledger
    keys: Keys
    running: dict[str, RunningJob] = field(default_factory=dict)
    """By the ids of jobs."""

    def __post_init__(self) -> None:
        self._turns: dict[str, int] = {}  # of each tenant, when it had its last turn
        self._news: dict[str, asyncio.Event] = {}
        self._stopping = False
        self.state.tables(TABLE)

    # The server's life

    async def start(self) -> None:
        """Go on with what the last server left."""
        self.state.db.execute("UPDATE jobs SET state = 'waiting' WHERE state = 'running'")
        self._next()

    async def stop(self) -> None:
        """Have every process end; its job goes on at the next start."""
        self._stopping = True
        for running in self.running.values():
            running.wanted = running.wanted or "waiting"
        await self._end_early(list(self.running.values()))

    async def _end_early(self, some: list[RunningJob]) -> None:
        tasks = [running.task for running in some if running.task is not None]
        for end in (RunningJob.stop, RunningJob.kill):
            for running in some:
                end(running)
            if tasks:
                await asyncio.wait(tasks, timeout=_GRACE)

    # The queue

    def add(
        self, caller: Caller, collection: Collection, kind: JobKind, arguments: dict[str, Any], budget: float | None
    ) -> Job:
        """Put a job into the queue. Raises at once where the key has nothing left to spend."""
        self._collection(collection.id)  # it may have been deleted meanwhile
        self._admit(caller, collection.tenant, budget)
        id = secrets.token_hex(8)
        self.state.db.execute(
            """INSERT INTO jobs (id, tenant, collection, kind, arguments, budget, state, created, caller)
            VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?, ?)""",
            (id, collection.tenant, collection.id, kind, json.dumps(arguments), budget, _now(), _caller_row(caller)),
        )
        self._next()
        return self.get(id)

    def _admit(self, caller: Caller, tenant: str, budget: float | None) -> None:
        """Raise where one more job is too many, or its key has nothing left to spend."""
        open_jobs = "SELECT count(*) FROM jobs WHERE tenant = ? AND state IN ('waiting', 'running')"
        if self.state.db.execute(open_jobs, (tenant,)).fetchone()[0] >= MOST_WAITING:
            raise TooMany(f"there are {MOST_WAITING} jobs under way", "wait for one to end", retry_after=10)
        with self.ledger.hold(caller.key, budget) as held:
            held.settle(0.0)

    def get(self, id: str) -> Job:
        """The job of this id, of any tenant; NotFound where there is none."""
        row = self.state.db.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (id,)).fetchone()  # noqa: S608
        if row is None:
            raise NotFound("job")
        job, running = _job(row), self.running.get(id)
        return job if running is None or not running.stages else replace(job, progress=running.progress)

    def seen(self, caller: Caller, id: str) -> tuple[Job, Collection]:
        """A job that the caller may see, and its collection."""
        visible = {collection.id: collection for collection in self.collections.visible(caller)}
        job = self.get(id)  # after it, so that what is not theirs takes the same steps as what is not there
        if job.collection not in visible:
            raise NotFound("job")
        return job, visible[job.collection]

    def of(self, collection: Collection, limit: int = 50) -> list[Job]:
        """The newest jobs of a collection, newest first."""
        query = "SELECT id FROM jobs WHERE tenant = ? AND collection = ? ORDER BY number DESC LIMIT ?"
        rows = self.state.db.execute(query, (collection.tenant, collection.id, limit)).fetchall()
        return [self.get(id) for (id,) in rows]

    def count(self, state: str) -> int:
        """How many jobs are in this state."""
        count: int = self.state.db.execute("SELECT count(*) FROM jobs WHERE state = ?", (state,)).fetchone()[0]
        return count

    async def cancel(self, id: str) -> Job:
        """End a job, and wait until it has ended. One that waits never starts."""
        if self.get(id).state in ENDED:
            raise Conflict("this job has ended already", "start another")
        running = self.running.get(id)
        if running is None:
            self.state.db.execute("UPDATE jobs SET state = 'cancelled', ended = ? WHERE id = ?", (_now(), id))
            self._tell(id)
        else:
            running.wanted = "cancelled"
            await self._end_early([running])
        return self.get(id)

    def resume(self, caller: Caller, id: str, budget: float | None = None) -> Job:
        """Have a job go on that failed or was cancelled, with this budget or, unless it is given, the one it had. The
        caller pays for it from now on.
        """
        job = self.get(id)
        if job.state not in ("failed", "cancelled"):
            raise Conflict(f"this job is {job.state}", "only a job that failed or was cancelled goes on")
        budget = job.budget if budget is None else budget
        self._admit(caller, job.tenant, budget)
        self.state.db.execute(
            """UPDATE jobs SET state = 'waiting', error = NULL, result = NULL, ended = NULL, budget = ?, caller = ?
            WHERE id = ?""",
            (budget, _caller_row(caller), id),
        )
        self._next()
        return self.get(id)

    async def drop(self, collection: Collection) -> None:
        """End and delete the jobs of a collection whose row is gone, so that none is added meanwhile."""
        waiting = "UPDATE jobs SET state = 'cancelled', ended = ? WHERE collection = ? AND state = 'waiting'"
        self.state.db.execute(waiting, (_now(), collection.id))  # first, or one starts as another ends
        for running in list(self.running.values()):
            if running.job.collection == collection.id:
                with suppress(Conflict):  # it has ended by itself
                    await self.cancel(running.job.id)
        rows = self.state.db.execute("DELETE FROM jobs WHERE collection = ? RETURNING id", (collection.id,)).fetchall()
        for (id,) in rows:
            self._tell(id)

    async def events(self, id: str, quiet: float = 15.0) -> AsyncIterator[tuple[str, Any] | None]:
        """What happens to a job: `progress` as it changes, and `done` with the job at the end. None where nothing has
        happened for so many seconds. A slow reader misses progress, never the end.
        """
        reported = None
        with suppress(NotFound):  # its collection was deleted meanwhile
            while True:
                news = self._news.setdefault(id, asyncio.Event())
                job = self.get(id)
                if job.state in ENDED:
                    self._news.pop(id, None)
                    yield "done", job
                    return
                if job.progress is not None and job.progress != reported:
                    reported = job.progress
                    yield "progress", reported
                try:
                    async with asyncio.timeout(quiet):
                        await news.wait()
                except TimeoutError:
                    yield None

    def _tell(self, id: str) -> None:
        """Wake those who watch a job."""
        if (news := self._news.pop(id, None)) is not None:
            news.set()

    # Running them

    def _next(self) -> None:
        """Start what may start now."""
        while not self._stopping and len(self.running) < self.config.jobs and (job := self._pick()) is not None:
            try:
                self.state.db.execute("UPDATE jobs SET state = 'running', started = ? WHERE id = ?", (_now(), job.id))
            except sqlite3.OperationalError:  # another process writes; nobody else would come back to it
                asyncio.get_running_loop().call_later(_PAUSE, self._next)
                return
            self._turns[job.tenant] = max(self._turns.values(), default=0) + 1
            running = self.running[job.id] = RunningJob(self.get(job.id))
            running.task = asyncio.create_task(self._run(running))

    def _pick(self) -> Job | None:
        query = f"SELECT {_COLUMNS} FROM jobs WHERE state = 'waiting' ORDER BY number"  # noqa: S608 - columns of ours
        busy = {running.job.collection for running in self.running.values()}
        at_work = Counter(running.job.tenant for running in self.running.values())
        waiting = [job for job in map(_job, self.state.db.execute(query).fetchall()) if job.collection not in busy]
        return min(waiting, key=lambda job: (at_work[job.tenant], self._turns.get(job.tenant, 0)), default=None)

    async def _run(self, running: RunningJob) -> None:
        job, error = running.job, None
        try:
            try:
                await self._work(running)
            except (ServiceError, RagwaysError) as raised:
                done = isinstance(raised, StoreBusy) and running.result is not None
                error = None if done else as_service(raised)
            except Exception:
                _LOG.exception("a job of kind %s failed", job.kind)
                error = ServiceError(500, "internal", "something went wrong inside", "resume it")
            await _patiently(lambda: self._end(running, error))
        except Exception:
            _LOG.exception("how a job of kind %s ended could not be written", job.kind)
        finally:
            self.running.pop(job.id, None)
            self._tell(job.id)
            self._next()

    async def _work(self, running: RunningJob) -> None:
        """Do a job, on the money of its key."""
        job = running.job
        collection = self._collection(job.collection)
        if job.by and not self.keys.alive(job.by):
            raise Forbidden("the key of this job was revoked or has expired", "resume it with another key")
        budget = self.ledger.account(job.by).left if job.budget is None else job.budget
        try:
            with self.ledger.hold(job.by, budget) as held:
                await self.run_process(running, collection, held)
        finally:
            if job.kind == "index":
                await _patiently(lambda: self._look_again(running, collection))

    async def _look_again(self, running: RunningJob, collection: Collection) -> None:
        """Note what the index has now, and what became of each file."""
        collection = await asyncio.to_thread(self.collections.refresh, collection)
        await self.uploads.indexed(collection, running.unread)

    def _collection(self, id: str) -> Collection:
        for each in self.collections.all():
            if each.id == id:
                return each
        raise NotFound("collection")

    async def run_process(self, running: RunningJob, collection: Collection, held: Held) -> None:
        """Have a process do it, pass on its progress, and wait for its end."""
        held.settle(0.0)  # until the work begins, nothing can be spent
        job = running.job
        arguments = {
            **{"id": job.id, "kind": job.kind, "arguments": job.arguments},
            **{"index": str(collection.index), "folder": str(collection.folder), "state": str(self.state.path)},
            "files": None if collection.files is None else str(collection.files),
        }
        message = {"operation": JOB, "arguments": arguments, "tenant": job.tenant, "budget": held.usd}
        child = running.child = await ChildProcess.start(self.config.settings, JOB)
        try:
            await child.started.wait()
            if running.wanted is None and child.alive:
                held.actual = None
                running.call = child.begin(message, lambda _, stage: self.progressed(running, stage), held)
                running.result = await running.call.done
        except asyncio.CancelledError:
            if running.call is None or not running.call.done.cancelled():
                raise
        except ChildLost:
            pass  # how it ended is written by `_end`
        finally:
            child.kill()
            await child.ended

    def progressed(self, running: RunningJob, stage: dict[str, Any]) -> None:
        """Progress of a job."""
        running.stages[stage["stage"]] = stage
        self._tell(running.job.id)

    async def _end(self, running: RunningJob, error: ServiceError | None) -> None:
        """Write how a job ended."""
        result = running.result
        if error is None and result is not None and result.get("stopped"):
            error = ServiceError(
                402, "budget", result["stopped"], "resume it with a larger budget; what is done is kept"
            )
        if error is None and result is None and running.wanted is None:
            error = ServiceError(500, "died", "the job ended without a result", "resume it: it goes on where it was")
        finished: JobState = "failed" if error is not None else "done"
        state = running.wanted if running.wanted is not None and result is None else finished
        values = (
            running.progress,
            None if result is None else {**result, "spent": running.spent},
            None if error is None else {"code": error.code, "message": error.message, "cure": error.cure},
        )
        with self.state.transaction() as db:
            db.execute(
                """UPDATE jobs SET progress = coalesce(?, progress), result = coalesce(?, result),
                error = coalesce(?, error), state = ?, ended = ? WHERE id = ?""",
                (
                    *(None if value is None else json.dumps(value) for value in values),
                    state,
                    None if state == "waiting" else _now(),
                    running.job.id,
                ),
            )
            db.execute(
                """DELETE FROM jobs WHERE collection = ?1 AND state IN ('done', 'failed', 'cancelled') AND number NOT IN
                (SELECT number FROM jobs WHERE collection = ?1 ORDER BY number DESC LIMIT ?2)""",
                (running.job.collection, STORED),
            )


async def _patiently(write: Callable[[], Awaitable[None]]) -> None:
    """Write, and try again for a while where another process holds the database."""
    for _ in range(_TRIES - 1):
        try:
            return await write()
        except (StoreBusy, sqlite3.OperationalError):
            await asyncio.sleep(_PAUSE)
    return await write()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _caller_row(caller: Caller) -> str:
    return json.dumps({"key": caller.key})


def _job(row: Sequence[Any]) -> Job:
    (id, tenant, collection, kind, arguments, budget, state, *values, created, started, ended, caller) = row
    progress, result, error = (None if value is None else json.loads(value) for value in values)
    by = json.loads(caller)["key"]
    return Job(
        id, tenant, collection, kind, json.loads(arguments), budget, state, progress, result, error, created, started,
        ended, by,
    )  # fmt: skip
