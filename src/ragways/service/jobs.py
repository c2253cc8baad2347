"""The jobs of a server: a queue that outlives it, whose turn it is, and who is told how far each is.

The queue is a table. A job that was running when the server ended is waiting again at the next start, and goes on where
it was. Tenants take turns: of those with a job that waits, the one with the fewest running is next, then the one that
waited longest for its last turn. A collection has one job at a time.

Money is held before a job starts, on the key that started it or had it go on, and settled with what it says it has
spent; a job that began its work and ended without saying so has spent what was held.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ragways.core.errors import RagwaysError, StoreBusy
from ragways.service.collections import Collection, Collections
from ragways.service.config import ServiceConfig
from ragways.service.errors import Conflict, Forbidden, NotFound, ServiceError, TooMany, from_ragways
from ragways.service.job_process import RunningJob
from ragways.service.job_table import COLUMNS, ENDED, TABLE, Job, JobKind, JobState, caller_data, job_of, now
from ragways.service.keys import Caller, Keys
from ragways.service.ledger import Held, Ledger
from ragways.service.state import State
from ragways.service.uploads import Uploads
from ragways.service.wire import error_of
from ragways.settings import plain_settings

MOST_WAITING = 32
"""Jobs of a tenant that wait or run."""
KEPT = 200
"""Jobs of a collection that have ended and are still told of."""
_LOG = logging.getLogger("ragways.service")
_GRACE = 10.0  # seconds between asking a process to end and ending it
_QUEUED = 64  # events that a slow reader may be behind
_TRIES = 20  # of a write that must not be lost, while another process holds the database
_PAUSE = 1.0  # seconds between two of them


class Jobs:
    """The queue and what runs. `start` and `stop` are called by the server."""

    def __init__(
        self,
        config: ServiceConfig,
        state: State,
        collections: Collections,
        uploads: Uploads,
        ledger: Ledger,
        keys: Keys,
    ) -> None:
        self._config = config
        self._state = state
        self._collections = collections
        self._uploads = uploads
        self._ledger = ledger
        self._keys = keys
        self._running: dict[str, RunningJob] = {}
        self._turns: Counter[str] = Counter()
        self._turn = 0
        self._listeners: dict[str, set[asyncio.Queue[tuple[str, Any]]]] = {}
        self._stopping = False
        state.tables(TABLE)

    # The server's life

    async def start(self) -> None:
        """Take up what the last server left."""
        self._state.db.execute("UPDATE jobs SET state = 'waiting' WHERE state = 'running'")
        self._next()

    async def stop(self) -> None:
        """Have every process end; what it was at goes on at the next start."""
        self._stopping = True
        tasks = [running.task for running in self._running.values() if running.task is not None]
        for running in list(self._running.values()):
            running.wanted = running.wanted or "waiting"
            running.send_signal(signal.SIGTERM)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_GRACE)
            for running in list(self._running.values()):
                running.send_signal(signal.SIGKILL)
            if late:
                await asyncio.wait(late, timeout=_GRACE)

    # The queue

    def add(
        self, caller: Caller, collection: Collection, kind: JobKind, arguments: dict[str, Any], budget: float | None
    ) -> Job:
        """Put a job into the queue. Raises at once where the key has nothing left to spend."""
        self._collection(collection.id)  # it may have been deleted since the caller found it
        self._admit(caller, collection.tenant, budget)
        id = secrets.token_hex(8)
        self._state.db.execute(
            """INSERT INTO jobs (id, tenant, collection, kind, arguments, budget, state, created, caller)
            VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?, ?)""",
            (id, collection.tenant, collection.id, kind, json.dumps(arguments), budget, now(), caller_data(caller)),
        )
        self._next()
        return self.get(id)

    def _admit(self, caller: Caller, tenant: str, budget: float | None) -> None:
        """Raise where one more job is too many, or its key has nothing left to spend."""
        open_jobs = "SELECT count(*) FROM jobs WHERE tenant = ? AND state IN ('waiting', 'running')"
        if self._state.db.execute(open_jobs, (tenant,)).fetchone()[0] >= MOST_WAITING:
            raise TooMany(f"there are {MOST_WAITING} jobs under way", "wait for one to end", retry_after=10)
        if not self._waits_for_money(caller):
            with self._ledger.hold(caller, budget) as held:
                held.settle(0.0)

    def _waits_for_money(self, caller: Caller) -> bool:
        """Whether a job under way holds all that this key has left: what it does not spend is free at its end."""
        at_work = any(running.job.by == caller.key for running in self._running.values())
        return at_work and self._ledger.account(caller.key).left == 0

    def get(self, id: str) -> Job:
        """The job of this id, whoever's it is; NotFound where there is none."""
        row = self._state.db.execute(f"SELECT {COLUMNS} FROM jobs WHERE id = ?", (id,)).fetchone()  # noqa: S608
        if row is None:
            raise NotFound("job")
        job = job_of(row)
        running = self._running.get(id)
        return job if running is None or not running.stages else replace(job, progress=running.progress)

    def seen(self, caller: Caller, id: str) -> tuple[Job, Collection]:
        """A job that the caller may know of, and its collection."""
        visible = {collection.id: collection for collection in self._collections.visible(caller)}
        job = self.get(id)  # after it, so that what is not theirs takes the same steps as what is not there
        if job.collection not in visible:
            raise NotFound("job")
        return job, visible[job.collection]

    def of(self, collection: Collection, limit: int = 50) -> list[Job]:
        """The newest jobs of a collection, newest first."""
        query = f"SELECT {COLUMNS} FROM jobs WHERE tenant = ? AND collection = ? ORDER BY number DESC LIMIT ?"  # noqa: S608
        rows = self._state.db.execute(query, (collection.tenant, collection.id, limit)).fetchall()
        return [self.get(str(row[0])) for row in rows]

    async def cancel(self, id: str) -> Job:
        """End a job, and wait until it has ended. One that waits never starts."""
        job = self.get(id)
        if job.state in ENDED:
            raise Conflict("this job has ended already", "start another")
        running = self._running.get(id)
        if running is None:
            self._state.db.execute("UPDATE jobs SET state = 'cancelled', ended = ? WHERE id = ?", (now(), id))
            self._tell(id, "done", None)
        else:
            running.wanted = "cancelled"
            running.send_signal(signal.SIGTERM)
            if running.task is not None:
                await asyncio.wait([running.task], timeout=_GRACE)
                running.send_signal(signal.SIGKILL)
                await asyncio.wait([running.task])
        return self.get(id)

    def resume(self, caller: Caller, id: str, budget: float | None = None) -> Job:
        """Have a job go on that failed or was cancelled, with this budget or, unless it is given, the one it had. It is
        the caller's from now on, and so is what it costs.
        """
        job = self.get(id)
        if job.state not in ("failed", "cancelled"):
            raise Conflict(f"this job is {job.state}", "only a job that failed or was cancelled goes on")
        budget = job.budget if budget is None else budget
        self._admit(caller, job.tenant, budget)
        self._state.db.execute(
            """UPDATE jobs SET state = 'waiting', error = NULL, result = NULL, ended = NULL, budget = ?, caller = ?
            WHERE id = ?""",
            (budget, caller_data(caller), id),
        )
        self._next()
        return self.get(id)

    async def drop(self, collection: Collection) -> None:
        """End and forget the jobs of a collection whose row is gone, so that none is added meanwhile."""
        waiting = "UPDATE jobs SET state = 'cancelled', ended = ? WHERE collection = ? AND state = 'waiting'"
        self._state.db.execute(waiting, (now(), collection.id))  # first, or one starts as another ends
        for running in list(self._running.values()):
            if running.job.collection == collection.id:
                with suppress(Conflict):  # it has ended by itself
                    await self.cancel(running.job.id)
        rows = self._state.db.execute("DELETE FROM jobs WHERE collection = ? RETURNING id", (collection.id,)).fetchall()
        for (id,) in rows:
            self._tell(id, "done", None)

    # Those who watch

    async def events(self, id: str, quiet: float = 15.0) -> AsyncIterator[tuple[str, Any] | None]:
        """What happens to a job: first how it stands, then `progress` as it comes, and `done` with the job at the end.
        None where nothing has happened for so many seconds. A reader that is slow misses progress, never the end.
        """
        queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._listeners.setdefault(id, set()).add(queue)
        try:
            job = self.get(id)
            if job.progress is not None and job.state not in ENDED:
                yield "progress", job.progress
            while job.state not in ENDED:
                try:
                    name, value = await asyncio.wait_for(queue.get(), quiet)
                except TimeoutError:
                    yield None
                    continue
                job = self.get(id)
                if name == "progress":
                    yield name, value
            yield "done", job
        except NotFound:
            return  # its collection was deleted meanwhile
        finally:
            self._listeners[id].discard(queue)
            if not self._listeners[id]:
                del self._listeners[id]

    def _tell(self, id: str, name: str, value: object) -> None:
        for queue in self._listeners.get(id, ()):
            while queue.qsize() >= _QUEUED:
                queue.get_nowait()
            queue.put_nowait((name, value))

    # Running them

    def _next(self) -> None:
        """Start what may start now."""
        while not self._stopping and len(self._running) < self._config.jobs and (job := self._pick()) is not None:
            try:
                self._state.db.execute("UPDATE jobs SET state = 'running', started = ? WHERE id = ?", (now(), job.id))
            except sqlite3.OperationalError:  # another process writes; nobody else would come back to it
                asyncio.get_running_loop().call_later(_PAUSE, self._next)
                return
            self._turn += 1
            self._turns[job.tenant] = self._turn
            running = RunningJob(self.get(job.id))
            self._running[job.id] = running
            running.task = asyncio.create_task(self._run(running))

    def _pick(self) -> Job | None:
        query = f"SELECT {COLUMNS} FROM jobs WHERE state = 'waiting' ORDER BY number"  # noqa: S608 - columns of ours
        busy = {running.job.collection for running in self._running.values()}
        at_work = Counter(running.job.tenant for running in self._running.values())
        waiting = [
            job
            for job in map(job_of, self._state.db.execute(query).fetchall())
            if job.collection not in busy and not self._waits_for_money(job.caller)
        ]
        return min(waiting, key=lambda job: (at_work[job.tenant], self._turns[job.tenant]), default=None)

    async def _run(self, running: RunningJob) -> None:
        job, error = running.job, None
        try:
            try:
                await self._work(running)
            except ServiceError as raised:
                error = raised
            except StoreBusy as raised:
                error = None if "result" in running.last else from_ragways(raised)  # its work is done all the same
            except RagwaysError as raised:
                error = from_ragways(raised)
            except Exception:
                _LOG.exception("a job of kind %s failed", job.kind)
                error = ServiceError(500, "internal", "something went wrong inside", "resume it")
            await _patiently(lambda: self._end(running, error))
        except Exception:
            _LOG.exception("how a job of kind %s ended could not be written", job.kind)
        finally:
            self._running.pop(job.id, None)
            self._tell(job.id, "done", None)
            self._next()

    async def _work(self, running: RunningJob) -> None:
        """Do a job, on the money of its key."""
        job = running.job
        collection = self._collection(job.collection)
        if job.by and not self._keys.alive(job.by):
            raise Forbidden("the key of this job was revoked or has expired", "resume it with another key")
        budget = self._ledger.account(job.by).left if job.budget is None else job.budget
        try:
            with self._ledger.hold(job.caller, budget) as held:
                await self._child(running, collection, held)
        finally:
            if job.kind == "index":
                await _patiently(lambda: self._look_again(running, collection))

    async def _look_again(self, running: RunningJob, collection: Collection) -> None:
        """Take down what the index holds now, and what became of each file."""
        collection = await asyncio.to_thread(self._collections.refresh, collection)
        await self._uploads.indexed(collection, running.unread)

    def _collection(self, id: str) -> Collection:
        found = next((one for one in self._collections.all() if one.id == id), None)
        if found is None:
            raise NotFound("collection")
        return found

    async def _child(self, running: RunningJob, collection: Collection, held: Held) -> None:
        """Have the process do it, tell what it tells, and wait for its end."""
        held.settle(0.0)  # until it says that the work begins, nothing can be spent
        job = running.job
        spec = {
            "id": job.id,
            "tenant": job.tenant,
            "kind": job.kind,
            "arguments": job.arguments,
            "budget": held.usd,
            "settings": plain_settings(self._config.settings),
            "index": str(collection.index),
            "folder": str(collection.folder),
            "state": str(self._state.path),
            "files": None if collection.files is None else str(collection.files),
        }
        lines = await running.start(spec)
        try:
            async for line in lines:
                self._heard(running, json.loads(line))
        finally:
            await running.end()
            if running.begun:
                held.actual = running.spent if running.last or held.usd is None else None

    def _heard(self, running: RunningJob, message: dict[str, Any]) -> None:
        if not running.hear(message):
            return
        progress = running.progress
        self._tell(running.job.id, "progress", progress)
        now = asyncio.get_running_loop().time()
        if now - running.written >= 1.0:
            running.written = now
            with suppress(sqlite3.OperationalError):  # another process writes; the next one tells more
                query = "UPDATE jobs SET progress = ? WHERE id = ?"
                self._state.db.execute(query, (json.dumps(progress), running.job.id))

    async def _end(self, running: RunningJob, error: ServiceError | None) -> None:
        """Write down how a job ended."""
        last = running.last
        result = last.get("result")
        if error is None and "error" in last:
            error = from_ragways(error_of(last["error"]))
        if error is None and result is not None and result.get("stopped"):
            error = ServiceError(
                402, "budget", result["stopped"], "resume it with a larger budget; what is done is kept"
            )
        if error is None and result is None and running.wanted is None:
            error = ServiceError(500, "died", "the job ended without a result", "resume it: it goes on where it was")
        finished: JobState = "failed" if error is not None else "done"
        state = running.wanted if running.wanted is not None and result is None else finished
        ended = None if state == "waiting" else now()
        told = (
            running.progress if running.stages else None,
            None if result is None else {**result, "spent": running.spent},
            None if error is None else {"code": error.code, "message": error.message, "cure": error.cure},
        )
        with self._state.transaction() as db:
            db.execute(
                """UPDATE jobs SET progress = coalesce(?, progress), result = coalesce(?, result),
                error = coalesce(?, error), state = ?, ended = ? WHERE id = ?""",
                (*(None if value is None else json.dumps(value) for value in told), state, ended, running.job.id),
            )
            db.execute(
                """DELETE FROM jobs WHERE collection = ?1 AND state IN ('done', 'failed', 'cancelled') AND number NOT IN
                (SELECT number FROM jobs WHERE collection = ?1 ORDER BY number DESC LIMIT ?2)""",
                (running.job.collection, KEPT),
            )


async def _patiently(write: Callable[[], Awaitable[None]]) -> None:
    """Write, and try again for a while where another process holds the database."""
    for _ in range(_TRIES - 1):
        try:
            return await write()
        except (StoreBusy, sqlite3.OperationalError):
            await asyncio.sleep(_PAUSE)
    return await write()
