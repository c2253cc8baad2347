"""The command `ragways`: parse, call, show. Heavy parts are imported by the command that needs them."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.main import get_command

from ragways import __version__
from ragways.apps.logs import LogFormat, options_first, say, set_up, unchanged
from ragways.apps.terminal import JsonOption, WhereOption, print_json, show_table, show_wait, with_index, with_settings
from ragways.core.errors import LACKS, PluginClash, RagwaysError, StoreExhausted
from ragways.core.runtime import limit_threads
from ragways.core.table import Table
from ragways.models.limits import reporting_waits

if TYPE_CHECKING:
    from ragways.settings import Settings


def _every_command(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, help="Log what is done; -vv logs every step.")
    ] = 0,
    log_format: Annotated[LogFormat, typer.Option("--log-format", help="How to log on standard error.")] = "text",
) -> None:
    set_up(verbose, log_format)
    if version:
        typer.echo(f"ragways {__version__}")
        raise typer.Exit


@with_settings("index", "model")
def mcp(
    chosen: Settings,
    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            help="Serve streamable HTTP there instead of stdio, to clients with the token.",
            metavar="[HOST:]PORT",
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="USD that one `ask` may spend at most.", min=0)
    ] = None,
    where: WhereOption = None,
) -> None:
    """Serve tools, paradigms and articles to agents by the Model Context Protocol (read-only)."""
    from ragways.apps.mcp import serve

    serve(chosen, http, budget, where)


def plugins(json: JsonOption = False) -> None:
    """List what installed packages add to ragways, and which of them cannot be used."""
    from ragways.assemble import registries

    groups, rows, problems = [], [], []
    for registry in registries():
        added: dict[str, str] = {}
        wrong: list[str] = []
        try:
            added, wrong = registry.added, [str(problem) for problem in registry.problems]
        except PluginClash as clash:
            wrong = [str(clash)]
        listed = [{"name": name, "package": package} for name, package in added.items()]
        groups.append({"group": registry.group, "added": listed, "problems": wrong})
        rows += [(registry.group, name, package) for name, package in (added or {"": ""}).items()]
        problems += wrong
    if json:
        print_json(groups)
    else:
        show_table(Table.of(("group", "added", "by package"), rows, notes=problems))


@with_settings("trust")
def demo(
    chosen: Settings,
    index: Annotated[
        Path | None, typer.Option("--index", help="Folder of the demo's index.", show_default="in the cache folder")
    ] = None,
) -> None:
    """Index the bundled corpus and ask it a few questions in several ways."""
    from ragways.apps.demo import run_demo

    run_demo(chosen, index)


_COMMANDS = {
    "init": "settings_file", "mcp": "cli", "plugins": "cli", "demo": "cli", "index": "index", "watch": "index",
    "status": "index", "remove": "index", "check": "index", "diagnose": "index", "ask": "ask", "show": "ask",
    "paradigms": "ask", "serve": "server", "backup": "server", "restore": "server", "tune": "tune",
    "reproduce": "reproduce",
}  # fmt: skip
"""Commands, each with its module in `ragways.apps`, which is imported when the command is used."""
_GROUPS = {"graph": "graph", "model": "model", "eval": "evaluation", "key": "server", "route": "route"}
"""Groups of commands, likewise."""


def full_app(named: str | None = None) -> typer.Typer:
    """The app with all commands, or with the one that is named alone: importing all takes a tenth of a second."""
    app = typer.Typer(
        name="ragways",
        help="One index of your documents, many methods of answering from it. Exit codes: 0 done, 2 wrong use, "
        "3 index, 4 model, 5 budget reached, 6 done in part.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_every_command)
    for name, module in _COMMANDS.items():
        if named in (None, name):
            app.command()(getattr(import_module(f"ragways.apps.{module}"), name))
    for name, module in _GROUPS.items():
        if named in (None, name):
            app.add_typer(import_module(f"ragways.apps.{module}").app, name=name)
    return app


INTERRUPTED = 130


def main() -> None:
    """Run the command; an error is one line on standard error and an exit code."""
    with unchanged():
        _run()


def _run() -> None:
    limit_threads()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    try:
        with reporting_waits(show_wait):
            arguments = options_first(sys.argv[1:])
            named = next((word for word in arguments if not word.startswith("-")), "")
            parser_of(named if named in {*_COMMANDS, *_GROUPS} else None)(arguments)
    except RagwaysError as error:
        _fail(with_index(str(error)), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted; what was finished is stored", INTERRUPTED)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            _fail("interrupted; what was finished is stored", INTERRUPTED)
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if (cure := LACKS.get(error.errno or 0)) is None:
            raise
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror}: {cure}", StoreExhausted.exit_code)


@cache
def parser_of(named: str | None) -> Callable[[list[str]], object]:
    """What reads the command line: of all commands, or of the one that is named."""
    return get_command(full_app(named))


def _fail(message: str, code: int) -> None:
    say(message, logging.ERROR, exit_code=code)
    sys.exit(code)


if __name__ == "__main__":
    main()
