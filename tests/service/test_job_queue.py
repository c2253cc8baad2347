"""The queue of jobs by itself: whose turn it is, who pays, and what a deletion or a busy database leaves."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragways.core.errors import BudgetHeld
from ragways.service import jobs as module
from ragways.service.api.collections import delete
from ragways.service.auth import Access
from ragways.service.collections import Collection, Collections
from ragways.service.config import ServiceConfig, config_of
from ragways.service.errors import NotFound, OverBudget, TooMany
from ragways.service.jobs import Jobs
from ragways.service.keys import LOCAL, Caller, Keys
from ragways.service.ledger import Held, Ledger
from ragways.settings import Settings
from tests.service.places import Place, awaited

PLAN = {"layers": ["words"]}


class OneAtATime(Jobs):
    """Jobs whose process is a wait: the test lets each of them end."""

    def __init__(self, place: Place, jobs: int = 1) -> None:
        config = ServiceConfig(place.data, Settings(), limits=place.limits, jobs=jobs)
        ledger, keys = Ledger(place.state), Keys(place.state)
        super().__init__(config, place.state, place.collections, place.uploads, ledger, keys)
        self.order: list[str] = []
        self.go_on = asyncio.Semaphore(0)

    async def run_process(self, running: Any, collection: Collection, held: Held) -> None:
        self.order.append(f"{collection.tenant}/{collection.name}")
        await self.go_on.acquire()
        running.result = {}
        held.settle(0.2)


@awaited
async def test_tenants_take_turns_and_quiet_streams_say_so(tmp_path: Path):
    place = Place(tmp_path)
    jobs = OneAtATime(place)
    made = {
        f"{tenant}/{name}": place.collections.create(tenant, name, ["words"])
        for tenant, name in (("busy", "a"), ("busy", "b"), ("busy", "c"), ("other", "a"))
    }
    added = [
        jobs.add(Caller("", one.tenant, frozenset({"write"})), one, "plan", {"layers": ["words"]}, None)
        for one in (made["busy/a"], made["busy/b"], made["busy/c"], made["busy/a"], made["other/a"])
    ]
    events = jobs.events(added[0].id, quiet=0.001)
    while await anext(events) is not None:
        pass  # how it stands comes first; then nothing has happened, and that is said
    late = [event async for event in released(jobs, added[-1].id)]
    assert late[-1] is not None
    assert late[-1][0] == "done"
    assert jobs.order == ["busy/a", "other/a", "busy/b", "busy/c", "busy/a"]
    with pytest.raises(NotFound):
        jobs.seen(Caller("k", "other", frozenset({"read"})), added[0].id)


async def released(jobs: OneAtATime, id: str) -> AsyncIterator[tuple[str, Any] | None]:
    """Let every job end, one after the other, and give what is told of one of them."""
    async for event in jobs.events(id, quiet=0.01):
        jobs.go_on.release()
        yield event
    while any(jobs.get(one).state != "done" for one in list(jobs.running)):
        jobs.go_on.release()
        await asyncio.sleep(0.001)


@awaited
async def test_money_is_held_before_a_job_starts_and_settled_when_it_ends(tmp_path: Path):
    place = Place(tmp_path)
    jobs = OneAtATime(place)
    key, _ = jobs.keys.add("poor", scope="write", budget=1.0)
    caller = Caller(key.id, "main", frozenset({"write"}))
    first = jobs.add(caller, place.docs, "plan", {"layers": ["words"]}, 0.9)
    second = jobs.add(caller, place.docs, "plan", {"layers": ["words"]}, 0.9)
    await anext(jobs.events(first.id, quiet=0.01))
    account = jobs.ledger.account(key.id)
    assert (account.spent, account.held) == (0.0, 0.9)
    [_ async for _ in released(jobs, second.id)]
    account = jobs.ledger.account(key.id)
    assert (account.spent, account.held) == (0.4, 0.0)
    assert {jobs.get(first.id).state, jobs.get(second.id).state} == {"done"}
    jobs.go_on.release()
    for _ in range(3):
        jobs.go_on.release()
        [_ async for _ in jobs.events(jobs.add(caller, place.docs, "plan", {"layers": ["words"]}, 0.5).id)]
    with pytest.raises(OverBudget):
        jobs.add(caller, place.docs, "plan", {"layers": ["words"]}, 0.5)


@awaited
async def test_a_slow_watcher_misses_progress_and_never_the_end(tmp_path: Path):
    place = Place(tmp_path)
    jobs = OneAtATime(place)
    job = jobs.add(LOCAL, place.docs, "plan", {"layers": ["words"]}, None)
    events = jobs.events(job.id, quiet=0.01)
    assert await anext(events) is None
    for number in range(1000):
        jobs.progressed(jobs.running[job.id], {"stage": "reading", "done": number, "total": 1000, "note": ""})
    jobs.go_on.release()
    seen = [event async for event in events if event is not None]
    assert (seen[-1][0], seen[-1][1].state) == ("done", "done")
    assert seen[-1][1].progress["done"] == 999
    assert len(seen) <= 65


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    for _ in range(30_000):
        if true():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it never came")


async def ended(jobs: Jobs, id: str) -> None:
    """Wait until a job has ended."""
    [_ async for _ in jobs.events(id)]


@awaited
async def test_who_resumes_a_job_pays_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = Place(tmp_path)
    jobs = OneAtATime(place)
    callers = {}
    for name, budget in (("first", 5.0), ("second", 0.5), ("spent", 0.0)):
        caller = jobs.keys.caller(jobs.keys.add(name, scope="write", budget=budget)[1])
        assert caller is not None
        callers[name] = caller
    job = jobs.add(callers["first"], place.docs, "plan", PLAN, 4.0)
    jobs.keys.revoke("first")  # before its first step
    await ended(jobs, job.id)
    refused = jobs.get(job.id)
    assert (refused.state, (refused.error or {})["code"]) == ("failed", "forbidden")
    assert "another key" in (refused.error or {})["cure"]
    assert jobs.order == []
    with pytest.raises(OverBudget):
        jobs.resume(callers["spent"], job.id)
    with monkeypatch.context() as patched:
        patched.setattr(module, "MOST_WAITING", 0)
        with pytest.raises(TooMany):
            jobs.resume(callers["second"], job.id)
    assert jobs.get(job.id).state == "failed"
    again = jobs.resume(callers["second"], job.id)
    assert (again.by, again.budget) == (callers["second"].key, 4.0)
    jobs.go_on.release()
    await ended(jobs, job.id)
    assert jobs.get(job.id).state == "done"
    assert [jobs.ledger.account(callers[name].key).spent for name in ("first", "second")] == [0.0, 0.2]


@awaited
async def test_without_a_budget_a_job_may_spend_what_its_key_has_left(tmp_path: Path):
    place = Place(tmp_path)
    jobs = OneAtATime(place, jobs=2)
    key, text = jobs.keys.add("some", scope="write", budget=5.0)
    caller = jobs.keys.caller(text)
    assert caller is not None
    first = jobs.add(caller, place.docs, "plan", PLAN, None)
    await anext(jobs.events(first.id, quiet=0.01))
    assert jobs.ledger.account(key.id).held == 5.0
    with pytest.raises(BudgetHeld):
        jobs.add(caller, place.docs, "plan", PLAN, None)
    jobs.go_on.release()
    await ended(jobs, first.id)
    assert jobs.ledger.account(key.id).left == 4.8


@awaited
async def test_as_many_run_at_once_as_the_setting_says_and_in_their_order(tmp_path: Path):
    assert config_of(Settings()).jobs == 2
    place = Place(tmp_path)
    chosen = config_of(Settings.model_validate({"serve": {"jobs": 3}}))
    jobs = OneAtATime(place, jobs=chosen.jobs)
    made = [place.collections.create("main", name, ["words"]) for name in "abcd"]
    added = [jobs.add(LOCAL, one, "index", PLAN, None) for one in (made[0], *made)]
    await anext(jobs.events(added[-1].id, quiet=0.01))
    assert jobs.order == ["main/a", "main/b", "main/c"]  # one on a collection
    [_ async for _ in released(jobs, added[-1].id)]
    assert jobs.order == ["main/a", "main/b", "main/c", "main/a", "main/d"]


@awaited
async def test_a_job_that_is_ended_before_its_work_begins_costs_nothing(tmp_path: Path):
    place = Place(tmp_path)
    keys, ledger = Keys(place.state), Ledger(place.state)
    jobs = Jobs(ServiceConfig(tmp_path, Settings()), place.state, place.collections, place.uploads, ledger, keys)
    key, text = keys.add("some", scope="write", budget=5.0)
    caller = keys.caller(text)
    assert caller is not None
    job = jobs.add(caller, place.docs, "plan", PLAN, 4.0)
    running = jobs.running[job.id]
    await until(lambda: running.child is not None)  # only just started: Python itself takes longer to load
    assert (await jobs.cancel(job.id)).state == "cancelled"
    assert running.call is None
    account = ledger.account(key.id)
    assert (account.spent, account.held) == (0.0, 0.0)


def access(place: Place, jobs: Jobs, collection: Collection, collections: Collections | None = None) -> Access:
    """What the routes have, as far as a deletion needs it."""

    async def forget(_: object) -> None:
        return

    service = SimpleNamespace(
        collections=collections or place.collections,
        jobs=jobs,
        uploads=place.uploads,
        conversations=SimpleNamespace(forget=lambda _: None),
        workers=SimpleNamespace(forget=forget),
        audit=SimpleNamespace(note=lambda *_, **__: None),
    )
    return Access(service, LOCAL, collection)  # type: ignore[arg-type]


@awaited
async def test_while_a_collection_goes_nothing_begins_in_it(tmp_path: Path):
    place = Place(tmp_path)
    jobs = OneAtATime(place)
    running, waiting = (jobs.add(LOCAL, place.docs, "index", PLAN, None) for _ in range(2))
    await anext(jobs.events(waiting.id, quiet=0.01))
    going = asyncio.create_task(delete(access(place, jobs, place.docs)))
    await until(lambda: jobs.running[running.id].wanted is not None)
    with pytest.raises(NotFound):
        jobs.add(LOCAL, place.docs, "index", PLAN, None)
    going.cancel()  # who asked for it hangs up
    for _ in range(3):
        jobs.go_on.release()
    await until(lambda: not place.docs.folder.exists())
    assert jobs.order == ["main/docs"]
    assert jobs.running == {}
    assert place.state.db.execute("SELECT count(*) FROM jobs").fetchone() == (0,)


@awaited
async def test_a_job_ends_well_while_another_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_PAUSE", 0.01)
    place = Place(tmp_path)
    place.state.db.execute("PRAGMA busy_timeout = 1")
    jobs = OneAtATime(place)
    job, later = (jobs.add(LOCAL, place.docs, "plan", PLAN, None) for _ in range(2))
    await anext(jobs.events(job.id, quiet=0.01))
    with closing(sqlite3.connect(place.state.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        jobs.progressed(jobs.running[job.id], {"stage": "reading", "done": 1, "total": 2, "note": ""})
        jobs.go_on.release()
        await asyncio.sleep(0.05)
        assert jobs.get(job.id).state == "running"
        other.execute("ROLLBACK")
    jobs.go_on.release()
    await ended(jobs, later.id)
    assert [jobs.get(one.id).state for one in (job, later)] == ["done", "done"]
    assert (jobs.get(job.id).progress or {})["done"] == 1
