"""The command `ragways`: parse, call, show. Heavy parts are imported by the command that needs them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.main import get_command
from typer.models import CommandInfo, TyperInfo

from ragways import __version__
from ragways.apps.ask import ask, paradigms, show
from ragways.apps.backup import backup, restore
from ragways.apps.evaluation import app as evaluate
from ragways.apps.graph import app as graph
from ragways.apps.index import check, diagnose, index, remove, status
from ragways.apps.key import app as key
from ragways.apps.logs import ROOT, LogFormat, as_json, options_first, set_up, unchanged
from ragways.apps.model import app as model
from ragways.apps.reproduce import reproduce
from ragways.apps.route import app as route
from ragways.apps.serve import serve
from ragways.apps.terminal import JsonOption, WhereOption, print_json, show_table, show_wait, with_index, with_settings
from ragways.apps.tune import tune
from ragways.apps.watch import watch
from ragways.core.errors import PluginClash, RagwaysError, UsageError
from ragways.core.runtime import limit_threads
from ragways.core.table import Table
from ragways.core.text import printable
from ragways.models.limits import reporting_waits

if TYPE_CHECKING:
    from ragways.settings import Settings

app = typer.Typer(
    name="ragways",
    help="One index of your documents, many ways of answering from it. Exit codes: 0 done, 2 wrong use, 3 index, "
    "4 model, 5 budget reached, 6 done in part.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
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


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("ragways.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write a settings file with every setting, its default and what it does."""
    from ragways.apps.settings_file import settings_text
    from ragways.index.export import replacing

    if path.exists() and not force:
        raise UsageError(f"{path} is there already", "replace it with --force")
    with replacing(path) as draft:
        draft.write_text(settings_text(), encoding="utf-8")
    typer.echo(f"wrote {path}")


@app.command()
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


@app.command()
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


@app.command()
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


for command in (index, watch, status, remove, check, diagnose, ask, show, paradigms):
    app.command()(command)
app.add_typer(graph, name="graph")
app.add_typer(model, name="model")
app.add_typer(evaluate, name="eval")
app.add_typer(key, name="key")
app.add_typer(route, name="route")
app.command()(serve)
app.command()(backup)
app.command()(restore)
app.command()(tune)
app.command()(reproduce)


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
            parser_of(named if named in map(_name, _all_commands()) else None)(arguments)
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


@cache
def parser_of(named: str | None) -> Callable[[list[str]], object]:
    """What reads the command line: of all commands, or of the one that is named. Finding out the options of all takes a
    fifth of a second, and those of the others are of no use then.
    """
    chosen = copy(app)
    if named is not None:
        chosen.registered_commands = [one for one in app.registered_commands if _name(one) == named]
        chosen.registered_groups = [one for one in app.registered_groups if _name(one) == named]
    return get_command(chosen)


def _all_commands() -> list[CommandInfo | TyperInfo]:
    return [*app.registered_commands, *app.registered_groups]


def _name(one: CommandInfo | TyperInfo) -> str:
    return str(one.name or getattr(one.callback, "__name__", "")).replace("_", "-")


def _fail(message: str, code: int) -> None:
    flat = printable(" ".join(message.split()))
    if as_json():
        ROOT.error("%s", flat, extra={"fields": {"exit_code": code}})
    else:
        print(f"ragways: {flat}", file=sys.stderr)  # noqa: T201
    sys.exit(code)


if __name__ == "__main__":
    main()
