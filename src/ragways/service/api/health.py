"""Whether the server is alive (`/healthz`) and ready (`/readyz`), and its figures (`/metrics`)."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from ragways.core.errors import RagwaysError
from ragways.service.auth import Service, caller, service_of
from ragways.service.errors import Forbidden
from ragways.service.keys import MAIN, Caller
from ragways.service.metrics import CONTENT_TYPE

router = APIRouter(include_in_schema=False)
FRESH = 1.0
"""Seconds for which the state of the server is not looked at again."""


@router.get("/healthz")
async def alive() -> dict[str, bool]:
    """The process answers."""
    return {"alive": True}


@router.get("/readyz")
async def ready(request: Request) -> Response:
    """Questions can be answered: state can be written, and workers answer. Else 503."""
    service, now = service_of(request), asyncio.get_running_loop().time()
    seen: tuple[float, dict[str, bool]] | None = getattr(request.app.state, "readiness", None)
    if seen is None or now - seen[0] > FRESH:
        seen = now, {"state": writable(service), "workers": service.workers.answers}
        request.app.state.readiness = seen
    good = all(seen[1].values())
    return JSONResponse({"ready": good, **seen[1]}, 200 if good else 503, {} if good else {"Retry-After": "1"})


def writable(service: Service) -> bool:
    try:
        service.state.tables("CREATE TABLE IF NOT EXISTS readiness(id INTEGER PRIMARY KEY, looks INTEGER NOT NULL)")
        with service.state.transaction() as db:
            db.execute("INSERT INTO readiness VALUES (1, 1) ON CONFLICT(id) DO UPDATE SET looks = looks + 1")
    except (RagwaysError, sqlite3.Error):
        return False
    return True


@router.get("/metrics")
async def metrics(request: Request, who: Annotated[Caller, Depends(caller("admin"))]) -> Response:
    """Figures of the whole server, for Prometheus: where there are keys, for admins of the tenant main."""
    if who.tenant != MAIN:
        raise Forbidden("the figures are of the whole server", f"use a key of the tenant {MAIN}")
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE)
