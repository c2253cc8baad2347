"""Commands of the server: `ragways serve`, `key`, `backup` and `restore`. A change of a key is in force from the next
request on.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.logs import say
from ragways.apps.terminal import JsonOption, print_json, show_table, with_settings
from ragways.core.errors import MissingPart, UsageError
from ragways.core.table import Table
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.service.audit import Audit
    from ragways.service.backup import BackupSummary
    from ragways.service.collections import Collections
    from ragways.service.config import ServiceConfig
    from ragways.service.keys import Key, Keys
    from ragways.service.ledger import Ledger
    from ragways.settings import Settings

PARTS = ("fastapi", "uvicorn", "httptools", "prometheus_client", "mcp")
DRAIN = 30
"""Seconds that answers under way get to end when the server is stopped."""
app = typer.Typer(help="Keys of the server: who may do what, and what they did.", no_args_is_help=True,
                  rich_markup_mode=None)  # fmt: skip
NameArgument = Annotated[str, typer.Argument(help="Name or id of a key.")]
TAMPERED = 1
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}


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

    os.umask(0o077)  # only who runs the server reads what it and its processes make
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


# Backups


@with_settings("data")
def backup(
    chosen: Settings,
    file: Annotated[Path, typer.Argument(help="File to write; it must not be there.")],
    json: JsonOption = False,
) -> None:
    """Write all that a server keeps to one file, also while it runs: collections, keys, jobs, conversations, the log.

    Indexes that were given to the server by --index are not in it: they are somebody else's. Keep the file as safe as
    the documents: it has them all. Secrets of keys are not in it, only their hashes.
    """
    from ragways.service.backup import backup as write

    folder = chosen.serve.data
    _report(write(folder, file), f"{folder} → {file}", json)


@with_settings("data")
def restore(
    chosen: Settings,
    file: Annotated[Path, typer.Argument(help="A file that ragways backup wrote.")],
    json: JsonOption = False,
) -> None:
    """Put a backup into a folder that is missing or empty, after all of it was checked.

    A server that is started on it goes on with the jobs that were under way.
    """
    from ragways.service.backup import restore as read

    folder = chosen.serve.data
    _report(read(file, folder), f"{file} → {folder}", json)


def _report(done: BackupSummary, what: str, json: bool) -> None:
    if json:
        print_json(asdict(done))
    else:
        content = f"{counted(done.collections, 'collection')}, {counted(done.files, 'file')}"
        typer.echo(f"{what}: {content}, {done.bytes / 1e6:,.1f} MB")
        for name in done.damaged:
            typer.echo(f"{name} was damaged before it was copied: start an index job, with rebuild if it is a database")


# Keys


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Keys, Ledger, Audit]]:
    from ragways.service.audit import Audit
    from ragways.service.keys import Keys
    from ragways.service.ledger import Ledger
    from ragways.service.state import FILE, State

    state = State(folder / FILE)
    try:
        yield Keys(state), Ledger(state), Audit(state)
    finally:
        state.close()


@app.command()
@with_settings("data")
def add(
    chosen: Settings,
    name: Annotated[str, typer.Argument(help="A name to know it by.")],
    scope: Annotated[
        str, typer.Option("--scope", help="read; write: also change collections; admin: also make and delete them.")
    ] = "read",
    tenant: Annotated[str, typer.Option("--tenant", help="Whose collections: no tenant sees another's.")] = "main",
    collection: Annotated[
        list[str] | None,
        typer.Option("--collection", help="Only this one; may be given several times.", show_default="all"),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="USD that it may spend in all.", min=0, show_default="no limit")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", help="How long it is good for: 30d, 12h.", show_default="for ever")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make a key. It is printed once and kept nowhere; the server knows only its hash."""
    with _opened(chosen.serve.data) as (keys, _, log):
        key, text = keys.add(
            name,
            scope=scope,  # type: ignore[arg-type]
            tenant=tenant,
            collections=tuple(collection or ()),
            budget=budget,
            seconds=None if expires is None else _duration(expires, "--expires"),
        )
        log.note(None, "key.add", id=key.id, name=name, tenant=tenant, scope=scope)
    _hand_out(key, text, json)


@app.command(name="list")
@with_settings("data")
def list_(chosen: Settings, json: JsonOption = False) -> None:
    """List keys, what each may do and what it has spent. Secrets are not known any more."""
    with _opened(chosen.serve.data) as (keys, ledger, _):
        rows = [(key, ledger.account(key.id)) for key in keys.all()]
    if json:
        print_json([_data(key) | {"spent": account.spent, "held": account.held} for key, account in rows])
        return
    columns = ("name", "id", "tenant", "scope", "collections", "budget", "spent", "expires", "state")
    shown = [
        (
            key.name, key.id, key.tenant, key.scope, ", ".join(key.collections) or "all", key.budget,
            round(account.spent + account.held, 6), _day(key.expires), _state(key),
        )
        for key, account in rows
    ]  # fmt: skip
    show_table(Table.of(columns, shown), compact=True)


@app.command()
@with_settings("data")
def revoke(chosen: Settings, name: NameArgument) -> None:
    """Take a key away, at once."""
    with _opened(chosen.serve.data) as (keys, _, log):
        key = keys.revoke(name)
        log.note(None, "key.revoke", id=key.id, name=key.name)
    typer.echo(f"{key.name} ({key.id}) opens nothing any more")


@app.command()
@with_settings("data")
def rotate(
    chosen: Settings,
    name: NameArgument,
    grace: Annotated[str, typer.Option("--grace", help="How long the old text stays good: 1h; 0 is not at all.")] = "0",
    json: JsonOption = False,
) -> None:
    """Give a key a new text. What it may do and what it has spent stay."""
    with _opened(chosen.serve.data) as (keys, _, log):
        key, text = keys.rotate(name, _duration(grace, "--grace"))
        log.note(None, "key.rotate", id=key.id, name=key.name, grace=grace)
    _hand_out(key, text, json)


@app.command()
@with_settings("data")
def audit(
    chosen: Settings,
    check: Annotated[
        bool, typer.Option("--check", help="Tell whether a line was changed, added or taken away.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", help="Only the last so many lines.", min=1)] = 50,
    json: JsonOption = False,
) -> None:
    """Show who did what and when."""
    with _opened(chosen.serve.data) as (_, _, log):
        problems = log.problems() if check else []
        lines = log.lines(limit)
    if check:
        if json:
            print_json({"whole": not problems, "problems": problems})
        else:
            typer.echo("\n".join(problems) or "every line is as it was written")
        raise typer.Exit(TAMPERED if problems else 0)
    if json:
        print_json(lines)
        return
    rows = [
        (line.get("at"), line.get("key") or "", line.get("tenant") or "", line.get("action"),
         line.get("collection") or "", ", ".join(f"{name}={value}" for name, value in line.get("fields", {}).items()))
        for line in lines
    ]  # fmt: skip
    show_table(Table.of(("at", "key", "tenant", "action", "collection", "with"), rows), compact=True)


def _hand_out(key: Key, text: str, json: bool) -> None:
    """The key alone on standard output, for scripts; what a person should know on standard error."""
    if json:
        print_json({**_data(key), "key": text})
        return
    typer.echo(text)
    typer.echo(f"This is the key {key.name}. It is not shown again. Send it as: Authorization: Bearer KEY", err=True)


def _data(key: Key) -> dict[str, Any]:
    times = {name: _time(getattr(key, name)) for name in ("created", "expires", "revoked")}
    return {**asdict(key), **times, "state": _state(key)}


def _state(key: Key) -> str:
    if key.revoked is not None:
        return "revoked"
    return "expired" if key.expires is not None and key.expires <= datetime.now(UTC).timestamp() else "good"


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _day(seconds: float | None) -> str:
    return "never" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _duration(text: str, option: str) -> float:
    match = re.fullmatch(r"(\d{1,6})([smhdwy]?)", text.strip().lower())
    if match is None:
        raise UsageError(f"{option} is no length of time", f"write it like {option} 30d, or in s, m, h, d, w or y")
    return float(match[1]) * _SECONDS[match[2] or "s"]
