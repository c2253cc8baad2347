"""What `ragways mcp` serves by the Model Context Protocol, read-only, over stdio or HTTP.

Anyone's agent gets the tools, `ask` with any paradigm, and the articles as resources.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ragways.apps.logs import say
from ragways.apps.server import listen, shown_host
from ragways.assemble import opened_live
from ragways.core.errors import MissingPart, UsageError
from ragways.service.work.mcp import ProtocolAnswers, protocol_server
from ragways.store.where import read_filter

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ragways.retrieval.resources import LiveResources
    from ragways.settings import Settings

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(settings: Settings, http: str | None = None, budget: float | None = None, where: str | None = None) -> None:
    """Serve over stdio, or over HTTP at `http`, until the other side hangs up or it is stopped.

    HTTP clients must bring the token; one is made up and shown where none is set. `budget` is what one `ask` may spend,
    in USD. `where` is a filter: no document that does not match it is served.
    """
    if where is not None:
        read_filter(where)  # a wrong filter is an error before the server starts
    place = place_of(http) if http is not None else None
    if find_spec("mcp") is None:
        raise MissingPart("the package mcp is not installed", "pip install 'ragways[mcp]'")
    asyncio.run(_serve(settings, place, budget, where))


async def _serve(settings: Settings, place: tuple[str, int] | None, budget: float | None, where: str | None) -> None:
    """Until the other side hangs up, or it is stopped. Over HTTP every request must bring the token."""
    token = token_of(settings) if place is not None else ""
    async with opened_live(settings) as live:
        server = server_of(live, settings, budget, where)
        if place is None:
            from mcp.server.stdio import stdio_server

            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
            return
        import uvicorn

        host, port = place
        config = uvicorn.Config(
            Guarded(server.streamable_http_app(host=host), token), log_level="warning", access_log=False, lifespan="on"
        )
        listening = listen(host, port)
        say(f"serving http://{shown_host(host)}:{port}/mcp" + ("" if host in _LOOPBACK else ", open to other machines"))
        await uvicorn.Server(config).serve(sockets=[listening])


class Guarded:
    """Lets through only requests that bring the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        brought = dict(scope.get("headers", [])).get(b"authorization", b"")
        if scope["type"] == "http" and hmac.compare_digest(brought, self._wanted):
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        refused = PlainTextResponse("bring the token: Authorization: Bearer …\n", 401, {"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)


def place_of(text: str) -> tuple[str, int]:
    """Host and port; without a host, only this machine."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
        raise UsageError(f"--http {text!r} is not a place to listen", "write it as 127.0.0.1:8765")
    return host or "127.0.0.1", int(port)


def token_of(settings: Settings) -> str:
    """The setting's (`mcp.token`), else a new one, which is shown once. There is no flag for it: every user of the
    machine can read those of a command.
    """
    if token := settings.mcp.token.get_secret_value():
        if len(token) < 8:
            raise UsageError("mcp.token is shorter than 8 characters", "leave it out, and a good one is made up")
        return token
    made = secrets.token_urlsafe(32)
    say(f"token: {made}")
    return made


def server_of(
    live: LiveResources, settings: Settings, budget: float | None = None, where: str | None = None
) -> Server[Any]:
    """A server over what matches the filter `where`; `budget` is what one `ask` may spend, in USD."""
    answers = ProtocolAnswers(live.snapshot, settings, budget, where)

    async def answer(_: object, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await answers.answer(method, params)

    return protocol_server(answer)
