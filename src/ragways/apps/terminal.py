"""What commands share: their options, and what a person sees.

Tables go to standard output, progress and errors to standard error, colours to a terminal only.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.logs import LoggedLines, as_json, say
from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from ragways.core.table import Table
    from ragways.models.limits import Wait
    from ragways.settings import Settings

SELDOM = 30.0
"""Seconds between two lines of progress in a log."""
NAME_WIDTH = 21
"""Columns that the longest name of a paradigm takes."""

_INDEX = typer.Option("--index", help="Folder of the index, or its URL (s3://…).", show_default=".ragways")
_PROVIDERS = "Whose model: ollama, openai, azure, anthropic, gemini, vllm, lmstudio or openrouter."
_READ_BY = "Where texts are embedded and the graph's rules read documents: local, or ray."
IndexOption = Annotated[Path | None, _INDEX]
WhereOption = Annotated[
    str | None,
    typer.Option("--where", help="Only documents that match, e.g. 'date>2020 and path~\"api/\"' (docs/filters.md)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# Those of commands that index
LayersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        help="Layers to build; repeat it or join by commas.",
        show_default="vectors,words; of a new index graph too, where many short documents name each other",
    ),
]


def layer_names(given: Sequence[str] | None) -> list[str] | None:
    """The layers that `--with` names; None without it."""
    return [name.strip() for some in given for name in some.split(",") if name.strip()] if given else None


# Those of an evaluation
FormatHelp = "Layout of the questions; `ragways eval datasets` lists them."

QuestionsOption = Annotated[Path | None, typer.Option("--questions", help="File of questions.")]
FormatOption = Annotated[str | None, typer.Option("--format", help=FormatHelp, show_default="plain")]
QuestionsFile = Annotated[Path, typer.Option("--questions", help="File of questions.")]
LayoutOption = Annotated[str, typer.Option("--format", help=FormatHelp)]
DatasetOption = Annotated[
    str | None, typer.Option("--dataset", help="A data set by name instead of files: demo, musique, hotpotqa, …")
]
DataOption = Annotated[Path | None, typer.Option("--data", help="Folder that holds data sets.")]
RunArgument = Annotated[Path, typer.Argument(help="Folder of a run.")]
BudgetOption = Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)]
LimitOption = Annotated[int | None, typer.Option("--limit", help="Only the first so many questions.", min=1)]
AtOnceOption = Annotated[
    int | None,
    typer.Option("--at-once", help="Asked side by side.", min=1, show_default="as many calls as the model takes"),
]


_OPTIONS: dict[str, tuple[str, Any, Any]] = {
    "index": ("index", Path | None, _INDEX),
    "data": (
        "serve.data",
        Path | None,
        typer.Option("--data", help="Folder of collections, keys and jobs.", show_default="ragways-data"),
    ),
    "host": (
        "serve.host",
        str | None,
        typer.Option("--host", help="Address to listen on.", show_default="127.0.0.1: this machine only"),
    ),
    "port": (
        "serve.port",
        int | None,
        typer.Option("--port", help="Port; 0 is any that is free.", min=0, max=65535, show_default="8080"),
    ),
    "include": (
        "corpus.include",
        list[str] | None,
        typer.Option("--include", help="Read only files that this pattern names, as in .gitignore."),
    ),
    "exclude": (
        "corpus.exclude",
        list[str] | None,
        typer.Option("--exclude", help="Leave out files and folders that this pattern names."),
    ),
    "no_gitignore": ("corpus.gitignore", bool, typer.Option("--no-gitignore", help="Do not follow .gitignore files.")),
    "engine": ("cluster.engine", str | None, typer.Option("--engine", help=_READ_BY)),
    "address": (
        "cluster.address",
        str | None,
        typer.Option("--address", help="The Ray cluster, HOST:PORT; unset, one on this machine."),
    ),
    "style": (
        "answer.style",
        str | None,
        typer.Option("--style", help="Of a model's answer: brief, full, or your own words."),
    ),
    "provider": ("model.provider", str | None, typer.Option("--provider", help=_PROVIDERS)),
    "model": ("model.name", str | None, typer.Option("--model", help="Name of the model there.")),
    "settings": ("", Path | None, typer.Option("--settings", help="Settings file.", show_default="ragways.toml")),
    "trust": (
        "",
        bool,
        typer.Option("--trust", help="Send your key also to a base URL that only the settings file names."),
    ),
}
"""Options that change settings: the setting, and the type and text of the option."""


def with_settings(*options: str, copy: bool = True) -> Callable[[Callable[..., None]], SettingsCommand]:
    """A decorator: the command gets the settings as its first argument, and these options to change them.

    `--settings` is always one; `model` brings `--provider` and `--trust`. Without `trust` the command sends no key. Of
    an index at a URL the settings name a copy to read; `copy=False` leaves the URL, for a command that writes.
    """
    wanted = {"settings", *options, *(("provider", "trust") if "model" in options else ())}
    return lambda command: SettingsCommand(command, [name for name in _OPTIONS if name in wanted], copy)


class SettingsCommand:
    """A command that gets settings; see `with_settings`. Its options are looked at when it is the one that runs."""

    def __init__(self, command: Callable[..., None], options: Sequence[str], copy: bool) -> None:
        self.__name__, self.__doc__, self.__module__ = command.__name__, command.__doc__, command.__module__
        self.__annotations__: dict[str, Any] = {}
        self._command, self._options, self._copy = command, options, copy

    @property
    def __signature__(self) -> Signature:
        _, *own = signature(self._command, eval_str=True, locals={"Settings": Any}).parameters.values()
        named = {each.name for each in own}
        shared = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                annotation=Annotated[kind, option],
                default=False if kind is bool else None,
            )
            for name, (_, kind, option) in _OPTIONS.items()
            if name in self._options and name not in named
        ]
        at = len(own) - ("json" in named)  # --json is the last
        return Signature([each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*own[:at], *shared, *own[at:])])

    def __call__(self, **values: Any) -> None:  # noqa: ANN401 - what the options hold
        own = signature(self._command).parameters
        self._command(self._settings(values), **{name: value for name, value in values.items() if name in own})

    def _settings(self, values: Mapping[str, Any]) -> Settings:
        from ragways.cloud.copies import readable
        from ragways.settings import read_settings

        flags: dict[str, Any] = {}
        for name in self._options:
            *sections, setting = _OPTIONS[name][0].split(".")
            if setting and values[name] is not None and values[name] is not False:
                place = flags.setdefault(sections[0], {}) if sections else flags
                place[setting] = values[name] if name != "no_gitignore" else False
        chosen = read_settings(values["settings"], trust=values.get("trust", True), **flags)
        if "index" not in self._options or not self._copy:
            return chosen
        return chosen.model_copy(update={"index": readable(chosen.index, chosen.cache)})


def with_index(text: str) -> str:
    """A cure that builds the index which the command line names: without the option it would build another."""
    named = [after for one, after in pairwise(sys.argv) if one == "--index"]
    named += [one.removeprefix("--index=") for one in sys.argv if one.startswith("--index=")]
    if not named or "--index" in text:
        return text
    return _BUILDS.sub(lambda match: f"{match[0]} --index {shlex.quote(named[0])}", text)


_BUILDS = re.compile(r"ragways index (--rebuild )?PATH\b")


def console(*, error: bool = False) -> Console:
    from rich.console import Console

    if error and as_json():
        return Console(file=LoggedLines(), width=10_000, color_system=None, highlight=False)  # type: ignore[arg-type]
    return Console(stderr=error, highlight=False, soft_wrap=False)


def write_line(text: str, style: str = "", *, error: bool = False) -> None:
    """A text on standard output or standard error, made printable and not broken into lines."""
    from rich.text import Text

    console(error=error).print(Text(printable(text), style), soft_wrap=True)


def print_json(data: object) -> None:
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def show_table(
    table: Table,
    *,
    limit: int | None = None,
    header: bool = True,
    compact: bool = False,
    name_width: int = NAME_WIDTH,
) -> None:
    """A table on standard output, its texts made printable; of more rows than `limit` the first are shown.

    `compact`: without a frame, and neither numbers nor short names are broken, so that many columns fit a narrow
    terminal; `name_width` is how many letters of the first column are never broken.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    out = console()
    title = Text(printable(table.title)) if table.title else None
    drawn = RichTable(title=title, title_justify="left", show_header=header)
    if compact:
        drawn.box, drawn.padding, drawn.show_edge = SIMPLE_HEAD, 0, False
    for number, column in enumerate(table.columns):
        right = table.right(number)
        head = Text(printable(column.title))
        drawn.add_column(head, justify="right" if right else "left", overflow="fold", no_wrap=compact and right)
    if compact:
        lines = [line for row in table.texts() for line in row[0].split("\n")]
        drawn.columns[0].min_width = min(name_width, max(map(len, lines), default=0))
    for row in table.texts()[:limit]:
        drawn.add_row(*(Text(printable(text)) for text in row))
    out.print(drawn)
    if compact:
        out.print()
    if limit is not None and len(table) > limit:
        out.print(f"and {len(table) - limit:,} more: all of them with --json", style="dim")
    for note in table.notes:
        out.print(Text(printable(note), style="dim"))


def show_wait(wait: Wait) -> None:
    """A line on standard error, unless --quiet was given: the answer of an endpoint, and how long the wait is."""
    if logging.getLogger("ragways").isEnabledFor(logging.WARNING):
        say(f"{wait.name}: {wait.why}; waiting {wait.seconds:.0f} s", logging.WARNING)


@contextmanager
def progress_bar(shown: bool = True) -> Iterator[ProgressCallback]:
    """A bar on standard error where that is a terminal; elsewhere, in a log say, a line now and then."""
    if not shown:
        yield silent
        return
    if not sys.stderr.isatty() or as_json():
        yield _now_and_then(SELDOM)
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    note = TextColumn("{task.fields[note]}", markup=False)  # an address may hold what would be markup
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), note, TimeElapsedColumn())
    with Bar(*columns, console=console(error=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(progress: Progress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bar.add_task(progress.stage, total=None, note="")
            bar.update(
                tasks[progress.stage],
                completed=progress.done,
                total=progress.total or None,
                note=progress.note or (f"{progress.done:,}" if progress.done else ""),
            )

        yield report


def _now_and_then(seconds: float) -> ProgressCallback:
    last = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            done = f"{progress.done:,} of {progress.total:,}" if progress.total else f"{progress.done:,}"
            write_line(f"{progress.stage}: {progress.note or done}", error=True)

    return report
