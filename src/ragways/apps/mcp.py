"""`ragways mcp`: tools, paradigms and articles of an index for anyone's agent, over stdio or HTTP; read-only."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.options import IndexOption, SettingsOption, TrustOption, chosen_settings
from ragways.core.errors import MissingPart, UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ragways.settings import Settings

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def mcp(
    index: IndexOption = None,
    http: Annotated[
        str | None, typer.Option("--http", help="Serve streamable HTTP there instead of stdio.", metavar="[HOST:]PORT")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", help="What HTTP clients must bring; one is made up and printed if none is set."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="USD that one `ask` may spend at most.", min=0)
    ] = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
) -> None:
    """Serve tools, paradigms and articles to agents by the Model Context Protocol (read-only)."""
    place = _place(http) if http is not None else None
    _require()
    chosen = chosen_settings(settings, index, trust=trust)
    if place is None:
        asyncio.run(serve_stdio(chosen, budget))
    else:
        asyncio.run(serve_http(chosen, *place, _token(chosen, token), budget))


async def serve_stdio(settings: Settings, budget: float | None = None) -> None:
    """Until the other side hangs up."""
    from mcp.server.stdio import stdio_server

    from ragways.apps.mcp_server import desk
    from ragways.assemble import opened

    async with opened(settings) as use:
        server = desk(use, settings, budget)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


async def serve_http(settings: Settings, host: str, port: int, token: str, budget: float | None = None) -> None:
    """Until it is stopped. Every request must bring the token."""
    import uvicorn

    from ragways.apps.mcp_server import desk
    from ragways.assemble import opened

    async with opened(settings) as use:
        app = Guarded(desk(use, settings, budget).streamable_http_app(host=host), token)
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on")
        listening = _listen(host, port)
        _say(f"serving http://{_shown(host)}:{port}/mcp" + ("" if host in _LOOPBACK else ", open to other machines"))
        await uvicorn.Server(config).serve(sockets=[listening])


class Guarded:
    """Lets through only requests that bring the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        import hmac

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


def _place(text: str) -> tuple[str, int]:
    """Host and port; without a host, only this machine."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
        raise UsageError(f"--http {text!r} is not a place to listen", "write it as 127.0.0.1:8765")
    return host or "127.0.0.1", int(port)


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise UsageError(f"cannot listen on {_shown(host)}:{port}: {error.strerror}", "choose another place") from None


def _token(settings: Settings, given: str | None) -> str:
    """The flag's, else the setting's (`mcp.token`), else a new one, which is shown once."""
    if given is not None:
        if len(given) < 8:
            raise UsageError("--token is shorter than 8 characters", "leave it out, and a good one is made up")
        return given
    section = getattr(settings, "mcp", None)
    kept = section.token.get_secret_value() if section is not None else ""
    if kept:
        return str(kept)
    import secrets

    made = secrets.token_urlsafe(32)
    _say(f"token: {made}")
    return made


def _require() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise MissingPart("the package mcp is not installed", "pip install 'ragways[mcp]'")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _say(line: str) -> None:
    """On standard error: over stdio, standard output belongs to the protocol."""
    sys.stderr.write(f"ragways: {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    from ragways.threads import limit_threads

    limit_threads()
    typer.run(mcp)
