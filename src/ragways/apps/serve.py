"""`ragways serve`: the service and its page."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.logs import ROOT, as_json
from ragways.apps.terminal import with_settings
from ragways.core.errors import MissingPart, UsageError
from ragways.core.text import printable

if TYPE_CHECKING:
    from ragways.service.collections import Collections
    from ragways.service.config import ServiceConfig
    from ragways.settings import Settings

PARTS = ("fastapi", "uvicorn", "httptools", "prometheus_client", "mcp")
DRAIN = 30
"""Seconds that answers under way get to end when the server is stopped."""


@with_settings("data", "host", "port", "model")
def serve(
    chosen: Settings,
    index: Annotated[
        list[Path] | None, typer.Option("--index", help="An index to serve, read-only; may be given several times.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve the bundled corpus, and index it first.")] = False,
) -> None:
    """Serve collections over HTTP, with a page to ask, compare, fill, explore and evaluate them.

    The page is at /, the API under /api/v1 (described by /api/v1/openapi.json), for clients of OpenAI's API under /v1,
    for agents at /mcp. Other machines may ask once there is a key: ragways key add NAME.
    """
    if missing := [name for name in PARTS if find_spec(name) is None]:
        raise MissingPart(f"the package {missing[0]} is not installed", "pip install 'ragways[serve]'")
    from ragways.cloud.copies import readable
    from ragways.service.config import config_of

    folders = tuple(readable(folder, chosen.cache) for folder in index or ())
    if demo:
        from ragways.apps.demo import index_demo

        folders += (folder := chosen.cache / "demo",)
        index_demo(chosen, folder, frozenset({"vectors", "words", "graph", "communities"}))  # all that the page shows
    run(config_of(chosen, indexes=folders))


def run(config: ServiceConfig) -> None:
    """Serve until it is stopped."""
    import uvicorn

    from ragways.service.app import make_app
    from ragways.service.protocol import bounded_protocol

    app = make_app(config)
    listening = listen(config.host, config.port)
    where = f"http://{shown_host(config.host)}:{listening.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=bounded_protocol(config.limits.header_seconds),
            loop="uvloop" if find_spec("uvloop") else "asyncio",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=DRAIN,
        )
    )
    app.state.server = server  # streams that would stay open look at it
    for trouble in _troubles(app.state.service.collections):
        say(trouble, logging.WARNING)
    say(f"serving {where}/ (API: {where}/api/v1/openapi.json); stop with Ctrl-C")
    # uvicorn lets answers end and then raises the signal once more: that is not a failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def _troubles(collections: Collections) -> Iterator[str]:
    """Why given indexes cannot be used yet, a sentence each. They are served as soon as they can be."""
    from ragways.store.store import FILE as INDEX

    for each in collections.all():
        if not each.managed and (trouble := collections.refresh(each).trouble):
            there = (each.index / INDEX).is_file()
            yield f"--index {each.index}: {trouble}" + ("" if there else f": ragways index PATH --index {each.index}")


def say(text: str, level: int = logging.INFO) -> None:
    """A line on standard error, or in the log where that is JSON."""
    if as_json():
        ROOT.log(level, "%s", text)
    else:
        sys.stderr.write(f"ragways: {printable(text)}\n")
        sys.stderr.flush()


def listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024
        )
    except OSError as error:
        raise UsageError(
            f"cannot listen on {shown_host(host)}:{port}: {error.strerror}", "choose another --port"
        ) from None


def shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
