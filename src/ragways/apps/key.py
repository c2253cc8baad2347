"""`ragways key`: who may use the server, and what they did. A server that runs follows with its next request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.terminal import JsonOption, print_json, show_table, with_settings
from ragways.core.errors import UsageError
from ragways.core.table import Table

if TYPE_CHECKING:
    from ragways.service.audit import Audit
    from ragways.service.keys import Key, Keys
    from ragways.service.ledger import Ledger
    from ragways.settings import Settings

app = typer.Typer(help="Keys of the server: who may do what, and what they did.", no_args_is_help=True,
                  rich_markup_mode=None)  # fmt: skip
NameArgument = Annotated[str, typer.Argument(help="Name or id of a key.")]
TAMPERED = 1
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}


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
