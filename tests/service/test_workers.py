"""The worker processes: cancelled with their clients, timed out, replaced when they die, and never behind the index."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragways.assemble import recipe_of
from ragways.core.errors import UsageError
from ragways.index.build import build
from ragways.service.config import Limits, ServiceConfig
from ragways.service.errors import ServiceError, error_data, error_of
from ragways.service.keys import Keys
from ragways.service.ledger import Account, Ledger
from ragways.service.state import State
from ragways.service.work.child import WORKER, packed, receive
from ragways.service.work.workers import WorkerPool
from ragways.settings import Settings, plain_settings, read_settings
from ragways.testing import LoopbackServer
from tests.fakes import write
from tests.service.conftest import RunningServer, Serve

TEXTS = {"light.txt": "The harbour light was built by Anna Brack.", "storm.txt": "The storm of 1883 took the roof."}


@dataclass
class AnyCollection:
    """What a pool wants of a collection."""

    index: Path


@asynccontextmanager
async def pool_of(settings: Settings, workers: int = 1, **limits: Any) -> AsyncIterator[tuple[WorkerPool, Any]]:
    pool = WorkerPool(ServiceConfig(settings.index.parent, settings, workers=workers, limits=Limits(**limits)))
    await pool.start()
    try:
        yield pool, AnyCollection(settings.index)
    finally:
        await pool.close()


@pytest.fixture
def small(tmp_path: Path, cache_folder: Path) -> Settings:
    """Two documents, by words alone."""
    settings = read_settings(environment={}, index=tmp_path / "index", cache=cache_folder)
    index_again(settings, TEXTS)
    return settings


def index_again(settings: Settings, texts: dict[str, str]) -> None:
    files = settings.index.parent / "files"
    for old in files.glob("*") if files.exists() else ():
        old.unlink()
    asyncio.run(build(settings.index, [write(files, texts)], recipe_of(settings, frozenset({"words"}))))


async def found(pool: WorkerPool, collection: Any, question: str) -> list[str]:
    got = await pool.call("retrieve", collection, {"question": question, "paradigm": "words"}, tenant="main")
    return [hit["text"] for hit in got["hits"]]


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 180
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_removed_document_is_gone_for_every_worker_with_the_next_question(small: Settings):
    async def both_sides() -> None:
        async with pool_of(small, 2) as (pool, collection):
            ask = [found(pool, collection, "Who built the harbour light?") for _ in range(8)]
            assert all("Anna Brack" in "".join(texts) for texts in await asyncio.gather(*ask))
            await asyncio.to_thread(index_again, small, {"storm.txt": TEXTS["storm.txt"]})
            ask = [found(pool, collection, "Who built the harbour light?") for _ in range(8)]
            assert all("Anna Brack" not in "".join(texts) for texts in await asyncio.gather(*ask))

    asyncio.run(both_sides())


def test_no_question_fails_while_the_index_gets_new_generations(small: Settings):
    async def while_indexing() -> int:
        asked = 0
        async with pool_of(small, 2) as (pool, collection):
            for number in range(4):
                change = asyncio.create_task(
                    asyncio.to_thread(index_again, small, {**TEXTS, f"{number}.txt": f"Boat {number} came in."})
                )
                while not change.done():
                    assert await found(pool, collection, "Who took the roof in the storm?")
                    asked += 1
                await change
        return asked

    assert asyncio.run(while_indexing()) > 4


def test_a_worker_that_is_killed_is_replaced_and_what_it_had_under_way_is_done(small: Settings):
    async def killed() -> None:
        async with pool_of(small, 2) as (pool, collection):
            before = pool.pids
            asked = [asyncio.create_task(found(pool, collection, "Who built the light?")) for _ in range(6)]
            await asyncio.sleep(0)
            for pid in before:
                os.kill(pid, signal.SIGKILL)
            assert all(await asyncio.gather(*asked))
            await asyncio.to_thread(until, lambda: pool.alive == 2)
            assert not set(before) & set(pool.pids)

    asyncio.run(killed())


def test_a_stuck_worker_gets_no_new_questions(small: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.service.work.child.GRACE", 3.0)

    async def stuck() -> None:
        async with pool_of(small, 2, seconds=30.0) as (pool, collection):
            await asyncio.to_thread(until, lambda: pool.alive == 2)
            os.kill(pool.pids[0], signal.SIGSTOP)
            await asyncio.sleep(4)
            questions = [found(pool, collection, "Who built the harbour light?") for _ in range(6)]
            assert all(await asyncio.gather(*questions))

    asyncio.run(stuck())


def test_an_error_of_a_worker_is_the_same_error_here(small: Settings):
    async def wrong() -> None:
        async with pool_of(small) as (pool, collection):
            arguments = {"question": "Who?", "paradigm": "wrods"}
            with pytest.raises(UsageError) as error:
                await pool.call("retrieve", collection, arguments, tenant="main")
            assert "did you mean words?" in error.value.cure
            with pytest.raises(ServiceError) as unexpected:
                await pool.call("retrieve", collection, {}, tenant="main")  # a slip of ours
            assert (unexpected.value.status, unexpected.value.code) == (500, "unexpected")

    asyncio.run(wrong())


def test_one_way_that_cannot_answer_does_not_hide_the_others(small: Settings):
    async def compared() -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        async with pool_of(small) as (pool, collection):
            question = {"question": "Who built the light?", "paradigms": ["naive", "words"]}
            got = await pool.call(
                "compare", collection, question, tenant="main",
                on_event=lambda name, data: told.append(data) if name == "answer" else None,
            )  # fmt: skip
            assert got["answers"] == told
        return told

    first, second = asyncio.run(compared())
    assert (first["paradigm"], first["failed"]) == ("naive", True)
    assert first["cure"] == "start a job of kind index with the layers vectors,words"
    assert second["answer"]


def test_more_than_can_wait_are_turned_away(small: Settings):
    async def crowd() -> list[object]:
        async with pool_of(small, at_once=2, waiting=3) as (pool, collection):
            asked = [found(pool, collection, "Who built the light?") for _ in range(12)]
            return list(await asyncio.gather(*asked, return_exceptions=True))

    replies = asyncio.run(crowd())
    refused = [reply for reply in replies if isinstance(reply, ServiceError)]
    assert refused
    assert {error.status for error in refused} == {503}
    assert all(error.headers["Retry-After"] for error in refused)
    assert len(refused) + sum(isinstance(reply, list) for reply in replies) == 12


@pytest.fixture
def held_back() -> Any:
    """A model that writes a first piece and then waits; `served` is where it listens."""
    first, go_on = threading.Event(), threading.Event()

    async def before_event(event: bytes) -> None:
        if first.is_set():
            await asyncio.to_thread(go_on.wait)
        if b"content" in event:
            first.set()

    reply = "Anna Brack built it. [1]"
    with LoopbackServer(lambda _: reply, before_event=before_event) as served:
        served.go_on = go_on  # type: ignore[attr-defined]
        yield served
        go_on.set()


def with_model(settings: Settings, served: LoopbackServer) -> Settings:
    model = {"name": "loopback", "base_url": served.base_url}
    return read_settings(
        environment={},
        index=settings.index,
        cache=settings.cache,
        model=model,
        prices={"loopback": {"input": 1, "output": 1}},
    )


async def left_again_and_again(settings: Settings, asked: Callable[[], bool], stuck: bool = False) -> Account:
    """A question by a key whose client leaves, as a stream is ended: cancelled at every turn until it is gone."""
    state = State(settings.index.parent / "service.sqlite")
    keys, ledger = Keys(state), Ledger(state)
    who = keys.caller(keys.add("alice", budget=5.0)[1])
    assert who is not None
    async with pool_of(settings) as (pool, collection):

        async def ask() -> None:
            question = {"question": "Who built the harbour light?", "paradigm": "words"}
            with ledger.hold(who.key, 1.0) as held:
                await pool.call("ask", collection, question, tenant="main", held=held)

        task = asyncio.create_task(ask())
        await asyncio.to_thread(until, asked)
        before = pool.pids
        if stuck:
            os.kill(before[0], signal.SIGSTOP)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert ledger.account(who.key) == Account(5.0, 0.0, 1.0)  # held until the worker has said what it spent
        await asyncio.to_thread(until, lambda: ledger.account(who.key).held == 0)
        assert pool.under_way == 0
        if stuck:
            await asyncio.to_thread(until, lambda: pool.alive == 1 and pool.pids != before)
        return ledger.account(who.key)


def test_who_leaves_a_stream_pays_what_was_spent_and_not_all_that_was_held(small: Settings, held_back: LoopbackServer):
    account = asyncio.run(left_again_and_again(with_model(small, held_back), lambda: held_back.count > 0))
    assert account.spent < 0.5


def test_many_questions_at_once_hold_what_their_calls_may_cost_each(small: Settings):
    """A key for which ten requests of a flat .10 would not fit: none is refused, and no cent more is spent."""
    state = State(small.index.parent / "service.sqlite")
    ledger = Ledger(state)
    key = Keys(state).add("alice", budget=0.30)[0].id

    async def ask_all(settings: Settings) -> list[Any]:
        async with pool_of(settings) as (pool, collection):

            async def ask(number: int) -> Any:
                question = {"question": f"Who built the harbour light, {number}?", "paradigm": "words"}
                with ledger.hold(key, growing=True) as held:
                    return await pool.call("ask", collection, question, tenant="main", held=held)

            return await asyncio.gather(*map(ask, range(24)), return_exceptions=True)

    with LoopbackServer(lambda _: "Anna Brack built it. [1]") as served:
        answers = asyncio.run(ask_all(with_model(small, served)))
    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    assert {answer["way"] for answer in answers} == {"model loopback"}
    account = ledger.account(key)
    assert account.held == 0
    assert account.spent == pytest.approx(sum(answer["usage"]["usd"] for answer in answers), abs=1e-6)
    assert 0 < account.spent < 0.30
    state.close()


def test_a_worker_that_is_stuck_when_its_client_left_is_killed_and_all_that_was_held_is_spent(
    small: Settings, held_back: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragways.service.work.child.GRACE", 0.3)
    account = asyncio.run(left_again_and_again(with_model(small, held_back), lambda: held_back.count > 0, stuck=True))
    assert account.spent == 1.0


def test_what_takes_too_long_is_stopped_and_said(small: Settings, held_back: LoopbackServer):
    async def slow() -> None:
        async with pool_of(with_model(small, held_back), seconds=1.0) as (pool, collection):
            with pytest.raises(ServiceError) as error:
                await pool.call("ask", collection, {"question": "Who built it?", "paradigm": "words"}, tenant="main")
            assert error.value.status == 504
            assert pool.under_way == 0

    asyncio.run(slow())


def test_answers_under_way_end_when_the_server_is_stopped(
    small: Settings, held_back: LoopbackServer, serve: Serve, tmp_path: Path
):
    environment = {"RAGWAYS_MODEL__NAME": "loopback", "RAGWAYS_MODEL__BASE_URL": held_back.base_url}
    server: RunningServer
    with serve(tmp_path / "data", "--index", str(small.index), cache=small.cache, environment=environment) as server:
        body = {"question": "Who built the harbour light?", "paradigm": "words", "stream": True}
        names: list[str] = []
        for name, _ in server.events("/api/v1/collections/index/ask", body):
            if not names:
                until(lambda: held_back.count > 0)
                server.process.send_signal(signal.SIGTERM)
                held_back.go_on.set()  # type: ignore[attr-defined]
            names.append(name)
        assert names[-1] == "result"
        assert server.process.wait(timeout=180) == 0


def test_errors_of_every_kind_cross_the_wire():
    from ragways.core import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RagwaysError)]
    assert len(kinds) > 15
    for kind in kinds:
        there = error_of(json.loads(json.dumps(error_data(kind("what", cure="do this")))))
        assert (type(there), there.message, there.cure) == (kind, "what", "do this")


def test_replies_of_the_model_are_stored_apart_by_tenant(small: Settings):
    question = {"question": "Who built the harbour light?", "paradigm": "words"}

    async def counts(served: LoopbackServer) -> list[int]:
        calls = []
        async with pool_of(with_model(small, served)) as (pool, collection):
            for tenant in ("acme", "acme", "other", "main", "other", "main"):
                before = served.count
                await pool.call("ask", collection, question, tenant=tenant)
                calls.append(served.count - before)
        return calls

    with LoopbackServer() as served:
        first, again, other, main, other_again, main_again = asyncio.run(counts(served))
    assert first > 0
    assert (other, main) == (first, first)
    assert (again, other_again, main_again) == (0, 0, 0)


def test_a_worker_whose_server_was_killed_ends_without_a_word(small: Settings):
    """It learns of it when it reports what it has under way: to nobody."""

    async def hang_up() -> tuple[int, str]:
        ours, theirs = socket.socketpair()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ragways.service.work.worker", str(theirs.fileno()), WORKER),
            pass_fds=[theirs.fileno()],
            stderr=asyncio.subprocess.PIPE,
        )
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(packed({"settings": plain_settings(small)}))
        await receive(reader)
        for number in range(1, 9):
            call = {"operation": "retrieve", "folder": str(small.index), "tenant": "main", "budget": None}
            arguments = {"question": "Who built the light?", "paradigm": "words"}
            writer.write(packed({"number": number, "arguments": arguments, **call}))
        await writer.drain()
        writer.transport.abort()
        _, said = await process.communicate()
        return process.returncode or 0, said.decode()

    assert asyncio.run(hang_up()) == (0, "")
