"""The server put together: its state, its workers, and every route under the gate."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from ragways import __version__
from ragways.core.errors import UsageError
from ragways.service import page
from ragways.service.api import (
    ask,
    collections,
    conversations,
    documents,
    evaluation,
    graph,
    health,
    jobs,
    openai,
)
from ragways.service.api.gate import Gate
from ragways.service.api.mcp import ProtocolEndpoint
from ragways.service.audit import Audit
from ragways.service.auth import Service
from ragways.service.collections import Collections
from ragways.service.config import ServiceConfig, check_place
from ragways.service.conversations import Conversations
from ragways.service.errors import handle_errors
from ragways.service.feedback import Feedback
from ragways.service.jobs import JOB_STATES, Jobs
from ragways.service.keys import Keys
from ragways.service.ledger import Ledger
from ragways.service.metrics import Metrics
from ragways.service.state import FILE, State
from ragways.service.telemetry import telemetry_of
from ragways.service.uploads import Uploads
from ragways.service.work.workers import WorkerPool

WARM = 8
"""Collections opened at the start."""
LOOK_EVERY = 1.0
"""Seconds between two looks at whether others have written to the given indexes."""
# FastAPI would report requests, wrong bodies and stacks to whatever the environment names; ours is telemetry.py.
_SILENT: TelemetryConfig = {
    "tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False,
}  # fmt: skip
_ABOUT = """Ask documents in many ways, on one index of each collection.

Every error has the body `{"error": {"id", "code", "message", "cure"}}`. Where keys were made, each request brings one:
`Authorization: Bearer KEY`. Streams are server-sent events."""


def make_app(config: ServiceConfig) -> FastAPI:
    """The application. Its state is opened here; its workers and jobs start and end with it."""
    state = State(config.data / FILE)
    try:
        check_place(config, Keys(state).some())
        alone = _alone(config.data)
    except UsageError:
        state.close()
        raise
    service = open_service(config, state)
    service.ledger.recover()
    for each in service.collections.all():
        service.uploads.mend(each)
    _measure(service)
    app = FastAPI(
        title="ragways",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        openapi_url="/api/v1/openapi.json",
        lifespan=_lifespan,
        telemetry=_SILENT,
    )
    app.state.service, app.state.alone = service, alone
    for api in (ask, collections, conversations, documents, evaluation, graph, jobs):
        app.include_router(api.router, prefix="/api/v1")
    for other in (openai, health, page):
        app.include_router(other.router)
    app.state.mcp = ProtocolEndpoint(service)
    app.router.routes.extend(app.state.mcp.routes())
    handle_errors(app)
    app.add_middleware(Gate, service=service)
    return app


def open_service(config: ServiceConfig, state: State) -> Service:
    """The parts of a server that share its state."""
    keys, ledger = Keys(state), Ledger(state, config.limits.budget)
    found, uploads = Collections(state, config.data, config.indexes), Uploads(state, config.limits)
    return Service(
        config=config,
        state=state,
        keys=keys,
        ledger=ledger,
        audit=Audit(state),
        collections=found,
        workers=WorkerPool(config),
        uploads=uploads,
        jobs=Jobs(config, state, found, uploads, ledger, keys),
        metrics=Metrics(),
        conversations=Conversations(state),
        feedback=Feedback(state),
        telemetry=telemetry_of(config.settings),
    )


def _measure(service: Service) -> None:
    """Have the figures of a server made as it works."""
    metrics, workers = service.metrics, service.workers
    workers.on_end.append(lambda call: metrics.worked(call.operation, call.value))
    if service.telemetry is not None:
        workers.on_end.append(service.telemetry.worked)
    metrics.watch("ragways_workers", "Worker processes that are ready.", lambda: workers.alive)
    metrics.watch("ragways_worker_calls", "Calls that workers have under way.", lambda: workers.under_way)
    metrics.watch("ragways_worker_queue", "Calls that wait for a worker.", lambda: workers.waiting)
    metrics.watch_states("ragways_jobs", "Jobs, by state.", JOB_STATES, service.jobs.count)
    metrics.watch("ragways_collections", "Collections of the server.", lambda: len(service.collections.all()))


async def _warm(service: Service) -> None:
    """Have workers open what is there before the first question comes."""
    ready = [each for each in service.collections.all() if each.generation and not each.trouble]
    await service.workers.warm(ready[:WARM])


async def _follow(service: Service) -> None:
    """Bring the table of collections up to date with given indexes, which others write."""
    while service.config.indexes:
        await asyncio.to_thread(service.collections.follow)
        await asyncio.sleep(LOOK_EVERY)


def _alone(data: Path) -> IO[bytes]:
    """A file whose lock says that a server is at work on this folder; the system frees that of a dead one."""
    file = (data / "serve.lock").open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(
            f"another server is at work on {data}", "stop it, or name another folder with --data"
        ) from None
    return file


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    await service.workers.start()
    await service.jobs.start()
    tasks = [asyncio.create_task(_warm(service)), asyncio.create_task(_follow(service))]
    try:
        async with service.metrics.watching_loop(), app.state.mcp.running():
            yield
    finally:
        for task in tasks:
            task.cancel()
        await service.jobs.stop()
        await service.workers.close()
        if service.telemetry is not None:
            await asyncio.to_thread(service.telemetry.close)
        service.state.close()
        app.state.alone.close()
